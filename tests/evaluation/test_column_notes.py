"""What a schema states and a table never shows, or shows otherwise: notes, which leave the status as it is."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.evaluation.column_notes import exchangeable
from counterfoil.evaluation.impossible_dates import impossible
from counterfoil.evaluation.schema_report import SchemaReport, check_without_privacy
from counterfoil.evaluation.seen_cells import states_offset
from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real, Schema
from counterfoil.schema.errors import SchemaError, UnplacedValue
from counterfoil.schema.placement import Placement
from counterfoil.schema.placement_words import ColumnWords


def checked(column, cells, *, values: bool = False) -> SchemaReport:
    return check_without_privacy(pa.table({column.name: pa.array(cells)}), Schema((column,)), values=values)


def notes(column, cells) -> dict[str, tuple[int, tuple[str, ...]]]:
    report = checked(column, cells)
    assert report.holds
    return {note.kind: (note.count, note.stated) for note in report.notes}


def test_categories_that_never_occur_are_named():
    listed = Categorical("job", ("cook", "nurse", "smith"), other=True)
    assert notes(listed, ["cook", "clown", "cook"]) == {"never_occurs": (2, ("nurse", "smith"))}
    assert notes(listed, ["cook", "smith", "nurse"]) == {}
    report = checked(listed, ["cook", "cook"])
    assert report.notes[0].text == "2 declared categories never occur: nurse, smith."
    assert report.to_json()["notes"][0]["stated"] == ["nurse", "smith"]


def test_long_lists_are_cut_on_the_page_and_whole_in_json():
    many = Categorical("job", tuple(f"j{i}" for i in range(100)))
    (note,) = checked(many, ["j0"]).notes
    assert note.text.endswith("j8 and 91 more.")
    assert len(note.stated) == 99


def test_labels_that_never_occur_and_words_that_are_written_as_others():
    labeled = Boolean("x", true="J", false="N")
    assert notes(labeled, ["J", "N"]) == {}
    assert notes(labeled, ["yes", "no", "N"]) == {"never_occurs": (1, ("J",)), "rewritten": (2, ())}
    assert notes(Boolean("x"), ["1", "0"])["rewritten"] == (2, ())
    assert notes(Boolean("x"), ["true", "false"]) == {}
    assert notes(Boolean("x"), ["True", "false"]) == {"rewritten": (1, ())}, "a text that == 'True' no longer finds"
    assert notes(Boolean("x"), [True, True]) == {"never_occurs": (1, ("false",))}


@pytest.mark.parametrize(
    ("column", "cells", "never"),
    [
        (Integer("x", 0, 9, missing=True, missing_values=("?", "-9")), ["1", "-9.0", ""], ("?",)),
        (Integer("x", 0, 9, missing=True, missing_values=("-9",)), [1, -9], ()),
        (Categorical("x", ("a",), missing=True, missing_values=("?", "99")), ["a", "99.0"], ("?",)),
        (Categorical("x", ("a",), missing=True, missing_values=("?",)), ["a", None], ("?",)),
        (
            Date("x", dt.date(2020, 1, 1), dt.date(2020, 12, 31), missing=True, missing_values=("none", "1900-01-01")),
            ["2020-05-05", "19000101"],
            ("none",),
        ),
        (Boolean("x", missing=True, missing_values=("n/a",)), ["true", "false", "n/a"], ()),
    ],
)
def test_missing_words_that_never_occur(column, cells, never):
    assert notes(column, cells).get("missing_word_never_occurs", (0, ()))[1] == never


DAYS = [dt.datetime(2020, 1, 1) + dt.timedelta(days=day) for day in range(40)]
MOMENTS = {"lower": dt.datetime(2020, 1, 1), "upper": dt.datetime(2020, 12, 31)}


@pytest.mark.parametrize("resolution", ["1h", "1d", "1mo"])
def test_days_that_are_stored_as_midnights_come_back_at_all_hours_and_are_named(resolution):
    """As pandas stores dates: births came back at 13:47:05, and nothing was said before the release."""
    column = Datetime("born", **MOMENTS, resolution=resolution)
    (note,) = checked(column, DAYS).notes
    assert (note.kind, note.count) == ("grid", 40)
    assert note.text.startswith('all its moments are at midnight, and drawn ones would not be: declare kind = "date"')
    assert notes(column, [day.isoformat(" ") for day in DAYS]) == {"grid": (40, ())}
    assert notes(column, [*DAYS, dt.datetime(2020, 3, 1, 0, 0, 1)]) == {}
    assert notes(column, DAYS[:19]) == {}, "so few may be by chance"
    assert notes(replace(column, resolution="1d", format="%Y-%m-%d"), DAYS) == {}, "written as days"


def test_midnights_are_those_of_the_zone():
    column = Datetime("born", **MOMENTS, resolution="1d", zone="Europe/Zurich")
    stored = pa.array([day - dt.timedelta(hours=1) for day in DAYS[1:]], pa.timestamp("us", "UTC"))
    assert notes(column, stored) == {"grid": (39, ())}
    assert notes(replace(column, zone="UTC"), stored) == {}


def test_categories_that_are_listed_as_texts_where_the_storage_has_numbers():
    """They come back as texts: a join with the table's own numbers finds nothing, or fails."""
    (note,) = checked(Categorical("school", ("1", "2")), [1, 2, 2]).notes
    assert note.text == (
        "3 of its cells are numbers in their storage, and come back as texts: list them in `values` without quotes."
    )
    for same in (
        checked(Categorical("school", (1, 2)), [1, 2, 2]),
        checked(Categorical("school", ("1", "2")), ["1", "2"]),
    ):
        assert same.notes == ()


