"""A lattice on a box with a Gaussian kernel at each of its points, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.grid import SnapGrid
from counterfoil.threads import on_one_thread

MOST_DIMENSIONS = 3
MOST_POINTS = 1_000_000
"""Of a lattice."""

_MOST_ENTRIES = 1 << 24
"""Of the table of one side: 128 MiB."""

_FINENESS = 8
"""Positions for each bandwidth and for each step of the lattice, at least."""

_NUMBERS_AT_ONCE = 1 << 22
_MOST_ROWS = 1 << 14


@dataclass(frozen=True)
class KernelLattice:
    """The points (l_1 / k_1, ..., l_p / k_p) of the unit cube, to which a box is scaled, and a kernel around each.

    Along each side, a coordinate counts as the nearest of `positions` public ones, x_g = g / (positions - 1). There the
    kernel of lattice point l is T[g, l] = floor(unit exp(-((x_g - l / k) / h)**2 / 2)), a whole number from 0 to `unit`
    that is looked up in a table. The kernel of a lattice point is the product of those of its p coordinates: a whole
    number of at most 2**30, so that sums over 2**32 records are exact in int64.

    Args:
        box: what is scaled to the unit cube; p = 1, 2 or 3 coordinates.
        steps: k_1, ..., k_p: the lattice has k_j + 1 points along side j.
        bandwidth: h, the standard deviation of the kernel along each side, in lengths of that side.
        positions: to how many positions a coordinate is rounded along each side.

    Raises:
        ValueError: for more than 3 coordinates or 10**6 lattice points, where a step or the bandwidth is shorter than
            8 gaps between positions, or where a table has more than 2**24 entries.
    """

    box: Box
    steps: tuple[int, ...]
    bandwidth: float
    positions: int = 4097

    def __post_init__(self) -> None:
        p = self.box.dimension
        if p > MOST_DIMENSIONS:
            raise ValueError(f"`box` must have at most {MOST_DIMENSIONS} coordinates. Found {p}: leave columns out.")
        whole = isinstance(self.steps, tuple) and all(_is_whole(k) and k >= 1 for k in self.steps)
        if not whole or len(self.steps) != p or self.size > MOST_POINTS:
            raise ValueError(
                f"`steps` must be a tuple with a positive whole number for each coordinate, and make at most "
                f"{MOST_POINTS:,} lattice points. Found {self.steps} for {p} coordinates."
            )
        if not (isinstance(self.bandwidth, (int, float)) and 1e-6 <= self.bandwidth < math.inf):
            raise ValueError(f"`bandwidth` must be finite and at least a millionth. Found {self.bandwidth!r}.")
        least = math.ceil(_FINENESS * max(*self.steps, 1 / self.bandwidth)) + 1
        most = _MOST_ENTRIES // (max(self.steps) + 1)
        if not _is_whole(self.positions) or not least <= self.positions <= most:
            raise ValueError(
                f"`positions` must be a whole number, for these steps and this bandwidth from {least:,} "
                f"({_FINENESS} for each) up to {most:,} (the longest table). Found {self.positions!r}: where the two "
                "leave none, take fewer steps or a larger bandwidth."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        """How many lattice points lie along each side."""
        return tuple(k + 1 for k in self.steps)

    @property
    def size(self) -> int:
        """The number of lattice points."""
        return math.prod(self.shape)

    @property
    def unit(self) -> int:
        """The value of the kernel of one side at its own lattice point. Its p-th power is at most 2**30."""
        return int(2 ** min(20, 30 // self.box.dimension))

    @cached_property
    def tables(self) -> tuple[np.ndarray, ...]:
        """For each side the kernel of each lattice point at each position, int64 [positions, k + 1]; read-only."""
        made = {k: _table(k, self.bandwidth, self.positions, self.unit) for k in set(self.steps)}
        return tuple(made[k] for k in self.steps)

    def places(self, points: np.ndarray) -> np.ndarray:
        """int64 [n, p]: the positions of `points` [n, p], each coordinate rounded by itself."""
        sides = zip(self.box.numbers, self.box.lower, self.box.upper, points.T, strict=True)
        snapped = [SnapGrid(name, low, high, self.positions).snap(x) for name, low, high, x in sides]
        return np.stack(snapped, axis=1)

    @on_one_thread
    def sums(self, points: np.ndarray) -> np.ndarray:
        """int64 [size], in C order: the kernel of each lattice point, summed over `points` [n, p].

        Each partial sum of the matrix products is a whole number of at most 2**14 2**30 = 2**44, which float64 holds:
        the sums are exact in whatever order they are added.
        """
        total = np.zeros((self.shape[0], self.size // self.shape[0]), dtype=np.int64)
        for places in self._chunks(points):
            first, *others = (table[at].astype(np.float64) for table, at in zip(self.tables, places.T, strict=True))
            total += (first.T @ reduce(_products, others, np.ones((len(places), 1)))).astype(np.int64)
        return total.ravel()

    def densities(self, sums: np.ndarray, records: float) -> np.ndarray:
        """float64 [k_1 + 1, ..., k_p + 1]: the density at the lattice, from (noisy) `sums` over `records` points.

        Each sum is divided by what it is on average for records that are uniform on the cube. Inside the cube that is
        `records` times (unit h sqrt(2 pi))**p, as in the usual estimate. Near a face, beyond which a part of the kernel
        lies, it is less: the usual estimate is half of the density there.
        """
        widths = np.ones(self.positions)
        widths[[0, -1]] = 0.5
        averages = [widths @ table / (self.positions - 1) for table in self.tables]
        return np.asarray(sums.reshape(self.shape) / (records * reduce(np.multiply.outer, averages)))

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        return {
            "coordinates": list(self.box.numbers),
            "kernel": "gaussian",
            "steps": list(self.steps),
            "bandwidth": self.bandwidth,
            "positions": self.positions,
            "unit": self.unit,
        }

    def _chunks(self, points: np.ndarray) -> Iterator[np.ndarray]:
        """The positions of a few points at once."""
        rows = min(max(_NUMBERS_AT_ONCE // (self.size // self.shape[0]), 1), _MOST_ROWS)
        for start in range(0, len(points), rows):
            yield self.places(points[start : start + rows])


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _table(k: int, bandwidth: float, positions: int, unit: int) -> np.ndarray:
    """int64 [positions, k + 1]; differences are whole numbers over k (positions - 1), 0 where they should be."""
    gaps = np.arange(positions)[:, None] * k - np.arange(k + 1) * (positions - 1)
    table = np.floor(unit * np.exp(-((gaps / (k * (positions - 1) * bandwidth)) ** 2) / 2)).astype(np.int64)
    table.setflags(write=False)
    return table


def _products(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """[n, a b]: all products of an entry of `one` [n, a] and one of `other` [n, b], row by row."""
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
