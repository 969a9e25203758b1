"""Questions that were not asked: a column has one value in exactly the records in which an earlier one has some.

NOT PRIVATE. A survey asks only the unemployed whether they look for work, and codes the others -1. A copy has
unemployed rows with -1 and others without it. Rules keep to it, and cost nothing.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.code_conditions import condition, constant, is_exact, named_codes, shown
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.pasted_names import can_be_pasted
from counterfoil.evaluation.ruled_pairs import ruled_pairs
from counterfoil.listing import first_few
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.expression import column_text
from counterfoil.schema.placement import Placement

MOST_COLUMNS = 300
"""Wider tables are not asked: each column is compared with each."""
MOST_CODES = 200
"""Of a column that may say which records are skipped."""
MOST_SKIPPED = 20
"""Categories of a column of which each may stand for a question that was not asked; of a column with more, and of
whole numbers, the first and the last value, and missing cells; of dates and other columns missing cells alone."""
_LEAST = 0.01
"""The share of the records that are skipped, or asked, and fewer of them are not looked at."""
_SCREENED = 1000
"""Records of a batch, spread over it, that are compared before all of them are: most pairs of columns fail there."""
_NO_CHANCE = 14.0
"""Minus the log of the probability, one in a million, that chance makes any of the values compared a skipped one."""
_MOST_NAMED = 4

_ELSEWHERE = (Placement.BELOW, Placement.ABOVE)

Value = tuple[str, int]
"""A column and one of its codes."""


@dataclass(frozen=True)
class Skipped:
    """A value that exactly the records of some codes of another column have.

    Args:
        value: the column, and its code.
        gate: the other column.
        codes: of the other column.
    """

    value: Value
    gate: str
    codes: tuple[int, ...]


class SkipCounts:
    """Which values some codes of another column had so far, and no other code, batch by batch."""

    def __init__(self, schema: Schema):
        columns = {column.name: column for column in schema.synthesized if can_be_pasted(column.name)}
        self._columns = columns if len(columns) <= MOST_COLUMNS else {}
        self._exact = {name for name, column in self._columns.items() if is_exact(column)}
        self._gates = [name for name in self._columns if name in self._exact and columns[name].size <= MOST_CODES]
        self._ruled = ruled_pairs(schema)
        # One code more than there are, the last, is for cells that have no place.
        self._counts = {name: np.zeros(column.size + 1, dtype=np.int64) for name, column in self._columns.items()}
        self._with: dict[tuple[Value, str], np.ndarray] = {}
        self._begun = set[Value]()
        self._clamped = set[Value]()
        self._rows = self._tried = 0

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch; a column that can't be read is compared no more."""
        if not batch.rows:
            return
        self._columns = {name: column for name, column in self._columns.items() if name in batch.cells}
        self._with = {pair: own for pair, own in self._with.items() if {pair[0][0], pair[1]} <= self._columns.keys()}
        codes = {name: self._codes(name, batch) for name in self._columns}
        step = -(-batch.rows // _SCREENED)
        self._with |= self._screened(codes, step)
        for apart in sorted({step, 1}, reverse=True):
            some = {name: own[::apart] for name, own in codes.items()}
            self._with = self._compared(self._with, some, keep=apart > 1)
        for name, own in codes.items():
            self._counts[name] += np.bincount(own, minlength=len(self._counts[name]))
        self._rows += batch.rows

    def _codes(self, name: str, batch: RawBatch) -> np.ndarray:
        """Of each cell, as a copy will have it: what lies beyond a bound becomes the bound."""
        cells = batch.cells[name]
        codes = np.where(cells.codes < 0, len(self._counts[name]) - 1, cells.codes)
        beyond = codes[np.isin(cells.placements, _ELSEWHERE)]
        self._clamped |= {(name, code) for code in np.unique(beyond).tolist()}
        return codes

    def _screened(self, codes: dict[str, np.ndarray], step: int) -> dict[tuple[Value, str], np.ndarray]:
        """The pairs of a new value and a gate that no rule knows and that every so many records don't refute, with the
        counts of earlier batches: all gates of a value at once, for most of some hundred thousand pairs fail here."""
        values, gates = self._new_values(codes), [name for name in self._gates if name in codes]
        self._tried += sum(gate != name for name, _ in values for gate in gates)
        if not values or not gates:
            return {}
        starts = np.cumsum([0, *(len(self._counts[gate]) for gate in gates)])
        shifted = np.stack([codes[gate][::step] + start for gate, start in zip(gates, starts, strict=False)])
        before = np.concatenate([self._counts[gate] for gate in gates])
        whole, found = before + np.bincount(shifted.ravel(), minlength=starts[-1]), {}
        for name, code in values:
            always = bool(self._rows and self._counts[name][code])
            has = codes[name][::step] == code
            now = np.bincount(shifted[:, has].ravel(), minlength=starts[-1]) + (before if always else 0)
            fails = np.logical_or.reduceat((now > 0) & (now < whole), starts[:-1])
            for gate in (gates[place] for place in np.flatnonzero(~fails).tolist()):
                if gate != name and frozenset((name, gate)) not in self._ruled:
                    found[(name, code), gate] = self._counts[gate] * int(always)
        return found

    def _new_values(self, codes: dict[str, np.ndarray]) -> list[Value]:
        """Those that may stand for no answer, and that some records have now and others don't.

        All records of earlier batches had the value, or none had, so that nothing about it is lost: a table may be
        sorted by the column that decides. In the first batch neither few nor nearly all have it.
        """
        found = []
        for name, own in codes.items():
            column, before = self._columns[name], self._counts[name]
            rows = before + np.bincount(own, minlength=len(before))
            share, least = rows / rows.sum(), 0.0 if self._rows else _LEAST
            named = named_codes(column) if name in self._exact else range(0)
            few = isinstance(column, Categorical) and len(named) <= MOST_SKIPPED
            may = named if few else sorted({*named[:1], *named[-1:]})
            for code in (*may, *(() if column.missing_code is None else (column.missing_code,))):
                is_mixed = 0 < rows[code] < rows.sum() and least <= share[code] <= 1 - least
                if is_mixed and (name, code) not in self._begun and before[code] in (0, self._rows):
                    self._begun.add((name, code))
                    found.append((name, code))
        return found

    def _compared(
        self, before: dict[tuple[Value, str], np.ndarray], codes: dict[str, np.ndarray], *, keep: bool
    ) -> dict[tuple[Value, str], np.ndarray]:
        """The pairs of which each code of the gate has the value always or never; with their counts as `before` where
        these records will be compared again (`keep`)."""
        all_of = {
            gate: np.bincount(codes[gate], minlength=len(self._counts[gate])) for gate in {gate for _, gate in before}
        }
        found, alike = {}, dict[tuple[bytes, str], np.ndarray]()
        for value, group in itertools.groupby(before.items(), key=lambda pair: pair[0][0]):
            has = codes[value[0]] == value[1]
            records = hashlib.sha256(has).digest()  # a hundred questions may be skipped by the same records
            for (_, gate), counts in group:
                if (records, gate) not in alike:
                    alike[records, gate] = np.bincount(codes[gate][has], minlength=len(counts))
                now = counts + alike[records, gate]
                whole = self._counts[gate] + all_of[gate]
                if np.all((now == 0) | (now == whole)):
                    found[value, gate] = counts if keep else now
        return found

    def notes(self) -> Iterator[ColumnNote]:
        """One for all columns that the same codes of one column skip, with the same value."""
        groups: dict[tuple[str, tuple[int, ...], str], list[Skipped]] = {}
        for skipped in self._found():
            column = self._columns[skipped.value[0]]
            label = "" if skipped.value[1] == column.missing_code else column.labels[skipped.value[1]]
            groups.setdefault((skipped.gate, skipped.codes, label), []).append(skipped)
        for group in groups.values():
            if where := self._condition(group[0].gate, group[0].codes):
                others = np.setdiff1d(self._seen(group[0].gate), group[0].codes)
                elsewhere = self._condition(group[0].gate, tuple(others.tolist())) or f"not ({where})"
                yield ColumnNote(group[0].value[0], "skipped", self._text(group, where, elsewhere), len(group))

    def pairs(self) -> set[tuple[str, str]]:
        """Each column that others are skipped by, with each of these."""
        return {(skipped.gate, skipped.value[0]) for skipped in self._found()}

    def _found(self) -> Iterator[Skipped]:
        """Of each column the value that one other column skips by, of these the first; not of a column of which that
        one says more than this value, nor of two that skip each other's, nor of two that are missing together, of which
        `AbsentCounts` says so; nor a value that cells beyond a bound became."""
        order = {name: place for place, name in enumerate(self._columns)}
        sure = {pair: counts for pair, counts in self._with.items() if self._is_no_chance(pair, counts)}
        values = Counter((value[0], gate) for value, gate in sure)
        taken: set[str] = set()
        for (value, gate), counts in sorted(sure.items(), key=lambda pair: order[pair[0][1]]):
            codes = tuple(np.flatnonzero(counts).tolist())
            missing = (value[1], *codes) == (self._columns[value[0]].missing_code, self._columns[gate].missing_code)
            back = values[gate, value[0]] == 1 and order[gate] > order[value[0]]
            if value in self._clamped or missing or back or value[0] in taken:
                continue
            if values[value[0], gate] == 1 and self._asks(value):
                taken.add(value[0])
                yield Skipped(value, gate, codes)

    def _asks(self, value: Value) -> bool:
        """Whether records without the value have several others: one other alone follows, which is said elsewhere."""
        counts = self._counts[value[0]].copy()
        counts[value[1]] = 0
        return bool((counts > 0).sum() > 1)

    def _is_no_chance(self, pair: tuple[Value, str], counts: np.ndarray) -> bool:
        """Whether so many records of each code of the gate would not all have the value, or all have another one."""
        whole = self._counts[pair[1]]
        share = counts.sum() / max(whole.sum(), 1)
        if not _LEAST <= share <= 1 - _LEAST or counts[-1] or not self._tried:
            return False
        seen = whole[whole > 0]
        logs = np.logaddexp(seen * np.log(share), seen * np.log1p(-share))
        return bool(-logs.sum() > _NO_CHANCE + np.log(self._tried))

    def _condition(self, gate: str, codes: tuple[int, ...]) -> str:
        return condition(self._columns[gate], codes, self._seen(gate))

    def _seen(self, gate: str) -> list[int]:
        """The codes of a column that records have."""
        return np.flatnonzero(self._counts[gate][:-1]).tolist()

    def _text(self, group: list[Skipped], where: str, elsewhere: str) -> str:
        name, code = group[0].value
        column, of = self._columns[name], column_text(name)
        missing = code == column.missing_code
        value = "missing" if missing else f'"{column.labels[code]}"'
        then = f"{of} is missing" if missing else f"{of} == {constant(column, code)}"
        back = f"not ({of} is missing)" if missing else f"{of} != {constant(column, code)}"
        others = [one.value[0] for one in group[1:]]
        more = f"; the like is true of {first_few(others, _MOST_NAMED, between=', ')}" if others else ""
        return (
            f"it is {value} in exactly the records with {shown(where)}{more}. Rows of a copy will not keep to it. "
            f'Where a question is asked of some alone, add rules: if = "{where}", then = "{then}", and if = '
            f'"{elsewhere}", then = "{back}".'
        )
