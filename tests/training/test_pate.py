"""PATE end to end: it learns, spends its budget once, uses public facts alone to set itself up, and is kept whole."""

from __future__ import annotations

import math
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, PrivacyUnit
from counterfoil.curator import teachers as teachers_module
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.training.noise_warnings import NoisyVotesWarning
from counterfoil.training.pate import PATEClassifier
from counterfoil.training.public_rows import require_other_rows

SCHEMA = Schema(
    (
        Integer("x", 0, 100),
        Categorical("color", ("red", "green", "blue")),
        Categorical("sex", ("f", "m")),
        Categorical("label", ("no", "yes", "perhaps")),
    )
)
FIT = {"target": "label"}


def table(rows: int, seed: int) -> pd.DataFrame:
    """Records whose label follows from x and color, but for one in twenty."""
    rng = np.random.default_rng(seed)
    x, color = rng.integers(0, 101, rows), rng.choice(["red", "green", "blue"], rows)
    score = x + 30 * (color == "blue")
    label = np.where(score > 80, "yes", np.where(score > 40, "perhaps", "no"))
    mixed = np.where(rng.random(rows) < 0.05, rng.choice(["yes", "no"], rows), label)
    return pd.DataFrame({"x": x, "color": color, "sex": rng.choice(["f", "m"], rows), "label": mixed})


SENSITIVE, PUBLIC, TEST = table(3000, 1), table(400, 2), table(1000, 3)


def accuracy(model: PATEClassifier) -> float:
    return float(np.mean(model.predict(TEST) == TEST["label"].to_numpy()))


@pytest.fixture(scope="module")
def made() -> PATEClassifier:
    model = PATEClassifier(epsilon=8, delta=1e-6, teachers=40, queries=200, seed=4)
    return model.fit(SENSITIVE, SCHEMA, public=PUBLIC.drop(columns="label"), **FIT)


def test_it_learns_from_votes(made):
    assert accuracy(made) > 0.8
    assert made.classes_.tolist() == ["no", "yes", "perhaps"]
    proba = made.predict_proba(TEST.drop(columns="label"))
    assert proba.shape == (1000, 3)
    assert proba.sum(axis=1) == pytest.approx(1)


def test_classes_of_truths_are_truths():
    schema = Schema.from_toml(SCHEMA.to_toml() + '\n[columns.ill]\nkind = "boolean"\n')
    sick = [each.assign(ill=np.arange(len(each)) % 2 == 0) for each in (SENSITIVE, PUBLIC)]
    model = PATEClassifier(epsilon=8, teachers=40, queries=20, seed=4).fit(
        sick[0], schema, target="ill", public=sick[1]
    )
    assert model.classes_.tolist() == [False, True]
    assert model.predict(sick[1]).dtype == bool


def test_boosting_learns_too_and_is_not_saved(tmp_path):
    model = PATEClassifier(epsilon=8, teachers=40, student="boosting", seed=4).fit(
        SENSITIVE, SCHEMA, public=PUBLIC, **FIT
    )
    assert accuracy(model) > 0.8
    with pytest.raises(ValueError, match="Only a linear student can be saved"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_with_little_budget_it_learns_nothing():
    """Noise is there: the same model at a budget whose labels are coins."""
    model = PATEClassifier(epsilon=0.05, teachers=40, queries=200, seed=4)
    with pytest.warns(NoisyVotesWarning, match="more than the 40 teachers"):
        model.fit(SENSITIVE, SCHEMA, public=PUBLIC, **FIT)
    assert accuracy(model) < 0.6
    assert any("many labels of the student are wrong" in words for words in model.receipt.document["warnings"])


def test_labels_of_public_rows_are_not_read(made):
    other = PUBLIC.assign(label="yes")
    again = PATEClassifier(epsilon=8, delta=1e-6, teachers=40, queries=200, seed=4)
    again.fit(SENSITIVE, SCHEMA, public=other, **FIT)
    assert np.array_equal(again.predict_proba(TEST), made.predict_proba(TEST))


# What it costs


def multiplier(epsilon: float, delta: float) -> float:
    """Of the Gaussian mechanism, from its exact curve (Balle and Wang 2018, Theorem 8)."""

    def excess(mu: float) -> float:
        return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2) - delta

    return 1 / brentq(excess, 1e-3, 50)


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_the_receipt_states_one_charge_of_the_whole_budget(relation):
    model = PATEClassifier(epsilon=2.0, delta=1e-5, teachers=300, queries=100, seed=1)
    model.fit(SENSITIVE, SCHEMA, public=PUBLIC, relation=relation, **FIT)
    document = model.receipt.document
    (charge,) = document["charges"]
    assert charge["query"] == "teacher_votes"
    assert charge["sensitivity"] == pytest.approx(math.sqrt(200))
    expected = math.hypot(1.5, multiplier(2.0, 1e-5) * math.sqrt(200))
    assert charge["noise"]["scale"] == pytest.approx(expected, rel=1e-4)
    assert document["released"] == "model"
    assert model.receipt.verify().holds
    assert model.receipt.verify().recomputed_epsilon == pytest.approx(2.0, rel=1e-5)


