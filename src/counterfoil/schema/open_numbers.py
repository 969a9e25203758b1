"""Cells of a file whose decimal sign is still to be asked: what each may be is kept until it is known.

Beside the classes of `raw_cell` these cells have others, each of which follows from the cell alone. Once the sign is
decided, `as_read` gives the classes and numbers that reading the file with it would have given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.raw_cell import (
    CLASSES,
    CODES,
    LONGEST,
    OPEN_CLASSES,
    RawCells,
    cells_of,
    number_codes,
    with_unit,
    without_unit,
)
from counterfoil.schema.unit import bare, unit_of
from counterfoil.schema.values import NUMBER, Values, texts_of

_COMMA, _POINT, _POINTED, _SPACED, _GROUPED, _SWAPPED = range(len(CLASSES), len(CLASSES) + len(OPEN_CLASSES))
"""Numbers with a decimal comma, as 1,5; with a point, as 1.5; with a point and separators of thousands, as 1'234.5;
with spaces, as 1 234, which either sign reads; and 1.234 and 1,234, of which each sign makes another number. These have
the number with three decimals."""
_POINT_OF_GROUP = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_COMMA_OF_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)


def open_class(text: str) -> tuple[int, float] | None:
    """The code and the number of a text that not every sign reads as the same plain number; None for all others."""
    if text.isdecimal() or len(text) > LONGEST:
        return None
    if NUMBER.fullmatch(text):
        if "." not in text:
            return None
        return _GROUPED if _POINT_OF_GROUP.fullmatch(text) else _POINT, float(text)
    if comma := plain_number(text, ","):
        if "," in text:
            return _SWAPPED if _COMMA_OF_GROUP.fullmatch(text) else _COMMA, float(comma)
        return _COMMA if "." in text else _SPACED, float(comma)
    point = plain_number(text, ".")
    return (_POINTED, float(point)) if point else None


@dataclass(frozen=True)
class OpenCells(RawCells):
    """As `RawCells`, of a file of texts whose decimal sign is still open."""

    def _check(self) -> None:
        super()._check()
        if self.decimal_char:
            raise self.mistake(f"its decimal sign is open; found {self.decimal_char!r}")

    def _cells(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        return _cells_of(values, self.unit, self.units)

    def _labels(self) -> list[str]:
        return [*CLASSES, *OPEN_CLASSES, *self._labels_of_units]


def _cells_of(values: Values, unit: str, units: bool) -> tuple[np.ndarray, np.ndarray]:
    """int64 [n], the code of each cell's class, open ones among them, and float64 [n], its number."""
    texts, positions = texts_of(values)
    found = [open_class(bare(text, unit)) or (_with_unit(text) if units else None) or _NONE for text in texts]
    rest = [None if code >= 0 else text for (code, _), text in zip(found, texts, strict=True)]
    array = pa.array([*rest, None], pa.string())  # the last is what missing cells are
    codes, numbers = cells_of(array, unit=unit, units=units)
    opened = np.array([*found, _NONE], dtype=float)
    is_open = opened[:, 0] >= 0
    codes, numbers = np.where(is_open, opened[:, 0], codes), np.where(is_open, opened[:, 1], numbers)
    return codes[positions].astype(np.int64), numbers[positions]


_NONE = (-1, np.nan)


def _with_unit(text: str) -> tuple[int, float] | None:
    """The same as `open_class` of a text with one of `unit.KNOWN` beside its number; None where it has none."""
    if len(text) > LONGEST or not (unit := unit_of(text)) or (found := open_class(bare(text, unit))) is None:
        return None
    return with_unit(found[0], unit), found[1]


def has_comma(codes: np.ndarray) -> np.ndarray:
    """bool [n]: which cells are numbers with a decimal comma."""
    return without_unit(codes) == _COMMA


def has_point(codes: np.ndarray) -> np.ndarray:
    """bool [n]: which cells are numbers with a decimal point."""
    return np.isin(without_unit(codes), (_POINT, _POINTED))


def has_two_readings(codes: np.ndarray) -> np.ndarray:
    """bool [n]: which cells are numbers such as 1.234, of which each sign makes another one."""
    return without_unit(codes) == _GROUPED


def as_read(codes: np.ndarray, numbers: np.ndarray, sign: str) -> tuple[np.ndarray, np.ndarray]:
    """The classes [n] and numbers [n] of the same cells, read with this decimal sign; plainly where it is empty."""
    units, codes, numbers = codes - without_unit(codes), without_unit(codes), numbers.copy()
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
    unread |= infinite & (units > 0)
    codes[infinite], numbers[infinite] = CODES["infinite"], np.nan
    found &= ~infinite
    codes[found] = number_codes(numbers[found])
    codes[unread], numbers[unread] = CODES["text"], np.nan
    return np.where(unread, codes, codes + units), numbers
