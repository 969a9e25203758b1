"""Exact sizes leave the curator once its ledger is bound, for good, to the relation under which they are public."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterfoil import Budget, Curator, Ledger, Schema, synthesize
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.queries.loss_gradient import LossGradient
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.errors import LedgerError
from counterfoil.ledger.page import ledger_document
from counterfoil.methods.direct import Direct, Estimator
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.schema import Boolean, Integer

SCHEMA = Schema((Integer("age", 0, 9), Boolean("ill")))
ROWS = 1237
BUDGET = Budget(1.0, 1e-6)
APART = "must have neighbors in common"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,ill\n" + "".join(f"{i % 10},{'true' if i % 7 else 'false'}\n" for i in range(ROWS)))
    return path


@pytest.fixture
def ledger(people: Path) -> Path:
    path = people.with_suffix(".ledger")
    Ledger.create(path, source=people, total=BUDGET)
    return path


def curator(people: Path, ledger: Path, relation: str = "replace_one", groups: tuple[str, ...] = ()) -> Curator:
    return Curator(people, SCHEMA, budget=BUDGET, relation=relation, public_groups=groups, ledger=ledger)


def entries(ledger: Path) -> list[str]:
    with Ledger.open(ledger, source=None) as opened:
        return [entry.kind for entry in opened.entries()]


def test_sizes_that_the_ledger_protects_are_not_read(people, ledger):
    synthesize(people, SCHEMA, epsilon=1.0, delta=1e-6, method="independent", ledger=ledger, rows=10)
    before = entries(ledger)
    with curator(people, ledger) as one, pytest.raises(LedgerError, match=APART):
        one.public_row_count()
    with curator(people, ledger, groups=("age", "ill")) as one, pytest.raises(LedgerError, match=APART):
        one.group_sizes(TrainingFeatures(SCHEMA, (), ("age", "ill")))
    assert entries(ledger) == before


def test_a_size_that_was_read_binds_the_ledger_though_nothing_was_released(people, ledger):
    with curator(people, ledger) as one:
        assert one.public_row_count() == ROWS
    assert entries(ledger) == ["created", "sizes_read"]
    with curator(people, ledger, "add_or_remove_one") as one, pytest.raises(LedgerError, match=APART):
        one.filter(GaussianFilter())
    with Ledger.open(ledger, source=None) as opened:
        assert (str(opened.protects()), opened.sizes_read()) == ("replace_one", ["replace_one"])
        assert "exact sizes were read, for good, under: replace_one" in opened.text()
        assert "exact sizes were read" in opened._repr_html_()
        assert ledger_document(opened)["sizes_read"] == ["replace_one"]


def test_the_entry_is_there_before_the_size(people, ledger, monkeypatch):
    with curator(people, ledger) as one:
        monkeypatch.setattr(type(one._engine), "rows", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            one.public_row_count()
    assert entries(ledger) == ["created", "sizes_read", "refused"]


def test_groups_are_of_cells_that_are_stored_and_not_of_what_a_schema_computes(people, ledger):
    """The ledger knows groups by their name alone, under which each schema could compute others, of exact sizes."""
    computed = Schema.from_toml(
        """
        [columns.zero]
        kind = "integer"
        lower = 0
        upper = 0

        [columns.ill]
        kind = "integer"
        lower = 0
        upper = 9
        between = ["zero", "age"]

        [[derived]]
        name = "age"
        kind = "integer"
        expression = "zero + ill"
        """
    )
    people.write_text("zero,age,ill\n" + "".join(f"0,{i % 10},true\n" for i in range(ROWS)))
    facts = {"budget": BUDGET, "relation": "replace_one", "ledger": ledger}
    with pytest.raises(ValueError, match="Found 'ill', which is computed from two others"):
        Curator(people, computed, public_groups=("ill",), **facts)
    with Curator(people, computed, public_groups=("zero",), **facts) as one:
        assert one.group_sizes(TrainingFeatures(computed, (), ("zero",))) == (ROWS,)


def test_brute_force_that_is_refused_has_bound_the_ledger_and_says_no_size(people, ledger):
    method = Direct(workload=1, estimator=Estimator.BRUTE_FORCE)
    with pytest.raises(ValueError, match="too many tables") as refused:
        synthesize(people, SCHEMA, epsilon=1, delta=1e-6, method=method, relation="replace_one", ledger=ledger)
    assert f"{ROWS:,}" not in str(refused.value)
    with pytest.raises(LedgerError, match=APART):
        synthesize(people, SCHEMA, epsilon=1, delta=1e-6, method="independent", ledger=ledger, rows=10)


def test_a_release_that_was_given_back_leaves_the_sizes_bound(people, ledger):
    with curator(people, ledger) as one:
        one.filter(GaussianFilter())
        one.public_row_count()
    assert entries(ledger) == ["created", "release_opened", "sizes_read", "release_abandoned"]
    with curator(people, ledger, "add_or_remove_one") as one, pytest.raises(LedgerError, match=APART):
        one.filter(GaussianFilter())


def test_nothing_is_written_once_a_release_binds_for_good(people, ledger):
    with curator(people, ledger) as one:
        one.filter(GaussianFilter()).ask(MarginalCounts(SCHEMA.domain, (("age",),)), GaussianNoise(1e3))
        one.public_row_count()
    with curator(people, ledger) as one:
        one.public_row_count()
    assert "sizes_read" not in entries(ledger)


def test_sizes_of_groups_are_written_once_and_others_beside_them(people, ledger):
    features = TrainingFeatures(SCHEMA, (), ("ill",))
    for _ in range(2):
        with curator(people, ledger, groups=("ill",)) as one:
            one.group_sizes(features)
        with curator(people, ledger) as one:
            assert one.public_row_count() == ROWS, "it is the sum of the groups"
    with curator(people, ledger, groups=("age",)) as one:
        one.group_sizes(TrainingFeatures(SCHEMA, (), ("age",)))
    with Ledger.open(ledger, source=None) as opened:
        assert opened.sizes_read() == [
            "replace_one within groups of equal ill",
            "replace_one within groups of equal age",
        ]
        assert str(opened.protects()) == "replace_one within groups of equal age and ill"


def test_sizes_that_are_guessed_for_a_training_are_compared_with_a_bound_ledger_alone(people, ledger):
    pytest.importorskip("torch", reason="gradients need torch")
    from counterfoil.networks.architectures import linear
    from counterfoil.networks.penalized_gradient import LossTerm

    features = TrainingFeatures(SCHEMA, ("ill",))
    query = LossGradient(
        linear(len(features.input_names), 1, seed=0),
        features,
        (ROWS - 1,),
        (8,),
        LossTerm("logistic", (0, 1), 1.0, 3.0),
    )
    noise = SubsampledGaussianNoise(30.0, query.sampling_probability, 2)
    with curator(people, ledger) as one:
        account = one.plan([noise], PrivacyLossPlan())
        with pytest.raises(ValueError, match="not those of the records"):
            account.train(query, noise)
    assert entries(ledger) == ["created", "release_opened", "sizes_read", "release_abandoned"]


def test_without_a_ledger_the_same_holds_of_the_one_in_memory():
    frame = pd.DataFrame({"age": [1, 2], "ill": [True, False]})
    with Curator(frame, SCHEMA, budget=BUDGET, relation="replace_one") as one:
        assert one.public_row_count() == 2
        assert one._ledger.sizes_read() == ["replace_one"]
