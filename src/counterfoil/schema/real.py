"""Columns of real numbers, cut into bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.column import MAX_SIZE
from counterfoil.schema.number import NumberColumn


@dataclass(frozen=True)
class Real(NumberColumn):
    """Real numbers from `lower` to `upper`.

    Exactly one of `bins` (equal widths), `resolution` (that width, from `lower` up; the last bin may be
    narrower) or `edges` (from `lower` to `upper`) says where the bins are. A bin holds its left edge and not
    its right one; the last holds both. Decoding draws uniformly within the bin.

    `points` are numbers with a code of their own, such as a 0 that many records hold exactly; codes follow
    the number line, a point before the bin that begins with it.
    """

    kind: ClassVar[str] = "real"

    lower: float
    upper: float
    bins: int = 0
    resolution: float = 0.0
    edges: tuple[float, ...] = ()
    points: tuple[float, ...] = ()

    def _check(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise self.mistake(f"`lower` must be below `upper`, both finite; found {self.lower} and {self.upper}")
        if not math.isfinite(self.upper - self.lower):
            raise self.mistake("`upper - lower` must be a finite number")
        if sum(map(bool, (self.bins, self.resolution, self.edges))) != 1:
            raise self.mistake("give exactly one of `bins`, `resolution` or `edges`")
        if self.bins < 0 or not 0 <= self.resolution < math.inf:
            raise self.mistake("`bins` and `resolution` must be positive")
        if self.edges and (len(self.edges) < 2 or (self.edges[0], self.edges[-1]) != (self.lower, self.upper)):
            raise self.mistake("the first of `edges` must be `lower` and the last one `upper`")
        if not all(self.lower <= point <= self.upper for point in self.points):
            raise self.mistake("`points` must lie between `lower` and `upper`")
        if len({*self.points}) != len(self.points):
            raise self.mistake("`points` must differ from each other")
        if self.n_bins <= MAX_SIZE and not (np.diff(self._edges) > 0).all():
            raise self.mistake("`edges` must increase, and bins must be wide enough for floating point")
        self._check_missing_values()

    @property
    def _n_intervals(self) -> int:
        if self.edges:
            return len(self.edges) - 1
        return self.bins or math.ceil((_exact(self.upper) - _exact(self.lower)) / _exact(self.resolution))

    @property
    def n_bins(self) -> int:
        return self._n_intervals + len(self.points)

    @cached_property
    def _edges(self) -> np.ndarray:
        """float64 [intervals + 1]: computed in decimals, so that 0.3 is an edge of a resolution of 0.1."""
        if self.edges:
            return np.array(self.edges, dtype=float)
        low, high = _exact(self.lower), _exact(self.upper)
        width = (high - low) / self.bins if self.bins else _exact(self.resolution)
        return np.array([*(float(low + i * width) for i in range(self._n_intervals)), self.upper], dtype=float)

    @cached_property
    def _order(self) -> np.ndarray:
        """int64 [n_bins]: the code of each interval, then of each point."""
        intervals = [(low, 1) for low in self._edges[:-1].tolist()]
        along_the_line = sorted(
            range(self.n_bins), key=[*intervals, *((point, 0) for point in self.points)].__getitem__
        )
        return np.argsort(along_the_line)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.float64()

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        intervals = np.searchsorted(self._edges, numbers, side="right") - 1
        codes = self._order[np.minimum(intervals, self._n_intervals - 1)]
        for code, point in zip(self._order[self._n_intervals :], self.points, strict=True):
            codes[numbers == point] = code
        return codes

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        lows, highs = (ends[codes] for ends in self._ranges())
        drawn = np.clip(lows + rng.random(len(codes)) * (highs - lows), lows, highs)
        stray = np.isin(drawn, np.array(self.points, dtype=float)) & (lows < highs)
        return pa.array(np.where(stray, np.nextafter(drawn, highs), drawn), type=pa.float64())

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        lows, highs = np.empty(self.n_bins), np.empty(self.n_bins)
        starts, ends = self._edges[:-1].copy(), np.nextafter(self._edges[1:], -np.inf)
        ends[-1] = self._edges[-1]
        # A point has a code of its own, so that the intervals which it ends do not hold it.
        starts = np.where(np.isin(starts, self.points) & (starts < ends), np.nextafter(starts, np.inf), starts)
        ends = np.where(np.isin(ends, self.points) & (starts < ends), np.nextafter(ends, -np.inf), ends)
        lows[self._order] = np.append(starts, self.points)
        highs[self._order] = np.append(ends, self.points)
        return lows, highs

    def _labels(self) -> list[str]:
        ends = [f"{edge:.6g}" for edge in self._edges]
        closing = [")"] * (self._n_intervals - 1) + ["]"]
        texts = [f"[{low}, {high}{end}" for low, high, end in zip(ends, ends[1:], closing, strict=False)]
        texts += [f"{point:.6g}" for point in self.points]
        return [texts[i] for i in np.argsort(self._order)]

    def facts(self) -> dict[str, Any]:
        extras = {"bins": self.bins, "resolution": self.resolution, "edges": self.edges, "points": self.points}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}


def _exact(number: float) -> Fraction:
    """The number as it was written, in decimals."""
    return Fraction(str(number))
