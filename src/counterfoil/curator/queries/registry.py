"""The queries that an account admits: a closed set, by type."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery

Q = TypeVar("Q", bound=type[Query])

_SHIPPED: dict[str, type[Query]] = {}
_VOUCHED_FOR: dict[type[Query], str] = {}

# What holds data and runs no code of a user's on records. Of these types exactly: a subclass is somebody's own.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, list, tuple, set, frozenset, dict, MappingProxyType)
_LIBRARIES = ("numpy", "pyarrow", "datetime", "decimal", "fractions")
_PACKAGE = "counterfoil"


@dataclass(frozen=True, eq=False)
class Brought:
    """Something in a query that its user vouches for.

    Args:
        words: as receipts name it.
        value: the object itself; another one of its type may behave otherwise.
    """

    words: str
    value: object


def shipped(kind: Q) -> Q:
    """Class decorator of the queries in this folder, whose proofs the conformance test checks."""
    assert kind.name not in _SHIPPED, f"two queries are called {kind.name!r}"
    assert kind.__module__.startswith(f"{_PACKAGE}."), "queries of your own are registered with `vouch_for`"
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
    parameters = getattr(kind, "__dataclass_params__", None) if isinstance(kind, type) else None
    if parameters is None or not parameters.frozen or not issubclass(kind, (CountQuery, SelectionQuery)):
        raise ValueError(f"A query is a frozen dataclass that derives from CountQuery or SelectionQuery. Found {kind}.")
    if not isinstance(getattr(kind, "name", None), str):
        raise ValueError(f"A query has a `name`, by which receipts call it. {kind.__name__} has none: add it.")
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


def require_registered(query: Query) -> list[Brought]:
    """What in `query` its user vouches for: itself, and the spaces, metrics or partitions that it holds.

    This is a guard against mistakes and against code that was not looked at, not against a user who means harm: whoever
    replaces attributes of this package's own classes or objects can replace this function as well.

    Raises:
        ValueError: for a query whose type is not registered. A subclass of a registered one is another type.
    """
    kind = type(query)
    if kind in _VOUCHED_FOR:
        within = [brought for brought in _foreign(query) if brought.value is not query]
        return [Brought(f"the query {kind.name} ({_VOUCHED_FOR[kind]})", query), *within]
    if _SHIPPED.get(getattr(kind, "name", "")) is kind:
        return _foreign(query)
    raise ValueError(
        f"Only registered queries may be asked. {kind.__name__!r} is none: ask one of `counterfoil.queries`, or "
        "prove its sensitivities and register it with `counterfoil.queries.vouch_for`."
    )


def brought_within(value: object) -> list[Brought]:
    """What of a user's own is in `value`, such as a noise."""
    return _foreign(value)


def _foreign(value: object) -> list[Brought]:
    """What is a user's within `value`, by name: anything that is neither ours nor plain data."""
    return sorted(_walk(value, set()), key=lambda brought: brought.words)


def _walk(value: object, seen: set[int]) -> Iterator[Brought]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if not _known(value):
        yield Brought(_named(value), value)
    for item in _within(value):
        yield from _walk(item, seen)


def _within(value: object) -> Iterator[object]:
    """What `value` holds and may ask to compute something."""
    if isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    elif isinstance(value, Mapping):
        yield from (*value.keys(), *value.values())
    elif isinstance(value, np.ndarray):
        yield from value.ravel().tolist() if value.dtype.hasobject else ()
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, field.name, None) for field in fields(value))
    elif _is_from(type(value), _PACKAGE):
        yield from getattr(value, "__dict__", {}).values()


def _known(value: object) -> bool:
    """Whether all code that `value` runs is ours, or a library's that computes with nothing but numbers."""
    kind = type(value)
    if kind in _PLAIN or _is_from(kind, _PACKAGE):
        return True
    return not callable(value) and any(_is_from(kind, library) for library in _LIBRARIES)


def _is_from(kind: type, package: str) -> bool:
    """Whether `kind` is the class that a module of `package` has under its name: what it says of itself may be false.

    The module must be one that was loaded from where the package is.
    """
    home, root = sys.modules.get(kind.__module__), sys.modules.get(package)
    if kind.__module__.partition(".")[0] != package or getattr(home, kind.__name__, None) is not kind:
        return False
    place, folder = (getattr(getattr(module, "__spec__", None), "origin", None) for module in (home, root))
    return place is not None and folder is not None and Path(place).is_relative_to(Path(folder).parent)


def _named(value: object) -> str:
    kind = value if callable(value) and not isinstance(value, type) and hasattr(value, "__name__") else type(value)
    return f"{getattr(kind, '__qualname__', kind)} of {getattr(kind, '__module__', 'nowhere')}"
