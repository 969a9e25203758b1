"""The arithmetic of audits, against exact laws: bounds fail as rarely as they say, runs are as many as it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, chisquare, norm

from audit_tools import (
    FALSE_ALARM,
    epsilon_of_ratios,
    hockey_stick,
    mean_lower_bound,
    runs_needed,
    upper_bound,
)
from counterfoil.accounting.curve import gaussian_delta, gaussian_epsilon
from release_audits import QuickRandomness


def coins(heads: int, runs: int) -> np.ndarray:
    return np.arange(runs) < heads


def ratios_of(mu: float, runs: int) -> np.ndarray:
    """The log-likelihood ratio of telling N(mu, 1) from N(0, 1), at evenly spaced quantiles."""
    return norm.ppf((np.arange(runs) + 0.5) / runs, mu * mu / 2, mu)


def test_none_in_n_has_the_bound_that_everyone_knows():
    assert float(upper_bound(np.array(0), 100)) == pytest.approx(1 - (FALSE_ALARM / 2) ** (1 / 100))


@pytest.mark.parametrize(("runs", "mean"), [(30, 0.02), (200, 0.05), (200, 0.5), (1000, 0.01)])
def test_a_bound_on_a_mean_fails_as_rarely_as_it_says(runs, mean):
    """Over every number of heads; no other law of numbers in [0, 1] is further from its mean."""
    heads = np.arange(runs + 1)
    wrong = np.array([mean_lower_bound(coins(h, runs)) > mean for h in heads])
    failing = binom.pmf(heads, runs, mean)[wrong].sum()
    assert 0 < failing <= FALSE_ALARM / 2


@pytest.mark.parametrize(("delta", "shown"), [(0.001, 0.06), (0.05, 0.3), (0.0, 0.02)])
def test_runs_are_enough_and_not_many_more(delta, shown):
    runs = runs_needed(delta, shown)

    def power(n: int) -> float:
        heads = np.arange(n + 1)
        found = np.array([mean_lower_bound(coins(h, n)) > delta for h in heads])
        return float(binom.pmf(heads, n, shown)[found].sum())

    assert power(runs) >= 0.995
    assert power(runs // 2) < 0.995


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_the_mean_of_hockey_sticks_is_delta(mu):
    for epsilon in (0.0, 0.7, 4.0):
        values = hockey_stick(ratios_of(mu, 400_000), epsilon)
        assert values.min() >= 0
        assert values.max() < 1
        assert values.mean() == pytest.approx(gaussian_delta(epsilon, mu), rel=1e-3, abs=1e-9)


def test_epsilon_of_ratios_is_below_the_truth_and_comes_near():
    truth = gaussian_epsilon(1.0, 0.01)
    bounds = [epsilon_of_ratios(ratios_of(1.0, runs), ratios_of(1.0, runs), 0.01) for runs in (100, 10_000, 1_000_000)]
    assert bounds == sorted(bounds)
    assert truth - 0.05 < bounds[-1] < truth


def test_what_is_lost_one_way_around_is_enough():
    """The second neighbor gives outcomes away that the first never has."""
    surely, never = np.full(100, 5.0), np.full(100, -math.inf)
    for one, other in ((surely, never), (never, surely)):
        assert epsilon_of_ratios(one, other, 0.1) > 4


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.7])
def test_numbers_that_are_drawn_one_by_one_follow_the_discrete_gaussian(scale: float) -> None:
    """Chi-squared: false alarm 1e-6."""
    drawn = QuickRandomness(5).discrete_gaussian(scale, 200_000)
    reach = math.ceil(4 * scale)
    weights = np.exp(-(np.arange(-60, 61) ** 2) / (2 * scale**2))
    shares = (weights / weights.sum())[60 - reach : 61 + reach]
    counts = np.array([(drawn == number).sum() for number in range(-reach, reach + 1)])
    seen, expected = np.append(counts, len(drawn) - counts.sum()), len(drawn) * np.append(shares, 1 - shares.sum())
    assert chisquare(seen, expected).pvalue > 1e-6
