"""The quadratic term of the dual of a fit: how strongly interactions are drawn to zero, in each direction.

It is kappa_A ||psi_A||^2 / 2, with one number for all directions of an interaction, or with one for the rough ones and
others for the smooth ones (`smooth_directions`). Its inverse weighs misfits and gradients (`estimation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.graphical_model.interactions import Interactions, Vector
from counterfoil.graphical_model.smooth_directions import SmoothDirections


@dataclass(frozen=True, eq=False)
class SmoothRidge:
    """What holds in the smooth directions of one interaction.

    Args:
        directions: which they are.
        values: in the shape of their coefficients: kappa.
        rough: kappa in all other directions.
    """

    directions: SmoothDirections
    values: Vector
    rough: float


@dataclass(frozen=True, eq=False)
class Ridge:
    """kappa in all directions.

    Args:
        interactions: of the fit.
        cells: float64 [cells], of interactions with one value, and of the rough directions of others.
        smooth: the others, by number.
    """

    interactions: Interactions
    cells: Vector
    smooth: Mapping[int, SmoothRidge]

    def terms(self, psi: Vector, residual: Vector) -> tuple[Vector, float, float]:
        """kappa psi, and the squared lengths, weighed by 1 / kappa, of kappa psi - residual and of the residual.

        Args:
            psi: float64 [cells], interactions.
            residual: float64 [cells], too.
        """
        shrunk = self.cells * psi
        gradient = shrunk - residual
        gap = float(np.sum(gradient * gradient / self.cells))
        misfit = float(np.sum(residual * residual / self.cells))
        for i, one in self.smooth.items():
            x, directions = self.interactions, one.directions
            at, off = directions.coefficients(x.table(psi, i)), directions.coefficients(x.table(residual, i))
            x.table(shrunk, i)[...] += directions.spread((one.values - one.rough) * at)
            gap += float(np.sum((one.values * at - off) ** 2 / one.values - (one.rough * at - off) ** 2 / one.rough))
            misfit += float(np.sum(off * off * (1 / one.values - 1 / one.rough)))
        return shrunk, gap, misfit

    def per_cell(self) -> Vector:
        """About kappa in each cell: the geometric mean over the directions."""
        values = self.cells.copy()
        for i, one in self.smooth.items():
            table = self.interactions.table(values, i)
            share = one.directions.dimensions / max(np.prod([size - 1 for size in table.shape]), 1)
            table *= np.exp(np.sum(share * np.log(one.values / one.rough)))
        return values
