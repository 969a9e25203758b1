"""Training behind the wall: all steps are charged before the first batch is drawn, and nothing where one is refused."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import os
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="gradients need torch")

from counterfoil.accounting.budget import Budget  # noqa: E402
from counterfoil.accounting.calibration import subsampled_noise_multiplier  # noqa: E402
from counterfoil.accounting.filter import GaussianFilter, PureFilter  # noqa: E402
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit  # noqa: E402
from counterfoil.accounting.plan import PrivacyLossPlan  # noqa: E402
from counterfoil.curator.batches import Batch, GroupedRecords  # noqa: E402
from counterfoil.curator.queries.gradient import PublicDraws  # noqa: E402
from counterfoil.curator.queries.loss_gradient import LossGradient  # noqa: E402
from counterfoil.curator.queries.marginal import MarginalCounts  # noqa: E402
from counterfoil.curator.queries.selection import WorstApproximatedMarginal  # noqa: E402
from counterfoil.curator.queries.transport_gradient import TransportGradient  # noqa: E402
from counterfoil.features.training_features import TrainingFeatures  # noqa: E402
from counterfoil.ledger.errors import BudgetExceeded, LedgerError  # noqa: E402
from counterfoil.ledger.ledger import Ledger, SourceIdentity  # noqa: E402
from counterfoil.networks.architectures import linear  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm  # noqa: E402
from counterfoil.noise.gaussian import GaussianNoise  # noqa: E402
from counterfoil.noise.laplace import LaplaceNoise  # noqa: E402
from counterfoil.noise.selection import ExponentialSelection  # noqa: E402
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise  # noqa: E402
from counterfoil.schema.schema import Schema  # noqa: E402
from training_tables import BUDGET, SCHEMA, curator_of, ledger_at, people  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

FEATURES = TrainingFeatures(SCHEMA, ("outcome",), ("sex",), ("sex",))
INPUTS = len(FEATURES.input_names)
LOSS = LossTerm("logistic", (0, 1), 1.0, 3.0)
COUNTS = MarginalCounts(SCHEMA.domain, (("sex",),))
WORST = WorstApproximatedMarginal((("sex",),), (np.zeros(2, dtype=np.int64),), np.ones(1), np.zeros(1))
NOISE = SubsampledGaussianNoise(3.0, 0.3, 4)
WIDE = SubsampledGaussianNoise(30.0, 1.0, 4)


def sizes_of() -> tuple[int, int]:
    counts = people()["sex"].value_counts()
    return int(counts["f"]), int(counts["m"])


def query_of(share: float = 0.25, **changes: Any) -> LossGradient:
    sizes = sizes_of()
    facts = {
        "network": linear(INPUTS, 1, seed=0),
        "features": FEATURES,
        "group_sizes": sizes,
        "batch_sizes": tuple(round(share * size) for size in sizes),
        "loss": LOSS,
    }
    return LossGradient(**(facts | changes))


def parameters_of(query: LossGradient) -> np.ndarray:
    return query.network.parameters_vector()


@pytest.fixture
def read(monkeypatch) -> list[str]:
    """What touched the records, in order."""
    touched: list[str] = []

    def watch(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def watched(*args, **keywords):
            touched.append(name)
            return original(*args, **keywords)

        monkeypatch.setattr(owner, name, watched)

    watch(GroupedRecords, "draw")
    watch(GroupedRecords, "__init__")
    return touched


# What it answers


def test_steps_are_answered_in_units_of_the_gradient():
    """With little noise the answer is the gradient of the whole table."""
    query = query_of(share=1.0)
    with curator_of(budget=Budget(1e9, 1e-5)) as curator:
        training = curator.filter(GaussianFilter()).train(query, SubsampledGaussianNoise(1e-4, 1.0, 3))
        parameters = parameters_of(query)
        answers = [training.step(parameters) for _ in range(3)]
        whole = curator._records.grouped(FEATURES).draw(query.batch_sizes, curator.randomness)
    exact = query.exact_of_batch(whole, parameters, PublicDraws())
    for answer in answers:
        assert answer.values.shape == (query.size,)
        assert answer.deviation == pytest.approx(1e-4 * query.gradient_change, rel=0.02)
        assert answer.loss_deviation == pytest.approx(1e-4 * 3.0 / len(whole.inputs) * 8, rel=0.02)
        # Eight deviations: 1e-14 for each number.
        assert np.abs(answer.values - exact[:-1] * query.unit).max() < 8 * answer.deviation
        assert abs(answer.loss - exact[-1] * query.loss_unit) < 8 * answer.loss_deviation
    assert not np.array_equal(answers[0].values, answers[1].values), "noise is drawn for each step"


def test_each_step_draws_a_fresh_batch(monkeypatch):
    seen: list[Batch] = []
    original = LossGradient.exact_of_batch

    def watched(self, batch, parameters, draws):
        seen.append(batch)
        return original(self, batch, parameters, draws)

    monkeypatch.setattr(LossGradient, "exact_of_batch", watched)
    query = query_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        seen.clear()  # of the trial, on no records
        for _ in range(4):
            training.step(parameters_of(query))
    assert len(seen) == 4
    assert all(len(batch.inputs) == sum(query.batch_sizes) for batch in seen)
    assert not any(np.array_equal(one.inputs, other.inputs) for one, other in itertools.pairwise(seen))


def test_no_more_steps_are_taken_than_were_charged():
    query = query_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        for left in (4, 3, 2, 1):
            assert training.steps_left == left
            training.step(parameters_of(query))
        with pytest.raises(ValueError, match="All 4 steps"):
            training.step(parameters_of(query))
        assert len(curator.charges()) == 1


def test_a_copy_of_a_training_has_no_steps_of_its_own():
    query = query_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        other = copy.copy(training)
        for one in (training, other, training, other):
            one.step(parameters_of(query))
        with pytest.raises(ValueError, match="All 4 steps"):
            other.step(parameters_of(query))
        with pytest.raises(AttributeError):
            training.steps_left = 4
        with pytest.raises(TypeError):
            copy.deepcopy(training)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes don't fork here")
def test_a_forked_process_takes_no_step():
    query = query_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        child = os.fork()
        if child == 0:
            try:
                training.step(parameters_of(query))
            except ValueError as error:
                os._exit(0 if "after a fork" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert training.steps_left == 4


@pytest.mark.parametrize("wrong", [np.zeros(3), np.full(INPUTS + 1, np.nan), np.full(INPUTS + 1, np.inf)])
def test_parameters_are_refused_before_a_batch_is_read(read, wrong):
    query = query_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        read.clear()
        with pytest.raises(ValueError, match="`vector`"):
            training.step(wrong)
        assert training.steps_left == 4
        assert not read


# Charged first


def test_all_steps_are_charged_durably_before_the_first_batch(tmp_path, monkeypatch):
    path = tmp_path / "people.ledger"
    written: list[int] = []
    original = GroupedRecords.draw

    def draw(self, sizes, randomness):
        with Ledger.open(path, source=SourceIdentity("memory", "memory")) as second:
            written.append(len(second.releases()[0].charges))
        return original(self, sizes, randomness)

    monkeypatch.setattr(GroupedRecords, "draw", draw)
    query = query_of()
    with ledger_at(path) as ledger, curator_of(ledger=ledger) as curator:
        account = curator.filter(GaussianFilter())
        training = account.train(query, WIDE)
        assert not written
        assert account.charged == 1
        charge = account.charges[0]
        assert charge.event == WIDE.event()
        assert charge.event_under_other_relation.noise_multiplier == pytest.approx(30.0)
        assert charge.sensitivity == query.l2_sensitivity(NeighboringRelation.REPLACE_ONE)
        assert charge.noise["scale"] == WIDE.scale(charge.sensitivity)
        training.step(parameters_of(query))
    assert written == [1]


def test_a_run_that_crashes_stays_charged(tmp_path):
    query = query_of()
    with ledger_at(tmp_path / "people.ledger") as ledger:

        def stopped() -> None:
            with curator_of(ledger=ledger) as curator:
                curator.filter(GaussianFilter()).train(query, WIDE).step(parameters_of(query))
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stopped()
        with curator_of(ledger=ledger) as second:
            second.resume(1)
            account = second.filter(GaussianFilter())
            assert account.events == [WIDE.event()]
            assert account.spent == pytest.approx(WIDE.event().mu ** 2)


def test_a_plan_charges_its_parts_one_by_one():
    query = query_of()
    probability = query.sampling_probability
    multiplier = subsampled_noise_multiplier(BUDGET.epsilon, BUDGET.delta, probability, 7)
    parts = [SubsampledGaussianNoise(multiplier, probability, steps) for steps in (4, 3)]
    with curator_of() as curator:
        account = curator.plan(parts, PrivacyLossPlan())
        with pytest.raises(ValueError, match="The plan foresees"):
            account.train(query, parts[1])
        for part in parts:
            account.train(query, part)
        assert PrivacyLossPlan().epsilon(account.events, BUDGET.delta) <= BUDGET.epsilon
        with pytest.raises(ValueError, match="nothing more"):
            account.train(query, parts[0])


def test_the_parts_of_a_run_answer_together_with_no_more_numbers_than_are_proved(monkeypatch):
    """A run with a checkpoint is charged in parts, each of which was below the limit."""
    query, part = query_of(), SubsampledGaussianNoise(60.0, query_of().sampling_probability, 4)
    monkeypatch.setattr("counterfoil.curator.account.MOST_NUMBERS", 8 * (query.size + 1))
    with curator_of() as curator:
        account = curator.plan([part] * 3, PrivacyLossPlan())
        with pytest.raises(ValueError, match=r"A run may answer with at most .*Found 0 before, and 12 steps"):
            account.train(query, part)
        assert not curator.charges(), "before the first part"
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        account.train(query, part)
        account.train(query, part)
        with pytest.raises(ValueError, match=rf"Found {8 * (query.size + 1)} before, and 4 steps"):
            account.train(query, part)
        assert len(curator.charges()) == 2
    with curator_of() as curator:
        account = curator.plan([part] * 2, PrivacyLossPlan())
        for each in (part, part):
            account.train(query, each)


# What is refused


def penalty_of(link: str = "identity", outputs: tuple[int, int] = (0, 1), **changes: Any) -> TransportGradient:
    term = TransportTerm(((0, 1, 1.0),), outputs, link, 0.0, 1.0, 1.0, "spectral")
    facts = {name: getattr(query_of(), name) for name in ("network", "features", "group_sizes", "batch_sizes", "loss")}
    return TransportGradient(**(facts | {"alpha": 0.5, "transport": term} | changes))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: penalty_of(link="probit"), "`link` must be one of"),
        (lambda: penalty_of(outputs=(0, 2)), "Scores are made of outputs"),
        (lambda: penalty_of(scorer=linear(INPUTS + 1, 1, seed=0)), "made-up records"),
        (lambda: penalty_of(scorer=linear(INPUTS, 2, seed=0), outputs=(0, 2)), "made-up records"),
        (lambda: penalty_of(loss=LossTerm("hinge", (0, 1), 1.0, 3.0)), "KeyError: 'hinge'"),
        (lambda: query_of(loss=LossTerm("hinge", (0, 1), 1.0, 3.0)), "KeyError: 'hinge'"),
        (lambda: query_of(network=linear(INPUTS + 1, 1, seed=0)), "made-up records"),
    ],
    ids=["link", "outputs", "inputs of the scorer", "parameters of the scorer", "loss with it", "loss", "inputs"],
)
def test_what_could_not_be_computed_is_refused_before_it_is_charged(read, make, says):
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match=says):
            account.train(make(), WIDE)
        assert not curator.charges()
    assert not read


@pytest.mark.parametrize("directions", [None, np.ones(1), np.ones((0, 1)), np.ones((2, 2)), np.full((1, 1), np.nan)])
def test_a_step_without_its_directions_is_not_taken(read, directions):
    query = penalty_of()
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        read.clear()
        with pytest.raises(ValueError, match=r"needs `directions`, float64 \[n, 1\]"):
            training.step(parameters_of(query), PublicDraws(directions=directions))
        assert training.steps_left == 4
        assert not read
        training.step(parameters_of(query), PublicDraws(directions=np.ones((1, 1))))


class OwnQuery(LossGradient):
    """Not registered."""


class OwnFeatures(TrainingFeatures):
    """Of a user's own: it would be handed the codes of all records."""

    def inputs(self, codes, numbers):
        raise AssertionError("records were handed to a user's code")

    group_of = inputs


