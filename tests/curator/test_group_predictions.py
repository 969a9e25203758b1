"""Counts of a model's predictions by group and class: by hand, in any blocks, and audited."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.fidelity_fairness import GroupPredictions
from counterfoil.curator.trial import PublicRows
from counterfoil.domain.domain import Domain
from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.linear_model import LinearModel
from counterfoil.features.public_predictor import DenseLayer, LayeredPredictor, LinearPredictor
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from sensitive_tables import ENGINES, frame_of, records_of, schema_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
DOMAIN = Domain(("y", "a", "b", "x"), (2, 2, 3, 4))
SCHEMA = schema_of(DOMAIN)


def linear(weights: list[int], target: str = "y") -> LinearPredictor:
    return LinearPredictor(LinearModel(FeatureMap(SCHEMA, target, 1), np.array(weights, dtype=np.int64)))


def rows(n: int, seed: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    return [tuple(map(int, row)) for row in rng.integers(0, DOMAIN.sizes, (n, 4))]


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_are_those_by_hand(engine: str):
    """The score is x - 1.5, scaled: records with x = 2 and 3 are predicted as 1."""
    query = GroupPredictions(linear([0, 0, 0, 2**16]), ("b", "a"))
    table = rows(200, 1)
    expected = np.zeros((6, 2, 2), dtype=int)
    for y, a, b, x in table:
        expected[2 * b + a, y, int(x >= 2)] += 1
    found = query.exact(records_of(DOMAIN, table, engine=engine))
    assert np.array_equal(query.split(found), expected)
    assert query.group_names[3] == "b = 1, a = 1"
    assert expected.min() > 0


def test_the_positive_class_counts_as_1():
    model = LinearModel(FeatureMap(SCHEMA, "b", 2), np.array([2**16, 0, 0, 0], dtype=np.int64))
    query = GroupPredictions(LinearPredictor(model), ("a",))
    counts = query.split(query.exact(records_of(DOMAIN, rows(300, 2))))
    assert counts[:, :, 0].sum() == 0, "all are predicted as the positive class"
    assert counts[:, 1].sum() == sum(row[2] == 2 for row in rows(300, 2))


def test_a_network_gives_the_same_counts_however_rows_are_divided():
    """Scores of many rows lie within rounding of the threshold: a product of matrices would tip them either way."""
    schema = Schema(
        (
            Categorical("job", ("cook", "nurse")),
            Real("x", -1.0, 1.0, bins=2),
            Real("z", -1.0, 1.0, bins=2),
            Boolean("rich"),
        )
    )
    features = TrainingFeatures(schema, ("rich",), (), ("job",))
    rng = np.random.default_rng(3)
    spread = rng.normal(size=(64, 2))
    # The second layer takes off what the first, by another path, adds: what is left of a score is rounding.
    both = np.concatenate([spread, spread])
    last = rng.normal(size=64) * 1e3
    layers = (DenseLayer(both, np.zeros(128), "tanh"), DenseLayer(np.concatenate([last, -last])[None], np.zeros(1)))
    model = LayeredPredictor(features, layers)
    query = GroupPredictions(model, ("job",))
    public = PublicRows.random(schema, 3000, rng)
    everyone = rng.permutation(3000)

    def counts(*order: np.ndarray) -> np.ndarray:
        blocks = list(public.in_blocks(*order).blocks(("job", "rich"), ("x", "z", "rich")))
        return sum(query._counts(block) for block in blocks)

    whole = counts(everyone)
    alone = counts(*everyone[:, None][:500], everyone[500:])
    assert np.array_equal(whole, alone)
    assert np.array_equal(whole, counts(everyone[:17], everyone[17:1100], everyone[1100:]))
    predicted = query.split(whole).sum(axis=(0, 1))
    assert predicted.min() > 300, "rounding decides, and it goes both ways"


@pytest.mark.parametrize(
    ("protected", "message"),
    [
        ((), "must name columns, each once. Found none"),
        (("a", "a"), "must name columns, each once"),
        (("c",), "must be synthesized columns. Found 'c'"),
        (("y",), "another column than the target"),
        (("wide",), "At most 64 groups are compared. Found 65"),
    ],
)
def test_columns_that_are_no_groups_are_refused(protected: tuple[str, ...], message: str):
    schema = Schema((*SCHEMA.columns, Integer("wide", 0, 64)))
    model = LinearModel(FeatureMap(schema, "y", 1), np.zeros(5, dtype=np.int64))
    with pytest.raises(ValueError, match=message):
        GroupPredictions(LinearPredictor(model), protected)


def test_a_model_of_another_schema_is_refused_before_anything_is_charged():
    other = Schema((*SCHEMA.columns[:3], Integer("x", 0, 5)))
    model = LinearModel(FeatureMap(other, "y", 1), np.zeros(4, dtype=np.int64))
    query = GroupPredictions(LinearPredictor(model), ("a",))
    with Curator(frame_of(DOMAIN, rows(20, 4)), SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="the schema that it was made for"):
            account.ask(query, account.noise(account.capacity))
        assert account.charged == 0


class OfAUsersOwn(LinearPredictor):
    """Predicts as its model does."""


class LooksAround(LinearPredictor):
    """Compares a record with the others of its block."""

    def predicted(self, codes, numbers):
        return numbers["x"] > np.mean(numbers["x"])


def test_a_predictor_of_a_users_own_is_vouched_for_and_tried_on_public_rows():
    model = linear([0, 0, 0, 2**16]).model
    with Curator(frame_of(DOMAIN, rows(20, 4)), SCHEMA, budget=Budget(1.0, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        half = account.noise(account.divisible / 2)
        account.ask(GroupPredictions(OfAUsersOwn(model), ("a",)), half)
        assert len(account.vouched_for) == 1
        assert account.vouched_for[0].startswith("OfAUsersOwn of ")
        with pytest.raises(ValueError, match="depends on which rows are read together"):
            account.ask(GroupPredictions(LooksAround(model), ("a",)), half)
        assert account.charged == 1


# The audit: neighbors that differ in one record, which moves from one cell to another, or comes

ONE = [(1, 0, 0, 3)]
PRESENT = {ADD: [], REPLACE: [(0, 1, 0, 0)]}
RUNS = 60_000


def audited(kind: str, relation: NeighboringRelation, epsilon: float, *, broken: bool) -> float:
    query = GroupPredictions(linear([0, 0, 0, 2**16]), ("a",))
    common = rows(50, 5)
    one, other = (query.exact(records_of(DOMAIN, [*common, *last])) for last in (PRESENT[relation], ONE))
    assert np.abs(one - other).sum() == query.l1_sensitivity(relation), "the worst neighbors"
    if kind == "gaussian":
        delta, sensitivity = 0.01, query.l2_sensitivity(relation)
        noise = GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(Budget(epsilon, delta))) * (1 + 1e-12))
    else:
        delta, sensitivity = 0.0, query.l1_sensitivity(relation)
        noise = LaplaceNoise(epsilon)
    randomness = SeededRandomness(20261122)
    if broken:
        randomness = LessNoise(randomness)
    moved = np.flatnonzero(one != other)
    evidence = []
    for exact in (one, other):
        told = noise.add(np.tile(exact[moved], (RUNS, 1)), sensitivity, randomness)
        if kind == "gaussian":
            evidence.append(told @ (other - one)[moved])
        else:
            evidence.append((np.abs(told - one[moved]) - np.abs(told - other[moved])).sum(axis=1))
    return epsilon_lower_bound(*evidence, delta)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("relation", NeighboringRelation)
def test_noisy_counts_keep_their_claim_and_half_the_noise_does_not(kind: str, relation: NeighboringRelation):
    """A false alarm has probability 1e-6; the seed makes it the same each time."""
    assert audited(kind, relation, 1.0, broken=False) <= 1.0
    assert audited(kind, relation, 1.0, broken=True) > 1.0
