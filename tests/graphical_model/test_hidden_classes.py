"""Hidden classes: the gradient against differences, planted classes found again, and energies without bias."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from counterfoil.graphical_model.fit_watch import FitWatch
from counterfoil.graphical_model.hidden_classes import _Problem, class_shares, energies, pair_of
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal

SIZES = {"a": 2, "b": 3, "c": 4, "d": 2, "e": 3}
PAIRS = list(combinations(SIZES, 2))
TOTAL = 10_000.0


def planted(seed: int, classes: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.dirichlet(np.ones(size), classes).T for name, size in SIZES.items()}


def noisy(shares: dict[str, np.ndarray], scale: float, seed: int) -> tuple[list[NoisyMarginal], list[NoisyMarginal]]:
    """Columns, whose noise is a tenth of that of pairs, and pairs."""
    rng = np.random.default_rng(seed)
    columns = [
        NoisyMarginal((name,), TOTAL * table.mean(axis=1) + rng.normal(0, scale / 10, len(table)), scale / 10)
        for name, table in shares.items()
    ]
    tables = {pair: pair_of(shares, pair, TOTAL) for pair in PAIRS}
    return columns, [
        NoisyMarginal(pair, table + rng.normal(0, scale, table.shape), scale) for pair, table in tables.items()
    ]


def off(found: dict[str, np.ndarray], shares: dict[str, np.ndarray]) -> float:
    """The mean L1 error of pairs, as a part of all records."""
    errors = [np.abs(pair_of(found, pair, TOTAL) - pair_of(shares, pair, TOTAL)).sum() for pair in PAIRS]
    return float(np.mean(errors)) / TOTAL


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_the_value(seed):
    problem = _Problem.of(*noisy(planted(seed), 50.0, seed), TOTAL)
    rng = np.random.default_rng(seed)
    logs, step = rng.normal(0, 1, (sum(SIZES.values()), 4)), 1e-5
    _, gradient = problem.value_and_gradient(logs)
    for place in rng.integers(0, logs.size, 12):
        moved = np.zeros(logs.size)
        moved[place] = step
        above, _ = problem.value_and_gradient(logs + moved.reshape(logs.shape))
        below, _ = problem.value_and_gradient(logs - moved.reshape(logs.shape))
        assert gradient[place] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-2)


def test_the_value_is_half_of_the_weighted_squares_and_the_prior():
    columns, pairs = noisy(planted(0), 50.0, 0)
    problem = _Problem.of(columns, pairs, TOTAL)
    logs = np.random.default_rng(1).normal(0, 1, (sum(SIZES.values()), 4))
    shares = dict(zip(SIZES, np.split(problem.shares(logs), np.cumsum(list(SIZES.values()))[:-1]), strict=True))
    squares = sum(((pair_of(shares, p.clique, TOTAL) - p.counts) ** 2).sum() / p.scale**2 for p in pairs)
    for one in columns:
        whole = TOTAL * one.counts / one.counts.sum()
        squares += ((TOTAL * shares[one.clique[0]].mean(axis=1) - whole) ** 2).sum() / one.scale**2
    value, _ = problem.value_and_gradient(logs)
    assert value == pytest.approx((squares + (logs**2).sum()) / 2)


@pytest.mark.parametrize("seed", range(4))
def test_planted_classes_are_found_again(seed):
    shares = planted(seed)
    columns, pairs = noisy(shares, 20.0, seed)
    found = class_shares(columns, pairs, TOTAL, 8)
    for name, table in found.items():
        assert table.shape == (SIZES[name], 8)
        np.testing.assert_allclose(table.sum(axis=0), 1.0)
    independent = {name: table.mean(axis=1, keepdims=True) for name, table in shares.items()}
    raw = np.mean([np.abs(p.counts - pair_of(shares, p.clique, TOTAL)).sum() / TOTAL for p in pairs])
    assert off(found, shares) < raw
    assert off(found, shares) < 0.1 * off(independent, shares)


def test_what_noise_hides_leaves_classes_alike_and_the_columns_as_they_are():
    shares = planted(0)
    found = class_shares(*noisy(shares, 1e6, 1), TOTAL, 8)
    columns, _ = noisy(shares, 10.0, 1)
    found = class_shares(columns, noisy(shares, 1e6, 1)[1], TOTAL, 8)
    for one in columns:
        (name,) = one.clique
        np.testing.assert_allclose(found[name].mean(axis=1), one.counts / one.counts.sum(), atol=0.01)
        assert np.ptp(found[name], axis=1).max() < 0.05


def test_the_same_answers_give_the_same_classes():
    given = noisy(planted(0), 50.0, 0)
    one, other = (class_shares(*given, TOTAL, 6) for _ in range(2))
    for name in SIZES:
        np.testing.assert_array_equal(one[name], other[name])


def test_energies_have_no_bias():
    """The mean of 400 sums lies within six of its standard errors: a false alarm has a probability of 2e-9."""
    shares = planted(0)
    exact = {pair: pair_of(shares, pair, TOTAL) for pair in PAIRS}
    expected = {pair: table + 30.0 for pair, table in exact.items()}
    found = [energies(noisy(shares, 50.0, seed)[1], expected).sum() for seed in range(400)]
    true = sum(900.0 * table.size for table in exact.values())
    assert abs(np.mean(found) - true) < 6 * np.std(found) / 20


class _Watch(FitWatch):
    """Ends a fit after some steps, and writes down what it heard."""

    def __init__(self, most: int) -> None:
        self.most, self.heard = most, list[tuple[int, bool]]()

    def may_go_on(self, evaluations: int, relative_gap: float) -> bool:
        return evaluations < self.most

    def ends(self, evaluations: int, *, stopped: bool) -> None:
        self.heard.append((evaluations, stopped))


def test_a_watch_ends_the_fit_with_the_best_classes_so_far():
    shares = planted(1)
    columns, pairs = noisy(shares, 20.0, 1)
    whole, early, late = class_shares(columns, pairs, TOTAL, 3), _Watch(40), _Watch(10**6)
    same = class_shares(columns, pairs, TOTAL, 3, late)
    assert all(np.array_equal(same[name], whole[name]) for name in SIZES)
    ended = class_shares(columns, pairs, TOTAL, 3, early)
    assert early.heard == [(40, True)]
    assert late.heard[0][0] > 40
    assert not late.heard[0][1]
    independent = {name: np.tile(table.mean(axis=1, keepdims=True), 3) for name, table in shares.items()}
    assert off(whole, shares) < off(ended, shares) < off(independent, shares)
