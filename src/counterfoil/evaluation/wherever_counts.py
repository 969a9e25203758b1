"""What is true of all records in which another column has some values, and not of all others: NOT PRIVATE.

A fact is whatever a record keeps to, breaks, or says nothing about. Which values of which column decide is looked for
among all: most of the pairs fail in records that are spread over a batch, and of the others the best are counted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.code_conditions import condition, is_exact
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer

MOST_COLUMNS = 300
"""Wider tables are not asked: each column may decide about each."""
_MOST_CODES = 200
"""Of a column that may decide."""
_MOST_FACTS = 3000
"""That are looked at, those that the most records keep to."""
_MOST_DECIDING = 4000
"""Codes of all columns together that may decide, those of the most records."""
_MOST_LEFT = 200
"""Pairs of a fact and a column of which all records of a batch are asked: those that the most records tell."""
_SCREENED = 600
"""Records of a batch, spread over it, that all pairs are looked at in."""
_FEWEST_SCREENED = 3
"""Of these, of a code that may decide."""
_LEAST = 0.01
"""The share of the records about which the fact is decided, and that of those that break it elsewhere."""
_MOST_SHARE = 0.9
"""Of records that keep to a fact in codes that don't decide, by which those of others are judged."""
_NO_CHANCE = 14.0
"""Minus the log of the probability, one in a million, that chance makes any code decide."""


class Fact(Protocol):
    """What is true of a record, or not; hashable, and equal to the same one of another batch."""

    @property
    def names(self) -> frozenset[str]:
        """The columns that it is about."""


Signs = Callable[[slice], np.ndarray]
"""int8 [records]: 1 for those of a part of the batch that keep to a fact, -1 for those that break it, else 0."""


@dataclass(frozen=True)
class Decided:
    """A fact that holds wherever another column has some values.

    Args:
        fact: as it was given.
        gate: the other column.
        where: which values, as a condition of rules.
        support: records that keep to the fact there, and might not.
        missing: whether missing cells of the other column are among these values.
    """

    fact: Fact
    gate: str
    where: str
    support: int
    missing: bool = False


@dataclass
class _Pair:
    """Of each code of a column: how many records keep to a fact, and how many break it.

    Earlier records of a code, before the pair was counted, stand as one that breaks it.
    """

    support: np.ndarray
    broken: np.ndarray

    @property
    def deciding(self) -> np.ndarray:
        """bool [codes]: which no record breaks."""
        return (self.support > 0) & (self.broken == 0)

    @property
    def share(self) -> float:
        """How many keep to the fact in the code of a record that does, among codes that don't decide: more than in all
        where other codes exclude it; nor so many that a code which a few records break hides those that decide."""
        mixed = (self.support > 0) & (self.broken > 0)
        kept, broke = self.support[mixed].astype(float), self.broken[mixed]
        share = float((kept * (kept + 1) / (kept + broke + 2)).sum() / kept.sum()) if mixed.any() else 0.0
        return min(share, _MOST_SHARE)


