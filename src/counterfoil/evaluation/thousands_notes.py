"""Numbers whose points look like separators of thousands, and are read as decimal ones: 3.107 beside 987.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter

from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_BELOW = re.compile(r"[+-]?[1-9]\d{0,2}", re.ASCII)
_FEWEST = 20
"""Of fewer numbers with three digits behind their point it may be chance that no other has fewer or more."""


class ThousandsCounts:
    """What was seen of a column's texts so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self._grouped = self._below = self._others = 0
        self._is_plain = not column.decimal_char

    def add(self, found: Counter[str]) -> None:
        """Sees texts that are read as numbers, with their counts."""
        for text, count in found.items() if self._is_plain else ():
            if _GROUPED.fullmatch(text):
                self._grouped += count
            elif _BELOW.fullmatch(text):
                self._below += count
            elif text != "0":
                self._others += count

    @property
    def count(self) -> int:
        """Of such numbers; 0 where another one speaks against it, or none is whole, so that all may have decimals."""
        is_likely = self._below and not self._others and self._grouped >= _FEWEST
        return self._grouped if is_likely else 0

    @property
    def said(self) -> str:
        """How they are read, and what to state where that is wrong."""
        return (
            f"{self.count:,} of its numbers have a point and three digits behind it, and all others are whole and "
            "below 1000, as where points separate thousands: 3.107 is read as a little more than 3. If they do, write "
            '`decimal_char = ","`, kind = "integer" and bounds that hold then'
        )
