"""The constants of Private Evolution: each test of a corrected one fails if the paper's is put back."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.theory import complexity, positive_histogram, private_evolution
from counterfoil.transport import bounded_lipschitz, wasserstein

REPLACE, ADD = NeighboringRelation.REPLACE_ONE, NeighboringRelation.ADD_OR_REMOVE_ONE


def gaussian_delta(epsilon, mu):
    return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


# --- variations -----------------------------------------------------------------------------------------------


def test_variation_scale_minimizes_the_proof_and_gives_gamma():
    for dimension in (1, 2, 8):
        bound = (math.sqrt(dimension) + math.log(2)) ** 2 + math.log(2)
        scale = private_evolution.variation_scale(3, dimension=dimension, resolution=0.1).value
        reach = 0.1 * 2**2

        def change(s, reach=reach, bound=bound):
            return -2 * s * reach / math.sqrt(math.pi) + s**2 * bound

        assert change(scale) < min(change(scale * 0.99), change(scale * 1.01))
        # The square shrinks by 1 - reach^2 / (pi K |z|^2), at least 1 - 1 / (4 pi K) = 1 - 2 gamma, as |z| <= 2 reach.
        gamma = private_evolution.contraction(dimension).value
        assert -change(scale) / (2 * reach) ** 2 == pytest.approx(2 * gamma)


def test_transcribed_scale_would_not_contract():
    # With K under the root the minimized expression is positive: the paper's proof would give no progress.
    bound = (math.sqrt(2) + math.log(2)) ** 2 + math.log(2)
    transcribed = 0.4 / math.sqrt(math.pi * bound)
    assert -2 * transcribed * 0.4 / math.sqrt(math.pi) + transcribed**2 * bound > 0


@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_mean_of_the_larger_chi_square_is_below_the_bound(dimension):
    # E max = d + E|X - Y| / 2; 200000 draws put the mean within 6 deviations (false alarm below 1e-8).
    draws = np.random.default_rng(dimension).chisquare(dimension, size=(200_000, 2)).max(axis=1)
    slack = 6 * draws.std() / math.sqrt(len(draws))
    assert draws.mean() - slack <= dimension + math.sqrt(dimension)
    gamma = private_evolution.contraction(dimension).value
    assert dimension + math.sqrt(dimension) < 1 / (8 * math.pi * gamma)


@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_variations_contract_as_lemma_d_1_says(dimension):
    # 4000 runs at three distances; the mean is compared with 6 of its deviations (false alarm below 1e-7 in all).
    rng = np.random.default_rng(dimension)
    alpha, diameter = 0.05, 2.0
    levels = int(private_evolution.n_levels(diameter, alpha).value)
    gamma = private_evolution.contraction(dimension).value
    scales = [
        private_evolution.variation_scale(level + 1, dimension=dimension, resolution=alpha).value
        for level in range(levels)
    ]
    for distance in (0.06, 0.4, 1.9):
        target = np.zeros(dimension)
        target[0] = distance
        moves = rng.normal(size=(4000, levels, 2, dimension)) * np.array(scales)[:, None, None]
        nearest = np.minimum(np.linalg.norm(moves - target, axis=-1).min(axis=(1, 2)), distance)
        assert nearest.mean() - 6 * nearest.std() / math.sqrt(4000) <= (1 - gamma) * distance + alpha
        assert nearest.mean() < (1 - gamma) * distance


def test_levels():
    assert private_evolution.n_levels(2.0, 0.25).value == 3
    assert private_evolution.n_levels(2.0, 0.24).value == 4
    assert private_evolution.n_levels(2.0, 5.0).value == 0


# --- noise and parameters ---------------------------------------------------------------------------------------


def test_noise_is_calibrated_exactly():
    found = private_evolution.noise(1, 1e-4, n=1000, iterations=14).value
    assert found == pytest.approx(0.016857, abs=5e-7)
    mu = brentq(lambda mu: gaussian_delta(1, mu) - 1e-4, 0.01, 10, xtol=1e-14)
    assert found == pytest.approx(math.sqrt(2 * 14) / (1000 * mu), rel=1e-6)
    assert gaussian_delta(1, math.sqrt(2 * 14) / (1000 * found)) <= 1e-4
    added = private_evolution.noise(1, 1e-4, n=1000, iterations=14, relation=ADD).value
    assert added == pytest.approx(found / math.sqrt(2))


@pytest.mark.parametrize(
    ("n", "rounds", "about", "exact"), [(100, 10, 3, 4), (1000, 14, 22, 23), (10000, 19, 153.5, 154)]
)
def test_population_in_the_setup_of_section_6(n, rounds, about, exact):
    plan = private_evolution.plan(1, 1e-4, n=n, dimension=2, diameter=2.0)
    assert plan.iterations.value == rounds
    assert plan.population.value == exact
    variations = 2 * plan.levels.value + 1
    assert variations ** (1 / 2 - 1) / plan.noise.value == pytest.approx(about, rel=0.05)
    assert plan.resolution.value == pytest.approx(2 * math.sqrt(plan.noise.value))


def test_population_is_at_least_one():
    assert private_evolution.population(3.0, dimension=2, diameter=2.0).value == 1


def test_the_theorems_iterations_are_not_positive_below_a_large_n():
    gamma = private_evolution.contraction(2).value
    least = 4 * math.sqrt(math.log(1e4)) / gamma**2
    assert least == pytest.approx(2.02e5, rel=0.01)
    assert private_evolution.theorem_iterations(0.99 * least, 1, 1e-4, dimension=2).value <= 0
    assert private_evolution.theorem_iterations(1.01 * least, 1, 1e-4, dimension=2).value > 0
    assert private_evolution.theorem_iterations(10**9, 1, 1e-4, dimension=8).value < 0
    assert private_evolution.iterations(2, 0.1).value == 1


def test_noise_schedule_costs_the_same_and_helps():
    for gamma in (0.008, 0.3):
        schedule = np.array(private_evolution.noise_schedule(1, 1e-4, n=1000, iterations=14, contraction=gamma))
        uniform = private_evolution.noise(1, 1e-4, n=1000, iterations=14).value
        assert (schedule**-2).sum() == pytest.approx(14 / uniform**2)
        weights = (1 - gamma) ** np.arange(13, -1, -1)
        best = weights @ schedule
        assert best < weights @ np.full(14, uniform)
        rng = np.random.default_rng(0)
        for _ in range(20):
            other = schedule * np.exp(0.1 * rng.normal(size=14))
            other *= math.sqrt((other**-2).sum() / (schedule**-2).sum())
            assert weights @ other > best


# --- bounds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2, 3, 6, 20])
def test_dyadic_complexity_is_below_the_published_form(dimension):
    # So that Corollary D.1 holds for these sizes, although its proof drops a constant.
    for size in (1, 2, 10, 1000, 10**6, 10**9):
        proven = complexity.complexity(size, dimension=dimension, diameter=3.0, noise="gaussian").value
        assert proven <= complexity.published_complexity(size, dimension=dimension, diameter=3.0).value


@pytest.mark.parametrize(("dimension", "law"), [(1, "gaussian"), (2, "gaussian"), (2, "laplace"), (3, "gaussian")])
def test_complexity_bounds_the_supremum(dimension, law):
    # sup f . x / n is D_BL(x / n, 0): mean of 60 draws, 6 deviations (false alarm below 1e-6), spread and clumped.
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(dimension)
    for clump in (1.0, 0.01):
        points = rng.uniform(size=(100, dimension)) * clump / math.sqrt(dimension)
        bound = complexity.complexity(100, dimension=dimension, diameter=1.0, noise=law).value
        draws = rng.normal(size=(60, 100)) if law == "gaussian" else rng.laplace(size=(60, 100))
        origin, nothing = points[:1], np.zeros(1)
        found = [bounded_lipschitz.distance(points, x / 100, origin, nothing, diameter=1.0) for x in draws]
        assert np.mean(found) - 6 * np.std(found) / math.sqrt(60) <= bound
        assert np.mean(found) > bound / 20


@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_sampling_error_bounds_the_distance_to_the_source(dimension):
    # 40 samples of 256 from 400 equal points: mean against 6 deviations (false alarm below 1e-6).
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(dimension)
    source = rng.uniform(size=(400, dimension)) / math.sqrt(dimension)
    found = [wasserstein.distance(source, source[rng.integers(0, 400, 256)]) for _ in range(40)]
    bound = complexity.sampling_error(256, dimension=dimension, diameter=1.0).value
    assert np.mean(found) - 6 * np.std(found) / math.sqrt(40) <= bound < 1


def test_one_draw_in_the_plane_is_not_at_its_source():
    # log(1) = 0 in Lemma D.5 would say so; half the mass is at distance one of any draw.
    assert complexity.published_sampling_error(1, dimension=2, diameter=1.0, constant=1.0).value >= 0.5
    assert complexity.sampling_error(1, dimension=2, diameter=1.0).value >= 0.5


def test_convergence_is_the_recursion_unrolled():
    step = private_evolution.step_error(
        resolution=0.01, noise=1e-4, n_variations=9, population=50, dimension=2, diameter=2.0
    )
    bound = private_evolution.convergence(step, initial=1.5, iterations=12, contraction=0.1)
    steps = private_evolution.trajectory(1.5, [step.value] * 12, contraction=0.1)
    assert bound.value == pytest.approx(steps[-1])
    assert len(steps) == 13
    fixed = step.value / 0.1
    assert bound.value == pytest.approx(0.9**12 * (1.5 - fixed) + fixed)  # equation (2), Theorem F.1
    assert bound.assumptions
    assert "F.1" in bound.source


def test_step_error_in_the_papers_form():
    step = private_evolution.step_error(
        resolution=0.01, noise=1e-4, n_variations=9, population=50, dimension=2, diameter=2.0, constant=1.5
    )
    candidates = 450
    expected = 20 * 2 * math.sqrt(candidates) * 1e-4 * math.log(2 * math.sqrt(candidates)) ** 1.5
    assert step.terms["noise"] == pytest.approx(expected)
    assert step.terms["resampling"] == pytest.approx(1.5 * 2 * math.log(51) / math.sqrt(50))


def test_lower_bound_on_epsilon():
    found = private_evolution.closeness_epsilon(1001, failure_probability=0.1)
    assert found.value == pytest.approx(math.log(1000 * 9))
    packing = private_evolution.ball_packing(0.02, radius=1.0, dimension=2).value
    assert packing == 2500
    # A grid in the disk that is 0.0200001 apart has more points than the lower bound promises.
    axis = np.arange(-50, 51) * 0.0200001
    grid = np.array(list(itertools.product(axis, axis)))
    assert (np.linalg.norm(grid, axis=1) <= 1).sum() >= packing


# --- histogram of positive counts -------------------------------------------------------------------------------


def outputs(count, scale, threshold, span):
    """The distribution of what is released of one count: None, or a value in threshold..span."""
    values = np.arange(threshold, span)
    if count == 0:
        return np.concatenate([[1.0], np.zeros(len(values))])
    ratio = math.exp(-1 / scale)
    shown = (1 - ratio) / (1 + ratio) * ratio ** np.abs(values - count)
    return np.concatenate([[1 - shown.sum()], shown])


def hockey_stick(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


def neighbors(relation):
    """Counts of two bins before and after: all ways in which a record can touch them."""
    tables = list(itertools.product(range(4), repeat=2))
    for a, b in itertools.product(tables, repeat=2):
        change = sorted(y - x for x, y in zip(a, b, strict=True))
        if change in ([[0, 1], [-1, 0]] if relation is ADD else [[-1, 1]]):
            yield a, b


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("iterations", [1, 2])
def test_positive_histogram_delta_by_enumeration(relation, iterations):
    scale, threshold = 1.3, 3
    for epsilon in (0.3, 0.9, 1.7):
        claimed = positive_histogram.delta(
            epsilon, scale=scale, threshold=threshold, iterations=iterations, relation=relation
        ).value
        worst = 0.0
        pairs = []
        for a, b in neighbors(relation):
            p, q = (
                np.multiply.outer(*(outputs(count, scale, threshold, 16) for count in table)).ravel()
                for table in (a, b)
            )
            pairs.append(((a, b), p, q))
        if iterations == 1:
            worst = max(hockey_stick(p, q, epsilon) for _, p, q in pairs)
        else:  # the variations change between rounds, so that a record may touch other bins in each
            few = [pair for pair in pairs if max(*pair[0][0], *pair[0][1]) <= 2]
            for (_, p1, q1), (_, p2, q2) in itertools.combinations_with_replacement(few[:10], 2):
                worst = max(worst, hockey_stick(np.outer(p1, p2), np.outer(q1, q2), epsilon))
        assert worst <= claimed * (1 + 1e-9)
        assert worst > claimed / 10


def test_enumeration_catches_halved_noise_and_released_zeros():
    # What is claimed for scale 2 does not hold for scale 1, nor where counts of zero are noised and released.
    claimed = positive_histogram.delta(0.9, scale=2.0, threshold=12, iterations=1, relation=ADD).value
    halved = [outputs(count, 1.0, 12, 60) for count in (20, 19)]
    assert hockey_stick(*halved, 0.9) > claimed
    released_always = [np.append(outputs(count, 2.0, 1, 60)[1:], 0) for count in (1, 2)]
    seen = np.append(np.zeros(len(released_always[0]) - 1), 1.0)  # a zero that shows as itself
    assert hockey_stick(seen, released_always[0], 0.9) > claimed


def test_randomized_responses_by_enumeration():
    each = 0.4
    high = math.exp(each) / (1 + math.exp(each))
    for count in (1, 3, 6):
        p = np.array(
            [math.prod(high if bit else 1 - high for bit in w) for w in itertools.product([1, 0], repeat=count)]
        )
        for epsilon in (0.0, 0.5, 1.1):
            expected = hockey_stick(p, p[::-1], epsilon)
            found = positive_histogram.randomized_response_delta(epsilon, each, count)
            assert found == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("iterations", [1, 14])
def test_positive_histogram_noise_keeps_its_budget_and_no_smaller_threshold_does(relation, iterations):
    found = positive_histogram.noise(1.0, 1e-4, iterations=iterations, relation=relation)
    arguments = {"scale": found.scale, "iterations": iterations, "relation": relation}
    spent = positive_histogram.delta(1.0, threshold=found.threshold, **arguments).value
    assert 0.5e-4 < spent <= 1e-4
    assert positive_histogram.delta(1.0, threshold=found.threshold - 1, **arguments).value > 1e-4


def test_one_release_at_the_papers_parameters_shows_a_one_with_half_of_delta():
    # In counts: scale 2 / epsilon, threshold 2 log(1/delta) / epsilon + 1; continuous noise has tail delta / 2.
    epsilon, delta = 1.0, 1e-4
    threshold = math.ceil(2 * math.log(1 / delta) / epsilon + 1)
    shown = positive_histogram.survival(2 / epsilon, threshold)
    assert delta / 2 * 0.5 < shown < delta / 2 * 1.3
    composed = positive_histogram.delta(epsilon, scale=2.0, threshold=threshold, iterations=14, relation=REPLACE).value
    assert composed > 100 * delta  # the same parameters over 14 rounds


def test_proposition_4_1_bounds_the_simulated_error():
    # 60 runs; mean against 6 deviations (false alarm below 1e-6).
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(6)
    points = rng.uniform(size=(12, 2)) / math.sqrt(2)
    counts = np.array([4000, 3000, 2000, 500, 300, 150, 30, 20, 0, 0, 0, 0])
    epsilon, delta, n = 0.5, 1e-3, counts.sum()
    threshold = 2 * math.log(1 / delta) / (n * epsilon) + 1 / n
    found = []
    for _ in range(60):
        noisy = counts / n + rng.laplace(scale=2 / (n * epsilon), size=12)
        kept = np.where((counts > 0) & (noisy >= threshold), noisy, 0)
        found.append(wasserstein.distance(points, points, weights_a=counts, weights_b=kept))
    bound = positive_histogram.proposition_4_1(counts.tolist(), epsilon=epsilon, delta=delta, dimension=2, diameter=1.0)
    assert np.mean(found) - 6 * np.std(found) / math.sqrt(60) <= bound.value < 0.2


def test_proposition_4_1_counts_the_small_bins():
    # n = 1000, b = 2 / (n eps) = 0.002, H = 0.0194; bins up to H + b log(3 / 0.05) = 0.0276, 27 records, are small.
    bound = positive_histogram.proposition_4_1([945, 28, 27, 0], epsilon=1, delta=1e-4, dimension=2, diameter=3.0)
    threshold = 0.002 * math.log(1e4) + 0.001
    assert bound.terms["removed by the threshold"] == pytest.approx(2 * 3 * threshold * (1 + 3 * 0.05))
    assert bound.terms["renormalization"] == pytest.approx(2 * 3 * math.sqrt(2 * 3) / 1000)


def test_the_term_that_proposition_4_1_misses():
    # One count of one, weak delta: the mean size of what the threshold removes is above H, as the negative part is.
    epsilon, delta = 0.1, 0.9
    scale = 2 / epsilon
    threshold = scale * math.log(1 / delta) + 1
    noisy = np.linspace(-60 * scale, threshold, 2_000_001)
    density = np.exp(-np.abs(noisy - 1) / scale) / (2 * scale)
    removed = np.trapezoid(np.abs(noisy) * density, noisy)
    assert removed > threshold
    assert removed <= threshold + scale / 2 * math.exp(-1 / scale)
    bound = positive_histogram.proposition_4_1([1], epsilon=epsilon, delta=delta, dimension=1, diameter=1.0)
    assert bound.terms["noise below zero"] == pytest.approx(scale * math.exp(-1 / scale))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: private_evolution.noise(1, 0.0, n=10, iterations=1), "`delta`"),
        (lambda: private_evolution.noise(1, 1e-4, n=10, iterations=0), "`iterations`"),
        (lambda: private_evolution.noise(-1, 1e-4, n=10, iterations=1), "`epsilon`"),
        (lambda: private_evolution.contraction(0), "`dimension`"),
        (lambda: private_evolution.variation_scale(0, dimension=2, resolution=0.1), "`level`"),
        (lambda: private_evolution.resolution(0.1, dimension=2, diameter=math.nan), "`diameter`"),
        (lambda: private_evolution.trajectory(1.0, [0.1], contraction=1.0), "`contraction`"),
        (lambda: private_evolution.closeness_epsilon(1, failure_probability=0.1), "`packing_number`"),
        (lambda: private_evolution.closeness_epsilon(9, failure_probability=0), "`failure_probability`"),
        (lambda: positive_histogram.noise(1, 0.0, iterations=1, relation=ADD), "`delta`"),
        (lambda: positive_histogram.survival(0.0, 1), "`scale`"),
        (lambda: positive_histogram.delta(1, scale=1, threshold=1, iterations=0, relation=ADD), "`iterations`"),
        (lambda: complexity.sampling_error(0, dimension=1, diameter=1.0), "at least 1"),
        (lambda: complexity.published_sampling_error(1, dimension=1, diameter=1.0, constant=0), "`constant`"),
    ],
)
def test_bad_parameters_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
