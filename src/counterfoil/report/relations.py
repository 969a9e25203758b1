"""How strongly pairs of columns are related in a release, and which of it the noise alone could make."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.error_bars import MeasuredBound
from counterfoil.graphical_model.graphical_model import MANY_PAIRS, GraphicalModel
from counterfoil.marginals.no_relations import independence, real_pairs
from counterfoil.receipt.relations_kept import noisy_looks
from counterfoil.report.release import ReleaseFacts
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis

_AT_ONCE = 20
"""Pairs that are asked for together; more would be planned by compiled code, which takes longer to load."""

_CELLS_AT_ONCE = 1 << 23
"""Of pairs that are asked for together where they are so many that a model computes all at once: 64 MB."""


@dataclass(frozen=True, eq=False)
class Relations:
    """The pairs of columns of a release.

    Args:
        names: the n columns.
        strength: float64 [n, n], Cramer's V of each pair, symmetric, NaN on the diagonal.
        measured: bool [n, n], whether the release counted the pair together.
        off_by: float64 [n, n], the largest share of the real records that may be in other cells than the model says,
            with probability 95% for each pair; NaN where nothing bounds it.
        source: what strengths were computed from, in words.
    """

    names: tuple[str, ...]
    strength: np.ndarray
    measured: np.ndarray
    off_by: np.ndarray
    source: str

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of each pair, the strongest first."""
        first, second = np.triu_indices(len(self.names), 1)
        order = np.argsort(-np.nan_to_num(self.strength[first, second], nan=-1.0), kind="stable")
        return list(zip(first[order].tolist(), second[order].tolist(), strict=True))


@dataclass(frozen=True)
class NoiseTest:
    """Whether the noisy counts of a measured pair show more than noise.

    Args:
        pair: the two columns.
        p_value: the probability that noise and sampling alone give counts as far from independence (`noise_tests`).
        exceeds_noise: whether the relation is more than noise, among all pairs (`no_relations.real_pairs`).
    """

    pair: Clique
    p_value: float
    exceeds_noise: bool


def relations(facts: ReleaseFacts) -> Relations | None:
    """All pairs of synthesized columns; None where there are fewer than two, or no schema is known."""
    if facts.schema is None or len(facts.schema.domain.attributes) < 2:
        return None
    names = facts.schema.domain.attributes
    count = len(names)
    strength, off_by = np.full((2, count, count), np.nan)
    for pair, value in _strengths(facts, names).items():
        strength[pair] = strength[pair[::-1]] = value
    measured = np.zeros((count, count), dtype=bool)
    place = {name: number for number, name in enumerate(names)}
    for clique in _measured_cliques(facts):
        for one, other in itertools.permutations([place[name] for name in clique], 2):
            measured[one, other] = True
    if isinstance(facts.kept, Synthesis):
        bars = facts.kept.error_bars
        for i, j in itertools.combinations(range(count), 2):
            fraction = bars.raised(bars.bar((names[i], names[j]), 0.05)).fraction
            off_by[i, j] = off_by[j, i] = math.nan if fraction >= 2 else fraction / 2
    return Relations(names, strength, measured, off_by, _source(facts))


def _source(facts: ReleaseFacts) -> str:
    if isinstance(facts.kept, Synthesis):
        return "the model that the rows were drawn from"
    if isinstance(facts.kept, PointSynthesis):
        return "the weighted points that the rows were drawn from"
    return "the synthetic rows, corrected for their number, because the model was not kept"


def _measured_cliques(facts: ReleaseFacts) -> set[Clique]:
    looks = noisy_looks(facts.receipt.document)
    tables = [] if facts.counted is None else facts.counted.tables
    known = {table.columns for table in tables if table.source.charge not in looks}
    looked_at = {table.columns for table in tables} - known
    if isinstance(facts.kept, Synthesis):
        bounds = facts.kept.error_bars.bounds
        measured = {clique for clique, own in bounds.items() if any(isinstance(one, MeasuredBound) for one in own)}
        known |= measured - looked_at
    return {clique for clique in known if len(clique) > 1}


