"""The certificate against tables: it is never violated, and it says how tight it is (`pytest -s`)."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from counterfoil.theory.excess_risk import excess_risk, uniform_deviation_from_marginals, uniform_deviation_from_moments
from counterfoil.theory.loss import HINGE, LOGISTIC
from counterfoil.theory.polynomials import chebyshev


@dataclass
class Rows:
    features: np.ndarray  # [n, m] in [-1, 1]
    labels: np.ndarray  # [n], -1 or 1


def risk(weights, rows, loss):
    return float(loss(rows.features @ weights * rows.labels).mean())


def moment_gaps(real, synthetic, order):
    """The largest gap over all index tuples, by enumeration of the tensor powers."""

    def moments(rows, power):
        tensor = rows.labels if power % 2 else np.ones(len(rows.labels))
        for _ in range(power):
            tensor = tensor[..., None] * rows.features.reshape(len(rows.labels), *[1] * (tensor.ndim - 1), -1)
        return tensor.mean(axis=0)

    return {k: float(np.abs(moments(real, k) - moments(synthetic, k)).max()) for k in range(1, order + 1)}


def marginal_gaps(real, synthetic, order):
    """The largest normalised L1 distance over features' marginals, with the label at odd orders."""

    def distance(columns, with_label):
        def counts(rows):
            cells = rows.features[:, columns]
            cells = np.column_stack([cells, rows.labels]) if with_label else cells
            values, counts = np.unique(cells, axis=0, return_counts=True)
            return {tuple(v): c / len(cells) for v, c in zip(values, counts, strict=True)}

        left, right = counts(real), counts(synthetic)
        return sum(abs(left.get(cell, 0) - right.get(cell, 0)) for cell in {*left, *right})

    m = real.features.shape[1]
    return {
        k: max(distance(list(q), k % 2 == 1) for q in itertools.combinations(range(m), min(k, m)))
        for k in range(1, order + 1)
    }


def models(rng, m, norm, number):
    """The vertices of the L1 ball, points of its faces, and points inside."""
    faces = rng.exponential(size=(number, m)) * rng.choice([-1, 1], size=(number, m))
    faces *= norm / np.abs(faces).sum(axis=1, keepdims=True)
    return np.vstack([norm * np.eye(m), -norm * np.eye(m), faces, faces * rng.uniform(size=(number, 1))])


def largest_deviation(rng, real, synthetic, norm, loss):
    """max over the L1 ball of abs(L(w, real) - L(w, synthetic)), searched: a lower bound on the true maximum."""
    candidates = models(rng, real.features.shape[1], norm, 12)

    def deviations(candidates):
        left = loss(real.features @ candidates.T * real.labels[:, None]).mean(axis=0)
        return np.abs(left - loss(synthetic.features @ candidates.T * synthetic.labels[:, None]).mean(axis=0))

    best, scale = candidates[deviations(candidates).argmax()], norm / 2
    for _ in range(8):  # random local search, projected on the ball by scaling
        near = best + scale * rng.normal(size=(16, len(best))) / math.sqrt(len(best))
        near *= np.minimum(1, norm / np.abs(near).sum(axis=1, keepdims=True))
        near = np.vstack([best, near])
        best, scale = near[deviations(near).argmax()], scale / 2
    return float(deviations(best[None]).max())


def random_pair(rng):
    """A real and a synthetic table: unrelated, resampled, with flipped labels, or shuffled column by column."""
    m, n = int(rng.integers(1, 5)), int(rng.integers(2, 60))
    values = [np.array([-1.0, 1.0]), np.array([0.0, 1.0]), np.linspace(-1, 1, 5)][rng.integers(3)]
    features = rng.choice(values, size=(n, m))
    labels = np.where(rng.uniform(size=n) < 1 / (1 + np.exp(-2 * features.sum(axis=1))), 1.0, -1.0)
    real = Rows(features, labels)
    match rng.integers(4):
        case 0:
            n_synthetic = int(rng.integers(2, 60))
            return real, Rows(rng.choice(values, size=(n_synthetic, m)), rng.choice([-1.0, 1.0], size=n_synthetic))
        case 1:
            drawn = rng.integers(n, size=2 * n)
            return real, Rows(features[drawn], labels[drawn])
        case 2:
            return real, Rows(features, np.where(rng.uniform(size=n) < 0.2, -labels, labels))
        case _:
            return real, Rows(rng.permuted(features, axis=0), labels)


