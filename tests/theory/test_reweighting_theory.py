"""Reweighting over a private density: every event, every calculator, and the algorithm itself on small domains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.stats import binom, norm
from scipy.stats import gamma as gamma_law

from counterfoil.theory import reweighting, reweighting_lemmas, reweighting_theorems
from counterfoil.theory.reweighting_lemmas import Reference

FALSE_ALARM = 1e-7
FIGURES = {"delta": 0.5, "gamma": 0.25, "epsilon": 0.2}  # the parameters of the paper's figures


def too_many(runs, failure_probability):
    """How many failures a bound may have: more come with probability below 1e-7."""
    return binom.isf(FALSE_ALARM, runs, failure_probability)


def parities(p, order):
    """[F, 2^p] products of up to `order` signs, and the domain [2^p, p] of bits."""
    domain = np.array(list(itertools.product((0, 1), repeat=p)))
    subsets = [c for size in range(order + 1) for c in itertools.combinations(range(p), size)]
    return np.array([np.prod(1 - 2 * domain[:, list(c)], axis=1) for c in subsets]), domain


def skewed(cells, rng):
    """A law on `cells` values whose heaviest value is about ten times the lightest."""
    law = np.exp(rng.uniform(0, math.log(10), size=cells))
    return law / law.sum()


def fitted(functions, targets):
    """The density of the paper's program: argmin over densities of max_f abs(functions @ h - targets)."""
    f, m = functions.shape
    upper = np.block([[functions, -np.ones((f, 1))], [-functions, -np.ones((f, 1))]])
    solved = linprog(
        np.r_[np.zeros(m), 1.0],
        A_ub=upper,
        b_ub=np.r_[targets, -targets],
        A_eq=np.r_[np.ones(m), 0.0][None, :],
        b_eq=[1.0],
        method="highs",
    )
    weights = np.maximum(solved.x[:m], 0)
    return weights / weights.sum(), solved.fun


# The largest noise


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 1e3), st.integers(1, 10**6), st.floats(1e-9, 0.9), st.sampled_from(["laplace", "gaussian"]))
def test_the_largest_noise_has_its_failure_probability(scale, n, beta, kind):
    threshold = reweighting_lemmas.largest_noise(scale, n_answers=n, failure_probability=beta, kind=kind)
    one = math.exp(-threshold / scale) if kind == "laplace" else 2 * norm.sf(threshold / scale)
    assert -math.expm1(n * math.log1p(-one)) == pytest.approx(beta, rel=1e-6)
    tail = reweighting_lemmas.largest_noise_tail(threshold, scale=scale, n_answers=n, kind=kind)
    assert tail == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_the_largest_noise_by_simulation(kind):
    """20,000 maxima of 7 draws, from both sides; false alarm 2e-7."""
    rng, runs, beta = np.random.default_rng(1), 20_000, 0.1
    draws = rng.laplace(scale=3.0, size=(runs, 7)) if kind == "laplace" else rng.normal(scale=3.0, size=(runs, 7))
    threshold = reweighting_lemmas.largest_noise(3.0, n_answers=7, failure_probability=beta, kind=kind)
    exceeding = np.count_nonzero(np.abs(draws).max(axis=1) > threshold)
    assert binom.ppf(FALSE_ALARM, runs, beta) <= exceeding <= binom.isf(FALSE_ALARM, runs, beta)


def discrete_tail(threshold, scale, kind):
    """P(abs(Z) > threshold) of discrete Laplace or Gaussian noise on the whole numbers, by summation."""
    k = np.arange(-2000, 2001)
    weights = np.exp(-np.abs(k) / scale) if kind == "laplace" else np.exp(-(k**2) / (2 * scale**2))
    return weights[np.abs(k) > threshold].sum() / weights.sum()


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 20.0])
@pytest.mark.parametrize("beta", [0.5, 0.1, 1e-4])
def test_discrete_noise_stays_below_the_threshold_on_its_grid(kind, scale, beta):
    arguments = {"n_answers": 5, "failure_probability": beta, "kind": kind}
    threshold = reweighting_lemmas.largest_noise(scale, grid=1.0, **arguments)
    assert threshold == round(threshold)
    assert 1 - (1 - discrete_tail(threshold, scale, kind)) ** 5 <= beta * (1 + 1e-9)
    # No more than rounding: below the first whole number above the quantile of continuous noise, found by bisection.
    one = -math.expm1(math.log1p(-beta) / 5)
    tail = (lambda t: math.exp(-t / scale)) if kind == "laplace" else (lambda t: 2 * norm.sf(t / scale))
    quantile = brentq(lambda t: tail(t) - one, 0.0, 60 * scale)
    assert quantile <= threshold < quantile + 1
    # In other units the threshold is the same number of steps.
    small = reweighting_lemmas.largest_noise(scale / 1000, grid=1 / 1000, **arguments)
    assert small == pytest.approx(threshold / 1000)


def test_discrete_noise_exceeds_the_continuous_threshold():
    """Without rounding up to the grid the bound is false: a whole number may be the first one above t."""
    beta = math.exp(-3.99 / 2.5)
    continuous, rounded = (
        reweighting_lemmas.largest_noise(2.5, n_answers=1, failure_probability=beta, grid=grid) for grid in (0.0, 1.0)
    )
    assert discrete_tail(continuous, 2.5, "laplace") > 1.15 * beta
    assert discrete_tail(rounded, 2.5, "laplace") < 0.9 * beta


def mean_of_maximum(n, one_below):
    """E of the positive part of a maximum of n, from the distribution function of one."""
    return quad(lambda t: 1 - one_below(t) ** n, 0, 80, limit=400)[0]


def test_lemma_a_1_fails_for_few_variables_and_for_absolute_values():
    for n in range(1, 60):
        mean = reweighting_lemmas.mean_largest_laplace(n, 1.0)
        positive = mean_of_maximum(n, lambda t: 1 - math.exp(-t) / 2)
        negative = quad(lambda t, n=n: (math.exp(-t) / 2) ** n, 0, 80)[0]
        assert mean == pytest.approx(positive, rel=1e-6)
        assert (positive > math.log(n)) == (n <= 4)
        assert negative == pytest.approx(2.0**-n / n, abs=1e-7)
        assert (positive - negative > math.log(n) + 1e-9) == (n in (2, 3))
        absolute = reweighting_lemmas.mean_largest_absolute_laplace(n, 1.0)
        assert absolute == pytest.approx(mean_of_maximum(n, lambda t: 1 - math.exp(-t)), rel=1e-6)
        assert absolute > math.log(n)
    assert reweighting_lemmas.mean_largest_laplace(10**5, 1.0) - math.log(10**5) == pytest.approx(
        np.euler_gamma - math.log(2), abs=1e-4
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 10**6), st.floats(1e-6, 0.5))
def test_what_lemma_a_1_is_used_for_holds_and_is_weak(n, gamma):
    """max abs(omega) <= log(n) / gamma with probability 1 - gamma, which the lemma does not prove."""
    printed = math.log(n) / gamma
    assert reweighting_lemmas.largest_noise_tail(printed, scale=1.0, n_answers=n) <= gamma * (1 + 1e-9)
    assert reweighting_lemmas.largest_noise(1.0, n_answers=n, failure_probability=gamma) <= printed * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 10**4), st.floats(1e-8, 0.9))
