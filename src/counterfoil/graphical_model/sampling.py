"""Drawing rows from a graphical model, column after column, so that marginals hold within rounding.

Algorithms 4 and 5 of Zhou et al. ("Excess risk of marginal-preserving data", Appendix C.1): each new column
is drawn given its neighbors among the columns drawn so far, group by group, and a group of n rows gets
floor(mu_t) rows of value t plus a draw without replacement from the remainders.

Two details are ours. The remainders are drawn by systematic sampling (Madow 1949), so that the expected
count of every value is exactly mu_t (successive draws in proportion to the remainders are biased). And the
random start of each group is stratified over groups of similar neighbors by a fresh random permutation for
each column: the column's own margin varies less, while columns that are independent given their neighbors
stay so.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.elimination import Program
from counterfoil.graphical_model.propagation import Calibration

Codes = NDArray[np.int32]

_STRATUM = 64


def draw_rows(
    domain: Domain,
    program: Program,
    calibration: Calibration,
    *,
    n: int,
    rng: np.random.Generator,
    independent: bool = False,
) -> Codes:
    """Draw `n` rows [n, attributes] of codes, columns in domain order.

    `program` must eliminate the attributes one at a time; `calibration` is its sweep. Rows come in random
    order. With `independent`, rows are independent draws from the model; without, they are rounded by groups.
    """
    rows = np.zeros((n, len(domain.attributes)), dtype=np.int32, order="F")
    for axis in reversed(program.buckets):
        slots = program.buckets[axis]
        tables = [_last(calibration.tables[slot], program.axes[slot], axis) for slot in slots]
        axes = [tuple(x for x in program.axes[slot] if x != axis) for slot in slots]
        neighbors = tuple(sorted({x for some in axes for x in some}))
        order, firsts = _groups(rows, neighbors, domain.sizes, rng, alone=independent)
        leaders = rows[order[firsts[:-1]]]
        bases = np.stack([_offsets(leaders, some, domain.sizes) * domain.sizes[axis] for some in axes])
        bases += np.cumsum([0, *(table.size for table in tables[:-1])])[:, None]
        n_groups = len(firsts) - 1
        starts = rng.random(n_groups) if independent else _stratified(n_groups, rng)
        drawn = _draw_column(
            np.concatenate([table.ravel() for table in tables]),
            bases,
            domain.sizes[axis],
            firsts,
            starts,
            calibration.logarithmic,
        )
        rows[order, axis] = drawn
    return rows


def _last(table: NDArray[np.float64], axes: Sequence[int], axis: int) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.moveaxis(table, axes.index(axis), -1))


def _offsets(rows: Codes, axes: Sequence[int], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Index of each row in a C-ordered table over `axes`."""
    index = np.zeros(len(rows), dtype=np.int64)
    for axis in axes:
        index *= sizes[axis]
        index += rows[:, axis]
    return index


def _groups(
    rows: Codes, neighbors: tuple[int, ...], sizes: Sequence[int], rng: np.random.Generator, *, alone: bool
) -> tuple[NDArray[np.integer], NDArray[np.intp]]:
    """Rows in order of their neighbors' codes (random within a group), and where each group begins."""
    n = len(rows)
    # The permutation that `rng.permutation(n)` gives, in half the memory.
    shuffled: NDArray[np.integer] = np.arange(n).astype(np.int32 if n < 2**31 else np.int64)
    rng.shuffle(shuffled)
    if alone:
        return shuffled, np.arange(n + 1)
    combinations = math.prod(sizes[axis] for axis in neighbors)
    if n and combinations == 1:
        return shuffled, np.array([0, n])
    if n and combinations <= max(4 * n, 1024):
        keys = _offsets(rows, neighbors, sizes).astype(shuffled.dtype)
        order, ends = _ordered_by_key(shuffled, keys, combinations)
        return order, np.concatenate([[0], np.unique(ends[ends > 0])])
    if combinations >= 2**63:
        keys = np.unique(rows[:, neighbors], axis=0, return_inverse=True)[1].reshape(n)[shuffled]
    else:
        keys = _offsets(rows, neighbors, sizes)[shuffled]
    by_key = np.argsort(keys, kind="stable")
    keys = keys[by_key]
    changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    firsts = np.concatenate([[0], changes, [n]]) if n else np.zeros(1, dtype=np.intp)
    return shuffled[by_key], firsts


@compiled
def _ordered_by_key(
    rows: NDArray[np.integer], keys: NDArray[np.integer], size: int
) -> tuple[NDArray[np.integer], NDArray[np.int64]]:  # pragma: no cover - compiled
    """Each row once, by its key below `size` and then as in `rows`; and int64 [size]: where each key ends there.

    It is what a stable `argsort` of keys[rows] gives, by counting.
    """
    ends = np.zeros(size, dtype=np.int64)
    for key in keys:
        ends[key] += 1
    at = 0
    for key in range(size):
        at, ends[key] = at + ends[key], at
    order = np.empty_like(rows)
    for row in rows:
        key = keys[row]
        order[ends[key]] = row
        ends[key] += 1
    return order, ends


def _stratified(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Uniform numbers on [0, 1), one in each of `_STRATUM` equal parts for every `_STRATUM` consecutive ones."""
    blocks = -(-n // _STRATUM)
    ranks = rng.permuted(np.tile(np.arange(_STRATUM), (blocks, 1)), axis=1)
    uniform = (ranks + rng.random(ranks.shape)) / _STRATUM
    return uniform.ravel()[:n]


@compiled
def _draw_column(
    flat: NDArray[np.float64],
    bases: NDArray[np.int64],
    size: int,
    firsts: NDArray[np.int64],
    starts: NDArray[np.float64],
    logarithmic: bool,
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """One column, rows sorted by group: group g's weight of value t is the product of flat[bases[:, g] + t]."""
    out = np.empty(firsts[-1], dtype=np.int32)
    weights = np.empty(size)
    for g in range(len(firsts) - 1):
        if logarithmic:
            weights[:] = 0.0
            for j in range(bases.shape[0]):
                for t in range(size):
                    weights[t] += flat[bases[j, g] + t]
            peak = weights.max()
            for t in range(size):
                weights[t] = math.exp(weights[t] - peak)
        else:
            weights[:] = 1.0
            for j in range(bases.shape[0]):
                for t in range(size):
                    weights[t] *= flat[bases[j, g] + t]
        first, end = firsts[g], firsts[g + 1]
        scale = (end - first) / weights.sum()
        at, last, passed, target = first, 0, 0.0, starts[g]
        for t in range(size):
            if weights[t] <= 0.0:
                continue
            last = t
            mu = weights[t] * scale
            whole = math.floor(mu)
            passed += mu - whole
            if passed > target:
                whole += 1
                target += 1.0
            for _ in range(min(int(whole), end - at)):
                out[at] = t
                at += 1
        # Rounding in the sums can leave the last row of a group without a value.
        while at < end:
            out[at] = last
            at += 1
    return out