def test_random_certificates_hold():
    """No false alarm is possible: the inequality is deterministic.

    What is found reaches 0.9 of what is certified, or all but a thousandth, for each order and loss: so much less in a
    constant would be noticed.
    """
    rng = np.random.default_rng(20240701)
    ratios = {"moments": [], "marginals": []}
    for trial in range(400):
        real, synthetic = random_pair(rng)
        norm, order = float(rng.choice([0.5, 1.0, 2.0, 4.0])), int(rng.integers(1, 4))
        loss = LOGISTIC if rng.uniform() < 0.75 else HINGE
        found = largest_deviation(rng, real, synthetic, norm, loss)
        by_moments, by_marginals = moment_gaps(real, synthetic, order), marginal_gaps(real, synthetic, order)
        certificate = uniform_deviation_from_moments(by_moments, norm, loss=loss)
        assert found <= certificate.value
        ratios["moments"].append(found / certificate.value)
        assert all(by_moments[k] <= by_marginals[k] + 1e-12 for k in by_moments)  # so marginals certify no less
        if trial % 4 == 0:
            certificate = uniform_deviation_from_marginals(by_marginals, norm, loss=loss)
            assert found <= certificate.value
            ratios["marginals"].append(found / certificate.value)
    for form, values in ratios.items():
        low, median, high = np.quantile(values, [0.1, 0.5, 0.9])
        print(f"\nfound / certified from {form}: {low:.2f}, {median:.2f}, {high:.2f} (10%, 50%, 90%)", end="")
        assert high > 0.5  # a certificate this loose everywhere would be a wrong constant


def erm(rows, norm, loss):
    """The minimiser over the L1 ball: w = p - q with p, q >= 0 and sum(p + q) <= norm."""
    m = rows.features.shape[1]

    def value_and_gradient(split):
        margins = rows.features @ (split[:m] - split[m:]) * rows.labels
        slopes = -rows.labels / (1 + np.exp(margins)) / len(margins)
        gradient = rows.features.T @ slopes
        return risk(split[:m] - split[m:], rows, loss), np.concatenate([gradient, -gradient])

    ball = {"type": "ineq", "fun": lambda s: norm - s.sum(), "jac": lambda s: -np.ones_like(s)}
    start = np.full(2 * m, norm / (4 * m))
    found = minimize(
        value_and_gradient, start, jac=True, bounds=[(0, norm)] * 2 * m, constraints=[ball], method="SLSQP"
    )
    weights = found.x[:m] - found.x[m:]
    return weights * min(1, norm / max(np.abs(weights).sum(), 1e-12))


def test_the_excess_risk_of_trained_models_is_within_its_certificate():
    rng = np.random.default_rng(7)
    ratios = []
    for _ in range(60):
        real, synthetic = random_pair(rng)
        norm = float(rng.choice([0.5, 1.0, 3.0]))
        trained, best = erm(synthetic, norm, LOGISTIC), erm(real, norm, LOGISTIC)
        found = risk(trained, real, LOGISTIC) - risk(best, real, LOGISTIC)
        assert found >= -1e-4  # SLSQP's own accuracy
        certificate = excess_risk(
            uniform_deviation_from_moments(moment_gaps(real, synthetic, 2), norm), training_gap=1e-4
        )
        assert found <= certificate.value
        ratios.append(found / certificate.value)
    print(f"\nexcess risk found / certified: median {np.median(ratios):.3f}, largest {max(ratios):.2f}", end="")


def test_opposite_tables_attain_the_certificate():
    """All labels flipped: the risks differ by phi(-r) - phi(r) = r, the most that is possible."""
    ones = np.ones((3, 1))
    real, synthetic = Rows(ones, np.ones(3)), Rows(ones, -np.ones(3))
    gaps = moment_gaps(real, synthetic, 2)
    assert gaps == {1: 2.0, 2: 0.0}
    deviation = uniform_deviation_from_moments(gaps, 1.0)
    exact = risk(np.array([-1.0]), real, LOGISTIC) - risk(np.array([-1.0]), synthetic, LOGISTIC)
    assert exact == pytest.approx(1.0)
    assert exact <= deviation.value <= exact + 2 * 6.1e-4
    trained, best = erm(synthetic, 1.0, LOGISTIC), erm(real, 1.0, LOGISTIC)
    assert risk(trained, real, LOGISTIC) - risk(best, real, LOGISTIC) == pytest.approx(deviation.trivial, abs=1e-6)


