"""The queries that an account admits: a closed set, by type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

from counterfoil.brought import Brought, brought_within
from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery

Q = TypeVar("Q", bound=type[Query])

_SHIPPED: dict[str, type[Query]] = {}
_VOUCHED_FOR: dict[type[Query], str] = {}


def shipped(kind: Q) -> Q:
    """Class decorator of the queries in this folder, whose proofs the conformance test checks."""
    assert kind.name not in _SHIPPED, f"two queries are called {kind.name!r}"
    assert kind.__module__.startswith("counterfoil."), "queries of your own are registered with `vouch_for`"
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
    _import_all()
    return _SHIPPED


@cache
def _import_all() -> None:
    import counterfoil.curator.queries as folder

    for module in iter_modules(folder.__path__):
        import_module(f"{folder.__name__}.{module.name}")


def require_registered(query: Query) -> list[Brought]:
    """What in `query` its user vouches for: itself, and the spaces, metrics or partitions that it holds.

    This is a guard against mistakes and against code that was not looked at, not against a user who means harm: whoever
    replaces attributes of this package's own classes or objects can replace this function as well.

    Raises:
        ValueError: for a query whose type is not registered. A subclass of a registered one is another type.
    """
    kind = type(query)
    if kind in _VOUCHED_FOR:
        within = [brought for brought in brought_within(query) if brought.value is not query]
        return [Brought(f"the query {kind.name} ({_VOUCHED_FOR[kind]})", query), *within]
    if _SHIPPED.get(getattr(kind, "name", "")) is kind:
        return brought_within(query)
    raise ValueError(
        f"Only registered queries may be asked. {kind.__name__!r} is none: ask one of `counterfoil.queries`, or "
        "prove its sensitivities and register it with `counterfoil.queries.vouch_for`."
    )
