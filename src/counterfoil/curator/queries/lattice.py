"""How densely records lie around each point of a lattice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records, require_never_missing
from counterfoil.curator.queries.registry import shipped
from counterfoil.geometry.lattice import KernelLattice
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema


@shipped
@dataclass(frozen=True, eq=False)
class LatticeKernelDensity(CountQuery):
    """The sum over records of a product kernel, at all points of a lattice together, int64 [lattice points].

    Divided by n (unit h sqrt(2 pi))**p it is the kernel density estimate at the lattice points, of which an iterated
    Bernstein polynomial makes a density on the unit cube.

    Formal guarantee: let T_j be the public table of side j, of whole numbers that are not negative. A record has a
    position g_j along each side, which depends on nothing but the record, and adds phi = T_1[g_1] x ... x T_p[g_p] (a
    tensor product of table rows) to the answer. Its norms are products: for q = 1 and 2, norm_q(phi)**q is the product
    over j of sum_l T_j[g_j, l]**q, at most

        S_q**q = prod_j max_g sum_l T_j[g, l]**q,

    a maximum over the rows of p public tables, computed in whole numbers. Adding or removing a record moves the answer
    by S_1 at most in l1 norm, and by S_2 in l2 norm. Both are attained, since every row is the one of some record.
    Replacing phi by phi' moves it by norm_1(phi - phi') <= norm_1(phi) + norm_1(phi') <= 2 S_1; and since the inner
    product of vectors without negative entries is not negative, by the root of norm_2(phi)**2 + norm_2(phi')**2 -
    2 <phi, phi'> <= 2 S_2**2: sqrt(2) S_2 in l2 norm. Both are attained where two largest rows have no lattice point
    in common, and nearly so where two records of the inside are several bandwidths apart.

    All sums are of whole numbers and exact, so that these are the sensitivities of what is computed, for tables of
    at most 2**32 records.

    Where h is far above 1 / k and far below 1, sum_l T_j[g, l] is about unit h k sqrt(2 pi): divided by the factor
    above, a replaced record moves the density by 2 prod_j k_j / n in l1 norm, whatever h is.

    Source: Bojkovic and Loh, Algorithm 3, whose noise has the scale S(F) (k + 1) / epsilon, S(F) = unit**p being the
    most that one lattice value moves. That is not private for p >= 2: the lattice has (k + 1)**p points, and 2 S_1 is
    above S(F) (k + 1), 3.6 times for p = 2, k = 30 and h = 0.1. The scale S(F) (k + 1)**p / epsilon is private and
    larger than needed, as 2 S_1 is far below it for small h.

    Args:
        lattice: the lattice, its kernels, and the box whose coordinates they are on.
    """

    name: ClassVar[str] = "lattice_kernel_density"
    question: ClassVar[str] = "how densely records lie around each point of a lattice, with noise"

    lattice: KernelLattice

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        added = math.prod(int(table.sum(axis=1).max()) for table in self.lattice.tables)
        return float(added if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2 * added)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        added = math.prod(int((table**2).sum(axis=1).max()) for table in self.lattice.tables)
        return math.sqrt(added if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2 * added)

    def require_fits(self, schema: Schema) -> None:
        require_never_missing(schema, self.lattice.box.numbers)

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._sums, (), self.lattice.box.numbers)

    def describe(self) -> dict[str, Any]:
        return self.lattice.describe()

    @staticmethod
    def unit(parameters: Mapping[str, Any]) -> float:
        return float(parameters["unit"]) ** len(parameters["steps"])

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        power, kernel = 1 if norm is Norm.L1 else 2, (float(parameters["bandwidth"]), int(parameters["unit"]))
        largest = math.prod(
            _largest_row(int(k), int(parameters["positions"]), *kernel, power) for k in parameters["steps"]
        )
        return moved * largest if norm is Norm.L1 else math.sqrt(moved * largest)

    def _sums(self, block: Block) -> np.ndarray:
        return self.lattice.sums(self.lattice.box.locate(block.codes, block.numbers))


@lru_cache(maxsize=64)
def _largest_row(k: int, positions: int, bandwidth: float, unit: int, power: int) -> int:
    """The largest sum over l of floor(unit exp(-(x - l / k)**2 / (2 h**2)))**power, x = g / (positions - 1).

    The sums at x and 1 - x are the same: half of the positions are enough.

    Raises:
        ValueError: for numbers of which no lattice is made.
    """
    if not (k >= 1 and positions >= 2 and (k + 1) * positions <= 1 << 24 and bandwidth > 0 and unit >= 1):
        raise ValueError("No lattice has these parameters.")
    points = [step / k for step in range(k + 1)]
    return max(
        sum(math.floor(unit * math.exp(-(((g / (positions - 1) - y) / bandwidth) ** 2) / 2)) ** power for y in points)
        for g in range((positions + 1) // 2)
    )
