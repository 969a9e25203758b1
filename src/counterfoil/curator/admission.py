"""Which queries may be charged: registered ones of the schema, with what is a user's tried on public rows first."""

from __future__ import annotations

from collections.abc import Callable

from counterfoil.brought import Brought
from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.curator.queries.query import Query
from counterfoil.curator.queries.registry import require_registered
from counterfoil.schema.schema import Schema


class Admission:
    """Lets queries pass, before anything is charged.

    Args:
        trial: tries what is a user's on public rows, and returns how many cells its answer has.
        schema: what queries must fit; None where there is none.
    """

    def __init__(self, trial: Callable[[Query], int], schema: Schema | None) -> None:
        self._trial = trial
        self._schema = schema
        # By the objects that were tried, which are kept: no other may get their ids.
        self._tried: dict[tuple[object, ...], list[Brought]] = {}
        self._cells: dict[int, int] = {}

    def admit(self, query: Query) -> list[str]:
        """Lets registered queries pass; where something is a user's, once it was tried on public rows.

        Each object is tried: two of a type may differ in a parameter, or in a class of the same name. How many cells a
        user's query answers with must not depend on records either. Returns how receipts name what is a user's.

        Raises:
            ValueError: for a query that is not registered, of another schema, or whose trial fails.
        """
        brought = require_registered(query)
        query.check()
        if self._schema is not None:
            query.require_fits(self._schema)
        words = list(dict.fromkeys(one.words for one in brought))
        key = (type(query), *(id(one.value) for one in brought))
        # The network of a gradient was tried when it was wrapped.
        if not brought or key in self._tried or isinstance(query, GradientQuery):
            return words
        cells = self._trial(query)
        self._tried[key] = brought
        if any(one.value is query for one in brought):
            self._cells[id(query)] = cells
        return words

    def cells_of(self, query: Query) -> int | None:
        """How many numbers a user's own query answered its trial with; None for all others."""
        return self._cells.get(id(query))