def test_words_for_missing_are_named_between_quotes():
    (note,) = checked(Integer("x", 0, 9, missing=True, missing_values=(".",)), ["1", "2"]).notes
    assert note.text == '1 declared word for missing never occurs: ".".'


@pytest.mark.parametrize(
    ("column", "cells", "count", "said"),
    [
        (Categorical("x", ("a",), missing=True, missing_values=("?", "NA")), ["a", "?", "NA", "NA"], 2, '"NA" (2)'),
        (Categorical("x", ("a",), missing=True, missing_values=("?",)), ["a", "?", ""], 1, "an empty cell (1)"),
        (Categorical("x", ("a",), missing=True, missing_values=("?",)), ["a", None], 1, "an empty cell (1)"),
        (Categorical("x", ("a",), missing=True, missing_values=("", "?")), ["a", None, "?"], 1, '"?" (1)'),
        (Categorical("x", ("a",), missing=True, missing_values=("?",)), ["a", "?"], 0, ""),
        (Integer("x", 0, 9, missing=True, missing_values=("-9",)), ["1", "-9.0"], 1, "other notations of these (1)"),
        (Integer("x", 0, 9, missing=True, missing_values=("-9",)), [1, -9, None], 1, "an empty cell (1)"),
        (Integer("x", 0, 9, missing=True, missing_values=("-9",)), [1, None], 0, ""),
        (Integer("x", 0, 9, missing=True), ["1", ""], 0, ""),
    ],
)
def test_missing_values_that_come_back_in_another_spelling(column, cells, count, said):
    found = {note.kind: note for note in checked(column, cells).notes}
    assert ("missing_spellings" in found) == bool(count)
    if count:
        note = found["missing_spellings"]
        assert note.count == count
        assert note.text.startswith(f"missing values are spelled as {said}, and come back as ")


def test_cells_that_are_another_text_than_their_category():
    codes = Categorical("icd", ("250.10", "7"), missing=True)
    report = checked(codes, ["250.1", "007", "007", "7", "250.10"], values=True)
    (note,) = report.notes
    assert (note.kind, note.count, note.values) == ("rewritten", 3, (("007", 2), ("250.1", 1)))
    assert "in quotes" in note.text
    assert "007" not in str(checked(codes, ["250.1", "007", "7"]).to_json())
    assert notes(Categorical("n", (7,)), ["7.0"]) == {"rewritten": (1, ())}
    assert notes(Categorical("n", (7,)), [7.0]) == {}
    assert notes(Categorical("n", (7.0,)), [7]) == {}
    assert notes(Categorical("n", ("007",)), [7]) == {"rewritten": (1, ())}


@pytest.mark.parametrize(
    ("column", "cells", "count"),
    [
        (Integer("x", -9, 9), ["+5", "6.0", "-7", "8", "4e0"], 3),
        (Real("x", -9.0, 9.0), ["+5", "6.0", "-7.25", "8", "4e0", ".5"], 3),
        (Integer("x", -9, 9), [5, 6, -7], 0),
        (Real("x", -9.0, 9.0), [5.0, 1e-9], 0),
    ],
)
def test_numbers_that_are_not_in_plain_digits(column, cells, count):
    found = notes(column, cells)
    assert found.get("rewritten", (0, ()))[0] == count
    if count:
        (note,) = (note for note in checked(column, cells, values=True).notes if note.kind == "rewritten")
        assert "plain digits" in note.text
        assert ("no decimals" in note.text) == isinstance(column, Integer)
        assert ("+5", 1) in note.values


def test_cells_that_come_back_as_a_word_for_their_number() -> None:
    """90 comes back as 90+, n.d. as <0.5, and a cell that holds the word itself as it stands."""
    (note,) = checked(Integer("age", 0, 90, words=(("90+", 90),)), ["90+", "90", "90.0", "7"], values=True).notes
    assert (note.kind, note.count, note.values) == ("rewritten", 2, (("90", 1), ("90.0", 1)))
    assert "come back as the first word" in note.text
    crp = Real("crp", 0.0, 50.0, decimals=1, words=(("<0.5", 0.2), ("n.d.", 0.2)))
    assert notes(crp, ["<0.5", "n.d.", "N.D.", "0.2", "3.1"])["rewritten"][0] == 3
    assert "rewritten" not in notes(crp, ["<0.5", "0.3", "3.1"])


