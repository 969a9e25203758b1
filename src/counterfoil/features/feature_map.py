"""The features of a record in a linear model: a public map to integers, so that moments are exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.errors import did_you_mean
from counterfoil.threads import on_one_thread

UNIT = 4096
"""The integer that stands for 1: features are integers from -UNIT to UNIT."""

MOST_FEATURES = 1500
_ROWS = 1 << 14


@dataclass(frozen=True)
class FeatureMap:
    """A constant, each ordered column scaled to [-1, 1], and an indicator for each category; beside them a label.

    The label is 1 where `target` has the code `positive`, else -1. An ordered column is scaled by its declared bounds
    and rounded to multiples of 1 / UNIT; a missing number counts as 0, the middle, and has an indicator.

    Args:
        schema: the public facts.
        target: the column to predict; not among the features.
        positive: the code of the target that counts as 1.

    Raises:
        ValueError: for an unknown target, a code it does not have, or more than 1500 features.
    """

    schema: Schema
    target: str
    positive: int

    def __post_init__(self) -> None:
        known = self.schema.domain.attributes
        if self.target not in known:
            raise ValueError(
                f"`target` must be a synthesized column. Found {self.target!r}.{did_you_mean(self.target, known)}"
            )
        size = self.schema.domain[self.target]
        if not 0 <= self.positive < size:
            raise ValueError(f"`positive` must be a code of {self.target!r}, 0 to {size - 1}. Found {self.positive}.")
        if len(self.names) > MOST_FEATURES:
            raise ValueError(
                f"Models of at most {MOST_FEATURES} features are certified; the schema gives {len(self.names):,}. "
                "Give the columns with the most categories fewer, or order them."
            )

    @staticmethod
    def binary(schema: Schema, target: str) -> FeatureMap:
        """The map for a target of two codes, of which the second is the positive one.

        Raises:
            ValueError: for an unknown target, or one with another number of codes.
        """
        negative = FeatureMap(schema, target, 0)
        size = schema.domain[target]
        if size != 2:
            raise ValueError(
                f"`target` must have two values to be predicted by a linear model. Column {target!r} has {size}."
            )
        return FeatureMap(schema, target, negative.positive + 1)

    @cached_property
    def scaled(self) -> tuple[Column, ...]:
        """The columns that are scaled: ordered, and not the target."""
        return tuple(column for column in self._predictors if column.is_ordered)

    @cached_property
    def listed(self) -> tuple[Column, ...]:
        """The columns with an indicator for each category."""
        return tuple(column for column in self._predictors if not column.is_ordered)

    @property
    def _predictors(self) -> list[Column]:
        return [column for column in self.schema.synthesized if column.name != self.target]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features, the constant first."""
        names = ["1", *(column.name for column in self.scaled)]
        names += [f"{column.name} is missing" for column in self.scaled if column.missing]
        names += [f"{column.name} = {label}" for column in self.listed for label in column.labels]
        return tuple(names)

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes are needed."""
        return (self.target, *(column.name for column in self.listed))

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose numbers are needed."""
        return tuple(column.name for column in self.scaled)

    def labels(self, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n]: 1 or -1."""
        return np.where(codes[self.target] == self.positive, 1.0, -1.0)

    def features(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n, features], integers from -UNIT to UNIT; each row depends on its own record alone.

        Only sums, products and rounding of single numbers are used, whose results do not depend on what else is in
        the array, as those of library functions may.
        """
        rows = len(codes[self.target])
        features = np.zeros((rows, len(self.names)))
        features[:, 0] = UNIT
        at, missing_at = 1, 1 + len(self.scaled)
        for column in self.scaled:
            position = scaled_to_unit(column, numbers[column.name])
            absent = np.isnan(position)
            features[:, at] = np.where(absent, 0.0, position)
            at += 1
            if column.missing:
                features[:, missing_at] = np.where(absent, UNIT, 0)
                missing_at += 1
        at = missing_at
        for column in self.listed:
            features[np.arange(rows), at + codes[column.name].astype(np.int64)] = UNIT
            at += column.size
        return features

    @on_one_thread
    def moments(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray], order: int) -> np.ndarray:
        """int64 sums over records: of x_u y [features] in units of 1 / UNIT, or of x_u x_v [features, features] in
        units of 1 / UNIT**2.

        Exact: sums of up to 2**14 rows of integers below 2**24 stay below 2**53.
        """
        size = len(self.names)
        total = np.zeros(size if order == 1 else (size, size), dtype=np.int64)
        labels = self.labels(codes)
        for start in range(0, len(labels), _ROWS):
            part = slice(start, start + _ROWS)
            features = self.features(
                {name: values[part] for name, values in codes.items()},
                {name: values[part] for name, values in numbers.items()},
            )
            total += (labels[part] @ features if order == 1 else features.T @ features).astype(np.int64)
        return total


def scaled_to_unit(column: Column, numbers: np.ndarray) -> np.ndarray:
    """float64 [n]: numbers of an ordered column, its bounds at -UNIT and UNIT, rounded to whole numbers; NaN stays."""
    lows, highs = column.ranges
    lower, upper = float(np.nanmin(lows)), float(np.nanmax(highs))
    if not lower < upper:
        return np.where(np.isnan(numbers), np.nan, 0.0)
    scale = 2 * UNIT / (upper - lower)
    if np.isinf(scale):  # of bounds that are hardly apart: times it, the lower one would be no number
        return np.clip(np.rint((numbers - lower) / (upper - lower) * (2 * UNIT) - UNIT), -UNIT, UNIT)
    return np.clip(np.rint((numbers - lower) * scale - UNIT), -UNIT, UNIT)


def input_names_of(column: Column) -> tuple[str, ...]:
    """What a model is given of a column: one number for each label, or its value and whether it is missing."""
    if not column.is_ordered:
        return tuple(f"{column.name} = {label}" for label in column.labels)
    return (column.name, *([f"{column.name} is missing"] if column.missing else []))
