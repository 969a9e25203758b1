"""Reference densities that are points of a box alone: a Bernstein density, and the measure tree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.lattice import LatticeKernelDensity
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.measures.bernstein import BernsteinMeasure
from counterfoil.measures.private_tree import MOST_DIMENSIONS, TreeCounts
from counterfoil.reweighting.reference import Asking, Density, Reference
from counterfoil.schema import Schema
from counterfoil.schema.number import NumberColumn
from counterfoil.synthesis.point_synthesis import require_space

_STEPS = {1: 200, 2: 60, 3: 20}
_STEPS_OF_BANDWIDTH = 1.2


class PointReference(Reference):
    """A density on the box of the declared bounds."""

    most_dimensions: ClassVar[int] = MOST_DIMENSIONS

    def gives_points(self, schema: Schema) -> bool:
        return True

    def share_of(self, schema: Schema) -> float:
        return 0.8

    def require_possible(self, curator: Curator) -> None:
        for column in curator.schema.synthesized:
            if not isinstance(column, NumberColumn) or column.missing:
                raise ValueError(
                    f"The reference `{self.name}` is for tables whose columns are all numbers that are never missing. "
                    f"Found {column.name!r}: use product, uniform or histogram."
                )
        box = Box.of(curator.schema)
        if box.dimension > self.most_dimensions:
            raise ValueError(
                f"The reference `{self.name}` needs at most {self.most_dimensions} columns. Found {box.dimension}: use "
                "`product`, or leave columns out."
            )
        require_space(curator, box)


@dataclass(frozen=True)
class BernsteinDensity(PointReference):
    """An iterated Bernstein polynomial of a kernel density at the points of a lattice, at most three columns.

    Its bias is far above that of the other references: it is here for its theory.

    Args:
        steps: k: the lattice has k + 1 points a side; 200, 60 or 20 for one, two or three columns where None.
        bandwidth: h, of the kernel, in sides of the box; 1.2 / k where None.
        order: j, of the iterated operator.

    Source: Alda and Rubinstein 2017; Bojkovic and Loh, Algorithm 3 and Theorem IV.1.
    """

    name: ClassVar[str] = "bernstein"
    most_dimensions: ClassVar[int] = 3

    steps: int | None = None
    bandwidth: float | None = None
    order: int = 20

    def __post_init__(self) -> None:
        if not (isinstance(self.order, int) and self.order >= 1):
            raise ValueError(f"`order` must be a whole number of at least 1. Found {self.order!r}.")

    def require_possible(self, curator: Curator) -> None:
        super().require_possible(curator)
        self._lattice(curator)

    def total_deviation(self, asking: Asking) -> float:
        """That of a mean of the lattice's values, of which neighbors share most of a kernel."""
        lattice = self._lattice(asking.curator)
        noise = asking.account.noise(asking.cost)
        return self._total_error(lattice, asking.account.deviation(LatticeKernelDensity(lattice), noise))

    def estimate(self, asking: Asking) -> Density:
        lattice = self._lattice(asking.curator)
        answer = asking.account.ask(LatticeKernelDensity(lattice), asking.account.noise(asking.cost))
        density = BernsteinMeasure.of_lattice(answer.values.astype(np.float64).reshape(lattice.shape), self.order)
        lower, upper = np.array(lattice.box.lower), np.array(lattice.box.upper)
        warnings = ("The Bernstein density is uniform: noise outweighs it.",) if density.is_uniform else ()
        return Density(
            lambda m, rng: lower + (upper - lower) * density.draw(m, rng),
            total=max(density.integral / self._per_record(lattice), 1.0),
            total_error=self._total_error(lattice, answer.deviation),
            parameters=lattice.describe(),
            warnings=warnings,
        )

    def describe(self) -> dict[str, Any]:
        return {"reference": self.name, "order": self.order}

    def _per_record(self, lattice: KernelLattice) -> float:
        """The integral of the kernel of one record."""
        return float((lattice.unit * lattice.bandwidth * math.sqrt(2 * math.pi)) ** lattice.box.dimension)

    def _total_error(self, lattice: KernelLattice, deviation: float) -> float:
        return deviation / math.sqrt(math.prod(lattice.shape)) / self._per_record(lattice)

    def _lattice(self, curator: Curator) -> KernelLattice:
        box = Box.of(curator.schema)
        steps = _STEPS[box.dimension] if self.steps is None else self.steps
        bandwidth = _STEPS_OF_BANDWIDTH / steps if self.bandwidth is None else self.bandwidth
        return KernelLattice(box, (steps,) * box.dimension, bandwidth)


@dataclass(frozen=True)
class Tree(PointReference):
    """The measure tree, which adapts its cells to the records: the reference that measures best.

    Args:
        shares: of the reference's budget, as `MeasureTree` has them.
        cell_records: how many records a last cell should hold, in units of the scale of the noise in its count.
    """

    name: ClassVar[str] = "tree"

    shares: tuple[float, float, float] = (0.01, 0.16, 0.16)
    cell_records: float = 2.5

    def total_deviation(self, asking: Asking) -> float:
        counts, box = TreeCounts(self.shares, self.cell_records), Box.of(asking.curator.schema)
        return counts.total_deviation(asking.account, box, counts.noises(asking.cost, counted=False))

    def estimate(self, asking: Asking) -> Density:
        curator = asking.curator
        public = curator.row_count_is_public
        counts, box = TreeCounts(self.shares, self.cell_records), Box.of(curator.schema)
        tree = counts.measure(
            asking.account,
            box,
            counts.noises(asking.cost, counted=public),
            epsilon=asking.cost,
            public_total=float(curator.public_row_count()) if public else None,
            progress=asking.progress,
        )
        error, parameters = self.total_deviation(asking), {"leaves": len(tree.leaves.weights)}
        return Density(tree.draw, total=max(tree.total, 1.0), total_error=error, parameters=parameters)

    def describe(self) -> dict[str, Any]:
        return {"reference": self.name, "shares": list(self.shares), "cell_records": self.cell_records}
