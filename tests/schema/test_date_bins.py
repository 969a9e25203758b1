"""How dates are cut where nobody says how: like numbers, into a code for each or about a hundred bins."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.schema import Date, Datetime, Schema
from counterfoil.schema.errors import SchemaError

FIRST = date(1925, 1, 1)


def dates(days: int, **facts) -> Date:
    return Date("born", FIRST, FIRST + timedelta(days=days - 1), **facts)


@pytest.mark.parametrize(
    ("days", "resolution", "least", "most"),
    [
        (1, "", 1, 1),
        (1000, "", 1000, 1000),
        (1001, "calendar 14d", 70, 75),
        (4 * 365, "calendar 14d", 100, 110),
        (10 * 365, "calendar 1mo", 119, 123),
        (11 * 365, "calendar 2mo", 65, 70),
        (30 * 365, "calendar 3mo", 119, 123),
        (40 * 365, "calendar 6mo", 79, 83),
        (80 * 365, "calendar 1y", 79, 83),
        (124 * 365, "calendar 1y", 123, 127),
        (200 * 365, "calendar 2y", 99, 104),
        (600 * 365, "calendar 5y", 119, 124),
        (1200 * 365, "calendar 10y", 119, 123),
    ],
)
def test_many_days_get_about_a_hundred_calendar_bins(days, resolution, least, most):
    (column,) = Schema((dates(days),)).synthesized
    assert column.resolution == resolution
    assert least <= column.n_bins <= most
    assert column.n_bins == dates(days).n_bins
    assert column.spans.sum() == days
    again = Schema.from_toml(Schema((column,)).to_toml())
    assert again == Schema((column,)) == Schema((dates(days),))
    assert again.to_toml() == Schema((column,)).to_toml()


def test_the_bounds_are_bins_of_their_own_where_nobody_says_where_bins_are():
    column = Date("born", date(1999, 5, 6), date(2024, 12, 31))
    assert [column.labels[0], column.labels[1], column.labels[2]] == [
        "1999-05-06",
        "1999-05-07..1999-06-30",
        "1999-07-01..1999-09-30",
    ]
    assert column.labels[-2:] == ("2024-10-01..2024-12-30", "2024-12-31")
    late, early = date(2031, 1, 1), date(1900, 1, 1)
    assert column.encode(pa.array([early, late], pa.date32())).tolist() == [0, column.n_bins - 1]
    assert Date("born", date(1999, 5, 6), date(2024, 12, 31), resolution="3mo").labels[0] == "1999-05-06..1999-07-31"


def test_bins_follow_the_calendar():
    weeks = Date("d", date(2020, 1, 1), date(2022, 12, 31)).labels
    assert date.fromisoformat(weeks[2][:10]).weekday() == 0
    decades = Date("d", date(1011, 5, 5), date(2020, 12, 31)).labels
    assert decades[1:3] == ("1011-05-06..1019-12-31", "1020-01-01..1029-12-31")
    declared = Date("d", date(2020, 2, 1), date(2020, 12, 31), resolution="calendar 3mo")
    assert declared.labels == (
        "2020-02-01..2020-03-31",
        "2020-04-01..2020-06-30",
        "2020-07-01..2020-09-30",
        "2020-10-01..2020-12-31",
    )
    with pytest.raises(SchemaError, match="`resolution` must be a count"):
        Date("d", date(2020, 2, 1), date(2020, 12, 31), resolution="calendar 5mo")


def test_every_day_lies_in_its_bin():
    """By arithmetic on days alone, for bounds all over the calendar."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        first = int(rng.integers(1, date.max.toordinal() - 500_000))
        column = Date("d", date.fromordinal(first), date.fromordinal(first + int(10 ** rng.uniform(0, 5.6))))
        days = rng.integers(first, column.upper.toordinal() + 1, 300).tolist()
        codes = column.encode(pa.array([date.fromordinal(day) for day in days], pa.date32()))
        ends = [[date.fromisoformat(text).toordinal() for text in label.split("..")] for label in column.labels]
        assert all(ends[code][0] <= day <= ends[code][-1] for code, day in zip(codes.tolist(), days, strict=True))
        assert [end[0] for end in ends[1:]] == [end[-1] + 1 for end in ends[:-1]]
        assert column.n_bins <= 1000


def test_centuries_without_a_resolution_are_refused_with_what_to_write():
    """Until now 9999-12-31 made bins of ten years: all that anybody remembers lay in three of them."""
    with pytest.raises(SchemaError, match=r"too many years for bins of ten.*`missing_values`.*`resolution`"):
        Date("until", date(2000, 1, 1), date(9999, 12, 31))
    declared = Date("until", date(2000, 1, 1), date(9999, 12, 31), resolution="10y")
    assert declared.n_bins == 800
    assert (
        Date("until", date(2000, 1, 1), date(2024, 12, 31), missing=True, missing_values=("9999-12-31",)).n_bins == 102
    )


RULED = """
[columns.born]
kind = "date"
lower = 1950-01-01
upper = 2010-12-31
[columns.x]
kind = "integer"
lower = 0
upper = 2
"""


