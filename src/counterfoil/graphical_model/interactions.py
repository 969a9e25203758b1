"""Tables as sums of interactions, each estimated once from all noisy marginals that contain it.

Every table on a clique is, in one way only, a sum over subsets A of the clique of tables on A whose sums
along each axis vanish (the analysis of variance with uniform weights). Two overlapping marginals measure
their common interactions twice; because the parts are orthogonal, the least-squares fit to all marginals
splits into one weighted fit for each interaction (the decomposition of Xiao et al., "An optimal and scalable
matrix mechanism for noisy marginals under convex loss functions", 2023). Fitting interactions instead of
marginals removes the directions in which potentials of overlapping cliques cancel, which is what makes the
fit of a graphical model slow.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain

Vector = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class _Relations:
    """For each pair (subset, superset) of cliques, where each cell of the superset falls in the subset."""

    small: Integers
    big: Integers
    begins: Integers
    cells: NDArray[np.int32]


class Interactions:
    """All interactions among `cliques`: the non-empty subsets of each, in one vector.

    `subsets` lists them, smaller before larger; the table of `subsets[i]` is `vector[starts[i]:starts[i+1]]` in
    C order. `maximal` are the subsets contained in no other; each subset has one of them for its home.
    """

    def __init__(self, domain: Domain, cliques: Iterable[Clique]) -> None:
        closure = {
            part
            for clique in {domain.canonical(clique) for clique in cliques}
            for size in range(1, len(clique) + 1)
            for part in itertools.combinations(clique, size)
        }
        self.domain = domain
        self.subsets = sorted(closure, key=lambda part: (len(part), domain.axes(part)))
        self.index = {part: i for i, part in enumerate(self.subsets)}
        self.shapes = [domain.shape(part) for part in self.subsets]
        self.starts = np.cumsum([0, *(math.prod(shape) for shape in self.shapes)])
        supersets = self._supersets()
        self.maximal = [i for i, above in enumerate(supersets) if not above]
        maximal = set(self.maximal)
        homes = [next((j for j in above if j in maximal), i) for i, above in enumerate(supersets)]
        self._homes = self._relate([(i, home) for i, home in enumerate(homes) if i != home])
        self._all = self._relate([(i, j) for i, above in enumerate(supersets) for j in above])
        self._shape_starts = np.cumsum([0, *map(len, self.shapes)])
        self._flat_shapes = np.array([size for shape in self.shapes for size in shape], dtype=np.int64)

    def _supersets(self) -> list[list[int]]:
        """For each subset the larger ones that contain it, in order."""
        supersets: list[list[int]] = [[] for _ in self.subsets]
        for j, clique in enumerate(self.subsets):
            for size in range(1, len(clique)):
                for part in itertools.combinations(clique, size):
                    supersets[self.index[part]].append(j)
        return supersets

    def _relate(self, pairs: Sequence[tuple[int, int]]) -> _Relations:
        maps = [_cell_map(self.subsets[i], self.subsets[j], self.shapes[j]) for i, j in pairs]
        return _Relations(
            np.array([i for i, _ in pairs], dtype=np.int64),
            np.array([j for _, j in pairs], dtype=np.int64),
            np.cumsum([0, *map(len, maps)]),
            np.concatenate([np.zeros(0, dtype=np.int32), *maps]),
        )

    def table(self, vector: Vector, i: int) -> Vector:
        """A view of the table of `subsets[i]`."""
        return vector[self.starts[i] : self.starts[i + 1]].reshape(self.shapes[i])

    def per_cell(self, values: Vector) -> Vector:
        """A vector that repeats one value for all cells of each subset."""
        return np.repeat(values, np.diff(self.starts))

    def potentials(self, vector: Vector) -> list[Vector]:
        """For each maximal subset, the sum of the interactions at home there."""
        total = vector.copy()
        _lift(total, self.starts, self._homes.small, self._homes.big, self._homes.begins, self._homes.cells)
        return [self.table(total, i) for i in self.maximal]

    def from_marginals(self, marginals: Sequence[Vector]) -> Vector:
        """Interactions (sums over the absent axes, then centered) of marginals on the maximal subsets."""
        vector = self.sums(marginals)
        _center(vector, self.starts, self._shape_starts, self._flat_shapes)
        return vector

    def of_table(self, clique: Clique, table: Vector) -> dict[int, Vector]:
        """Interactions of one table: for each subset of `clique`, sums over the absent axes, centered."""
        interactions = {}
        for size in range(1, len(clique) + 1):
            for part in itertools.combinations(clique, size):
                absent = tuple(axis for axis, name in enumerate(clique) if name not in part)
                inner = table.sum(axis=absent)
                for axis in range(inner.ndim):
                    inner = inner - inner.mean(axis=axis, keepdims=True)
                interactions[self.index[part]] = inner
        return interactions

    def of_potentials(self, potentials: Mapping[Clique, Vector]) -> Vector:
        """Interactions of a sum of tables, so that lifting and adding them gives it back, up to a constant.

        Infinite entries count as 0; what concerns subsets unknown here is left out.
        """
        vector = np.zeros(self.starts[-1])
        for clique, table in potentials.items():
            known = tuple(name for name in clique if (name,) in self.index)
            absent = tuple(axis for axis, name in enumerate(clique) if (name,) not in self.index)
            table = np.where(np.isfinite(table), table, 0.0).mean(axis=absent)
            for size in range(1, len(known) + 1):
                for part in itertools.combinations(known, size):
                    if part not in self.index:
                        continue
                    inner = table.mean(axis=tuple(a for a, name in enumerate(known) if name not in part))
                    for axis in range(inner.ndim):
                        inner = inner - inner.mean(axis=axis, keepdims=True)
                    self.table(vector, self.index[part])[...] += inner
        return vector

    def sums(self, marginals: Sequence[Vector]) -> Vector:
        """Marginals on all subsets, from those on the maximal ones."""
        vector = np.zeros(self.starts[-1])
        for i, marginal in zip(self.maximal, marginals, strict=True):
            self.table(vector, i)[...] = marginal
        r = self._homes
        _sum_down(vector, self.starts, r.small, r.big, r.begins, r.cells)
        return vector

    def preconditioner(
        self, margins: Mapping[str, Vector], marginals: Sequence[Vector], ridge: Vector
    ) -> "Preconditioner":
        """An approximate inverse of (covariance of the interactions + diag(ridge)).

        Args:
            margins: positive distributions of single attributes, near the model's.
            marginals: the model's, on the maximal subsets.
            ridge: positive.
        """
        return Preconditioner(self, margins, self.sums(marginals), ridge)


class Preconditioner:
    """Inverse curvature of the dual, as it would be if attributes were independent with the given one-way `margins`,
    but for cells that hold more.

    Under independence, functions on different subsets that have mean zero along each axis are uncorrelated,
    and a function on A has variance sum p_A f^2. So: express the gradient in functions centered with respect
    to `margins`, divide by p_A + ridge, and return to uniformly centered interactions; symmetric and positive.
    Where the model has more in a cell than independence, that is p_A there: too small a curvature makes steps that
    are too long, which costs more than steps that are too short (measured: a quarter to a third of all evaluations).
    """

    def __init__(
        self, interactions: Interactions, margins: Mapping[str, Vector], marginals: Vector, ridge: Vector
    ) -> None:
        self._interactions = interactions
        curvature = np.empty_like(ridge)
        for i, part in enumerate(interactions.subsets):
            product = np.ones(())
            for name in part:
                product = np.multiply.outer(product, margins[name])
            interactions.table(curvature, i)[...] = product
        self._inverse = 1.0 / (np.maximum(curvature, marginals) + ridge)
        self._weights = np.concatenate(
            [np.zeros(0), *(margins[name] for part in interactions.subsets for name in part)]
        )

    def __call__(self, gradient: Vector) -> Vector:
        """The preconditioner times a vector of interactions."""
        x = self._interactions
        r = x._all
        work = gradient.copy()
        _lift_mean(work, gradient, x.starts, r.small, r.big, r.begins, r.cells)
        _scale(work, self._inverse, self._weights, x.starts, x._shape_starts, x._flat_shapes)
        out = work.copy()
        _sum_down_mean(out, work, x.starts, r.small, r.big, r.begins, r.cells)
        _center(out, x.starts, x._shape_starts, x._flat_shapes)
        return out


def _cell_map(part: Clique, clique: Clique, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """For each cell of a table on `clique` (C order), the cell of the table on `part` it falls in."""
    present = [size if name in part else 1 for name, size in zip(clique, shape, strict=True)]
    cells = np.arange(math.prod(present), dtype=np.int32).reshape(present)
    return np.broadcast_to(cells, shape).ravel()


@compiled
def _lift(v, starts, small, big, begins, cells):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """v[big] += v[small], spread over the axes absent from small."""
    for r in range(len(small)):
        a, b, first = starts[small[r]], starts[big[r]], begins[r]
        for i in range(begins[r + 1] - first):
            v[b + i] += v[a + cells[first + i]]


@compiled
def _sum_down(v, starts, small, big, begins, cells):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """v[small] += v[big] summed over the axes absent from small."""
    for r in range(len(small)):
        a, b, first = starts[small[r]], starts[big[r]], begins[r]
        for i in range(begins[r + 1] - first):
            v[a + cells[first + i]] += v[b + i]


@compiled
def _lift_mean(out, v, starts, small, big, begins, cells):  # type: ignore[no-untyped-def]  # pragma: no cover
    """out[big] += v[small] * (cells of small / cells of big), spread."""
    for r in range(len(small)):
        a, b, first = starts[small[r]], starts[big[r]], begins[r]
        ratio = (starts[small[r] + 1] - a) / (starts[big[r] + 1] - b)
        for i in range(begins[r + 1] - first):
            out[b + i] += ratio * v[a + cells[first + i]]


@compiled
def _sum_down_mean(out, v, starts, small, big, begins, cells):  # type: ignore[no-untyped-def]  # pragma: no cover
    """out[small] += mean of v[big] over the axes absent from small."""
    for r in range(len(small)):
        a, b, first = starts[small[r]], starts[big[r]], begins[r]
        ratio = (starts[small[r] + 1] - a) / (starts[big[r] + 1] - b)
        for i in range(begins[r + 1] - first):
            out[a + cells[first + i]] += ratio * v[b + i]


@compiled
def _center(v, starts, shape_starts, shapes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Subtract from every table its mean along each axis in turn."""
    for t in range(len(starts) - 1):
        cells = starts[t + 1] - starts[t]
        outer = 1
        for s in range(shape_starts[t], shape_starts[t + 1]):
            size = shapes[s]
            inner = cells // (outer * size)
            for o in range(outer):
                base = starts[t] + o * size * inner
                for i in range(inner):
                    mean = 0.0
                    for k in range(size):
                        mean += v[base + k * inner + i]
                    mean /= size
                    for k in range(size):
                        v[base + k * inner + i] -= mean
            outer *= size


