"""The features of some columns, and the distinct sums of their products that have to be known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.active_features import ActiveFeatures
from counterfoil.schema import Boolean, Categorical, Schema
from counterfoil.schema.asked import require_synthesized
from counterfoil.schema.column import Column


@dataclass(frozen=True)
class Variable:
    """A column as one number: its value, or 1 and 0 for the second and the first of two categories.

    Args:
        name: of the column.
        label: what the number is, in words.
        feature: its feature's index in the basis.
        stretch: by how much the number, scaled to [-1, 1], grows where the feature grows by 1.
        middle: the number at 0 of the scale.
        half: half its range, which is 1 on the scale.
        absent: the index of the feature "is missing"; None for a column that is never missing.
    """

    name: str
    label: str
    feature: int
    stretch: float
    middle: float
    half: float
    absent: int | None


@dataclass(frozen=True)
class MomentBasis:
    """The features z of some columns that are linearly independent, and their products.

    z_0 is the constant 1. An ordered column gives its number scaled to [-1, 1], 0 where it is missing, and an indicator
    "is missing" where it may be. Any other column gives an indicator for each of its codes but the first, whose
    indicator is 1 minus the others'. Sums over records of z_i z_j are kept once where two are always equal: the square
    of an indicator is the indicator, that of a number with the two values -1 and 1 is 1. Products of two features of
    one column, only one of which is not 0, are 0.

    Args:
        schema: the public facts.
        columns: the columns, distinct.

    Raises:
        ValueError: for an unknown column, or one that is named twice.
    """

    schema: Schema
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.columns:
            require_synthesized(self.schema, name, f"`columns` must be synthesized columns. Found {name!r}.")
        if len(set(self.columns)) < len(self.columns):
            twice = next(name for name in self.columns if self.columns.count(name) > 1)
            raise ValueError(f"`columns` must be distinct. Found {twice!r} twice.")

    @staticmethod
    def of(schema: Schema, columns: Sequence[str]) -> MomentBasis:
        """The basis of columns given by their names; a single name counts as one column."""
        return MomentBasis(schema, (columns,) if isinstance(columns, str) else tuple(columns))

    @cached_property
    def _features(self) -> tuple[tuple[str, Column | None, int], ...]:
        """For each feature its name, its column, and its index among the column's own features."""
        features: list[tuple[str, Column | None, int]] = [("1", None, 0)]
        names = dict(zip(self.schema.domain.attributes, ActiveFeatures(self.schema).names, strict=True))
        for name in self.columns:
            column = self.schema[name]
            first = 0 if column.is_ordered else 1
            features += [(names[name][own], column, own) for own in range(first, len(names[name]))]
        return tuple(features)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features, the constant first."""
        return tuple(name for name, _, _ in self._features)

    @cached_property
    def place(self) -> np.ndarray:
        """int64 [p, p]: for each product of two features the index of its sum, -1 where it is 0. Sum 0 is that of 1."""
        size, following = len(self._features), 0
        place = np.full((size, size), -1, dtype=np.int64)
        for i, (_, one, first) in enumerate(self._features):
            for j, (_, other, second) in enumerate(self._features[: i + 1]):
                if i and one is other and first != second:
                    continue
                if i == j and one is not None and _squares_to_itself(one, first):
                    place[i, i] = place[0, i]
                elif i == j and one is not None and _squares_to_one(one):
                    place[i, i] = 0
                else:
                    place[i, j] = place[j, i] = following
                    following += 1
        return place

    @cached_property
    def kept(self) -> np.ndarray:
        """bool [p, p]: which products are not 0 for every record."""
        return np.asarray(self.place >= 0)

    @cached_property
    def _kept_places(self) -> np.ndarray:
        return np.asarray(self.place[self.kept])

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """float64 [K]: what each distinct sum counts for in the sum over i, j of weights[i, j] z_i z_j."""
        return np.bincount(self._kept_places, weights=weights[self.kept], minlength=self.size)

    @cached_property
    def size(self) -> int:
        """How many distinct sums there are."""
        return int(self.place.max()) + 1

    def owners(self, index: int) -> tuple[str, ...]:
        """The columns whose features the sum of that index multiplies; none for the sum of 1."""
        i, j = np.argwhere(self.place == index)[0]
        found = [self._features[k][1] for k in (i, j)]
        return tuple(dict.fromkeys(column.name for column in found if column is not None))

    def coefficients(self, name: str, own: int) -> np.ndarray:
        """float64 [p]: a column's own feature, as `ActiveFeatures` has it, in terms of the basis."""
        which = [int(column is not None and column.name == name) for _, column, _ in self._features]
        found = [i for i, mine in enumerate(which) if mine and self._features[i][2] == own]
        vector = np.zeros(len(which))
        if found:
            vector[found[0]] = 1.0
        else:  # the first category
            vector -= which
            vector[0] = 1.0
        return vector

    def indices(self, name: str) -> tuple[int, ...]:
        """The indices of a column's features."""
        return tuple(i for i, (_, column, _) in enumerate(self._features) if column is not None and column.name == name)

    def largest(self, weights: np.ndarray) -> float:
        """The largest absolute value that the sum of `weights` [p] times the features can have for a record."""
        low = high = float(weights[0])
        for name in self.columns:
            own, column = [float(weights[i]) for i in self.indices(name)], self.schema[name]
            if column.is_ordered:
                own = [-own[0], *own]
            else:
                own.append(0.0)
            low, high = low + min(own), high + max(own)
        return max(-low, high)

    def variable(self, name: str, purpose: str) -> Variable:
        """A column as one number.

        Args:
            purpose: what needs it, for the error's sentence.

        Raises:
            ValueError: for a column of other than two categories, or of a single number.
        """
        column, features = self.schema[name], self.indices(name)
        if not column.is_ordered:
            if column.size != 2:
                raise ValueError(
                    f"{purpose} needs numbers, or categories of which there are two. Column {name!r} has {column.size} "
                    "categories: declare their order, or leave it out."
                )
            return Variable(name, f"{name} = {column.labels[1]}", features[0], 2.0, 0.5, 0.5, None)
        middle, half = scale_of(column)
        if half == 0:
            raise ValueError(f"{purpose} needs columns that vary. Column {name!r} has one value: leave it out.")
        absent = features[1] if column.missing else None
        return Variable(name, name, features[0], 1.0, middle, half, absent)


def scale_of(column: Column) -> tuple[float, float]:
    """The middle of the declared bounds of an ordered column, and half their distance."""
    lows, highs = column.ranges
    lower, upper = float(np.nanmin(lows)), float(np.nanmax(highs))
    return (lower + upper) / 2, (upper - lower) / 2


def _squares_to_itself(column: Column, own: int) -> bool:
    """Whether a column's own feature is an indicator."""
    return not column.is_ordered or own == 1


def _squares_to_one(column: Column) -> bool:
    """Whether the scaled number is -1 or 1 in every record. A column of whole numbers may hold what is between."""
    return isinstance(column, (Boolean, Categorical)) and column.n_bins == 2 and not column.missing