@pytest.mark.parametrize(
    ("column", "noted"),
    [
        (Real("pay", 0.0, 1000.0, bins=20), True),
        (Real("pay", 0.0, 1000.0, resolution=100.0), True),
        (Real("pay", 0.0, 1000.0, edges=(0.0, 500.0, 1000.0)), True),
        (Integer("pay", 0, 1000, bins=20), True),
        (Real("pay", 0.0, 1000.0), False),
        (Integer("pay", 0, 1000), False),
        (Real("pay", 0.0, 1000.0, bins=1), False),
        (Real("pay", 0.0, 1000.0, bins=500), False),
    ],
)
def test_numbers_that_lie_in_one_bin(column, noted):
    cells = [*np.arange(1, 41).tolist(), 600, 700, 800, 900]  # 40 of 44 below 50
    found = notes(column, cells)
    assert ("one_bin" in found) == noted
    if noted:
        assert found["one_bin"][0] == 40
        note = next(note for note in checked(column, cells).notes if note.kind == "one_bin")
        assert note.text.startswith("90.9% of pay lie in one of its")
    assert "one_bin" not in notes(column, [*range(40), *range(500, 600)])


def test_numbers_that_share_one_of_the_cells_that_wide_bounds_are_cut_into():
    numbers = np.random.default_rng(0).gamma(0.5, 0.001, 200).tolist()
    (note,) = (one for one in checked(Real("tiny", 0.0, 1.0), numbers).notes if one.kind == "one_bin")
    assert "cells that its bounds are cut into, from 0 to 0.0" in note.text
    assert "closer bounds" in note.text
    assert "one_bin" not in notes(Real("tiny", 0.0, 0.01), numbers)


def test_digits_that_drawn_numbers_would_not_have():
    cents = (np.random.default_rng(0).integers(100, 500_000, 200) / 100).tolist()
    (note,) = checked(Real("pay", 0.0, 5000.0), cents).notes
    assert note.kind == "grid"
    assert "at most 2 digits after the point, and many drawn ones would have fewer: write `decimals = 2`" in note.text
    assert notes(Real("pay", 0.0, 5000.0, decimals=2), cents) == {}
    assert notes(Real("pay", 0.0, 5000.0), np.random.default_rng(0).uniform(0, 5000, 200).tolist()) == {}


def test_a_bin_of_one_number_may_hold_most_records():
    assert notes(Real("pay", 0.0, 1000.0, bins=20, points=(0.0,)), [0.0] * 99 + [5.0]) == {}


def test_dates_that_would_also_be_read_with_day_and_month_exchanged():
    day_first = Date("d", dt.date(2020, 1, 1), dt.date(2021, 12, 31), format="%d.%m.%Y")
    assert "day_and_month" in notes(day_first, ["05.02.2020", "12.11.2021"])
    assert notes(day_first, ["05.02.2020", "13.11.2021"]) == {}
    assert notes(day_first, [dt.date(2020, 5, 2)]) == {}
    assert notes(Date("d", dt.date(2020, 1, 1), dt.date(2021, 12, 31)), ["2020-05-02"]) == {}
    clock = Datetime(
        "d",
        dt.datetime(2020, 1, 1),
        dt.datetime(2021, 1, 1),
        resolution="1d",
        format="%d/%m/%Y %H:%M",
        zone="Asia/Tokyo",
    )
    assert "day_and_month" in notes(clock, ["12/03/2020 00:30"])  # still the 11th in UTC
    assert notes(clock, ["13/03/2020 00:30"]) == {}  # still the 12th in UTC
    assert exchangeable("%m/%d/%Y")
    assert not exchangeable("%d %b %Y")


def test_the_remedy_for_numbers_that_no_bound_reaches_is_to_declare_codes():
    column = Integer("code", 0, 1000)
    (cells,) = (report := checked(column, [5, 2**53 + 2, 90071992547409935])).columns[0].irregular
    assert (cells.way, cells.count, cells.inexact) == (Placement.ABOVE, 2, 2)
    remedy = report.columns[0].remedy(cells)
    assert 'kind = "categorical"' in remedy
    assert '"identifier"' in remedy
    near = checked(column, [5, 2**53])
    assert near.columns[0].remedy(near.columns[0].irregular[0]) == "raise `upper`"
    words = ColumnWords.of(Integer("code", 0, 2**53 - 1))
    assert words.remedy(Placement.ABOVE) == remedy, "where nobody looked at the numbers"
    assert words.remedy(Placement.BELOW) == "lower `lower`"
    with pytest.raises(SchemaError, match='declare them as kind = "categorical"'):
        Integer("code", 0, 2**53 + 2)


