"""Dates that come in one order in every record: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.order_notes import FEWEST
from counterfoil.evaluation.schema_report import check_without_privacy

BOUNDS = "lower = 2000-01-01\nupper = 2029-12-31\nmissing = true\n"
MOMENTS = 'lower = 2000-01-01T00:00:00\nupper = 2029-12-31T23:59:59\nresolution = "1mo"\nmissing = true\n'
DATES = dict.fromkeys(("admitted", "operated", "discharged"), "date")
SCHEMA_OF_DATES = "".join(f'[columns.{name}]\nkind = "date"\n{BOUNDS}' for name in DATES)


def orders(table: pd.DataFrame, more: str = "", kinds: dict[str, str] | None = None) -> dict[str, str]:
    """By later date, what is said of it."""
    columns = "".join(
        f'[columns.{name}]\nkind = "{kind}"\n{BOUNDS if kind == "date" else MOMENTS}'
        for name, kind in (kinds or DATES).items()
    )
    report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}{more}'))
    return {note.column: note.text for note in report.notes if note.kind == "order"}


def stays(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    admitted = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D")
    operated = admitted + pd.to_timedelta(rng.integers(0, 5, rows), unit="D")
    discharged = operated + pd.to_timedelta(rng.integers(0, 30, rows), unit="D")
    found = {"discharged": discharged, "operated": operated, "admitted": admitted}
    return pd.DataFrame({name: days.strftime("%Y-%m-%d") for name, days in found.items()})[list(DATES)]


def test_each_order_is_said_with_its_rule_and_none_that_follows_from_two():
    found = orders(stays())
    assert list(found) == ["operated", "discharged"]
    assert "where lengths matter or are mostly short beside the time that the dates span, count" in found["discharged"]
    assert 'require = "admitted <= operated"' in found["operated"]
    assert 'require = "operated <= discharged"' in found["discharged"]
    assert '`between = ["operated", "discharged"]`' in found["discharged"]


def test_the_rules_that_are_advised_end_the_notes():
    rules = "".join(
        f'[[rules]]\nrequire = "{one} <= {other}"\n'
        for one, other in (("admitted", "operated"), ("operated", "discharged"), ("admitted", "discharged"))
    )
    assert orders(stays(), rules) == {}


def test_lengths_that_are_counted_in_place_of_the_later_dates_end_the_notes_and_are_right():
    derived = "".join(
        f'[columns.{name}]\nkind = "integer"\nbetween = ["{first}", "{last}"]\nlower = 0\nupper = 40\n'
        f'[[derived]]\nname = "{last}"\nkind = "date"\nexpression = "{text}"\n'
        for name, first, last, text in (
            ("wait", "admitted", "operated", "admitted + wait"),
            ("rest", "operated", "discharged", "admitted + wait + rest"),
        )
    )
    schema = Schema.from_toml(f'name = "t"\n[columns.admitted]\nkind = "date"\n{BOUNDS}{derived}')
    report = check_without_privacy(stays(), schema)
    assert report.holds
    assert not [note for note in report.notes if note.kind in ("order", "derived", "notation")]


@pytest.mark.parametrize("place", [0, 299])
def test_one_record_in_the_other_order_is_enough(place):
    table = stays()
    table.loc[place, "admitted"] = "2029-12-31"
    assert list(orders(table)) == ["discharged"]


def test_missing_dates_and_equal_ones_say_nothing():
    table = stays(FEWEST)
    table["operated"] = None
    table["discharged"] = table["admitted"]
    assert orders(table) == {}


def test_a_date_and_a_moment_are_to_be_declared_alike():
    kinds = DATES | {"discharged": "datetime"}
    table = stays()
    table["discharged"] += " 23:00:00"
    assert "with both declared alike" in orders(table, kinds=kinds)["discharged"]


def test_what_bounds_put_in_one_order_needs_no_rule():
    """Times of day are moments of 1900-01-01: a rule was proposed by which an interview begins before its own day."""
    rng = np.random.default_rng(1)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), unit="D")
    begins = pd.Timestamp("1900-01-01") + pd.to_timedelta(rng.integers(0, 80_000, 300), unit="s")
    table = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "begins": begins.strftime("%Y-%m-%d %H:%M:%S")})
    of_day = 'lower = 1900-01-01T00:00:00\nupper = 1900-01-01T23:59:59\nresolution = "1h"\n'
    text = f'[columns.day]\nkind = "date"\n{BOUNDS}[columns.begins]\nkind = "datetime"\n'
    found = {
        bounds: check_without_privacy(table, Schema.from_toml(f'name = "t"\n{text}{bounds}')).notes
        for bounds in (of_day, MOMENTS.replace("2000", "1900"))
    }
    assert [[note.column for note in notes if note.kind == "order"] for notes in found.values()] == [[], ["day"]]


@pytest.mark.parametrize("kind", ["date", "datetime"])
@pytest.mark.parametrize("zone", ["Europe/Zurich", "America/New_York"])
def test_moments_of_a_zone_and_what_has_none_are_compared_on_the_clock_of_the_zone(zone: str, kind: str):
    """Instants were compared with what a clock shows: west of Greenwich events came after their own registration."""
    rng = np.random.default_rng(2)
    occurred = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(rng.integers(0, 900 * 86_400, 500), unit="s")
    local = occurred.tz_convert(zone).tz_localize(None)
    soon = pd.to_timedelta(600, unit="s")
    after = local + soon if kind == "datetime" else local.normalize() + pd.Timedelta(days=1)
    before = local - soon if kind == "datetime" else local.normalize()

    def later(beside: pd.DatetimeIndex) -> list[str]:
        facts = {"occurred": MOMENTS + f'zone = "{zone}"\n', "other": BOUNDS if kind == "date" else MOMENTS}
        kinds = {"occurred": "datetime", "other": kind}
        columns = "".join(f'[columns.{name}]\nkind = "{kinds[name]}"\n{facts[name]}' for name in facts)
        table = pd.DataFrame({"occurred": occurred, "other": beside})
        report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}'))
        return [note.column for note in report.notes if note.kind == "order"]

    assert (later(after), later(before)) == (["other"], ["occurred"])


def visits(rows: int = 300) -> pd.DataFrame:
    """Of whom half have no operation between admission and discharge."""
    table = stays(rows)
    return table.assign(operated=table["operated"].where(np.arange(rows) % 2 == 0))


def test_an_order_is_said_that_a_date_between_the_two_says_of_some_records_alone():
    found = [
        (note.source, note.column)
        for note in check_without_privacy(visits(), Schema.from_toml(SCHEMA_OF_DATES)).notes
        if note.kind == "order"
    ]
    assert sorted(found) == [("admitted", "discharged"), ("admitted", "operated"), ("operated", "discharged")]


def test_how_many_lose_the_later_date_is_said_with_the_length():
    notes = check_without_privacy(visits(), Schema.from_toml(SCHEMA_OF_DATES)).notes
    texts = {note.source: note.text for note in notes if note.kind == "order" and note.column == "discharged"}
    assert "in place of discharged, which is missing then wherever operated is (150 records more)." in texts["operated"]
    assert texts["admitted"].endswith("in place of discharged.")
