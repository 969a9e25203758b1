"""Gen_{d, sigma}: how many marginals, how much noise, how far off."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from counterfoil.theory.direct import corollary_3_5, corollary_3_6, marginal_gap, n_marginals, sigma
from counterfoil.theory.published_bounds import theorem_3_1, theorem_3_2


def marginals(rows, sizes, order):
    """All marginals up to `order` of integer rows, as a list of count vectors."""
    vectors = []
    for size in range(1, order + 1):
        for columns in itertools.combinations(range(len(sizes)), size):
            counts = np.zeros([sizes[c] for c in columns])
            np.add.at(counts, tuple(np.array(rows)[:, list(columns)].T), 1)
            vectors.append(counts.ravel())
    return vectors


def trade_off(epsilon, mu):
    """delta(epsilon, mu) of the Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""
    return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("n_attributes", [2, 3, 5])
@pytest.mark.parametrize("order", [1, 2])
def test_the_number_of_marginals(n_attributes, order):
    assert n_marginals(n_attributes, order) == len(marginals([[0] * n_attributes], [2] * n_attributes, order))


def test_the_papers_number_of_marginals_is_too_small():
    """m^d against the truth with the label, at m = 2, 3 and d = 2."""
    assert n_marginals(3, 2) == 6 > 2**2
    assert n_marginals(4, 2) == 10 > 3**2


def test_the_sensitivity_by_enumeration():
    """One row of a table replaced by any other: the largest change of all counts together."""
    sizes, order = (2, 3, 2), 2
    domain = list(itertools.product(*map(range, sizes)))
    stacked = [np.concatenate(marginals([row], sizes, order)) for row in domain]
    largest = max(np.linalg.norm(a - b) for a, b in itertools.combinations(stacked, 2))
    assert largest == pytest.approx(math.sqrt(2 * n_marginals(3, order)))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-5), (8.0, 1e-6)])
def test_sigma_is_private_and_no_larger_than_needed(epsilon, delta):
    sensitivity = math.sqrt(2 * n_marginals(5, 3))
    noise = sigma(5, 3, epsilon=epsilon, delta=delta)
    assert trade_off(epsilon, sensitivity / noise) <= delta * (1 + 1e-9)
    assert trade_off(epsilon, sensitivity / (noise * (1 - 1e-4))) > delta


@pytest.mark.parametrize(("m", "d", "epsilon"), [(1, 2, 1.0), (2, 2, 8.0), (3, 2, 20.0)])
def test_the_papers_sigma_is_not_private(m, d, epsilon):
    """Lemma 3.3: 2 m^(d/2) sqrt(ln(1.25/delta)) / epsilon, with too few marginals or beyond epsilon = 1."""
    delta = 1e-5
    printed = 2 * m ** (d / 2) * math.sqrt(math.log(1.25 / delta)) / epsilon
    sensitivity = math.sqrt(2 * n_marginals(m + 1, d))
    assert trade_off(epsilon, sensitivity / printed) > 2 * delta
    assert sigma(m + 1, d, epsilon=epsilon, delta=delta) > printed


def tables(sizes, n):
    domain = list(itertools.product(*map(range, sizes)))
    return [list(rows) for rows in itertools.combinations_with_replacement(domain, n)]


def test_the_tail_bound_by_brute_force_synthesis():
    """Gen_{d, sigma} on a tiny domain: the best of all tables of n rows.

    False-alarm probability: the number of failures is at most Binomial(400, 0.05), the limit its 1e-7 quantile.
    """
    rng, sizes, order, n, noise, beta = np.random.default_rng(17), (2, 2, 2), 2, 4, 1.5, 0.05
    answers = [marginals(rows, sizes, order) for rows in tables(sizes, n)]
    stacked = np.array([np.stack([np.pad(v, (0, 4 - len(v))) for v in answer]) for answer in answers])
    mask = np.stack([np.pad(np.ones(len(v)), (0, 4 - len(v))) for v in answers[0]])
    bound = marginal_gap(sizes, order, noise=noise, failure_probability=beta, rows=n)
    real, found = stacked[100], []
    for _ in range(400):
        noisy = real + noise * rng.normal(size=real.shape) * mask
        best = np.abs((noisy - stacked) * mask).sum(axis=2).max(axis=1).argmin()
        found.append(np.abs(real - stacked[best]).sum(axis=1).max())
    assert sum(gap > bound.value for gap in found) <= binom.isf(1e-7, 400, beta)


