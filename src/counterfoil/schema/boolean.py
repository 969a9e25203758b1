"""Columns of two values: true and false."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.number import NumberColumn
from counterfoil.schema.values import Values, numbers_of, parse_number

WORDS: Mapping[str, float] = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}


@dataclass(frozen=True)
class Boolean(NumberColumn):
    """True or false: code 1 or 0.

    Read from booleans, the numbers 1 and 0, and the texts true, t, yes, y, 1, false, f, no, n, 0 in any case.
    """

    kind: ClassVar[str] = "boolean"

    def _check(self) -> None:
        self._check_missing_values()

    @property
    def n_bins(self) -> int:
        return 2

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.bool_()

    def _parse(self, values: Values) -> np.ndarray:
        numbers = numbers_of(values, WORDS)
        return np.where((numbers == 0) | (numbers == 1), numbers, np.nan)

    def _parse_text(self, text: str) -> float:
        return parse_number(text, WORDS)

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        return numbers.astype(np.int64)

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return pa.array(codes == 1, type=pa.bool_())

    def _labels(self) -> list[str]:
        return ["false", "true"]

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])

    def constant(self, value: object) -> float:
        if not isinstance(value, bool):
            raise self.mistake(f"a rule compares it with {value!r}; expected true or false")
        return float(value)

    @property
    def comparable(self) -> str:
        return "boolean"

    @property
    def expected(self) -> str:
        return "true or false"

    def facts(self) -> dict[str, Any]:
        return {}
