"""A column of very many codes, nearly all of them empty: what its records hold stays, and noise holds little."""

from __future__ import annotations

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.merging import merge_column, merge_rare
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator

RECORDS, DEVIATION = 600.0, 10.0


def noisy(size: int, seed: int) -> NoisyMarginal:
    """300 records of each of the first two codes."""
    counts = np.random.default_rng(seed).normal(0, DEVIATION, size)
    counts[:2] += RECORDS / 2
    return NoisyMarginal(("k",), counts, DEVIATION)


def test_a_fit_ends_when_it_is_near_by_the_number_of_records() -> None:
    """A gap that is small beside a million misfits leaves room for all of 600 records in one code."""
    size = 1_000_000
    estimator = WarmEstimator(Domain(("k",), (size,)), {}, RECORDS)
    fitted = estimator.fit([noisy(size, 7)]).marginal(("k",))
    # The nearest counts that are at least 0 and add up to 600: less a threshold, 0 where nothing is left.
    falling = np.sort(estimator.measurements[0].counts)[::-1]
    thresholds = (np.cumsum(falling) - RECORDS) / np.arange(1, size + 1)
    nearest = np.maximum(falling - thresholds[np.flatnonzero(falling > thresholds)[-1]], 0.0)
    assert np.abs(np.sort(fitted)[-2:] - nearest[1::-1]).max() < 0.05 * RECORDS


def test_noise_makes_few_codes_of_many() -> None:
    """Of 100,000 counts of noise, 135 exceed three deviations; 13 exceed what one does with a chance of 1e-10."""
    size = 100_000
    found = merge_rare(Domain(("k",), (size,)), [noisy(size, 3)], ordered={})
    assert found.domain["k"] <= 2 + 1 + 12
    kept = found.codes["k"][:2]
    assert (found.codes["k"][:, None] == kept).sum(axis=0).tolist() == [1, 1]


def test_what_many_merged_codes_hold_is_what_the_others_leave() -> None:
    """The sum of 10,000 noisy counts would put noise of a thousand records into the code that they become."""
    size = 10_002
    coarsening = Coarsening(Domain(("k",), (size,)), {"k": np.minimum(np.arange(size), 2)})
    counts = noisy(size, 1)
    counts.counts[2:] += 1000 / 10_000  # noise that an unlucky draw adds up to
    merged = merge_column(coarsening, counts, RECORDS)
    assert np.array_equal(merged.counts[:2], counts.counts[:2])
    assert abs(merged.counts[2]) < 5 * DEVIATION
