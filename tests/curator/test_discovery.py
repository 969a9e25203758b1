"""Schemas that are bought: what is found, what it costs, and what is never asked."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.discovery import discover
from counterfoil.curator.discovery_plan import SHARES, plan_discovery
from counterfoil.curator.discovery_support import extended, mass, shown, support
from counterfoil.ledger.ledger import Ledger
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.stated import Stated

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

MUCH = Budget(50.0, 1e-6)
ROWS = 4000


def people(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    days = pd.Timestamp("1985-01-01") + pd.to_timedelta(rng.integers(0, 3650, rows), unit="D")
    wage = np.where(rng.random(rows) < 0.3, np.nan, rng.lognormal(3, 0.5, rows).round(2))
    return pd.DataFrame(
        {
            "age": rng.integers(17, 91, rows),
            "year": rng.integers(1990, 2021, rows),
            "wage": wage,
            "balance": rng.normal(0, 300, rows).round(2),
            "children": rng.poisson(1.2, rows).astype(float),
            "born": days.strftime("%Y-%m-%d"),
            "seen": days.strftime("%d.%m.%Y"),
            "member": rng.choice(["Yes", "No"], rows),
            "job": rng.choice(["clerk", "cook", "<b>|=1+1", "NA"], rows, p=[0.5, 0.3, 0.1, 0.1]),
            "id": [f"person {i}" for i in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def people_csv(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.csv"
    people().to_csv(path, index=False)
    return path


def bought(source, budget: Budget = MUCH, **options):
    discovered, curator = discover(source, budget=budget, seed=7, **options)
    with curator:
        receipt = Receipt.from_curator(
            curator, method="schema", parameters={"shares": dict(discovered.shares)}, rows=0, released="measures"
        )
    return discovered, receipt


@pytest.mark.parametrize("in_memory", [True, False])
def test_of_a_csv_file_everything_is_found_where_noise_is_small(people_csv, in_memory):
    discovered, receipt = bought(people_csv, in_memory=in_memory)
    found = {column.name: column for column in discovered.columns}
    kinds = dict.fromkeys(found, "text") | {"age": "integer", "year": "integer", "wage": "real", "balance": "real"}
    kinds |= {"children": "integer", "born": "date", "seen": "date", "member": "boolean"}
    assert {name: column.kind for name, column in found.items()} == kinds
    table = people()
    for name in ("age", "year", "wage", "balance", "children"):
        values = table[name].dropna()
        inside = values.between(found[name].lower, found[name].upper).mean()
        assert inside > 0.97, f"{name}: {found[name]}"
    assert (found["age"].lower, found["age"].upper) == pytest.approx((17, 90), abs=3)
    assert 1980 <= found["year"].lower <= 1990
    assert 2020 <= found["year"].upper <= 2032
    assert found["balance"].lower < -500
    assert found["balance"].upper > 500
    assert found["children"].lower == 0
    assert found["seen"].date_format == "%d.%m.%Y"
    assert found["born"].date_format == ""
    first, last = (dt.date(1970, 1, 1) + dt.timedelta(days=found["born"].lower)), found["born"].upper
    assert first == dt.date(1985, 1, 1)
    assert dt.date(1970, 1, 1) + dt.timedelta(days=last) == dt.date(1994, 12, 31)
    assert [text for text, _ in found["job"].categories] == ["clerk", "cook", "<b>|=1+1"]
    assert found["job"].missing_words == ("NA",)
    assert found["id"].categories == ()
    assert found["wage"].missing == pytest.approx(table["wage"].isna().sum(), abs=30)
    assert found["age"].records == pytest.approx(ROWS, abs=60)
    assert receipt.verify().holds, receipt.verify().problems
    assert receipt.document["spent"]["epsilon"] == discovered.epsilon <= MUCH.epsilon


def test_a_value_that_one_record_alone_has_is_not_told(people_csv):
    discovered, _ = bought(people_csv)
    told = {text for column in discovered.columns for text, _ in column.categories}
    assert not any(text.startswith("person") for text in told)


def test_kinds_of_typed_storages_are_not_asked_and_whole_reals_are_integers():
    table = people().drop(columns=["seen", "id"])
    discovered, _ = bought(table.assign(born=pd.to_datetime(table["born"])))
    found = {column.name: column for column in discovered.columns}
    assert found["born"].kind == "datetime"
    assert found["children"].kind == "integer", "a frame holds integers with missing cells as reals"
    assert found["wage"].kind == "real"
    assert all(column.votes == {} for column in discovered.columns)
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=found["born"].lower)
    assert moment == dt.datetime(1985, 1, 1)


def test_nothing_is_asked_about_what_is_stated(people_csv):
    stated = {
        "age": Stated("integer", ranged=True),
        "year": Stated("integer"),
        "job": Stated("text", listed=True),
        "id": Stated(ignored=True),
        "member": Stated("boolean"),
        "wage": Stated(ranged=True),
    }
    discovered, receipt = bought(people_csv, stated=stated)
    names = {column.name for column in discovered.columns}
    assert names == {"year", "wage", "balance", "children", "born", "seen"}
    asked = {charge["query"]: charge["parameters"]["columns"] for charge in receipt.document["charges"]}
    assert set(asked["column_places"]) == names
    assert set(asked["column_ranges"]) == names - {"wage"}
    assert "text_counts" not in asked
    assert {column.name: column for column in discovered.columns}["year"].kind == "integer"


def test_stated_columns_make_the_others_cheaper(people_csv):
    """m columns cost sqrt(m): half of them have a noise that is smaller by that root."""
    _, all_of_them = bought(people_csv)
    stated = {name: Stated(ignored=True) for name in ("age", "year", "wage", "balance", "children")}
    _, half = bought(people_csv, stated=stated)
    scales = [receipt.document["charges"][0]["noise"]["scale"] for receipt in (all_of_them, half)]
    squares = [scale**2 - 2.25 for scale in scales]
    assert squares[0] / squares[1] == pytest.approx(2, rel=1e-6)


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("unit", [None, PrivacyUnit("id", 2)])
def test_receipts_of_either_relation_and_of_units_verify(people_csv, relation, unit):
    discovered, receipt = bought(people_csv, relation=relation, privacy_unit=unit)
    checked = receipt.verify()
    assert checked.holds, checked.problems
    assert checked.recomputed_epsilon == pytest.approx(discovered.epsilon)
    assert ("id" in {column.name for column in discovered.columns}) == (unit is None)


def test_receipts_that_state_a_smaller_delta_or_threshold_do_not_verify(people_csv):
    _, receipt = bought(people_csv)
    document = receipt.to_json()
    charge = document["charges"][-1]
    assert charge["query"] == "text_counts"
    charge["event"]["delta"] = charge["event"]["delta"] / 2
    assert not Receipt(document).verify().holds


def test_the_ledger_has_every_question_before_its_answer(people_csv, tmp_path):
    budget = Budget(1.0, 1e-9)
    with _ledger(tmp_path, people_csv) as ledger:
        discovered, curator = discover(people_csv, budget=budget, ledger=ledger)
        with curator:
            pass
        charged = [charge["query"] for release in ledger.releases() for charge in release.charges]
    assert charged == ["column_places", "column_ranges", "text_counts"]
    assert discovered.epsilon <= 1.0


def _ledger(folder, source):
    return Ledger.create(folder / "people.ledger", source=source, total=Budget(2.0, 1e-8))


def test_a_table_of_texts_alone_asks_what_its_plan_foresees(tmp_path):
    path = tmp_path / "texts.csv"
    pd.DataFrame({"a": ["x", "y"] * 500, "b": ["u"] * 1000}).to_csv(path, index=False)
    discovered, receipt = bought(path)
    assert [charge["query"] for charge in receipt.document["charges"]] == [
        "column_places", "column_places", "text_counts",
    ]  # fmt: skip
    assert receipt.verify().holds
    assert [{text for text, _ in column.categories} for column in discovered.columns] == [{"x", "y"}, {"u"}]


def test_a_table_of_numbers_alone_spends_nothing_on_texts(tmp_path):
    path = tmp_path / "numbers.csv"
    pd.DataFrame({"a": np.arange(1000) % 17}).to_csv(path, index=False)
    discovered, receipt = bought(path)
    assert [charge["query"] for charge in receipt.document["charges"]] == ["column_places", "column_ranges"]
    assert receipt.verify().holds
    assert discovered.epsilon < MUCH.epsilon
    assert (discovered.columns[0].lower, discovered.columns[0].upper) == (0, 16)


@pytest.mark.parametrize("rows", [0, 1, 300])
def test_tables_of_few_rows_are_answered_with_noise_and_never_refused(rows):
    discovered, receipt = bought(people(300).iloc[:rows].astype(str), Budget(0.1, 1e-9))
    assert len(discovered.columns) == 10
    assert receipt.verify().holds
    for column in discovered.columns:
        assert column.records >= 0
        assert (column.lower is None) == (column.upper is None)
        if column.lower is not None:
            assert column.lower <= column.upper


def test_cells_that_have_no_type_never_refuse_a_table():
    odd = pd.DataFrame({"a": [object(), (1, 2), None, "x", 5, 1e400, "9" * 5000, dt.time(1)] * 50})
    discovered, _ = bought(odd, Budget(0.5, 1e-9))
    assert [column.name for column in discovered.columns] == ["a"]


def test_columns_without_single_values_are_left_out():
    table = pa.table({"a": [1, 2], "lists": [[1], [2]], "spans": pa.array([1, 2], pa.duration("s"))})
    discovered, _ = bought(table)
    assert [column.name for column in discovered.columns] == ["a"]


def test_what_cannot_be_asked_is_refused_before_anything_is_charged(people_csv, tmp_path):
    with pytest.raises(ValueError, match="`delta` must be positive"):
        discover(people_csv, budget=Budget(1.0))
    with pytest.raises(ValueError, match="Found 'agee'"):
        discover(people_csv, budget=MUCH, stated={"agee": Stated("integer")})
    everything = dict.fromkeys(people(1).columns, Stated(ignored=True))
    with pytest.raises(ValueError, match="Found nothing"):
        discover(people_csv, budget=MUCH, stated=everything)
    with _ledger(tmp_path, people_csv) as ledger:
        with pytest.raises(ValueError, match="Found 'agee'"):
            discover(people_csv, budget=Budget(1.0, 1e-9), stated={"agee": Stated()}, ledger=ledger)
        assert not ledger.releases()


# The plan


@pytest.mark.parametrize("budget", [Budget(0.05, 1e-9), Budget(1.0, 1e-6), Budget(8.0, 1e-3)])
@pytest.mark.parametrize(("ranges", "texts"), [(True, True), (True, False), (False, True), (False, False)])
def test_a_plan_spends_all_of_a_budget_and_never_more(budget, ranges, texts):
    plan = plan_discovery(budget, ranges=ranges, texts=texts)
    spent = PrivacyLossPlan().epsilon([noise.event() for noise in plan.noises], budget.delta)
    assert budget.epsilon * 0.9999 <= spent <= budget.epsilon
    assert math.fsum(plan.shares.values()) == pytest.approx(1)
    assert math.fsum(SHARES.values()) == pytest.approx(1)
    costs = [noise.noise_multiplier**-2 for noise in plan.noises]
    assert [cost / math.fsum(costs) for cost in costs] == pytest.approx(list(plan.shares.values()))


# Where noisy counts show


def test_nothing_shows_where_there_is_only_noise():
    """Of 400 lines of 256 places, with 511 sums each that exceed 4 deviations with probability 3.2e-5, 6.5 are expected
    to show anything: 40 or more with probability below 1e-15."""
    rng = np.random.default_rng(5)
    assert sum(support(rng.normal(0, 100, 256).round(), 100.0) is not None for _ in range(400)) < 40


def test_the_support_is_as_narrow_as_the_noise_allows():
    counts = np.zeros(64, dtype=np.int64)
    counts[17], counts[40:44] = 1000, 120
    assert support(counts, 50.0) == (17, 43)
    assert mass(counts, 50.0) == 1480
    assert [(start, end) for start, end, _ in shown(counts, 50.0)] == [(17, 18), (40, 44)]
    assert support(counts, 2000.0) is None
    counts[44] = 90
    assert extended(counts, (17, 43), (0, 63), 50.0, 1480) == (17, 44)
    assert extended(counts, (17, 43), (0, 43), 50.0, 1480) == (17, 43)
    assert extended(counts, (17, 43), (0, 63), 50.0, 1e6) == (17, 43), "a negligible share, and not sure"
    assert extended(counts, (17, 43), (0, 63), 20.0, 1e6) == (17, 44), "sure, if negligible"


def test_a_line_of_any_length_has_its_sums():
    for length in range(1, 40):
        counts = np.zeros(length, dtype=np.int64)
        counts[-1] = 100
        assert support(counts, 10.0) == (length - 1, length - 1)
        assert support(np.append(counts[:-1], 0), 10.0) is None


def test_stated_columns_are_closed_where_nothing_is_left_to_ask():
    assert not Stated().closed
    assert not Stated("text").closed
    assert not Stated(ranged=True).closed
    assert Stated("text", listed=True).closed
    assert Stated("date", ranged=True).closed
    assert replace(Stated(), ignored=True).closed
    assert Stated("boolean").closed
