import numpy as np
import pytest

from counterfoil.transport import sliced, wasserstein


def test_between_two_points_it_is_the_mean_projection():
    # E |theta_1| on the circle is 2 / pi; 40000 directions put the mean within 0.012 of it, 8 deviations
    # (false alarm below 1e-14).
    found = sliced.distance([[0.0, 0.0]], [[3.0, 4.0]], rng=np.random.default_rng(0), n_projections=40_000)
    assert found == pytest.approx(5 * 2 / np.pi, abs=5 * 0.0125)


def test_between_two_points_squared_it_is_the_distance_over_root_d():
    # E theta_1^2 = 1/3 with deviation 0.298: eight deviations of the mean of 40000 are 0.012.
    found = sliced.distance(
        [[0.0, 0.0, 0.0]], [[1.0, 2.0, 2.0]], rng=np.random.default_rng(0), n_projections=40_000, p=2
    )
    assert found**2 == pytest.approx(9 / 3, abs=9 * 0.012)


def test_on_the_line_it_is_wasserstein():
    rng = np.random.default_rng(1)
    a, b, weights = rng.normal(size=20), rng.normal(size=30), rng.dirichlet(np.ones(30))
    expected = wasserstein.distance(a, b, weights_b=weights, p=2)
    assert sliced.distance(a, b, weights_b=weights, p=2, rng=rng, n_projections=3) == pytest.approx(expected)


def test_it_is_at_most_wasserstein_and_depends_on_the_generator_alone():
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(25, 4)), rng.normal(size=(20, 4)) + 1
    found = [sliced.distance(a, b, rng=np.random.default_rng(9)) for _ in range(2)]
    assert found[0] == found[1] <= wasserstein.distance(a, b)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [({"n_projections": 0}, "at least 1"), ({"p": 0}, "at least 1"), ({"points_b": [[1.0]]}, "same dimension")],
)
def test_bad_input_is_refused(arguments, says):
    arguments = {"points_b": [[1.0, 2.0]]} | arguments
    with pytest.raises(ValueError, match=says):
        sliced.distance([[0.0, 1.0]], arguments.pop("points_b"), rng=np.random.default_rng(0), **arguments)
