"""Schemas that are bought: what is found, what it costs, and what is never asked."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.column_places import GRIDS, PLACES
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.discovery.discover import discover, need_foreseen
from counterfoil.discovery.need import need_of
from counterfoil.discovery.plan import SHARES, plan_discovery
from counterfoil.discovery.ranges import Bounds, Counted, _beside, again
from counterfoil.discovery.reach_of_bounds import BLURRED, PLACE, worthwhile
from counterfoil.discovery.votes import Votes
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.shown_counts import FALSE_ALARMS, extended, masses, shown, support, sure, sure_of
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.raw_cell import CLASSES, CODES
from counterfoil.schema.stated import Stated
from counterfoil.schema.value_grid import CELLS, REACH, WHOLE_PLACES, places_of

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
    discovered, _ = bought(table.assign(born=pd.to_datetime(table["born"]) + pd.Timedelta(minutes=90)))
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
    assert charge["query"] == "rest_of_texts"
    charge["event"]["delta"] = charge["event"]["delta"] / 2
    assert not Receipt(document).verify().holds


def test_the_ledger_has_every_question_before_its_answer(people_csv, tmp_path):
    budget = Budget(1.0, 1e-9)
    with _ledger(tmp_path, people_csv) as ledger:
        discovered, curator = discover(people_csv, budget=budget, ledger=ledger)
        with curator:
            pass
        charged = [charge["query"] for release in ledger.releases() for charge in release.charges]
    assert charged == ["column_places", "rest_of_texts", "column_ranges", "rest_of_texts"]
    assert discovered.epsilon <= 1.0


def _ledger(folder, source):
    return Ledger.create(folder / "people.ledger", source=source, total=Budget(2.0, 1e-8))


def test_a_table_of_texts_alone_asks_what_its_plan_foresees(tmp_path):
    path = tmp_path / "texts.csv"
    pd.DataFrame({"a": ["x", "y"] * 500, "b": ["u"] * 1000}).to_csv(path, index=False)
    discovered, receipt = bought(path)
    assert [charge["query"] for charge in receipt.document["charges"]] == [
        "column_places", "rest_of_texts", "rest_of_texts", "rest_of_texts",
    ]  # fmt: skip
    assert receipt.verify().holds
    assert [{text for text, _ in column.categories} for column in discovered.columns] == [{"x", "y"}, {"u"}]


def test_where_no_number_and_no_text_shows_the_cells_are_asked_about_again(tmp_path):
    """Of a column of booleans only the words are texts; with them stated, two answers say what the cells are."""
    path = tmp_path / "days.csv"
    pd.DataFrame({"a": pd.date_range("2020-01-01", periods=1000).strftime("%Y-%m-%d")}).to_csv(path, index=False)
    discovered, receipt = bought(path, stated={"a": Stated(ranged=True)})
    charges = receipt.document["charges"]
    assert [charge["query"] for charge in charges] == ["column_places"] * 4
    together = sum(1 / charge["noise"]["scale"] ** 2 for charge in charges) ** -0.5
    assert discovered.need.hidden == pytest.approx(sure(1) * together, rel=1e-3), "all answers are used"


def test_a_table_of_numbers_alone_spends_nothing_on_texts(tmp_path):
    path = tmp_path / "numbers.csv"
    pd.DataFrame({"a": np.arange(1000) % 17}).to_csv(path, index=False)
    discovered, receipt = bought(path)
    assert [charge["query"] for charge in receipt.document["charges"]] == ["column_places", *["column_ranges"] * 3]
    assert receipt.verify().holds
    assert discovered.epsilon <= MUCH.epsilon
    assert (discovered.columns[0].lower, discovered.columns[0].upper) in [(0, 16), (0, 17)]


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


def test_units_of_so_many_rows_that_no_threshold_is_proved_are_refused_before_anything_is_charged(tmp_path):
    """The first question was charged, and the one about texts refused, which showed that there were texts to ask of."""
    table = pd.DataFrame({"who": ["a", "b"]} | {f"t{i}": ["x", "y"] for i in range(101)})
    source = tmp_path / "people.csv"
    table.to_csv(source, index=False)
    unit = PrivacyUnit("who", 1000)
    with Ledger.create(tmp_path / "people.ledger", source=source, total=MUCH) as ledger:
        with pytest.raises(ValueError, match="what a unit changes at most 1e"):
            discover(source, budget=MUCH, privacy_unit=unit, ledger=ledger)
        assert not ledger.releases()
        assert not ledger.refusals()
    columns = {name: Stated(kind="integer") for name in table if name not in ("who", "t0")}
    _, curator = discover(source, stated=columns, budget=MUCH, privacy_unit=unit)  # few may be of texts
    curator.close()


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


def test_a_table_of_noise_alone_shows_nothing():
    """Of 300 tables of 12 columns at most 1% show anything, by the union bound: 16 or more with probability below
    1e-6. With 4 deviations instead, about 45 would."""
    rng, least, of_lines = np.random.default_rng(5), sure(12), sure_of(12 * 300)
    assert least == pytest.approx(4.74, abs=0.03)
    alarms = 0
    for _ in range(300):
        votes = [Votes(rng.normal(0, 100, PLACES), 100.0, least) for _ in range(12)]
        lines = [rng.normal(0, 100, 300) for _ in range(12)]
        alarms += any(any(vote.masses().values()) or vote.coarse_range("real") for vote in votes) or any(
            support(line, 100.0, of_lines) is not None for line in lines
        )
    assert FALSE_ALARMS == 0.01
    assert alarms < 16


def test_the_support_is_as_narrow_as_the_noise_allows():
    counts = np.zeros(64, dtype=np.int64)
    counts[17], counts[40:44] = 1000, 120
    assert support(counts, 50.0, 4.0) == (17, 43)
    assert masses(counts, 50.0, 4.0).sum() == 1480
    assert masses(counts, 50.0, 4.0)[[17, 40, 43, 44]].tolist() == [1000, 120, 120, 0]
    assert [(start, end) for start, end, _ in shown(counts, 50.0, 4.0)] == [(17, 18), (40, 44)]
    assert support(counts, 2000.0, 4.0) is None
    assert support(counts, 50.0, 30.0) is None
    counts[44] = 90
    assert extended(counts, (17, 43), (0, 63), 50.0, 1480, 4.0) == (17, 44)
    assert extended(counts, (17, 43), (0, 43), 50.0, 1480, 4.0) == (17, 43)
    counts[44:46] = 40, 90
    assert extended(counts, (17, 43), (0, 63), 50.0, 1480, 4.0) == (17, 45), "130 over two, with a noise of 71"
    assert extended(counts, (17, 43), (0, 63), 50.0, 1e6, 4.0) == (17, 43), "a negligible share, and not sure"
    assert extended(counts, (17, 43), (0, 63), 20.0, 1e6, 4.0) == (17, 45), "sure, if negligible"


def test_what_is_likely_and_not_sure_adds_little_to_what_was_found():
    counts = np.zeros(64, dtype=np.int64)
    counts[0:2], counts[2:16] = 1000, 20
    assert extended(counts, (0, 1), (0, 63), 50.0, 2000, 4.0) == (0, 1), "a sum of 280 over 14, with a noise of 187"
    counts[2] = 60
    assert extended(counts, (0, 1), (0, 63), 50.0, 2e4, 4.0) == (0, 2), "the very next place, for three in a thousand"
    assert extended(counts, (0, 1), (0, 63), 50.0, 1e5, 4.0) == (0, 1), "too rare to be worth a code"
    counts[2:5] = 120, 60, 60
    assert extended(counts, (0, 1), (0, 63), 50.0, 2000, 4.0) == (0, 3), "two places, and no third"


def test_a_line_of_any_length_has_its_sums():
    for length in range(1, 40):
        counts = np.zeros(length, dtype=np.int64)
        counts[-1] = 100
        assert support(counts, 10.0, 4.0) == (length - 1, length - 1)
        assert support(np.append(counts[:-1], 0), 10.0, 4.0) is None


# How far bounds reach


def at(**shares: float) -> np.ndarray:
    """Shares of 1,000 records at the places of numbers: p5 is 5, and n5 is -5."""
    result = np.zeros(CELLS)
    for name, share in shares.items():
        number = float(name[1:]) * (-1 if name[0] == "n" else 1)
        result[places_of(np.array([number]))[0]] += 1000 * share
    return result


def reached(**shares: float) -> tuple[bool, ...]:
    """Which of the numbers lie within the bounds."""
    first, last = worthwhile(at(**shares)) or (0, -1)
    places = places_of(np.array([float(name[1:]) * (-1 if name[0] == "n" else 1) for name in shares]))
    return tuple(bool(first <= place <= last) for place in places)


def test_a_few_far_records_are_clamped_and_do_not_blur_the_others():
    assert reached(p2=0.97, p70000000000=0.03) == (True, False)
    assert reached(p2=0.6, p999999999=0.4) == (True, False), "a code for what is missing"
    assert reached(p100=0.97, n70000000000=0.03) == (True, False)
    assert reached(p2=0.3, p999999999=0.7) == (True, True), "either way the near ones lose their numbers"


def test_real_tails_are_kept():
    assert reached(p0=0.92, p3000=0.04, p40000=0.04) == (True, True, True), "zero is never blurred"
    assert reached(p100=0.5, p3000=0.45, p40000=0.05) == (True, True, True)
    assert reached(n300=0.1, p0=0.1, p300=0.8) == (True, True, True)
    assert reached(p300=0.999, p40000=0.001) == (True, False), "less than a place costs"
    assert worthwhile(np.zeros(CELLS)) is None


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, CELLS - 1), st.integers(1, 1000), min_size=1, max_size=6))
def test_no_other_bounds_lose_less(counts):
    """Against the loss counted place by place, over all pairs of ends."""
    line = np.zeros(CELLS)
    line[list(counts)] = list(counts.values())

    def lost(first: int, last: int) -> float:
        reach = max(abs(first - REACH) if first < REACH else 0, abs(last - REACH) if last > REACH else 0)
        wrong = 0
        for place, count in counts.items():
            outside = not first <= place <= last
            blurred = place != REACH and abs(place - REACH) <= reach - BLURRED
            wrong += count if outside or blurred else 0
        return wrong / sum(counts.values()) + PLACE * reach

    found = worthwhile(line)
    assert found is not None
    best = min(lost(first, last) for first in counts for last in counts if first <= last)
    assert lost(*found) == pytest.approx(best)


def test_a_sentinel_far_out_is_clamped_and_its_share_is_told(tmp_path):
    path = tmp_path / "sentinel.csv"
    values = np.where(np.arange(3000) % 10 == 0, 9_999_999_999, np.arange(3000) % 7)
    pd.DataFrame({"a": values}).to_csv(path, index=False)
    discovered, _ = bought(path)
    (column,) = discovered.columns
    assert (column.lower, column.upper) == (0, 6)
    assert column.tails[0] == 0
    assert column.tails[1] == pytest.approx(0.1, abs=0.02)


def test_noise_is_never_told_as_a_tail(tmp_path):
    """300 rows at epsilon 1: the sums of all intervals beyond the bounds have a noise of about all rows."""
    path = tmp_path / "heart.csv"
    pd.DataFrame({f"c{i}": np.arange(300) % 2 for i in range(13)}).to_csv(path, index=False)
    ranged = 0
    for seed in range(5):
        discovered, curator = discover(path, budget=Budget(1.0, 1e-9), seed=seed)
        with curator:
            assert all(column.tails == (0.0, 0.0) for column in discovered.columns)
        ranged += sum(column.lower is not None for column in discovered.columns)
    assert ranged > 10, "there are bounds to lie beyond"


def test_digits_after_the_point_are_found_with_the_places(tmp_path):
    rng = np.random.default_rng(3)
    grades = rng.integers(15, 41, ROWS) / 10
    table = pd.DataFrame(
        {"grade": grades, "price": (grades + 0.05).round(2), "time": rng.random(ROWS), "n": rng.integers(0, 17, ROWS)}
    )
    table.to_csv(tmp_path / "grades.csv", index=False)
    discovered, receipt = bought(tmp_path / "grades.csv")
    found = {column.name: column for column in discovered.columns}
    assert {name: column.decimals for name, column in found.items()} == {
        "grade": 1, "price": 2, "time": None, "n": None,
    }  # fmt: skip
    assert (found["grade"].lower, found["grade"].upper) == (1.5, 4.0)
    assert receipt.document["charges"][1]["query"] == "column_ranges", "nothing more was asked for them"


# What the noise hides


def test_a_table_that_the_noise_drowns_says_so_and_what_would_show_it():
    table = people(300).astype(str)
    discovered, _ = bought(table, Budget(0.1, 1e-9))
    need = discovered.need
    assert need.drowned
    assert need.epsilon is not None
    assert f"bout epsilon {need.epsilon:g} would show" in need.sentence()
    plans = [plan_discovery(Budget(epsilon, 1e-9), ranges=True, texts=True) for epsilon in (0.1, need.epsilon)]
    quieter = plans[0].places.noise_multiplier / plans[1].places.noise_multiplier
    seen = max(need.rows, need.error)
    assert need.hidden / quieter <= 0.2 * seen * 1.001
    assert need.hidden / quieter >= 0.17 * seen, "and hardly more than is needed"
    enough = bought(people(), Budget(8.0, 1e-9))[0].need
    assert not enough.drowned
    assert enough.epsilon is None
    assert enough.rows == pytest.approx(ROWS, abs=6 * enough.error)


def test_what_would_show_a_fifth_is_said_of_as_many_rows_as_it_is_for():
    # Of 60 rows none were seen, and the epsilon is for as many as there may be.
    lost = need_of(0.0, 477.0, 443.0, Budget(0.3, 1e-9)).sentence()
    assert f"If there are 477, about epsilon {need_of(477.0, 477.0, 443.0, Budget(0.3, 1e-9)).epsilon:g}" in lost
    assert "what a fifth of them share" in need_of(3845.0, 520.0, 1000.0, Budget(0.3, 1e-9)).sentence()


@pytest.mark.parametrize("asked", [True, False])
def test_commands_refuse_an_empty_table_before_anything_is_charged(people_csv, tmp_path, asked):
    """Elsewhere it is a table as any other: a program that acts on it would reveal that it is empty."""
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n")
    with Ledger.create(tmp_path / "empty.ledger", source=path, total=Budget(2.0, 1e-8)) as ledger:
        if not asked:
            with discover(path, budget=Budget(1.0, 1e-9), ledger=ledger)[1]:
                assert ledger.releases()[0].charges
            return
        with pytest.raises(ValueError, match="must have rows"):
            discover(path, budget=Budget(1.0, 1e-9), ledger=ledger, ready=Curator.require_rows)
        assert not [charge for release in ledger.releases() for charge in release.charges]


def test_stated_columns_are_closed_where_nothing_is_left_to_ask():
    assert not Stated().closed
    assert not Stated("text").closed
    assert not Stated(ranged=True).closed
    assert Stated("text", listed=True).closed
    assert Stated("date", ranged=True).closed
    assert replace(Stated(), ignored=True).closed
    assert Stated("boolean").closed


# What cells read, and ranges of one number


def mixed(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    days = pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 3650, rows), unit="D")
    written = np.where(rng.random(rows) < 0.7, days.strftime("%Y-%m-%d"), days.strftime("%d.%m.%Y"))
    return pd.DataFrame({"seen": written, "n": np.where(rng.random(rows) < 0.9, rng.integers(0, 50, rows), "many")})


def test_the_share_that_reads_so_is_of_all_cells_and_other_notations_are_counted(tmp_path):
    """Within 6 deviations of noise: wrong with probability below 1e-8; seeds are fixed."""
    mixed().to_csv(tmp_path / "mixed.csv", index=False)
    seen, n = bought(tmp_path / "mixed.csv", stated={"n": Stated("integer")})[0].columns
    real = mixed()["seen"].str.contains("-").mean()
    assert seen.read[0] == pytest.approx(real, abs=6 * seen.read[1])
    assert seen.read[1] < 0.01
    ((notation, count),) = seen.others
    assert notation == "%d.%m.%Y", "those with two readings are counted there"
    assert count == pytest.approx((1 - real) * ROWS, abs=80)
    assert (n.read, n.others) == (None, ()), "its kind was stated"
    assert {column.least for column in (seen, n)} == {sure(2)}


def test_of_integers_and_fractions_that_noise_hides_half_read_so():
    counts = np.zeros(PLACES)
    counts[len(CLASSES) + places_of(np.array([5.0]))[0]] = 500
    start = len(CLASSES) + GRIDS.index("real") * CELLS
    counts[start : start + CELLS] = 500 / CELLS
    votes = Votes(counts, 20.0, sure(10))
    assert votes.kind() == "integer"
    assert votes.masses()["real"] == 0
    share, error = votes.share_read("integer", "", 1000.0, 0.0)
    assert share == pytest.approx(0.5)
    assert error == pytest.approx(20 * len(WHOLE_PLACES) ** 0.5 / 1000)
    assert votes.share_read("real", "", 1000.0, 0.0)[0] == pytest.approx(1)


def test_what_a_boolean_or_a_text_reads_is_its_own_class():
    counts = np.zeros(PLACES)
    counts[CODES["boolean"]], counts[CODES["text"]], counts[CODES["missing"]] = 600, 400, 100
    votes = Votes(counts, 5.0, sure(1))
    assert votes.share_read("boolean", "", 1000.0, 30.0) == pytest.approx((0.6, math.hypot(5 * 2**0.5, 18) / 1000))
    assert votes.others("boolean", "") == (("texts", 400),)
    for number in (0.0, 1.0, 5000.0):
        counts[len(CLASSES) + places_of(np.array([number]))[0]] = 300
    assert votes.others("boolean", "") == (("whole numbers", 300), ("texts", 400)), "1 and 0 are truths"
    assert votes.others("text", "") == ()


@pytest.mark.parametrize("seed", range(6))
def test_counts_are_never_negative_where_nothing_negative_shows(tmp_path, seed):
    """Noise alone would say -1 of one column in three, were it treated as above zero."""
    rng = np.random.default_rng(seed)
    pd.DataFrame({f"c{i}": rng.poisson(1.2, 5000) for i in range(8)}).to_csv(tmp_path / "c.csv", index=False)
    discovered, curator = discover(tmp_path / "c.csv", budget=Budget(0.3, 1e-9), seed=seed)
    curator.close()
    assert {column.lower for column in discovered.columns} == {0.0}


@pytest.mark.parametrize("digits", [0, 2])
def test_a_fifth_of_amounts_beside_zeros_is_between_the_bounds(tmp_path, digits):
    """1,000 records in few places, with a noise of about 40 for each count; seeds are fixed."""
    rng = np.random.default_rng(0)
    amounts = np.where(rng.random(5000) < 0.8, 0, rng.lognormal(7, 1, 5000).round(digits))
    texts = [f"{amount:.{digits}f}" for amount in amounts]
    pd.DataFrame({"bonus": texts, "job": rng.choice(["a", "b"], 5000)}).to_csv(tmp_path / "b.csv", index=False)
    for seed in range(4):
        discovered, curator = discover(tmp_path / "b.csv", budget=Budget(0.3, 1e-9), seed=seed)
        curator.close()
        bonus = discovered.columns[0]
        assert bonus.lower == 0
        assert bonus.upper >= 1023
        assert bonus.elsewhere is None


def test_where_zero_alone_shows_it_is_said_how_many_may_be_elsewhere(tmp_path):
    rng = np.random.default_rng(0)
    table = {f"c{i}": np.where(rng.random(3000) < 0.9, 0, rng.integers(500, 10**6, 3000)) for i in range(10)}
    pd.DataFrame(table).to_csv(tmp_path / "b.csv", index=False)
    discovered, curator = discover(tmp_path / "b.csv", budget=Budget(0.15, 1e-9), seed=3)
    curator.close()
    points = [column for column in discovered.columns if column.elsewhere is not None]
    assert points
    assert {(column.lower, column.upper) for column in points} == {(0, 15)}
    for column in points:
        others, error = column.elsewhere
        assert abs(others - 300) < 6 * error


def test_noise_alone_rarely_widens_a_range_of_one_number():
    """At most one in thirty; 160 or more of 3,000 with probability below 1e-6."""
    rng = np.random.default_rng(4)
    wider = sum(
        _beside(rng.normal(0, 1, CELLS), np.ones(CELLS), (REACH, REACH), sure(10)) != (REACH, REACH)
        for _ in range(3000)
    )
    assert wider < 160
    sums = np.zeros(CELLS)
    sums[REACH + 6 : REACH + 9] = 3.0
    assert _beside(sums, np.ones(CELLS), (REACH, REACH), sure(10)) == (REACH, REACH), "too little over nine places"
    sums[REACH + 6 : REACH + 9] = 4.2
    assert _beside(sums, np.ones(CELLS), (REACH, REACH), sure(10)) == (REACH, REACH + 8)
    assert _beside(sums[::-1], np.ones(CELLS), (REACH, REACH), sure(10)) == (REACH, REACH), "not surely below zero"
    assert _beside(sums[::-1] * 3, np.ones(CELLS), (REACH, REACH), sure(10)) == (REACH - 8, REACH)


@pytest.mark.parametrize("unit", [None, PrivacyUnit("id", 2)])
def test_what_the_noise_will_hide_is_known_before_it_is_asked(people_csv, unit):
    budget = Budget(0.5, 1e-9)
    foreseen = need_foreseen(people_csv, ROWS, budget=budget, privacy_unit=unit)
    discovered, _ = bought(people_csv, budget, privacy_unit=unit)
    assert discovered.need.hidden == pytest.approx(foreseen.hidden)
    assert foreseen.rows == ROWS


# What is not applicable


def vote_of(deviation: float = 5.0, **cells: float) -> Votes:
    """Of so many cells of each class; `five` are numbers."""
    counts = np.zeros(PLACES)
    counts[len(CLASSES) + places_of(np.array([5.0]))[0]] = cells.pop("five", 0)
    counts[[CODES[name] for name in cells]] = list(cells.values())
    return Votes(counts, deviation, sure(1))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ({"N": 700, "five": 300}, "integer"),
        ({"N": 700, "boolean": 100, "five": 50}, "boolean"),
        ({"N": 700}, "boolean"),
        ({"N": 300, "five": 700}, "integer"),
        ({"N": 800, "text": 200}, "text"),
        ({"N": 950, "text": 50}, "text"),
        ({"N": 850, "boolean": 100, "text": 50}, "boolean"),
        ({"N": 50, "five": 900, "text": 50}, "integer"),
    ],
)
def test_one_word_of_two_beside_numbers_or_texts_makes_no_boolean(cells, kind):
    assert vote_of(**cells).kind() == kind


def test_cells_that_are_not_applicable_are_missing():
    vote = vote_of(N=700, five=250, missing=50)
    assert (vote.missing, vote.missing_words, vote.others("integer", "")) == (50, (), (('the text "N"', 700),))
    there = vote.where_not_applicable()
    assert (there.missing, there.missing_words, there.others("integer", "")) == (750, ("N",), ())
    assert there.missing_deviation == pytest.approx(5 * 2**0.5)
    assert there.beside(vote).missing == 750
    assert there.share_read("integer", "", 250.0, 0.0)[0] == pytest.approx(1)
    assert vote_of(N=50, five=250, missing=700).where_not_applicable().missing_words == ("", "N")


def test_what_is_not_applicable_is_found_in_all_columns_together(tmp_path):
    """No column has enough of it to show; twenty have. In a table that has none of it, noise says so once in 700."""
    rng = np.random.default_rng(8)
    numbers = {f"c{i}": rng.integers(1, 7, 7000).astype(str) for i in range(20)}
    absent = {name: np.where(rng.random(7000) < 0.15, "N", texts) for name, texts in numbers.items()}
    for table, words in ((absent, ("N",)), (numbers, ())):
        pd.DataFrame(table).to_csv(tmp_path / "n.csv", index=False)
        discovered, curator = discover(tmp_path / "n.csv", budget=Budget(0.1, 1e-9), seed=1)
        curator.close()
        assert {column.missing_words for column in discovered.columns} == {words}
        assert {column.kind for column in discovered.columns} == {"integer"}
        assert max(1050 - 4 * discovered.need.hidden, 0) == 0, "a column of its own would not show it"


def test_a_flag_of_which_n_alone_shows_says_nothing_of_numbers(tmp_path):
    """Its other word is rarer than the noise hides: copies wrote N for missing numbers, which nobody reads as such."""
    rng = np.random.default_rng(8)
    table = pd.DataFrame({f"c{i}": rng.integers(1, 7, 7000) for i in range(5)})
    table["recurring"] = np.where(rng.random(7000) < 0.03, "Y", "N")
    table.to_csv(tmp_path / "flag.csv", index=False)
    discovered, curator = discover(tmp_path / "flag.csv", budget=Budget(0.1, 1e-9), seed=1)
    curator.close()
    found = {column.name: column for column in discovered.columns}
    assert found["recurring"].categories[0][0] == "N"
    assert found["recurring"].kind == "boolean"
    assert {column.missing_words for column in discovered.columns} == {()}


def test_reals_that_are_few_are_found_as_texts(tmp_path):
    rng = np.random.default_rng(9)
    few, many = rng.choice([1457.2, 2195.3, 3683.9], 5000), rng.integers(100, 60_000, 5000) / 10
    table = pd.DataFrame({"job": rng.choice(["a", "b"], 5000), "home": rng.choice(["c", "d"], 5000)})
    table.assign(few=few, many=many).to_csv(tmp_path / "few.csv", index=False)
    discovered, _ = bought(tmp_path / "few.csv", Budget(1.0, 1e-9))
    found = {column.name: column for column in discovered.columns}
    assert {name: found[name].kind for name in ("few", "many")} == {"few": "real", "many": "real"}
    assert {text for text, _ in found["few"].categories} == {"1457.2", "2195.3", "3683.9"}
    assert found["many"].categories == ()


@pytest.mark.parametrize("ends", [(-1.7e308, 1.7e308), (1e17, 1e17), (-3e18, -3e18), (0.0, 2.0**53)])
def test_integers_that_floating_point_does_not_tell_apart_are_not_counted_one_by_one(ends):
    counted = Counted(Intervals("far", (CODES["integer"],), (-1e300, 0.0, 1e300)), np.array([0.0, 300, 300, 0]), 2.0)
    bounds = Bounds(lower=ends[0], upper=ends[1], shown=ends)
    asked = again(counted, "integer", bounds, 600.0, 2.0, 5.0)
    assert ColumnRanges((asked,)).columns == (asked,), "its edges are finite and ascend"


def test_integers_beyond_floating_point_are_bought(tmp_path):
    table = pd.DataFrame({"far": np.random.default_rng(0).choice(["1e300", "-1e300", "1e308"], 600)})
    table.to_csv(tmp_path / "t.csv", index=False)
    for seed in range(12):
        found, curator = discover(tmp_path / "t.csv", budget=Budget(1.0, 1e-9), seed=seed)
        curator.close()
        assert found.columns[0].kind == "integer"
