"""Integers that come back with other zeros at their beginning than the source has, and what keeps these.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter

from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.integer import MOST_DIGITS, Integer

_DIGITS = re.compile(r"\d+", re.ASCII)


class ZeroCounts:
    """What was seen of a column's texts so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer):
        self.column = column
        self._otherwise = TextTally()
        self._widths: set[int] = set()
        self._least = MOST_DIGITS

    def add(self, found: Counter[str]) -> None:
        """Sees texts of cells that are as declared, with their counts."""
        for text, count in found.items():
            if _DIGITS.fullmatch(text) is None:
                continue
            bare = text.lstrip("0") or "0"
            if text != bare:
                self._widths.add(len(text))
            else:
                self._least = min(self._least, len(text))
            if text != bare.zfill(self.column.digits):
                self._otherwise.add(text, count)

    @property
    def count(self) -> int:
        """Of cells with other zeros than they come back with."""
        return self._otherwise.count

    @property
    def values(self) -> tuple[tuple[str, int], ...]:
        """The most frequent of their texts."""
        return self._otherwise.top

    @property
    def said(self) -> str:
        """What is lost, and the line that keeps it."""
        how = f"{self.count:,} of its cells have other zeros at the beginning than they would come back with"
        width = next(iter(self._widths), 0)
        fits = len(self._widths) == 1 and width <= min(self._least, MOST_DIGITS)
        if fits and self.column.lower >= 0 and width != self.column.digits:
            return f"{how}: write `digits = {width}`"
        if not self._widths:
            return f"{how}: leave `digits` out"
        return f"{how}: where the notation matters, list them as texts in `values`, as categories"
