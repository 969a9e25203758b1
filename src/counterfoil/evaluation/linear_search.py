"""Which columns of numbers a sum with signs ties together: `age - schooling - experience` is 6 in every record.

NOT PRIVATE: it reads records. Two or three columns count with a factor of 1 or -1 each, and their sum is one constant.
All pairs and triples are asked in few records, those that stand in some hundreds, and at most `MOST_LEFT` in all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterfoil.evaluation.stored_digits import MOST_DIGITS

MOST_LEFT = 200
"""Relations that all records are asked about: those of which most of the first records tell."""
_SCREENED = 40
"""Records that all relations are looked at in, and of which few are left for the next."""
_NEXT = 400
_TOGETHER = 4096
"""Relations that are asked at once."""
_ROUNDING = 1e-9
"""Of the size of a sum."""
_LARGEST = 1e15
"""A constant beyond it has no digit after the point, nor all before it."""

Relation = tuple[tuple[int, int], ...]
"""The place of each column with its factor, 1 or -1; that of the first is 1."""


@dataclass
class LinearRelation:
    """A sum that was the same in all records so far.

    Args:
        factors: 1 or -1 by the place of each column.
        constant: what the sum is.
        usual: the most frequent value of each column in the first records that have all.
        count: how many records have all columns.
        unlike: how many of them have another value than the usual one, of each column: a column that never has shows
            nothing.
        apart: of how many records each column is known and another one is not, or is alone in not being known.
    """

    factors: Relation
    constant: float
    usual: np.ndarray
    count: int
    unlike: np.ndarray
    apart: np.ndarray

    @property
    def places(self) -> list[int]:
        """Of its columns."""
        return [place for place, _ in self.factors]

    @property
    def evidence(self) -> int:
        """Records that tell it from chance, of the column of which fewest do."""
        return int(self.unlike.min())

    def add(self, numbers: np.ndarray) -> bool:
        """Asks records, float64 [columns, records], and says whether none speaks against it."""
        known = _known(numbers, self.factors)
        sums, apart = _sums(known, self.factors)
        if (np.abs(sums - self.constant) > apart + _ROUNDING * abs(self.constant)).any():
            return False
        self.count += known.shape[1]
        has = np.isfinite(numbers[self.places])
        missing_alone = ~has & ((~has).sum(axis=0) == 1)
        self.apart = self.apart + has.sum(axis=1) - known.shape[1] + missing_alone.sum(axis=1)
        self.unlike = self.unlike + (np.abs(known - self.usual[:, None]) > 2 * apart).sum(axis=1)
        return True


def search(numbers: np.ndarray) -> list[LinearRelation]:
    """Those that may stand in all records, by the ones whose numbers tell most; none of them was asked of all yet.

    Args:
        numbers: float64 [columns, records], NaN where missing.
    """
    few = numbers[:, _most_telling(numbers)]
    standing: list[tuple[int, Relation]] = []
    candidates = _candidates(few[:, :_SCREENED], [place for place, row in enumerate(few) if _varies(row)])
    while some := [*itertools.islice(candidates, _TOGETHER)]:
        standing += _standing(few, some)
        standing = sorted(standing, key=lambda one: (-one[0], len(one[1])))[:MOST_LEFT]
    found = (_started(few, factors) for _, factors in standing)
    return [relation for relation in found if relation is not None]


def _started(few: np.ndarray, factors: Relation) -> LinearRelation | None:
    """A relation with its constant, of at most `MOST_DIGITS` digits after the point; None where it is no such one."""
    known = _known(few, factors)
    sums, apart = _sums(known, factors)
    constant = float(np.round(np.median(sums), MOST_DIGITS)) + 0.0
    if abs(constant) > _LARGEST or (np.abs(sums - constant) > apart + _ROUNDING * abs(constant)).any():
        return None
    usual = np.array([_most_frequent(row) for row in known])
    return LinearRelation(factors, constant, usual, 0, *np.zeros((2, len(known)), dtype=np.int64))


def _known(numbers: np.ndarray, factors: Relation) -> np.ndarray:
    """float64 [columns of a relation, records that have all of them]."""
    own = numbers[[place for place, _ in factors]]
    return own[:, np.isfinite(own).all(axis=0)]


def _sums(known: np.ndarray, factors: Relation) -> tuple[np.ndarray, np.ndarray]:
    """float64 [records], twice: the sum with signs, and how far rounding may move it."""
    signs = np.array([sign for _, sign in factors], dtype=float)
    return signs @ known, _ROUNDING * np.abs(known).sum(axis=0)


def _varies(row: np.ndarray) -> bool:
    known = row[np.isfinite(row)]
    return bool((known != known[:1]).any())


def _candidates(few: np.ndarray, places: list[int]) -> Iterator[Relation]:
    """Pairs and triples of some columns whose sum is one number in a few records, as far as rounding says."""
    few = few[places]
    size = _ROUNDING * np.abs(np.where(np.isfinite(few), few, 0.0)).max(axis=1, initial=0.0)
    for first, sign in itertools.product(range(len(few)), (1, -1)):
        later = np.arange(first + 1, len(few))
        sums, sizes = few[first] + sign * few[later], size[first] + size[later]
        for place in np.flatnonzero(_is_one(sums, sizes)):
            yield (places[first], 1), (places[later[place]], sign)
        for last_sign in (1, -1):
            all_three = _is_one(sums[:, None] + last_sign * few[later], sizes[:, None] + size[later])
            for second, last in np.argwhere(np.triu(all_three, 1)):
                yield (places[first], 1), (places[later[second]], sign), (places[later[last]], last_sign)


def _is_one(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """bool [...]: which sums [..., records] are one number up to 4 times a size [...]; not where none is known."""
    if not sums.size:
        return np.zeros(sums.shape[:-1], dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmax.reduce(sums, axis=-1) - np.fmin.reduce(sums, axis=-1) <= 4 * sizes)


def _standing(few: np.ndarray, relations: list[Relation]) -> list[tuple[int, Relation]]:
    """Those that stand in some hundred records, with how many tell it, of the column of which fewest do."""
    usual = np.array([_most_frequent(row[np.isfinite(row)]) for row in few])
    found: list[tuple[int, Relation]] = []
    for width in (2, 3):
        own = [relation for relation in relations if len(relation) == width]
        if not own:
            continue
        places, signs = np.moveaxis(np.array(own), 2, 0)
        cells = few[places]
        sums, apart = (signs[..., None] * cells).sum(axis=1), _ROUNDING * np.abs(cells).sum(axis=1)
        known = np.isfinite(sums)
        with np.errstate(invalid="ignore"):
            low = np.where(known, sums - 2 * apart, -np.inf).max(axis=1)
            high = np.where(known, sums + 2 * apart, np.inf).min(axis=1)
            unlike = (np.abs(cells - usual[places][..., None]) > 2 * apart[:, None]) & known[:, None]
        evidence = unlike.sum(axis=2).min(axis=1)
        stands = known.any(axis=1) & (low <= high)
        found += [(int(evidence[place]), own[place]) for place in np.flatnonzero(stands)]
    return found


def _most_telling(numbers: np.ndarray) -> np.ndarray:
    """Places of the records with most numbers that are not the most frequent one of their column."""
    telling = np.zeros(numbers.shape[1], dtype=np.int64)
    for row in numbers:
        known = np.isfinite(row)
        telling += known & (row != _most_frequent(row[known][:: max(1, len(row) // 1000)]))
    return np.argsort(-telling, kind="stable")[:_NEXT]


def _most_frequent(numbers: np.ndarray) -> float:
    """NaN of none."""
    values, counts = np.unique(numbers, return_counts=True)
    return float(values[np.argmax(counts)]) if len(values) else np.nan
