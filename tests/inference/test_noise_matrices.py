"""When a matrix may be inverted in spite of its noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.noise_matrices import inflation, quantile_of, relative_noise, spectral_norms


def symmetric(draws, size, rng):
    noise = rng.normal(size=(draws, size, size))
    return noise + noise.transpose(0, 2, 1)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 5), scale=st.floats(0.001, 2))
def test_matrices_below_the_relative_noise_stay_positive_definite(seed, size, scale):
    """Whichever draw has norm(A^-1/2 E A^-1/2) < 1, A - E has only positive eigenvalues, and only then with -E too."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size))
    matrix = root @ root.T + 0.01 * np.eye(size)
    for error in scale * symmetric(5, size, rng):
        # One draw is its own quantile.
        relative = relative_noise(matrix, error[None])
        both = min(np.linalg.eigvalsh(matrix - error)[0], np.linalg.eigvalsh(matrix + error)[0])
        if abs(relative - 1) > 1e-9:
            assert (relative < 1) == (both > 0)


def test_the_relative_noise_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    matrix, errors, units = np.cov(rng.normal(size=(3, 20))), 0.1 * symmetric(50, 3, rng), np.diag([1.0, 100.0, 0.01])
    scaled = relative_noise(units @ matrix @ units, units @ errors @ units)
    assert scaled == pytest.approx(relative_noise(matrix, errors))


def test_a_matrix_that_is_not_positive_definite_is_lost_in_noise():
    errors = np.zeros((3, 2, 2))
    assert relative_noise(np.diag([1.0, -0.1]), errors) == np.inf
    assert relative_noise(np.ones((2, 2)), errors) == np.inf


@pytest.mark.parametrize(("noise", "factor"), [(0.0, 1.0), (0.3, 1.0), (0.5, 1.0), (0.75, 1.5), (0.999, 1.998)])
def test_intervals_get_wider_where_second_order_is_not_small(noise, factor):
    assert inflation(2 * np.eye(3), np.full((9, 1, 1), 2 * noise) * np.eye(3), "these") == pytest.approx(factor)


def test_too_much_noise_is_refused_with_what_it_is_of():
    with pytest.raises(Unanswerable, match="too large for these columns: by what is known"):
        inflation(np.eye(2), np.ones((9, 1, 1)) * np.eye(2), "these columns")


def test_norms_grow_and_their_quantile_is_not_below_the_share():
    """Of 9 draws, the 90% quantile is the largest: a tenth draw exceeds it with probability 1/10."""
    norms = spectral_norms(np.array([-3.0, 1.0, 2.0])[:, None, None] * np.eye(2))
    assert norms.tolist() == [1.0, 2.0, 3.0]
    draws = np.arange(1.0, 10.0)
    assert [quantile_of(draws, level) for level in (0.1, 0.5, 0.89, 0.9, 0.999)] == [1.0, 5.0, 9.0, 9.0, 9.0]
