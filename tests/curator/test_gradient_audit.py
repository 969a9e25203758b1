"""Black-box audits of training steps: no more is shown than is charged, and each broken twin is caught.

Neighbors are batches that differ in one record, or tables of which one record may be in a batch or not. What tells
them apart best is the likelihood ratio of all answers of a run. Noise comes from a seed: every outcome is the same
each time. For a fresh seed a sound mechanism would fail with probability 1e-6 (`audit_tools.FALSE_ALARM`) an audit.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="gradients need torch")

from audit_tools import LessNoise, epsilon_lower_bound  # noqa: E402
from counterfoil.accounting.neighbors import NeighboringRelation  # noqa: E402
from counterfoil.accounting.plan import PrivacyLossPlan  # noqa: E402
from counterfoil.curator.batches import Batch, GroupedRecords  # noqa: E402
from counterfoil.curator.engines.engine import Block  # noqa: E402
from counterfoil.curator.queries.generator_gradient import GeneratorGradient  # noqa: E402
from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws  # noqa: E402
from counterfoil.curator.queries.loss_gradient import LossGradient  # noqa: E402
from counterfoil.curator.queries.transport_gradient import TransportGradient  # noqa: E402
from counterfoil.features.training_features import TrainingFeatures  # noqa: E402
from counterfoil.networks import penalized_gradient as computing  # noqa: E402
from counterfoil.networks.clipping import BoundedJacobians, bounded_jacobians  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm  # noqa: E402
from counterfoil.noise.randomness import SeededRandomness  # noqa: E402
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise  # noqa: E402
from counterfoil.schema.integer import Integer  # noqa: E402
from counterfoil.schema.schema import Schema  # noqa: E402
from counterfoil.transport.rank_gradient import WassersteinGradient  # noqa: E402
from gradient_batches import answer, batch_of, features_of, replaced  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

DELTA = 0.01
STEPS = [1, 10]
RUNS = 60_000
BOUND, NORM = 0.5, 0.25
LINE = PublicDraws(np.ones((1, 1)))


def plain_linear() -> Network:
    """z = <theta, x>."""
    return Network.wrap(torch.nn.Linear(2, 1, bias=False), inputs=2)


def parameters_of(step: int) -> np.ndarray:
    """Of each step others, as in a run: scores beyond the ball, that depend on the first input alone."""
    return np.array([400.0 + 10 * step, 0.0])


@dataclass(frozen=True)
class Case:
    """A query with two batches that differ in one record."""

    query: GradientQuery
    one: Batch
    other: Batch
    draws: PublicDraws = LINE
    generates: bool = False

    def answers(self, step: int) -> list[np.ndarray]:
        # A generator's points depend on its bias alone.
        own = np.pad(parameters_of(step), (0, self.query.size - 2))
        parameters = np.array([0.0, 1.0]) if self.generates else own
        return [answer(self.query, batch, parameters, self.draws) for batch in (self.one, self.other)]


def penalty_query(sizes: tuple[int, int], batches: tuple[int, int], features=None) -> TransportGradient:
    term = TransportTerm(((0, 1, 1.0),), (0, 1), "identity", 0.0, BOUND, NORM, "spectral")
    loss = LossTerm("logistic", (0, 1), 1.0, 2.0)
    made = features_of(2, inputs=2) if features is None else features
    return TransportGradient(plain_linear(), made, sizes, batches, loss, 1.0, term)


def penalty() -> Case:
    """One group at M, the other at -M; the record that is replaced turns its Jacobian: the claim is attained."""
    n = 5
    one = batch_of([[0.01, 1.0]] * n + [[-0.01, 0.0]] * n, [1] * 2 * n, (n, n))
    return Case(penalty_query((n, n), (n, n)), one, replaced(one, 0, [0.01, -1.0], 1))


def tied_penalty() -> Case:
    """Scores all tied at M, with Jacobians that alternate, against scores all over the ball."""
    n = 64
    tied = [[0.01, 1.0 if place % 2 else -1.0] for place in range(n)]
    spread = [[x, 0.0] for x in np.linspace(-0.0012, 0.0012, n)]
    one = batch_of([*tied, *spread], [1] * 2 * n, (n, n))
    return Case(penalty_query((n, n), (n, n)), one, replaced(one, 0, [-0.01, -1.0], 1))


def loss() -> Case:
    """The gradient goes from C to -C."""
    term = LossTerm("logistic", (0, 1), 0.25, 2.0)
    one = batch_of([[0.01, 1.0], [0.0, 0.0]], [0, 0], (2,))
    query = LossGradient(plain_linear(), features_of(1, inputs=2), (2,), (2,), term)
    return Case(query, one, replaced(one, 0, [0.01, -1.0], 0))


def generator() -> Case:
    """All points of the generator at M, and one of two records goes from M to -M."""
    term = LossTerm("sliced_wasserstein", (0, 1), 1.0, 4.0)
    network = Network.wrap(torch.nn.Linear(1, 1), inputs=1)
    query = GeneratorGradient(network, features_of(1, inputs=1, targets=False), (2,), (2,), term, 1.0, 1.0)
    one = batch_of([[1.0], [1.0]], [0, 0], (2,))
    draws = PublicDraws(np.ones((1, 1)), np.zeros((4, 1)))
    return Case(query, one, replaced(one, 0, [-1.0], 0), draws, generates=True)


def moved_records() -> Case:
    """All points of X at M, all of Z at -M; the record of X that is replaced turns its Jacobian."""
    n = 3
    term = LossTerm("sliced_wasserstein", (0, 1), 1.0, 4 * BOUND**2)
    features, limits = features_of(1, inputs=2, targets=False), {"bound": BOUND, "jacobian_norm": NORM}
    query = GeneratorGradient(plain_linear(), features, (n,), (n,), term, **limits, protects="X")
    one = batch_of([[0.01, 1.0]] * n, [0] * n, (n,))
    draws = PublicDraws(np.ones((1, 1)), points=-np.ones((2, 1)))
    return Case(query, one, replaced(one, 0, [0.01, -1.0], 0), draws)


def both_sides(of_x: int, of_z: int, *, side: str) -> Case:
    """The same where Z is records too; or all points are at M, and a record of Z goes to -M."""
    term = LossTerm("sliced_wasserstein", (0, 2), 1.0, 4 * BOUND**2)
    network = Network.wrap(torch.nn.Linear(2, 2, bias=False), inputs=2)
    features, sizes = features_of(2, inputs=2, targets=False), (of_x, of_z)
    query = GeneratorGradient(network, features, sizes, sizes, term, BOUND, NORM, protects="both", sides=(0, 1))
    end = -1.0 if side == "X" else 1.0
    one = batch_of([[0.01, 1.0]] * of_x + [[end, 0.0]] * of_z, [0] * sum(sizes), sizes)
    at, new = (0, [0.01, -1.0]) if side == "X" else (of_x, [-1.0, 0.0])
    return Case(query, one, replaced(one, at, new, 0), PublicDraws(np.array([[1.0, 0.0]])))


CASES = {
    "penalty": penalty,
    "tied penalty": tied_penalty,
    "loss": loss,
    "generator": generator,
    "moved records": moved_records,
    "both, a record of X": lambda: both_sides(2, 6, side="X"),
    "both, a record of Z": lambda: both_sides(8, 2, side="Z"),
}


def noise_of(steps: int, probability: float = 1.0) -> SubsampledGaussianNoise:
    """As much noise for one step as for ten together."""
    return SubsampledGaussianNoise(math.sqrt(steps), probability, steps)


def claimed(noise: SubsampledGaussianNoise) -> float:
    return PrivacyLossPlan().epsilon([noise.event()], DELTA)


def shown(case: Case, steps: int, *, factor: float = 1.0) -> float:
    """A lower bound on the epsilon of a run whose batches are the whole table."""
    noise, randomness = noise_of(steps), LessNoise(SeededRandomness(20261122), factor)
    scale = noise.scale(case.query.l2_sensitivity(NeighboringRelation.REPLACE_ONE))
    told = np.zeros((2, RUNS))
    for step in range(steps):
        exact = case.answers(step)
        apart = (exact[1] - exact[0]) / scale
        for side in (0, 1):
            tiled = np.tile(exact[side], (RUNS, 1))
            noisy = noise.add(tiled, case.query.l2_sensitivity(NeighboringRelation.REPLACE_ONE), randomness)
            told[side] += ((noisy - exact[0]) / scale) @ apart
    return epsilon_lower_bound(told[1], told[0], DELTA)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("case", CASES)
def test_a_run_shows_no_more_than_it_claims(case, steps):
    found = shown(CASES[case](), steps)
    assert found <= claimed(noise_of(steps))
    if case != "tied penalty":  # the others attain the claim, and the audit sees most of it
        assert found > 0.65 * claimed(noise_of(steps))


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("case", ["penalty", "loss", "generator", "moved records"])
def test_half_the_noise_is_caught(case, steps):
    assert shown(CASES[case](), steps, factor=0.5) > 1.3 * claimed(noise_of(steps))


# Broken twins


def ordered_by_anything(points_u, points_v, directions):
    """Ranks a tie by its places, from one end or from the other as the first record is high or low."""
    u, v = points_u[:, 0], points_v[:, 0]
    signs = np.where(np.arange(len(u)) % 2, 1.0, -1.0)
    order = np.lexsort((signs * np.sign(u[0]), u))
    of_u, of_v = np.empty(len(u)), np.zeros(len(v))
    of_u[order] = 2 / len(u) * (u[order] - np.sort(v))
    return WassersteinGradient(0.0, of_u[:, None], of_v[:, None])


def unbounded(points, bound):
    return points


def unclipped(outputs, gram, *, link="identity", bound, clipping):
    found = bounded_jacobians(outputs, gram, link=link, bound=bound, clipping=clipping)
    return BoundedJacobians(found.scores, torch.ones_like(found.factors), found.link)


TWINS = {
    "ties in some order": ("sliced_gradient", ordered_by_anything, "tied penalty"),
    "scores outside of the ball": ("_in_ball", unbounded, "penalty"),
    "Jacobians of any size": ("bounded_jacobians", unclipped, "penalty"),
    "points outside of the ball": ("_in_ball", unbounded, "moved records"),
    "Jacobians of moved records of any size": ("bounded_jacobians", unclipped, "moved records"),
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("twin", TWINS)
def test_a_broken_twin_is_caught(monkeypatch, twin, steps):
    name, broken, case = TWINS[twin]
    sound = shown(CASES[case](), steps)
    assert sound <= claimed(noise_of(steps))
    monkeypatch.setattr(computing, name, broken)
    assert shown(CASES[case](), steps) > 1.3 * claimed(noise_of(steps))


NOISE_FOR = {
    "Z where X changes": ("moved records", lambda of_x, of_z: (None, of_x or of_z)),
    "Z where a record of both changes": ("both, a record of X", lambda of_x, of_z: (None, of_z)),
    "X where a record of both changes": ("both, a record of Z", lambda of_x, of_z: (of_x, None)),
    "the larger side": ("both, a record of X", lambda of_x, of_z: (max(of_x, of_z), max(of_x, of_z))),
}


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("twin", NOISE_FOR)
def test_noise_for_another_side_is_caught(monkeypatch, twin, steps):
    case, others = NOISE_FOR[twin]
    right = GeneratorGradient._change
    monkeypatch.setattr(
        GeneratorGradient, "_change", staticmethod(lambda bound, norm, sizes: right(bound, norm, others(*sizes)))
    )
    assert shown(CASES[case](), steps) > 1.3 * claimed(noise_of(steps))


# Batches that a record may be absent from


SIZES, BATCHES, PROBABILITY = (40, 40), (8, 8), 0.2
SAMPLED_RUNS = {1: 15_000, 10: 2_500}


@functools.cache
def sampled_features() -> TrainingFeatures:
    columns = (Integer("x0", 0, 200), Integer("x1", 0, 2), Integer("g", 0, 1), Integer("y", 0, 1))
    return TrainingFeatures(Schema(columns), ("y",), ("g",), ("g",))


def table(turned: bool) -> GroupedRecords:
    """All of a group are alike, but for one record of the first whose Jacobian may be turned."""
    first, second = [(101.0, 2.0)] * SIZES[0], [(99.0, 1.0)] * SIZES[1]
    if turned:
        first[7] = (101.0, 0.0)
    x0, x1 = np.array([*first, *second]).T
    group = np.repeat([0, 1], SIZES).astype(np.uint8)
    codes = {"g": group, "y": np.ones_like(group)}
    return GroupedRecords(sampled_features(), [Block(len(group), codes, {"x0": x0, "x1": x1, "y": np.ones(len(x0))})])


def sampled_run(query: GradientQuery, noise: SubsampledGaussianNoise, steps: int) -> float:
    """A lower bound on the epsilon of a run with batches that are drawn as the curator draws them."""
    randomness, runs = SeededRandomness(7), SAMPLED_RUNS[steps]
    sensitivity = query.l2_sensitivity(NeighboringRelation.REPLACE_ONE)
    scale = noise.scale(sensitivity)
    told = np.zeros((2, runs))
    for side, records in enumerate((table(turned=False), table(turned=True))):
        for step in range(steps):
            known: dict[bytes, np.ndarray] = {}

            def exact(step=step, known=known, records=records) -> np.ndarray:
                batch = records.draw(query.batch_sizes, randomness)
                key = batch.inputs.tobytes()
                if key not in known:
                    known[key] = answer(query, batch, parameters_of(step), LINE)
                return known[key]

            noisy = noise.add(np.array([exact() for _ in range(runs)]), sensitivity, randomness)
            absent, present = with_and_without(query, step)
            apart = (present - absent) / scale
            ratio = ((noisy - absent) / scale) @ apart - apart @ apart / 2
            told[side] += np.log1p(PROBABILITY * np.expm1(np.minimum(ratio, 500.0)))
    return epsilon_lower_bound(told[1], told[0], DELTA)


def with_and_without(query: GradientQuery, step: int) -> list[np.ndarray]:
    """The answers on a batch without the record that differs, and with it."""
    inputs = sampled_features().inputs({}, {"x0": np.array([101.0, 101.0, 99.0]), "x1": np.array([2.0, 0.0, 1.0])})
    rows = [inputs[0]] * BATCHES[0] + [inputs[2]] * BATCHES[1]
    batch = batch_of(rows, [1] * sum(BATCHES), BATCHES)
    both = (batch, replaced(batch, 0, inputs[1], 1))
    return [answer(query, each, parameters_of(step), LINE) for each in both]


@pytest.mark.parametrize("steps", STEPS)
def test_a_run_on_random_batches_shows_no_more_than_it_claims(steps):
    query, noise = penalty_query(SIZES, BATCHES, sampled_features()), noise_of(steps, PROBABILITY)
    found, whole = sampled_run(query, noise, steps), claimed(noise_of(steps))
    assert found <= claimed(SubsampledGaussianNoise(noise.noise_multiplier, query.sampling_probability, steps))
    assert claimed(noise) < 0.6 * whole, "sampling hides something"


@pytest.mark.parametrize("steps", STEPS)
def test_the_size_of_the_table_in_place_of_the_batch_is_caught(monkeypatch, steps):
    right = TransportGradient.gradient_change
    share = BATCHES[0] / SIZES[0]
    monkeypatch.setattr(TransportGradient, "gradient_change", property(lambda query: right.fget(query) * share))
    query, noise = penalty_query(SIZES, BATCHES, sampled_features()), noise_of(steps, PROBABILITY)
    assert sampled_run(query, noise, steps) > 1.3 * claimed(noise)
