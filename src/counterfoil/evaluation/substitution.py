"""Sums that hold together, each solved for a column of its own, in terms of columns that none is solved for.

A derived column may not follow from another one, and so each expression is in terms of those that are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Sum:
    """Columns by their places, times whole factors, and a constant."""

    factors: dict[int, int]
    constant: float

    def plus(self, other: Sum, times: int) -> Sum:
        """With another sum, some times."""
        both = {place: self.factors.get(place, 0) + times * other.factors.get(place, 0) for place in other.factors}
        kept = {place: factor for place, factor in (self.factors | both).items() if factor}
        return Sum(kept, round(self.constant + times * other.constant, 12) + 0.0)

    def without(self, place: int) -> Sum:
        """What a column is, of this sum, whose factor of it is 1 or -1, and which is 0."""
        factor = self.factors[place]
        rest = {other: -factor * own for other, own in self.factors.items() if other != place}
        return Sum(rest, -factor * self.constant + 0.0)


@dataclass(frozen=True)
class Solved:
    """A relation that no earlier one implies.

    Args:
        target: the column that it is solved for.
        plain: what that is, by the relation alone.
    """

    target: int
    plain: Sum


class System:
    """Relations, added one after another.

    Args:
        kept: columns that none is to be solved for.
    """

    def __init__(self, kept: Collection[int] = ()) -> None:
        self._kept = kept
        self._given: dict[int, Sum] = {}

    def given(self, target: int) -> Sum:
        """What a column that a relation was solved for is, in terms of the others; any other is itself."""
        return self._given.get(target, Sum({target: 1}, 0.0))

    @property
    def targets(self) -> frozenset[int]:
        """The columns that relations were solved for."""
        return frozenset(self._given)

    def add(self, factors: Iterable[tuple[int, int]], constant: float, *, preferred: int) -> Solved | None:
        """Solves a relation; None for one that others imply, or that would only say what a single column is.

        Args:
            factors: of columns, whose sum is `constant`.
            constant: that sum.
            preferred: the column to solve for, where that is possible; else it is the last one that is.
        """
        own = Sum(dict(factors), -constant)
        left = own
        for place in own.factors.keys() & self._given.keys():
            left = left.plus(Sum({place: -1}, 0.0).plus(self._given[place], 1), own.factors[place])
        units = [place for place in sorted(left.factors) if abs(left.factors[place]) == 1 and place in own.factors]
        able = [place for place in units if place not in self._kept]
        if len(left.factors) < 2 or not able:
            return None
        target = preferred if preferred in able else able[-1]
        self._given = {place: _replaced(other, target, left.without(target)) for place, other in self._given.items()}
        self._given[target] = left.without(target)
        return Solved(target, own.without(target))


def _replaced(one: Sum, place: int, by: Sum) -> Sum:
    """A sum with another one in the place of a column."""
    times = one.factors.get(place, 0)
    return one.plus(Sum({place: -1}, 0.0).plus(by, 1), times) if times else one
