"""What lies between two dates that a purchase finds: when it is found, and what the schema says of it."""

from __future__ import annotations

import datetime as dt
import itertools
import tomllib
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import Schema, buy_schema, synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_text import schema_of
from counterfoil.discovery.discover import discover
from counterfoil.discovery.lengths import CountedApart, independent, length_of, pairs_of
from counterfoil.fidelity.bought_advice import on_lengths
from counterfoil.fidelity.bought_schema import BoughtSchema
from counterfoil.noise.shown_counts import sure_of
from counterfoil.schema.bought import Bought
from counterfoil.schema.code_lists import CodeLists
from counterfoil.schema.discovered import Discovered, DiscoveredColumn, Length
from counterfoil.schema.partial import read_partial
from counterfoil.schema.toml import read_facts

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

MUCH = Budget(50.0, 1e-6)
ROWS = 4000
SPAN = 4 * 365


def days_of(kind: str, rows: int = ROWS, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """int64 [rows] twice, since 1970-01-01: two columns of dates that are apart in some way."""
    rng = np.random.default_rng(seed)
    first = rng.integers(17_900, 17_900 + SPAN, rows)
    stay = rng.exponential(rng.choice([2, 5, 24], rows)).astype(np.int64)
    ways = {
        "stay": (first, first + stay),
        "turned": (first + stay, first),
        "same": (first, first),
        "apart": (first, rng.integers(17_900, 17_900 + SPAN, rows)),
        "birth": (first - rng.integers(0, 95 * 365, rows), first),
        "long": (first, first + rng.integers(0, 3 * 365, rows)),
        "either": (first, first + np.where(rng.random(rows) < 0.08, -1 - stay, stay)),
    }
    return ways[kind]


def table_of(kind: str, rows: int = ROWS, seed: int = 0) -> pa.Table:
    first, last = (pa.array(days.astype("datetime64[D]")) for days in days_of(kind, rows, seed))
    ward = np.random.default_rng(seed).choice(["A", "B", "C"], rows)
    return pa.table({"admitted": first, "discharged": last, "ward": ward})


def found_in(kind: str, budget: Budget = MUCH, rows: int = ROWS, seed: int = 0) -> tuple[Length, ...]:
    found, curator = discover(table_of(kind, rows, seed), budget=budget, seed=seed)
    curator.close()
    return found.lengths


@pytest.mark.parametrize("kind", ["stay", "turned", "same"])
def test_a_date_that_follows_another_one_soon_is_found_in_either_order(kind):
    first, last = days_of(kind)
    (length,) = found_in(kind)
    forward = kind != "turned"
    assert (length.first, length.last) == (("admitted", "discharged") if forward else ("discharged", "admitted"))
    longest = np.sort(np.abs(last - first))
    assert max(longest[-20], 1) <= length.upper <= max(4 * longest[-1], 2), "the noise of each count is 2 at most"
    assert length.records == pytest.approx(ROWS, rel=0.02)


@pytest.mark.parametrize("kind", ["apart", "birth", "long", "either"])
def test_dates_that_are_not_ordered_or_far_apart_stay_as_they_are(kind):
    assert found_in(kind) == ()


@pytest.mark.parametrize("kind", ["apart", "birth"])
def test_noise_alone_finds_nothing(kind):
    """Where the noise hides much and where it hides little: 24 purchases with fixed seeds."""
    for seed, epsilon in itertools.product(range(6), (0.05, 0.2, 1.0, 5.0)):
        assert found_in(kind, Budget(epsilon, 1e-9), 2000, seed) == ()


def counted(kind: str, deviation: float, seed: int) -> tuple[CountedApart, dict]:
    (pair,) = pairs_of({"a": "date", "b": "date"}, {})
    exact = pair.counts(*(days.astype(float) for days in days_of(kind, 20_000, seed)))
    noise = np.random.default_rng(seed).normal(0, deviation, pair.size)
    present = dict.fromkeys("ab", (20000.0, deviation))
    return CountedApart(pair, exact + noise, deviation), {"spans": dict.fromkeys("ab", float(SPAN)), "present": present}


@pytest.mark.parametrize("deviation", [1.0, 30.0, 150.0])
def test_answers_are_weighed_by_their_precision(deviation):
    found = [counted("stay", deviation, seed)[0] for seed in range(2)]
    both = found[0].beside(found[1])
    assert both.deviation == pytest.approx(deviation / np.sqrt(2))
    assert both.counts == pytest.approx((found[0].counts + found[1].counts) / 2)


@pytest.mark.parametrize(("kind", "expected"), [("stay", ("a", "b")), ("turned", ("b", "a"))])
def test_the_order_is_found_through_noise(kind, expected):
    """With noise of up to 150 per count of 20,000 records: all of 40 draws."""
    for deviation, seed in itertools.product((5.0, 50.0, 100.0, 150.0), range(10)):
        one, about = counted(kind, deviation, seed)
        length = length_of(one, "date", sure_of(one.apart.size), **about)
        assert length is not None
        assert (length.first, length.last) == expected
        lengths = np.abs(np.subtract(*days_of(kind, 20_000, seed)))
        assert np.mean(lengths > length.upper) < 0.03, "few lie beyond"


def test_dates_without_an_earlier_one_are_not_given_up():
    (pair,) = pairs_of({"a": "date", "b": "date"}, {})
    first, last = (days.astype(float) for days in days_of("stay"))
    first[: ROWS // 10] = np.nan
    one = CountedApart(pair, pair.counts(first, last).astype(float), 1.0)
    spans = dict.fromkeys("ab", float(SPAN))
    some = {"a": (0.9 * ROWS, 1.0), "b": (float(ROWS), 1.0)}
    assert length_of(one, "date", 4.0, spans=spans, present=some) is None
    assert length_of(one, "date", 4.0, spans=spans, present=dict.fromkeys("ab", (0.9 * ROWS, 1.0))) is not None


def moments(rows: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Microseconds twice: moments that lie up to so many seconds apart."""
    rng = np.random.default_rng(5)
    first = rng.integers(1_500_000_000, 1_600_000_000, rows) * 1_000_000
    return first.astype(float), first + rng.integers(0, longest, rows) * 1e6


@pytest.mark.parametrize("longest", [30, 60, 100, 200, 5000, 90_000])
@pytest.mark.parametrize("turned", [False, True])
def test_lengths_of_seconds_and_minutes_lie_between_the_bounds(longest, turned):
    """An interval ends just before the next minute, and not at the one that it begins with."""
    (pair,) = pairs_of({"a": "datetime", "b": "datetime"}, {})
    ends = moments(ROWS, longest)[:: -1 if turned else 1]
    one = CountedApart(pair, pair.counts(*ends).astype(float), 1.0)
    about = {"spans": dict.fromkeys("ab", 1e14), "present": dict.fromkeys("ab", (float(ROWS), 1.0))}
    found = length_of(one, "datetime", 4.0, **about)
    assert found is not None
    assert longest - 1 <= found.upper <= max(3 * longest, 60)


@pytest.mark.parametrize(("longest", "most"), [(0, 1), (1, 1), (2, 2), (4, 5), (32, 44)])
def test_the_bounds_of_turned_dates_are_as_close_as_those_of_others(longest, most):
    (pair,) = pairs_of({"a": "date", "b": "date"}, {})
    first = days_of("same")[0].astype(float)
    later = first + np.arange(ROWS) % (longest + 1)
    about = {"spans": dict.fromkeys("ab", float(SPAN)), "present": dict.fromkeys("ab", (float(ROWS), 0.01))}
    for ends in ((first, later), (later, first)):
        found = length_of(CountedApart(pair, pair.counts(*ends).astype(float), 1e-3), "date", 4.0, **about)
        assert found is not None
        assert longest <= found.upper <= most


def test_words_in_the_place_of_a_later_date_are_no_dates_that_are_lost(tmp_path):
    table = table_of("stay").to_pandas()
    table["discharged"] = table["discharged"].astype(str)
    table.loc[::12, "discharged"] = "still in"
    table.to_csv(tmp_path / "t.csv", index=False)
    found, curator = discover(tmp_path / "t.csv", budget=MUCH, seed=1)
    curator.close()
    assert [(one.first, one.last) for one in found.lengths] == [("admitted", "discharged")]


@pytest.mark.parametrize("kind", ["alone", "turned"])
def test_noise_hides_few_dates_that_would_be_lost(kind):
    """A fifth of the records, in 40 draws with noise of 130 per count of 10,000: most of these are seen."""
    (pair,) = pairs_of({"a": "date", "b": "date"}, {})
    first, last = (days.astype(float) for days in days_of("stay", 10_000))
    some = np.random.default_rng(6).random(10_000) < 0.2
    if kind == "alone":
        first[some] = np.nan
    else:
        first[some], last[some] = last[some] + 1, first[some]
    exact, deviation = pair.counts(first, last), 130.0
    found = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        one = CountedApart(pair, exact + rng.normal(0, deviation, pair.size), deviation)
        present = {"a": (8000.0, deviation), "b": (10_000 + rng.normal(0, deviation), deviation)}
        spans = dict.fromkeys("ab", float(SPAN))
        found += length_of(one, "date", sure_of(pair.size), spans=spans, present=present) is not None
    assert found <= 10


def test_how_many_rows_may_not_follow_is_said():
    lengths = [replace(length("a", "b"), below=145.2)]
    columns = [column("a"), column("b")]
    text = written(columns, lengths)
    found = Discovered(tuple(columns), 1.0, 1e-9, "add_or_remove_one", {}, lengths=tuple(lengths))
    made = BoughtSchema(text, Schema.from_toml(text), None, found)  # type: ignore[arg-type]
    (sentence,) = on_lengths(made)
    assert sentence.startswith("b follows a, and mostly soon, in all but up to 145 rows: ")


def test_later_dates_are_said_to_follow_where_another_column_is_to_be_confirmed():
    """The table of what was found said that the later date is left out, which every release has."""
    lengths = [length("a", "b")]
    columns = [column("a"), column("b")]
    open_ = '\n[columns.turnover]\nkind = "real"\nconfirm = true\n'
    text = written(columns, lengths).replace("\n[columns.", f"{open_}\n[columns.", 1)
    found = Discovered(tuple(columns), 1.0, 1e-9, "add_or_remove_one", {}, lengths=tuple(lengths))
    schema = read_facts(tomllib.loads(text), Schema, CodeLists(None), exact=False)
    made = BoughtSchema(text, schema, None, found)  # type: ignore[arg-type]
    assert [one.column for one in made.schema.confirm] == ["turnover"]
    assert [one.last for one in made.lengths.values()] == ["b"]


def test_later_dates_without_an_earlier_one_are_said_to_be_lost():
    (pair,) = pairs_of({"a": "date", "b": "date"}, {})
    first, last = (days.astype(float) for days in days_of("stay"))
    first[: ROWS // 100] = np.nan
    one = CountedApart(pair, pair.counts(first, last).astype(float), 1.0)
    present = {"a": (0.99 * ROWS, 1.0), "b": (float(ROWS), 1.0)}
    found = length_of(one, "date", 4.0, spans=dict.fromkeys("ab", float(SPAN)), present=present)
    assert found is not None
    assert ROWS / 100 <= found.alone <= ROWS / 50
    text = written([column("a"), column("b")], [replace(length("a", "b"), alone=54.4)])
    assert "up to 54 may have it alone, and lose it" in text


def test_each_date_is_compared_with_the_next_one_of_its_kind():
    kinds = {"a": "date", "n": "integer", "b": "date", "t": "datetime", "c": "date", "u": "datetime"}
    formats = {"a": "%m/%d/%Y", "b": "%d.%m.%Y", "c": ""}
    pairs = pairs_of(kinds, formats)
    assert [pair.columns for pair in pairs] == [("a", "b"), ("b", "c"), ("t", "u")]
    assert [pair.first.month_first for pair in pairs] == [True, False, False]
    assert pairs[2].edges[-1] / pairs[0].edges[-1] > 86_400e6, "microseconds, a little farther"


def length(first: str, last: str, kind: str = "date") -> Length:
    return Length(first, last, kind, 30, 1000.0, 5.0, 5.0, 2.0)


def test_no_date_follows_from_itself_or_from_two():
    lengths = [length("a", "b"), length("b", "c"), length("c", "a"), length("d", "c")]
    assert [(one.first, one.last) for one in independent(lengths)] == [("a", "b"), ("b", "c")]


# What is written.


def column(name: str, kind: str = "date") -> DiscoveredColumn:
    ends = (17_900.0, 19_360.0) if kind == "date" else (1.5e15, 1.6e15)
    return DiscoveredColumn(
        name=name,
        kind=kind,
        votes={},
        lower=ends[0],
        upper=ends[1],
        tails=(0.0, 0.0),
        categories=(),
        records=1000,
        missing=100,
        edges=(),
        deviation=2.0,
        beyond=3.0,
        date_format="%d.%m.%Y" if kind == "date" else "",
        missing_words=("?",) if kind == "date" else (),
    )


def written(
    columns: list[DiscoveredColumn],
    lengths: list[Length],
    stated: str = "",
    types: dict | None = None,
    unit: str = "",
    others: tuple[str, ...] = (),
) -> str:
    names = [*(one.name for one in columns), *([unit] if unit else []), *others]
    found = Discovered(tuple(columns), 1.0, 1e-9, "add_or_remove_one", {}, lengths=tuple(lengths))
    bought = Bought(1.0, 1e-9, "add_or_remove_one", "0" * 64)
    partial = {} if not stated else {"partial": read_partial(stated, names)}
    return schema_of(found, bought, columns=names, types=types or {}, unit=unit, **partial)


NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="`"), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), st.sampled_from(["date", "datetime"]), st.data())
def test_the_schema_is_valid_whatever_the_names(names, kind, data):
    pairs = data.draw(st.lists(st.sampled_from([*itertools.permutations(names, 2)]), max_size=4, unique=True))
    lengths = independent(length(*pair, kind) for pair in pairs)
    text = written([column(name, kind) for name in names], list(lengths))
    schema = Schema.from_toml(text)
    assert {one.name for one in schema.derived} == {one.last for one in lengths}
    assert len(schema.columns) == len(names) + len(lengths)


def test_a_later_date_keeps_its_notation_and_what_is_missing():
    schema = Schema.from_toml(written([column("a"), column("b")], [length("a", "b")]))
    stay = schema["a_to_b"]
    assert (stay.lower, stay.upper, stay.missing, stay.missing_values) == (0, 30, True, ("?",))
    (derived,) = schema.derived
    assert (derived.format, derived.expression) == ("%d.%m.%Y", "a + a_to_b")
    assert [one.name for one in schema.columns] == ["a", "a_to_b", "b"]


@pytest.mark.parametrize(("text_format", "step", "upper"), [("%d.%m.%Y %H:%M", 60, 60), ("%d.%m.%Y %H:%M:%S", 1, 30)])
def test_whole_minutes_lie_between_moments_without_seconds(text_format: str, step: int, upper: int) -> None:
    """The schema was refused after the charge."""
    ends = [replace(column(name, "datetime"), date_format=text_format) for name in "ab"]
    stay = Schema.from_toml(written(ends, [length("a", "b", "datetime")]))["a_to_b"]
    assert (stay.lower, stay.upper, stay.step) == (0, upper, step)


@pytest.mark.parametrize(("first", "last", "found"), [("%H:%M:%S", "%H:%M", False), ("%H:%M", "%H:%M:%S", True)])
def test_no_moment_without_seconds_follows_from_one_with_them(first: str, last: str, found: bool) -> None:
    """It would come before that one where both are within a minute."""
    written_as = {"a": f"%d.%m.%Y {first}", "b": f"%d.%m.%Y {last}"}
    ends = [replace(column(name, "datetime"), date_format=notation) for name, notation in written_as.items()]
    assert ("[[derived]]" in written(ends, [length("a", "b", "datetime")])) == found


def test_dates_follow_one_another():
    schema = Schema.from_toml(written([column(name) for name in "abc"], [length("b", "c"), length("a", "b")]))
    assert {one.name: one.expression for one in schema.derived} == {"b": "a + a_to_b", "c": "a + a_to_b + b_to_c"}
    assert set(schema.between) == {"a_to_b", "b_to_c"}
    rules = [("a is missing", "a_to_b is missing"), ("a_to_b is missing", "b_to_c is missing")]
    assert [(rule.condition, rule.then) for rule in schema.rules] == rules


@pytest.mark.parametrize("method", ["aim", "mst", "independent"])
def test_no_row_has_a_length_without_its_dates(method):
    """Of tickets of which a fifth is open and half are unpaid, also where the model has not seen the two together."""
    opened, closed = (days.astype("datetime64[D]") for days in days_of("stay", 3000))
    rng = np.random.default_rng(4)
    left = rng.random(3000)
    paid = closed + rng.integers(0, 20, 3000)
    table = pa.table(
        {
            "opened": pa.array(opened),
            "closed": pa.array(closed, mask=left < 0.2),
            "paid": pa.array(paid, mask=left < 0.5),
        }
    )
    schema, _ = buy_schema(table, epsilon=20.0, delta=1e-6)
    made = synthesize(table, schema, epsilon=0.3, delta=1e-6, method=method).to_pandas()
    for name in ("opened_to_closed", "closed_to_paid"):
        first, last = name.split("_to_")
        assert made.loc[made[name].notna(), [first, last]].notna().all(axis=None)
    assert made["paid"].isna().mean() == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    "stated",
    [
        '[columns.b]\nkind = "date"\nlower = 2019-01-01\nupper = 2022-12-31\n',
        '[columns.a]\nkind = "date"\nformat = "%d.%m.%Y"\n',
    ],
)
def test_dates_of_which_the_user_said_something_stay(stated):
    text = written([column("a"), column("b"), column("z")], [length("a", "b")], stated)
    assert "[[derived]]" not in text


@pytest.mark.parametrize(
    "enclosed",
    ['derived = [{ name = "y", kind = "integer", expression = "x + 1" }]', 'rules = [{ require = "x < 9" }]'],
)
def test_a_list_of_tables_that_is_closed_gets_no_more_of_them(enclosed):
    """It was found after the charge that the text is no TOML."""
    stated = f'{enclosed}\n[columns.x]\nkind = "integer"\nlower = 0\nupper = 9\n'
    text = written([column("a"), column("b")], [length("a", "b")], stated, others=("x",))
    assert "a_to_b" not in text
    assert Schema.from_toml(text)["b"].kind == "date"


def test_names_of_lengths_stand_for_no_others():
    """Where the user states a pattern, names with its signs stand for many."""
    stated = '[columns."w*"]\nkind = "boolean"\n'
    text = written([column("a?"), column("b*")], [length("a?", "b*")], stated, others=("w1", "w2"))
    schema = Schema.from_toml(text).resolved(["a?", "b*", "w1", "w2"])
    assert "a__to_b_" in schema.between


@pytest.mark.parametrize("names", [("missing", "b"), ("a", "missing"), ("true", "false"), ("is", "not")])
def test_names_that_are_words_of_expressions(names):
    schema = Schema.from_toml(written([*map(column, names)], [length(*names)]))
    assert [one.name for one in schema.derived] == [names[1]]
    assert len(schema.structural_zeros) == 1


def test_a_name_that_the_user_declares_is_not_taken_twice():
    lines = ["[columns.x]", 'kind = "integer"', "lower = 0", "upper = 9"]
    lines += ["[[derived]]", 'name = "a_to_b"', 'kind = "integer"', 'expression = "x + 1"']
    stated = "\n".join([*lines, ""])
    schema = Schema.from_toml(written([column("a"), column("b")], [length("a", "b")], stated, others=("x",)))
    assert set(schema.between) == {"a_to_b_"}


def test_names_that_are_taken_or_can_not_be_written():
    schema = Schema.from_toml(written([column("a"), column("b"), column("A_TO_B")], [length("a", "b")]))
    assert [one.name for one in schema.columns] == ["a", "a_to_b_", "b", "A_TO_B"]
    assert "[[derived]]" not in written([column("a`"), column("b")], [length("a`", "b")])
    schema = Schema.from_toml(written([column("a"), column("b")], [length("a", "b")], unit="a_to_b"))
    assert "a_to_b_" in schema.between


@pytest.mark.parametrize(("zone", "found"), [("Europe/Zurich", True), (None, False)])
def test_instants_with_a_zone_and_without_one_are_not_subtracted(zone, found):
    types = {"a": pa.timestamp("us", tz="Europe/Zurich"), "b": pa.timestamp("us", tz=zone)}
    text = written([column(name, "datetime") for name in "ab"], [length("a", "b", "datetime")], types=types)
    assert ("[[derived]]" in text) == found
    if found:
        assert Schema.from_toml(text).derived[0].zone == "UTC"


def test_a_column_of_which_nothing_was_made_has_no_length():
    bare = [column("a"), column("b")]
    for lost in range(2):
        columns = [*bare]
        columns[lost] = DiscoveredColumn(
            name=columns[lost].name, kind="date", votes={}, lower=None, upper=None, tails=(0.0, 0.0), categories=(),
            records=1000, missing=0, edges=(), deviation=2.0,
        )  # fmt: skip
        discovered = Discovered(tuple(columns), 1.0, 1e-9, "add_or_remove_one", {}, lengths=(length("a", "b"),))
        assert "[[derived]]" not in written([*columns, column("c")], [*discovered.lengths])


def test_bounds_at_the_end_of_the_calendar_are_written():
    last = (dt.date(9998, 12, 31) - dt.date(1970, 1, 1)).days
    ends = [column("a"), column("b")]
    far = [DiscoveredColumn(**{**vars(one), "upper": float(last)}) for one in ends]
    Schema.from_toml(written(far, [Length("a", "b", "date", 70_000, 1000.0, 5.0, 5.0, 2.0)]))


# Whole purchases.

FORMATS = {"iso": "%Y-%m-%d", "us": "%m/%d/%Y", "de": "%d.%m.%Y", "moments": "%Y-%m-%d %H:%M:%S"}


@pytest.mark.parametrize("notation", [*FORMATS, "parquet", "zoned"])
def test_rows_of_a_copy_agree_with_themselves(notation, tmp_path):
    first, last = (pd.to_datetime(pd.Series(days), unit="D") for days in days_of("stay", 3000))
    last = last.mask(np.random.default_rng(3).random(3000) < 0.1)
    if notation in ("moments", "zoned"):
        first, last = first + pd.Timedelta(minutes=1), last + pd.Timedelta(hours=3, seconds=7)
    if notation == "zoned":
        first, last = (days.dt.tz_localize("UTC") for days in (first, last))
    frame = pd.DataFrame({"in": first, "out": last, "ward": np.where(first.dt.day % 2, "A", "B")})
    path = tmp_path / ("t.csv" if notation in FORMATS else "t.parquet")
    if notation in FORMATS:
        frame.to_csv(path, index=False, date_format=FORMATS[notation])
    else:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        days = pa.date32() if notation == "parquet" else pa.timestamp("us", "UTC")
        for place, name in enumerate(("in", "out")):
            table = table.set_column(place, name, table[name].cast(days))
        pq.write_table(table, path)
    schema, receipt = buy_schema(path, epsilon=20.0, delta=1e-6)
    assert set(schema.between) == {"in_to_out"}
    (charge,) = [one for one in receipt.document["charges"] if "apart" in one["parameters"]]
    assert [pair["last"] for pair in charge["parameters"]["apart"]] == ["out"]
    made = synthesize(path, schema, epsilon=20.0, delta=1e-6).to_pandas()
    assert list(made) == ["in", "in_to_out", "out", "ward"]
    ends = [pd.to_datetime(made[name], format=FORMATS.get(notation)) for name in ("in", "out")]
    both = ends[0].notna() & ends[1].notna()
    assert (ends[1] >= ends[0])[both].all()
    assert ends[1].isna().mean() == pytest.approx(0.1, abs=0.02)
    real = (last - first).dt.total_seconds().mean()
    assert (ends[1] - ends[0]).dt.total_seconds().mean() == pytest.approx(real, rel=0.1)


def test_a_purchase_without_dates_asks_of_none():
    table = table_of("stay").select(["admitted", "ward"])
    _, receipt = buy_schema(table, epsilon=1.0, delta=1e-6)
    assert not any("apart" in one["parameters"] for one in receipt.document["charges"])


def test_dates_with_stated_bounds_are_not_compared():
    stated = "\n".join(
        f'[columns.{name}]\nkind = "date"\nlower = 2019-01-01\nupper = 2023-12-31\n'
        for name in ("admitted", "discharged")
    )
    _, receipt = buy_schema(table_of("stay"), epsilon=1.0, delta=1e-6, stated=stated)
    assert not any("apart" in one["parameters"] for one in receipt.document["charges"])


def test_what_counts_them_is_the_same_in_every_question():
    _, curator = discover(table_of("stay").append_column("n", pa.array(range(ROWS))), budget=MUCH, seed=1)
    try:
        charges = [one for one in curator.account.charges if one.parameters.get("apart")]
        assert len(charges) >= 1
        assert len({str(one.parameters["apart"]) for one in charges}) == 1
    finally:
        curator.close()
