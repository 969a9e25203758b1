"""First and second moments of a table: sums of features, and of products of features of two columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.features.active_features import ActiveFeatures
from counterfoil.features.feature_map import UNIT
from counterfoil.features.function_family import FunctionFamily, require_few
from counterfoil.schema import Schema

if TYPE_CHECKING:
    from scipy import sparse

_ROWS = 1 << 14


@dataclass(frozen=True)
class Moments(FunctionFamily):
    """Moments of the features of `ActiveFeatures`: scaled numbers in [-1, 1], and indicators.

    Order 1 holds each feature. Order 2 also holds the product of each feature with each one of another column, and the
    square of each scaled number; the square of an indicator is itself, and the product of two of one column is 0. Whole
    numbers are in units of UNIT**order. With `counted`, the first function is the constant 1.

    Formal guarantee: let a record have, for each of the c columns, a vector z_u of features of which one is not zero,
    abs(entry) <= 1, and let z_0 = 1 be the constant, so that there are A = c + 1 units with norms at most 1; d of the
    columns are ordered. Sensitivities are in units of UNIT**order.

    *Order 1.* Adding a record moves each z_u by at most 1 in either norm: l1 c, l2 sqrt(c); and 1 more (l1), or 1
    more under the root, with `counted`. Replacing it moves z_u by at most 2 in l1. In l2 by at most 2 for an ordered
    column and sqrt(2) for another, whose two vectors are unit vectors with disjoint support. The count does not move.
    All are attained.

    *Order 2, adding.* The products of two units, z_u z_v^T for u < v, have norms at most 1 in either norm, and the
    squares at most 1: l1 c (c + 1) / 2 + d, which counts the products with the constant, and l2 its root; the count
    adds 1 to the l1 norm, and 1 under the root. Attained where all numbers are at their bounds.

    *Order 2, replacing, l2.* Let z and z' be the two records with all units laid side by side, s = z . z', w =
    norm(z_u)^2 for each unit, a = sum w = norm(z)^2, and likewise w', a'. The sum over all ordered pairs of units of
    norm(z_u z_v^T - z'_u z'_v^T)^2 is a^2 + a'^2 - 2 s^2, each pair u < v counts half of it, and of the pair (u, u)
    the answer holds only the square x^2 of an ordered column: with e_u = norm(z_u z_u^T - z'_u z'_u^T)^2 the change
    is (a^2 + a'^2 - 2 s^2 - sum e_u) / 2 + sum (x^2 - x'^2)^2. As e_u >= (x^2 - x'^2)^2 = (w_u - w'_u)^2 where both
    values are there; where one is missing its indicator is 1, e_u = x^4 + 1 and the square changes by x^4 <= e_u / 2.
    So the change is at most (a^2 + a'^2 + sum (w_u - w'_u)^2) / 2 over units w_u in [0, 1], with w = 1 but for
    present numbers. That is convex in (w, w'), hence largest where each is 0 or 1: with t and t' zeros it is at most
    ((A - t)^2 + (A - t')^2 + t + t') / 2, which is largest at t = t' = 0, because (A - t)^2 + t is convex in t <= A -
    1 and at t = A - 1 equals A <= A^2. So the l2 sensitivity is at most A, attained for an even number A of ordered
    columns and constant by opposite signs in half of them.

    *Order 2, replacing, l1.* Each pair of units changes by at most 2, a square by at most 1. Among the m = 1 + the
    columns that are ordered and never missing, the sum over pairs of abs(z_u z_v - z'_u z'_v) is convex in each
    coordinate, hence largest at +-1, where it is 2 k (m - k) for the number k of coordinates whose signs differ: at
    most floor(m^2 / 2). In all floor(m^2 / 2) + 2 (A (A - 1) / 2 - m (m - 1) / 2) + d.

    Args:
        schema: the public facts.
        order: 1 or 2.
        counted: whether the number of records is asked for too, as it must be where it is not public.

    Raises:
        ValueError: for another order, or too many functions.
    """

    kind: ClassVar[str] = "moments"

    schema: Schema
    order: int
    counted: bool

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        super().check()
        if self.order not in (1, 2) or isinstance(self.order, bool):
            raise ValueError(f"Moments have `order` 1 or 2. Found {self.order!r}.")
        sizes = self.features.sizes
        pairs = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2 if self.order == 2 else 0
        require_few(sum(sizes) + pairs)

    @cached_property
    def features(self) -> ActiveFeatures:
        """The features."""
        return ActiveFeatures(self.schema)

    @cached_property
    def names(self) -> tuple[str, ...]:
        blocks = [*(self.features.names[u] for (u,) in self._blocks_of(1))]
        for u, v in self._blocks_of(2):
            ones, others = self.features.names[u], self.features.names[v]
            blocks.append((f"{ones[0]} * {ones[0]}",) if u == v else tuple(f"{a} * {b}" for a in ones for b in others))
        return (*(["1"] if self.counted else []), *itertools.chain.from_iterable(blocks))

    @property
    def codes(self) -> tuple[str, ...]:
        return self.features.codes

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.features.numbers

    @property
    def offsets(self) -> np.ndarray:
        return np.zeros(self.size)

    @property
    def slopes(self) -> np.ndarray:
        return np.full(self.size, 1 / self.unit)

    @property
    def unit(self) -> int:
        """The whole number that stands for 1."""
        return UNIT**self.order

    @cached_property
    def size(self) -> int:
        """K."""
        return self._starts[-1]

    def place(self, *features: tuple[int, int]) -> int:
        """The index of the product of one or two features, each given as (column, feature of that column).

        Raises:
            KeyError: for a product that is not among the functions: of two features of one column but for squares of
                numbers, or of order 2 where `order` is 1.
        """
        (u, i), *rest = sorted(features)
        if not rest:
            return self._start[(u,)] + i
        ((v, j),) = rest
        if u == v and (i or j):
            raise KeyError(features)
        return self._start[u, v] + i * (self.features.sizes[v] if u != v else 1) + j

    def matrix(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> sparse.csr_array:
        from scipy import sparse

        places, values = [], []
        for where, value in self._active(rows, codes, numbers):
            places.append(where)
            values.append(value)
        columns = np.tile(np.arange(rows), len(places))
        entries = (np.concatenate(values), (np.concatenate(places), columns))
        return sparse.csr_array(entries, shape=(self.size, rows))

    def sums(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Exact: sums of up to 2**14 rows of whole numbers up to 2**24 stay below 2**53."""
        total = np.zeros(self.size, dtype=np.int64)
        for start in range(0, rows, _ROWS):
            part = slice(start, min(start + _ROWS, rows))
            block = (
                part.stop - part.start,
                {name: codes[name][part] for name in self.codes},
                {name: numbers[name][part] for name in self.numbers},
            )
            for key, (where, value) in zip(self._start, self._active(*block), strict=True):
                low, size = self._start[key], self._sizes[key]
                total[low : low + size] += np.bincount(where - low, weights=value, minlength=size).astype(np.int64)
        return total

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return moments_l1(self.describe(), 1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        c, d = len(self.features.columns), len(self.numbers)
        if relation is NeighboringRelation.ADD_OR_REMOVE_ONE:
            squared = c if self.order == 1 else c * (c + 1) / 2 + d
            return self.unit * math.sqrt(squared + self.counted)
        return self.unit * (math.sqrt(2 * c + 2 * d) if self.order == 1 else c + 1)

    def describe(self) -> dict[str, Any]:
        ordered = [column for column in self.features.columns if column.is_ordered]
        return {
            "family": self.kind,
            "order": self.order,
            "counted": self.counted,
            "functions": self.size,
            "columns": len(self.features.columns),
            "ordered": len(ordered),
            "never_missing": sum(not column.missing for column in ordered),
            "unit": self.unit,
        }

    def _blocks_of(self, order: int) -> Iterator[tuple[int, ...]]:
        """The columns of each block of functions: (u,) for features, (u, v) for products, (u, u) for squares."""
        columns = range(len(self.features.columns))
        if order == 1:
            yield from ((u,) for u in columns)
        elif self.order == 2:
            for u in columns:
                if self.features.columns[u].is_ordered:
                    yield u, u
                yield from ((u, v) for v in columns[u + 1 :])

    @cached_property
    def _sizes(self) -> dict[tuple[int, ...], int]:
        sizes = self.features.sizes
        found: dict[tuple[int, ...], int] = {(): 1} if self.counted else {}
        found |= {block: sizes[block[0]] for block in self._blocks_of(1)}
        found |= {(u, v): 1 if u == v else sizes[u] * sizes[v] for u, v in self._blocks_of(2)}
        return found

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return (0, *(int(end) for end in np.cumsum(list(self._sizes.values()))))

    @cached_property
    def _start(self) -> dict[tuple[int, ...], int]:
        return dict(zip(self._sizes, self._starts, strict=False))

    def _active(
        self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each block, the one function of each row that need not be 0, and its whole number: [rows] each."""
        active, lift = self.features.of(codes, numbers), UNIT ** (self.order - 1)
        for block, start in self._start.items():
            if not block:
                yield np.full(rows, start), np.full(rows, float(self.unit))
                continue
            where, value = active[block[0]]
            if len(block) == 1:
                yield start + where, value * lift
                continue
            if block[0] == block[1]:
                yield np.full(rows, start), np.where(where == 0, value * value, 0.0)
                continue
            other, factor = active[block[1]]
            yield start + where * self.features.sizes[block[1]] + other, value * factor


def moments_l1(described: Mapping[str, Any], moved: float) -> float:
    """The l1 sensitivity of moments from what `Moments.describe` gave; `moved` is 1 for adding and 2 for replacing."""
    c, d, unit = int(described["columns"]), int(described["ordered"]), float(described["unit"])
    counted, first = bool(described["counted"]), int(described["order"]) == 1
    if moved == 1:
        return unit * ((c if first else c * (c + 1) // 2 + d) + counted)
    if first:
        return unit * 2 * c
    m = 1 + int(described["never_missing"])
    return unit * (m * m // 2 + 2 * ((c + 1) * c // 2 - m * (m - 1) // 2) + d)
