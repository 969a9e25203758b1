"""Where the numbers and days of columns lie, on grids that earlier noisy answers chose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.apart import Apart, Dated, require_apart
from counterfoil.curator.queries.column_places import cells_read, require_read
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.schema.raw_cell import CLASSES, without_unit
from counterfoil.schema.schema import Schema


@dataclass(frozen=True)
class Intervals:
    """A column, which of its cells are counted, and in which intervals.

    Args:
        column: its name.
        codes: of the classes whose numbers are counted (`schema.raw_cell.CODES`), also of those with a unit.
        edges: ascending; the intervals are below the first, from each up to the next, and from the last on.
        points: ascending; numbers that are counted by themselves, and not in the interval that they lie in.
    """

    column: str
    codes: tuple[int, ...]
    edges: tuple[float, ...]
    points: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """Number of intervals, and of points, which come after them."""
        return len(self.edges) + 1 + len(self.points)

    def counts(self, codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """int64 [size]: how many cells lie in each."""
        numbers = numbers[np.isin(codes, self.codes) & ~np.isnan(numbers)]
        places = np.searchsorted(np.array(self.edges), numbers, side="right")
        if self.points:
            points = np.array(self.points)
            nearest = np.minimum(np.searchsorted(points, numbers), len(points) - 1)
            places = np.where(points[nearest] == numbers, len(self.edges) + 1 + nearest, places)
        return np.bincount(places, minlength=self.size).astype(np.int64)


@shipped
@dataclass(frozen=True)
class ColumnRanges(CountQuery):
    """How many numbers or days of each column lie in each of its intervals, and how far those of two columns are apart.

    The intervals are parameters: they are public, and may have been chosen after earlier answers.

    Formal guarantee: the intervals of a column are disjoint, and a number that is one of its points is counted there
    and in no interval. So a cell is counted once at most, and whether it is, and where, depends on nothing but the cell
    (`schema.raw_cell`). However many intervals and points there are, a record adds 1 to at most one count of each of
    the columns. So it is with each pair of columns: what lies between two cells of a record is one number, or none, and
    depends on nothing but the two. Of d columns and pairs together, adding or removing a record moves at most d counts
    by 1: l1 sensitivity d, l2 sensitivity sqrt(d). Replacing it moves at most two counts of each column and each pair
    by 1 each: l1 sensitivity 2 d, l2 sensitivity sqrt(2 d). Both are attained by records whose cells are all counted,
    in other places.

    Args:
        columns: at least one, none twice.
        sign: as for `ColumnPlaces`.
        apart: pairs of columns of days or moments, none twice.
    """

    name: ClassVar[str] = "column_ranges"
    question: ClassVar[str] = (
        "how many numbers or days of each column, and of what lies between two, are in each of some intervals, with "
        "noise"
    )

    columns: tuple[Intervals, ...]
    sign: str | None = None
    apart: tuple[Apart, ...] = ()

    def __post_init__(self) -> None:
        require_apart(self.apart)
        names = [intervals.column for intervals in self.columns]
        if not names or len(set(names)) < len(names):
            raise ValueError("`columns` must hold at least one column, and none twice.")
        for intervals in self.columns:
            edges = np.array(intervals.edges, dtype=float)
            if not len(edges) or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
                raise ValueError(f"The edges of {intervals.column!r} must be finite and ascending, and at least one.")
            points = np.array(intervals.points, dtype=float)
            if not np.isfinite(points).all() or (np.diff(points) <= 0).any():
                raise ValueError(f"The points of {intervals.column!r} must be finite and ascending.")
            if not intervals.codes or (without_unit(np.array(intervals.codes)) >= len(CLASSES)).any():
                raise ValueError(f"The codes of {intervals.column!r} must be those of classes of cells.")

    def require_fits(self, schema: Schema) -> None:
        require_read(schema, self._read, self.sign)

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return (len(self.columns) + len(self.apart)) * (
            1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0
        )

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._counts, self._read, self._read)

    def split(self, answer: np.ndarray) -> dict[str, np.ndarray]:
        """An answer as int64 [intervals + points], by column."""
        return {i.column: part for i, part in zip(self.columns, self._parts(answer), strict=False)}

    def split_apart(self, answer: np.ndarray) -> dict[tuple[str, str], np.ndarray]:
        """The part about pairs of columns as int64 [intervals], by their names."""
        parts = self._parts(answer)[len(self.columns) :]
        return {pair.columns: part for pair, part in zip(self.apart, parts, strict=True)}

    def _parts(self, answer: np.ndarray) -> list[np.ndarray]:
        sizes = [*(one.size for one in self.columns), *(pair.size for pair in self.apart)]
        return np.split(answer, np.cumsum(sizes)[:-1])

    @property
    def _read(self) -> tuple[str, ...]:
        """All columns that are looked at, none twice."""
        names = [intervals.column for intervals in self.columns]
        return tuple(dict.fromkeys((*names, *(name for pair in self.apart for name in pair.columns))))

    def describe(self) -> dict[str, Any]:
        return (
            {
                "columns": {
                    i.column: {
                        "lower": float(i.edges[0]),
                        "upper": float(i.edges[-1]),
                        "intervals": len(i.edges) + 1,
                        "points": len(i.points),
                    }
                    for i in self.columns
                }
            }
            | ({} if self.sign is None else {"sign": self.sign})
            | self._pairs_described()
        )

    def _pairs_described(self) -> dict[str, Any]:
        if not self.apart:
            return {}
        return {
            "apart": [
                {
                    "first": pair.first.column,
                    "last": pair.last.column,
                    "lower": float(pair.edges[0]),
                    "upper": float(pair.edges[-1]),
                    "intervals": pair.size,
                }
                for pair in self.apart
            ]
        }

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        l1 = (len(parameters["columns"]) + len(_named(parameters.get("apart", [])))) * moved
        return l1 if norm is Norm.L1 else math.sqrt(l1)

    def _counts(self, block: Block) -> np.ndarray:
        cells = {name: cells_read(block, name, self.sign) for name in self._read}
        lines = [i.counts(*cells[i.column]) for i in self.columns]
        pairs = [pair.counts(*(_of(end, cells) for end in (pair.first, pair.last))) for pair in self.apart]
        return np.concatenate([*lines, *pairs])


def _named(apart: Any) -> set[tuple[str, str]]:
    """The pairs that a charge names.

    Raises:
        ValueError, TypeError or KeyError: where it holds anything else, or a pair twice.
    """
    pairs = {(pair["first"], pair["last"]) for pair in apart}
    if not isinstance(apart, list) or len(pairs) < len(apart):
        raise ValueError("`apart` must be a list of pairs, none twice.")
    if not all(isinstance(name, str) and first != last for first, last in pairs for name in (first, last)):
        raise ValueError("A pair must name two columns.")
    return pairs


def _of(end: Dated, cells: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    return end.numbers(*cells[end.column])
