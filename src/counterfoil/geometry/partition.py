"""Partitions of a box into cells: a regular grid, and intervals of an order that halves the sides in turn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from counterfoil.geometry.euclidean import Box


class Partition(Protocol):
    """Disjoint cells that cover a box; public."""

    @property
    def box(self) -> Box: ...
    @property
    def size(self) -> int:
        """The number of cells."""
        ...

    def assign(self, points: np.ndarray) -> np.ndarray:
        """int64 [n]: the number of the cell of each of `points` [n, d]; outside the box, of the nearest one."""
        ...

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        ...


@dataclass(frozen=True)
class Grid:
    """Equal cells, numbered in C order. A cell holds its lower faces; the last ones, both.

    Args:
        box: what is partitioned.
        shape: how many cells along each coordinate.

    Raises:
        ValueError: unless each coordinate has at least one cell, and all have fewer than 2**62.
    """

    box: Box
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.shape) != self.box.dimension or min(self.shape) < 1 or self.size >= 2**62:
            raise ValueError(f"`shape` must have at least one cell for each coordinate. Found {self.shape}.")

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def assign(self, points: np.ndarray) -> np.ndarray:
        """int64 [n]: the number of the cell of each of `points` [n, d]; outside the box, of the nearest one."""
        places = np.floor((points - self.box.lower) / self._widths).astype(np.int64)
        return np.asarray(np.clip(places, 0, np.subtract(self.shape, 1)) @ self._strides)

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        return {"partition": "grid", "shape": list(self.shape)}

    def centers(self, cells: np.ndarray) -> np.ndarray:
        """[m, d]: the middle of each cell of `cells` [m]."""
        return self._corners(cells) + self._widths / 2

    def draw(self, cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """[m, d]: one uniform point in each cell of `cells` [m], which may repeat."""
        return self._corners(cells) + self._widths * rng.random((len(cells), len(self.shape)))

    @property
    def cell_diameter(self) -> float:
        """The largest distance within a cell."""
        return float(np.linalg.norm(self._widths))

    @property
    def _widths(self) -> np.ndarray:
        return np.subtract(self.box.upper, self.box.lower) / self.shape

    def _corners(self, cells: np.ndarray) -> np.ndarray:
        # Of any number of coordinates; numpy's own functions end at 64.
        return self.box.lower + cells[:, None] // self._strides % self.shape * self._widths

    @property
    def _strides(self) -> np.ndarray:
        """int64 [d]: by how much the number of a cell grows from one to the next along each coordinate."""
        return np.array([math.prod(self.shape[place + 1 :]) for place in range(len(self.shape))], dtype=np.int64)


@dataclass(frozen=True)
class Halving:
    """The order that halves the sides of a box in turn, `depth` times: a node of depth t is a prefix of t bits.

    Args:
        box: what is halved.
        depth: at most 62.
    """

    box: Box
    depth: int

    def __post_init__(self) -> None:
        if not 0 <= self.depth <= 62:
            raise ValueError(f"`depth` must be from 0 to 62. Found {self.depth}.")

    def codes(self, points: np.ndarray) -> np.ndarray:
        """int64 [n]: the node of depth `depth` that each of `points` [n, d] lies in."""
        bits = self._bits
        places = [
            np.clip((points[:, j] - low) * (2.0**n / (high - low)), 0, 2**n - 1).astype(np.int64)
            for j, (low, high, n) in enumerate(zip(self.box.lower, self.box.upper, bits, strict=True))
        ]
        codes = np.zeros(len(points), dtype=np.int64)
        for t in range(self.depth):
            axis, taken = t % len(bits), t // len(bits)
            codes = codes << 1 | places[axis] >> (bits[axis] - 1 - taken) & 1
        return codes

    def draw(self, codes: np.ndarray, depths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """[m, d]: one uniform point in each node, of depth `depths` [m] and prefix `codes` [m]."""
        bits = self._bits
        fine = codes << (self.depth - depths)
        fine = fine + np.floor(rng.random(len(codes)) * 2.0 ** (self.depth - depths)).astype(np.int64)
        places = np.zeros((len(codes), len(bits)), dtype=np.int64)
        for t in range(self.depth):
            places[:, t % len(bits)] = places[:, t % len(bits)] << 1 | fine >> (self.depth - 1 - t) & 1
        inside = (places + rng.random(places.shape)) / 2.0 ** np.array(bits)
        return self.box.lower + np.subtract(self.box.upper, self.box.lower) * inside

    @property
    def _bits(self) -> list[int]:
        """How often each side is halved."""
        d = self.box.dimension
        return [(self.depth - j + d - 1) // d for j in range(d)]


@dataclass(frozen=True, eq=False)
class Intervals:
    """Cells that are intervals of a halving order: nodes of any depths.

    Args:
        order: how points are ordered.
        starts: int64 [m], the increasing codes of full depth at which the cells start; the first is 0.

    Raises:
        ValueError: where `starts` are anything else.
    """

    order: Halving
    starts: np.ndarray

    def __post_init__(self) -> None:
        if len(self.starts) == 0 or self.starts[0] != 0 or (np.diff(self.starts) <= 0).any():
            raise ValueError("`starts` must increase from 0.")

    @property
    def box(self) -> Box:
        return self.order.box

    @property
    def size(self) -> int:
        return len(self.starts)

    def assign(self, points: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.starts, self.order.codes(points), side="right") - 1

    def describe(self) -> dict[str, Any]:
        return {"partition": "intervals", "depth": self.order.depth}
