"""Spaces of points: what Private Evolution needs of a metric space. All of it is public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from counterfoil.schema import Schema
from counterfoil.theory.private_evolution import n_levels, variation_scale
from counterfoil.transport.metric import Metric


class Space(Protocol):
    """A metric space with the two programming interfaces of Private Evolution, `random` and `variations`.

    Points are arrays whose first axis counts them; what a point is, only the space knows. `embed` turns them into
    arrays that `metric` compares; "euclidean" is the metric of all spaces here. All of it is public.

    columns, numbers: what `locate` reads of a record: integer codes, and values as numbers.
    dimension, diameter: d and D of the theory.
    """

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def numbers(self) -> tuple[str, ...]: ...
    @property
    def metric(self) -> Metric: ...
    @property
    def dimension(self) -> int: ...
    @property
    def diameter(self) -> float: ...

    def locate(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Records as embedded points [n, k], each on its own; one outside the space is moved to its nearest point.

        A space of your own is tried on made-up rows first. One that reads a column which `columns` and `numbers` leave
        out fails there, before anything is charged. NaN stands for a missing number, and a record that has one needs a
        finite point like any other: none may be left out. Equal records have equal points: nothing is drawn here.
        """
        ...

    def embed(self, points: np.ndarray) -> np.ndarray:
        """Points [m, ...] as arrays [m, k] that `metric` compares."""
        ...

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """`n` points that depend on no record (Random_API)."""
        ...

    def variations(
        self, points: np.ndarray, *, resolution: float, progress: float, rng: np.random.Generator
    ) -> np.ndarray:
        """Points [v, m, ...] around each of `points` [m, ...], the first of them itself (Variation_API).

        Args:
            points: the population.
            resolution: alpha, the distance below which it is no use to come nearer.
            progress: the share of iterations that are done, in [0, 1).
            rng: public randomness.
        """
        ...

    def table(self, points: np.ndarray, schema: Schema, rng: np.random.Generator) -> pa.Table:
        """Points [m, ...] as rows with the synthesized columns of `schema`, in its order."""
        ...

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        ...


def scales(dimension: int, *, diameter: float, resolution: float) -> np.ndarray:
    """float64 [L]: the deviations of Gaussian variations, from the resolution to the diameter; at least one.

    Source: equation (1) as corrected in `theory.private_evolution.variation_scale`.
    Raises ValueError unless diameter and resolution are positive.
    """
    count = max(1, int(n_levels(diameter, resolution).value))
    return np.array(
        [variation_scale(level, dimension=dimension, resolution=resolution).value for level in range(1, count + 1)]
    )