def smuggled() -> LossGradient:
    """A query whose features were exchanged after it was made."""
    query = query_of()
    object.__setattr__(query, "features", OwnFeatures(SCHEMA, ("outcome",), ("sex",), ("sex",)))
    return query


def other_schema() -> LossGradient:
    columns = tuple(
        dataclasses.replace(column, upper=99) if column.name == "age" else column for column in SCHEMA.columns
    )
    return query_of(features=TrainingFeatures(Schema(columns), ("outcome",), ("sex",), ("sex",)))


REFUSED = [
    (lambda: (query_of(), GaussianNoise(9.0)), "subsampled Gaussian noise"),
    (lambda: (COUNTS, WIDE), "subsampled Gaussian noise"),
    (lambda: (query_of(), SubsampledGaussianNoise(30.0, 0.2, 4)), "at most 0.2 of a group"),
    (lambda: (query_of(), SubsampledGaussianNoise(30.0, query_of().sampling_probability * (1 - 1e-9), 4)), "at most"),
    (lambda: (query_of(group_sizes=(99, 150), batch_sizes=(9, 9)), WIDE), "The sizes of groups"),
    (lambda: (query_of(group_sizes=sizes_of()[::-1], batch_sizes=(9, 9)), WIDE), "The sizes of groups"),
    (lambda: (OwnQuery(**vars(query_of())), WIDE), "Only registered queries"),
    (lambda: (smuggled(), WIDE), "Found other classes"),
    (lambda: (other_schema(), WIDE), "records of the schema"),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_nothing_is_charged_or_drawn_where_a_run_is_refused(read, make, says):
    query, noise = make()
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match=says):
            account.train(query, noise)
        assert account.charged == 0
        assert not curator.charges()
    assert "draw" not in read
    if "sizes" not in says:
        assert not read, "no record was read"