@pytest.mark.parametrize("text_format", ["", "%d.%m.%Y %H:%M"])
def test_the_remedy_for_texts_with_an_offset_is_a_zone(text_format):
    column = Datetime(
        "at", dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), resolution="1d", format=text_format, missing=True
    )
    report = checked(column, ["2020-05-05T10:00:00+02:00", "2020-05-05T10:00:00Z"])
    (cells,) = report.columns[0].irregular
    assert (cells.way, cells.count, cells.seen.offsets) == (Placement.UNREADABLE, 2, 2)
    remedy = report.columns[0].remedy(cells)
    assert remedy.startswith("declare `zone`")
    assert "state the notation" not in remedy
    assert report.to_json()["columns"][0]["cells"][0]["remedy"] == remedy
    mixed = checked(column, ["2020-05-05T10:00:00+02:00", "whenever"])
    both = mixed.columns[0].remedy(mixed.columns[0].irregular[0])
    assert both.startswith("declare `zone`")
    assert "about 1 of them; for the others, state the notation in `format`" in both
    other = checked(column, ["whenever"])
    assert "zone" not in other.columns[0].remedy(other.columns[0].irregular[0])


def test_the_remedy_for_times_among_numbers_is_another_kind():
    report = checked(Integer("at", 0, 9, missing=True), ["20:05:00", "7:30", "3", "late"])
    (cells,) = report.columns[0].irregular
    assert (cells.way, cells.count, cells.seen.clocks) == (Placement.UNREADABLE, 3, 2)
    remedy = report.columns[0].remedy(cells)
    assert remedy.startswith("2 of them are times of day, or lengths of time: declare times of day as kind")
    assert "For the others, write numbers with a decimal point" in remedy
    alone = checked(Real("at", 0.0, 9.0, missing=True), ["20:05:00", "3.5"])
    assert "decimal point" not in alone.columns[0].remedy(alone.columns[0].irregular[0])
    whole = Datetime("at", dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 2), "1h", missing=True)
    dates = checked(whole, ["20:05:00", "7:30"])
    assert dates.columns[0].remedy(dates.columns[0].irregular[0]).startswith("they are times of day, or lengths of")
    other = checked(Real("at", 0.0, 9.0, missing=True), ["1:2", "20-05"])
    assert "times of day" not in other.columns[0].remedy(other.columns[0].irregular[0])


@pytest.mark.parametrize(
    ("text_format", "never", "other"),
    [
        (
            "%d/%m/%Y",
            ["31/02/2019", "00/05/2019", "29/02/2019", "00/00/0000", "45/01/2019"],
            ["05/31/2019", "31.02.2019"],
        ),
        ("%m/%d/%Y", ["02/31/2019"], ["31/02/2019"]),
        ("", ["2019-02-30", "0000-00-00"], ["31/02/2019", "unknown", "2019", ""]),
    ],
)
def test_impossible_dates_are_named_and_not_sent_to_another_format(text_format, never, other):
    column = Date("on", dt.date(2018, 1, 1), dt.date(2020, 12, 31), format=text_format, missing=True)
    assert impossible([*never, *other], column).tolist() == [True] * len(never) + [False] * len(other)
    report = checked(column, never)
    (cells,) = report.columns[0].irregular
    assert (cells.way, cells.count, cells.seen.impossible) == (Placement.UNREADABLE, len(never), len(never))
    remedy = report.columns[0].remedy(cells)
    assert remedy.startswith("they are written as declared, and such a day or time does not exist")
    assert "`format`" not in remedy
    mixed = checked(column, [*never, "whenever"])
    both = mixed.columns[0].remedy(mixed.columns[0].irregular[0])
    assert both.startswith(f"{len(never)} of them are written as declared")
    assert "For the others, state the notation in `format`" in both
    listed = Date("on", column.lower, column.upper, format=text_format, missing=True, missing_values=tuple(never))
    assert checked(listed, never).holds, "the remedy works"


def test_offsets_are_told_in_iso_and_in_the_stated_notation():
    assert states_offset("2020-05-05T10:00:00+0200")
    assert not states_offset("2020-05-05T10:00:00")
    assert states_offset("05.05.2020 10:00 +02:00", "%d.%m.%Y %H:%M")
    assert not states_offset("05.05.2020 10:00", "%d.%m.%Y %H:%M")


