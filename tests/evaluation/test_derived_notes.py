"""Derived columns of a table in another notation: values are compared, and the line that keeps it is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pandas as pd
import pytest

from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema import Categorical, Derived, Integer, Real, Schema
from counterfoil.schema.known_losses import known_losses

N = 60
ROWS = pd.DataFrame(
    {"q": [i % 8 + 1 for i in range(N)], "p": [f"{i % 40 / 2:.2f}" for i in range(N)], "k": ["A", "B"] * (N // 2)}
)
COLUMNS = (Integer("q", 1, 8), Real("p", 0, 20, decimals=2), Categorical("k", ("A", "B")))
DAYS = (("A", date(2010, 12, 31)), ("B", date(2011, 2, 1)))
OVER = Derived("d", "boolean", expression="q > 4")
ZIP = Derived("d", "integer", on=("k",), lookup=(("A", 123), ("B", 4500)))
OPENED = Derived("d", "date", on=("k",), lookup=DAYS)
EXPECTED = "of its cells are written in another notation than the one in which they would come back: "


SHORT_MIDNIGHTS = 'write `format = "%-m/%-d/%Y 12:00:00 AM"`.'


def over(true: str, false: str) -> list[str]:
    return [true if q > 4 else false for q in ROWS["q"]]


def by_key(first: str, second: str) -> list[str]:
    return [first, second] * (N // 2)


@pytest.mark.parametrize(
    ("derived", "cells", "count", "line"),
    [
        (OVER, over("yes", "no"), N, 'write `true = "yes"` and `false = "no"`.'),
        (OVER, over("ja", "nein"), N, 'write `true = "ja"` and `false = "nein"`.'),
        (OVER, over("True", "false"), 28, 'write `true = "True"` and `false = "false"`.'),
        (OVER, over("true", "false"), 0, ""),
        (ZIP, by_key("00123", "04500"), N, "write `digits = 5`."),
        (ZIP, by_key("+123", "4500.0"), N, "write all alike."),
        (OPENED, by_key("31.12.2010", "01.02.2011"), N, 'write `format = "%d.%m.%Y"`.'),
        (OPENED, by_key("12/31/2010", "02/01/2011"), N, 'write `format = "%m/%d/%Y"`.'),
        (OPENED, by_key("20101231", "20110201"), N, 'write `format = "%Y%m%d"`.'),
        (OPENED, by_key("12/31/2010", "2/1/2011"), N, 'write `format = "%-m/%-d/%Y"`.'),
        (OPENED, by_key("2010-12-31", "2011-02-01"), 0, ""),
        (
            Derived("d", "date", on=("k",), lookup=DAYS, format="%d.%m.%Y"),
            by_key("2010-12-31", "2011-02-01"),
            N,
            "leave `format` out.",
        ),
        (OPENED, by_key("12/31/2010 12:00:00 AM", "2/1/2011 12:00:00 AM"), N, SHORT_MIDNIGHTS),
        (
            Derived("d", "date", on=("k",), lookup=DAYS, format="%d.%m.%Y"),
            [*by_key("31.12.2010", "01.02.2011")[:-4], *by_key("31.12.2010", "1.2.2011")[-4:]],
            2,
            "write all alike.",
        ),
        (
            Derived("d", "date", on=("k",), lookup=DAYS, format="%m/%d/%Y 12:00:00 AM"),
            by_key("12/31/2010 12:00:00 AM", "2/1/2011 12:00:00 AM"),
            N // 2,
            SHORT_MIDNIGHTS,
        ),
        (Derived("d", "real", expression="p * 1"), ROWS["p"].to_list(), N, "write `decimals = 2`."),
        (Derived("d", "real", expression="p * 1", decimals=2), ROWS["p"].to_list(), 0, ""),
        (Derived("d", "real", expression="p * 1", decimals=2), [f"{float(p)}" for p in ROWS["p"]], 0, ""),
    ],
)
def test_the_line_that_keeps_the_notation_is_named(
    derived: Derived, cells: list[str], count: int, line: str, tmp_path: Path
) -> None:
    ROWS.assign(d=cells).to_csv(tmp_path / "t.csv", index=False)
    report = check_without_privacy(tmp_path / "t.csv", Schema((*COLUMNS, derived)), values=True)
    assert report.holds
    notes = [note for note in report.notes if note.column == "d"]
    assert [(note.kind, note.count, note.text) for note in notes] == (
        [("notation", count, f"{count} {EXPECTED}{line}")] if count else []
    )
    assert all(note.values for note in notes)
    assert not any(note.values for note in check_without_privacy(tmp_path / "t.csv", Schema((*COLUMNS, derived))).notes)


RATE = Derived("d", "real", on=("k",), lookup=(("A", 1.0), ("B", 0.9712)))


@pytest.mark.parametrize(
    ("derived", "cells", "rounding"),
    [
        (Derived("d", "real", on=("k",), lookup=RATE.lookup), by_key("1.0", "0.9712"), 1),
        (Derived("d", "real", expression="q / 4"), [f"{q / 4}" for q in ROWS["q"]], 1),
    ],
)
def test_no_line_is_advised_that_rounds_other_cells(
    derived: Derived, cells: list[str], rounding: int, tmp_path: Path
) -> None:
    """`decimals = 1` keeps the notation of 1.0, and would make 1.0 of 0.9712 beside it."""
    ROWS.assign(d=cells).to_csv(tmp_path / "t.csv", index=False)
    (note,) = (
        note
        for note in check_without_privacy(tmp_path / "t.csv", Schema((*COLUMNS, derived))).notes
        if note.column == "d"
    )
    assert note.text.endswith("would come back: write all alike.")
    rounded = Schema((*COLUMNS, replace(derived, decimals=rounding)))
    (note,) = (note for note in check_without_privacy(tmp_path / "t.csv", rounded).notes if note.column == "d")
    decimals = 4 if derived.lookup else 2
    assert note.kind == ("lookup" if derived.lookup else "left_out")
    assert f"more digits after the point than `decimals = {rounding}` leaves" in note.text
    assert f"rite `decimals = {decimals}`" in note.text
    kept = Schema((*COLUMNS, replace(derived, decimals=decimals)))
    assert not [note for note in check_without_privacy(tmp_path / "t.csv", kept).notes if note.column == "d"]


def test_rounded_lookups_are_said_before_anything_is_charged() -> None:
    (said,) = known_losses(Schema((*COLUMNS, replace(RATE, decimals=1))))
    assert said == (
        "Column 'd' is rounded: 1 of the 2 numbers of its lookup have more digits after the point than `decimals = 1` "
        "leaves. Write `decimals = 4`, or round them in the lookup."
    )
    assert known_losses(Schema((*COLUMNS, replace(RATE, decimals=4)))) == []


@pytest.mark.parametrize(
    ("derived", "cells"),
    [
        (OVER, ["unknown"] * N),  # one text for both truths is no label
        (OVER, [*over("yes", "no")[1:], "no"]),
        (ZIP, by_key("00124", "04501")),
        (OPENED, by_key("30.12.2010", "02.02.2011")),
        (OPENED, [str(date(1950, 1, 1) + timedelta(i)) for i in range(N)]),
    ],
)
def test_other_values_are_a_broken_derivation(derived: Derived, cells: list[str], tmp_path: Path) -> None:
    ROWS.assign(d=cells).to_csv(tmp_path / "t.csv", index=False)
    report = check_without_privacy(tmp_path / "t.csv", Schema((*COLUMNS, derived)))
    assert [fact.kind for fact in report.broken] == ["derived"]


@pytest.mark.parametrize(
    ("pattern", "there"),
    [("%Y-%m-%dT%H:%M:%SZ", "UTC"), ("%Y-%m-%dT%H:%M:%S%z", "Europe/Zurich"), ("%d.%m.%Y %H:%M:%S", "Europe/Zurich")],
)
def test_the_format_of_datetimes_with_a_zone_is_named(pattern: str, there: str) -> None:
    """All cells were to be written alike, which they are."""
    schema = Schema.from_toml(
        '[columns.pickup]\nkind = "datetime"\nlower = 2024-06-01T00:00:00\nupper = 2024-06-30T23:59:59\n'
        f'resolution = "1d"\nzone = "Europe/Zurich"\nformat = "{pattern}"\n'
        '[columns.ride]\nkind = "integer"\nbetween = ["pickup", "dropoff"]\nlower = 0\nupper = 7200\n'
        '[[derived]]\nname = "dropoff"\nkind = "datetime"\nzone = "Europe/Zurich"\nexpression = "pickup + ride"\n'
    )
    first = pd.Timestamp("2024-06-05", tz="UTC") + pd.to_timedelta([997 * i for i in range(N)], unit="s")
    last = first + pd.to_timedelta([61 * i for i in range(N)], unit="s")
    cells = {
        name: moments.tz_convert(there).strftime(pattern) for name, moments in (("pickup", first), ("dropoff", last))
    }
    if "." in pattern:  # only what is ISO is read where no format is stated
        cells["dropoff"] = last.tz_convert(there).strftime("%Y-%m-%d %H:%M:%S")
    [note] = [note for note in check_without_privacy(pd.DataFrame(cells), schema).notes if note.column == "dropoff"]
    expected = "%Y-%m-%d %H:%M:%S" if "." in pattern else pattern
    assert note.text.endswith(f'write `format = "{expected}"`.')


def test_of_a_format_that_some_cells_have_it_is_said_how_many() -> None:
    cells = by_key("2010-12-31T00:00:00Z", "2011-02-01 00:00:00")
    cells[1] = "2011-02-01T00:00:00Z"
    report = check_without_privacy(ROWS.assign(d=cells), Schema((*COLUMNS, replace(OPENED, zone="UTC"))))
    (note,) = [one for one in report.notes if one.kind == "notation"]
    line = f'write `format = "%Y-%m-%dT%H:%M:%SZ"`, as {N // 2 + 1} of them are, and the others alike.'
    assert note.text == f"{N} {EXPECTED}{line}"
