"""Drawn rows exchange parts, so that pairs of columns that no clique holds come nearer to the model's counts.

Rows that are drawn column after column hold the counts of the junction tree's cliques within rounding. Counts of two
columns that are in no clique together vary as those of random rows do, which for some thousand rows is as much as what
the noise of a generous budget leaves. Where two rows agree on a separator S, they may exchange all on one side of
it: each clique lies within one side and S, so that no count of a clique changes, and the two rows that come out are as
probable, together, as the two that went in. Of such exchanges those are made that bring the counts of pairs across S
nearer to what the model expects.

A cell in which less than one row is expected does not count. It would be the same rare cells that are left empty each
time; as it is, how many rows such a cell has stays random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.junction_tree import JunctionTree
from counterfoil.graphical_model.sampling import Codes

Table = NDArray[np.float64]

MOST_ROWS = 1 << 17
"""More rows are near enough as they are drawn: what an exchange could mend falls with the root of their number."""

_MOST_PAIRS, _MOST_CELLS, _MOST_OF_PAIR = 2_000, 1 << 21, 10_000
"""Pairs whose expected counts are computed, their cells in all, and the most cells of one of them."""

_MOST_TREE_CELLS = 12_000_000
"""Of a model of more cells, the counts of pairs take longer than the exchanges are worth."""

_PROPOSALS, _FEWEST_PROPOSALS, _WORK = 4.0, 0.25, 300_000_000
"""Exchanges that are looked at for each row and separator, where few separators or rows leave time for as many; the
least that is worth the trouble; and how many pairs of cells are looked at in all, which takes about a second."""


@dataclass(frozen=True, eq=False)
class _Separation:
    """A separator with the two sides that it keeps apart: axes of the domain."""

    separator: tuple[int, ...]
    inside: tuple[int, ...]
    outside: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Swapping:
    """What exchanges need to know of a model.

    Args:
        domain: the columns.
        separations: of its junction tree.
        shares: by axes of pairs that no clique holds, in both orders, float64 [sizes]: their probabilities.
    """

    domain: Domain
    separations: tuple[_Separation, ...]
    shares: Mapping[tuple[int, int], Table]

    @staticmethod
    def of(
        domain: Domain, tree: JunctionTree, marginals: Callable[[Sequence[Clique]], Mapping[Clique, Table]]
    ) -> Swapping | None:
        """Of a model with that junction tree; None where nothing can be exchanged, or it would take too long.

        Args:
            domain: the columns.
            tree: of the model.
            marginals: expected counts of pairs.
        """
        names = domain.attributes
        together = {pair for clique in tree.cliques for pair in combinations(sorted(domain.axes(clique)), 2)}
        apart = (
            (a, b)
            for a, b in combinations(range(len(names)), 2)
            if domain.sizes[a] * domain.sizes[b] <= _MOST_OF_PAIR and (a, b) not in together
        )
        pairs = list(islice(apart, _MOST_PAIRS + 1))  # of a thousand columns half a million
        cells = sum(domain.sizes[a] * domain.sizes[b] for a, b in pairs)
        if not pairs or len(pairs) > _MOST_PAIRS or cells > _MOST_CELLS or tree.cells > _MOST_TREE_CELLS:
            return None
        counts = marginals([(names[a], names[b]) for a, b in pairs])
        shares: dict[tuple[int, int], Table] = {}
        for a, b in pairs:
            table = counts[names[a], names[b]]
            shares[a, b] = table / table.sum()
            shares[b, a] = np.ascontiguousarray(shares[a, b].T)
        return Swapping(domain, _separations(domain, tree), shares)

    def swapped(self, rows: Codes, rng: np.random.Generator) -> Codes:
        """The rows after exchanges, int32 [n, attributes]; the counts of each clique are those of `rows`.

        Args:
            rows: drawn from the model.
            rng: of the exchanges that are tried.
        """
        work = len(rows) * sum(len(one.inside) * len(one.outside) for one in self.separations)
        proposals = min(_PROPOSALS, _WORK / max(work, 1))
        if len(rows) > MOST_ROWS or proposals < _FEWEST_PROPOSALS:
            return rows
        made = np.ascontiguousarray(rows)
        made = made.copy() if made is rows else made
        for one in self.separations:
            self._exchange(made, one, proposals, rng)
        return np.asfortranarray(made)

    def _exchange(self, rows: Codes, one: _Separation, proposals: float, rng: np.random.Generator) -> None:
        """Exchanges what lies inside, in place."""
        starts = np.full((len(one.inside), len(one.outside)), -1, dtype=np.int64)
        counts, expected, at = [], [], 0
        for i, a in enumerate(one.inside):
            for j, b in enumerate(one.outside):
                if (a, b) not in self.shares:
                    continue
                wanted = len(rows) * self.shares[a, b].ravel()
                cells = rows[:, a].astype(np.int64) * self.domain.sizes[b] + rows[:, b]
                counts.append(np.bincount(cells, minlength=len(wanted)))
                expected.append(np.where(wanted >= 1, wanted, -1.0))
                starts[i, j], at = at, at + len(wanted)
        if counts:
            _exchange_where_nearer(
                rows,
                *_partners(rows[:, one.separator], proposals, rng),
                np.array(one.inside),
                np.array(one.outside),
                starts,
                np.array(self.domain.sizes),
                np.concatenate(counts),
                np.concatenate(expected),
            )


def _separations(domain: Domain, tree: JunctionTree) -> tuple[_Separation, ...]:
    """One for each edge of the tree, and for each component of a forest."""
    below = [set(domain.axes(clique)) for clique in tree.cliques]
    found = []
    for place, parent in enumerate(tree.parents):  # a parent comes after its children
        separator = set(domain.axes(tree.separators[place]))
        inside = below[place] - separator
        outside = set(range(len(domain.attributes))) - inside - separator
        if inside and outside:
            found.append(_Separation(tuple(sorted(separator)), tuple(sorted(inside)), tuple(sorted(outside))))
        if parent >= 0:
            below[parent] |= below[place]
    return tuple(found)


def _partners(
    separators: Codes, proposals: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two rows for each exchange that is tried, which agree on the separator.

    Args:
        separators: the separator's codes [n, k].
        proposals: how often each row is tried, on average.
        rng: of the partners.
    """
    n = len(separators)
    if separators.shape[1]:
        keys = np.unique(separators, axis=0, return_inverse=True)[1].reshape(-1)
    else:
        keys = np.zeros(n, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    sizes = np.bincount(keys)
    first_of = np.cumsum(sizes) - sizes
    tried = np.tile(np.arange(n), math.ceil(proposals))
    if proposals < len(tried) / max(n, 1):
        tried = tried[rng.random(len(tried)) < proposals * n / len(tried)]
    group = keys[order[tried]]
    others = first_of[group] + (rng.random(len(tried)) * sizes[group]).astype(np.int64)
    return order[tried], order[others]


@compiled
def _exchange_where_nearer(
    rows: Codes,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    inside: NDArray[np.int64],
    outside: NDArray[np.int64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    counts: NDArray[np.int64],
    expected: NDArray[np.float64],
) -> None:  # pragma: no cover - compiled
    """Exchanges `inside` of rows first[t] and second[t] where the counts across come nearer to `expected`, in L1.

    The table of inside[p] and outside[q] begins at starts[p, q] in `counts` and `expected`, or nowhere where that is
    negative; cells that do not count have a negative expectation.
    """
    for t in range(len(first)):
        i, j = first[t], second[t]
        if i == j:
            continue
        change = 0.0
        for p in range(len(inside)):
            a, b = rows[i, inside[p]], rows[j, inside[p]]
            if a == b:
                continue
            for q in range(len(outside)):
                start, width = starts[p, q], sizes[outside[q]]
                c, d = rows[i, outside[q]], rows[j, outside[q]]
                if start < 0 or c == d:
                    continue
                for cell, step in (
                    (start + a * width + c, -1),
                    (start + b * width + d, -1),
                    (start + a * width + d, 1),
                    (start + b * width + c, 1),
                ):
                    if expected[cell] >= 0:
                        off = counts[cell] - expected[cell]
                        change += abs(off + step) - abs(off)
        if change >= -1e-9:
            continue
        for p in range(len(inside)):
            a, b = rows[i, inside[p]], rows[j, inside[p]]
            for q in range(len(outside)):
                start, width = starts[p, q], sizes[outside[q]]
                if start >= 0:
                    c, d = rows[i, outside[q]], rows[j, outside[q]]
                    counts[start + a * width + c] -= 1
                    counts[start + b * width + d] -= 1
                    counts[start + a * width + d] += 1
                    counts[start + b * width + c] += 1
            rows[i, inside[p]], rows[j, inside[p]] = b, a