@pytest.mark.parametrize(
    ("digits", "cells", "count", "line"),
    [
        (0, ["00123", "12345"], 1, "write `digits = 5`."),
        (0, ["007", "7"], 1, "list them as texts in `values`, as categories."),
        (0, ["007", "12345"], 1, "write `digits = 3`."),
        (5, ["00123", "12345"], 0, ""),
        (5, ["123", "12345"], 1, "leave `digits` out."),
        (0, ["0", "39", "-5"], 0, ""),
        (0, [123], 0, ""),
    ],
)
def test_zeros_at_the_beginning_that_integers_lose(digits, cells, count, line):
    found = {note.kind: note for note in checked(Integer("x", 0, 99_999, digits=digits), cells, values=True).notes}
    assert ("rewritten" in found) == bool(count)
    if count:
        note = found["rewritten"]
        assert note.count == count == sum(seen for _, seen in note.values)
        assert note.text.endswith(line)


ISO_MOMENTS = [f"2020-05-05T10:{minute:02d}:00+02:00" for minute in range(3)]


@pytest.mark.parametrize(
    ("zone", "text_format", "cells", "count", "line"),
    [
        ("Europe/Zurich", "", ISO_MOMENTS, 3, 'write `format = "%Y-%m-%dT%H:%M:%S%:z"`.'),
        ("Europe/Zurich", "%Y-%m-%dT%H:%M:%S%z", ISO_MOMENTS, 3, 'write `format = "%Y-%m-%dT%H:%M:%S%:z"`.'),
        ("Europe/Zurich", "%Y-%m-%dT%H:%M:%S%:z", ISO_MOMENTS, 0, ""),
        ("", "", ["2020-05-05T10:00", "2020-05-05T10:30"], 2, 'write `format = "%Y-%m-%dT%H:%M"`.'),
        ("", "", ["2020-05-05 10:00:00"], 0, ""),
        ("UTC", "", [*ISO_MOMENTS, "2020-05-05 10:00:00+00:00"], 3, 'write `format = "%Y-%m-%dT%H:%M:%S%:z"`.'),
        (
            "UTC",
            "",
            [*ISO_MOMENTS, "2020-05-05T10:00Z"],
            4,
            'write `format = "%Y-%m-%dT%H:%M:%S%:z"`, as 3 of them are, and the others alike.',
        ),
        (
            "",
            "%d.%m.%Y %H:%M",
            ["5.5.2020 1:00", "15.05.2020 10:00"],
            1,
            "state theirs in `format`, or write all alike.",
        ),
        (
            "",
            "%d.%m.%Y %H:%M",
            ["5.5.2020 1:00", "6.5.2020 11:00", "15.05.2020 10:00", "15.12.2020 10:00"],
            2,
            'write `format = "%-d.%-m.%Y %-H:%M"`.',
        ),
        ("", "%d%b%Y:%H:%M", ["05MAY2020:10:00", "06MAY2020:10:00"], 2, "which no `format` changes."),  # of SAS
        ("", "%d%b%Y:%H:%M", ["05May2020:10:00"], 0, ""),
        ("", "", [dt.datetime(2020, 5, 5, 10)], 0, ""),
    ],
)
def test_moments_in_another_notation_than_they_come_back_in(zone, text_format, cells, count, line):
    ends = dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)
    column = Datetime("at", *ends, resolution="1d", format=text_format, zone=zone)
    found = {note.kind: note for note in checked(column, cells, values=True).notes}
    assert ("notation" in found) == bool(count)
    if count:
        note = found["notation"]
        assert note.count == count
        assert note.text.endswith(line)
        assert sum(seen for _, seen in note.values) == count


@pytest.mark.parametrize(
    ("zone", "text_format", "cells", "count"),
    [
        ("Europe/Zurich", "", [dt.datetime(2024, 3, 31, 2, 30), dt.datetime(2024, 3, 31, 3, 30)], 1),
        ("Europe/Zurich", "", ["2024-03-31 02:00:00", "2024-03-31 02:59:59", "2024-10-27 02:30:00"], 2),
        ("Europe/Zurich", "%d.%m.%Y %H:%M", ["31.03.2024 02:30", "31.03.2024 01:59", "31.03.2024 03:00"], 1),
        ("Europe/Zurich", "%d.%m.%Y %H:%M", [dt.datetime(2024, 3, 31, 2, 30)], 1),
        ("Europe/Zurich", "%Y-%m-%dT%H:%M:%S%:z", ["2024-03-31T02:30:00+00:00"], 0),
        ("Europe/Zurich", "%Y-%m-%dT%H:%M:%SZ", ["2024-03-31T02:30:00Z"], 0),
        ("UTC", "", [dt.datetime(2024, 3, 31, 2, 30)], 0),
        ("", "", [dt.datetime(2024, 3, 31, 2, 30)], 0),
    ],
)
def test_times_that_a_clock_skips_come_back_later(zone, text_format, cells, count):
    ends = dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31)
    column = Datetime("at", *ends, resolution="1d", format=text_format, zone=zone)
    found = [note for note in checked(column, cells, values=True).notes if note.kind == "rewritten"]
    assert [note.count for note in found] == [count] * (count > 0)
    for note in found:
        assert f"{count} of its cells are times that no clock of {zone} shows" in note.text
        assert sum(seen for _, seen in note.values) == count


