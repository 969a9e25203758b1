"""Columns of two values: true and false."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.number import NumberColumn
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.values import Values, numbers_of, parse_number

WORDS: Mapping[str, float] = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}


@dataclass(frozen=True)
class Boolean(NumberColumn):
    """True or false: code 1 or 0.

    Read from booleans, the numbers 1 and 0, and the texts true, t, yes, y, 1, false, f, no, n, 0 in any case.

    `true` and `false` are labels, texts or whole numbers: they are read beside these (texts in any case), and values
    come back as them, in a column of texts or of whole numbers. Without labels values come back as booleans.
    """

    kind: ClassVar[str] = "boolean"

    true: str | int | None = None
    false: str | int | None = None

    def _check(self) -> None:
        if (self.true is None) != (self.false is None):
            raise self.mistake("give the labels `true` and `false` together")
        for key, label, opposite in (("true", self.true, 0.0), ("false", self.false, 1.0)):
            if label is not None:
                self._check_label(key, label, opposite)
        if self.labeled and self._same(str(self.true), str(self.false)):
            raise self.mistake(
                "`true` and `false` must differ, also in lower case and as numbers;"
                f" found {self.true!r} and {self.false!r}"
            )
        self._check_missing_values()

    def _check_label(self, key: str, label: str | int, opposite: float) -> None:
        exact = isinstance(label, str) or (isinstance(label, int) and abs(label) < 2**53)
        if isinstance(label, bool) or not exact:
            raise self.mistake(f"`{key}` must be a text or a whole number within 2^53 of zero; found {label!r}")
        self._check_texts(key, (str(label),))
        if parse_number(str(label), WORDS) == opposite:
            raise self.mistake(
                f"`{key}` can't be {label!r}, which is read as {'true' if opposite else 'false'}."
                ' Use kind = "categorical" for such codes'
            )

    @staticmethod
    def _same(one: str, other: str) -> bool:
        return one.casefold() == other.casefold() or parse_number(one, {}) == parse_number(other, {})

    @property
    def labeled(self) -> bool:
        """Whether values come back as labels."""
        return self.true is not None

    @property
    def n_bins(self) -> int:
        return 2

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def arrow_type(self) -> pa.DataType:
        if not self.labeled:
            return pa.bool_()
        return pa.int64() if isinstance(self.true, int) and isinstance(self.false, int) else pa.string()

    @cached_property
    def _words(self) -> Mapping[str, float]:
        labels = {str(self.false).casefold(): 0.0, str(self.true).casefold(): 1.0} if self.labeled else {}
        return {**WORDS, **labels}

    def _of_numbers(self, numbers: np.ndarray) -> np.ndarray:
        """float64 [n]: 1 and 0 for the numbers that mean true and false, NaN for others."""
        truths = np.where((numbers == 0) | (numbers == 1), numbers, np.nan)
        for label, truth in ((self.false, 0.0), (self.true, 1.0)):
            truths = np.where(numbers == parse_number(str(label), {}), truth, truths)
        return truths

    def _parse(self, values: Values) -> np.ndarray:
        return self._of_numbers(numbers_of(values, self._words))

    def _parse_text(self, text: str) -> float:
        return float(self._of_numbers(np.array([parse_number(text, self._words)]))[0])

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        return numbers.astype(np.int64)

    def values_of(self, truths: np.ndarray) -> pa.Array:
        """The values of bool [n], in the natural type."""
        if not self.labeled:
            return array_of(truths, pa.bool_())
        labels: list[Any] = [self.false, self.true]
        texts = self.arrow_type == pa.string()
        return array_of([str(label) for label in labels] if texts else labels).take(array_of(truths.astype(np.int64)))

    @cached_property
    def texts(self) -> pa.Array | None:
        if type(self) is not Boolean or self.arrow_type != pa.string():  # another one may draw in its own way
            return None
        return self.stated(self.decode(np.arange(self.size), np.random.default_rng(0)))

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return self.values_of(codes == 1)

    def _labels(self) -> list[str]:
        return [str(self.false), str(self.true)] if self.labeled else ["false", "true"]

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])

    def constant(self, value: object) -> float:
        if isinstance(value, bool):
            return float(value)
        if self.labeled and isinstance(value, str | int) and str(value) in self._labels():
            return float(self._labels().index(str(value)))
        raise self.mistake(f"it is compared with {value!r}; expected {self.expected}")

    @property
    def comparable(self) -> str:
        return "boolean"

    @property
    def expected(self) -> str:
        return " or ".join(self._labels()[::-1])

    @property
    def remedy(self) -> str:
        return super().remedy if self.labeled else "`true` and `false` (its two labels), or `missing = true`,"

    def facts(self) -> dict[str, Any]:
        return {"true": self.true, "false": self.false} if self.labeled else {}
