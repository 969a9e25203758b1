"""Records that overflow: they add nothing, change nothing of what others add, and raise nothing."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need torch")
nn = torch.nn

from counterfoil.networks.architectures import autoencoder, mlp  # noqa: E402
from counterfoil.networks.clipping import bounded_jacobians, clipped_loss_gradients  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)

    def forward(self, x):
        h = self.first(x)
        return self.last(h + torch.exp(h))


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.theta = nn.Parameter(torch.linspace(-1, 1, 6).view(3, 2))

    def forward(self, x):
        return x @ self.theta / (1 + x.square().sum(1, keepdim=True))


class Branching(Own):
    def forward(self, x):
        return torch.stack([row @ self.theta * (2.0 if row[0].item() > 0 else 1.0) for row in x])


def normalized():
    return Network.wrap(nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Softmax(1), nn.Linear(4, 2)), inputs=3)


NETWORKS = {
    "relu": lambda: mlp(3, 2, seed=1),
    "tanh": lambda: mlp(3, 2, hidden=(5, 4), activation="tanh", seed=1),
    "autoencoder": lambda: autoencoder(3, hidden=(4,), code=2, seed=1),
    "normalized": normalized,
    "leafwise": lambda: Network.wrap(Residual(), inputs=3),
    "general": lambda: Network.wrap(Own(), inputs=3),
    "one by one": lambda: Network.wrap(Branching(), inputs=3),
}
BAD = [math.nan, math.inf, -math.inf, 1e308, 1e200, 1e160]


def batch(bad):
    """Nine records, three of which hold `bad`."""
    rows = torch.randn(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    rows[1, 0] = rows[4, :] = rows[8, 2] = bad
    return rows


GOOD = [0, 2, 3, 5, 6, 7]


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("bad", BAD)
def test_other_records_add_what_they_add_alone(kind, bad):
    network = NETWORKS[kind]()
    rows = batch(bad)
    passed, alone = network.forward(rows), network.forward(rows[GOOD])
    np.testing.assert_allclose(passed.outputs[GOOD], alone.outputs, rtol=1e-12)
    np.testing.assert_allclose(passed.gram()[GOOD], alone.gram(), rtol=1e-10, atol=1e-13)
    for clip in (
        lambda p: clipped_loss_gradients(p.gram(), 2 * p.outputs, 0.5),
        lambda p: pulled(bounded_jacobians(p.outputs, p.gram(), link="identity", bound=0.5)),
        lambda p: pulled(bounded_jacobians(p.outputs, p.gram(), link="softmax", bound=0.5, clipping="components")),
    ):
        found, expected = passed.pull_back(clip(passed)), alone.pull_back(clip(alone))
        assert np.isfinite(found).all()
        # Each of three records adds at most its bound, whether it is silent or only large.
        added = 3 * 0.5 * math.sqrt(2)
        assert np.linalg.norm(found - expected) <= added
        if not math.isfinite(bad):
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def pulled(bounded):
    return bounded.pulled(torch.ones_like(bounded.scores))


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_pull_back_silences_records_whatever_their_coefficients(kind, bad):
    network = NETWORKS[kind]()
    rows, coefficients = batch(bad), np.ones((9, network.outputs_count))
    found = network.forward(rows).pull_back(coefficients)
    np.testing.assert_allclose(found, network.forward(rows[GOOD]).pull_back(coefficients[GOOD]), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", NETWORKS)
def test_coefficients_that_are_not_finite_are_zero(kind):
    network = NETWORKS[kind]()
    rows, coefficients = batch(1.0), np.ones((9, network.outputs_count))
    for at, value in ((1, math.nan), (4, math.inf), (8, -math.inf)):
        coefficients[at, 0] = value
    found = network.forward(rows).pull_back(coefficients)
    np.testing.assert_allclose(found, network.forward(rows[GOOD]).pull_back(coefficients[GOOD]), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_batch_of_silent_records_adds_zero(kind):
    network = NETWORKS[kind]()
    passed = network.forward(np.full((5, 3), np.nan))
    assert not passed.pull_back(np.ones((5, network.outputs_count))).any()
    assert not passed.pull_back(clipped_loss_gradients(passed.gram(), passed.outputs, 1.0)).any()


def test_hidden_infinities_are_silent_though_outputs_are_finite():
    """tanh hides that 1e308 + 1e308 overflows: the outputs are finite, the derivatives are zero times infinity."""
    module = nn.Sequential(
        nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False), nn.Tanh(), nn.Linear(1, 1)
    ).double()
    network = Network.wrap(module, inputs=1)
    network.load_vector([1e10, 1e10, 1.0, 0.0])
    rows = np.array([[1e300], [1e-20]])
    passed = network.forward(rows)
    assert torch.isfinite(passed.outputs).all()
    assert not torch.isfinite(passed.gram()[0]).any()
    assert torch.isfinite(passed.gram()[1]).all()
    found = passed.pull_back(clipped_loss_gradients(passed.gram(), torch.ones(2, 1, dtype=torch.float64), 1.0))
    alone = network.forward(rows[1:])
    expected = alone.pull_back(clipped_loss_gradients(alone.gram(), torch.ones(1, 1, dtype=torch.float64), 1.0))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.linalg.norm(found) == pytest.approx(1.0, rel=1e-9)


def test_outputs_that_overflow_are_silent_though_derivatives_are_finite():
    network = Network.wrap(nn.Linear(1, 1, bias=False), inputs=1)
    network.load_vector([1e10])
    passed = network.forward([[1e300], [2.0]])
    assert passed.outputs[0] == math.inf
    assert passed.pull_back([[1.0], [1.0]]).tolist() == [2.0]


def test_one_record_moves_a_clipped_sum_by_at_most_twice_the_bound():
    """Replaced by any of a number of records, ordinary and not."""
    network = mlp(3, 2, hidden=(5,), seed=4)
    rows = torch.randn(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    sums = []
    for value in (0.0, 1e-3, 1.0, -50.0, 1e8, 1e153, *BAD):
        rows[2] = value
        passed = network.forward(rows)
        sums.append(passed.pull_back(clipped_loss_gradients(passed.gram(), 2 * passed.outputs, 0.1)))
    moved = [np.linalg.norm(one - other) for one in sums for other in sums]
    assert 0.1 < max(moved) <= 0.2 * (1 + 1e-9)