def test_moments_with_the_offset_of_another_zone_are_named():
    ends = dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31)
    column = Datetime("at", *ends, resolution="1d", format="%Y-%m-%dT%H:%M:%S%:z", zone="Europe/Zurich")
    own, other = "2024-01-15T00:30:00+01:00", "2024-06-15T10:30:00-04:00"
    assert "offset" not in {note.kind for note in checked(column, [own, own]).notes}
    (note,) = (note for note in checked(column, [own, other, other]).notes if note.kind == "offset")
    assert note.count == 2
    assert "state another offset from UTC than Europe/Zurich has" in note.text


def test_the_texts_that_are_kept_do_not_grow_with_the_table():
    tally = TextTally()
    for number in range(3000):
        tally.add(f"t{number % 1500}", 2)
    assert tally.count == 6000
    assert tally.top[0] == ("t0", 4)
    assert "t1400" not in tally._texts


def test_what_dates_and_moments_leave_out_is_noted():
    ends = dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)
    moments = Datetime("at", *ends, resolution="1d")
    assert notes(moments, [dt.datetime(2020, 5, 5, 10, 0, 0, 250_000), dt.datetime(2020, 5, 5)])["left_out"][0] == 1
    assert notes(moments, ["2020-05-05 10:00:00", "2020-05-05 10:00:01"]) == {}
    assert notes(moments, ["2020-05-05 10:00:00.000"]).keys() == {"notation"}
    days = Date("on", dt.date(2020, 1, 1), dt.date(2021, 1, 1))
    assert notes(days, [dt.datetime(2020, 5, 5, 10), dt.datetime(2020, 5, 5)])["left_out"][0] == 1
    assert notes(days, ["2020-05-05", "2020-05-06"]) == {}
    assert notes(days, ["2020-05-05T00:00:00"]).keys() == {"notation"}
    spoken = Date("on", dt.date(2020, 1, 1), dt.date(2021, 1, 1), format="%d %b %Y")
    assert notes(spoken, ["15 Oct 2020"]) == {}
    assert notes(spoken, [dt.datetime(2020, 5, 5, 10)])["left_out"][0] == 1


@pytest.mark.parametrize(
    ("text_format", "cells", "left_out"),
    [
        ("%m/%d/%Y 12:00:00 AM", ["4/14/2020 12:00:00 AM", "10/15/2020 12:00:00 AM"], 0),
        ("%m/%d/%Y %I:%M %p", ["4/14/2020 12:00 AM", "4/14/2020 12:30 AM", "4/14/2020 2:35 PM"], 2),
        ("%d.%m.%Y %H:%M", ["14.04.2020 00:00", "14.4.2020 7:05"], 1),
    ],
)
def test_midnight_is_no_time_of_day_that_a_date_leaves_out(text_format: str, cells: list[str], left_out: int) -> None:
    days = Date("on", dt.date(2020, 1, 1), dt.date(2021, 1, 1), format=text_format)
    assert notes(days, cells).get("left_out", (0,))[0] == left_out


def test_a_table_without_rows_has_no_notes(tmp_path: Path):
    (tmp_path / "t.csv").write_text("job\n")
    assert check_without_privacy(tmp_path / "t.csv", Schema((Categorical("job", ("a",)),))).notes == ()


def test_whole_numbers_with_zeros_after_the_point_are_kept_by_a_step_and_decimals():
    """As pandas writes whole numbers where some are missing; texts as categories were the one advice."""

    def said(column, cells):
        return " ".join(note.text for note in checked(column, cells).notes)

    pointed = said(Integer("age", 0, 99, missing=True), ["5.0", "17.0", "", "98.0"])
    advice = 'declare kind = "real" with step = 1 and decimals = 1, or list them as texts'
    assert advice in pointed
    kept = Real("age", 0.0, 99.0, step=1, decimals=1, missing=True)
    assert said(kept, ["5.0", "17.0", "", "98.0"]) == ""
    for mixed in (["5.0", "17"], ["5.0", "17.00"], ["5.0", "+17"]):
        assert advice not in said(Integer("age", 0, 99), mixed)


def test_limits_of_detection_are_told_from_words_for_missing():
    (crp,) = checked(Real("crp", 0, 500, missing=True), ["3.1", "<0.5", "< 0.5", ">=200", "n.d."]).columns
    (cells,) = crp.found
    assert cells.seen.limits == {"<0.5": 1, "< 0.5": 1, ">=200": 1}
    assert crp.remedy(cells).startswith("3 of them are limits, as <5 and 90+ are. Without them the mean of the column")
    assert 'as in `words = { "<0.5" = 0.2, "< 0.5" = 0.2, ">=200" = 200 }`' in crp.remedy(cells)
    assert "For the others, write numbers with a decimal point" in crp.remedy(cells)
    (all_of_them,) = checked(Real("crp", 0, 500, missing=True), ["3.1", "<0.5"]).columns
    assert all_of_them.remedy(all_of_them.found[0]).startswith("they are limits")


