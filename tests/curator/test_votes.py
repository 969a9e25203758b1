"""Votes of teachers: right, no further moved by a record than claimed, and private as a whole.

Two tables get the same random bits for the records that they share, which is the coupling that the claim rests on
(`known_bits`). False alarms: an audit of a sound mechanism fails by chance with probability at most 1e-6, and the same
way every time, as all noise is seeded.
"""

from __future__ import annotations

import itertools
import math
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp

from audit_tools import LessNoise, epsilon_lower_bound, epsilon_of_ratios
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator import teachers as teachers_module
from counterfoil.curator.curator import Curator
from counterfoil.curator.parts import Part
from counterfoil.curator.queries.votes import TeacherVotes
from counterfoil.curator.teachers import count_votes, teacher_votes
from counterfoil.domain.domain import Domain
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.randomness import Randomness, SeededRandomness
from known_bits import records_with_bits
from sensitive_tables import Row, frame_of, schema_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
DOMAIN = Domain(("x", "z", "y"), (5, 3, 3))
FEATURES = TrainingFeatures(schema_of(DOMAIN), ("y",))
PAIR = Domain(("x", "y"), (5, 2))
OF_PAIR = TrainingFeatures(schema_of(PAIR), ("y",))
PUBLIC = np.array(list(itertools.product(np.linspace(-1, 1, 5), (-1.0, 0.0, 1.0))))


def asked(k: int, m: int = len(PUBLIC)) -> TeacherVotes:
    return TeacherVotes(FEATURES, PUBLIC[:m], k)


def on_pair(m: int, k: int) -> TeacherVotes:
    return TeacherVotes(OF_PAIR, np.linspace(-1, 1, m)[:, None], k)


# What is counted


