"""What the columns with a numeric axis share: parse, clamp, and cut into bins."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.values import Values, numbers_of, parse_number


@dataclass(frozen=True)
class NumberColumn(Column):
    """A column whose values lie on a line; a value outside the bounds is clamped to the nearest one."""

    def _check_missing_values(self) -> None:
        """What stands for missing can't be a value too: it would be read as missing once it is written."""
        self._check_texts("missing_values", self.missing_values)
        low, high = self.bounds
        for text in self.missing_values:
            if low <= self._parse_text(text) <= high:
                raise self.mistake(f"{text!r} is in `missing_values` and also within the bounds: it can't be both")

    @abstractmethod
    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: the bin of each finite number within the bounds."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest number, in the column's own unit."""

    def _parse(self, values: Values) -> np.ndarray:
        return numbers_of(values)

    def _parse_text(self, text: str) -> float:
        return parse_number(text)

    @cached_property
    def _missing_numbers(self) -> np.ndarray:
        """Only the missing values that parse need a look: what doesn't parse is missing anyway."""
        parsed = np.array([self._parse_text(text) for text in self.missing_values], dtype=float)
        return parsed[~np.isnan(parsed)]

    def _clamped(self, values: Values) -> np.ndarray:
        numbers = self._parse(values)
        if len(self._missing_numbers):
            numbers = np.where(np.isin(numbers, self._missing_numbers), np.nan, numbers)
        return np.clip(numbers, *self.bounds)

    def numbers(self, values: Values) -> np.ndarray:
        numbers = self._clamped(values)
        if not self.missing and np.isnan(numbers).any():
            raise self.unplaced(int(np.argmax(np.isnan(numbers))))
        return numbers

    def _codes(self, values: Values) -> np.ndarray:
        numbers = self._clamped(values)
        absent = np.isnan(numbers)
        if not absent.any():
            return self._bin(numbers)
        return np.where(absent, -1, self._bin(np.where(absent, self.bounds[0], numbers)))

    def constant(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.mistake(f"a rule compares it with {value!r}; expected a number")
        try:
            return float(value)
        except OverflowError:
            raise self.mistake("a rule compares it with an integer of too many digits") from None

    @property
    def comparable(self) -> str:
        return "number"

    @property
    def expected(self) -> str:
        return "a number"
