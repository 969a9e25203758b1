import math

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine, estimate_total

DOMAIN = Domain(("a", "b"), (2, 3))


def test_repeated_cliques_merge_with_the_inverse_of_their_variances():
    first = NoisyMarginal(("a", "b"), np.arange(6.0).reshape(2, 3), 1.0)
    second = NoisyMarginal(("b", "a"), np.full((3, 2), 10.0), 2.0)
    (merged,) = combine(DOMAIN, [first, second])
    assert merged.clique == ("a", "b")
    np.testing.assert_allclose(merged.counts, (first.counts + 10.0 / 4) / 1.25)
    assert merged.scale == pytest.approx(1.25**-0.5)


def test_axes_are_put_in_domain_order():
    counts = np.arange(6.0).reshape(3, 2)
    (merged,) = combine(DOMAIN, [NoisyMarginal(("b", "a"), counts, 1.0)])
    np.testing.assert_array_equal(merged.counts, counts.T)


def test_laplace_noise_stays_that_in_sums_of_few_cells():
    wide = NoisyMarginal(("b", "a"), np.ones((40, 2)), 3.0, laplace=True)
    assert wide.of_column("b").laplace
    assert not wide.of_column("a").laplace, "the sum of 40 is nearly normal"
    assert wide.of_column("a").scale == pytest.approx(3.0 * math.sqrt(40))
    np.testing.assert_array_equal(wide.of_column("a").counts, [40.0, 40.0])
    one = NoisyMarginal(("a", "b"), np.ones((2, 3)), 1.0, laplace=True)
    assert combine(DOMAIN, [one, one])[0].laplace
    assert not combine(DOMAIN, [NoisyMarginal(("a", "b"), np.ones((2, 3)), 1.0)])[0].laplace


def test_the_total_weighs_each_marginal_by_its_cells_and_scale():
    one = NoisyMarginal(("a",), np.array([40.0, 60.0]), 3.0)
    two = NoisyMarginal(("a", "b"), np.full((2, 3), 20.0), 2.0)
    weights = np.array([1 / (2 * 9), 1 / (6 * 4)])
    total, error = estimate_total([one, two])
    assert total == pytest.approx((weights @ [100.0, 120.0]) / weights.sum())
    assert error == pytest.approx(weights.sum() ** -0.5)


def test_the_standard_error_of_the_total_is_what_noise_does():
    rng = np.random.default_rng(0)
    noisy = [
        estimate_total(
            [
                NoisyMarginal(("a",), rng.normal(50, 3.0, 2), 3.0),
                NoisyMarginal(("a", "b"), rng.normal(100 / 6, 2.0, (2, 3)), 2.0),
            ]
        )
        for _ in range(2000)
    ]
    errors = np.array([(total - 100) / error for total, error in noisy])
    # 2000 standard normals: chi-square, mean square within 5 sqrt(2/2000) of 1; false alarm below 1e-6.
    assert abs(np.mean(errors**2) - 1) < 5 * np.sqrt(2 / 2000)


@pytest.mark.parametrize(
    ("clique", "counts", "scale", "message"),
    [
        (("a", "a"), np.zeros((2, 2)), 1.0, "names each attribute once"),
        (("a",), np.zeros((2, 2)), 1.0, "one axis for each attribute"),
        (("a",), np.zeros(2), 0.0, "`scale` must be positive"),
        (("a",), np.array([1.0, np.nan]), 1.0, "must be finite"),
    ],
)
def test_bad_marginals_are_refused(clique, counts, scale, message):
    with pytest.raises(ValueError, match=message):
        NoisyMarginal(clique, counts, scale)


def test_a_shape_that_is_not_the_domains_is_refused():
    with pytest.raises(ValueError, match=r"must have shape \(2,\). Found \(3,\)"):
        combine(DOMAIN, [NoisyMarginal(("a",), np.zeros(3), 1.0)])


def test_no_marginals_have_no_total():
    with pytest.raises(ValueError, match="at least one noisy marginal"):
        estimate_total([])