def test_the_total_noise(n, beta):
    """Against the Gamma law: above it, and of its order."""
    total = reweighting_lemmas.total_laplace(2.0, n_answers=n, failure_probability=beta)
    exact = 2 * gamma_law.isf(beta, n)
    assert exact <= total * (1 + 1e-12) <= 1.5 * exact + 4 * math.sqrt(n)


# Averages and frequencies


def test_averages_of_fair_signs_exactly():
    """The hardest function: P(abs(average of n signs) > error) <= beta by the binomial law; 3/4 of it is too small."""
    for n, beta in itertools.product((10, 100, 1001), (0.5, 0.05, 1e-6)):
        error = reweighting_lemmas.average_error(n, n_functions=1, failure_probability=beta)
        ups = np.arange(n + 1)
        chance = binom.pmf(ups, n, 0.5)
        assert chance[np.abs(2 * ups / n - 1) > error].sum() <= beta
        if 0.75 * error < 1:
            assert chance[np.abs(2 * ups / n - 1) > 0.75 * error].sum() > beta / 6


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 1.9), st.integers(1, 10**5), st.floats(1e-9, 0.9), st.floats(0.1, 4))
def test_the_size_of_a_sample_is_the_inverse_of_its_error(error, n_functions, beta, span):
    arguments = {"n_functions": n_functions, "failure_probability": beta, "span": span}
    size = reweighting_lemmas.average_size(error, **arguments)
    assert reweighting_lemmas.average_error(size, **arguments) <= error * (1 + 1e-12)
    assert size == 1 or reweighting_lemmas.average_error(size - 1, **arguments) > error * (1 - 1e-12)


def test_the_empirical_distance_needs_the_square_root():
    """2000 tables of 10^4 records on 16 equal cells; false alarms 1e-7."""
    rng, n, cells, runs, beta = np.random.default_rng(2), 10**4, 16, 2000, 0.05
    distances = np.abs(rng.multinomial(n, np.full(cells, 1 / cells), size=runs) / n - 1 / cells).sum(axis=1)
    bound = reweighting_lemmas.empirical_distance(n, cells=cells, failure_probability=beta)
    assert np.count_nonzero(distances > bound) <= too_many(runs, beta)
    assert distances.max() > bound / 2
    threshold = math.sqrt(cells / n)  # the smallest that the theorem admits
    printed = math.exp(-n / 2 * (threshold - cells / n) ** 2)
    assert printed < 1e-3
    assert np.count_nonzero(distances > threshold) > too_many(runs, printed)


@pytest.mark.parametrize("records", [100, 1000, 10_000])
@pytest.mark.parametrize("cells", [4, 32])
def test_frequencies_exceed_the_largest_probability_but_not_twice(records, cells):
    """Equal cells: each frequency has a binomial law. One cell alone exceeds tau_2 almost half of the time."""
    largest = 1 / cells
    above = binom.sf(math.floor(records * largest), records, largest)
    assert above > 0.3
    twice = binom.sf(math.floor(2 * records * largest), records, largest)
    bound = reweighting_lemmas.frequency_excess(records, cells=cells, largest=largest)
    assert min(1.0, twice * cells) <= bound
    assert bound < 1 or records * largest < 10


@pytest.mark.parametrize("records", [2000, 10_000])
@pytest.mark.parametrize("smallest", [0.01, 0.2])
@pytest.mark.parametrize("beta", [0.3, 1e-3])
def test_frequencies_do_not_fall_short(records, smallest, beta):
    cells = round(1 / smallest)
    arguments = {"cells": cells, "smallest": smallest, "failure_probability": beta}
    short = reweighting_lemmas.frequency_shortfall(records, **arguments)
    below = binom.cdf(math.ceil((1 - short) * records * smallest) - 1, records, smallest)
    assert cells * below <= beta
    half = binom.cdf(math.ceil((1 - short / 2) * records * smallest) - 1, records, smallest)
    assert cells * half > beta


# The support


def test_the_support_bounds_are_the_best_of_their_proofs():
    """Chebyshev's split, and the level that weights are clipped at, by numerical minimization."""
    for m, f, k, beta in itertools.product((50, 10**4), (1, 40, 3000), (1.0, 3.0, 500.0), (0.3, 1e-4)):
        arguments = {"n_functions": f, "condition": k, "failure_probability": beta}

        def chebyshev(share, m=m, f=f, k=k, beta=beta):
            return math.sqrt(f * k / (m * share * beta)) + math.sqrt((k - 1) / (m * (1 - share) * beta))

        best = minimize_scalar(chebyshev, bounds=(1e-9, 1 - 1e-12), method="bounded", options={"xatol": 1e-12}).fun
        assert reweighting_lemmas.variance_error(m, **arguments) == pytest.approx(best, rel=1e-4)

        log = math.log(2 * (f + 1) / beta)

        def clipped(level, m=m, k=k, log=log):
            b = math.exp(level)
            linear = b * log / (3 * m)
            return 2 * (k / (4 * b) + linear + math.sqrt(linear**2 + 2 * k * log / m))

        found = minimize_scalar(clipped, bounds=(-20, 20), method="bounded", options={"xatol": 1e-9})
        assert found.fun <= reweighting_lemmas.clipping_error(m, **arguments) <= found.fun * (1 + 1e-4)
        bounded = reweighting_lemmas.ratio_error(m, ratio=k, **arguments)
        assert bounded == pytest.approx(clipped(math.log(k)) - 2 / 4, rel=1e-9)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-3, 2), st.integers(1, 10**5), st.floats(1, 1e6), st.floats(1, 10), st.floats(1e-9, 0.9))
def test_the_number_of_points_is_the_inverse_of_their_error(error, f, k, factor, beta):
    arguments = {"n_functions": f, "condition": k, "failure_probability": beta}
    for points, errors, more in (
        (reweighting_lemmas.variance_points, reweighting_lemmas.variance_error, {}),
        (reweighting_lemmas.clipping_points, reweighting_lemmas.clipping_error, {}),
        (reweighting_lemmas.ratio_points, reweighting_lemmas.ratio_error, {"ratio": k * factor}),
    ):
        m = points(error, **arguments, **more)
        assert errors(m, **arguments, **more) <= error * (1 + 1e-9)
        assert m == 1 or errors(m - 1, **arguments, **more) > error * (1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 10**6), st.floats(1e-6, 0.5), st.floats(1e-9, 0.9))
def test_the_points_that_cover_a_domain(cells, lightest, beta):
    m = reweighting_lemmas.coverage_points(cells=cells, lightest=lightest, failure_probability=beta)
    assert reweighting_lemmas.coverage_failure(m, cells=cells, lightest=lightest) <= beta * (1 + 1e-9)
    assert m == 1 or reweighting_lemmas.coverage_failure(m - 1, cells=cells, lightest=lightest) > beta * (1 - 1e-9)


@pytest.mark.parametrize("cells", [2, 5, 16])
def test_coverage_by_inclusion_and_exclusion(cells):
    for m in (cells, 3 * cells, 8 * cells):
        missed = -sum((-1) ** j * math.comb(cells, j) * (1 - j / cells) ** m for j in range(1, cells + 1))
        bound = reweighting_lemmas.coverage_failure(m, cells=cells, lightest=1 / cells)
        assert missed <= bound * (1 + 1e-9)
        assert m < 8 * cells or bound < 1.01 * missed