def test_a_run_beyond_the_budget_is_refused():
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(BudgetExceeded):
            account.train(query_of(), SubsampledGaussianNoise(0.1, 1.0, 4))
        assert account.charged == 0


def test_pure_budgets_afford_no_run():
    with curator_of(budget=Budget(1.0, 0.0)) as curator:
        account = curator.filter(PureFilter())
        with pytest.raises(BudgetExceeded):
            account.train(query_of(), WIDE)


GROUPLESS = TrainingFeatures(SCHEMA, ("outcome",), (), ("sex",))


@pytest.mark.parametrize(
    "options",
    [
        {"groups": (), "relation": "add_or_remove_one"},
        {"groups": (), "relation": "replace_one"},
        {"groups": ("city",)},
        {"groups": ("sex", "city")},
        {"groups": (), "privacy_unit": PrivacyUnit("city", 100)},
    ],
)
def test_other_neighbors_are_refused(read, options):
    """Batches of fixed size show how many records each group has."""
    with curator_of(**options) as curator:
        account = curator.filter(GaussianFilter())
        with pytest.raises(ValueError, match="open the curator with `replace_one`"):
            account.train(query_of(), WIDE)
        with pytest.raises(ValueError, match="Sizes of groups are public only"):
            curator.group_sizes(FEATURES)
        assert account.charged == 0
    assert not read