def test_an_advised_word_has_the_bounds_that_it_needs():
    """Of children with `8 und mehr` the bounds were 0 and 7, and the line to paste was refused."""
    for upper, said in ((7, 'words = { "8 und mehr" = 8 }` with `upper = 8`'), (8, 'words = { "8 und mehr" = 8 }`')):
        (children,) = checked(Integer("children", 0, upper, missing=True), ["2", "8 und mehr"]).columns
        assert children.remedy(children.found[0]).endswith(said)
    (crp,) = checked(Real("crp", 1.0, 100.0, missing=True), ["3.1", "<0.5", ">200"]).columns
    said = crp.remedy(crp.found[0])
    assert "` with `lower = 0.2` and `upper = " in said
    words = {"<0.5": 0.2, ">200": float(said.rsplit(" = ", 1)[1].rstrip("`"))}
    Real("crp", 0.2, words[">200"], words=tuple(words.items()))  # not refused


@pytest.mark.parametrize(
    ("cells", "count"),
    [
        (["1,5", "12,50-", "(1.012,50)", "\u22120,5", "\u2013 3", "7 \u2212"], 5),
        (["1,5", "(12,50 \u20ac)", "12,50- \u20ac"], 2),
        (["1,5", "12,-", "(a)", "()", "-", "(", "4-5", "2020-"], 1),
    ],
)
def test_negative_numbers_of_ledgers_are_called_that(cells: list[str], count: int):
    """They were called no numbers, with the advice to list words that mean missing."""
    unit = "\u20ac" if any("\u20ac" in cell for cell in cells) else ""
    column = Real("balance", -9999.0, 9999.0, missing=True, decimal_char=",", unit=unit)
    (balance,) = checked(column, cells).columns
    (found,) = balance.found
    assert found.seen.negatives == count
    assert "negative numbers as ledgers and statistical offices write them" in balance.remedy(found)


def test_words_for_missing_that_many_tables_have_are_called_that():
    """Of a table of numbers 41% of the cells were NA, and a decimal point was advised."""
    (wage,) = checked(Real("wage", 0, 9, missing=True), ["3.1", "NA", "NA"]).columns
    listed = "list theirs in `missing_values`, as it is written"
    assert wage.remedy(wage.found[0]) == f"they are words that many tables have for missing, such as NA: {listed}"
    (some,) = checked(Real("crp", 0, 500, missing=True), ["3.1", "NA", "<0.5", "n.d."]).columns
    said = some.remedy(some.found[0])
    assert said.startswith("1 of them are words that many tables have for missing")
    assert "Of the others: 1 of them are limits, as <5 and 90+ are" in said
    (kind,) = checked(Categorical("country", ("CH", "DE"), missing=True), ["CH", "NA"]).columns
    assert "many tables" not in kind.remedy(kind.found[0]), "Namibia"


def test_percent_signs_are_named_where_numbers_are_not_read():
    (share,) = checked(Integer("share", 0, 100, missing=True), ["3", "91 %"]).columns
    assert 'give `unit = "%"`' in share.remedy(share.found[0])


def test_codes_are_named_where_whole_numbers_are_not_read() -> None:
    (commune,) = checked(Integer("commune", 0, 99_999, missing=True), ["75056", "2A004"]).columns
    assert commune.remedy(commune.found[0]).startswith('they look like codes, as 2A does: declare kind = "categorical"')
    (income,) = checked(Real("income", 0, 99_999, missing=True), ["75056", "2A004"]).columns
    assert "codes" not in income.remedy(income.found[0])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["01", "2A", "2B", "95"], 'they look like codes, as 2A does: declare kind = "categorical" and list all codes'),
        (["01", "A12", "x", "95"], "1 of them look like codes, as 2A does: declare kind"),
        (["01", "2A", "NA"], "1 of them are words that many tables have for missing, such as NA: list theirs"),
        (["01", "2A", "NA"], "Of the others: they look like codes, as 2A does"),
        (["1", "5 kg", "7kg"], "they have the sign of a unit"),
        (["1", "1,5"], "they have a decimal comma"),
        (["1", "<5"], "they are limits"),
        (["1", "about 5", "five"], "declare codes such as 2A004 as kind = "),
    ],
)
def test_letters_beside_digits_are_told_from_units_limits_and_words(cells, said):
    (column,) = checked(Integer("dep", 0, 95, missing=True), cells).columns
    assert said in column.remedy(column.found[0])