@pytest.mark.parametrize("m", [300, 3000])
def test_weights_on_the_support_fit_every_average(m):
    """The densities of the three proofs, 400 supports of m points of 128; false alarms 1e-7 for each."""
    rng, runs, beta = np.random.default_rng(m), 400, 0.1
    functions, _ = parities(7, 2)
    law, reference = skewed(128, rng), skewed(128, rng)
    ratios = law / reference
    k, most = (law * ratios).sum(), ratios.max()
    arguments = {"n_functions": len(functions), "condition": k, "failure_probability": beta}
    level = 0.8 * math.sqrt(k * m / math.log(2 * (len(functions) + 1) / beta))
    errors = {"plain": [], "clipped": []}
    for _ in range(runs):
        drawn = rng.multinomial(m, reference)
        for name, weights in (("plain", drawn * ratios), ("clipped", drawn * np.minimum(ratios, level))):
            errors[name].append(np.abs(functions @ (weights / weights.sum() - law)).max())
    plain, clipped = np.array(errors["plain"]), np.array(errors["clipped"])
    for found, bound in (
        (plain, reweighting_lemmas.variance_error(m, **arguments)),
        (plain, reweighting_lemmas.ratio_error(m, ratio=most, **arguments)),
        (clipped, reweighting_lemmas.clipping_error(m, **arguments)),
    ):
        assert np.count_nonzero(found > bound) <= too_many(runs, beta)
        assert found.max() > bound / 12


def test_clipping_where_weights_are_heavy():
    """A law that the reference gives a hundredth of its mass on a fifth of its mass: clipped weights still fit."""
    rng, m, runs, beta = np.random.default_rng(5), 4000, 400, 0.2
    functions, _ = parities(6, 2)
    law, reference = np.full(64, 1 / 64), np.full(64, 1 / 64)
    law[:2], reference[:2] = 0.1, 0.001
    law[2:] *= (1 - law[:2].sum()) / law[2:].sum()
    reference[2:] *= (1 - reference[:2].sum()) / reference[2:].sum()
    ratios = law / reference
    k = (law * ratios).sum()
    level = 0.8 * math.sqrt(k * m / math.log(2 * (len(functions) + 1) / beta))
    assert level < ratios.max(), "the clipping must bite"
    found = []
    for _ in range(runs):
        weights = rng.multinomial(m, reference) * np.minimum(ratios, level)
        found.append(np.abs(functions @ (weights / weights.sum() - law)).max())
    bound = reweighting_lemmas.clipping_error(m, n_functions=22, condition=k, failure_probability=beta)
    assert np.count_nonzero(np.array(found) > bound) <= too_many(runs, beta)
    assert max(found) > bound / 12


# Renyi divergences


def densities(size=6):
    """Pairs of positive laws on `size` values."""
    law = st.lists(st.floats(0.01, 1), min_size=size, max_size=size).map(lambda w: np.array(w) / sum(w))
    return st.tuples(law, law)


@settings(max_examples=150, deadline=None)
@given(densities(), st.sampled_from([1.5, 2.0, 3.0, 4.0]))
def test_lemmas_a_2_and_a_4(laws, order):
    p, q = laws
    variation, ratio = np.abs(p - q).sum() / 2, (q / p).min()
    assert (p / q).min() >= reweighting_lemmas.smallest_ratio(variation, smallest=p.min()) * (1 - 1e-12)
    if ratio < 1 - 1e-6:
        exact = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
        bound = reweighting_lemmas.renyi_divergence(order, total_variation=variation, ratio=ratio)
        assert exact <= bound + 1e-12


def test_lemma_a_4_is_attained_and_gives_the_open_constants():
    p, q = np.array([0.5, 0.5]), np.array([1 / 3, 2 / 3])
    bound = reweighting_lemmas.renyi_divergence(2, total_variation=1 / 6, ratio=2 / 3)
    assert math.log((p**2 / q).sum()) > 0.4 * bound
    # A law that is 2/3 of the other where it is smaller, and equal elsewhere but on an atom of tiny mass under p.
    p, q = np.array([0.3, 0.7 - 1e-12, 1e-12]), np.array([0.2, 0.7 - 1e-12, 0.1 + 1e-12])
    bound = reweighting_lemmas.renyi_divergence(2, total_variation=0.1, ratio=2 / 3)
    assert math.log((p**2 / q).sum()) == pytest.approx(bound, rel=1e-9)
    fourth = math.expm1(3 * reweighting_lemmas.renyi_divergence(4, total_variation=0.01, ratio=2 / 3)) / 0.01
    third = math.expm1(2 * reweighting_lemmas.renyi_divergence(3, total_variation=0.01, ratio=2 / 3)) / 0.01
    assert (fourth / 2, third) == pytest.approx((reweighting_theorems.C_1, reweighting_theorems.C_2))


@settings(max_examples=60, deadline=None)
@given(densities(), st.lists(st.floats(0.01, 1), min_size=6, max_size=6))
def test_the_step_through_the_empirical_law(laws, third):
    """kappa(p || q) <= (1 + C delta_1)^(1/2) (1 + C' delta_2)^(1/2) with the two ratios through a law in between."""
    p, q = laws
    between = 0.9 * p + 0.1 * np.array(third) / sum(third)
    variations = np.abs(p - between).sum() / 2, np.abs(between - q).sum() / 2
    ratios = (between / p).min(), (q / between).min()
    if max(ratios) < 1 - 1e-6:
        first = reweighting_lemmas.renyi_divergence(4, total_variation=variations[0], ratio=ratios[0])
        second = reweighting_lemmas.renyi_divergence(3, total_variation=variations[1], ratio=ratios[1])
        assert math.log((p**2 / q).sum()) <= 1.5 * first + second + 1e-12


# References


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(any))
def test_the_uniform_reference_holds_for_any_data(counts):
    law, reference = np.array(counts) / sum(counts), reweighting_lemmas.uniform_reference(len(counts))
    assert (law**2).sum() * len(counts) <= reference.condition * (1 + 1e-12)
    assert (law * len(counts)).max() <= reference.ratio * (1 + 1e-12)
    assert (reference.target, reference.cells, reference.lightest) == ("data", len(counts), 1 / len(counts))


def test_the_histogram_reference_by_hand():
    """N = 8, tau_1 = 1/10, n = 5000, epsilon = 1/2: Laplace noise of scale 4, each event at .03 / 3."""
    arguments = {"cells": 8, "smallest": 0.1, "epsilon": 0.5, "failure_probability": 0.03}
    short = math.sqrt(2 * math.log(800) / 500)
    largest = -4 * math.log(1 - 0.99 ** (1 / 8))
    total = 4 * (8 + math.sqrt(16 * math.log(100)) + math.log(100))
    reference = reweighting_lemmas.histogram_reference(5000, **arguments)
    ratio = (1 + total / 5000) / (1 - short - largest / 500)
    assert reference.ratio == reference.condition == pytest.approx(ratio)
    assert reference.lightest == pytest.approx(0.1 / ratio)
    empirical = reweighting_lemmas.histogram_reference(5000, target="data", **arguments)
    assert empirical.condition == pytest.approx((1 - short) * ratio)
    discrete = reweighting_lemmas.histogram_reference(5000, grid=1.0, **arguments)
    ratio = (1 + (total + 8) / 5000) / (1 - short - math.ceil(largest) / 500)
    assert discrete.condition == pytest.approx(ratio)