@pytest.mark.parametrize("options", [{"relation": "add_or_remove_one"}, {"privacy_unit": PrivacyUnit("city", 100)}])
def test_the_number_of_rows_alone_is_not_public_either(read, options):
    with curator_of(groups=(), **options) as curator:
        with pytest.raises(ValueError, match="Sizes of groups are public only"):
            curator.group_sizes(GROUPLESS)
        query = query_of(features=GROUPLESS, group_sizes=(240,), batch_sizes=(60,))
        with pytest.raises(ValueError, match="open the curator with `replace_one`"):
            curator.filter(GaussianFilter()).train(query, WIDE)
    assert not read


def test_batches_are_asked_by_train_alone():
    with curator_of() as curator:
        account = curator.filter(GaussianFilter())
        for noise in (GaussianNoise(50.0), LaplaceNoise(0.01), WIDE):
            with pytest.raises(ValueError, match="gradients by `train`"):
                account.ask(query_of(), noise)
        with pytest.raises(ValueError, match="noise for counts"):
            account.ask(COUNTS, WIDE)
        for query, noise in ((WORST, WIDE), (WORST, GaussianNoise(9.0)), (query_of(), ExponentialSelection(0.01))):
            with pytest.raises(ValueError, match="noise for selections"):
                account.choose(query, noise)
        assert account.charged == 0
        assert not curator.charges()


