"""The features of a record, sparsely: each column has exactly one that is not zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.feature_map import UNIT, input_names_of, scaled_to_unit
from counterfoil.schema import Schema
from counterfoil.schema.column import Column


@dataclass(frozen=True)
class ActiveFeatures:
    """For each column of a table, the one feature that a record has there, and its value.

    An ordered column has one feature, the value scaled to [-1, 1] by the declared bounds, and a second one, "is
    missing", where it may be missing. Any other column has an indicator for each of its codes. Values are integers from
    -UNIT to UNIT, the indicators' UNIT.

    Args:
        schema: the public facts.
    """

    schema: Schema

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in the schema's order."""
        return self.schema.synthesized

    @cached_property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the features of each column."""
        return tuple(input_names_of(column) for column in self.columns)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many features each column has."""
        return tuple(len(names) for names in self.names)

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes are needed."""
        return tuple(column.name for column in self.columns if not column.is_ordered)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose numbers are needed."""
        return tuple(column.name for column in self.columns if column.is_ordered)

    def of(
        self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each column, int64 [n]: which of its features is not zero, and float64 [n]: its value, whole numbers.

        Each record's entries depend on nothing but that record.
        """
        return [self._active(column, codes, numbers) for column in self.columns]

    def _active(
        self, column: Column, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        if not column.is_ordered:
            which = codes[column.name].astype(np.int64)
            return which, np.full(len(which), float(UNIT))
        scaled = scaled_to_unit(column, numbers[column.name])
        absent = np.isnan(scaled)
        # A column that is never missing has no such number: what is clamped into bounds is a number.
        return (absent & column.missing).astype(np.int64), np.where(absent, UNIT if column.missing else 0.0, scaled)
