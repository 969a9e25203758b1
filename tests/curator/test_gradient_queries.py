"""Gradient queries: no record of a batch moves an answer by more than is claimed, whatever the parameters are."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="gradients need torch")

from counterfoil.accounting.neighbors import NeighboringRelation  # noqa: E402
from counterfoil.accounting.replacement import require_declared  # noqa: E402
from counterfoil.curator import queries  # noqa: E402
from counterfoil.curator.queries import gradient  # noqa: E402
from counterfoil.curator.queries.generator_gradient import GeneratorGradient  # noqa: E402
from counterfoil.curator.queries.gradient import LOSS_SHARE, GradientQuery, PublicDraws, restated_probability  # noqa: E402
from counterfoil.curator.queries.loss_gradient import LossGradient  # noqa: E402
from counterfoil.curator.queries.registry import require_registered, shipped_queries  # noqa: E402
from counterfoil.curator.queries.transport_gradient import TransportGradient  # noqa: E402
from counterfoil.features.training_features import TrainingFeatures  # noqa: E402
from counterfoil.networks.architectures import linear  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm  # noqa: E402
from counterfoil.noise.noise import LARGEST_ANSWER, Norm  # noqa: E402
from gradient_batches import (  # noqa: E402
    INPUTS,
    Made,
    answer,
    batch_of,
    encoder_query,
    features_of,
    generator_query,
    loss_of,
    loss_query,
    moved,
    replaced,
    transport_query,
)

pytestmark = pytest.mark.usefixtures("one_thread")

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
KINDS = {LossGradient, TransportGradient, GeneratorGradient}
SCALES = st.sampled_from([0.3, 3.0, 100.0, 1e8, 1e200])
CLIPPINGS = st.sampled_from(["spectral", "components"])
SEEDS = st.integers(0, 2**32 - 1)


def rng_of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def most(made: Made) -> float:
    """The norm that no gradient exceeds, in units of the answer, half a unit a coordinate for rounding included."""
    query = made.query
    if isinstance(query, GeneratorGradient):
        norm = 4 * query.bound * query.jacobian_norm
    elif isinstance(query, TransportGradient):
        weights = math.fsum(weight for _, _, weight in query.transport.pairs)
        penalty = 8 * query.transport.bound * query.transport.jacobian_norm * weights
        norm = (1 - query.alpha) * query.loss.clip_norm + query.alpha * penalty
    else:
        norm = query.loss.clip_norm
    return norm * (1 + 1e-6) / query.unit + math.sqrt(query.size)


def assert_no_record_moves_it_further(made: Made, rng: np.random.Generator) -> None:
    query, parameters, draws = made.query, made.parameters, made.draws
    claim = query.l2_sensitivity(REPLACE)
    first = answer(query, made.batch, parameters, draws)
    assert first.dtype == np.int64
    assert first.shape == (query.size + 1,)
    assert np.linalg.norm(first[:-1].astype(float)) <= most(made)
    assert 0 <= first[-1] <= math.ceil(query.loss.largest / query.loss_unit)
    for _ in range(3):
        second = answer(query, made.neighbor(rng), parameters, draws)
        change = np.abs((second - first).astype(float))
        assert np.linalg.norm(change) <= claim
        # Each part by itself, so that neither hides in the room of the other.
        rounding = math.sqrt(query.size + 1)
        assert np.linalg.norm(change[:-1]) <= query.gradient_change / query.unit * (1 + 1e-6) + rounding
        assert change[-1] <= LOSS_SHARE * query.gradient_change / query.unit * (1 + 1e-6) + 1


@settings(max_examples=80, derandomize=True)
@given(
    SEEDS, st.sampled_from(["linear", "relu", "tanh"]), st.integers(1, 3), SCALES, st.sampled_from([0.01, 1.0, 50.0])
)
def test_no_record_moves_the_gradient_of_a_loss_further(seed, kind, outputs, scale, clip):
    rng = rng_of(seed)
    made = loss_query(rng, kind=kind, outputs=outputs, scale=scale, clip=clip)
    assert_no_record_moves_it_further(made, rng)


@settings(max_examples=100, derandomize=True)
@given(
    SEEDS,
    st.sampled_from(["linear", "relu", "tanh"]),
    st.integers(1, 3),
    st.integers(2, 3),
    st.sampled_from(["identity", "sigmoid", "softmax", "clamp"]),
    CLIPPINGS,
    st.sampled_from([0.0, 0.3, 1.0]),
    SCALES,
)
def test_no_record_moves_the_gradient_of_a_penalty_further(seed, kind, outputs, groups, link, clipping, alpha, scale):
    rng = rng_of(seed)
    shape = {"kind": kind, "outputs": outputs, "groups": groups, "link": link, "clipping": clipping}
    assert_no_record_moves_it_further(transport_query(rng, alpha=alpha, scale=scale, **shape), rng)


@settings(max_examples=40, derandomize=True)
@given(SEEDS, CLIPPINGS, SCALES)
def test_no_record_moves_the_gradient_of_an_encoder_further(seed, clipping, scale):
    rng = rng_of(seed)
    assert_no_record_moves_it_further(encoder_query(rng, clipping=clipping, scale=scale), rng)


@settings(max_examples=60, derandomize=True)
@given(SEEDS, CLIPPINGS, SCALES, st.integers(1, 9), st.sampled_from(["Z", "X", "both"]))
def test_no_record_moves_the_gradient_of_a_generator_further(seed, clipping, scale, points, protects):
    rng = rng_of(seed)
    made = generator_query(rng, clipping=clipping, scale=scale, points=points, protects=protects)
    assert_no_record_moves_it_further(made, rng)


# Claims are attained


def plain_linear() -> Network:
    """z = <theta, x>."""
    return Network.wrap(torch.nn.Linear(2, 1, bias=False), inputs=2)


def opposite_jacobians(n: int, m: int, alpha: float, clip: float) -> tuple[TransportGradient, list]:
    """Scores at the ends for parameters (100, 0); the record that is replaced keeps its score and turns its Jacobian.

    All of the first group are at M, all of the second at -M, so that the replaced record's derivative is (2 / n) 2 M
    on both sides, and its Jacobian goes from L to -L.
    """
    bound, norm = 0.5, 0.7
    term = TransportTerm(((0, 1, 1.0),), (0, 1), "identity", 0.0, bound, norm, "spectral")
    query = TransportGradient(plain_linear(), features_of(2, inputs=2), (n, m), (n, m), loss_of(1, clip), alpha, term)
    rows = [[0.01, 1.0]] * n + [[-0.01, 0.0]] * m
    batch = batch_of(rows, [1] * n + [0] * m, (n, m))
    return query, [batch, replaced(batch, 0, [0.01, -1.0], 1)]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 9), (9, 4)])
def test_the_claim_of_a_penalty_is_attained(n, m):
    query, (one, other) = opposite_jacobians(n, m, alpha=1.0, clip=1.0)
    draws = PublicDraws(np.ones((1, 1)))
    attained = moved(query, one, other, np.array([100.0, 0.0]), draws) * query.unit
    expected = 8 * 0.5 * 0.7 / n
    assert attained == pytest.approx(expected, rel=1e-3)
    if n <= m:  # the claim is that of the smaller group
        assert attained == pytest.approx(query.gradient_change, rel=1e-3)
        assert 0.98 * query.l2_sensitivity(REPLACE) < attained / query.unit <= query.l2_sensitivity(REPLACE)


def test_the_claim_of_a_loss_is_attained():
    """The gradient goes from C to -C where the Jacobian turns, and the loss from nothing to the most."""
    query = LossGradient(plain_linear(), features_of(1, inputs=2), (3,), (3,), loss_of(1, 0.5))
    one = batch_of([[0.01, 1.0], [0.0, 0.0], [0.0, 0.0]], [0, 0, 0], (3,))
    other = replaced(one, 0, [0.01, -1.0], 0)
    attained = moved(query, one, other, np.array([100.0, 0.0]), PublicDraws())
    assert attained * query.unit == pytest.approx(query.gradient_change, rel=1e-3)
    assert 0.98 * query.l2_sensitivity(REPLACE) < attained <= query.l2_sensitivity(REPLACE)
    sure = batch_of([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], [1, 0, 0], (3,))
    losses = [
        answer(query, batch, np.array([100.0, 0.0]), PublicDraws())[-1]
        for batch in (sure, replaced(sure, 0, [1.0, 0.0], 0))
    ]
    assert abs(losses[0] - losses[1]) * query.loss_unit == pytest.approx(query.loss.largest / 3, rel=1e-3)


def test_the_loss_of_a_generator_moves_by_as_much_as_is_claimed():
    """All points of the generator at M, and one of two records goes from M to -M."""
    network = Network.wrap(torch.nn.Linear(1, 1), inputs=1)
    loss = LossTerm("sliced_wasserstein", (0, 1), 1.0, 4.0)
    query = GeneratorGradient(network, features_of(1, inputs=1, targets=False), (2,), (2,), loss, 1.0, 1.0)
    one = batch_of([[1.0], [1.0]], [0, 0], (2,))
    other = replaced(one, 0, [-1.0], 0)
    draws = PublicDraws(np.ones((1, 1)), np.zeros((4, 1)))
    first, second = (answer(query, batch, np.array([0.0, 1.0]), draws) for batch in (one, other))
    assert abs(first - second)[-1] * query.loss_unit == pytest.approx(4 / 2, rel=1e-6)
    # 4 M L / b: the weight has no part in points of a latent 0, the bias has all.
    assert abs(first - second)[1] * query.unit == pytest.approx(query.gradient_change, rel=1e-6)


def test_smaller_claims_are_broken():
    """What holds above is no accident of large claims: half of each is exceeded."""
    query, (one, other) = opposite_jacobians(4, 9, alpha=1.0, clip=1.0)
    parameters, draws = np.array([100.0, 0.0]), PublicDraws(np.ones((1, 1)))
    assert moved(query, one, other, parameters, draws) > 0.51 * query.l2_sensitivity(REPLACE)


# What is restated


def examples() -> list[Made]:
    rng = rng_of(5)
    penalty = {"outputs": 2, "groups": 3, "link": "softmax", "clipping": "components", "alpha": 0.3, "scale": 1.0}
    return [
        loss_query(rng, kind="linear", outputs=3, scale=1.0, clip=0.3),
        transport_query(rng, kind="relu", **penalty),
        encoder_query(rng, clipping="spectral", scale=1.0),
        generator_query(rng, clipping="components", scale=1.0, points=3),
        generator_query(rng, clipping="spectral", scale=1.0, points=3, protects="X"),
        generator_query(rng, clipping="spectral", scale=1.0, points=3, protects="both"),
    ]


EXAMPLES = examples()


@pytest.mark.parametrize("made", EXAMPLES, ids=lambda made: made.query.name)
def test_receipts_restate_the_sensitivity(made):
    query = made.query
    described = json.loads(json.dumps(query.describe()))
    for relation, how_many in ((ADD, 1.0), (REPLACE, 2.0)):
        restated = query.restated_sensitivity(described, how_many, Norm.L2)
        assert restated == pytest.approx(query.l2_sensitivity(relation), rel=1e-12)
    assert restated_probability(described) == pytest.approx(query.sampling_probability)
    require_declared(query.name, query.l2_sensitivity, 1.0)


def changed(document: dict, path: tuple, value: object) -> dict:
    """A copy with another value at the end of the path."""
    copy = json.loads(json.dumps(document))
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return copy


TAMPERED = [
    (0, ("batch_sizes",), [900, 900]),
    (0, ("loss", "clip_norm"), 0.1),
    (1, ("alpha",), 0.0),
    (1, ("transport", "bound"), 0.1),
    (1, ("transport", "jacobian_norm"), 0.1),
    (1, ("parameters",), 999),
    (2, ("loss", "clip_norm"), 7.0),
    (3, ("bound",), 0.2),
    (3, ("jacobian_norm",), 0.2),
]


@pytest.mark.parametrize(("number", "path", "value"), TAMPERED)
def test_changed_parameters_restate_another_sensitivity(number, path, value):
    query = EXAMPLES[number].query
    told = changed(query.describe(), path, value)
    if "batch_sizes" in path:
        told["group_sizes"] = told["batch_sizes"]
    restated = query.restated_sensitivity(told, 2.0, Norm.L2)
    assert restated != pytest.approx(query.l2_sensitivity(REPLACE), rel=1e-6)


IMPOSSIBLE = [
    (0, ("batch_sizes",), [0, 0]),
    (0, ("batch_sizes",), [3]),
    (0, ("batch_sizes",), [-1, 3]),
    (0, ("parameters",), 0),
    (1, ("alpha",), 1.5),
    (1, ("alpha",), math.nan),
    (1, ("batch_sizes",), [0, 3, 3]),
    (1, ("transport", "pairs"), []),
    (1, ("transport", "pairs"), [[0, 1, 1.0], [0, 1, -0.999]]),
    (0, ("loss", "clip_norm"), -1.0),
    (1, ("transport", "pairs"), [[0, 0, 1.0]]),
    (1, ("transport", "pairs"), [[-3, 1, 1.0]]),
    (1, ("transport", "pairs"), [[0, 3, 1.0]]),
    (1, ("transport", "pairs"), [[0, 1]]),
    (3, ("loss", "largest"), 0.1),
    (3, ("jacobian_norm",), "x"),
    (3, ("protects",), "Y"),
    (3, ("protects",), "both"),
    (3, ("sides",), [0, 1]),
    (5, ("protects",), "X"),
    (5, ("sides",), [0, 0]),
    (5, ("sides",), [0]),
    (5, ("sides",), [1, 2]),
    (5, ("sides",), [0.0, 1.0]),
    (5, ("batch_sizes",), [3, 0]),
]


@pytest.mark.parametrize(("number", "path", "value"), IMPOSSIBLE)
def test_impossible_parameters_are_not_restated(number, path, value):
    query = EXAMPLES[number].query
    with pytest.raises((ArithmeticError, KeyError, TypeError, ValueError)):
        query.restated_sensitivity(changed(query.describe(), path, value), 2.0, Norm.L2)


# What is refused


def test_every_query_of_batches_is_tested_here():
    shipped = {kind for kind in shipped_queries().values() if issubclass(kind, GradientQuery)}
    assert shipped == KINDS == {type(made.query) for made in EXAMPLES}
    assert all("Formal guarantee:" in kind.__doc__ and kind.__dataclass_params__.frozen for kind in KINDS)
    assert queries.__name__ in gradient.__name__


@pytest.mark.parametrize("made", EXAMPLES, ids=lambda made: made.query.name)
def test_nobody_has_to_vouch_for_shipped_networks(made):
    assert require_registered(made.query) == []


class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.nn.Linear(INPUTS, 1)

    def forward(self, x):
        return self.last(torch.tanh(x))


def test_a_network_of_a_users_own_is_vouched_for():
    network = Network.wrap(Own(), inputs=INPUTS)
    query = LossGradient(network, features_of(1), (5,), (2,), loss_of(1, 1.0))
    assert [brought.words for brought in require_registered(query)] == [f"Own of {__name__}"]
    assert query.describe()["architecture"]["brought"] == [f"Own of {__name__}"]


class OwnFeatures(TrainingFeatures):
    """It would be handed the codes of all records."""


class OwnNetwork(Network):
    """It would be handed a batch, and was never tried."""


BASE = {"network": linear(INPUTS, 2, seed=0), "features": features_of(2, 2)}
TERM = TransportTerm(((0, 1, 1.0),), (0, 2), "identity", 0.0, 1.0, 1.0, "spectral")


def loss_with(**changes):
    facts = {**BASE, "group_sizes": (8, 8), "batch_sizes": (4, 2), "loss": loss_of(2, 1.0)} | changes
    return LossGradient(**facts)


def penalty_with(*, alpha=0.5, scorer=None, **changes):
    facts = {**BASE, "group_sizes": (8, 8), "batch_sizes": (4, 2), "loss": loss_of(2, 1.0)}
    return TransportGradient(**facts, alpha=alpha, transport=dataclasses.replace(TERM, **changes), scorer=scorer)


def own_network():
    made = linear(INPUTS, 2, seed=0)
    return OwnNetwork(made._function, inputs=INPUTS)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: loss_with(batch_sizes=(4,)), "for each of 2 groups"),
        (lambda: loss_with(group_sizes=(8, 8, 8), batch_sizes=(4, 4, 4)), "for each of 2 groups"),
        (lambda: loss_with(batch_sizes=(4, 9)), "at most all records"),
        (lambda: loss_with(batch_sizes=(-1, 9)), "at most all records"),
        (lambda: loss_with(batch_sizes=(0, 0)), "must hold a record"),
        (lambda: loss_with(loss=loss_of(2, 0.0)), "`clip_norm` must be"),
        (lambda: loss_with(loss=loss_of(2, math.nan)), "`clip_norm` must be"),
        (lambda: loss_with(loss=loss_of(2, "1")), "`clip_norm` must be"),
        (lambda: loss_with(loss=LossTerm("cross_entropy", (0, 2), 1.0, math.inf)), "`largest` must be"),
        (lambda: loss_with(loss=LossTerm("cross_entropy", (0, 3), 1.0, 1.0)), "reads outputs"),
        (lambda: loss_with(loss=LossTerm("cross_entropy", (-2, 1), 1.0, 1.0)), "reads outputs"),
        (lambda: loss_with(features=features_of(2, 3)), "each of 3 classes"),
        (lambda: loss_with(features=OwnFeatures(BASE["features"].schema, ("y",), ("g",))), "Found other classes"),
        (lambda: loss_with(network=own_network()), "Found other classes"),
        (lambda: penalty_with(scorer=own_network()), "Found other classes"),
        (lambda: penalty_with(alpha=-0.1), "`alpha`"),
        (lambda: penalty_with(alpha=math.nan), "`alpha`"),
        (lambda: penalty_with(alpha="1"), "`alpha`"),
        (lambda: penalty_with(bound=0.0), "`bound`"),
        (lambda: penalty_with(bound=1e200), "`bound`"),
        (lambda: penalty_with(jacobian_norm=math.inf), "`jacobian_norm`"),
        (lambda: penalty_with(pairs=((0, 0, 1.0),)), "two groups"),
        (lambda: penalty_with(pairs=((0, 2, 1.0),)), "two groups"),
        (lambda: penalty_with(pairs=((-2, 1, 1.0),)), "two groups"),
        (lambda: penalty_with(pairs=((0, 1, -1.0),)), "`weight`"),
    ],
)
def test_queries_refuse_what_would_break_their_claims(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_a_generator_refuses_a_distance_that_is_larger_than_what_is_reported():
    made = EXAMPLES[3].query
    with pytest.raises(ValueError, match="as large as"):
        dataclasses.replace(made, loss=dataclasses.replace(made.loss, largest=4 * made.bound**2 * 0.99))
    with pytest.raises(ValueError, match="`bound`"):
        dataclasses.replace(made, bound=-1.0)


def test_answers_beyond_int64_are_cut_off():
    """Where they wrapped around, a record that moves the gradient a little would change its sign."""
    query = EXAMPLES[0].query
    for sign in (1, -1):
        answer = query._rounded(np.full(query.size, sign * 1e300), 0.0)
        assert (answer[:-1] == sign * LARGEST_ANSWER).all()
        answer = query._rounded(np.full(query.size, sign * math.inf), math.inf)
        assert (answer[:-1] == sign * LARGEST_ANSWER).all()
    assert (query._rounded(np.full(query.size, math.nan), math.nan) == 0).all()


def test_a_gradient_is_not_computed_on_all_records():
    with pytest.raises(TypeError, match=r"Account\.train"):
        EXAMPLES[0].query.exact(None)


def test_a_query_fits_the_schema_of_its_features_alone():
    query = EXAMPLES[0].query
    query.require_fits(query.features.schema)
    with pytest.raises(ValueError, match="records of the schema"):
        query.require_fits(features_of(1).schema)


def test_many_records_that_cancel_move_no_further():
    """Long sums whose terms cancel: rounding of 20,000 records stays in what is added for it."""
    rng = rng_of(3)
    sizes = (9000, 11000)
    term = TransportTerm(((0, 1, 1.0),), (0, 2), "identity", 0.0, 1.0, 1.0, "spectral")
    network = linear(INPUTS, 2, seed=0)
    query = TransportGradient(network, features_of(2), sizes, sizes, loss_of(2, 1.0), 0.5, term)
    rows = rng.choice([-1.0, 1.0], size=(sum(sizes), INPUTS))
    batch = batch_of(rows, rng.integers(0, 2, len(rows)), sizes)
    # Both outputs nearly the same: their difference loses all but a few digits.
    parameters = np.array([1e7, 1e7, 1e7, 1e7 + 1e-2, 1e7, 1e7, 0.0, 0.0])
    draws = PublicDraws(np.array([[math.sqrt(0.5), -math.sqrt(0.5)], [1.0, 0.0]]))
    for at in (0, 8999, 9000, 19_999):
        other = replaced(batch, at, -batch.inputs[at], int(1 - batch.classes[at]))
        assert moved(query, batch, other, parameters, draws) <= query.l2_sensitivity(REPLACE)