@pytest.mark.parametrize("scale", [0.2, 1.0, 7.0])
def test_discrete_laplace_noise_is_at_most_the_continuous_one_rounded_up(scale):
    """In distribution, for all whole k: P(abs(Z) > k) <= P(ceil(abs(omega)) > k); without rounding up it is false."""
    for k in range(40):
        assert discrete_tail(k, scale, "laplace") <= math.exp(-k / scale) * (1 + 1e-12)
    assert discrete_tail(0.999, scale, "laplace") > math.exp(-0.999 / scale)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("target", ["data", "population"])
def test_the_histogram_reference_by_simulation(epsilon, target):
    """1000 histograms of 12 cells, one of which is empty; false alarm 1e-7."""
    rng, runs, beta = np.random.default_rng(11), 1000, 0.1
    law = np.r_[skewed(11, rng), 0.0]
    arguments = {"cells": 12, "smallest": law[law > 0].min(), "epsilon": epsilon, "failure_probability": beta}
    n = reweighting_lemmas.histogram_records(3.0, target=target, **arguments)
    reference = reweighting_lemmas.histogram_reference(n, target=target, **arguments)
    assert sum(reference.failures.values()) == pytest.approx(beta)
    counts = rng.multinomial(n, law, size=runs)
    noisy = np.maximum(counts + rng.laplace(scale=2 / epsilon, size=counts.shape), 0)
    released = noisy / noisy.sum(axis=1, keepdims=True)
    targets = counts / n if target == "data" else np.broadcast_to(law, counts.shape)
    ratios = np.divide(targets, released, out=np.where(targets > 0, np.inf, 0.0), where=released > 0)
    conditions = (targets * np.minimum(ratios, 1e300)).sum(axis=1)
    for found, bound in ((ratios.max(axis=1), reference.ratio), (conditions, reference.condition)):
        assert np.count_nonzero(found > bound) <= too_many(runs, beta)
    assert np.quantile(ratios.max(axis=1), 0.999) > 1 + (reference.ratio - 1) / 8
    lightest = np.where(targets > 0, released, 1.0).min(axis=1)
    assert np.count_nonzero(lightest < reference.lightest) <= too_many(runs, beta)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(1.05, 50), st.integers(2, 1000), st.floats(0.1, 1), st.floats(0.05, 5), st.floats(1e-6, 0.5),
    st.sampled_from(["data", "population"]),
)  # fmt: skip
def test_the_records_for_a_histogram_are_the_inverse_of_its_condition(condition, cells, share, epsilon, beta, target):
    arguments = {"cells": cells, "smallest": share / cells, "epsilon": epsilon, "failure_probability": beta}
    n = reweighting_lemmas.histogram_records(condition, target=target, **arguments)
    assert reweighting_lemmas.histogram_reference(n, target=target, **arguments).condition <= condition
    assert reweighting_lemmas.histogram_reference(n - 1, target=target, **arguments).condition > condition


def test_the_histogram_needs_far_fewer_records_than_theorem_iii_1():
    """Uniform on N cells, gamma = .1: K <= 5 from about 8 N log(N / gamma) records, where over 8 N^3 are printed."""
    for cells in (16, 32, 256):
        uniform = {"cells": cells, "smallest": 1 / cells, "epsilon": 1}
        n = reweighting_lemmas.histogram_records(5, failure_probability=0.2, **uniform)
        assert n == pytest.approx(8 * cells * math.log(cells / 0.1), rel=0.05)
        theorem = reweighting_theorems.theorem_iii_1_sizes(1, delta=0.5, gamma=0.1, **uniform)
        assert theorem.conditions["counts of the histogram"] > 8 * cells**3
    # Far out noise is nothing beside sampling: K - 1 is the shortfall of counts, sqrt(2 log(3 N / beta) N / n).
    far = reweighting_lemmas.histogram_reference(
        10**9, cells=32, smallest=1 / 32, epsilon=1, failure_probability=0.2
    )  # fmt: skip
    assert far.condition - 1 == pytest.approx(math.sqrt(2 * math.log(3 * 32 / 0.2) * 32 / 10**9), rel=0.002)


def test_a_histogram_of_few_records_promises_nothing():
    reference = reweighting_lemmas.histogram_reference(
        20, cells=32, smallest=1 / 32, epsilon=0.1, failure_probability=0.1
    )  # fmt: skip
    assert reference.condition == math.inf
    bound = reweighting.accuracy(
        5, noise=0.01, reference=reference, points=1000, rows=1000, records=20, failure_probability=0.3
    )
    assert bound.vacuous
    assert bound.value == math.inf
    with pytest.raises(ValueError, match="No number of points suffices"):
        reweighting.sizes(0.5, 5, failure_probability=0.3, reference=reference, epsilon=1)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.05, 1), st.integers(0, 10**6))
def test_the_density_reference_on_a_grid(closeness, smallest, seed):
    """Any density of at least tau on [0, 1], any estimate within d: kappa and the ratio are at most K."""
    rng = np.random.default_rng(seed)
    density = smallest + (1 - smallest) * 50 * rng.dirichlet(np.full(50, 0.1))
    deviation = closeness * smallest
    reference = reweighting_lemmas.density_reference(deviation, smallest=smallest, failure_probability=0.1)
    estimate = np.maximum(density + rng.choice([-deviation, deviation], size=50), 0)
    estimate /= estimate.mean()
    assert (density / estimate).max() <= reference.ratio * (1 + 1e-9)
    assert (density**2 / estimate).mean() <= reference.condition * (1 + 1e-9)
    # Too small on one cell and too large on all others: all but attained.
    density = np.r_[smallest, np.full(10**6, (1 + 1e-6) - smallest * 1e-6)]
    worst = density + np.r_[-deviation, np.full(10**6, deviation)]
    assert (density / (worst / worst.mean())).max() > reference.ratio * (1 - 1e-4)


def test_kernel_estimates_of_the_uniform_density_fail_at_the_boundary():
    """Theorem IV.1's proof needs sup abs(nu - nu_1) <= tau / 3; at a corner the mean of nu_1 is near 2^-p."""
    rng = np.random.default_rng(3)
    for bandwidth in (0.3, 0.1, 0.01):
        at_face = norm.cdf(1 / bandwidth) - 0.5
        assert 1 - at_face > 1 / 3
        draws = rng.uniform(size=200_000)
        kernels = norm.pdf(draws / bandwidth) / bandwidth
        assert abs(kernels.mean() - at_face) < 6 * kernels.std() / math.sqrt(len(draws))  # false alarm 2e-9


# Theorem II.1


