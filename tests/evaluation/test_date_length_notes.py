"""Numbers that are the days or the years between two dates: what `check` says, and that what it proposes holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema, synthesize
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema.whole_years import whole_years

DATE = 'kind = "date"\nlower = 1900-01-01\nupper = 2029-12-31\nformat = "%d.%m.%Y"\nmissing = true\n'
NUMBER = 'kind = "integer"\nlower = 0\nupper = 120\nmissing = true\n'
DATES = ("born", "admitted", "discharged")
RULE = '[[rules]]\nrequire = "admitted <= discharged"\n'


def days_of(dates: pd.Series) -> np.ndarray:
    return (dates - pd.Timestamp("1970-01-01")).dt.days.to_numpy(dtype=float)


def stays(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    admitted = pd.Series(pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 2000, rows), unit="D"))
    born = admitted - pd.to_timedelta(rng.integers(18 * 366, 95 * 365, rows), unit="D")
    stay = rng.negative_binomial(2, 0.2, rows)
    table = dict(zip(DATES, (born, admitted, admitted + pd.to_timedelta(stay, unit="D")), strict=True))
    years = whole_years(days_of(admitted), days_of(born)).astype(int)
    return pd.DataFrame(
        {name: own.dt.strftime("%d.%m.%Y") for name, own in table.items()} | {"stay": stay, "age": years}
    )


def schema_of(names: list[str], more: str = "") -> Schema:
    return Schema.from_toml("".join(f"[columns.{name}]\n{DATE if name in DATES else NUMBER}" for name in names) + more)


def notes(table: pd.DataFrame, more: str = "") -> tuple[ColumnNote, ...]:
    return check_without_privacy(table, schema_of([*table], more)).notes


def lengths(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    return {note.column: note.expression for note in notes(table, more) if note.kind == "length"}


@pytest.mark.parametrize("way", [1, -1])
def test_a_stay_and_an_age_are_named_with_what_keeps_to_them(way: int) -> None:
    table = stays()
    found = lengths(table[[*table][::way]])
    assert found == {"discharged": "admitted + stay", "age": "years(admitted, born)"}


def test_what_is_proposed_holds_and_copies_keep_to_it() -> None:
    kinds = {"discharged": 'kind = "date"\nformat = "%d.%m.%Y"', "age": 'kind = "integer"'}
    found = lengths(stays())
    derived = "".join(
        f'[[derived]]\nname = "{name}"\nexpression = "{found[name]}"\n{kind}\n' for name, kind in kinds.items()
    )
    schema = schema_of(["born", "admitted", "stay"], derived)
    report = check_without_privacy(stays(), schema)
    assert report.holds
    assert not [note for note in report.notes if note.kind == "length"]
    copy = synthesize(stays(), schema, epsilon=3.0, seed=1).to_pandas().dropna()
    days = {name: days_of(pd.to_datetime(copy[name])) for name in DATES}
    assert np.array_equal(days["discharged"] - days["admitted"], copy["stay"].astype(float))


def test_no_order_is_said_of_a_date_that_is_to_be_derived() -> None:
    assert [(note.source, note.column) for note in notes(stays()) if note.kind == "order"] == [("born", "admitted")]


def test_a_date_that_a_rule_names_stays_and_the_number_is_derived() -> None:
    assert lengths(stays(), RULE)["stay"] == "discharged - admitted"


def test_one_record_that_differs_is_enough_and_records_that_lose_a_date_are_counted() -> None:
    table = stays()
    table.loc[0, "stay"] += 1
    assert set(lengths(table)) == {"age"}
    table = stays().astype({"stay": "Int64"})
    table.loc[:4, "stay"] = pd.NA
    (text,) = [note.text for note in notes(table) if note.column == "discharged" and note.kind == "length"]
    assert text.endswith('"admitted + stay", which is missing then in 5 records more.')


def test_a_date_that_follows_from_one_that_follows_is_given_by_what_that_follows_from() -> None:
    table = stays().drop(columns="age").rename(columns={"born": "seen"})
    discharged = pd.to_datetime(table["discharged"], format="%d.%m.%Y")
    rest = np.random.default_rng(2).integers(0, 100, len(table))
    table["seen"] = (discharged + pd.to_timedelta(rest, unit="D")).dt.strftime("%d.%m.%Y")
    table["rest"] = rest
    for names in (["seen", "admitted", "discharged"], ["admitted", "discharged", "seen"]):
        schema = "".join(f"[columns.{name}]\n{DATE}" for name in names)
        schema += "".join(f"[columns.{name}]\n{NUMBER}" for name in ("stay", "rest"))
        found = check_without_privacy(table, Schema.from_toml(schema)).notes
        said = {note.column: note.expression for note in found if note.kind == "length"}
        assert said == {"discharged": "admitted + stay", "seen": "(admitted + stay) + rest"}


def test_batches_say_what_the_whole_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = notes(stays())
    monkeypatch.setattr("counterfoil.curator.raw_reading.BATCH_ROWS", 50)
    assert [note for note in notes(stays()) if note.kind == "length"] == [one for one in whole if one.kind == "length"]


def test_a_date_that_most_records_miss_does_not_follow_from_a_length_that_all_have() -> None:
    """Who left alive has no day of death, whatever the stay was."""
    table = stays()
    table["discharged"] = table["discharged"].where(np.arange(len(table)) % 5 < 2)
    assert "discharged" not in lengths(table)


def test_days_are_counted_that_records_would_have_which_have_none_now() -> None:
    table = stays()
    table.loc[:29, "discharged"] = None
    (note,) = [note for note in notes(table) if note.column == "discharged" and note.kind == "length"]
    assert "and has a day in 30 records that miss it now" in note.text


def test_a_date_of_moments_with_an_offset_follows_with_its_zone() -> None:
    table = stays()
    for name in DATES:
        table[name] = pd.to_datetime(table[name], format="%d.%m.%Y").dt.strftime("%Y-%m-%dT00:00:00Z")
    zoned = DATE.replace('format = "%d.%m.%Y"', 'zone = "UTC"')
    tables = {name: f"[columns.{name}]\n{zoned if name in DATES else NUMBER}" for name in table}
    found = check_without_privacy(table, Schema.from_toml("".join(tables.values()))).notes
    (note,) = [note for note in found if note.column == "discharged" and note.kind == "length"]
    assert 'expression = "admitted + stay" and zone = "UTC"' in note.text
    derived = '[[derived]]\nname = "discharged"\nkind = "date"\nexpression = "admitted + stay"\nzone = "UTC"\n'
    kept = "".join(own for name, own in tables.items() if name != "discharged")
    assert check_without_privacy(table, Schema.from_toml(kept + derived)).holds
