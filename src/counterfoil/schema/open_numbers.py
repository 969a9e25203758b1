"""Cells of a file whose decimal sign is still to be asked: what each may be is kept until it is known.

Beside the classes of `raw_cell` these cells have others, each of which follows from the cell alone. Once the sign is
decided, `as_read` gives the classes and numbers that reading the file with it would have given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.raw_cell import CLASSES, CODES, LONGEST, RawCells, cells_of, number_codes
from counterfoil.schema.values import NUMBER, Values, texts_of

OPEN_CLASSES = ("comma", "point", "pointed", "spaced", "grouped", "swapped")
"""Numbers with a decimal comma, as 1,5; with a point, as 1.5; with a point and separators of thousands, as 1'234.5;
with spaces, as 1 234, which either sign reads; and 1.234 and 1,234, of which each sign makes another number. These have
the number with three decimals."""

_COMMA, _POINT, _POINTED, _SPACED, _GROUPED, _SWAPPED = range(len(CLASSES), len(CLASSES) + len(OPEN_CLASSES))
_POINT_OF_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_COMMA_OF_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)


def open_class(text: str) -> tuple[int, float] | None:
    """The code and the number of a text that not every sign reads as the same plain number; None for all others."""
    if len(text) > LONGEST:
        return None
    if _POINT_OF_GROUP.fullmatch(text):
        return _GROUPED, float(text)
    if NUMBER.fullmatch(text):
        return (_POINT, float(text)) if "." in text else None
    comma, point = plain_number(text, ","), plain_number(text, ".")
    if _COMMA_OF_GROUP.fullmatch(text):
        return _SWAPPED, float(comma)
    if comma and point:
        return (_SPACED, float(comma)) if comma == point else None
    if comma or point:
        return _COMMA if comma else _POINTED, float(comma or point)
    return None


@dataclass(frozen=True)
class OpenCells(RawCells):
    """As `RawCells`, of a file of texts whose decimal sign is still open."""

    @property
    def n_bins(self) -> int:
        return len(CLASSES) + len(OPEN_CLASSES)

    def _check(self) -> None:
        super()._check()
        if self.decimal_char:
            raise self.mistake(f"its decimal sign is open; found {self.decimal_char!r}")

    def _codes(self, values: Values) -> np.ndarray:
        return _cells_of(values)[0]

    def numbers(self, values: Values) -> np.ndarray:
        return _cells_of(values)[1]

    def encode_with_numbers(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        codes, numbers = _cells_of(values)
        return self._as_codes(codes), numbers

    def _labels(self) -> list[str]:
        return [*CLASSES, *OPEN_CLASSES]


def _cells_of(values: Values) -> tuple[np.ndarray, np.ndarray]:
    """int64 [n], the code of each cell's class, open ones among them, and float64 [n], its number."""
    codes, numbers = cells_of(values)
    texts, positions = texts_of(values)
    found = np.array([*(open_class(text) or _NONE for text in texts), _NONE], dtype=float)[positions]
    opened = found[:, 0] >= 0
    return np.where(opened, found[:, 0], codes).astype(np.int64), np.where(opened, found[:, 1], numbers)


_NONE = (-1, np.nan)


def has_comma(codes: np.ndarray) -> np.ndarray:
    """bool [n]: which cells are numbers with a decimal comma."""
    return codes == _COMMA


def has_point(codes: np.ndarray) -> np.ndarray:
    """bool [n]: which cells are numbers with a decimal point."""
    return np.isin(codes, (_POINT, _POINTED))


def as_read(codes: np.ndarray, numbers: np.ndarray, sign: str) -> tuple[np.ndarray, np.ndarray]:
    """The classes [n] and numbers [n] of the same cells, read with this decimal sign; plainly where it is empty."""
    codes, numbers = codes.copy(), numbers.copy()
    read = {
        ",": (_COMMA, _SPACED, _SWAPPED),
        ".": (_POINT, _POINTED, _SPACED, _GROUPED),
        "": (_POINT, _GROUPED),
    }[sign]
    thousands = {",": _GROUPED, ".": _SWAPPED}.get(sign)
    found = np.isin(codes, read)
    if thousands is not None:
        times = codes == thousands
        numbers[times] = np.rint(numbers[times] * 1000)
        found |= times
    unread = (codes >= len(CLASSES)) & ~found
    infinite = found & np.isinf(numbers)
    codes[infinite], numbers[infinite] = CODES["infinite"], np.nan
    found &= ~infinite
    codes[found] = number_codes(numbers[found])
    codes[unread], numbers[unread] = CODES["text"], np.nan
    return codes, numbers
