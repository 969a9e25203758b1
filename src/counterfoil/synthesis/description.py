"""A release column by column, from its rows alone: what there is before anything is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.discovered import percent
from counterfoil.schema.instant import Instant
from counterfoil.schema.notation import DAY_OF_TIMES
from counterfoil.schema.plain_arrays import array_of, numpy_of
from counterfoil.schema.schema import Schema

if TYPE_CHECKING:
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

_LISTED = 3
"""Categories that are named, the most frequent first."""

_NEARLY_ALL = 0.99
"""A larger share of the rows is written with four digits: 99.8% are not all."""


@dataclass(frozen=True)
class ColumnDescription:
    """One column of the synthetic rows.

    Args:
        name, kind: as in the schema.
        values: its most frequent categories with their shares, or its mean, deviation, median and quantiles, in words.
        missing: the share of rows where it is missing.
        off_by: the largest share of rows that may be in other codes than the real ones, which holds with probability
            95%; None where the release bounds nothing.
        derived: whether it follows from other columns, which nothing bounds by itself.
    """

    name: str
    kind: str
    values: str
    missing: float
    off_by: float | None
    derived: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields, as JSON."""
        return asdict(self)


def described(release: Synthesis | PointSynthesis, columns: Sequence[str] | None = None) -> list[ColumnDescription]:
    """Each column that has values, or those of the given names, in the schema's order."""
    table = release.to_arrow()
    return [
        _derived(column, table.column(column.name))
        if isinstance(column, Derived)
        else _described(release, column, table.column(column.name))
        for column in with_values(release.schema)
        if columns is None or column.name in columns
    ]


def with_values(schema: Schema) -> list[Column | Derived]:
    """The columns that are described: all but identifiers."""
    return [column for column in schema.columns if isinstance(column, Column | Derived)]


def _described(release: Synthesis | PointSynthesis, column: Column, values: pa.ChunkedArray) -> ColumnDescription:
    codes = column.encode(values)
    absent = codes == column.missing_code if column.missing else np.zeros(len(codes), dtype=bool)
    present = values.filter(array_of(~absent))
    words = "no value" if not len(present) else _spread(present) if _is_measured(column, present.type) else ""
    if isinstance(column, Instant) and column.is_clock:
        words = words.replace(f"{DAY_OF_TIMES.date()} ", "")
    return ColumnDescription(
        column.name,
        column.kind,
        words or _frequent(column, codes[~absent]),
        float(absent.mean()) if len(absent) else 0.0,
        _off_by(release, column.name),
    )


def _derived(column: Derived, values: pa.ChunkedArray) -> ColumnDescription:
    present = values.drop_null()
    if not len(present):
        words = "no value"
    elif _is_on_a_line(present.type):
        words = _spread(present)
    else:
        counts = present.value_counts()
        words = _most([str(value) for value in counts.field("values").to_pylist()], numpy_of(counts.field("counts")))
    missing = values.null_count / len(values) if len(values) else 0.0
    return ColumnDescription(column.name, column.result, words, missing, None, derived=True)


def _off_by(release: Synthesis | PointSynthesis, name: str) -> float | None:
    if not hasattr(release, "error_bar"):  # points have none
        return None
    fraction = release.error_bar([name]).fraction
    return None if fraction >= 2 else fraction / 2


def _is_measured(column: Column, kind: pa.DataType) -> bool:
    if not column.is_ordered or column.comparable == "boolean":
        return False
    return _is_on_a_line(kind)


def _is_on_a_line(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)


def _spread(values: pa.ChunkedArray) -> str:
    if pa.types.is_temporal(values.type):
        instants = pc.sort_indices(values)
        low, middle, high = (
            values[instants[int(share * (len(values) - 1))].as_py()].as_py().isoformat(" ")
            if pa.types.is_timestamp(values.type)
            else values[instants[int(share * (len(values) - 1))].as_py()].as_py().isoformat()
            for share in (0.05, 0.5, 0.95)
        )
        return f"median {middle}, 5% to 95%: {low} to {high}"
    numbers = numpy_of(values).astype(float)
    low, middle, high = np.quantile(numbers, [0.05, 0.5, 0.95], method="inverted_cdf")
    return (
        f"mean {numbers.mean():.5g}, deviation {numbers.std():.5g}, median {middle:.5g}, 5% to 95%: {low:.5g} to "
        f"{high:.5g}"
    )


def _frequent(column: Column, codes: np.ndarray) -> str:
    return _most(column.labels, np.bincount(codes, minlength=column.size))


def _most(labels: Sequence[str], counts: np.ndarray) -> str:
    """The most frequent of some values, with their shares."""
    order = np.argsort(-counts, kind="stable")[:_LISTED]
    named = [f"{labels[place]} {_share(counts[place] / counts.sum())}" for place in order if counts[place]]
    rest = int((counts > 0).sum()) - len(named)
    return ", ".join(named) + (f" and {rest} more" if rest > 0 else "")


def _share(share: float) -> str:
    """With two digits where it is small, and not as all where a few are left."""
    return percent(share) if share <= _NEARLY_ALL else f"{100 * share:.4g}%"