@pytest.mark.parametrize("cells", [1, 4, 64])
def test_the_noise_alone_stays_below_half_the_bound(cells):
    """One marginal: the L1 norm of Gaussian noise. False alarm 1e-7; half the bound would fail."""
    norms = np.abs(np.random.default_rng(23).normal(size=(4000, cells))).sum(axis=1)
    bound = marginal_gap([cells], 1, noise=1.0, failure_probability=0.05, rows=10).value / 2
    limit = binom.isf(1e-7, 4000, 0.05)
    assert np.count_nonzero(norms > bound) <= limit
    assert np.count_nonzero(norms > bound / 2) > limit


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 9), min_size=2, max_size=6), st.integers(1, 3), st.floats(1e-12, 0.9))
def test_the_tail_is_never_above_the_lemmas(sizes, order, beta):
    """2 l^d sqrt(2 ln(2 C / beta)) sigma with the exact number C of cells."""
    order = min(order, len(sizes))
    subsets = (q for size in range(1, order + 1) for q in itertools.combinations(sizes, size))
    cells = sum(math.prod(q) for q in subsets)
    lemma = 2 * max(sizes) ** order * math.sqrt(2 * math.log(2 * cells / beta))
    assert marginal_gap(sizes, order, noise=1.0, failure_probability=beta, rows=10).value <= lemma * (1 + 1e-12)


def test_the_papers_number_of_cells_is_too_small():
    """(m l)^d = 16 against 18 cells at m = d = l = 2."""
    assert sum(len(v) for v in marginals([[0, 0, 0]], (2, 2, 2), 2)) == 18 > (2 * 2) ** 2


@pytest.mark.parametrize(("corollary", "theorem"), [(corollary_3_5, theorem_3_1), (corollary_3_6, theorem_3_2)])
def test_corollaries_chain_privacy_noise_gap_and_theorem(corollary, theorem):
    sizes = [2, 3, 4, 2]
    bound = corollary(sizes, 2, rows=1000, radius=0.5, epsilon=1.0, delta=1e-6, failure_probability=0.01)
    noise = sigma(4, 2, epsilon=1.0, delta=1e-6)
    gap = marginal_gap(sizes, 2, noise=noise, failure_probability=0.01, rows=1000)
    assert gap.value == pytest.approx(2 * noise * math.sqrt(2 * 12 * (12 * math.log(2) + math.log(10 / 0.01))))
    assert bound.terms == theorem(gap.value, rows=1000, features=3, order=2, radius=0.5).terms
    assert "holds with probability at least 1 - 0.01" in bound.assumptions
    assert bound.vacuous


@pytest.mark.parametrize(
    "call",
    [
        lambda: n_marginals(3, 4),
        lambda: n_marginals(3, 0),
        lambda: sigma(3, 2, epsilon=0.0, delta=1e-5),
        lambda: sigma(3, 2, epsilon=math.nan, delta=1e-5),
        lambda: sigma(3, 2, epsilon=1.0, delta=0.0),
        lambda: marginal_gap([], 1, noise=1.0, failure_probability=0.1, rows=1),
        lambda: marginal_gap([2], 1, noise=-1.0, failure_probability=0.1, rows=1),
        lambda: marginal_gap([2], 1, noise=1.0, failure_probability=1.0, rows=1),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="Found"):
        call()
