"""Queries, spaces, metrics and partitions of a user's own are tried on public rows before they may touch records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery
from counterfoil.curator.records import ExactRecords
from counterfoil.schema import Schema

ROWS = 24
_ROUNDING = 1 + 1e-6
"""Scores are floating-point numbers."""


class PublicRows(Engine):
    """An engine over rows that were made up from the schema: random codes, and numbers within them."""

    def __init__(self, schema: Schema, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> None:
        self.schema = schema
        self._codes, self._numbers = codes, numbers
        self._order: list[np.ndarray] = [np.arange(len(next(iter(codes.values()))))]

    @staticmethod
    def random(schema: Schema, rows: int, rng: np.random.Generator) -> PublicRows:
        """`rows` rows."""
        codes = {column.name: rng.integers(0, column.size, rows).astype(column.dtype) for column in schema.synthesized}
        values = {column.name: column.decode(codes[column.name], rng) for column in schema.synthesized}
        numbers = {
            column.name: column.numbers(values[column.name]) for column in schema.synthesized if column.is_ordered
        }
        return PublicRows(schema, codes, numbers)

    def in_blocks(self, *order: np.ndarray) -> PublicRows:
        """The rows with these positions, block by block."""
        other = PublicRows(self.schema, self._codes, self._numbers)
        other._order = list(order)
        return other

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        """Nothing is read."""

    def blocks(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[Block]:
        for rows in self._order:
            yield Block(
                len(rows),
                {name: self._codes[name][rows] for name in columns},
                {name: self._numbers[name][rows] for name in numbers},
            )


def require_sound(query: Query, schema: Schema) -> None:
    """Tries `query`, and whatever a user put into it, on public rows.

    The answer must be the same however the rows are ordered and split, and must not move by more than the stated
    sensitivities when one row is left out or exchanged. This catches code that does not read each record by itself; it
    proves nothing, which is why receipts say who vouches for it.

    Raises:
        ValueError: when the answer depends on the order, or moves by more than a stated sensitivity.
    """
    rng = np.random.default_rng()
    rows = PublicRows.random(schema, ROWS + 1, rng)
    every = np.arange(ROWS)

    def answer(*order: np.ndarray) -> np.ndarray:
        return query.exact(ExactRecords(rows.in_blocks(*order), schema.domain))

    whole = answer(every)
    alone = answer(*every[:, None])
    shuffled = rng.permutation(every)
    if not (_same(whole, alone) and _same(whole, answer(shuffled[:7], shuffled[7:]))):
        raise ValueError(
            f"The query {query.name} was tried on rows made up from the schema, and its answer depends on which rows "
            "are read together. What is yours in it must read each record by itself."
        )
    for i in every:
        others = np.delete(every, i)
        _require_within(query, whole - answer(others), NeighboringRelation.ADD_OR_REMOVE_ONE)
        exchanged = np.append(others, ROWS)
        _require_within(query, whole - answer(exchanged), NeighboringRelation.REPLACE_ONE)


def _require_within(query: Query, moved: np.ndarray, relation: NeighboringRelation) -> None:
    norms: dict[str, tuple[float, float]] = {}
    if isinstance(query, CountQuery):
        norms["l1"] = float(np.abs(moved).sum()), query.l1_sensitivity(relation)
        norms["l2"] = float(np.sqrt((moved.astype(float) ** 2).sum())), query.l2_sensitivity(relation)
    if isinstance(query, SelectionQuery):
        norms["score"] = float(np.abs(moved).max(initial=0.0)), query.score_sensitivity(relation)
    for norm, (reached, stated) in norms.items():
        if not reached <= stated * _ROUNDING:
            raise ValueError(
                f"The query {query.name} was tried on rows made up from the schema: one row moves its answer by "
                f"{reached:g} under {relation.value}, above the {norm} sensitivity of {stated:g} that it states."
            )


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9) if one.dtype.kind == "f" else np.array_equal(one, other))