def _strengths(facts: ReleaseFacts, names: tuple[str, ...]) -> dict[tuple[int, int], float]:
    pairs = list(itertools.combinations(range(len(names)), 2))
    found: dict[tuple[int, int], float] = {}
    if isinstance(facts.kept, Synthesis):
        model = facts.kept.model
        together = len(pairs) >= MANY_PAIRS or (isinstance(model, GraphicalModel) and model.has_a_small_matrix)
        for part in _parts(pairs, model.domain.sizes, _CELLS_AT_ONCE if together else 0):
            tables = model.marginals([(names[i], names[j]) for i, j in part])
            found |= {(i, j): cramers_v(tables[names[i], names[j]]) for i, j in part}
        return found
    weights, codes = _weighted_codes(facts)
    assert facts.schema is not None
    sizes = [facts.schema.domain[name] for name in names]
    corrected = None if weights is not None else facts.count
    for i, j in pairs:
        cells = codes[names[i]].astype(np.int64) * sizes[j] + codes[names[j]]
        counts = np.bincount(cells, weights=weights, minlength=sizes[i] * sizes[j]).reshape(sizes[i], sizes[j])
        found[i, j] = cramers_v(counts.astype(float), rows=corrected)
    return found


def _parts(pairs: Sequence[tuple[int, int]], sizes: Sequence[int], room: int) -> Iterator[list[tuple[int, int]]]:
    """The pairs, so many at once as their tables have room for their cells; a few where there is none."""
    part, cells = list[tuple[int, int]](), 0
    for i, j in pairs:
        more = sizes[i] * sizes[j]
        if part and (cells + more > room if room else len(part) == _AT_ONCE):
            yield part
            part, cells = [], 0
        part.append((i, j))
        cells += more
    yield part


def _weighted_codes(facts: ReleaseFacts) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
    if not isinstance(facts.kept, PointSynthesis):
        return None, facts.codes
    support = facts.kept.support
    return facts.kept.weights, {
        column.name: column.encode(support.column(column.name)) for column in facts.kept.schema.synthesized
    }


def cramers_v(counts: np.ndarray, *, rows: int | None = None) -> float:
    """Cramer's V of a table of counts [I, J], from 0 for independent columns to 1 where one decides the other.

    Args:
        counts: not negative.
        rows: where the counts are of so many draws, what these add to V on average is taken off (Bergsma 2013).

    Returns:
        NaN where a column has one value alone.
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    high, wide = counts.shape
    if min(high, wide) < 2:
        return math.nan
    shares = counts / counts.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    squared = float(((shares - expected) ** 2 / expected).sum())
    if rows is None:
        return math.sqrt(min(squared / (min(high, wide) - 1), 1.0))
    if rows < 2:
        return math.nan
    left = max(squared - (high - 1) * (wide - 1) / (rows - 1), 0.0)
    smaller = min(size - (size - 1) ** 2 / (rows - 1) for size in (high, wide)) - 1
    return math.sqrt(min(left / smaller, 1.0)) if smaller > 0 else math.nan


def noise_tests(facts: ReleaseFacts) -> list[NoiseTest]:
    """For each pair that was counted together, whether its noisy counts show more than noise around independence.

    See `no_relations.independence`.
    """
    counted = facts.counted
    if facts.answers is None or counted is None:
        return []
    pairs = {pair for table in counted.tables for pair in itertools.combinations(table.columns, 2)}
    domain, p_values = facts.answers.schema.domain, dict[Clique, float]()
    for pair in sorted(pairs, key=domain.axes):
        known = [one for one in counted.pooled(pair) if min(one.counts.shape) > 1]
        if known:
            pooled = max(known, key=lambda one: (one.counts.size, -one.variance))
            p_values[pair] = independence(pooled.counts, pooled.variance, pooled.excess)
    tested = sorted((p_value, pair) for pair, p_value in p_values.items())
    real = {*real_pairs(tested, math.comb(len(domain.attributes), 2))}
    return [NoiseTest(pair, p_value, pair in real) for pair, p_value in p_values.items()]