def test_a_release_advises_to_declare_codes_as_categories():
    words = ColumnWords.of(Integer("dep", 0, 95, missing=True))
    assert 'declare codes such as 2A004 as kind = "categorical"' in words.remedy(Placement.UNREADABLE)
    assert "codes" not in ColumnWords.of(Real("x", 0, 95, missing=True)).remedy(Placement.UNREADABLE)
    with pytest.raises(UnplacedValue, match='or kind = "categorical" where it holds codes such as 2A'):
        Integer("dep", 0, 95).encode(pa.array(["2A"]))


@pytest.mark.parametrize(
    ("sign", "cells", "said"),
    [
        ("", ["1,5", "0,25", "7"], 'they have a decimal comma: give `decimal_char = ","`'),
        ("", ["1,234.5", "1,234", "7"], 'they have separators of thousands: give `decimal_char = "."`'),
        ("", ["1,234", "7,500"], 'they have commas: give `decimal_char = ","` if these are decimal ones, "." if they'),
        (",", ["1.5", "0.25", "7"], "they have a decimal point: leave `decimal_char` out"),
        (".", ["1,5", "0,25", "7"], 'they have a decimal comma: give `decimal_char = ","`'),
        ("", ["1,5", "x"], "1 of them have a decimal comma"),
        (",", ["x"], "write numbers with a decimal comma at most, with no other sign than that of `unit`"),
    ],
)
def test_another_decimal_sign_is_proposed_where_it_reads_what_is_not_read(
    sign: str, cells: list[str], said: str
) -> None:
    (column,) = checked(Real("x", 0, 10_000, missing=True, decimal_char=sign), cells).columns
    assert said in column.remedy(column.found[0])


def test_separators_of_thousands_are_said_to_be_left_out() -> None:
    report = checked(Real("x", 0, 10_000, decimal_char=","), ["1.234,5", "12,25", "3"])
    (note,) = [one for one in report.notes if one.kind == "rewritten"]
    assert note.count == 1
    assert "no separators of thousands" in note.text


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["3.107", "69.780"] * 15 + ["987", "0"], True),
        (["3.107", "69.780"] * 15 + ["0"], False),  # numbers with three decimals, as all of them are written
        (["3.107", "69.780"] * 15 + ["987", "2.5"], False),
        (["3.107", "69.780"] * 15 + ["987", "0.125"], False),
        (["3.107", "69.780"] * 15 + ["987", "1500"], False),
        (["3.107", "69.780", "987"], False),
    ],
)
@pytest.mark.parametrize("column", [Real("people", 0, 50, missing=True), Integer("people", 0, 50, missing=True)])
def test_points_that_may_separate_thousands_are_named(column: Real | Integer, cells: list[str], said: bool) -> None:
    texts = [note.text for note in checked(column, cells).notes]
    assert any("as where points separate thousands" in text for text in texts) is said
    assert not (said and any("`decimals = 3`" in text for text in texts))
    read = checked(replace(column, decimal_char=",", upper=100_000), cells).notes
    assert not any("as where points separate thousands" in note.text for note in read)


def test_integers_whose_points_may_part_thousands_are_asked_about() -> None:
    proposed = 'give `decimal_char = ","` if their points part thousands. Else give a finer `step`'
    for cells, sign, is_proposed in (
        (["1.234", "12.500", "7"], "", True),
        (["1.234", "12.5", "7"], "", False),
        (["1,5", "2,25", "7"], ",", False),
    ):
        (column,) = checked(Integer("x", 0, 10_000, decimal_char=sign), cells).columns
        assert (proposed in column.remedy(column.found[0])) == is_proposed


@pytest.mark.parametrize(
    ("values", "cells", "said"),
    [
        (
            (1, 1.5),
            ["1,5", "1"],
            "they are listed numbers in another notation: list these as texts, as the table writes",
        ),
        ((500, 1000), ["1.000", "500"], 'the table writes them ("1,5" or "1.000")'),
        ((500, 1000), ["1,000", "500"], '("1,000")'),
        ((1, 1.5), ["1,5", "x"], "1 of them are listed numbers in another notation: list these as texts, as the table"),
        (
            (1, 1.5),
            ["1,5", "x"],
            '("1,5" or "1.000"). For the others, add them to `values`, declare `other = true`, or',
        ),
        ((1, 1.5), ["2,5", "1"], "add "),
        (("1", "x"), ["1,5", "1"], "add "),
    ],
)
@pytest.mark.parametrize("other", [False, True])
def test_listed_numbers_in_another_notation_are_told_from_other_texts(values, cells, said, other):
    report = checked(Categorical("x", values, other=other), cells)
    (column,) = report.columns
    (found,) = column.irregular
    assert said in column.remedy(found)
    assert found.way is (Placement.OTHER if other else Placement.UNREADABLE)


def test_a_cell_that_is_a_listed_number_by_its_point_alone_is_said_to_come_back_as_another_text():
    assert notes(Categorical("x", (1, 2)), ["1.000", "2"])["rewritten"] == (1, ())
