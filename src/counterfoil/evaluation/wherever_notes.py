"""Columns that have one value, or another column's, wherever a third one has some values: NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.constant_wherever import ConstantValues, Value
from counterfoil.evaluation.equal_wherever import EqualPairs
from counterfoil.evaluation.ruled_pairs import ruled_pairs
from counterfoil.evaluation.wherever_counts import Decided, WhereverCounts
from counterfoil.schema import Schema


class WhereverNotes:
    """Which columns were the same as others, or had one value, wherever a third one had some, batch by batch."""

    def __init__(self, schema: Schema):
        self._pairs, self._values = EqualPairs(schema), ConstantValues(schema)
        self._order = {column.name: place for place, column in enumerate(schema.synthesized)}
        self._counts = WhereverCounts(schema, ruled=ruled_pairs(schema))

    def add(self, batch: RawBatch) -> None:
        """Asks the records of a batch."""
        if batch.rows:
            self._counts.add(batch, {**self._pairs.facts(batch), **self._values.facts(batch)})

    def notes(self) -> Iterator[ColumnNote]:
        """One of each column, of its values first; of two columns of which each decides about the other, one."""
        found = sorted(self._counts.found(), key=self._rank)
        said: dict[str, str] = {}
        values, pairs = [], []
        for one in found:
            if not isinstance(one.fact, Value):
                pairs.append(one)
            elif self._values.is_said(one) and one.fact.column not in said and said.get(one.gate) != one.fact.column:
                said[one.fact.column] = one.gate
                values.append(one)
        yield from self._values.notes(values)
        yield from self._pairs.notes([one for one in pairs if not one.fact.names & said.keys()])

    def _rank(self, one: Decided) -> tuple[list[int], int]:
        return sorted((self._order[name] for name in one.fact.names), reverse=True), -one.support
