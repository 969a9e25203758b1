"""Products in logarithms against sums of all terms, over ranges that no float holds."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.graphical_model.tensor_product import TensorProduct

SIZES = (3, 4, 5, 2)
A, B, OUT = (0, 1, 2), (1, 2, 3), (3, 1, 0)


@pytest.mark.parametrize("spread", [1.0, 100.0, 3000.0])
@pytest.mark.parametrize("impossible", [0.0, 0.3, 1.0])
def test_logarithms_are_added_up_in_any_range(spread, impossible):
    random = np.random.default_rng(int(spread) + int(10 * impossible))
    for _ in range(30):
        a, b = (random.normal(0, spread, [SIZES[x] for x in axes]) for axes in (A, B))
        a[random.random(a.shape) < impossible] = -np.inf
        terms = a.transpose(1, 0, 2)[None] + b.transpose(2, 0, 1)[:, :, None]
        expected = np.logaddexp.reduce(terms, axis=3)
        np.testing.assert_allclose(TensorProduct(SIZES, A, B, OUT).log(a, b), expected, rtol=1e-13, atol=1e-12)


def test_a_sum_whose_factors_peak_at_different_places_is_not_lost():
    """Each shifted factor is 1 where the other is exp(-2000): the products all underflow."""
    a, b = np.array([[0.0, -2000.0]]), np.array([[-2000.0], [0.0]])
    product = TensorProduct((1, 2, 1), (0, 1), (1, 2), (0, 2))
    assert product.log(a, b)[0, 0] == pytest.approx(-2000 + np.log(2), rel=1e-15)