def test_degree_two_is_the_published_form():
    """2 E_2 + abs(a_1) r gap_1 + abs(a_2) r^2 gap_2 with E_2 = 6.0e-4, a_1 = -0.5, a_2 near 0.12 on [-1, 1]."""
    deviation = uniform_deviation_from_moments({1: 0.01, 2: 0.02}, 1.0)
    assert deviation.value == pytest.approx(2 * 6.0e-4 + 0.5 * 0.01 + 0.12 * 0.02, rel=0.01)
    series = chebyshev(LOGISTIC, 2, 1.0)
    assert deviation.value <= 2 * series.error + series.weighted_sum([0.01, 0.02])
    assert excess_risk(deviation).value == pytest.approx(2 * deviation.value)


def test_the_sum_over_index_tuples_is_a_power_of_the_norm():
    """The step that replaces the paper's m^k: sum over u in [m]^k of prod abs(w[u]) = norm1(w)^k."""
    weights = np.array([0.3, -0.2, 0.7, 0.05])
    for k in range(1, 5):
        total = sum(math.prod(abs(weights[i]) for i in u) for u in itertools.product(range(4), repeat=k))
        assert total == pytest.approx(np.abs(weights).sum() ** k)


def test_the_label_is_not_needed_at_even_orders():
    """Equal labelled means and label-free pairs, different labelled pairs: degree 2 sees no gap, and there is none."""
    features = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    real, synthetic = Rows(features, np.array([1.0, 1, -1, -1])), Rows(features, np.array([-1.0, -1, 1, 1]))
    assert moment_gaps(real, synthetic, 2) == {1: 0.0, 2: 0.0}
    assert marginal_gaps(real, synthetic, 2) == {1: 0.0, 2: 0.0}
    found = largest_deviation(np.random.default_rng(1), real, synthetic, 1.0, LOGISTIC)
    assert found <= uniform_deviation_from_moments({1: 0.0, 2: 0.0}, 1.0).value


def test_odd_orders_need_the_label():
    ones = np.ones((2, 1))
    real, synthetic = Rows(ones, np.array([1.0, 1.0])), Rows(ones, np.array([1.0, -1.0]))
    found = largest_deviation(np.random.default_rng(1), real, synthetic, 1.0, LOGISTIC)
    assert found > uniform_deviation_from_moments({1: 0.0, 2: 0.0}, 1.0).value
    assert found <= uniform_deviation_from_moments(moment_gaps(real, synthetic, 2), 1.0).value


@pytest.mark.parametrize("middle", [False, True])
def test_bins_hold_and_are_needed(middle):
    """Same cells, values at opposite ends of the steepest bin (or at its end and its middle)."""
    width = 0.25
    real = Rows(np.full((4, 1), 1.0), -np.ones(4))
    synthetic = Rows(np.full((4, 1), 1 - width / 2 if middle else 1 - width), -np.ones(4))
    resolution = width / 2 if middle else width
    found = largest_deviation(np.random.default_rng(2), real, synthetic, 1.0, LOGISTIC)
    without = uniform_deviation_from_marginals({1: 0.0, 2: 0.0}, 1.0)
    within = uniform_deviation_from_marginals({1: 0.0, 2: 0.0}, 1.0, resolution=resolution)
    assert without.value < found <= within.value
    assert found >= 0.9 * within.terms["bins"]


def test_random_binned_tables_hold():
    rng = np.random.default_rng(11)
    for _ in range(100):
        bins, n, m = int(rng.integers(2, 9)), int(rng.integers(5, 40)), int(rng.integers(1, 4))
        width = 2 / bins
        codes, other = rng.integers(bins, size=(n, m)), rng.integers(bins, size=(n, m))
        labels = rng.choice([-1.0, 1.0], size=n)
        place = lambda codes, shift, width=width: -1 + width * (codes + shift)  # noqa: E731
        cells = Rows(codes.astype(float), labels), Rows(other.astype(float), labels)
        gaps = marginal_gaps(*cells, 2)
        real = Rows(place(codes, rng.uniform(size=(n, m))), labels)
        for shift, resolution in ((rng.uniform(size=(n, m)), width), (0.5, width / 2)):
            synthetic = Rows(place(other, shift), labels)
            bound = uniform_deviation_from_marginals(gaps, 2.0, resolution=resolution)
            assert largest_deviation(rng, real, synthetic, 2.0, LOGISTIC) <= bound.value