@compiled
def _scale(v, inverse, weights, starts, shape_starts, shapes):  # type: ignore[no-untyped-def]  # pragma: no cover
    """v = W D W' v, with W the centering with respect to the margins and D = diag(inverse)."""
    firsts = np.zeros(len(shapes) + 1, dtype=np.int64)
    for s in range(len(shapes)):
        firsts[s + 1] = firsts[s] + shapes[s]
    for t in range(len(starts) - 1):
        begin, end = starts[t], starts[t + 1]
        cells = end - begin
        for transposed in (True, False):
            outer = 1
            for s in range(shape_starts[t], shape_starts[t + 1]):
                size = shapes[s]
                inner = cells // (outer * size)
                w = weights[firsts[s] : firsts[s + 1]]
                for o in range(outer):
                    base = begin + o * size * inner
                    for i in range(inner):
                        total = 0.0
                        if transposed:
                            for k in range(size):
                                total += v[base + k * inner + i]
                            for k in range(size):
                                v[base + k * inner + i] -= w[k] * total
                        else:
                            for k in range(size):
                                total += w[k] * v[base + k * inner + i]
                            for k in range(size):
                                v[base + k * inner + i] -= total
                outer *= size
            if transposed:
                for i in range(begin, end):
                    v[i] *= inverse[i]
