"""What an attacker tried on gradients: each of these moved an answer, or a budget, by more than was charged."""

from __future__ import annotations

import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from counterfoil.accounting.neighbors import NeighboringRelation  # noqa: E402
from counterfoil.accounting.plan import PrivacyLossPlan  # noqa: E402
from counterfoil.curator.queries.gradient import PublicDraws  # noqa: E402
from counterfoil.curator.queries.loss_gradient import LossGradient  # noqa: E402
from counterfoil.curator.queries.transport_gradient import TransportGradient  # noqa: E402
from counterfoil.networks.architectures import mlp  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm  # noqa: E402
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise  # noqa: E402
from gradient_batches import batch_of, features_of, replaced  # noqa: E402
from training_tables import curator_of  # noqa: E402

REPLACE = NeighboringRelation.REPLACE_ONE
LOSS = LossTerm("logistic", (0, 1), 1.0, 3.0)


def test_weights_that_cancel_leave_no_more_than_is_stated():
    """W_3 W_2 is 0 in exact arithmetic; what rounding leaves of it is relative to the products that it is a sum of."""
    network = mlp(3, 1, hidden=(1, 2), seed=0)
    query = LossGradient(network, features_of(1), (24,), (24,), LOSS)
    inputs = np.zeros((24, 3))
    one = batch_of(inputs, np.zeros(24, dtype=int), (24,))
    other = replaced(one, 0, [0.0, 0.0, 1.0], 0)
    for power in (0, 20, 40, 50, 52, 56, 60, 80, 200, 400):
        for p, r in ((3.0, 15.0), (1.7, 1.1), (13.0, 33.0)):
            scale = 2.0**power
            theta = np.array([0, 0, 2.0 ** -(power + 4), 0, r * scale, -p * scale, 1.0, 2.0, p, r, 0.3])
            first, second = (query.exact_of_batch(batch, theta, PublicDraws()) for batch in (one, other))
            assert np.linalg.norm((first - second).astype(float)) <= query.l2_sensitivity(REPLACE), (power, p, r)


@pytest.mark.parametrize("sizes", [{"batch_sizes": [3]}, {"group_sizes": [9]}, {"batch_sizes": (3.0,)}])
def test_sizes_that_could_change_after_the_charge_are_refused(sizes):
    with pytest.raises(ValueError, match="must be a tuple of whole numbers"):
        LossGradient(
            mlp(3, 1, seed=0), features_of(1), **({"group_sizes": (9,), "batch_sizes": (3,)} | sizes), loss=LOSS
        )


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(3, 4), nn.Softmax(dim=0), nn.Linear(4, 1)),
        nn.Sequential(nn.Linear(3, 4), nn.Unflatten(1, (2, 2)), nn.Flatten(), nn.Linear(4, 1)),
        nn.Sequential(nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 2, 2), nn.Flatten(), nn.Linear(4, 1)),
    ],
    ids=["a softmax over records", "reshaped", "a convolution"],
)
def test_only_layers_in_closed_form_are_known(module):
    """A trial can't tell modules that mix records from others: what is not proved is vouched for, or refused."""
    try:
        network = Network.wrap(module, inputs=3)
    except ValueError:
        return
    assert network.way != "layered"
    assert network.brought
    assert not network.is_known


def test_threads_get_no_more_answers_than_were_charged():
    curator = curator_of(public_groups=())
    with curator:
        features = features_for(curator)
        sizes = curator.group_sizes(features)
        query = LossGradient(mlp(len(features.input_names), 1, seed=0), features, sizes, (24,), LOSS)
        noise = SubsampledGaussianNoise(50.0, query.sampling_probability, 5)
        training = curator.plan([noise], PrivacyLossPlan()).train(query, noise)
        parameters, answers = query.network.parameters_vector(), []

        def ask() -> None:
            for _ in range(5):
                try:
                    answers.append(training.step(parameters))
                except ValueError:
                    return

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(answers) == 5
    assert training.steps_left == 0


def features_for(curator):
    from counterfoil.features.training_features import TrainingFeatures

    return TrainingFeatures(curator.schema, ("outcome",), (), ("sex",))


class Changing(LossTerm):
    """A loss that answers with more than it was charged for, once it was."""

    def __getattribute__(self, name: str) -> object:
        value = object.__getattribute__(self, name)
        asked = object.__getattribute__(self, "__dict__")
        asked[f"asked_{name}"] = asked.get(f"asked_{name}", 0) + 1
        return 1e6 if name == "clip_norm" and asked["asked_clip_norm"] > 1 else value


class Growing(float):
    """A number that compares and multiplies as another one."""

    def __mul__(self, other: float) -> float:
        return 1e6 * float(other)

    __rmul__ = __mul__


def test_losses_and_penalties_are_copied_before_anything_is_charged():
    given = Changing("logistic", (0, 1), 1e-3, 3.0)
    query = LossGradient(mlp(3, 1, seed=0), features_of(1), (24,), (24,), given)
    assert type(query.loss) is LossTerm
    assert query.loss.clip_norm == 1e-3
    bound, weight = Growing(0.5), Growing(1.0)
    term = TransportTerm(((0, 1, weight),), (0, 1), "sigmoid", 0.5, bound, Growing(1.0), "spectral")
    penalty = TransportGradient(
        mlp(3, 1, seed=0), features_of(2), (24, 24), (12, 12), LOSS, alpha=Growing(0.5), transport=term
    )
    numbers = [penalty.alpha, penalty.transport.bound, penalty.transport.jacobian_norm, penalty.transport.pairs[0][2]]
    assert [type(number) for number in numbers] == [float] * 4
    assert numbers == [0.5, 0.5, 1.0, 1.0]


def test_pairs_that_could_change_after_the_charge_are_refused():
    term = TransportTerm(([0, 1, 1.0],), (0, 1), "sigmoid", 0.5, 0.5, 1.0, "spectral")
    with pytest.raises(ValueError, match=r"in a tuple\. Found none, or a list"):
        TransportGradient(mlp(3, 1, seed=0), features_of(2), (24, 24), (12, 12), LOSS, alpha=0.5, transport=term)


def test_a_step_reads_no_network_that_others_can_change():
    curator = curator_of(public_groups=())
    with curator:
        features = features_for(curator)
        network = mlp(len(features.input_names), 1, hidden=(8,), seed=0)
        query = LossGradient(network, features, curator.group_sizes(features), (24,), LOSS)
        noise = SubsampledGaussianNoise(6.0, query.sampling_probability, 2)
        training = curator.plan([noise], PrivacyLossPlan()).train(query, noise)
        before = network.parameters_vector()
        training.step(before + 1.0)
        assert np.array_equal(network.parameters_vector(), before)
        held = training._query.network
        assert held is not network
        assert held._function.module is not network._function.module
        assert held.way == network.way
