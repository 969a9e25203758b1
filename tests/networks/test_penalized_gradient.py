"""Gradients of a loss with a penalty: against differences where nothing is clipped, record by record where all is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="networks need torch")

from counterfoil.networks.architectures import autoencoder, linear, mlp  # noqa: E402
from counterfoil.networks.objectives import OBJECTIVES  # noqa: E402
from counterfoil.networks.penalized_gradient import (  # noqa: E402
    LossTerm,
    TransportTerm,
    _in_ball,
    generator_gradient,
    penalized_gradient,
)
from counterfoil.transport.rank_gradient import random_directions, sliced_gradient  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

FAR = 1e6
INPUTS = 3
SIZES = (4, 6, 3)
STARTS = (0, 4, 10, 13)
PAIRS = ((0, 1, 0.7), (1, 2, 0.4), (0, 2, 1.3))


# Oracles, from the definitions


def squared_wasserstein(u: np.ndarray, v: np.ndarray) -> float:
    """W_2^2 of samples on the line: each point as many times as the other sample has points, in order."""
    return float(((np.sort(np.repeat(u, len(v))) - np.sort(np.repeat(v, len(u)))) ** 2).mean())


def sliced(u: np.ndarray, v: np.ndarray, directions: np.ndarray) -> float:
    return float(np.mean([squared_wasserstein(u @ direction, v @ direction) for direction in directions]))


def loss_of(name: str, outputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    if name == "logistic":
        return np.logaddexp(0, np.where(targets > 0, -outputs[:, 0], outputs[:, 0]))
    if name == "cross_entropy":
        logarithms = outputs - np.log(np.exp(outputs).sum(axis=1, keepdims=True))
        return -logarithms[np.arange(len(targets)), targets]
    return ((outputs - targets) ** 2).sum(axis=1)


LINKS = {
    "identity": lambda z: z,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "softmax": lambda z: np.exp(z) / np.exp(z).sum(axis=1, keepdims=True),
}


def objective(network, rows, targets, loss, term, alpha, directions, scorer=None) -> float:
    outputs = network.outputs(rows).numpy()
    scored = outputs if scorer is None else scorer.outputs(rows).numpy()
    scores = LINKS[term.link](scored[:, slice(*term.outputs)])
    penalty = math.fsum(
        weight * sliced(scores[STARTS[j] : STARTS[j + 1]], scores[STARTS[k] : STARTS[k + 1]], directions)
        for j, k, weight in term.pairs
    )
    return (1 - alpha) * float(loss_of(loss.name, outputs[:, slice(*loss.outputs)], targets).mean()) + alpha * penalty


def differences(network, value, scorer=None) -> np.ndarray:
    """Central differences of `value` in each parameter."""
    theta, step, found = network.parameters_vector(), 1e-5, []

    def at(vector: np.ndarray) -> float:
        network.load_vector(vector)
        if scorer is not None:
            scorer.load_vector(vector[: len(scorer.parameters_vector())])
        return value()

    for place in range(len(theta)):
        ends = [at(theta + sign * step * (np.arange(len(theta)) == place)) for sign in (1, -1)]
        found.append((ends[0] - ends[1]) / (2 * step))
    at(theta)
    return np.array(found)


def targets_of(rng, name: str, outputs: int) -> np.ndarray:
    count = sum(SIZES)
    return rng.normal(size=(count, outputs)) if name == "squared" else rng.integers(0, max(outputs, 2), count)


def term_of(link: str, outputs: int, *, bound=FAR, norm=FAR, clipping="spectral", center=0.0) -> TransportTerm:
    return TransportTerm(PAIRS, (0, outputs), link, center, bound, norm, clipping)


@pytest.mark.parametrize("alpha", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("clipping", ["spectral", "components"])
@pytest.mark.parametrize(
    ("name", "outputs", "link"),
    [
        ("logistic", 1, "sigmoid"),
        ("logistic", 1, "identity"),
        ("cross_entropy", 3, "softmax"),
        ("squared", 2, "identity"),
    ],
)
def test_without_clipping_it_is_the_gradient(name, outputs, link, clipping, alpha):
    rng = np.random.default_rng(3)
    network = mlp(INPUTS, outputs, hidden=(4,), activation="tanh", seed=1)
    rows, targets = rng.normal(size=(sum(SIZES), INPUTS)), targets_of(rng, name, outputs)
    loss, term = LossTerm(name, (0, outputs), FAR, FAR), term_of(link, outputs, clipping=clipping)
    directions = random_directions(rng, 3, outputs)
    found = penalized_gradient(
        network, rows, targets, STARTS, alpha=alpha, loss=loss, transport=term, directions=directions
    )
    expected = differences(network, lambda: objective(network, rows, targets, loss, term, alpha, directions))
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6, atol=1e-8)
    mean = loss_of(name, network.outputs(rows).numpy(), targets).mean()
    assert found.loss == pytest.approx(mean)


def test_a_scorer_has_the_first_parameters():
    rng = np.random.default_rng(5)
    network = autoencoder(INPUTS, hidden=(4,), code=2, activation="tanh", seed=1)
    scorer = mlp(INPUTS, 2, hidden=(4,), activation="tanh", seed=1)
    scorer.load_vector(network.parameters_vector()[: len(scorer.parameters_vector())])
    rows = rng.normal(size=(sum(SIZES), INPUTS))
    loss, term = LossTerm("squared", (0, INPUTS), FAR, FAR), term_of("identity", 2)
    directions = random_directions(rng, 3, 2)
    facts = {"alpha": 0.4, "loss": loss, "transport": term, "directions": directions, "scorer": scorer}
    found = penalized_gradient(network, rows, rows, STARTS, **facts)
    expected = differences(network, lambda: objective(network, rows, rows, loss, term, 0.4, directions, scorer), scorer)
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6, atol=1e-8)


def test_a_generator_moves_its_own_points_alone():
    rng = np.random.default_rng(6)
    network = mlp(2, INPUTS, hidden=(4,), activation="tanh", seed=1)
    latent, points, directions = (
        rng.normal(size=(7, 2)),
        rng.normal(size=(5, INPUTS)),
        random_directions(rng, 3, INPUTS),
    )
    found = generator_gradient(network, latent, points, directions, bound=FAR, jacobian_norm=FAR, clipping="spectral")
    expected = differences(network, lambda: sliced(network.outputs(latent).numpy(), points, directions))
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6, atol=1e-8)
    assert found.loss == pytest.approx(sliced(network.outputs(latent).numpy(), points, directions))


# Clipped


def jacobians(network, rows: np.ndarray) -> np.ndarray:
    """[n, d, P] by torch, one record and output after another."""
    module, parameters = network._function.module, list(network._function.trained.values())
    found = []
    for row in torch.from_numpy(rows):
        outputs = module(row[None])[0]
        grads = [torch.autograd.grad(output, parameters, retain_graph=True) for output in outputs]
        found.append(torch.stack([torch.cat([part.reshape(-1) for part in grad]) for grad in grads]))
    return torch.stack(found).numpy()


def link_derivative(link: str, outputs: np.ndarray) -> np.ndarray:
    """[d, d]."""
    made = torch.from_numpy(outputs)
    functions = {
        "identity": lambda z: z,
        "sigmoid": torch.sigmoid,
        "softmax": lambda z: torch.softmax(z, 0),
    }
    return torch.autograd.functional.jacobian(functions[link], made).numpy()


def clipped(jacobian: np.ndarray, norm: float, clipping: str) -> np.ndarray:
    """Multiplied by one factor, or row by row."""
    if clipping == "spectral":
        return jacobian * min(1.0, norm / np.linalg.norm(jacobian, 2))
    rows = np.linalg.norm(jacobian, axis=1, keepdims=True)
    return jacobian * np.minimum(1.0, norm / math.sqrt(len(jacobian)) / rows)


def in_ball(points: np.ndarray, bound: float) -> np.ndarray:
    return points * np.minimum(1.0, bound / np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-300))


@settings(max_examples=40, derandomize=True)
@given(
    st.integers(0, 2**31),
    st.sampled_from(["identity", "sigmoid", "softmax"]),
    st.sampled_from(["spectral", "components"]),
    st.integers(2, 3),
    st.floats(0.01, 3.0),
    st.floats(0.01, 3.0),
)
def test_each_record_is_clipped_by_itself(seed, link, clipping, outputs, norm, bound):
    """The sum over records of what each adds, formed one after another from its own Jacobian."""
    rng = np.random.default_rng(seed)
    network = mlp(INPUTS, outputs, hidden=(3,), activation="tanh", seed=1)
    network.load_vector(rng.normal(size=len(network.parameters_vector())))
    rows, targets = rng.normal(size=(sum(SIZES), INPUTS)), rng.integers(0, outputs, sum(SIZES))
    clip, alpha, center = 0.3, 0.6, 0.1
    loss = LossTerm("cross_entropy", (0, outputs), clip, 2.0)
    term, directions = (
        term_of(link, outputs, bound=bound, norm=norm, clipping=clipping, center=center),
        random_directions(rng, 2, outputs),
    )
    found = penalized_gradient(
        network, rows, targets, STARTS, alpha=alpha, loss=loss, transport=term, directions=directions
    )
    of_outputs, made = jacobians(network, rows), network.outputs(rows).numpy()
    expected = np.zeros(of_outputs.shape[2])
    probabilities = LINKS["softmax"](made)
    for i in range(len(rows)):
        gradient = of_outputs[i].T @ (probabilities[i] - (np.arange(outputs) == targets[i]))
        expected += (1 - alpha) / len(rows) * gradient * min(1.0, clip / np.linalg.norm(gradient))
    scores = in_ball(LINKS[link](made) - center, bound)
    of_scores = [clipped(link_derivative(link, made[i]) @ of_outputs[i], norm, clipping) for i in range(len(rows))]
    for one, other, weight in PAIRS:
        here, there = slice(STARTS[one], STARTS[one + 1]), slice(STARTS[other], STARTS[other + 1])
        pulls = sliced_gradient(scores[here], scores[there], directions)
        for group, derivatives in ((here, pulls.of_u), (there, pulls.of_v)):
            for i, derivative in zip(range(group.start, group.stop), derivatives, strict=True):
                expected += alpha * weight * of_scores[i].T @ derivative
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(expected).max()))
    losses = loss_of("cross_entropy", made, targets)
    assert found.loss == pytest.approx(np.minimum(losses, 2.0).mean())


def test_the_loss_that_is_reported_counts_each_record_as_at_most_the_largest():
    network = linear(1, 1, seed=0)
    network.load_vector([50.0, 0.0])
    rows, loss = np.array([[1.0], [1.0], [-1.0], [0.0]]), LossTerm("logistic", (0, 1), 1.0, 3.0)
    found = penalized_gradient(
        network, rows, np.array([0, 1, 1, 0]), (0, 4), alpha=0.0, loss=loss, transport=None, directions=None
    )
    assert found.loss == pytest.approx((3 + 0 + 3 + math.log(2)) / 4)


# Places


@pytest.mark.parametrize("count", [1, 7, 64, 5001])
@pytest.mark.parametrize("outputs", [1, 3])
def test_a_record_changes_no_score_of_another_to_the_last_bit(count, outputs):
    """Equal records may be rounded differently in other places, and must not be by who else is there."""
    rng = np.random.default_rng(4)
    network = mlp(30, outputs, hidden=(64, 9), activation="tanh", seed=1)
    rows = rng.uniform(-1, 1, (count, 30))
    rows[rng.random(count) < 0.5] = rows[0]
    before = network.forward(rows).outputs.numpy()
    for at in {0, count // 2, count - 1}:
        for other in (-rows[at], np.full(30, np.nan), np.full(30, 1e308)):
            changed = rows.copy()
            changed[at] = other
            after = network.forward(changed).outputs.numpy()
            assert np.array_equal(np.delete(before, at, axis=0), np.delete(after, at, axis=0))


# Records that overflow


@pytest.mark.parametrize("link", ["identity", "sigmoid", "softmax"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the curator computes under `silent`
def test_records_that_overflow_add_nothing_and_stand_at_the_center(link):
    """They keep their place in the coupling, so that all others add what they would beside a record at the center."""
    rng = np.random.default_rng(8)
    network = linear(INPUTS, 2, seed=1)
    rows = rng.normal(size=(sum(SIZES), INPUTS))
    rows[[2, 5]] = [1e308, -1e308, 1e308]
    network.load_vector(rng.normal(size=8))
    center = 0.25
    loss, term = LossTerm("cross_entropy", (0, 2), 1.0, 3.0), term_of(link, 2, bound=0.5, norm=0.5, center=center)
    directions = random_directions(rng, 3, 2)
    targets = rng.integers(0, 2, len(rows))
    facts = {"alpha": 0.5, "loss": loss, "transport": term, "directions": directions}
    found = penalized_gradient(network, rows, targets, STARTS, **facts)
    assert np.isfinite(found.gradient).all()
    made = network.outputs(rows).numpy()
    broken = ~np.isfinite(made).all(axis=1)
    assert broken.tolist() == [place in (2, 5) for place in range(len(rows))]
    of_outputs = jacobians(network, np.where(broken[:, None], 0.0, rows))
    usual = np.where(broken[:, None], 0.0, made)
    scores = in_ball(np.where(broken[:, None], 0.0, LINKS[link](usual) - center), 0.5)
    # Processors round links differently in the last bit: the order of the scores must not depend on it.
    assert np.diff(np.sort(scores[~broken] @ directions.T, axis=0), axis=0).min() > 1e-6
    expected = np.zeros(8)
    for i in np.flatnonzero(~broken):
        gradient = of_outputs[i].T @ (LINKS["softmax"](usual)[i] - (np.arange(2) == targets[i]))
        expected += 0.5 / len(rows) * gradient * min(1.0, 1.0 / np.linalg.norm(gradient))
    for one, other, weight in PAIRS:
        here, there = slice(STARTS[one], STARTS[one + 1]), slice(STARTS[other], STARTS[other + 1])
        pulls = sliced_gradient(scores[here], scores[there], directions)
        for group, derivatives in ((here, pulls.of_u), (there, pulls.of_v)):
            for i, derivative in zip(range(group.start, group.stop), derivatives, strict=True):
                if not broken[i]:
                    jacobian = clipped(link_derivative(link, usual[i]) @ of_outputs[i], 0.5, "spectral")
                    expected += 0.5 * weight * jacobian.T @ derivative
    np.testing.assert_allclose(found.gradient, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("scale", [1e200, 1e308])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_points_of_a_generator_that_overflows_stand_in_the_middle(scale):
    network = mlp(2, INPUTS, hidden=(4,), seed=1)
    network.load_vector(np.full(len(network.parameters_vector()), scale))
    points = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = generator_gradient(
        network, np.ones((3, 2)), points, np.eye(3), bound=1.0, jacobian_norm=1.0, clipping="spectral"
    )
    assert not found.gradient.any()
    assert found.loss == pytest.approx(0.25 / 2 / 3)


NUMBERS = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5), st.floats(1e-3, 1e3))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_points_are_put_into_the_ball_one_by_one(points, bound):
    given_points = np.array(points)
    found = _in_ball(given_points, bound)
    assert np.isfinite(found).all()
    assert (np.linalg.norm(found, axis=1) <= bound).all()
    norms = np.linalg.norm(given_points, axis=1)
    for point, norm, put in zip(given_points, norms, found, strict=True):
        assert np.array_equal(put, _in_ball(point[None], bound)[0]), "whatever else is there"
        if norm < bound * (1 - 1e-11):
            assert np.array_equal(put, point)
        elif np.isfinite(norm):
            np.testing.assert_allclose(put, point * (bound / norm), rtol=1e-9, atol=1e-300)
        else:
            assert not put.any()


# Losses


@settings(max_examples=60, derandomize=True)
@given(st.integers(0, 2**31), st.sampled_from(sorted(OBJECTIVES)), st.integers(2, 4), st.sampled_from([0.1, 1.0, 30.0]))
def test_losses_and_their_derivatives(seed, name, outputs, scale):
    rng = np.random.default_rng(seed)
    count = 1 if name == "logistic" else outputs
    made = torch.from_numpy(rng.normal(size=(5, count)) * scale).requires_grad_()
    targets = rng.normal(size=(5, count)) if name == "squared" else rng.integers(0, max(count, 2), 5)
    found = OBJECTIVES[name](made, torch.from_numpy(targets))
    expected = {
        "logistic": lambda: torch.nn.functional.binary_cross_entropy_with_logits(
            made[:, 0], torch.from_numpy(targets).double(), reduction="none"
        ),
        "cross_entropy": lambda: torch.nn.functional.cross_entropy(made, torch.from_numpy(targets), reduction="none"),
        "squared": lambda: ((made - torch.from_numpy(targets)) ** 2).sum(1),
    }[name]()
    np.testing.assert_allclose(found.losses.detach(), expected.detach(), rtol=1e-10, atol=1e-12)
    (derivatives,) = torch.autograd.grad(expected.sum(), made)
    np.testing.assert_allclose(found.gradients.detach(), derivatives, rtol=1e-9, atol=1e-12)


def test_losses_far_out_stay_finite():
    outputs = torch.tensor([[1e300], [-1e300]], dtype=torch.float64)
    found = OBJECTIVES["logistic"](outputs, torch.tensor([1, 0]))
    assert found.losses.tolist() == [0.0, 0.0]
    assert found.gradients.abs().max() == 0
    apart = OBJECTIVES["cross_entropy"](torch.tensor([[0.0, 1e5]], dtype=torch.float64), torch.tensor([0]))
    assert apart.losses.item() == 1e5
    assert apart.gradients.tolist() == [[-1.0, 1.0]]
