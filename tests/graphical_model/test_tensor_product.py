"""Products in logarithms against sums of all terms, over ranges that no float holds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from counterfoil.graphical_model import tensor_product
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


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (7, 3, 5, 1), (40, 2, 9, 6), (3, 1, 1, 4), (2, 5, 200, 2)])
def test_products_are_the_same_bits_whether_compiled_or_not(shape: tuple[int, int, int, int]) -> None:
    batch, rows, summed, columns = shape
    rng = np.random.default_rng(sum(shape))
    a = rng.random((batch, rows, summed)) ** 9
    b = rng.exponential(size=(batch, summed, columns)) * 10.0 ** rng.integers(-200, 90, (batch, summed, columns))
    compiled, plain = np.full((2, batch, rows, columns), np.nan)
    tensor_product._compiled_products(a, b, compiled)
    tensor_product.plain_products(a, b, plain)
    assert compiled.tobytes() == plain.tobytes()
    np.testing.assert_allclose(plain, a @ b, rtol=1e-12)


def test_the_compiler_is_left_alone_until_there_is_much_to_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("_compiled_products", "plain_products"):
        monkeypatch.setattr(tensor_product, name, lambda *_, name=name: asked.append(name))
    for before, expected in ((999, "plain_products"), (1000, "_compiled_products")):
        monkeypatch.setattr(tensor_product, "_BATCHES", itertools.count(before))
        tensor_product.small_products(np.ones((2, 1, 1)), np.ones((2, 1, 1)), np.ones((2, 1, 1)))
        assert asked.pop() == expected
