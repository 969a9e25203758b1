"""Numbers that are written in another way than in plain digits, in which they come back: +5, 6.0 and 4.1e+03.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter

from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_WHOLE = re.compile(r"-?\d+", re.ASCII)
_DECIMAL = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


class PlainCounts:
    """What was seen of a column's texts so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self._plain = _WHOLE if isinstance(column, Integer) else _DECIMAL
        self._otherwise = TextTally()

    def add(self, found: Counter[str]) -> None:
        """Sees texts of cells that are as declared, with their counts."""
        for text, count in found.items():
            if self._plain.fullmatch(text) is None:
                self._otherwise.add(text, count)

    @property
    def count(self) -> int:
        """Of cells that are written in another way."""
        return self._otherwise.count

    @property
    def values(self) -> tuple[tuple[str, int], ...]:
        """The most frequent of their texts."""
        return self._otherwise.top

    @property
    def said(self) -> str:
        """What is lost."""
        said = f"{self.count:,} of its cells are written in another way than they come back, in plain digits with "
        if self._plain is _DECIMAL:
            return f"{said}no plus sign and no exponent"
        codes = "where the notation matters, list them as texts in `values`, as categories"
        return f"{said}no decimals, no plus sign and no exponent: {codes}"
