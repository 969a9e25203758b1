"""Columns of whole numbers on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.number import NumberColumn

EXACT = 2**53


@dataclass(frozen=True)
class Integer(NumberColumn):
    """Whole numbers from `lower` to `upper`, both included, every `step`.

    One code per number, unless `bins` (that many groups of equal width) or `edges` (the first number of each
    bin; the last bin ends with `upper`) groups them. A number between two points of the grid goes to the
    nearer one (half-way: the upper). Decoding draws uniformly on the grid points of the bin.
    """

    kind: ClassVar[str] = "integer"

    lower: int
    upper: int
    step: int = 1
    bins: int = 0
    edges: tuple[int, ...] = ()

    def _check(self) -> None:
        if not -EXACT <= self.lower <= self.upper <= EXACT:
            raise self.mistake(
                f"`lower` must be at most `upper`, both within 2^53 of zero; found {self.lower} and {self.upper}"
            )
        if self.step < 1 or (self.upper - self.lower) % self.step:
            raise self.mistake(f"`step` must be positive and lead from `lower` to `upper`; found {self.step}")
        if self.bins and self.edges:
            raise self.mistake("give `bins` or `edges`, not both")
        if not 0 <= self.bins <= self._n_points:
            raise self.mistake(f"`bins` must be between 1 and the {self._n_points} values; found {self.bins}")
        if self.edges:
            self._check_edges()
        self._check_missing_values()

    def _check_edges(self) -> None:
        if self.edges[0] != self.lower or self.edges[-1] > self.upper:
            raise self.mistake("the first of `edges` must be `lower`, and none may lie above `upper`")
        if (np.diff(self._starts) <= 0).any():
            raise self.mistake("`edges` must increase, with at least one value in each bin")

    @property
    def _n_points(self) -> int:
        return (self.upper - self.lower) // self.step + 1

    @cached_property
    def _starts(self) -> np.ndarray:
        """int64 [n_bins]: the index on the grid of the first point of each bin."""
        if self.edges:
            return np.array([-((self.lower - edge) // self.step) for edge in self.edges])
        bins = self.n_bins
        return np.array([(i * self._n_points) // bins for i in range(bins)])

    @cached_property
    def _stops(self) -> np.ndarray:
        return np.append(self._starts[1:], self._n_points)

    @property
    def n_bins(self) -> int:
        return len(self.edges) or self.bins or self._n_points

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.int64()

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        points = np.floor((numbers - self.lower) / self.step + 0.5).astype(np.int64)
        if self.n_bins == self._n_points:
            return points
        return np.searchsorted(self._starts, points, side="right") - 1

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        points = rng.integers(self._starts[codes], self._stops[codes])
        return pa.array(self.lower + self.step * points, type=pa.int64())

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        lows, highs = (self.lower + self.step * points for points in (self._starts, self._stops - 1))
        return lows.astype(float), highs.astype(float)

    def _labels(self) -> list[str]:
        return [
            f"{low:.0f}" if low == high else f"{low:.0f}..{high:.0f}" for low, high in zip(*self._ranges(), strict=True)
        ]

    def facts(self) -> dict[str, Any]:
        extras = {"step": self.step if self.step != 1 else 0, "bins": self.bins, "edges": self.edges}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}
