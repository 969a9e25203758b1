"""Rows of a table as points: numbers by their declared range, ordered categories by rank, others equal or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.geometry.decoding import MOST_TRIES, allowed, steps, values
from counterfoil.geometry.space import scales
from counterfoil.schema import Boolean, Categorical, Column, Schema
from counterfoil.schema.number import NumberColumn
from counterfoil.transport.metric import Metric

_MISSING_CHANCE = 0.05
"""How often a random draw has no number, in a column that may miss it."""

_MISSING_HEIGHT = 0.75**0.5
"""A missing number lies this far above the middle of its axis: at distance 1 from both ends."""


@dataclass(frozen=True)
class TableSpace:
    """The rows that a schema allows, with distance sqrt(sum of (weight * column distance)**2).

    Numbers and dates differ by their difference over the declared range, ordered categories by that of their ranks;
    different other categories have distance 1, and a missing number has distance 0.87 to 1 from every other one. Every
    column distance is at most 1 and can be embedded in Euclidean space, in which nearest neighbors are searched.

    A point is a float64 vector with one entry for each column: in [0, 1] for numbers and ranks (NaN where missing), the
    code for others.

    Args:
        schema: the public facts.
        weights: by column, how much it counts; 1 where not given.

    Raises:
        ValueError: for a weight that is not positive, or of a column that is not synthesized.
    """

    schema: Schema
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = set(self.weights) - {column.name for column in self.schema.synthesized}
        if unknown:
            raise ValueError(f"`weights` must name synthesized columns. Found {min(unknown)!r}.")
        if not all(0 < weight < np.inf for weight in self.weights.values()):
            raise ValueError(f"`weights` must be positive and finite. Found {dict(self.weights)}.")

    @property
    def metric(self) -> Metric:
        return "euclidean"

    @cached_property
    def _axes(self) -> tuple[_Axis, ...]:
        return tuple(_axis(column, self.weights.get(column.name, 1.0)) for column in self.schema.synthesized)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns read as codes."""
        return tuple(axis.column.name for axis in self._axes if not axis.reads_numbers)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns read as numbers."""
        return tuple(axis.column.name for axis in self._axes if axis.reads_numbers)

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return len(self._axes)

    @property
    def diameter(self) -> float:
        """The distance of two rows that have nothing in common."""
        return float(np.sqrt(sum(axis.weight**2 for axis in self._axes)))

    def locate(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Records as embedded points [n, k]."""
        read = [
            axis.scaled(numbers[axis.column.name] if axis.reads_numbers else codes[axis.column.name])
            for axis in self._axes
        ]
        return self.embed(np.stack(read, axis=1))

    def embed(self, points: np.ndarray) -> np.ndarray:
        """Points [m, columns] as Euclidean vectors [m, k]."""
        return np.concatenate([axis.embed(points[:, i]) for i, axis in enumerate(self._axes)], axis=1)

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """`n` rows with independent columns, uniform over the range or over the categories, that meet the rules.

        Where hardly any row does, some are left that break them: no row of a release is ever drawn from those.
        """
        points = self._draw(n, rng)
        for _ in range(MOST_TRIES if self._has_rules else 0):
            broken = np.flatnonzero(~self._allowed(points, rng))
            if not len(broken):
                break
            fresh = self._draw(4 * len(broken), rng)
            fresh = fresh[self._allowed(fresh, rng)][: len(broken)]
            points[broken[: len(fresh)]] = fresh
        return points

    def _draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.stack([axis.random(n, rng) for axis in self._axes], axis=1)

    @cached_property
    def _has_rules(self) -> bool:
        return bool(self.schema.row_rules or self.schema.structural_zeros)

    def _allowed(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return allowed(self.schema, self.table(points, self.schema, rng))

    def variations(
        self, points: np.ndarray, *, resolution: float, progress: float, rng: np.random.Generator
    ) -> np.ndarray:
        """[2 L + 1, m, columns]: each row, and two others at each of L scales.

        Numbers and ranks take the Gaussian steps of equation (1), clipped to the range. Other columns, and whether a
        number is missing, are drawn anew with a probability that falls with the scale (by the square root of two from
        one to the next, from one half at the largest) and, linearly, with `progress`. A variation that breaks the
        schema's rules is the row itself again.
        """
        steps = scales(self.dimension, diameter=self.diameter, resolution=resolution)
        rates = 0.5 * np.sqrt(steps / steps[-1]) * (1 - progress)
        spread, rates = np.repeat(steps, 2)[:, None], np.repeat(rates, 2)[:, None]
        moved = [axis.vary(points[:, i], spread, rates, rng) for i, axis in enumerate(self._axes)]
        varied = np.stack(moved, axis=2)
        if self._has_rules:
            broken = ~self._allowed(varied.reshape(-1, self.dimension), rng).reshape(varied.shape[:2])
            varied = np.where(broken[:, :, None], points[None], varied)
        return np.concatenate([points[None], varied])

    def table(self, points: np.ndarray, schema: Schema, rng: np.random.Generator) -> pa.Table:
        """Rows of values in the schema's order.

        Raises:
            ValueError: for another schema, whose codes and ranges would not be those of the points.
        """
        if schema.synthesized != self.schema.synthesized:
            raise ValueError("A `TableSpace` is for the columns of its own schema. Found another: make it of that one.")
        return pa.table({axis.column.name: axis.values(points[:, i], rng) for i, axis in enumerate(self._axes)})

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        return {"space": "table", "weights": {axis.column.name: axis.weight for axis in self._axes}}


@dataclass(frozen=True)
class _Axis:
    """A column whose codes are at distance 1 from each other."""

    column: Column
    weight: float
    reads_numbers = False

    def scaled(self, codes: np.ndarray) -> np.ndarray:
        return codes.astype(np.float64)

    def embed(self, entries: np.ndarray) -> np.ndarray:
        vectors = np.zeros((len(entries), self.column.size))
        vectors[np.arange(len(entries)), entries.astype(np.intp)] = self.weight / np.sqrt(2)
        return vectors

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(0, self.column.size, n).astype(np.float64)

    def vary(self, entries: np.ndarray, spread: np.ndarray, rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        shape = (len(rates), len(entries))
        fresh = self.random(len(rates) * len(entries), rng).reshape(shape)
        return np.where(rng.random(shape) < rates, fresh, entries)

    def values(self, entries: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return self.column.decode(entries.astype(np.int64), rng)


@dataclass(frozen=True)
class _Line(_Axis):
    """A column with positions in [0, 1], NaN where missing."""

    @property
    def n_steps(self) -> int:
        """The steps from 0 to 1; 0 for a continuum."""
        return self.column.n_bins - 1

    def scaled(self, codes: np.ndarray) -> np.ndarray:
        positions = codes.astype(np.float64) / self.n_steps
        return np.where(codes == self.column.missing_code, np.nan, positions) if self.column.missing else positions

    def embed(self, entries: np.ndarray) -> np.ndarray:
        if not self.column.missing:
            return self.weight * entries[:, None]
        absent = np.isnan(entries)
        return self.weight * np.stack([np.where(absent, 0.5, entries), _MISSING_HEIGHT * absent], axis=1)

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        drawn = self._snapped(rng.random(n), bins=True)
        return np.where(rng.random(n) < _MISSING_CHANCE, np.nan, drawn) if self.column.missing else drawn

    def vary(self, entries: np.ndarray, spread: np.ndarray, rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        shape = (len(spread), len(entries))
        moved = self._snapped(np.clip(entries + spread / self.weight * rng.standard_normal(shape), 0.0, 1.0))
        if not self.column.missing:
            return moved
        fresh = self.random(len(rates) * len(entries), rng).reshape(shape)
        return np.where(rng.random(shape) < rates, fresh, moved)

    def values(self, entries: np.ndarray, rng: np.random.Generator) -> pa.Array:
        absent = np.isnan(entries)
        ranks = np.rint(np.where(absent, 0.0, entries) * self.n_steps).astype(np.int64)
        return self.column.decode(np.where(absent, self.column.n_bins, ranks), rng)

    def _snapped(self, entries: np.ndarray, *, bins: bool = False) -> np.ndarray:
        """To the nearest step; with `bins`, so that uniform entries give each step the same chance."""
        if not self.n_steps:
            return entries
        if bins:
            return np.minimum(np.floor(entries * (self.n_steps + 1)), self.n_steps) / self.n_steps
        return np.rint(entries * self.n_steps) / self.n_steps


@dataclass(frozen=True)
class _NumberLine(_Line):
    """A column of numbers, scaled to its declared range."""

    column: NumberColumn
    reads_numbers = True

    @property
    def n_steps(self) -> int:
        return steps(self.column)

    def scaled(self, numbers: np.ndarray) -> np.ndarray:
        low, high = self.column.bounds
        return (numbers - low) / (high - low)

    def values(self, entries: np.ndarray, rng: np.random.Generator) -> pa.Array:
        low, high = self.column.bounds
        return values(self.column, low + entries * (high - low))


def _axis(column: Column, weight: float) -> _Axis:
    if isinstance(column, NumberColumn) and not isinstance(column, Boolean) and column.bounds[0] < column.bounds[1]:
        return _NumberLine(column, weight)
    if isinstance(column, Categorical) and column.ordered and column.n_bins > 1:
        return _Line(column, weight)
    return _Axis(column, weight)