@pytest.mark.parametrize(
    "said",
    [
        '[[rules]]\nif = "x == 0"\nthen = "born == \'2000-05-17\'"\n',
        "[[rules]]\nrequire = \"born in ['2000-05-17', '2001-01-01'] or x > 0\"\n",
        "[[rules]]\nrequire = \"born < '2000-05-17' or x != 0\"\n",
        '[[zeros]]\ncolumns = ["born", "x"]\nvalues = [["2000-05-17", 0]]\n',
        '[[zeros]]\ncolumns = ["x", "born"]\nvalues = [[0, "2000-05-17"]]\n',
    ],
)
def test_days_that_rules_and_zeros_name_are_bins_of_their_own(said):
    """They were lost among the days of their year, and zeros refused."""
    schema = Schema.from_toml(RULED + said)
    assert "2000-05-17" in schema["born"].labels
    assert not schema.row_rules
    assert Schema.from_toml(schema.to_toml()) == schema
    assert Schema.from_release(schema.to_toml()) == schema
    declared = Schema.from_toml(RULED.replace("upper = 2010-12-31", "upper = 2010-12-31\nresolution = '1mo'"))
    assert "2000-05-17" not in declared["born"].labels


def test_zeros_within_a_declared_bin_are_refused_with_what_to_write():
    declared = RULED.replace("upper = 2010-12-31", "upper = 2010-12-31\nresolution = '1mo'")
    zeros = '[[zeros]]\ncolumns = ["born", "x"]\nvalues = [["2000-05-17", 0]]\n'
    with pytest.raises(SchemaError, match="Add it to the column's `points`"):
        Schema.from_toml(declared + zeros)
    pointed = declared.replace("'1mo'", "'1mo'\npoints = [2000-05-17]")
    assert Schema.from_toml(pointed + zeros).structural_zeros["born", "x"].sum() == 1


def test_mistakes_in_rules_are_said_as_before():
    with pytest.raises(SchemaError, match="no synthesized column 'age'"):
        Schema.from_toml(RULED + "[[rules]]\nrequire = \"born < '2000-01-01' or age > 3\"\n")
    with pytest.raises(SchemaError, match="expected a text such as"):
        Schema.from_toml(RULED + '[[rules]]\nrequire = "born < 2000"\n')
    # A day beyond the bounds is the business of the rule alone.
    beyond = Schema.from_toml(RULED + "[[rules]]\nrequire = \"born < '2030-01-01'\"\n")
    assert beyond["born"].n_bins == Schema.from_toml(RULED)["born"].n_bins


def test_points_are_declared_days():
    column = Date("d", date(2020, 1, 1), date(2020, 12, 31), resolution="1mo", points=(date(2020, 1, 31),))
    assert column.labels[:3] == ("2020-01-01..2020-01-30", "2020-01-31", "2020-02-01..2020-02-29")
    schema = Schema((column,))
    assert "points = [2020-01-31]" in schema.to_toml()
    assert Schema.from_toml(schema.to_toml()) == schema
    with pytest.raises(SchemaError, match="`points` must lie between"):
        Date("d", date(2020, 1, 1), date(2020, 12, 31), points=(date(2021, 1, 1),))
    with pytest.raises(SchemaError, match="`points` must differ"):
        Date("d", date(2020, 1, 1), date(2020, 12, 31), points=(date(2020, 2, 1),) * 2)


def test_a_date_of_python_has_no_key_that_nobody_gave():
    """The default was written into `resolution`, beside which nothing else may be said."""
    assert replace(dates(5000), bins=50).n_bins == 50
    assert replace(dates(5000), edges=(FIRST,)).n_bins == 1
    assert replace(dates(5000), upper=FIRST + timedelta(days=30)).n_bins == 31


def test_what_is_declared_decides():
    assert dates(5000, resolution="1d").n_bins == 5000
    assert dates(5000, resolution="7d").n_bins == 715
    assert dates(5000, bins=3).n_bins == 3
    assert dates(5000, edges=(FIRST, date(1930, 1, 1))).n_bins == 2
    assert dates(5000, resolution="1d").spans.tolist() == [1.0] * 5000


TEXT = '[columns.born]\nkind = "date"\nlower = 1925-01-01\nupper = 2005-12-31\n'


def test_releases_of_versions_that_counted_each_day_are_read_as_they_were_meant():
    former = Schema.from_release(TEXT)
    assert former.domain.sizes == (29585,)
    assert former.to_toml() == TEXT
    assert former != Schema.from_toml(TEXT)
    assert Schema.from_toml(TEXT).domain.sizes == (83,)
    released = Schema.from_toml(TEXT).to_toml()
    assert 'resolution = "calendar 1y"' in released
    assert Schema.from_release(released).domain.sizes == (83,)
    assert Schema.from_release(released).to_toml() == released
    short = TEXT.replace("2005", "1926")
    assert Schema.from_release(short) == Schema.from_toml(short)


@pytest.mark.parametrize("edited", [False, True])
def test_the_schema_in_the_folder_of_a_release_keeps_its_meaning_until_it_is_edited(tmp_path, edited):
    path = tmp_path / "schema.toml"
    path.write_text(TEXT)
    (tmp_path / "receipt.json").write_text(f'{{"schema_sha256": "{hashlib.sha256(TEXT.encode()).hexdigest()}"}}')
    path.write_text(TEXT.replace("2005", "2006") if edited else TEXT)
    assert Schema.from_toml(path).domain.sizes == ((84,) if edited else (29585,))
    (tmp_path / "receipt.json").write_text("no receipt")
    assert Schema.from_toml(path).domain.sizes == ((84,) if edited else (83,))


def test_dates_have_places_and_no_sizes():
    moments = Datetime("at", datetime(2020, 1, 1), datetime(2020, 1, 2, 23, 59, 59), resolution="1h")
    assert not dates(10).has_zero
    assert not moments.has_zero
    assert np.array_equal(moments.spans, np.full(48, 3600.0))
