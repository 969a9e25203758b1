"""The published theorems with their constants: step by step, against brute force, and against the printed constants."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.theory.loss import HINGE, LOGISTIC, Loss
from counterfoil.theory.polynomials import bernstein
from counterfoil.theory.published_bounds import dimension_free, lower_bound_parameters, theorem_3_1, theorem_3_2


def coefficient_sum(polynomial, first=0, reach=1.0):
    return sum(abs(a) * reach**k for k, a in enumerate(polynomial.coefficients) if k >= first)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([LOGISTIC, HINGE]), st.integers(1, 20), st.floats(1, 8))
def test_the_steps_of_the_proofs(loss, degree, reach):
    """Errors and coefficients of the Bernstein polynomial on [-R, R] are within what each proof uses."""
    polynomial = bernstein(loss, degree, reach)
    numerical = 1e-3 * reach  # the certified error is itself an upper bound
    assert polynomial.error <= loss.lipschitz * reach / math.sqrt(degree) + numerical
    if loss.smoothness < math.inf:
        assert polynomial.error <= loss.smoothness * reach**2 / (2 * degree) + numerical
    height = loss.lipschitz * reach + loss.at(0.0)
    assert coefficient_sum(polynomial) <= height * (1 + 1 / reach) ** degree * (1 + 1e-9)
    assert coefficient_sum(polynomial, 1, reach) <= 2.0**degree * loss.lipschitz * reach * (1 + 1e-9)


def test_the_interval_of_theorem_3_2_has_length_two_tau_root_m():
    """Appendix A.2 shrinks [-R, R] by R and not by 4 R^2: its error 3 R / (16 N) is below the true one at R = 5."""
    reach, degree = 5.0, 24
    points = np.linspace(-reach, reach, 20_001)
    polynomial = bernstein(LOGISTIC, degree, reach)
    found = np.abs(LOGISTIC(points) - polynomial(points)).max()
    printed = 3 / 4 * (1 / 4 * reach) / degree
    corrected = 3 * reach**2 / (4 * degree)
    assert printed < found <= corrected
    bound = theorem_3_2(0.0, rows=100, features=25, order=degree + 1, radius=1.0)
    assert bound.value == pytest.approx(4 * corrected)


def test_theorem_3_1_constants():
    bound = theorem_3_1(7.0, rows=100, features=4, order=3, radius=2.0)
    assert bound.terms["approximation"] == pytest.approx(10 * 4 / math.sqrt(2))
    assert bound.terms["marginals"] == pytest.approx(2 * (4 + math.log(2)) * (1.25 * 4 * 2) ** 2 * 7 / 100)
    small = theorem_3_1(7.0, rows=100, features=4, order=3, radius=0.25)  # tau sqrt(m) < 1: the interval is [-1, 1]
    assert small.terms["approximation"] == pytest.approx(10 / math.sqrt(2))
    assert small.terms["marginals"] == pytest.approx(2 * (1 + math.log(2)) * (2 * 4) ** 2 * 7 / 100)


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 50), st.integers(2, 12), st.integers(1, 30), st.floats(0.1, 3), st.sampled_from([LOGISTIC, HINGE]))
def test_the_bound_without_the_dimension_is_never_worse(gap, order, features, radius, loss):
    setting = {"rows": 100, "features": features, "order": order, "radius": radius, "loss": loss}
    sharp = dimension_free(gap, rows=100, order=order, norm=radius * math.sqrt(features), loss=loss)
    assert sharp.value <= theorem_3_1(gap, **setting).value * (1 + 1e-9)
    if loss.smoothness < math.inf:
        assert sharp.value <= theorem_3_2(gap, **setting).value * (1 + 1e-9)


def largest_gap(real, synthetic, order):
    """nu: the largest L1 distance, in rows, over all marginals of up to `order` columns (the label is the last)."""

    def counts(rows, columns):
        values, number = np.unique(rows[:, columns], axis=0, return_counts=True)
        return {tuple(v): int(c) for v, c in zip(values, number, strict=True)}

    gaps = []
    for size in range(1, order + 1):
        for columns in itertools.combinations(range(real.shape[1]), size):
            left, right = counts(real, list(columns)), counts(synthetic, list(columns))
            gaps.append(sum(abs(left.get(c, 0) - right.get(c, 0)) for c in {*left, *right}))
    return float(max(gaps))


def test_brute_force_on_small_tables():
    """Both theorems and the bound without m on tables of two features, the models on a fine grid of the disk."""
    rng = np.random.default_rng(5)
    angles, radii = np.linspace(0, 2 * np.pi, 181), np.linspace(0, 1, 21)
    disk = np.array([(r * np.cos(a), r * np.sin(a)) for r in radii for a in angles])
    closest = math.inf
    for _ in range(200):
        n, radius, order = int(rng.integers(3, 30)), float(rng.choice([0.3, 0.7, 1.5])), int(rng.integers(2, 4))
        real = rng.choice([-1.0, 1.0], size=(n, 3))
        synthetic = real[rng.integers(n, size=n)] if rng.uniform() < 0.5 else rng.choice([-1.0, 1.0], size=(n, 3))
        risks = [LOGISTIC(radius * rows[:, :2] @ disk.T * rows[:, 2:]).mean(axis=0) for rows in (real, synthetic)]
        found = risks[0][risks[1].argmin()] - risks[0].min()
        gap = largest_gap(real, synthetic, order)
        setting = {"rows": n, "features": 2, "order": order, "radius": radius}
        sharp = dimension_free(gap, rows=n, order=order, norm=radius * math.sqrt(2))
        for bound in (theorem_3_1(gap, **setting), theorem_3_2(gap, **setting), sharp):
            assert found <= bound.value
        closest = min(closest, sharp.value - found)
    print(f"\nsmallest slack of the bound without m: {closest:.3f}", end="")


def test_the_marginal_term_vanishes_with_the_gap_and_the_order_helps():
    exact = [dimension_free(0.0, rows=10, order=order, norm=1.0).value for order in (2, 3, 5, 9)]
    assert exact == pytest.approx([4 / 8, 4 / 16, 4 / 32, 4 / 64])  # 4 r^2 / (8 N)
    pairs = dimension_free(7.0, rows=100, order=2, norm=3.0)  # N = 1, twice sum_{k >= 1} abs(a_k) r^k <= 2 K r
    assert pairs.terms["marginals"] == pytest.approx(2 * 2 * LOGISTIC.steepness(3.0) * 3 * 7 / 100)
    noisy = dimension_free(10.0, rows=1000, order=60, norm=1.0)
    assert noisy.value <= min(dimension_free(10.0, rows=1000, order=d, norm=1.0).value for d in range(2, 60))


class TestLowerBound:
    """Theorem 4.1's parameters, as Definition B.1 prints them and as they must be."""

    @pytest.mark.parametrize("features", [6, 100, 10**6])
    def test_definition_b_1(self, features):
        hard = lower_bound_parameters(features)
        assert features == pytest.approx(2 * hard.log_rows**5)  # within the theorem's O(ln^6 n)
        assert hard.margin == pytest.approx(hard.log_rows**-3)
        assert hard.tolerance == pytest.approx(math.exp(-hard.log_rows))

    def test_the_condition_of_theorem_b_3_has_the_wrong_sign(self):
        """m >= 2 gamma^(-2 - 2r/5) fails for the margin of Definition B.1; with + it holds with equality."""
        hard, r = lower_bound_parameters(10**4), 5 / 6
        assert hard.features < 2 * hard.margin ** (-2 - 2 * r / 5)
        assert hard.features == pytest.approx(2 * hard.margin ** (-2 + 2 * r / 5))

    def test_the_loss_is_neither_two_lipschitz_nor_gamma_strongly_convex(self):
        hard = lower_bound_parameters(100)
        gamma = hard.margin

        def loss(t):  # equation (3), times gamma
            kinked = np.where(t <= 0, 1 - 2 * t / gamma, np.where(t <= gamma, (t - gamma) ** 2 / gamma**2, 0.0))
            return gamma * ((1 - t) ** 2 / 8 + kinked)

        points = np.linspace(-1, 1, 200_001)
        slopes = np.diff(loss(points)) / np.diff(points)
        assert 2 < np.abs(slopes).max() <= hard.lipschitz
        assert np.abs(slopes).max() == pytest.approx(hard.lipschitz, rel=1e-4)
        curvature = np.diff(slopes) / (points[1] - points[0])
        assert curvature.min() == pytest.approx(hard.strong_convexity, rel=1e-3)

    def test_the_gap_left_by_two_hoeffding_bounds(self):
        hard = lower_bound_parameters(100)
        assert hard.excess_risk == pytest.approx(hard.margin / 8 - 2 * hard.margin / 20)
        assert hard.excess_risk < hard.margin / 16

    def test_large_enough_only_far_out(self):
        assert not lower_bound_parameters(10**6).large_enough
        far = lower_bound_parameters(2 * 36**5)
        assert far.large_enough
        assert math.exp(far.log_rows) >= 800 * far.log_rows**2 / far.margin**2
        assert far.log_rows > math.log(1e15)

    def test_too_few_features_are_refused(self):
        with pytest.raises(ValueError, match="at least 6"):
            lower_bound_parameters(5)


@pytest.mark.parametrize(
    "wrong", [{"gap": -1.0}, {"gap": math.nan}, {"rows": 0}, {"order": 1}, {"radius": 0.0}, {"radius": math.inf}]
)
@pytest.mark.parametrize("theorem", [theorem_3_1, theorem_3_2])
def test_parameters_out_of_range_are_refused(theorem, wrong):
    setting = {"gap": 1.0, "rows": 10, "features": 2, "order": 2, "radius": 1.0} | wrong
    with pytest.raises(ValueError, match="Found"):
        theorem(setting.pop("gap"), **setting)


def test_theorem_3_2_refuses_a_kink():
    kink = Loss("kink", np.abs, lipschitz=1.0)
    with pytest.raises(ValueError, match=r"Found kink: use Theorem 3\.1"):
        theorem_3_2(1.0, rows=10, features=2, order=2, radius=1.0, loss=kink)
