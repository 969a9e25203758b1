"""Numbers within the bounds that stand apart from all others and may stand for none: 99 years of school, 9 on a scale
from 1 to 5, an income of -1 among amounts.

NOT PRIVATE: that many cells hold one is an exact fact about the records. Beyond a bound, `far_values` says it. Bounds
that are generous, as bought ones are, hold such codes, and a copy spreads them over the numbers beside them.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_BELOW_ZERO = (-1, -7, -8, -9, -77, -88, -99, -777, -888, -999, -9999)
_DIGITS = (7, 8, 9)
_ABOVE = (*_DIGITS, 77, 88, 99, 777, 888, 999, 7777, 8888, 9999, 99999, 999999)
"""That questionnaires, hospitals and offices write for refused, unknown and not asked."""
_FEWEST = 3
"""Cells with a code: of fewer, a number far out may be a true one."""
_MANY = 10
"""Cells with a code that lies no farther out than the others span: then they are also"""
_TIMES = 3
"""so many times as many as those with the number before it, as no tail of ages or costs ends."""
_SCALE = 7
"""Answers of a scale from 1 on, at most; of one from 0 on, two."""
_KEPT = 2000
"""Different numbers beyond which single ones are counted no more."""


class PlaceholderCounts:
    """What was seen of a column's numbers so far, as far as it tells which stand for none.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self.column = column
        stated = {*column.points, *column.bounds, *(number for _, number in column.words)}
        known = [code for code in (*_BELOW_ZERO, *_ABOVE) if code not in stated]
        self._codes = np.array(sorted(known), dtype=float)
        self._held = dict.fromkeys(self._codes.tolist(), 0)
        self._others: dict[float, int] | None = {}
        self._low, self._high = np.inf, -np.inf

    def add(self, numbers: np.ndarray) -> None:
        """Sees numbers [n] within the bounds."""
        found, counts = np.unique(numbers, return_counts=True)
        is_code = np.isin(found, self._codes)
        for number, count in zip(found[is_code].tolist(), counts[is_code].tolist(), strict=True):
            self._held[number] += count
        if is_code.all():
            return
        others = dict(zip(found[~is_code].tolist(), counts[~is_code].tolist(), strict=True))
        self._low, self._high = min(self._low, *others), max(self._high, *others)
        if self._others is None or len(others) > _KEPT:
            self._others = None
            return
        for number, count in others.items():
            self._others[number] = self._others.get(number, 0) + count
        if len(self._others) > _KEPT:
            self._others = None

    @property
    def values(self) -> tuple[tuple[str, int], ...]:
        """Those that may stand for none, with their counts."""
        if self._low > self._high:
            return ()
        held = {number: count for number, count in self._held.items() if count}
        below = [number for number in held if number < 0]
        if self._low < 0 or sum(held[number] for number in below) < _FEWEST:
            below = []
        above, high = list[float](), self._high
        for number in held:
            if number > 0 and self._is_apart(number, held[number], high):
                above.append(number)
            elif number > high:  # a true one, beyond which those before it are not
                above, high = [], number
        return tuple((f"{number:.15g}", held[number]) for number in (*below, *above))

    def _is_apart(self, number: float, count: int, high: float) -> bool:
        """Whether a code stands for none rather than for one more than all others, up to `high`."""
        if number <= high + 1 or count < _FEWEST:
            return False
        if number in _DIGITS:
            is_scale = (self._low, high) == (0, 1) or (self._low == 1 and 1 < high <= _SCALE)
            if not is_scale or self._others is None:
                return False
            return {*self._others, high} == {float(answer) for answer in range(int(self._low), int(high) + 1)}
        if number - high >= high - self._low and high > self._low:
            return True
        before = 1 if self._others is None else self._others.get(high, self._held.get(high, 0))
        return count >= _MANY and count >= _TIMES * before

    @property
    def count(self) -> int:
        """Of the cells that hold such numbers."""
        return sum(count for _, count in self.values)

    @property
    def said(self) -> str:
        """What is to be decided."""
        number, it, stands = ("a number", "it", "stands") if len(self.values) == 1 else ("numbers", "they", "stand")
        listed = it if it == "it" else "them"
        return (
            f"{self.count:,} of its cells hold {number} apart from all others, as many tables write for none (9, 99, "
            f"-1): where {it} {stands} for none, list {listed} in `missing_values`, with bounds that leave {listed} "
            f"out. Means take {listed} for true, and a copy also spreads {listed} over the numbers beside {listed}"
        )
