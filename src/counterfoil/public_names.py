"""The public names of a package: listed once, in its `__init__.pyi`, and each imported when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def homes(package: str) -> dict[str, str]:
    """The module of each public name, as the package's stub has it, which type checkers read too."""
    import ast
    from importlib.resources import files

    stub = ast.parse(files(package).joinpath("__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `package`."""

    def get(name: str) -> Any:
        if name == "__all__":
            return sorted(homes(package))
        if name.startswith("__") or name not in homes(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes(package)[name]), name)

    def names() -> list[str]:
        return sorted([*vars(import_module(package)), *homes(package)])

    return get, names
