"""The queries that an account admits: a closed set, by type."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from counterfoil.curator.queries.query import Query

Q = TypeVar("Q", bound=type[Query])

_SHIPPED: dict[str, type[Query]] = {}
_VOUCHED_FOR: dict[type[Query], str] = {}

# Types that hold data and run no code of a user's on records.
_PLAIN = (np.ndarray, np.generic, np.dtype, pa.DataType, type(None), str, bytes, int, float, complex, range)
_PLAIN_MODULES = ("builtins", "datetime", "decimal", "enum", "fractions")


def shipped(kind: Q) -> Q:
    """Class decorator of the queries in this folder, whose proofs the conformance test checks."""
    assert kind.name not in _SHIPPED, f"two queries are called {kind.name!r}"
    _SHIPPED[kind.name] = kind
    return kind


def vouch_for(kind: Any, *, proof: str) -> None:
    """Admits queries of a type of your own. Every receipt of a release with such a query says that its user vouches.

    The charge and the noise of its answers follow from the sensitivities that the type states. They are tried on
    public rows before the first query, which catches blunders and proves nothing.

    Args:
        kind: a frozen dataclass that derives from `CountQuery` or `SelectionQuery`.
        proof: where the proof of its sensitivities stands.

    Raises:
        ValueError: for a class that is no such query, or whose name is taken; or without a proof.
    """
    if not (isinstance(kind, type) and issubclass(kind, Query) and hasattr(kind, "__dataclass_fields__")):
        raise ValueError(f"A query is a frozen dataclass that derives from CountQuery or SelectionQuery. Found {kind}.")
    taken = {known.name for known in _VOUCHED_FOR if known is not kind} | set(shipped_queries())
    if kind.name in taken:
        raise ValueError(f"Each query has a name of its own. {kind.name!r} is taken: choose another `name`.")
    if not proof.strip():
        raise ValueError("`proof` must say where the sensitivities are proved. Found nothing.")
    _VOUCHED_FOR[kind] = proof.strip()


def shipped_queries() -> Mapping[str, type[Query]]:
    """The queries of this folder, by name."""
    import counterfoil.curator.queries as folder

    for module in iter_modules(folder.__path__):
        import_module(f"{folder.__name__}.{module.name}")
    return _SHIPPED


def require_registered(query: Query) -> list[str]:
    """What in `query` its user vouches for, in words: its type, and the spaces, metrics or partitions that it holds.

    Raises:
        ValueError: for a query whose type is not registered. A subclass of a registered one is another type.
    """
    kind = type(query)
    if _SHIPPED.get(getattr(kind, "name", "")) is kind:
        return sorted(_foreign(query))
    if kind not in _VOUCHED_FOR:
        raise ValueError(
            f"Only registered queries may be asked. {kind.__name__!r} is none: ask one of `counterfoil.queries`, or "
            "prove its sensitivities and register it with `counterfoil.queries.vouch_for`."
        )
    return [f"the query {kind.name} ({_VOUCHED_FOR[kind]})", *sorted(_foreign(query) - {_named(query)})]


def _foreign(value: object) -> set[str]:
    """The types of a user's within `value`: anything that is neither ours nor plain data."""
    return set(_walk(value, set()))


def _walk(value: object, seen: set[int]) -> Iterator[str]:
    if isinstance(value, _PLAIN) and type(value).__module__.partition(".")[0] in ("builtins", "numpy", "pyarrow"):
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        inner: Iterator[object] = iter(value)
    elif isinstance(value, Mapping):
        inner = iter([*value.keys(), *value.values()])
    else:
        kind = type(value)
        if not _ours(kind) and (callable(value) or kind.__module__ not in _PLAIN_MODULES):
            yield _named(value)
        inner = (getattr(value, field.name) for field in fields(value)) if is_dataclass(value) else iter(())
    for item in inner:
        yield from _walk(item, seen)


def _ours(kind: type) -> bool:
    """Whether the class is the one that this package has under its name."""
    home = sys.modules.get(kind.__module__)
    inside = kind.__module__ == "counterfoil" or kind.__module__.startswith("counterfoil.")
    return inside and getattr(home, kind.__name__, None) is kind


def _named(value: object) -> str:
    kind = value if callable(value) and not isinstance(value, type) and hasattr(value, "__name__") else type(value)
    return f"{getattr(kind, '__qualname__', kind)} of {getattr(kind, '__module__', 'nowhere')}"