def test_a_privacy_unit_multiplies_the_noise():
    people = SENSITIVE.assign(person=np.arange(len(SENSITIVE)) // 3)
    model = PATEClassifier(epsilon=8, teachers=400, queries=50, seed=1)
    model.fit(people, SCHEMA, public=PUBLIC, privacy_unit=PrivacyUnit("person", 2), **FIT)
    (charge,) = model.receipt.document["charges"]
    assert charge["sensitivity"] == pytest.approx(2 * math.sqrt(100))
    assert model.receipt.verify().holds


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 20), st.floats(1e-12, 1e-2))
def test_the_plan_is_always_affordable(epsilon, delta):
    """The noise is computed by one rule and checked by another; a fit would be refused where they disagree."""
    model = PATEClassifier(epsilon=epsilon, delta=delta, teachers=1, queries=3, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(SENSITIVE[:5], SCHEMA, public=PUBLIC, **FIT)
    assert 0.99 * epsilon - 1e-6 < model.receipt.verify().recomputed_epsilon <= epsilon


def test_the_ledger_is_charged(tmp_path):
    SENSITIVE.to_csv(tmp_path / "people.csv", index=False)
    source = SourceIdentity(name="people.csv", location=str(tmp_path / "people.csv"))
    ledger = Ledger.create(tmp_path / "people.ledger", source=source, total=Budget(3.0, 1e-5))
    model = PATEClassifier(epsilon=2.0, teachers=200, queries=50, seed=1)
    model.fit(tmp_path / "people.csv", SCHEMA, public=PUBLIC, ledger=ledger, **FIT)
    assert model.receipt.document["ledger"]
    with pytest.raises(BudgetExceeded):
        model.fit(tmp_path / "people.csv", SCHEMA, public=PUBLIC, ledger=ledger, **FIT)


# How many teachers


@pytest.mark.filterwarnings("ignore:About:UserWarning", "ignore:Without noise:UserWarning")  # few records
@pytest.mark.parametrize("rows", [0, 7, 3000])
def test_the_number_of_teachers_follows_from_public_facts_alone(rows):
    model = PATEClassifier(epsilon=4.0, delta=1e-6, queries=100, seed=1)
    model.fit(SENSITIVE[:rows], SCHEMA, public=PUBLIC, **FIT)
    noise = math.hypot(1.5, multiplier(4.0, 1e-6) * math.sqrt(200))
    assert model.teachers_ == math.ceil(2 * math.sqrt(2) * noise)
    assert model.receipt.document["charges"][0]["parameters"]["teachers"] == model.teachers_
    assert model.teachers is None, "parameters stay as they were given"


@pytest.mark.filterwarnings("ignore:About:UserWarning", "ignore:Without noise:UserWarning")  # few records
def test_there_are_a_thousand_teachers_at_most_by_default():
    model = PATEClassifier(epsilon=0.15, seed=1)
    with pytest.warns(UserWarning, match="more than the 1000 teachers"):
        model.fit(SENSITIVE[:5], SCHEMA, public=pd.concat([PUBLIC] * 5), **FIT)
    assert model.teachers_ == 1000
    assert model.receipt.document["charges"][0]["parameters"]["rows"] == 500


def test_all_public_rows_are_asked_where_they_are_few():
    model = PATEClassifier(epsilon=8, queries=500, seed=1).fit(SENSITIVE, SCHEMA, public=PUBLIC[:31], **FIT)
    assert model.receipt.document["charges"][0]["parameters"]["rows"] == 31


def test_protected_columns_are_left_out():
    model = PATEClassifier(epsilon=8, queries=50, seed=1)
    model.fit(SENSITIVE, SCHEMA, public=PUBLIC.drop(columns="sex"), protected="sex", **FIT)
    assert not any("sex" in name for name in model.features_.input_names)
    assert len(model.predict(TEST.drop(columns=["sex", "label"]))) == 1000


# Saving


def test_a_saved_model_says_the_same(made, saved):
    again = PATEClassifier.load(saved)
    assert np.array_equal(again.predict_proba(TEST), made.predict_proba(TEST))
    assert again.receipt == made.receipt
    assert (again, again.teachers_) == (made, made.teachers_)
    assert Receipt.load(saved / "receipt.json").verify().holds


def test_a_changed_folder_is_refused(saved):
    path = saved / "student.json"
    path.write_text(path.read_text().replace("0.", "1.", 1))
    with pytest.raises(ValueError, match=r"student\.json is not what was saved"):
        PATEClassifier.load(saved)


def test_a_model_of_another_kind_is_not_loaded(saved):
    class Other(PATEClassifier):
        kind = "forest"

    with pytest.raises(ValueError, match=r"holds a pate\. Found a forest to load it"):
        Other.load(saved)


def test_a_model_that_is_not_trained_says_so(tmp_path):
    model = PATEClassifier()
    for use in (lambda: model.predict(TEST), lambda: model.classes_, lambda: model.save(tmp_path / "model")):
        with pytest.raises(ValueError, match="not trained yet"):
            use()


# What is refused, before anything is charged


def test_parameters_out_of_range_are_refused():
    for wrong in (0, -3, 1.5, True):
        with pytest.raises(ValueError, match="`teachers` must be a whole number"):
            PATEClassifier(teachers=wrong)
        with pytest.raises(ValueError, match="`queries` must be a whole number"):
            PATEClassifier(queries=wrong)
    with pytest.raises(ValueError, match="`queries` must be a whole number"):
        PATEClassifier(queries=None)
    with pytest.raises(ValueError, match="`student` must be one of logistic, boosting"):
        PATEClassifier(student="forest")


def test_the_sensitive_table_is_no_public_one(tmp_path):
    SENSITIVE.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(ValueError, match="the sensitive table itself"):
        PATEClassifier(seed=1).fit(SENSITIVE, SCHEMA, public=SENSITIVE, **FIT)
    with pytest.raises(ValueError, match="the sensitive table itself"):
        PATEClassifier(seed=1).fit(tmp_path / "people.csv", SCHEMA, public=str(tmp_path / "." / "people.csv"), **FIT)


@pytest.mark.parametrize(
    ("source", "public"),
    [
        ("people.csv", "hard.csv"),
        ("people.csv", "soft.csv"),
        ("people.db::t", "soft.db::t"),
        ("postgresql://host/d::t", "postgresql://host:5432/d::public.t"),
    ],
)
def test_the_sensitive_table_by_another_name_is_no_public_one(tmp_path, monkeypatch, source, public):
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "people.db"):
        Path(name).touch()
        Path(name.replace("people", "soft")).symlink_to(name)
    os.link("people.csv", "hard.csv")
    with pytest.raises(ValueError, match="the sensitive table itself"):
        require_other_rows(source, public)
    require_other_rows(source, f"{public}2")


def test_a_table_that_a_ledger_protects_is_no_public_one(tmp_path):
    """A student learns from public rows as they are, without noise."""
    people, patients = tmp_path / "people.csv", tmp_path / "patients.csv"
    people.write_text("x\n1\n")
    patients.write_text("x\n1\n")
    require_other_rows(people, patients)
    Ledger.create(tmp_path / "patients.ledger", source=patients, total=(1.0, 1e-6)).close()
    with pytest.raises(ValueError, match=r"the sensitive table that .*patients\.ledger protects"):
        require_other_rows(people, patients)
    require_other_rows(patients, people)


def test_public_rows_must_be_there():
    with pytest.raises(ValueError, match="`public` must have rows"):
        PATEClassifier(seed=1).fit(SENSITIVE, SCHEMA, public=PUBLIC[:0], **FIT)


def test_pure_privacy_is_refused():
    with pytest.raises(ValueError, match="delta"):
        PATEClassifier(delta=0.0, seed=1).fit(SENSITIVE, SCHEMA, public=PUBLIC, **FIT)


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(teachers_module, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'counterfoil\[evaluation\]'"):
        PATEClassifier(seed=1).fit(SENSITIVE, SCHEMA, public=PUBLIC, **FIT)
