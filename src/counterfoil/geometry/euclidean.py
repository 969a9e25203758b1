"""Convex bodies of Euclidean space: a box and a ball, with the variations of equation (1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.geometry.decoding import values
from counterfoil.geometry.space import scales
from counterfoil.schema import Real, Schema
from counterfoil.schema.number import NumberColumn
from counterfoil.transport.metric import Metric


@dataclass(frozen=True)
class _Body(ABC):
    """The common part of the convex bodies. Points are vectors of coordinates, in the units of the columns."""

    numbers: tuple[str, ...]
    columns: ClassVar[tuple[str, ...]] = ()

    @property
    def metric(self) -> Metric:
        return "euclidean"

    @abstractmethod
    def project(self, points: np.ndarray) -> np.ndarray:
        """The nearest point [..., d] of the body, for each of `points`."""

    @property
    @abstractmethod
    def diameter(self) -> float:
        """D, the largest distance between two points."""

    @abstractmethod
    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """`n` independent points [n, d], uniform on the body."""

    @property
    def dimension(self) -> int:
        """d, the number of coordinates."""
        return len(self.numbers)

    def locate(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Records as points [n, d]; one outside is moved to the nearest point of the body."""
        del codes
        points = np.stack([np.asarray(numbers[name], dtype=np.float64) for name in self.numbers], axis=1)
        if np.isnan(points).any():
            raise ValueError("A point of this space can't have missing coordinates. Use `TableSpace`.")
        return self.project(points)

    def embed(self, points: np.ndarray) -> np.ndarray:
        """The points themselves."""
        return points

    def variations(
        self, points: np.ndarray, *, resolution: float, progress: float, rng: np.random.Generator
    ) -> np.ndarray:
        """[2 L + 1, m, d]: each point, and two Gaussian steps from it at each of L scales, projected on the body.

        Source: equation (1), with the corrected scales; the same at all times, so that `progress` is not used.
        """
        del progress
        spread = scales(self.dimension, diameter=self.diameter, resolution=resolution)
        noise = rng.standard_normal((2 * len(spread), *points.shape))
        moved = points + np.repeat(spread, 2)[:, None, None] * noise
        return np.concatenate([points[None], self.project(moved)])

    def table(self, points: np.ndarray, schema: Schema, rng: np.random.Generator) -> pa.Table:
        """Rows with one value for each coordinate, rounded where the column holds no fractions."""
        del rng
        arrays = {}
        for name, coordinate in zip(self.numbers, points.T, strict=True):
            column = schema[name]
            if not isinstance(column, NumberColumn) or column.missing:
                raise ValueError(f"Column {name!r} must be a number that is never missing. Use `TableSpace`.")
            arrays[name] = values(column, coordinate)
        beyond = [column.name for column in schema.synthesized if column.name not in arrays]
        if beyond:
            raise ValueError(f"Column {beyond[0]!r} is no coordinate of the space. Add it, or use `TableSpace`.")
        return pa.table({column.name: arrays[column.name] for column in schema.synthesized})


@dataclass(frozen=True)
class Box(_Body):
    """A box with the given sides.

    Args:
        numbers: the columns that are the coordinates.
        lower: its lowest corner.
        upper: its highest corner.

    Raises:
        ValueError: unless `lower` is below `upper` in each of at least one coordinate.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        if not (len(self.numbers) == len(self.lower) == len(self.upper) > 0):
            raise ValueError("`numbers`, `lower` and `upper` must have one entry for each coordinate, at least one.")
        if not all(np.isfinite(end) for end in (*self.lower, *self.upper)) or not (self._sides > 0).all():
            raise ValueError(f"`lower` must be below `upper`, both finite. Found {self.lower} and {self.upper}.")

    @classmethod
    def of(cls, schema: Schema) -> Box:
        """The box of the declared bounds.

        Raises:
            ValueError: where a column is not a number or may be missing.
        """
        for column in schema.synthesized:
            if not isinstance(column, NumberColumn) or column.missing:
                raise ValueError(
                    f"A box has coordinates alone: column {column.name!r} must be a number that is never missing. "
                    f"Found {column.kind}{' with missing values' if column.missing else ''}: use the method evolution, "
                    "which takes columns of every kind (in Python with `TableSpace`), or aim."
                )
        for name, (low, high) in ((c.name, c.bounds) for c in schema.synthesized if isinstance(c, NumberColumn)):
            if not low < high:
                raise ValueError(
                    f"A box has a length along each coordinate: column {name!r} has one number by its schema. "
                    "Put it under `ignore`, or use the method evolution or aim."
                )
        bounds = [column.bounds for column in schema.synthesized if isinstance(column, NumberColumn)]
        names = tuple(column.name for column in schema.synthesized)
        return cls(names, tuple(low for low, _ in bounds), tuple(high for _, high in bounds))

    @property
    def _sides(self) -> np.ndarray:
        return np.subtract(self.upper, self.lower)

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self._sides))

    def project(self, points: np.ndarray) -> np.ndarray:
        return np.clip(points, self.lower, self.upper)

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.lower + self._sides * rng.random((n, self.dimension))

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        return {"space": "box", "coordinates": list(self.numbers), "lower": self.lower, "upper": self.upper}


@dataclass(frozen=True)
class Ball(_Body):
    """A Euclidean ball.

    Args:
        numbers: the columns that are the coordinates.
        radius: half of the diameter.
        center: the middle; the origin where empty.

    Raises:
        ValueError: unless the radius is positive and the center has one entry for each coordinate.
    """

    radius: float = 1.0
    center: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.numbers or len(self.center) not in (0, len(self.numbers)):
            raise ValueError("`numbers` must name the coordinates, and `center` have one entry for each of them.")
        if not (0 < self.radius < np.inf) or not np.isfinite(self._middle).all():
            raise ValueError(f"`radius` must be positive, and all finite. Found {self.radius} and {self.center}.")

    @property
    def _middle(self) -> np.ndarray:
        return np.array(self.center or [0.0] * len(self.numbers), dtype=np.float64)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def project(self, points: np.ndarray) -> np.ndarray:
        away = points - self._middle
        norms = np.linalg.norm(away, axis=-1, keepdims=True)
        return self._middle + away * np.minimum(1.0, self.radius / np.maximum(norms, self.radius))

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        directions = rng.standard_normal((n, self.dimension))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return self._middle + directions * (self.radius * rng.random((n, 1)) ** (1 / self.dimension))

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        return {
            "space": "ball",
            "coordinates": list(self.numbers),
            "radius": self.radius,
            "center": self._middle.tolist(),
        }


def point_schema(lower: Sequence[float], upper: Sequence[float], *, bins: int = 256) -> Schema:
    """The schema of a numpy array [n, d] of points, columns x0, x1, …, with public bounds for each coordinate.

    `bins` matters only to methods that count marginals.
    """
    pairs = enumerate(zip(lower, upper, strict=True))
    return Schema(tuple(Real(f"x{i}", lower=float(low), upper=float(high), bins=bins) for i, (low, high) in pairs))