def test_theorem_ii_1_by_hand():
    """F = 11, gamma = .1: log(F/gamma) = 4.70048."""
    sizes = reweighting_theorems.theorem_ii_1_sizes(11, delta=0.2, gamma=0.1, epsilon=1.0, condition=16)
    log = math.log(110)
    assert sizes.records == math.ceil(22 * log / 0.2) == 518
    assert sizes.rows == math.ceil(log / 0.04) == 118
    assert sizes.points in (44_000, 44_001)  # 16 * 11 / (.04 * .1)
    assert sizes.noise == pytest.approx(22 / 518)
    assert sizes.noise <= 0.2 / log
    assert sizes.epsilon == 1.0
    assert sizes.bound.value == pytest.approx(1.6, rel=1e-6)
    failures = sizes.bound.failures
    assert failures["noise"] == pytest.approx(1 - (1 - math.exp(-0.2 * 518 / 22)) ** 11)
    assert failures["support"] == pytest.approx(0.1 + 15 / (44_000 * 0.04))
    assert failures["rows"] == pytest.approx(22 * math.exp(-2 * 118 * 0.04))
    assert failures["records"] == pytest.approx(22 * math.exp(-2 * 518 * 0.04))
    assert sizes.bound.failure_probability < 0.22
    assert not sizes.bound.vacuous


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 10**5), st.floats(1e-3, 0.5), st.floats(1e-6, 0.25), st.floats(0.01, 10), st.floats(1, 1e5),
)  # fmt: skip
def test_theorem_ii_1_forward_inverts_its_sizes_and_fails_as_seldom_as_printed(f, delta, gamma, epsilon, condition):
    sizes = reweighting_theorems.theorem_ii_1_sizes(f, delta=delta, gamma=gamma, epsilon=epsilon, condition=condition)
    assert sizes.bound.value <= 8 * delta * (1 + 1e-9)
    assert sizes.bound.failure_probability <= (2 * gamma + (gamma + 4 * gamma**2) / f) * (1 + 1e-9) <= 4 * gamma * 1.01
    known = {"noise": sizes.noise, "condition": condition, "gamma": gamma}
    found = {"points": sizes.points, "rows": sizes.rows, "records": sizes.records}
    forward = reweighting_theorems.theorem_ii_1(f, **found, **known)
    assert forward.value == pytest.approx(sizes.bound.value)
    population = reweighting_theorems.theorem_ii_1(f, **found, **known, against="population")
    assert population.value == pytest.approx(1.25 * forward.value)
    printed = reweighting_theorems.published_theorem_ii_1(f, **found, **known)
    assert (printed.value, printed.failure_probability) == (forward.value, min(1.0, 4 * gamma))
    # Half of a size, or twice the noise, and the theorem no longer gives delta.
    binding = "records" if sizes.conditions["records"] > 4 else None
    if binding and sizes.rows > 4:
        fewer = found | {"rows": sizes.rows // 2}
        assert reweighting_theorems.theorem_ii_1(f, **fewer, **known).value > 8 * delta
    if sizes.points > 4:
        fewer = found | {"points": sizes.points // 2}
        assert reweighting_theorems.theorem_ii_1(f, **fewer, **known).value > 8 * delta


def test_the_figures_parameters_are_vacuous():
    f = reweighting.n_boolean_marginals(5, 2)
    uniform = reweighting_theorems.published_theorem_b_1_sizes(f, cells=32, **FIGURES)
    histogram = reweighting_theorems.published_theorem_iii_1_sizes(
        f, cells=32, smallest=1 / 32, largest=1 / 32, chernoff=1.0, **FIGURES
    )
    for sizes in (uniform, histogram):
        assert sizes.bound.value == 4 > 2 == sizes.bound.trivial
        assert sizes.bound.vacuous
    assert uniform.bound.failure_probability == 1
    assert "vacuous" in str(uniform.bound)
    # The best constants do say something at the same sizes: the theorem's are loose, not the algorithm.
    at_these = reweighting.accuracy(
        f, noise=uniform.noise, reference=reweighting_lemmas.uniform_reference(32), points=uniform.points,
        rows=uniform.rows, records=uniform.records, failure_probability=0.5,
    )  # fmt: skip
    assert not at_these.vacuous
    assert at_these.value < 2


def test_a_bound_that_always_may_fail_is_vacuous():
    bound = reweighting.AccuracyBound({"noise": 0.1}, 2.0, (), "", {"noise": 0.6, "rows": 0.4})
    assert bound.vacuous
    assert bound.failure_probability == 1
    assert "probability at least 0" in str(bound)
    assert not reweighting.AccuracyBound({"noise": 0.1}, 2.0, (), "", {"noise": 0.6}).vacuous


def test_boolean_marginals_and_their_joint_sensitivity():
    for p, d in ((4, 2), (5, 3), (3, 0)):
        signs, domain = parities(p, d)
        assert reweighting.n_boolean_marginals(p, d) == len(signs)
        subsets = [c for size in range(d + 1) for c in itertools.combinations(range(p), size)]
        products = np.array([domain[:, list(c)].prod(axis=1) for c in subsets])
        moved = np.abs(products[:, :, None] - products[:, None, :]).sum(axis=0).max()
        assert moved == len(subsets) - 1
        assert np.abs(signs[:, :, None] - signs[:, None, :]).sum(axis=0).max() <= 2 * len(signs)


def test_the_noise_that_a_budget_gives():
    scale = reweighting.noise_scale(1000, n_functions=11, epsilon=0.5)
    assert scale.value == 2 * 11 / (1000 * 0.5)
    assert reweighting.noise_scale(1000, n_functions=11, epsilon=0.5, joint_sensitivity=10).value == 10 / 500
    assert reweighting.noise_scale(1000, n_functions=11, epsilon=0.5, span=1).value == 11 / 500
    gaussian = reweighting.noise_scale(1000, n_functions=11, epsilon=0.5, delta=1e-6).value
    mu = 2 * math.sqrt(11) / (1000 * gaussian)
    exact = norm.cdf(-0.5 / mu + mu / 2) - math.exp(0.5) * norm.cdf(-0.5 / mu - mu / 2)
    assert 0.999e-6 < exact <= 1e-6 * (1 + 1e-9)


# Theorems B.1, III.1 and IV.1


def test_theorem_b_1_asks_for_more_points_than_the_domain_has():
    sizes = reweighting_theorems.published_theorem_b_1_sizes(11, cells=16, delta=0.2, gamma=0.1, epsilon=1.0)
    same = reweighting_theorems.theorem_ii_1_sizes(11, delta=0.2, gamma=0.1, epsilon=1.0, condition=16)
    assert (sizes.records, sizes.rows, sizes.points) == (same.records, same.rows, same.points)
    covering = reweighting_lemmas.coverage_points(cells=16, lightest=1 / 16, failure_probability=0.1)
    assert covering < 100 < sizes.points


def test_theorem_iii_1_as_printed_by_hand():
    """N = 32 equal cells, F = 16, the figures' parameters; the corollary's closed forms."""
    log_f = math.log(16 / 0.5)
    sizes = reweighting_theorems.published_theorem_iii_1_sizes(
        16, cells=32, smallest=1 / 32, largest=1 / 32, chernoff=0.1, c_1=2.0, c_2=3.0, **FIGURES
    )
    assert sizes.conditions == pytest.approx({
        "noise": 2 * 16 / (0.2 * 0.5) * math.log(64),
        "records": math.log(64) / 0.25,
        "counts of the histogram": 8 * 32**3 + 16 * 32**2 * math.log(4),
        "noise of the histogram": 16 * 0.5 * 32**2 * math.log(32) / (0.25 * log_f),
    })  # fmt: skip
    n = sizes.records
    assert n == math.ceil(8 * 32**3 + 16 * 32**2 * math.log(4))
    k = math.sqrt(1 + 2 * (math.sqrt(2 * math.log(4) / n) + math.sqrt(32 / n))) * math.sqrt(
        1 + 2 * 3 * 0.5 * 32 * math.log(32) / (0.25 * n * log_f)
    )
    assert sizes.condition == pytest.approx(k)
    assert sizes.points == math.ceil(2 * k * 16 / (0.25 * 0.25))
    assert sizes.bound.failures == {"as printed": pytest.approx(0.75 + math.exp(-0.1 * n))}
    assert sizes.epsilon == 0.4
    assert any("not proved" in line for line in sizes.bound.assumptions)


def test_theorem_iii_1_corrected_by_hand():
    sizes = reweighting_theorems.theorem_iii_1_sizes(16, cells=8, smallest=1 / 10, delta=0.1, gamma=0.05, epsilon=0.5)
    largest = -4 * math.log(1 - 0.95 ** (1 / 8))
    assert sizes.conditions["counts of the histogram"] == pytest.approx(800 * (8 + 2 * math.log(20)))
    assert sizes.conditions["noise of the histogram"] == pytest.approx(640 * largest)
    assert sizes.conditions["noise"] == pytest.approx(32 * math.log(320) / 0.05)
    n = sizes.records
    assert n == math.ceil(max(sizes.conditions.values()))
    first = 1 + 57 / 16 * (math.sqrt(2 * math.log(20) / n) + math.sqrt(8 / n))
    assert sizes.condition == pytest.approx(math.sqrt(first * (1 + 15 / 4 * 8 * largest / n)))
    assert sizes.points == math.ceil(sizes.condition * 16 / (0.01 * 0.05))
    assert set(sizes.bound.failures) >= {"counts of the histogram", "noise of the histogram", "noise", "support"}
    assert 2 * 0.05 < sizes.bound.failure_probability <= 6 * 0.05
    assert sizes.bound.value == pytest.approx(0.8, rel=1e-3)
    assert sizes.epsilon == 1.0


def test_the_printed_conditions_leave_out_the_histograms_noise():
    """300 histograms of 4 equal cells at epsilon = .02: the printed n gives delta_2 <= tau_1 / 8 in few, ours in most.

    The corrected condition fails with at most gamma = .25 (false alarm 1e-7); the printed n in more than half.
    """
    rng, runs, tau = np.random.default_rng(7), 300, 0.25
    arguments = {"cells": 4, "smallest": tau, "delta": 0.5, "gamma": 0.25, "epsilon": 0.02}
    printed = reweighting_theorems.published_theorem_iii_1_sizes(4, largest=tau, chernoff=1.0, **arguments)
    corrected = reweighting_theorems.theorem_iii_1_sizes(4, **arguments)
    assert corrected.conditions["noise of the histogram"] > 50 * printed.conditions["noise of the histogram"]
    failed = {}
    for name, n in (("printed", printed.records), ("corrected", corrected.records)):
        counts = rng.multinomial(n, np.full(4, tau), size=runs)
        noisy = np.maximum(counts + rng.laplace(scale=2 / 0.02, size=counts.shape), 0)
        released = noisy / noisy.sum(axis=1, keepdims=True)
        variation = np.abs(released - counts / n).sum(axis=1) / 2
        failed[name] = np.count_nonzero(variation > tau / 8)
        if name == "corrected":
            kappa = (tau**2 / np.maximum(released, 1e-300)).sum(axis=1)
            assert np.count_nonzero(kappa > corrected.condition) <= too_many(runs, 0.5)
    assert failed["corrected"] <= too_many(runs, 0.25)
    assert failed["printed"] > runs / 2


def test_theorem_iv_1_as_printed_by_hand():
    spread = 2 / (0.2 * 2 * math.pi) * math.log(4)
    theorem = reweighting_theorems.published_theorem_iv_1_sizes(10, dimension=2, smallest=0.5, constant=3.0, **FIGURES)
    assert theorem.conditions["estimate of the density"] == pytest.approx(6**3 * spread)
    assert theorem.points == math.ceil(2 * 2.5 * 10 / (0.25 * 0.25))
    assert theorem.bound.failure_probability == pytest.approx(0.25 + 1 / theorem.records)
    corollary = reweighting_theorems.published_corollary_iv_1_1_sizes(10, dimension=2, constant=7.0, **FIGURES)
    assert corollary.conditions["estimate of the density"] == pytest.approx(27 * spread)
    assert corollary.points == math.ceil(7 * 10 / (0.25 * 0.25))
    assert corollary.bound.vacuous


def test_theorem_iv_1_corrected_by_hand():
    """d = 2 tau / 3, as in the paper's proof: K = 3 (1 + d), without constants left open."""
    sizes = reweighting_theorems.theorem_iv_1_sizes(
        10, deviation=0.2, smallest=0.3, density_failure=0.01, delta=0.1, gamma=0.05, epsilon=1.0
    )
    assert sizes.condition == pytest.approx(3 * 1.2)
    assert sizes.points in {math.ceil(3.6 * 10 / (0.01 * 0.05)) + i for i in (0, 1)}
    assert sizes.bound.failures["estimate of the density"] == 0.01
    assert sizes.bound.failure_probability <= 0.01 + 4 * 0.05
    assert sizes.epsilon == 2.0
    with pytest.raises(ValueError, match="`deviation` must be below `smallest`"):
        reweighting_theorems.theorem_iv_1_sizes(
            10, deviation=0.3, smallest=0.3, density_failure=0.01, delta=0.1, gamma=0.05, epsilon=1.0
        )


# The best bound


def references():
    return st.one_of(
        st.builds(reweighting_lemmas.uniform_reference, st.integers(1, 10**5)),
        st.builds(Reference, st.floats(1, 1000)),
        st.floats(1, 1000).map(lambda k: Reference(k, 2 * k, "population", 50, 0.01, {"reference": 1e-4})),
    )


@st.composite
def cases(draw):
    """Arguments of `accuracy`."""
    return {
        "n_functions": draw(st.integers(1, 10**4)),
        "noise": draw(st.floats(1e-5, 1)),
        "reference": draw(references()),
        "points": draw(st.one_of(st.none(), st.integers(1, 10**7))),
        "rows": draw(st.one_of(st.none(), st.integers(1, 10**6))),
        "records": draw(st.integers(1, 10**6)),
        "failure_probability": draw(st.floats(1e-3, 0.9)),
        "kind": draw(st.sampled_from(["laplace", "gaussian"])),
        "against": draw(st.sampled_from(["data", "population"])),
    }


@settings(max_examples=150, deadline=None)
@given(cases(), st.sampled_from(["noise", "points", "rows", "records", "failure_probability", "n_functions"]))
def test_accuracy_is_monotone_and_spends_its_failure_probability(case, name):
    bound = reweighting.accuracy(**case)
    assert math.fsum(bound.failures.values()) <= case["failure_probability"] * (1 + 1e-9)
    assert all(term >= 0 for term in bound.terms.values())
    if case[name] is not None:
        better = case[name] / 2 if name == "noise" else case[name] * 2
        if name == "failure_probability":
            better = (1 + case[name]) / 2
        if name == "n_functions":
            better = max(1, case[name] // 2)
        assert reweighting.accuracy(**(case | {name: better})).value <= bound.value * (1 + 1e-5)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_accuracy_is_the_sum_of_its_events_at_their_shares(case):
    """Each term from its own failure probability, by the closed forms."""
    bound, f = reweighting.accuracy(**case), case["n_functions"]
    share = bound.failures["noise"]
    if case["kind"] == "laplace":
        largest = -math.log(-math.expm1(math.log1p(-share) / f))
    else:
        largest = norm.isf(-math.expm1(math.log1p(-share) / f) / 2)
    assert bound.terms["noise"] == pytest.approx(2 * case["noise"] * largest, rel=1e-6)
    if case["rows"] is not None:
        half = math.sqrt(2 * math.log(2 * f / bound.failures["rows"]) / case["rows"])
        assert bound.terms["rows"] == pytest.approx(half)
    if "records" in bound.terms:
        half = math.sqrt(2 * math.log(2 * f / bound.failures["records"]) / case["records"])
        covered = bound.terms["support"] == 0
        times = (case["against"] == "population") + (not covered and case["reference"].target == "population")
        assert bound.terms["records"] == pytest.approx(times * half)
    else:
        assert case["against"] == "data"


def test_the_shares_are_about_the_best():
    """Against a grid over all ways to share out the failure probability: within 1% of the least, never below it."""
    arguments = {"noise": 0.02, "points": 5000, "rows": 400, "records": 900, "failure_probability": 0.1}
    bound = reweighting.accuracy(30, reference=Reference(4.0), **arguments)
    grid = np.geomspace(1e-5, 0.1, 60)
    terms = [
        [2 * reweighting_lemmas.largest_noise(0.02, n_answers=30, failure_probability=b) for b in grid],
        [reweighting_lemmas.clipping_error(5000, n_functions=30, condition=4.0, failure_probability=b) for b in grid],
        [reweighting_lemmas.average_error(400, n_functions=30, failure_probability=b) for b in grid],
        [reweighting_lemmas.average_error(900, n_functions=30, failure_probability=b) for b in grid],
    ]
    best = math.inf
    for i, j, k in itertools.product(range(60), repeat=3):
        left = 0.1 - grid[i] - grid[j] - grid[k]
        if left > 1e-5:
            last = np.searchsorted(grid, left, side="right")  # the next point up: never above the true least
            best = min(best, terms[0][i] + terms[1][j] + terms[2][k] + terms[3][min(last, 59)])
    assert best <= bound.value <= 1.01 * best


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 10**4), st.floats(0.01, 0.4), st.floats(1e-4, 0.24), st.floats(0.05, 5), st.floats(1, 1000)
)  # fmt: skip
def test_accuracy_is_never_above_theorem_ii_1(f, delta, gamma, epsilon, condition):
    sizes = reweighting_theorems.theorem_ii_1_sizes(f, delta=delta, gamma=gamma, epsilon=epsilon, condition=condition)
    best = reweighting.accuracy(
        f, noise=sizes.noise, reference=Reference(condition), points=sizes.points, rows=sizes.rows,
        records=sizes.records, failure_probability=4 * gamma,
    )  # fmt: skip
    assert best.value <= sizes.bound.value * (1 + 1e-6)


@settings(max_examples=100, deadline=None)
@given(
    st.floats(0.01, 0.9), st.integers(1, 10**4), st.floats(1e-3, 0.5), references(), st.floats(0.05, 5),
    st.sampled_from([0.0, 1e-6]), st.booleans(), st.sampled_from([1.0, 2.0]), st.sampled_from(["data", "population"]),
)  # fmt: skip
def test_the_sizes_are_the_inverse_of_accuracy(error, f, beta, reference, epsilon, delta, whole, span, against):
    sizes = reweighting.sizes(
        error, f, failure_probability=beta, reference=reference, epsilon=epsilon, delta=delta, whole_domain=whole,
        span=span, against=against,
    )  # fmt: skip
    assert sizes.bound.value <= error * (1 + 1e-9)
    assert sizes.bound.value > error / 6
    assert sizes.bound.failure_probability <= beta * (1 + 1e-9)
    assert (sizes.points is None) == whole
    scale = reweighting.noise_scale(sizes.records, n_functions=f, epsilon=epsilon, delta=delta, span=span).value
    assert sizes.noise == pytest.approx(scale)


def test_a_span_of_one_halves_what_a_span_of_two_costs():
    arguments = {"reference": Reference(3.0, 5.0), "points": 3000, "rows": 500, "records": 800}
    wide = reweighting.accuracy(20, noise=0.02, failure_probability=0.1, **arguments)
    narrow = reweighting.accuracy(20, noise=0.01, failure_probability=0.1, span=1.0, **arguments)
    assert narrow.value == pytest.approx(wide.value / 2)
    assert (narrow.trivial, wide.trivial) == (1.0, 2.0)


def test_discrete_noise_is_rounded_up_to_its_grid():
    arguments = {"reference": Reference(1.0), "points": None, "rows": None, "records": 10, "failure_probability": 0.1}
    smooth = reweighting.accuracy(5, noise=0.03, **arguments).value
    stepped = reweighting.accuracy(5, noise=0.03, grid=0.1, **arguments).value
    assert smooth < stepped == pytest.approx(2 * math.ceil(smooth / 2 / 0.1) * 0.1)


def test_the_whole_domain_has_no_error_of_the_support_and_needs_no_law():
    bound = reweighting.accuracy(
        11, noise=0.01, reference=reweighting_lemmas.uniform_reference(16), points=None, rows=None, records=100,
        failure_probability=0.1,
    )  # fmt: skip
    assert set(bound.terms) == {"noise", "support"}
    assert bound.terms["support"] == 0
    assert not any("drawn independently" in line for line in bound.assumptions)
    covered = reweighting.accuracy(
        11, noise=0.01, reference=reweighting_lemmas.uniform_reference(16), points=500, rows=None, records=100,
        failure_probability=0.1,
    )  # fmt: skip
    assert covered.terms["support"] == 0
    assert covered.failures["support"] == pytest.approx(16 * (15 / 16) ** 500)


# The algorithm


def test_the_factor_two_on_the_noise_is_attained():
    """With the constant function in the family, whose noise is t, some optimum of the program is 2 t off."""
    signs, _ = parities(2, 1)
    data, t = np.array([0.4, 0.1, 0.1, 0.4]), 0.05
    noisy = signs @ data + np.array([t, t, t])
    weights, optimum = fitted(signs, noisy)
    assert optimum == pytest.approx(t)
    upper = np.vstack([signs, -signs])
    worst = linprog(
        -signs[1], A_ub=upper, b_ub=np.r_[noisy + t, -noisy + t], A_eq=np.ones((1, 4)), b_eq=[1.0], method="highs"
    )
    assert -worst.fun - (signs @ data)[1] == pytest.approx(2 * t)
    assert np.abs(signs @ weights - signs @ data).max() <= 2 * t + 1e-9


def runs_of_algorithm_1(rng, functions, law, *, reference, sizes, runs):
    """Largest errors [runs] against the data and the population; `reference(counts)` is mu, or None for all cells."""
    found = []
    for _ in range(runs):
        counts = rng.multinomial(sizes["records"], law)
        averages = functions @ counts / sizes["records"]
        mu = reference(counts)
        kept = np.ones(len(law), bool) if mu is None else rng.multinomial(sizes["points"], mu) > 0
        noisy = averages + rng.laplace(scale=sizes["noise"], size=len(functions))
        weights, _ = fitted(functions[:, kept], noisy)
        rows = functions[:, kept] @ rng.multinomial(sizes["rows"], weights) / sizes["rows"]
        found.append((np.abs(rows - averages).max(), np.abs(rows - functions @ law).max()))
    return np.array(found).T


def test_theorem_ii_1_holds_in_simulation():
    """200 runs at p = 4, degree 2, gamma = .1, at the sizes of the theorem; false alarms 1e-7.

    At most 4 gamma of the runs may be off by more than 8 delta, or 10 delta against the population.
    """
    rng, runs = np.random.default_rng(21), 200
    functions, _ = parities(4, 2)
    law = skewed(16, rng)
    sizes = reweighting_theorems.theorem_ii_1_sizes(
        11, delta=0.05, gamma=0.1, epsilon=1.0, condition=16 * (law**2).sum()
    )
    used = {"records": sizes.records, "rows": sizes.rows, "points": sizes.points, "noise": sizes.noise}
    data, population = runs_of_algorithm_1(
        rng, functions, law, reference=lambda _: np.full(16, 1 / 16), sizes=used, runs=runs
    )
    assert not sizes.bound.vacuous
    assert np.count_nonzero(data > sizes.bound.value) <= too_many(runs, sizes.bound.failure_probability)
    assert np.count_nonzero(population > 1.25 * sizes.bound.value) <= too_many(runs, sizes.bound.failure_probability)
    # The best bound is tighter, for the data however they came about, and holds as well.
    for found, against in ((data, "data"), (population, "population")):
        best = reweighting.accuracy(
            11, reference=reweighting_lemmas.uniform_reference(16), failure_probability=0.1, against=against, **used
        )
        assert best.value < 0.7 * sizes.bound.value
        assert np.count_nonzero(found > best.value) <= too_many(runs, 0.1)
        assert np.median(found) > best.value / 8


def test_the_best_bound_holds_where_the_support_is_small():
    """200 runs at p = 6 with 150 points for 64 cells: the support, not the noise, limits. False alarms 1e-7."""
    rng, runs, beta = np.random.default_rng(22), 200, 0.2
    functions, _ = parities(6, 2)
    law = np.exp(rng.uniform(0, 1, size=64))
    law /= law.sum()
    used = {"records": 4000, "rows": 4000, "points": 150, "noise": 0.001}
    data, population = runs_of_algorithm_1(
        rng, functions, law, reference=lambda _: np.full(64, 1 / 64), sizes=used, runs=runs
    )
    known = Reference(64 * (law**2).sum(), 64 * law.max())
    for found, against in ((data, "data"), (population, "population")):
        best = reweighting.accuracy(22, reference=known, failure_probability=beta, against=against, **used)
        assert max(best.terms, key=best.terms.get) == "support"
        assert np.count_nonzero(found > best.value) <= too_many(runs, beta)
        assert np.median(found) > best.value / 40


def test_reweighting_over_a_private_histogram_holds_in_simulation():
    """100 runs at p = 4 of Algorithm 1 over Algorithm 2: the reference is made from the same records. 1e-7."""
    rng, runs, beta, epsilon = np.random.default_rng(23), 100, 0.1, 2.0
    functions, _ = parities(4, 2)
    law = skewed(16, rng)
    known = {"cells": 16, "smallest": law.min(), "epsilon": epsilon, "failure_probability": beta / 2}
    n = reweighting_lemmas.histogram_records(4.0, **known)
    noise = reweighting.noise_scale(n, n_functions=11, epsilon=epsilon).value
    used = {"records": n, "rows": 1000, "points": 2000, "noise": noise}

    def histogram(counts):
        noisy = np.maximum(counts + rng.laplace(scale=2 / epsilon, size=16), 0)
        return noisy / noisy.sum()

    data, population = runs_of_algorithm_1(rng, functions, law, reference=histogram, sizes=used, runs=runs)
    reference = reweighting_lemmas.histogram_reference(n, **known)
    for found, against in ((data, "data"), (population, "population")):
        best = reweighting.accuracy(11, reference=reference, failure_probability=beta, against=against, **used)
        assert not best.vacuous
        assert np.count_nonzero(found > best.value) <= too_many(runs, beta)
        assert np.median(found) > best.value / 10


def test_the_bound_after_the_fact_holds_for_any_rows():
    """400 noisy answers to 11 averages, and rows that were not fitted at all; false alarm 1e-7."""
    rng, runs, beta = np.random.default_rng(24), 400, 0.1
    functions, _ = parities(4, 2)
    data = functions @ skewed(16, rng)
    failed, slack = 0, []
    for _ in range(runs):
        noisy = data + rng.laplace(scale=0.02, size=11)
        rows = functions @ skewed(16, rng)
        bound = reweighting.residual_bound(np.abs(rows - noisy).max(), 11, noise=0.02, failure_probability=beta)
        error = np.abs(rows - data).max()
        failed += error > bound.value
        slack.append(bound.value - error)
    assert failed <= too_many(runs, beta)
    assert min(slack) < 0.05
    assert bound.failure_probability == beta


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reweighting.n_boolean_marginals(4, 5), "`order` must be in 0..4"),
        (lambda: reweighting_lemmas.largest_noise(-1, n_answers=1, failure_probability=0.1), "`scale` must be finite"),
        (lambda: reweighting_lemmas.largest_noise(1, n_answers=0, failure_probability=0.1), "`n_answers` must be at"),
        (lambda: reweighting_lemmas.average_error(10, n_functions=3, failure_probability=1), r"must be in \(0, 1\)"),
        (lambda: reweighting_lemmas.variance_error(10, n_functions=3, condition=0.5, failure_probability=0.1), "equal"),
        (lambda: reweighting_lemmas.renyi_divergence(1, total_variation=0.1, ratio=0.5), "`order` must be above 1"),
        (lambda: reweighting_lemmas.frequency_excess(10, cells=3, largest=2), r"`largest` must be in \(0, 1\]"),
        (lambda: reweighting.residual_bound(-1, 3, noise=0.1, failure_probability=0.1), "`residual` must not be"),
        (
            lambda: reweighting_theorems.theorem_ii_1_sizes(3, delta=0, gamma=0.1, epsilon=1, condition=1),
            "`delta` must be pos",
        ),
        (
            lambda: reweighting_lemmas.histogram_records(
                1.0, cells=3, smallest=0.1, epsilon=1, failure_probability=0.1
            ),
            "`condition` must be above 1",
        ),
        (
            lambda: reweighting.accuracy(
                3, noise=0.1, reference=Reference(1.0, failures={"reference": 0.2}), points=5, rows=5, records=5,
                failure_probability=0.2,
            ),
            "must exceed the reference's own, 0.2",
        ),
        (
            lambda: reweighting.sizes(2.5, 3, failure_probability=0.2, reference=Reference(1.0), epsilon=1.0),
            r"`error` must be in \(0, 2\)",
        ),
    ],
)  # fmt: skip
def test_parameters_out_of_range(call, message):
    with pytest.raises(ValueError, match=message):
        call()
