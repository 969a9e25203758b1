"""Columns side by side in their own units: the real values as they stand, before the schema changes any of them.

Whatever is coded by a schema has lost what the schema moved: a table of which two fifths were clamped looks the same as
its perfect copy. So each column is compared before it is coded too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from counterfoil.evaluation.whole_table import WholeTable
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.placement import Placement
from counterfoil.schema.real import Real
from counterfoil.schema.zone import find_zone
from counterfoil.transport import wasserstein

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Distribution:
    """The numbers of one column in one table, infinite and missing ones left out.

    Args:
        mean, deviation: in the column's own unit: days since 1970-01-01 for dates, seconds for datetimes.
        quantiles: at `QUANTILES`.
    """

    mean: float
    deviation: float
    quantiles: tuple[float, ...]

    @staticmethod
    def of(finite: np.ndarray) -> Distribution | None:
        """The distribution of float64 [n]; None where there are no numbers."""
        if not len(finite):
            return None
        quantiles = np.quantile(finite, QUANTILES)
        return Distribution(float(finite.mean()), float(finite.std()), tuple(quantiles.tolist()))


@dataclass(frozen=True)
class NumbersSideBySide:
    """The numbers of one column in both tables.

    Args:
        real, synthetic: None where a table has none.
        wasserstein: W_1 in the column's unit; NaN where a table has no number.
        width: from the lower to the upper bound, in the same unit.
    """

    real: Distribution | None
    synthetic: Distribution | None
    wasserstein: float
    width: float

    @property
    def share(self) -> float:
        """W_1 as a share of the declared range, above 1 where values lie far outside."""
        return self.wasserstein / self.width if self.width else float("nan")

    @property
    def deviations(self) -> float:
        """W_1 in deviations of the real numbers, which a wide range can't make small; NaN where a table has no number.

        Where the real numbers are all equal, in deviations of the synthetic ones, and infinite where these are too.
        """
        if self.real is None or self.synthetic is None or not self.wasserstein:
            return self.wasserstein
        spread = self.real.deviation or self.synthetic.deviation
        return self.wasserstein / spread if spread else math.inf


@dataclass(frozen=True)
class CategoriesSideBySide:
    """The categories of one column in both tables.

    Args:
        never_made: listed categories that real rows have and no synthetic one.
        outside: categories of the real table that the schema does not list, with their counts.
    """

    never_made: tuple[str, ...]
    outside: Mapping[str, int]


@dataclass(frozen=True)
class ColumnComparison:
    """One column in both tables.

    Args:
        name: of the column.
        kind: of the column.
        real, synthetic: the share of the cells that were placed in each way.
        numbers: for numbers, dates and datetimes.
        categories: for categories.
        distance: the L1 distance of the coded columns, from 0 to 2.
        shares: float64 [codes], the share of the rows of either table that have each code, the real table's first.
    """

    name: str
    kind: str
    real: Mapping[Placement, float]
    synthetic: Mapping[Placement, float]
    numbers: NumbersSideBySide | None
    categories: CategoriesSideBySide | None
    distance: float
    shares: tuple[np.ndarray, np.ndarray] | None = field(default=None, compare=False, repr=False)

    @property
    def clamped(self) -> tuple[float, float]:
        """The shares of real and of synthetic cells that were moved to a bound or along a grid."""
        ways = (Placement.BELOW, Placement.ABOVE, Placement.MOVED, Placement.INFINITE)
        return _sum(self.real, ways), _sum(self.synthetic, ways)

    @property
    def other(self) -> tuple[float, float]:
        """The shares outside of the listed categories that count as `other`."""
        return self.real.get(Placement.OTHER, 0.0), self.synthetic.get(Placement.OTHER, 0.0)

    @property
    def unread(self) -> tuple[float, float]:
        """The shares that hold no value of the column and are read as missing."""
        return self.real.get(Placement.UNREADABLE, 0.0), self.synthetic.get(Placement.UNREADABLE, 0.0)

    @property
    def missing(self) -> tuple[float, float]:
        """The shares that are missing as such."""
        return self.real.get(Placement.MISSING, 0.0), self.synthetic.get(Placement.MISSING, 0.0)

    @property
    def difference(self) -> float:
        """How much the column differs, to sort by: what codes show, and what they can't."""
        apart = self.numbers.deviations if self.numbers is not None else 0.0
        hidden = abs(self.clamped[0] - self.clamped[1])
        hidden += abs(self.other[0] + self.unread[0] - self.other[1] - self.unread[1])
        return self.distance / 2 + hidden + (1.0 if math.isnan(apart) else apart)


