"""One rehearsal: what it measures, against brute force, and whom it refuses."""

from __future__ import annotations

import itertools
import math
import statistics
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.evaluation.train_on_synthetic import MODELS, train_on_synthetic
from counterfoil.fidelity.fidelity import Fidelity
from counterfoil.ledger.no_ledger import NoLedgerWarning, warn_without_ledger
from counterfoil.methods.independent import Independent
from counterfoil.planning.public_table import PublicTable, World
from counterfoil.planning.rehearsal import Reference, Rehearsal, Setting, Task, rehearse
from counterfoil.planning.simulated import simulated
from counterfoil.planning.spread import Spread
from counterfoil.schema import Schema
from counterfoil.synthesis.table import decode

SCHEMA = Schema.from_toml(
    """
[columns.sex]
kind = "categorical"
values = ["female", "male"]

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 5
missing = true

[columns.income]
kind = "categorical"
values = ["low", "mid", "high"]
"""
)
SETTING = Setting(SCHEMA, Independent(), 0.0, "add_or_remove_one")


@dataclass(frozen=True)
class Copied:
    """A release of known rows."""

    table: pa.Table

    def to_arrow(self) -> pa.Table:
        return self.table


@dataclass
class Fixed:
    """A synthesizer that gives known rows and remembers its curator."""

    table: pa.Table
    curator: Any = None

    def synthesize(self, curator, *, rows=None, progress=None):
        self.curator = (curator.budget, curator.reserved, curator.randomness.private, curator.has_ledger, rows)
        return Copied(self.table)


def table_of(rows: int = 500, **options) -> PublicTable:
    return simulated(SCHEMA, rows, World.STRONG, 0, seed=3, **options)


def rehearsed(task: Task) -> Rehearsal:
    found = rehearse(task)
    assert isinstance(found, Rehearsal)
    return found


def test_errors_are_the_distances_between_shares() -> None:
    table, made = table_of(300), table_of(700, test_rows=1)
    other = simulated(SCHEMA, 700, World.WEAK, 4, seed=9)
    synthesizer = Fixed(decode(SCHEMA, other.codes, np.random.default_rng(0)))
    found = rehearsed(Task(replace(SETTING, synthesizer=synthesizer), table, 1.0, 5))
    assert made.rows == 700
    assert found.rows == 700

    def shares(codes, names):
        counts = dict.fromkeys(itertools.product(*(range(SCHEMA.domain[name]) for name in names)), 0)
        for cell in zip(*(codes[name].tolist() for name in names), strict=True):
            counts[cell] += 1
        total = sum(counts.values())
        return [count / total for count in counts.values()]

    for order, errors in ((1, {(name,): error for name, error in found.columns.items()}), (2, found.pairs)):
        assert set(errors) == set(itertools.combinations(SCHEMA.domain.attributes, order))
        for names, error in errors.items():
            expected = [abs(a - b) for a, b in zip(shares(table.codes, names), shares(other.codes, names), strict=True)]
            assert error == pytest.approx(math.fsum(expected), abs=1e-12)
    assert found.pair_error == pytest.approx(statistics.fmean(found.pairs.values()))
    assert found.column_error == pytest.approx(statistics.fmean(found.columns.values()))


def test_the_shares_of_later_questions_are_set_aside() -> None:
    table = table_of()
    synthesizer = Fixed(decode(SCHEMA, table.codes, np.random.default_rng(0)))
    setting = Setting(SCHEMA, synthesizer, 1e-9, "add_or_remove_one", None, Fidelity(0.2), 0.05)
    rehearse(Task(setting, table, 0.7, 5))
    budget, reserved, private, ledger, rows = synthesizer.curator
    assert (budget.epsilon, budget.delta, rows) == (0.7, 1e-9, None)
    assert reserved == pytest.approx(0.25)
    assert not private, "noise of a rehearsal comes from a seed"
    assert not ledger


def test_only_public_tables_are_rehearsed() -> None:
    frame = decode(SCHEMA, table_of().codes, np.random.default_rng(0))
    for sensitive in (frame, frame.to_pandas(), "people.csv"):
        with pytest.raises(TypeError, match="Only a `PublicTable` is rehearsed"):
            rehearse(Task(SETTING, sensitive, 1.0, 5))


def test_a_rehearsal_is_repeated_by_its_seed_and_warns_of_no_ledger() -> None:
    table = table_of()
    warn_without_ledger.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoLedgerWarning)
        one, same, other = (rehearse(Task(SETTING, table, 1.0, seed)) for seed in (5, 5, 6))
    assert one == same != other


def test_models_are_trained_on_the_release_and_tested_on_records_that_were_not_copied() -> None:
    table = table_of(2000, test_rows=600)
    made = simulated(SCHEMA, 1500, World.WEAK, 2, seed=1)
    setting = replace(SETTING, synthesizer=Fixed(decode(SCHEMA, made.codes, np.random.default_rng(0))), target="income")
    scores = rehearsed(Task(setting, table, 1.0, 5)).scores
    reference = rehearse(Task(setting, table, None, 5))
    assert isinstance(reference, Reference)
    assert set(scores) == set(reference.scores) == set(MODELS[:2])
    # Records of a related table say more about themselves than those of another one, of which nothing is true.
    assert all(reference.scores[model].auc > scores[model].auc + 0.05 for model in scores)
    # The test is of `test`: with its labels turned round, accuracy is that of the errors.
    turned = replace(table, test={**table.test, "income": (table.test["income"] + 1) % 3})
    assert rehearse(Task(setting, turned, None, 5)) != reference
    again = replace(table, codes={**table.codes, "income": (table.codes["income"] + 1) % 3})
    assert rehearse(Task(setting, again, None, 5)) == reference


def test_scores_are_those_that_evaluation_has() -> None:
    """Trained on the other records and tested on the same fifth, the models of `evaluate` have the same scores."""
    table, domain = table_of(800), SCHEMA.domain
    whole = train_on_synthetic(table.codes, table.codes, domain, target="income", rng=np.random.default_rng(0))
    order = np.random.default_rng(0).permutation(800)
    test, train = ({name: column[rows] for name, column in table.codes.items()} for rows in (order[:160], order[160:]))
    split = PublicTable(World.PUBLIC, 0, table.codes, train, test)
    found = rehearse(Task(replace(SETTING, target="income"), split, None, 5))
    assert found.scores["logistic regression"] == whole.models["logistic regression"].real


def test_spreads_against_the_standard_library() -> None:
    figures = [0.3, 0.1, 0.25, float("nan")]
    spread = Spread.of(figures)
    assert spread is not None
    assert spread.mean == pytest.approx(statistics.fmean(figures[:3]))
    assert spread.deviation == pytest.approx(statistics.stdev(figures[:3]))
    assert (spread.least, spread.most) == (0.1, 0.3)
    assert Spread.of([0.5]) == Spread(0.5, None, 0.5, 0.5)
    assert Spread.of([float("nan")]) is None


def test_the_records_of_a_person_are_protected_together_and_all_are_used() -> None:
    """Twenty at a time scale all noise by 20; the rehearsal of single records said nothing of such a release."""
    table = table_of(2000)
    alone, together = (rehearse(Task(replace(SETTING, max_rows=most), table, 1.0, 5)) for most in (None, 20))
    assert together.column_error > 4 * alone.column_error
    assert together.rows == pytest.approx(2000, rel=0.2)
