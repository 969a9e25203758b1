"""Dates that come in one order in every record, which no rule states: NOT PRIVATE.

Noise knows no order: without the rule half of the stays of a copy may end before they begin. The receipt says so of
the rows, after they were paid for; whoever looks at the table can be told before.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.pasted_names import can_be_pasted
from counterfoil.schema import Schema
from counterfoil.schema.date_order import dates_without_rule, length_kept, order_rule
from counterfoil.schema.instant import Instant

FEWEST = 20
"""Records in which one date comes strictly first, from which on it is no chance that none has the other order."""


class OrderCounts:
    """In how many records each two dates came in which order so far, batch by batch."""

    def __init__(self, schema: Schema):
        self._schema = schema
        self._columns = {column.name: column for column in schema.synthesized if isinstance(column, Instant)}
        pairs = [pair for pair in dates_without_rule(schema) if all(map(can_be_pasted, pair))]
        self._counts = {pair: np.zeros(2, dtype=np.int64) for pair in pairs}
        self._names = [*self._columns]
        self._absent = {pair: np.zeros(len(self._names), dtype=np.int64) for pair in pairs}
        """In how many records with both dates each other one is missing."""
        self._alone = {(one, other): 0 for one in self._names for other in self._names}
        """In how many records the first one is missing, and the second one is not."""

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch; a column that can't be read is compared with none."""
        seconds = {
            name: cells.numbers * column.unit
            for name, column in self._columns.items()
            if (cells := batch.cells.get(name)) is not None and cells.numbers is not None
        }
        self._counts = {pair: counts for pair, counts in self._counts.items() if set(pair) <= seconds.keys()}
        walls: dict[str, np.ndarray] = {}
        for pair, counts in self._counts.items():
            one, other = (seconds[name] for name in pair)
            if not self._are_instants(pair):
                one, other = (self._on_the_clock(name, seconds[name], walls) for name in pair)
            counts += ((one < other).sum(), (one > other).sum())
        self._add_missing(seconds, batch.rows)

    def _add_missing(self, seconds: dict[str, np.ndarray], rows: int) -> None:
        """Which dates are missing where others are there, of pairs that may still come in one order."""
        nothing = np.full(rows, np.nan)
        absent = {name: np.isnan(seconds.get(name, nothing)) for name in self._names}
        for pair, counts in self._counts.items():
            if not counts.all():
                both = ~(absent[pair[0]] | absent[pair[1]])
                self._absent[pair] += [np.count_nonzero(own & both) for own in absent.values()]
                for one, other in (pair, pair[::-1]):
                    self._alone[one, other] += int(np.count_nonzero(absent[one] & ~absent[other]))

    def _are_instants(self, pair: tuple[str, str]) -> bool:
        """Whether both have a zone: instants have one order, wherever their clocks stand."""
        return all(self._columns[name].is_zoned for name in pair)

    def _on_the_clock(self, name: str, seconds: np.ndarray, walls: dict[str, np.ndarray]) -> np.ndarray:
        """What clocks in the column's zone show: days, and moments without a zone, are what a clock shows."""
        if name not in walls:
            walls[name] = self._columns[name].on_the_clock(seconds)
        return walls[name]

    def notes(self) -> Iterator[ColumnNote]:
        """One for each two dates in one order, between which no third one says it in every record that has both: a rule
        says nothing where a relapse, between an operation and the last visit, is missing."""
        found = {
            pair if before else pair[::-1]: before + after
            for pair, counts in self._counts.items()
            for before, after in [counts.tolist()]
            if not min(before, after) and before + after >= FEWEST
        }
        for (first, last), count in found.items():
            absent = self._absent.get((first, last), self._absent.get((last, first)))
            assert absent is not None
            always = [name for name, lost in zip(self._names, absent.tolist(), strict=True) if not lost]
            if any((first, other) in found and (other, last) in found for other in always):
                continue
            text = _text(first, last, self._schema, self._alone[first, last])
            yield ColumnNote(last, "order", text, count, source=first)


def _text(first: str, last: str, schema: Schema, alone: int) -> str:
    return (
        f"in no record does it come before {first}, and noise knows no order: many rows of a copy will break it. Where "
        f"none can, as no discharge before its admission, add the rule {order_rule(schema, first, last)}"
        f"{length_kept(schema, first, last, f'{alone:,} records more' if alone else '')}."
    )