def test_additive_scores_are_covered_by_the_largest_weight_of_each_attribute():
    """One indicator per category: sum over attributes of the largest weight is the norm, however many categories."""
    rng = np.random.default_rng(3)
    for _ in range(100):
        n, sizes = int(rng.integers(5, 40)), (5, 3)
        tables = [
            Rows(np.column_stack([rng.integers(s, size=n) for s in sizes]).astype(float), rng.choice([-1.0, 1.0], n))
            for _ in range(2)
        ]
        bound = uniform_deviation_from_marginals(marginal_gaps(*tables, 3), 1.0)
        for _ in range(20):
            shares = rng.dirichlet([1, 1])
            scores = [share * rng.choice([-1.0, 1.0], size=s) for share, s in zip(shares, sizes, strict=True)]
            risks = []
            for table in tables:
                codes = table.features.astype(int)
                margins = sum(score[codes[:, a]] for a, score in enumerate(scores)) * table.labels
                risks.append(LOGISTIC(margins).mean())
            assert abs(risks[0] - risks[1]) <= bound.value


def test_vacuous_says_so():
    sharp = uniform_deviation_from_moments({1: 0.01, 2: 0.01}, 1.0)
    assert not sharp.vacuous
    assert "vacuous" not in str(sharp)
    blunt = uniform_deviation_from_marginals(2.0, 5.0, max_degree=3)
    assert blunt.vacuous
    assert blunt.trivial == pytest.approx(5.0)
    assert "vacuous: 5 holds for any data" in str(blunt)
    assert excess_risk(uniform_deviation_from_moments({1: 1.2}, 1.0)).vacuous  # twice 0.72 against 1


def test_higher_orders_help_only_if_they_are_known():
    coarse = uniform_deviation_from_moments({1: 0.01}, 1.0)
    unknown = uniform_deviation_from_moments({1: 0.01, 2: math.inf}, 1.0)
    known = uniform_deviation_from_moments({1: 0.01, 2: 0.01}, 1.0)
    assert known.value < 0.2 * coarse.value
    assert unknown.value == pytest.approx(coarse.value, rel=1e-6)


def test_the_logistic_loss_needs_no_odd_order_above_one():
    gaps = {1: 0.01, 2: 0.01, 3: 0.01, 4: 0.02}
    known, unknown = (uniform_deviation_from_moments(gaps | {3: gap}, 3.0) for gap in (0.01, math.inf))
    assert unknown.value == pytest.approx(known.value, rel=1e-4)
    assert known.value < uniform_deviation_from_moments({1: 0.01, 2: 0.01}, 3.0).value


def test_terms_add_up_and_are_doubled():
    deviation = uniform_deviation_from_marginals({1: 0.05, 2: 0.08}, 1.0, resolution=0.1)
    assert set(deviation.terms) == {"approximation", "marginals", "bins"}
    assert deviation.value == pytest.approx(sum(deviation.terms.values()))
    excess = excess_risk(deviation, training_gap=0.01)
    assert excess.value == pytest.approx(2 * deviation.value + 0.01)
    assert set(deviation.assumptions) < set(excess.assumptions)


@pytest.mark.parametrize(
    "call",
    [
        lambda: uniform_deviation_from_moments({}, 1.0),
        lambda: uniform_deviation_from_moments({2: 0.1}, 1.0),
        lambda: uniform_deviation_from_moments({1: -0.1}, 1.0),
        lambda: uniform_deviation_from_moments({1: math.nan}, 1.0),
        lambda: uniform_deviation_from_moments({1: 0.1}, 0.0),
        lambda: uniform_deviation_from_marginals(0.1, 1.0),
        lambda: uniform_deviation_from_marginals({1: 0.1}, 1.0, max_degree=1),
        lambda: uniform_deviation_from_marginals({1: 0.1}, 1.0, resolution=-0.1),
        lambda: uniform_deviation_from_marginals({1: 0.1}, 1.0, resolution=math.nan),
        lambda: excess_risk(uniform_deviation_from_moments({1: 0.1}, 1.0), training_gap=-1.0),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match=r"Found"):
        call()
