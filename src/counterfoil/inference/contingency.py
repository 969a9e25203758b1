"""Whether two columns are independent, by a statistic whose noise is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.chosen_columns import chosen_among
from counterfoil.inference.clamped import bounds_sentences
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Test, Unanswerable
from counterfoil.inference.group_means import total_sentence
from counterfoil.inference.pooled_marginal import PooledMarginal, pooled_marginals
from counterfoil.inference.proportions import require_column
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import alike_sentences, most_related
from counterfoil.inference.unmeasured import never_measured

_MOST_RECORDS = 2**53
_CELLS_AT_ONCE = 4_000_000
_FEWEST_SIMULATIONS = 999
_MOST_SIMULATED_CELLS = 100_000_000


@with_caveats()
def chi2(
    release: Any, one: str, other: str, *, seed: int = 0, simulations: int | None = None, level: float = 0.95
) -> Test:
    """A test that two columns are independent in the population, by noisy counts of both together.

    With counts c whose noise has the variance v in each cell, E the product of their margins over their sum, the
    statistic is the sum over cells of (c - E)**2 / (E + v). Its law where the columns are independent is simulated: as
    many records as are estimated, in cells with the product of the estimated margins, plus noise of the recorded law;
    the margins of each simulated table are estimated anew. Where up to K records of a privacy unit were used, they are
    simulated K at a time in one cell: no relation of such records gives counts a larger covariance. The p-value is
    (1 + the number of simulated statistics that are at least the observed one) / (1 + simulations).

    Where the release chose by noisy scores which pairs to count, it chose pairs that look dependent in these very
    records: the p-value is then multiplied by the number of pairs that it chose among (Bonferroni), so that one of all
    pairs that are independent is called dependent with at most the probability that the significance level states.

    Pearson's test on synthetic rows, which this replaces, takes noise for dependence and the method's assumptions for
    independence.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        one: a column.
        other: another.
        seed: of the simulations, which are public.
        simulations: how many; as many as the smallest p-value needs where None.
        level: 1 - the significance level that the test's sentence speaks of.

    Raises:
        Unanswerable: where the columns were never counted together, or no record can be told from the noise.
        ValueError: for a level outside (0, 1), fewer than 19 simulations, an unknown column, twice the same one, or
            one of a single value.

    Source: the parametric bootstrap of Gaboardi et al. 2016 (their MCIndep), with weights that count the noise.
    """
    require_level(level)
    if simulations is not None and simulations < 19:
        raise ValueError(f"`simulations` must be at least 19, for a p-value of 0.05. Found {simulations}.")
    evidence = Evidence.of(release)
    if len({require_column(evidence.schema, name) for name in (one, other)}) < 2:
        raise ValueError(f"A test of independence needs two columns. Found {one!r} twice.")
    for name in (one, other):
        if evidence.schema[name].size == 1:
            raise ValueError(
                f"A test of independence needs columns that vary. Column {name!r} has one value, which depends on "
                "nothing: leave it out."
            )
    pooled = _finest(evidence, one, other)
    pairs = chosen_among(evidence.answers, pooled)
    simulations = simulations or _enough_simulations(pairs, level, pooled.counts.size)
    records = pooled.total.value
    if not 1 <= records < _MOST_RECORDS:
        raise Unanswerable(
            "The number of records can't be distinguished from none with this noise: no test is possible."
        )
    counts, variance = pooled.counts, pooled.variance
    related = most_related(evidence.answers.unit)
    statistic, shares = _statistic(counts[None], variance)[0], _null_shares(counts, records)
    simulated = _simulated(pooled, shares, round(records), simulations, np.random.default_rng(seed), related)
    alone = (1 + int((simulated >= statistic).sum())) / (1 + simulations)
    p_value = min(pairs * alone, 1.0)
    noise_share = _noise_share(shares * records, variance, related)
    said = "rejected" if p_value <= 1 - level else "not rejected"
    basis = (
        f"{pooled.sentence[0].upper()}{pooled.sentence[1:]}.",
        total_sentence(pooled.total),
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in bounds_sentences(evidence.schema, (one, other))),
        *alike_sentences(evidence.answers.unit),
        *_choice_sentences(pairs, alone, simulations, 1 - level),
        f"At the significance level {1 - level:.3g} independence is {said}, by {simulations:,} simulated tables.",
    )
    parameters = {"simulations": simulations, "seed": seed, "level": level, "cells": counts.size}
    parameters |= {"chosen_among": pairs, "p_value_alone": alone}
    about = f"{one} and {other} are independent"
    return Test(about, float(statistic), p_value, noise_share, pooled.charges, basis, parameters)


def _enough_simulations(pairs: int, level: float, cells: int) -> int:
    """So many that the smallest p-value is a twentieth of the significance level, as far as time allows."""
    wanted = math.ceil(20 * pairs / (1 - level)) - 1
    return max(min(wanted, _MOST_SIMULATED_CELLS // cells), _FEWEST_SIMULATIONS)


def _choice_sentences(pairs: int, alone: float, simulations: int, significance: float) -> list[str]:
    """What is said where the pair was chosen by its records."""
    if pairs == 1:
        return []
    said = [
        f"The release chose by noisy scores which of {pairs:,} pairs it counted: the p-value of this pair "
        f"alone, {alone:.3g}, is multiplied by their number."
    ]
    if pairs > significance * (1 + simulations):
        said.append("With so few simulations no pair can be called dependent: give more by `simulations`.")
    return said


def _finest(evidence: Evidence, one: str, other: str) -> PooledMarginal:
    """The pooled table with the most cells: by fewer, merged groups a dependence could be lost."""
    known = [pooled for pooled in pooled_marginals(evidence.answers, (one, other)) if min(pooled.counts.shape) > 1]
    if not known:
        raise Unanswerable(never_measured(evidence.answers, evidence.schema.domain.canonical((one, other))))
    return max(known, key=lambda pooled: (pooled.counts.size, -pooled.variance))


def _statistic(tables: np.ndarray, variance: float) -> np.ndarray:
    """float64 [k]: the statistic of each of the tables [k, I, J]."""
    rows, columns = (np.maximum(tables.sum(axis=axis, keepdims=True), 0) for axis in (2, 1))
    expected = rows * columns / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0)
    weights = expected + variance
    squared = (tables - expected) ** 2
    return np.divide(squared, weights, out=np.zeros_like(squared), where=weights > 0).sum(axis=(1, 2))


def _null_shares(counts: np.ndarray, records: float) -> np.ndarray:
    """float64 [I, J]: the probabilities of the cells, were the columns independent with their estimated margins."""
    margins = [_shares(counts.sum(axis=axis), records) for axis in (1, 0)]
    return np.outer(*margins)


def _shares(margin: np.ndarray, records: float) -> np.ndarray:
    """The point of the simplex that is nearest to a noisy margin over the number of records.

    Clipping at 0 and dividing by the sum instead would leave too much on cells that hold little but noise.
    """
    centered = margin / records
    order = np.sort(centered)[::-1]
    excess = (np.cumsum(order) - 1) / np.arange(1, len(order) + 1)
    kept = int(np.flatnonzero(order > excess)[-1])
    shares = np.maximum(centered - excess[kept], 0.0)
    return shares / shares.sum()


def _simulated(
    pooled: PooledMarginal,
    shares: np.ndarray,
    records: int,
    simulations: int,
    rng: np.random.Generator,
    related: int,
) -> np.ndarray:
    """float64 [simulations]: statistics of tables of independent columns with noise as on the receipt.

    Of `related` records at a time, which are the same.
    """
    draws = max(round(records / related), 1)
    at_once, found = max(_CELLS_AT_ONCE // shares.size, 1), []
    for start in range(0, simulations, at_once):
        size = (min(at_once, simulations - start), *shares.shape)
        tables = related * rng.multinomial(draws, shares.ravel(), size=size[0]).reshape(size)
        noisy = tables + sum(noise(rng, size) for noise in _noises(pooled))
        found.append(_statistic(noisy, pooled.variance))
    return np.concatenate(found)


def _noises(pooled: PooledMarginal) -> list[Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]]:
    """For each pooled table, what draws the noise in cells of that shape; rounding to whole numbers is left out."""
    noises: list[Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = []
    for part, weight in pooled.parts:
        summed = part.source.cells / pooled.counts.size
        if part.source.noise == "discrete_laplace":
            noises.append(_laplace(summed, weight * part.source.scale))
        else:
            noises.append(_normal(weight * part.source.scale * math.sqrt(summed)))
    return noises


def _normal(deviation: float) -> Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]:
    return lambda rng, size: rng.normal(0.0, deviation, size)


def _laplace(summed: float, scale: float) -> Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]:
    """The sum of several Laplace variables is the difference of two gamma variables."""
    return lambda rng, size: scale * (rng.gamma(summed, size=size) - rng.gamma(summed, size=size))


def _noise_share(expected: np.ndarray, variance: float, related: int) -> float:
    """The share of noise in the statistic's expectation: v against E (1 - row's share) (1 - column's share)."""
    total = max(float(expected.sum()), 1.0)
    left = np.outer(1 - expected.sum(axis=1) / total, 1 - expected.sum(axis=0) / total)
    shrunk = (1 - 1 / expected.shape[0]) * (1 - 1 / expected.shape[1])
    weights = np.maximum(expected + variance, np.finfo(float).tiny)
    noise, sampling = float((variance * shrunk / weights).sum()), related * float((expected * left / weights).sum())
    return noise / (noise + sampling) if noise + sampling > 0 else 0.0