def compare_columns(real: WholeTable, synthetic: WholeTable) -> tuple[ColumnComparison, ...]:
    """Compares each column, in the schema's order; both tables have rows."""
    return tuple(_compared(column, real, synthetic) for column in real.schema.synthesized)


def _compared(column: Column, real: WholeTable, synthetic: WholeTable) -> ColumnComparison:
    name = column.name
    first, second = (np.bincount(table.codes[name], minlength=column.size) / table.rows for table in (real, synthetic))
    return ColumnComparison(
        name,
        column.kind,
        _shares(real, name),
        _shares(synthetic, name),
        _numbers(column, real, synthetic),
        _categories(column, real, [first, second]) if isinstance(column, Categorical) else None,
        float(np.abs(first - second).sum()),
        (first, second),
    )


def _shares(table: WholeTable, name: str) -> dict[Placement, float]:
    counts = np.bincount(table.placements[name], minlength=len(Placement))
    return {Placement(int(way)): float(counts[way] / table.rows) for way in np.flatnonzero(counts)}


def _numbers(column: Column, real: WholeTable, synthetic: WholeTable) -> NumbersSideBySide | None:
    if not isinstance(column, (Integer, Real, Instant)):
        return None
    one, other = (np.sort(_finite(table.numbers[column.name])) for table in (real, synthetic))
    lower, upper = column.bounds
    return NumbersSideBySide(Distribution.of(one), Distribution.of(other), line_distance(one, other), upper - lower)


def line_distance(one: np.ndarray, other: np.ndarray) -> float:
    """W_1 of finite numbers [n] and [m] on the line; NaN where there are none."""
    return wasserstein.distance(one, other) if len(one) and len(other) else float("nan")


def _finite(numbers: np.ndarray) -> np.ndarray:
    return numbers[np.isfinite(numbers)]


def _categories(column: Categorical, real: WholeTable, counts: list[np.ndarray]) -> CategoriesSideBySide:
    listed = column.n_bins - column.other
    never = np.flatnonzero((counts[0][:listed] > 0) & (counts[1][:listed] == 0))
    return CategoriesSideBySide(tuple(column.labels[code] for code in never), dict(real.strangers[column.name]))


def in_units(column: Column, number: float) -> str:
    """A number of a column as a person reads it: a date for dates, for datetimes what a clock in their zone shows."""
    if not math.isfinite(number):
        return "-"
    if isinstance(column, Instant):
        try:
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=round(number) * column.unit)
            moment = moment.astimezone(find_zone(column.zone)) if column.zone else moment
        except OverflowError:
            return f"{number:.4g}"
        return moment.date().isoformat() if column.kind == "date" else moment.replace(tzinfo=None).isoformat(" ")
    return f"{number:.6g}"


def columns_json(columns: tuple[ColumnComparison, ...], *, values: bool) -> list[dict[str, Any]]:
    """The columns in the form of the JSON document; names of unlisted categories only where `values`."""
    return [_json(column, values) for column in columns]


def _json(column: ColumnComparison, values: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "column": column.name,
        "kind": column.kind,
        "distance": column.distance,
        "placed": {
            "real": {way.word: share for way, share in column.real.items()},
            "synthetic": {way.word: share for way, share in column.synthetic.items()},
        },
    }
    if (numbers := column.numbers) is not None:
        document["numbers"] = {
            "real": _distribution_json(numbers.real),
            "synthetic": _distribution_json(numbers.synthetic),
            "wasserstein_1": _or_none(numbers.wasserstein),
            "wasserstein_1_share": _or_none(numbers.share),
            "wasserstein_1_deviations": _or_none(numbers.deviations),
        }
    if (categories := column.categories) is not None:
        document["categories"] = {
            "never_made": len(categories.never_made),
            "outside": len(categories.outside),
            "cells_outside": sum(categories.outside.values()),
        }
        if values:
            document["categories"] |= {
                "never_made_values": list(categories.never_made),
                "outside_values": dict(categories.outside),
            }
    return document


def _distribution_json(found: Distribution | None) -> dict[str, Any] | None:
    if found is None:
        return None
    quantiles = {f"{level:g}": value for level, value in zip(QUANTILES, found.quantiles, strict=True)}
    return {"mean": found.mean, "deviation": found.deviation, "quantiles": quantiles}


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _sum(shares: Mapping[Placement, float], ways: tuple[Placement, ...]) -> float:
    return math.fsum(shares.get(way, 0.0) for way in ways)