class WhereverCounts:
    """Which facts were decided by which values of other columns so far, batch by batch.

    Args:
        schema: the public facts about the table.
        ruled: pairs of columns about which nothing is said.
    """

    def __init__(self, schema: Schema, *, ruled: frozenset[frozenset[str]]):
        gates = {column.name: column for column in schema.synthesized if is_exact(column)}
        gates = {name: column for name, column in gates.items() if column.size <= _MOST_CODES}
        self._gates: Mapping[str, Column] = gates if len(schema.synthesized) <= MOST_COLUMNS else {}
        self._ruled = ruled
        # One code more than there are, the last, is for cells that have no place.
        self._counts = {name: np.zeros(column.size + 1, dtype=np.int64) for name, column in self._gates.items()}
        self._pairs: dict[tuple[Fact, str], _Pair] = {}
        self._totals: dict[Fact, np.ndarray] = {}
        self._tried = 0

    def add(self, batch: RawBatch, facts: Mapping[Fact, Signs]) -> None:
        """Asks the records of a batch; a column that can't be read decides nothing any more."""
        if not batch.rows or not self._gates:
            return
        self._gates = {name: column for name, column in self._gates.items() if name in batch.cells}
        codes = {
            name: np.where((own := batch.cells[name].codes) < 0, column.size, own)
            for name, column in self._gates.items()
        }
        pairs = {pair: one for pair, one in self._pairs.items() if pair[0] in facts and pair[1] in codes}
        for pair in self._screened(codes, facts, -(-batch.rows // _SCREENED)):
            if pair not in pairs:
                before = self._counts[pair[1]]
                pairs[pair] = _Pair(np.zeros_like(before), np.minimum(before, 1))
        for fact, group in itertools.groupby(sorted(pairs, key=lambda pair: hash(pair[0])), key=lambda pair: pair[0]):
            signs = facts[fact](slice(None))
            kept, broke = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
            for _, gate in group:
                counted, own = pairs[fact, gate], codes[gate]
                size = len(counted.support)
                counted.broken += np.bincount(own[broke], minlength=size)
                counted.support += np.bincount(own[kept], minlength=size)
        for name, own in codes.items():
            self._counts[name] += np.bincount(own, minlength=len(self._counts[name]))
        self._pairs = {pair: one for pair, one in pairs.items() if one.deciding.any()}

    def _screened(
        self, codes: Mapping[str, np.ndarray], facts: Mapping[Fact, Signs], step: int
    ) -> list[tuple[Fact, str]]:
        """The pairs of a fact and a column that some of the records allow, those that tell most first; then those of
        facts that hardly a record broke so far, as where a table is sorted by what decides."""
        part = slice(None, None, step)
        listed, signs = self._looked_at(facts, part)
        gates, starts, which = self._deciding({name: own[part] for name, own in codes.items()})
        if not listed or not gates:
            return []
        self._tried += len(listed) * which.shape[1]
        support = (signs > 0).astype(np.float32) @ which
        support[(signs < 0).astype(np.float32) @ which > 0] = 0
        bits = -np.log([self._share(fact) for fact in listed])
        telling = np.add.reduceat(support, starts, axis=1) * bits[:, None]
        usual = np.array([not self._is_open(fact) for fact in listed])
        both: list[tuple[Fact, str]] = []
        for rows in (np.flatnonzero(~usual), np.flatnonzero(usual)):
            group = telling[rows].ravel()
            best = np.flatnonzero(group > 0)
            best = best[np.argsort(-group[best], kind="stable")].tolist()
            found = ((listed[rows[place // len(gates)]], gates[place % len(gates)]) for place in best)
            both += itertools.islice((pair for pair in found if self._may(*pair)), _MOST_LEFT)
        return both

    def _may(self, fact: Fact, gate: str) -> bool:
        """Whether the fact is not about the column, or a rule about both."""
        return not any(gate == name or frozenset((gate, name)) in self._ruled for name in fact.names)

    def _looked_at(self, facts: Mapping[Fact, Signs], part: slice) -> tuple[list[Fact], np.ndarray]:
        """Facts that not too few of the records keep to, with int8 [facts, records]."""
        rows: dict[Fact, tuple[int, np.ndarray]] = {}
        for fact, signs in facts.items():
            own = signs(part)
            kept, broke = int((own > 0).sum()), int((own < 0).sum())
            self._totals[fact] = self._totals.get(fact, 0) + np.array([kept, broke], dtype=np.int64)
            if kept >= max(_LEAST * (kept + broke), 1):
                rows[fact] = kept, own
        listed = sorted(rows, key=lambda fact: -rows[fact][0])[:_MOST_FACTS]
        return listed, np.stack([rows[fact][1] for fact in listed]) if listed else np.zeros((0, 0), dtype=np.int8)

    def _is_open(self, fact: Fact) -> bool:
        """Whether neither few records keep to it nor few break it."""
        return _LEAST <= self._share(fact) <= 1 - _LEAST

    def _share(self, fact: Fact) -> float:
        """Of the records about which the fact says something, about how many keep to it."""
        kept, broke = self._totals[fact].tolist()
        return float((kept + 1) / (kept + broke + 2))

    def _deciding(self, codes: Mapping[str, np.ndarray]) -> tuple[list[str], list[int], np.ndarray]:
        """The columns with codes that enough of the records have and no earlier one had, where those of each begin, and
        float32 [records, codes], 1 where a record has one.

        A table may be sorted by the column that decides: such codes may begin later, and nothing is lost of them.
        """
        found: list[tuple[int, str, int]] = []
        for name, own in codes.items():
            counts = np.bincount(own, minlength=len(self._counts[name]))
            new = np.flatnonzero((counts >= _FEWEST_SCREENED) & (self._counts[name] == 0))
            found += [(int(counts[code]), name, code) for code in new.tolist()]
        kept = {(name, code) for _, name, code in sorted(found, key=lambda one: -one[0])[:_MOST_DECIDING]}
        found = [one for one in found if one[1:] in kept]
        gates = [name for _, name, _ in found]
        starts = [place for place, name in enumerate(gates) if not place or gates[place - 1] != name]
        which = [codes[name] == code for _, name, code in found]
        return [gates[place] for place in starts], starts, np.array(which, dtype=np.float32).T

    def found(self) -> Iterator[Decided]:
        """What is no chance, of each fact by the column that decides in the most records."""
        best: dict[Fact, Decided] = {}
        for (fact, gate), pair in self._pairs.items():
            decided = self._decided(fact, gate, pair)
            if decided is not None and (fact not in best or best[fact].support < decided.support):
                best[fact] = decided
        yield from best.values()

    def _decided(self, fact: Fact, gate: str, pair: _Pair) -> Decided | None:
        counts, column = self._counts[gate], self._gates[gate]
        if counts[-1] or not self._is_open(fact):
            return None
        bound = _NO_CHANCE + np.log(max(self._tried, 1))
        bits = -np.log(max(self._share(fact), pair.share))
        sure = pair.deciding & (pair.support * bits >= bound)
        if counts[sure].sum() < _LEAST * counts.sum() or not sure.any():
            return None
        codes = np.flatnonzero(sure).tolist()
        where = self._condition(column, codes, np.flatnonzero((pair.broken == 0) & (counts > 0)).tolist())
        support = int(pair.support[sure].sum())
        return Decided(fact, gate, where, support, column.missing_code in codes) if where else None

    def _condition(self, column: Column, sure: list[int], unbroken: list[int]) -> str:
        """Where; of numbers with rare ones among them that break nothing, as all below or above a number. Where cells
        of the column are missing a rule says nothing, which needs no words."""
        seen = np.flatnonzero(self._counts[column.name][:-1]).tolist()
        if column.missing_code in sure:
            return condition(column, sure, seen)
        kept, within = ([code for code in codes if code != column.missing_code] for codes in (seen, unbroken))
        others = [code for code in kept if code not in within]
        if isinstance(column, Integer) and others and (max(within) < min(others) or min(within) > max(others)):
            return condition(column, within, kept)
        return condition(column, sure, kept) or condition(column, sure, seen)
