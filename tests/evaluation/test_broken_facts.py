"""Rules, lists of zeros and derivations that records break: against loops over the rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from counterfoil.evaluation.comparison import compare
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.schema.derived import Derived
from counterfoil.schema.rules import Rule, Zeros

COLUMNS = (
    Integer("age", 0, 60),
    Integer("school", 0, 30, missing=True, missing_values=("?",)),
    Categorical("sex", ("f", "m")),
    Boolean("pregnant"),
    Real("net", 0.0, 1000.0),
)
SCHEMA = Schema(
    (*COLUMNS, Derived("gross", "real", expression="net * 1.25"), Derived("twice", "integer", expression="2 * age")),
    rules=(Rule("age >= school + 5"), Rule(then="sex == 'f'", condition="pregnant"), Rule("age < 70")),
    zeros=(Zeros(("sex", "pregnant"), (("m", True),)),),
)
N = 70_000  # more than one batch


def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age, net = rng.integers(0, 81, N), rng.integers(0, 90_000, N) / 100
    frame = pd.DataFrame({"age": age, "school": [str(years) for years in rng.integers(0, 31, N)]})
    frame.loc[rng.random(N) < 0.1, "school"] = "?"
    frame["sex"] = np.array(["f", "m"])[rng.integers(0, 2, N)]
    frame["pregnant"] = rng.random(N) < 0.2
    frame["net"] = net
    frame["gross"] = np.round(net * 1.25, 2)
    frame["twice"] = 2 * age
    frame.loc[[7, 69_000], "gross"] += 0.5
    frame.loc[[9], "gross"] = np.nan
    frame.loc[[11, 12], "twice"] += 1
    frame.loc[[11, 12], "age"] = 30
    frame.loc[12, "twice"] = 60
    return frame


PEOPLE = people()
REPORT = check_without_privacy(PEOPLE, SCHEMA)
FACTS = {fact.fact: fact for fact in REPORT.facts}


def by_hand() -> dict[str, list[int]]:
    broken: dict[str, list[int]] = {"age >= school + 5": [], "if pregnant then sex == 'f'": [], "age < 70": []}
    broken["zeros of sex and pregnant"] = []
    for i, row in enumerate(PEOPLE.itertuples(index=False), 1):
        if row.school != "?" and row.age < int(row.school) + 5:
            broken["age >= school + 5"].append(i)
        if row.pregnant and row.sex != "f":
            broken["if pregnant then sex == 'f'"].append(i)
            broken["zeros of sex and pregnant"].append(i)
        if row.age >= 70:
            broken["age < 70"].append(i)
    return broken


@pytest.mark.parametrize("fact", ["age >= school + 5", "age < 70", "zeros of sex and pregnant"])
def test_the_records_that_break_a_fact_are_those_of_a_loop(fact):
    """As they stand: an age of 75 breaks `age < 70`, although the schema clamps it to 60."""
    expected = by_hand()[fact]
    assert FACTS[fact].count == len(expected) > 0
    assert list(FACTS[fact].rows) == expected[:5]


def test_a_condition_limits_a_rule():
    rule = Schema(COLUMNS, rules=(Rule(then="sex == 'f'", condition="pregnant"),))
    (fact,) = check_without_privacy(PEOPLE[[column.name for column in COLUMNS]], rule).facts
    assert fact.fact == "if pregnant then sex == 'f'"
    assert fact.count == int((PEOPLE["pregnant"] & (PEOPLE["sex"] == "m")).sum())


def test_derived_columns_of_the_table_are_compared_with_the_derivation():
    """A rounding to the cents that are seen is no difference; what follows from clamped values is not compared."""
    net = FACTS["gross = net * 1.25"]
    assert (net.count, net.rows) == (3, (8, 10, 69_001))
    twice = FACTS["twice = 2 * age"]
    expected = [i for i, row in enumerate(PEOPLE.itertuples(), 1) if row.age <= 60 and row.twice != 2 * row.age]
    assert list(twice.rows) == expected == [12]
    assert not REPORT.holds
    assert not json.loads(json.dumps(REPORT.to_json()))["as_declared"]


def test_facts_that_hold_leave_the_report_as_it_was():
    fine = PEOPLE[(PEOPLE["age"] <= 60) & (PEOPLE["school"] == "?") & ~PEOPLE["pregnant"]].drop(
        [7, 9, 11], errors="ignore"
    )
    fine = fine[np.isclose(fine["gross"], fine["net"] * 1.25, atol=0.006) & (fine["twice"] == 2 * fine["age"])]
    report = check_without_privacy(fine, SCHEMA)
    assert report.rows > 100
    assert report.holds
    assert not report.broken


def test_a_rule_on_a_column_that_cannot_be_read_is_said_not_to_be_checked():
    frame = PEOPLE.head(50).astype({"age": object})
    frame["age"] = pd.Series(pd.to_timedelta(np.arange(50), "D"))
    facts = {fact.fact: fact for fact in check_without_privacy(frame, SCHEMA).facts}
    assert "age" in facts["age < 70"].problem
    assert not facts["age < 70"].holds
    assert facts["zeros of sex and pregnant"].problem == ""
    assert "can't be read" in facts["twice = 2 * age"].problem


def test_evaluate_has_the_share_of_real_rows_that_break_a_rule():
    frame = PEOPLE.head(1000)
    with pytest.warns(NoLedgerWarning):
        found = compare(frame, frame.head(100), SCHEMA)
    broken = {fact.fact: fact.count for fact in found.facts}
    expected = int((frame["age"] >= 70).sum())
    assert broken["age < 70"] == expected > 0
    document = {fact["fact"]: fact for fact in found.to_json()["facts"]}
    assert document["age < 70"]["real_share_that_breaks_it"] == expected / 1000
