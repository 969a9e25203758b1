"""Which engine reads a source."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import counterfoil.curator.engines as folder
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.engine import Engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.sources.source import Source


def engine_for(source: Source, *, in_memory: bool | None = None) -> type[Engine]:
    """The engine in this folder that names the type of `source`; else memory for frames, and DuckDB for files.

    Args:
        source: what is to be read.
        in_memory: True for memory whatever the source is, False for anything but memory.
    """
    if in_memory:
        return MemoryEngine
    named = [engine for engine in _engines(tuple(folder.__path__)) if isinstance(source, engine.reads)]
    assert len(named) < 2, f"several engines read {type(source).__name__}: {named}"
    if named:
        return named[0]
    return MemoryEngine if in_memory is None and source.location == "memory" else DuckDBEngine


@cache
def _engines(paths: tuple[str, ...]) -> tuple[type[Engine], ...]:
    """The engines of the modules in these folders, which every table that is opened would look for anew."""
    modules = [import_module(f"{folder.__name__}.{found.name}") for found in iter_modules(paths)]
    return tuple(
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Engine) and kind.__module__ == module.__name__
    )
