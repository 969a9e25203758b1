"""Queries, spaces, metrics and partitions of a user's own are tried on public rows before they may touch records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.silence import silent
from counterfoil.noise.exact_answers import require_finite, require_whole
from counterfoil.schema import Schema

ROWS = 24
MANY_ROWS = 4096
"""Some code looks at records in company where there are many of them alone."""

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

    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        for rows in self._order:
            yield Block(
                len(rows),
                {name: self._codes[name][rows] for name in columns},
                {name: self._numbers[name][rows] for name in numbers},
                {name: np.zeros(len(rows), dtype=np.uint8) for name in placements},  # made-up rows are as declared
            )


def require_sound(query: Query, schema: Schema) -> int:
    """Tries `query`, and whatever a user put into it, on public rows; says how many numbers it answers with.

    The answer must be of the right kind and of the same length for every table, the same however the rows are ordered
    and split, and must not move by more than the stated sensitivities when one row is left out or exchanged. This finds
    code that looks at records in company, or that draws at random; it proves nothing, which is why receipts say who
    vouches for it.

    Raises:
        ValueError: when the answer depends on the order, moves by more than a stated sensitivity, or rests on what is
            no number on any row.
    """
    rng = np.random.default_rng()
    few = _Trial(query, PublicRows.random(schema, ROWS + 1, rng))
    many = _Trial(query, PublicRows.random(schema, MANY_ROWS, rng))
    every, all_of_many = np.arange(ROWS), np.arange(MANY_ROWS)
    whole, together = few.answer(every), many.answer(all_of_many)
    with silent():
        query.require_telling(ExactRecords(many.rows.in_blocks(all_of_many), schema.domain))
    _require_same_length(query, whole, few.answer(every[:0]), together)
    shuffled, crowd = rng.permutation(every), rng.permutation(all_of_many)
    split = [few.answer(*every[:, None]), few.answer(shuffled[:7], shuffled[7:])]
    apart = many.answer(crowd[:1], crowd[1:64], crowd[64:2000], crowd[2000:])
    if not (all(_same(whole, other) for other in split) and _same(together, apart)):
        raise ValueError(
            f"{_tried(query)}, and its answer depends on which rows are read together. What is yours in it must read "
            "each record by itself."
        )
    for i in every:
        others = np.delete(every, i)
        less, exchanged = few.answer(others), few.answer(np.append(others, ROWS))
        _require_same_length(query, whole, less, exchanged)
        _require_within(query, whole, less, NeighboringRelation.ADD_OR_REMOVE_ONE)
        _require_within(query, whole, exchanged, NeighboringRelation.REPLACE_ONE)
    return len(whole)


@dataclass(frozen=True)
class _Trial:
    """A query on public rows."""

    query: Query
    rows: PublicRows

    def answer(self, *blocks: np.ndarray) -> np.ndarray:
        """For the rows with these positions, block by block."""
        query, domain = self.query, self.rows.schema.domain
        try:
            with silent():
                exact = query.exact(ExactRecords(self.rows.in_blocks(*blocks), domain))
        except Exception as error:  # a user's code may raise anything
            raise ValueError(f"{_tried(query)}, and failed there: {type(error).__name__}: {error}") from error
        return (
            require_finite(query.name, exact) if isinstance(query, SelectionQuery) else require_whole(query.name, exact)
        )


def _tried(query: Query) -> str:
    return f"The query {query.name} was tried on rows made up from the schema"


def _require_same_length(query: Query, *answers: np.ndarray) -> None:
    if len({len(answer) for answer in answers}) > 1:
        raise ValueError(f"{_tried(query)}, and how many numbers it answers with depends on the rows.")


def _require_within(query: Query, before: np.ndarray, after: np.ndarray, relation: NeighboringRelation) -> None:
    moved = np.abs(before.astype(float) - after.astype(float))  # whole numbers could overflow
    found: dict[str, tuple[float, float]] = {}
    if isinstance(query, CountQuery):
        found["l1"] = float(moved.sum()), query.l1_sensitivity(relation)
        found["l2"] = float(np.sqrt((moved**2).sum())), query.l2_sensitivity(relation)
    if isinstance(query, SelectionQuery):
        found["score"] = float(moved.max(initial=0.0)), query.score_sensitivity(relation)
    for norm, (reached, stated) in found.items():
        if not reached <= stated * _ROUNDING:
            raise ValueError(
                f"{_tried(query)}: one row moves its answer by {reached:g} under {relation.value}, above the {norm} "
                f"sensitivity of {stated:g} that it states."
            )


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    return bool(np.allclose(one, other, rtol=1e-9, atol=1e-9) if one.dtype.kind == "f" else np.array_equal(one, other))
