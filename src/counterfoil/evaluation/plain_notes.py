"""Numbers that are written in another way than in plain digits, in which they come back: +5, 6.0 and 4.1e+03.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter

from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.decimal_char import pointed
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_WHOLE = re.compile(r"-?\d+", re.ASCII)
_POINTED = re.compile(r"-?\d+\.(0+)", re.ASCII)
_DECIMAL = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


class PlainCounts:
    """What was seen of a column's texts so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self._plain = _WHOLE if isinstance(column, Integer) else _DECIMAL
        self._step = column.step if isinstance(column, Integer) else 0
        self._sign, self._unit = column.decimal_char, column.unit
        self._otherwise = TextTally()
        self._zeros: set[int] = set()
        """How many zeros are after the point; 0 for a whole number in any other notation."""

    def add(self, found: Counter[str]) -> None:
        """Sees texts of cells that are as declared and come back as numbers, with their counts."""
        for text, count in found.items():
            plain = pointed(text, self._sign)
            if self._step:
                zeros = _POINTED.fullmatch(plain)
                self._zeros.add(0 if zeros is None else len(zeros[1]))
            if self._plain.fullmatch(plain) is None:
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
        said += "no separators of thousands, " if self._sign else ""
        said += "no unit, " if self._unit else ""
        if self._plain is _DECIMAL or self._sign or self._unit:
            return f"{said}no plus sign and no exponent"
        codes = "list them as texts in `values`, as categories"
        if self._zeros.isdisjoint({0}) and len(self._zeros) == 1:
            codes = f'declare kind = "real" with step = {self._step} and decimals = {min(self._zeros)}, or {codes}'
        return f"{said}no decimals, no plus sign and no exponent: where the notation matters, {codes}"