# Groups


def test_group_sizes_are_those_of_the_table():
    with curator_of() as curator:
        assert curator.group_sizes(FEATURES) == sizes_of()
        assert not curator.charges()
    with curator_of(groups=("sex", "city")) as curator:
        both = TrainingFeatures(SCHEMA, ("outcome",), ("sex", "city"))
        expected = people().groupby(["sex", "city"]).size()
        assert curator.group_sizes(both) == tuple(expected[one, two] for one in "fm" for two in "abc")


def test_group_sizes_are_counted_by_our_code_alone(read):
    with curator_of() as curator:
        for features in (OwnFeatures(SCHEMA, ("outcome",), ("sex",)), other_schema().features):
            with pytest.raises(ValueError, match="curator's own schema"):
                curator.group_sizes(features)
    assert not read


def test_public_groups_are_columns():
    for groups, says in ((("sexx",), "Did you mean 'sex'"), ("sex", "Found 's'")):
        with pytest.raises(ValueError, match=says):
            curator_of(groups=groups)


@pytest.mark.parametrize(
    ("relation", "unit", "says"),
    [
        (NeighboringRelation.ADD_OR_REMOVE_ONE, None, "use replace_one"),
        (NeighboringRelation.REPLACE_ONE, PrivacyUnit("id", 3), "each row is protected by itself"),
    ],
)
def test_groups_of_other_neighbors_are_refused(relation, unit, says):
    with pytest.raises(ValueError, match=says):
        Neighbors(relation, unit, ("sex",))


def test_one_ledger_counts_what_protects_common_neighbors(tmp_path):
    """Replacing any row also protects replacement within groups; adding a row protects neither."""
    with ledger_at(tmp_path / "people.ledger") as ledger:
        with curator_of(ledger=ledger) as curator:
            curator.filter(GaussianFilter()).train(query_of(), WIDE)
        with curator_of(groups=(), ledger=ledger) as wider:
            wider.filter(GaussianFilter())
        with (
            curator_of(groups=(), relation=NeighboringRelation.ADD_OR_REMOVE_ONE, ledger=ledger) as other,
            pytest.raises(LedgerError, match="replace_one"),
        ):
            other.filter(GaussianFilter())


# The wall


def test_records_are_read_for_training_alone(read):
    query = query_of()
    with curator_of() as curator:
        assert not read
        account = curator.filter(GaussianFilter())
        training = account.train(query, WIDE)
        assert read == ["__init__"], "read once, and no batch is drawn yet"
        training.step(parameters_of(query))
        assert read == ["__init__", "draw"]
        curator.group_sizes(FEATURES)
        assert read == ["__init__", "draw"], "the same features are read once"


def test_what_a_step_answers_holds_nothing_else():
    query = query_of()
    with curator_of() as curator:
        answer = curator.filter(GaussianFilter()).train(query, WIDE).step(parameters_of(query))
    assert {type(part) for part in vars(answer).values()} == {np.ndarray, float}
    assert answer.values.base is None or answer.values.base.size <= query.size + 1


def test_a_step_says_nothing_on_the_side(recwarn):
    """Parameters for which many records overflow: no warning, and an answer as any other."""
    sizes = sizes_of()
    term = TransportTerm(((0, 1, 1.0),), (0, 1), "identity", 0.0, 0.5, 1.0, "spectral")
    query = TransportGradient(linear(INPUTS, 1, seed=0), FEATURES, sizes, (30, 30), LOSS, 0.5, term)
    draws = PublicDraws(np.ones((1, 1)))
    with curator_of() as curator:
        training = curator.filter(GaussianFilter()).train(query, WIDE)
        answers = [training.step(np.full(query.size, size), draws) for size in (1e200, 1e308)]
    assert all(np.isfinite(answer.values).all() for answer in answers)
    assert not recwarn.list