def scores_by_hand(inputs: np.ndarray, classes: np.ndarray, rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Scores [m, present] of the penalized multinomial logistic regression, by another minimizer.

    The penalty is half the squared norm of the weights: of one vector for two classes, which as two opposite ones of
    half its length have half of its squared norm, and of a vector for each of more.
    """
    shape = (len(present), inputs.shape[1] + 1)
    labels = np.searchsorted(present, classes)
    penalty = 1.0 if len(present) == 2 else 0.5

    def loss(flat: np.ndarray) -> float:
        weights = flat.reshape(shape)
        scores = inputs @ weights[:, :-1].T + weights[:, -1]
        chosen = scores[np.arange(len(labels)), labels]
        return float((logsumexp(scores, axis=1) - chosen).sum() + penalty * (weights[:, :-1] ** 2).sum())

    weights = minimize(loss, np.zeros(shape[0] * shape[1]), method="BFGS", options={"gtol": 1e-7}).x.reshape(shape)
    return rows @ weights[:, :-1].T + weights[:, -1]


@pytest.mark.parametrize("classes", [2, 3])
def test_votes_are_those_of_regressions_fitted_by_hand(classes):
    domain = Domain(("x", "z", "y"), (7, 7, classes))
    rng = np.random.default_rng(classes)
    rows = [(x, z, min((x + z + e // 3) * classes // 14, classes - 1)) for x, z, e in rng.integers(0, 7, (90, 3))]
    bits = rng.integers(0, 4, 90).tolist()
    public = rng.uniform(-1, 1, (40, 2))
    query = TeacherVotes(TrainingFeatures(schema_of(domain), ("y",)), public, 4)
    expected, clear = np.zeros((40, classes)), np.ones(40, dtype=bool)
    for part in range(4):
        own = np.array([row for row, bit in zip(rows, bits, strict=True) if bit == part])
        present = np.unique(own[:, 2])
        scores = scores_by_hand(own[:, :2] / 3 - 1, own[:, 2], public, present)
        expected[np.arange(40), present[scores.argmax(axis=1)]] += 1
        top = np.sort(scores, axis=1)
        clear &= top[:, -1] - top[:, -2] > 0.02
    votes = query.table(query.exact(records_with_bits(domain, rows, bits)))
    assert clear.sum() > 25, "most rows are far from a tie, where minimizers may differ"
    assert len(np.unique(expected[clear], axis=0)) > 2, "teachers do not all say the same"
    assert np.array_equal(votes[clear], expected[clear])


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(1, 4))
def test_every_teacher_that_has_records_votes_once_on_every_row(data, k):
    rows = data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), max_size=12))
    bits = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(rows), max_size=len(rows)))
    query = asked(k)
    votes = query.exact(records_with_bits(DOMAIN, rows, bits))
    assert votes.dtype == np.int64
    assert (query.table(votes).sum(axis=1) == len({bit % k for bit in bits})).all()
    assert votes.min() >= 0


def part_of(inputs: list[list[float]], classes: list[int]) -> Part:
    return Part(np.array(inputs, dtype=np.float64).reshape(len(classes), 2), np.array(classes, dtype=np.int64))


def test_teachers_without_two_classes_vote_for_the_one_that_they_know():
    assert not count_votes([part_of([], [])], PUBLIC, 3).any()
    assert teacher_votes(part_of([[0.5, 0.0]], [2]), PUBLIC).tolist() == [2] * len(PUBLIC)
    assert teacher_votes(part_of([[0.5, 0.0], [1.0, 1.0]], [1, 1]), PUBLIC).tolist() == [1] * len(PUBLIC)


def test_a_teacher_that_fails_votes_for_its_commonest_class_and_nobody_hears_of_it(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    def fail(*_: object) -> None:
        raise RuntimeError("3 records of class 2")

    part = part_of([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [0, 2, 2])
    monkeypatch.setattr(LogisticRegression, "fit", fail)
    assert count_votes([part], PUBLIC, 3).tolist() == [[0, 0, 1]] * len(PUBLIC)


def test_teachers_that_do_not_converge_say_nothing(monkeypatch):
    """Whether a warning is shown would depend on the records; and where warnings are errors, whether a vote changes."""
    from sklearn.linear_model import LogisticRegression

    rows = [(i % 5, i % 3, (i * i) % 3) for i in range(60)]
    made = LogisticRegression.__init__
    with Curator(frame_of(DOMAIN, rows), schema_of(DOMAIN), budget=Budget(1.0, 1e-6), seed=1) as curator:
        noise = GaussianNoise(100.0)
        account = curator.filter(GaussianFilter())
        monkeypatch.setattr(LogisticRegression, "__init__", lambda self, **_: made(self, max_iter=1))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            account.ask(asked(2), noise)


# How far one record moves them

tables = st.lists(
    st.tuples(
        st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), st.integers(0, 2**64 - 1)
    ),
    max_size=14,
)  # fmt: skip


def exact(query: TeacherVotes, table: list[tuple[Row, int]], domain: Domain = DOMAIN) -> np.ndarray:
    return query.exact(records_with_bits(domain, [row for row, _ in table], [bits for _, bits in table]))


def assert_within(query: TeacherVotes, neighbors: Neighbors, moved: np.ndarray) -> None:
    for claim, found in (("l1_sensitivity", np.abs(moved).sum()), ("l2_sensitivity", np.linalg.norm(moved))):
        assert found <= neighbors.sensitivity(getattr(query, claim), neighbors.relation) * (1 + 1e-12)


@settings(max_examples=80, deadline=None)
@given(tables, tables.filter(lambda table: len(table) > 0), st.integers(0, 14), st.integers(1, 4))
def test_one_record_moves_one_teacher(table, extra, place, k):
    """Whatever the bits: added at any place, or exchanged for another, which takes over its bits."""
    query = asked(k)
    (row, bits), other = extra[0], extra[-1][0]
    whole, replaced = ([*table[:place], (one, bits), *table[place:]] for one in (row, other))
    answers = [query.table(exact(query, each)) for each in (table, whole, replaced)]
    for relation, one, two in ((ADD, 0, 1), (REPLACE, 1, 2)):
        moved = answers[two] - answers[one]
        assert_within(query, Neighbors(relation), moved.ravel())
        # One vote at most goes from one class to another, on each row.
        assert (np.abs(moved).sum(axis=1) <= 2).all()


@settings(max_examples=40, deadline=None)
@given(tables, tables, tables, st.integers(1, 4))
def test_a_unit_of_several_rows_moves_as_many_teachers(table, before, after, k):
    """Two units of up to three rows in each other's place; rows that stand for each other have the same bits."""
    query, unit = asked(k), PrivacyUnit("person", 3)
    before, after = before[:3], after[:3]
    after = [(row, before[i][1] if i < len(before) else bits) for i, (row, bits) in enumerate(after)]
    for relation, one in ((ADD, []), (REPLACE, before)):
        moved = exact(query, [*table, *after]) - exact(query, [*one, *table])
        assert_within(query, Neighbors(relation, unit), moved)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_claims_are_attained(relation, rows):
    """By units whose rows lie in different parts, where they are the only ones, or turn what one other record says."""
    query = TeacherVotes(OF_PAIR, np.ones((9, 1)), 4)
    neighbors = Neighbors(relation, PrivacyUnit("person", rows) if rows > 1 else None)
    others, unit = ([((x, y), part) for part in range(rows)] for x, y in ((0, 0), (4, 1)))
    after = [*others, *unit] if relation is ADD else unit
    moved = exact(query, after, PAIR) - exact(query, others, PAIR)
    assert np.abs(moved).sum() == neighbors.sensitivity(query.l1_sensitivity, relation)
    assert np.linalg.norm(moved) == pytest.approx(neighbors.sensitivity(query.l2_sensitivity, relation), rel=1e-12)


def test_parts_by_position_would_break_the_claim():
    """The twin of random bits, neighbors in the table by twos: one that leaves mixes all pairs behind it."""
    query = TeacherVotes(OF_PAIR, np.ones((9, 1)), 4)
    rows = [(0, 0), (0, 0), (4, 1), (4, 1)] * 2
    whole = [(row, i // 2) for i, row in enumerate(rows)]
    moved = {
        "bits": exact(query, whole[1:], PAIR) - exact(query, whole, PAIR),
        "position": exact(query, [(row, i // 2) for i, row in enumerate(rows[1:])], PAIR) - exact(query, whole, PAIR),
    }
    assert np.abs(moved["bits"]).sum() <= query.l1_sensitivity(ADD) < np.abs(moved["position"]).sum()


# The mechanism as a whole

DELTA = 0.01
MIXED = on_pair(5, 2)
TABLES: dict[str, list[Row]] = {
    "shared": [(0, 0), (1, 1), (4, 1)],
    "added": [(0, 0), (1, 1), (4, 1), (4, 0)],
    "one": [(0, 0), (1, 1), (4, 1), (0, 1)],
}


@cache
def law_of_answers(table: str) -> tuple[np.ndarray, np.ndarray]:
    """All exact answers [a, cells] of `MIXED` and their probabilities: those of all ways to divide the records."""
    rows = TABLES[table]
    ways = itertools.product(range(2), repeat=len(rows))
    answers = [exact(MIXED, list(zip(rows, way, strict=True)), PAIR) for way in ways]
    found, counts = np.unique(answers, axis=0, return_counts=True)
    return found, counts / counts.sum()


def noise_for(epsilon: float) -> GaussianNoise:
    return GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(Budget(epsilon, DELTA))) * (1 + 1e-9))


def ratios(one: str, other: str, scale: float, runs: int, randomness: Randomness) -> np.ndarray:
    """log P / Q of `runs` noisy answers on the first table: of mixtures of discrete Gaussians around all answers."""
    answers, weights = law_of_answers(one)
    way = np.searchsorted(np.cumsum(weights), randomness.generator().random(runs), side="right")
    told = answers[way] + randomness.discrete_gaussian(scale, answers[way].size).reshape(answers[way].shape)
    logs = []
    for table in (one, other):
        exacts, probabilities = law_of_answers(table)
        squares = ((told[:, None, :] - exacts) ** 2).sum(axis=2)
        # Both have the same normalizing constant: the centers are whole.
        logs.append(logsumexp(-squares / (2 * scale**2), b=probabilities, axis=1))
    return logs[0] - logs[1]


@pytest.mark.parametrize("pair", [("shared", "added"), ("one", "added")], ids=["added", "replaced"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_random_parts_and_noise_together_keep_the_claim(epsilon, pair):
    """The law of the whole mechanism, bits included: a mixture over all divisions, at most as telling as its worst."""
    scale = noise_for(epsilon).scale(MIXED.l2_sensitivity(ADD))
    seeded = SeededRandomness(20261122)

    def found(factor: float) -> float:
        told = [ratios(*each, scale * factor, 20_000, seeded) for each in (pair, pair[::-1])]
        return epsilon_of_ratios(*told, DELTA)

    assert found(1.0) <= epsilon
    assert found(0.25) > epsilon, "a quarter of the noise is caught, on neighbors that are not the worst"


WORST = TeacherVotes(OF_PAIR, np.ones((8, 1)), 2)


def audit(epsilon: float, relation: NeighboringRelation, claimed: float, randomness: Randomness) -> float:
    """A lower bound on epsilon: a teacher of whom one record turns all votes, either of two alike."""
    shared = [((0, 0), 0), ((0, 0), 1)] if relation is ADD else []
    one = exact(WORST, shared if relation is ADD else [((0, 0), 0)], PAIR)
    other, twin = (exact(WORST, [*shared, ((4, 1), part)], PAIR) for part in (0, 1))
    assert np.array_equal(other, twin), "which teacher it is makes no difference"
    noise = noise_for(epsilon)
    told = [noise.add(np.tile(each, (120_000, 1)), claimed, randomness) for each in (one, other)]
    return epsilon_lower_bound(*(answers @ (other - one) for answers in told), DELTA)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_worst_neighbors_keep_the_claim_and_less_noise_does_not(epsilon, relation):
    claimed, seeded = WORST.l2_sensitivity(relation), SeededRandomness(20261122)
    assert audit(epsilon, relation, claimed, seeded) <= epsilon
    assert audit(epsilon, relation, claimed, LessNoise(seeded)) > epsilon
    # Noise for one row, as if each row's vote were another table's, is a well-known mistake.
    assert audit(epsilon, relation, math.sqrt(2), seeded) > epsilon


# What is charged and refused


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_a_unit_pays_for_all_of_its_rows(relation):
    rows, people = [(i % 5, i % 2) for i in range(30)], [str(i // 2) for i in range(30)]
    options = {"relation": relation, "privacy_unit": PrivacyUnit("unit", 3), "seed": 1}
    with Curator(frame_of(PAIR, rows, people), schema_of(PAIR), budget=Budget(1.0, 1e-6), **options) as curator:
        account = curator.filter(GaussianFilter(), replacement_factor=1.0)
        answer = account.ask(on_pair(8, 5), account.noise(account.capacity))
        assert account.charges[0].sensitivity == 3 * 4.0
        assert answer.scale == pytest.approx(math.hypot(1.5, 12 * account.charges[0].event.noise_multiplier))


def test_the_same_seed_divides_alike_and_another_does_not():
    """The bits come from the curator's randomness. Noise of a thousandth leaves the votes as they are."""
    rows = [(i % 5, (i * 7 + i // 3) % 2) for i in range(60)]

    def votes(seed: int) -> list[int]:
        with Curator(frame_of(PAIR, rows), schema_of(PAIR), budget=Budget(100.0, 0.5), seed=seed) as curator:
            query = on_pair(8, 6)
            return query.exact(curator._records).tolist()

    assert votes(1) == votes(1)
    assert len({tuple(votes(seed)) for seed in range(6)}) > 1


def test_another_schema_is_refused_before_anything_is_charged():
    with Curator(frame_of(DOMAIN, [(0, 0, 0)]), schema_of(DOMAIN), budget=Budget(1.0, 1e-6), seed=1) as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="the schema that their features are made for"):
            account.ask(on_pair(3, 2), account.noise(account.capacity))
        assert account.charges == []


def test_without_scikit_learn_nothing_is_charged(monkeypatch):
    query = asked(2)
    with Curator(frame_of(DOMAIN, [(0, 0, 0)]), schema_of(DOMAIN), budget=Budget(1.0, 1e-6), seed=1) as curator:
        account = curator.filter(GaussianFilter())
        monkeypatch.setattr(teachers_module, "find_spec", lambda name: None)
        with pytest.raises(ImportError, match="install it with pip install 'counterfoil\\[evaluation\\]'"):
            account.ask(query, account.noise(account.capacity))
        assert account.charges == []


def test_parameters_that_would_break_the_claim_are_refused():
    with pytest.raises(ValueError, match="one target that has two classes"):
        TeacherVotes(TrainingFeatures(schema_of(DOMAIN)), PUBLIC, 2)
    with pytest.raises(ValueError, match="one target that has two classes"):
        TeacherVotes(TrainingFeatures(schema_of(Domain(("x", "y"), (3, 1))), ("y",)), PUBLIC[:, :1], 2)
    for rows in (PUBLIC[:0], PUBLIC[:, :1], PUBLIC.astype(np.float32), PUBLIC * np.nan, PUBLIC.ravel()):
        with pytest.raises(ValueError, match="`rows` must be finite float64"):
            TeacherVotes(FEATURES, rows, 2)
    for k in (0, -1, 2.0, True, 100_001):
        with pytest.raises(ValueError, match="`teachers` must be a whole number from 1 to 100,000"):
            TeacherVotes(FEATURES, PUBLIC, k)
