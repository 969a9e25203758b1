"""Columns of real numbers, cut into bins."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    """

    kind: ClassVar[str] = "real"

    lower: float
    upper: float
    bins: int = 0
    resolution: float = 0.0
    edges: tuple[float, ...] = ()

    def _check(self) -> None:
        self._check_texts("missing_values", self.missing_values)
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
        if self.n_bins <= MAX_SIZE and not (np.diff(self._edges) > 0).all():
            raise self.mistake("`edges` must increase, and bins must be wide enough for floating point")

    @property
    def n_bins(self) -> int:
        if self.edges:
            return len(self.edges) - 1
        if self.bins:
            return self.bins
        # A quotient that is whole up to rounding (such as 1 / 0.1) gets no sliver of a last bin.
        return max(1, math.ceil((self.upper - self.lower) / self.resolution * (1 - 1e-12)))

    @cached_property
    def _edges(self) -> np.ndarray:
        """float64 [n_bins + 1]."""
        if self.edges:
            return np.array(self.edges, dtype=float)
        if self.bins:
            return np.linspace(self.lower, self.upper, self.bins + 1)
        return np.append(self.lower + self.resolution * np.arange(self.n_bins), self.upper)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.lower, self.upper

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.float64()

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        return np.minimum(np.searchsorted(self._edges, numbers, side="right") - 1, self.n_bins - 1)

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        lows, highs = (ends[codes] for ends in self._ranges())
        drawn = lows + rng.random(len(codes)) * (self._edges[codes + 1] - lows)
        return pa.array(np.clip(drawn, lows, highs), type=pa.float64())

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        highs = np.nextafter(self._edges[1:], -np.inf)
        highs[-1] = self._edges[-1]
        return self._edges[:-1], highs

    def _labels(self) -> list[str]:
        ends = [f"{edge:.6g}" for edge in self._edges]
        closing = [")"] * (self.n_bins - 1) + ["]"]
        return [f"[{low}, {high}{end}" for low, high, end in zip(ends, ends[1:], closing, strict=False)]

    def facts(self) -> dict[str, Any]:
        extras = {"bins": self.bins, "resolution": self.resolution, "edges": self.edges}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}
