"""How far a synthetic table's numbers are from the real ones', as distributions on the line and in space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.schema import Schema
from counterfoil.transport import sliced, wasserstein

_PROJECTIONS = 64


@dataclass(frozen=True)
class NumberComparison:
    """Wasserstein distances of ordered columns, each scaled to [0, 1] by its declared bounds.

    Args:
        wasserstein: by column, W_1 of the values that are neither missing nor infinite: the mean distance by which they
            would have to move, as a share of the column's range; above 1 where values lie far outside of it. NaN where
            a table has no such values.
        sliced: sliced W_2 of all ordered columns together, values clamped into their ranges and missing ones at the
            middle: the root of the mean over directions of the squared distances of projections. At most the root of
            how many columns there are.
    """

    wasserstein: Mapping[str, float]
    sliced: float


def ordered_columns(schema: Schema) -> tuple[str, ...]:
    """The columns with more than one number."""
    spans = ((column, *column.ranges) for column in schema.synthesized if column.is_ordered)
    return tuple(column.name for column, lows, highs in spans if np.nanmin(lows) < np.nanmax(highs))


def compare_numbers(
    real: Mapping[str, np.ndarray],
    synthetic: Mapping[str, np.ndarray],
    schema: Schema,
    *,
    rng: np.random.Generator,
    wasserstein_known: Mapping[str, float] | None = None,
) -> NumberComparison:
    """Compares the numbers of all ordered columns.

    Args:
        real: float64 [n] by ordered column, not clamped, NaN where missing; n > 0.
        synthetic: the same [m] of the synthetic table; m > 0.
        schema: the public facts about both; at least one column is ordered.
        rng: draws the directions of the sliced distance.
        wasserstein_known: what `NumberComparison.wasserstein` will have for some columns, computed before.
    """
    names = ordered_columns(schema)
    points = [np.column_stack([_scaled(schema, name, table[name]) for name in names]) for table in (real, synthetic)]
    known = wasserstein_known or {}
    distances = {
        name: known[name] if name in known else _on_the_line(points[0][:, i], points[1][:, i])
        for i, name in enumerate(names)
    }
    for part in points:
        np.clip(np.nan_to_num(part, copy=False, nan=0.5), 0.0, 1.0, out=part)
    together = sliced.distance(*points, rng=rng, n_projections=_PROJECTIONS, p=2)
    return NumberComparison(distances, together)


def _scaled(schema: Schema, name: str, numbers: np.ndarray) -> np.ndarray:
    lows, highs = schema[name].ranges
    lower, upper = np.nanmin(lows), np.nanmax(highs)
    return (numbers - lower) / (upper - lower)


def _on_the_line(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one[np.isfinite(one)], other[np.isfinite(other)]
    if not (len(one) and len(other)):
        return float("nan")
    return wasserstein.distance(one, other)
