"""Columns that are missing in the same records, or wherever another one is: NOT PRIVATE.

Whoever left a study is missing at every later visit. A copy draws the columns of each visit by themselves where they
were not counted together, and has people that come and go. Rules keep to it, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.schema import Schema
from counterfoil.schema.expression import column_text
from counterfoil.schema.placement import Placement

MOST_COLUMNS = 300
"""Wider tables are not asked: each column is compared with each."""
_NO_CHANCE = 14.0
"""Minus the log of the probability that records which miss one column all miss another one by chance: one in a
million."""

Pair = tuple[str, str]
"""Where the first is missing, so is the second."""


class AbsentCounts:
    """In how many records each two columns were missing so far, batch by batch."""

    def __init__(self, schema: Schema):
        names = pasted(column.name for column in schema.synthesized if column.missing)
        self._names = names if len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        self._together = np.zeros((len(self._names), len(self._names)), dtype=np.int64)
        self._rows = 0

    def add(self, batch: RawBatch) -> None:
        """Counts the missing cells of a batch; those of a column that can't be read are none."""
        absent = np.zeros((len(self._names), batch.rows), dtype=np.float32)
        for place, name in enumerate(self._names):
            if (cells := batch.cells.get(name)) is not None:
                absent[place] = cells.placements == Placement.MISSING
        for start in range(0, batch.rows, 1 << 16):  # so many are exact in 32 bits
            part = absent[:, start : start + (1 << 16)]
            self._together += np.rint(part @ part.T).astype(np.int64)
        self._rows += batch.rows

    def notes(self) -> Iterator[ColumnNote]:
        """One on columns that miss the same records, and one on those that miss all records of another one."""
        alike, within = self._pairs()
        if alike:
            yield ColumnNote(alike[0][1], "missing", _text(alike, "in the same records as {}", both=True), len(alike))
        if within:
            yield ColumnNote(within[0][1], "missing", _text(within, "wherever {} is", both=False), len(within))

    def _pairs(self) -> tuple[list[Pair], list[Pair]]:
        """Pairs that miss the same records, each with the first such column, and others, each with the closest one."""
        found = list(range(len(self._names)))
        first = {place: next(other for other in found if self._is_within(place, other, alike=True)) for place in found}
        own = [place for place in found if first[place] == place and self._together[place, place]]
        alike = [(first[place], place) for place in found if first[place] != place]
        within = []
        for place in own:
            wider = [other for other in own if other != place and self._is_within(place, other, alike=False)]
            if wider:
                within.append((place, min(wider, key=lambda other: (self._together[other, other], other))))
        return self._unbound(alike), self._unbound(within)

    def _is_within(self, one: int, other: int, *, alike: bool) -> bool:
        """Whether the records that miss one column all miss another one, and that is no chance."""
        if one == other:
            return True
        counts = self._together
        some, more = int(counts[one, one]), int(counts[other, other])
        if not 0 < counts[one, other] == some or more == self._rows or (alike and some != more):
            return False
        return some * np.log(self._rows / more) > _NO_CHANCE

    def _unbound(self, pairs: list[tuple[int, int]]) -> list[Pair]:
        named = [(self._names[one], self._names[other]) for one, other in pairs]
        return [pair for pair in named if not any(set(pair) <= bound for bound in self._bound)]


def _text(pairs: list[Pair], how: str, *, both: bool) -> str:
    """What is said of the second column of the first pair, and of how many others."""
    one, other = map(column_text, pairs[0])
    more = len(pairs) - 1
    others = f"; the like is true of {more:,} other column{'s' if more > 1 else ''}" if more else ""
    back = ", and the other way round" if both else ""
    return (
        f"it is missing {how.format(pairs[0][0])}{others}. Rows of a copy will not keep to it. "
        f'Where a form or a visit says so, add rules: if = "{one} is missing", then = "{other} is missing"{back}.'
    )
