"""Counts of some columns' values with their labels: what a release says about a marginal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from counterfoil.schema import Schema
from counterfoil.schema.asked import require_synthesized
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.plain_arrays import array_of

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 40
"""Cells that are printed."""


@dataclass(frozen=True, eq=False)
class MarginalTable:
    """Expected counts of every combination of values of some columns.

    `table["F", "40..49"]` is one count; `numpy.asarray(table)` all of them, which is what arithmetic works on.

    Args:
        attributes: the columns, in the order in which they were asked for.
        labels: for each of them, a text for each of its codes.
        counts: float64, shaped by these numbers of codes.
    """

    attributes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: np.ndarray

    def __post_init__(self) -> None:
        if self.counts.shape != tuple(map(len, self.labels)) or len(self.labels) != len(self.attributes):
            raise ValueError(f"Counts must have one cell for each combination of labels. Found {self.counts.shape}.")

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each column has."""
        return self.counts.shape

    @property
    def total(self) -> float:
        """The sum of all counts."""
        return float(self.counts.sum())

    @property
    def shares(self) -> np.ndarray:
        """The counts divided by their sum."""
        return self.counts / self.total

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and dtype not in (None, self.counts.dtype):
            raise ValueError("Counts of another type must be copied.")
        return np.array(self.counts, dtype=dtype) if copy is not False else self.counts

    def __getitem__(self, key: Any) -> Any:
        """The count of the values with these labels, one for each column; numbers index the counts.

        Raises:
            KeyError: for a label that its column does not have, or too few of them.
        """
        parts = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(part, str) for part in parts):
            return self.counts[key]
        if len(parts) != len(self.attributes):
            raise KeyError(f"Name one value of each of {', '.join(self.attributes)}. Found {len(parts)}.")
        return float(self.counts[tuple(self._place(axis, part) for axis, part in enumerate(parts))])

    def _place(self, axis: int, part: Any) -> int:
        if not isinstance(part, str):
            return int(part)
        places = self._places[axis]
        if part not in places:
            raise KeyError(f"{self.attributes[axis]!r} has no value {part!r}.{did_you_mean(part, places)}")
        return places[part]

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        return [{label: code for code, label in enumerate(labels)} for labels in self.labels]

    def to_arrow(self) -> pa.Table:
        """One row for each cell: the labels, and `count`; a column of that name has the counts in `count of rows`."""
        grids = np.indices(self.shape).reshape(len(self.shape), -1)
        columns = {
            name: array_of(labels, pa.string()).take(array_of(codes))
            for name, labels, codes in zip(self.attributes, self.labels, grids, strict=True)
        }
        return pa.table({**columns, "count of rows" if "count" in columns else "count": array_of(self.counts.ravel())})

    def to_pandas(self) -> pd.DataFrame:
        """The same as a pandas table; needs pandas."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        lines = [f"Expected counts of {' x '.join(self.attributes)} ({self.total:,.0f} records)"]
        cells = itertools.islice(np.ndindex(self.shape), _SHOWN)
        lines += [f"  {self.counts[cell]:>12,.1f}  {', '.join(self._named(cell))}" for cell in cells]
        if self.counts.size > _SHOWN:
            lines.append(f"  and {self.counts.size - _SHOWN:,} more: see `to_arrow()` and `counts`")
        return "\n".join(lines)

    def _named(self, cell: tuple[int, ...]) -> Iterable[str]:
        return (labels[code] for labels, code in zip(self.labels, cell, strict=True))


def names_in(schema: Schema, attributes: str | Iterable[str]) -> tuple[str, ...]:
    """The columns that a user named: one by itself, or several, each once; "abc" is three where they are called so.

    Raises:
        ValueError: for no column, one that is named twice, or one that the schema does not synthesize.
    """
    known = schema.domain.attributes
    listed = isinstance(attributes, str) and attributes not in known and set(attributes) <= {*known}
    names = (attributes,) if isinstance(attributes, str) and not listed else tuple(attributes)
    for name in names:
        require_synthesized(schema, name, f"The release has no counts of a column {name!r}.")
    if not names or len(set(names)) != len(names):
        raise ValueError(f"Name at least one column, and each once. Found {list(names)}.")
    return names


def labeled(schema: Schema, names: tuple[str, ...], counts: np.ndarray) -> MarginalTable:
    """The table of counts [codes of names[0], codes of names[1], ...]."""
    return MarginalTable(names, tuple(schema[name].labels for name in names), counts)
