"""Differentially private synthetic data that comes with receipts.

The public names and their homes are listed in `__init__.pyi`, for type checkers and for what follows: each is imported
on first use, so that `import counterfoil` takes milliseconds.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__version__ = "0.2.0"


@cache
def _homes() -> dict[str, str]:
    """The module of each public name."""
    import ast
    from importlib.resources import files

    stub = ast.parse(files(__name__).joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("__") or name not in _homes():
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_homes()])
