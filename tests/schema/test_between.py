"""Days and seconds between two dates: computed cell by cell, and what can't be computed is not taken for a number."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Real, Schema, SchemaError
from counterfoil.schema.between import CELLS, Between
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.placement import Placement, placements_of

DATES = """
[columns.admitted]
kind = "date"
lower = 2019-01-01
upper = 2022-12-31
format = "%d.%m.%Y"
missing = true
missing_values = ["?", "31.12.9999"]
"""
STAY = """
[columns.stay]
kind = "integer"
between = ["admitted", "discharged"]
lower = 0
upper = 60
missing = true
missing_values = ["still in", "30.12.9999"]
"""
DISCHARGED = """
[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + stay"
format = "%d.%m.%Y"
"""
MOMENTS = """
[columns.pickup]
kind = "datetime"
lower = 2024-01-01T00:00:00
upper = 2024-03-31T23:59:59
resolution = "1d"
[columns.ride]
kind = "integer"
between = ["pickup", "dropoff"]
lower = 0
upper = 7200
missing = true
[[derived]]
name = "dropoff"
kind = "datetime"
expression = "pickup + ride"
"""
MINUTES = (
    MOMENTS.replace('resolution = "1d"', 'resolution = "1d"\nformat = "%d.%m.%Y %H:%M"').replace(
        "upper = 7200", "upper = 7200\nstep = 60"
    )
    + 'format = "%d.%m.%Y %H:%M"\n'
)
WAITS = (
    DATES
    + """
[columns.wait]
kind = "integer"
between = ["admitted", "operated"]
lower = 0
upper = 30
[columns.rest]
kind = "integer"
between = ["operated", "discharged"]
lower = 0
upper = 30
[[derived]]
name = "operated"
kind = "date"
expression = "admitted + wait"
[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + wait + rest"
"""
)


def between(text: str, name: str) -> Between:
    return Schema.from_toml(text).between[name]


STAYS = between(DATES + STAY + DISCHARGED, "stay")
CELLS_OF_DATES = st.sampled_from(
    ["", None, "?", "31.12.9999", "30.12.9999", "still in", "n/a", "12", "2020-01-05", "01.01.2019", "31.12.2018"]
) | st.dates(date(2018, 6, 1), date(2023, 6, 1)).map(lambda day: day.strftime("%d.%m.%Y"))


def day_of(text: str | None) -> date | None:
    try:
        return datetime.strptime(text or "", "%d.%m.%Y").replace(tzinfo=UTC).date()
    except ValueError:
        return None


def expected(first: str | None, last: str | None) -> str | None:
    """The cell as the docstring says, from the two texts alone; of two that are no dates the later one is said."""
    one, other = day_of(first), day_of(last)
    found = None if one is None or other is None else str((other - one).days)
    for name, text, declared in (("admitted", first, ("?", "31.12.9999")), ("discharged", last, ())):
        if text in ("still in", "30.12.9999"):
            found = text
        elif text in declared:
            found = None
        elif text and day_of(text) is None:
            found = f"{name} = {text}"
    return found


@given(st.lists(st.tuples(CELLS_OF_DATES, CELLS_OF_DATES), max_size=12))
def test_each_cell_follows_from_the_two_of_its_row_alone(rows: list[tuple[str | None, str | None]]) -> None:
    first, last = (pa.array([row[i] for row in rows], pa.string()) for i in (0, 1))
    found = STAYS.cells(first, last)
    assert found.type == CELLS
    assert found.to_pylist() == [expected(*row) for row in rows]
    mixed = STAYS.cells(MixedCells(first.to_pylist()), MixedCells(last.to_pylist()))
    assert mixed.to_pylist() == found.to_pylist()
    alone = [STAYS.cells(first[i : i + 1], last[i : i + 1]).to_pylist()[0] for i in range(len(rows))]
    assert alone == found.to_pylist()


def test_what_is_no_date_is_no_number_of_days_and_is_seen() -> None:
    """A cell such as "12" under dates would otherwise be a stay of 12 days."""
    first = pa.array(["01.01.2020"] * 6)
    last = pa.array(["12", "05.01.2020", "", "still in", "01.01.2021", "31.12.2019"])
    cells = STAYS.cells(first, last)
    assert placements_of(STAYS.column, cells).tolist() == [
        Placement.UNREADABLE,
        Placement.DECLARED,
        Placement.MISSING,
        Placement.MISSING,
        Placement.ABOVE,
        Placement.BELOW,
    ]
    assert STAYS.column.encode(cells).tolist() == [61, 4, 61, 61, 60, 0]


def test_a_word_that_is_a_date_means_missing_in_any_storage() -> None:
    """A table of dates has no texts to compare: the word would otherwise be a stay of 8,000 years, and count as 60."""
    first, last = [date(2020, 1, 1)] * 3, [date(2020, 1, 5), date(9999, 12, 30), None]
    for kind in (pa.date32(), pa.date64(), pa.timestamp("us"), pa.timestamp("s")):
        cells = STAYS.cells(pa.array(first, pa.date32()).cast(kind), pa.array(last, pa.date32()).cast(kind))
        assert cells.to_pylist() == ["4", "30.12.9999", None]
    moments = [None if day is None else datetime(day.year, day.month, day.day) for day in last]
    assert STAYS.cells(MixedCells(first), MixedCells(moments)).to_pylist() == ["4", "30.12.9999", None]


def test_an_object_that_is_no_date_is_seen() -> None:
    cells = STAYS.cells(MixedCells(["01.01.2020"] * 3), MixedCells([object(), "05.01.2020", None]))
    assert placements_of(STAYS.column, cells).tolist() == [
        Placement.UNREADABLE,
        Placement.DECLARED,
        Placement.MISSING,
    ]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-100, 10**5)), min_size=1, max_size=8))
def test_stored_moments_are_subtracted_in_seconds(rows: list[tuple[int, int]]) -> None:
    rides = between(MOMENTS, "ride")
    start = datetime(2024, 1, 1)
    first = [start + timedelta(seconds=one) for one, _ in rows]
    last = [start + timedelta(seconds=one + more) for one, more in rows]
    expected = [str(more) for _, more in rows]
    for kind in (pa.timestamp("us"), pa.timestamp("s"), pa.timestamp("ns")):
        assert rides.cells(pa.array(first, kind), pa.array(last, kind)).to_pylist() == expected
    texts = [pa.array([moment.isoformat(" ") for moment in moments]) for moments in (first, last)]
    assert rides.cells(*texts).to_pylist() == expected


def test_a_row_gets_the_later_date_from_the_drawn_one() -> None:
    schema = Schema.from_toml(DATES + STAY + DISCHARGED)
    [derived] = schema.derived
    table = pa.table(
        {
            "admitted": pa.array([date(2020, 2, 28), None, date(2020, 2, 28)]),
            "stay": pa.array([2, 3, None], pa.int64()),
        }
    )
    values = derived.compute(table, {column.name: column for column in schema.synthesized})
    assert values.to_pylist() == [date(2020, 3, 1), None, None]
    assert derived.written(values).to_pylist() == ["01.03.2020", None, None]


def test_moments_are_derived_in_whole_seconds_and_beyond_all_years_there_are_none() -> None:
    far = '[[derived]]\nname = "far"\nkind = "datetime"\nexpression = "pickup + ride * 100000000"\n'
    schema = Schema.from_toml(MOMENTS + far)
    derived = schema.derived[-1]
    table = pa.table({"pickup": pa.array([datetime(2024, 1, 1), datetime(2024, 1, 1)]), "ride": pa.array([1, 7200])})
    values = derived.compute(table, {column.name: column for column in schema.synthesized})
    assert values.to_pylist() == [datetime(2027, 3, 3, 9, 46, 40), None]
    assert derived.written(values).to_pylist() == ["2027-03-03 09:46:40", None]


@pytest.mark.parametrize("text_format", ["", "%d.%m.%Y %H:%M:%S %z", "%Y-%m-%dT%H:%M:%SZ"])
def test_seconds_are_elapsed_ones_where_clocks_are_put_back(text_format: str) -> None:
    """From 0:30 to 3:30 four hours pass in the night in which an hour comes twice."""
    zone = 'zone = "Europe/Zurich"\n'
    fields = f'{zone}format = "{text_format}"\n' if text_format else zone
    schema = Schema.from_toml(
        MOMENTS.replace("2024-03-31T23:59:59", "2024-12-31T23:59:59")
        .replace("upper = 7200", "upper = 20000")
        .replace('resolution = "1d"\n', f'resolution = "1d"\n{fields}')
        + fields
    )
    start = datetime(2024, 10, 26, 22, 30, tzinfo=UTC)
    stored = [pa.array([start + timedelta(seconds=more)], pa.timestamp("us", "UTC")) for more in (0, 14_400)]
    [rides], [derived] = schema.between.values(), schema.derived
    assert rides.cells(*stored).to_pylist() == ["14400"]
    table = pa.table({"pickup": stored[0].cast(pa.timestamp("us", "Europe/Zurich")), "ride": [14_400]})
    values = derived.compute(table, {column.name: column for column in schema.synthesized})
    assert values.type == pa.timestamp("us", "Europe/Zurich")
    assert values.to_pylist() == [start + timedelta(hours=4)]
    [text] = derived.written(values).to_pylist()
    notations = ("2024-10-27 03:30:00+01:00", "27.10.2024 03:30:00 +0100", "2024-10-27T02:30:00Z")
    assert text in notations
    written = [schema["pickup"].written(table.column("pickup")), pa.array([text])]
    assert rides.cells(*written).to_pylist() == ["14400"]
    assert Schema.from_toml(schema.to_toml()) == schema


def test_several_dates_follow_one_another() -> None:
    rests = between(WAITS, "rest")
    assert rests.cells(pa.array(["2020-01-05"]), pa.array(["2020-01-12"])).to_pylist() == ["7"]
    forgotten = WAITS.replace("admitted + wait + rest", "admitted + rest")
    with pytest.raises(SchemaError, match=r'gives another value.*expression = "admitted \+ wait \+ rest"'):
        Schema.from_toml(forgotten)


@pytest.mark.parametrize("names", [("from", "to", "is"), ("µ", "x y", "ﬁn")])
def test_the_advice_can_be_pasted_whatever_the_names_are(names: tuple[str, str, str]) -> None:
    first, last, length = names
    text = f'[columns."{first}"]\nkind = "date"\nlower = 2020-01-01\nupper = 2020-12-31\n'
    text += f'[columns."{length}"]\nkind = "integer"\nlower = 0\nupper = 9\nbetween = ["{first}", "{last}"]\n'
    with pytest.raises(SchemaError) as found:
        Schema.from_toml(text)
    expression = str(found.value).partition("expression = ")[2].removesuffix(".")
    text += f'[[derived]]\nname = "{last}"\nkind = "date"\nexpression = {expression}\n'
    assert Schema.from_toml(text).between[length].inputs == (first, last)


def test_the_schema_is_read_back_from_what_it_writes() -> None:
    for text in (DATES + STAY + DISCHARGED, MOMENTS, MINUTES, WAITS):
        schema = Schema.from_toml(text)
        assert Schema.from_toml(schema.to_toml()) == schema
        assert np.all([one.column.between == one.inputs for one in schema.between.values()])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DATES + STAY, "found 'discharged'. Declare 'discharged' as a `\\[\\[derived\\]\\]` column with the kind of"),
        (DATES + STAY.replace("discharged", "dischargd") + DISCHARGED, "'dischargd'. Did you mean 'discharged'"),
        (
            DATES + STAY + DISCHARGED.replace("admitted + stay", "admitted + 3"),
            "must name a column that is derived again",
        ),
        (DATES + STAY.replace('"admitted", ', ""), "`between` must be two names of columns"),
        (DATES + STAY.replace("discharged", "admitted"), "must name two columns, the lesser one first"),
        (
            DATES + STAY.replace('["admitted"', '["stay"') + DISCHARGED,
            "must name two dates, two datetimes or two columns of numbers; found 'stay'",
        ),
        (
            DATES + MOMENTS.replace('"pickup", ', '"admitted", '),
            "two datetimes or two columns of numbers; found 'admitted' \\(date\\) and",
        ),
        (
            DATES + STAY + DISCHARGED.replace("admitted + stay", "admitted - stay"),
            "what 'discharged' is derived by, `admitted - stay`, gives another value. Declare 'discharged' as a "
            "`\\[\\[derived\\]\\]` column with the kind of 'admitted' and expression = \"admitted \\+ stay\"",
        ),
        (DATES + STAY + DISCHARGED.replace("admitted + stay", "admitted + 2 * stay"), "gives another value"),
        (
            DATES + STAY.replace('"admitted", "discharged"', '"discharged", "admitted"') + DISCHARGED,
            "from the lesser one, 'discharged', to 'admitted'.*expression = \"admitted - stay\"",
        ),
        (
            DATES + STAY + DATES.replace("columns.admitted", "columns.discharged"),
            "Declare 'discharged', in place of its own table, as a",
        ),
        (
            MINUTES.replace("step = 60", ""),
            "'pickup' and 'dropoff' are written without seconds.*declare `step = 60`",
        ),
        (MINUTES.replace("lower = 0", "lower = -30").replace("7200", "7170"), "without seconds.*on that grid"),
        (DATES + STAY + DISCHARGED.replace("%d.%m.%Y", "%m.%Y"), "must tell all values apart"),
        (
            MOMENTS.replace('resolution = "1d"', 'resolution = "1d"\nzone = "Europe/Zurich"'),
            "not a datetime. State its `zone`",
        ),
        (MOMENTS + 'zone = "Mars/Olympus"\n', "`zone` must be a name such as"),
        (MOMENTS + 'format = "%d.%m.%Y %H:%M %z"\n', "must be one without an offset"),
    ],
)
def test_mistakes_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


PRICES = """
decimal_char = ","
[columns.low]
kind = "real"
lower = -1000
upper = 1000
decimals = 2
missing = true
missing_values = ["-"]
[columns.spread]
kind = "real"
between = ["low", "high"]
lower = 0
upper = 500
decimals = 2
missing = true
[[derived]]
name = "high"
kind = "real"
expression = "low + spread"
decimal_char = ","
"""
YEARS = """
[columns.began]
kind = "integer"
lower = 1900
upper = 2030
[columns.took]
kind = "integer"
between = ["began", "ended"]
lower = 0
upper = 50
missing = true
[[derived]]
name = "ended"
kind = "integer"
expression = "began + took"
"""


@given(st.lists(st.tuples(st.integers(-(10**5), 10**5), st.integers(0, 50_000)), min_size=1, max_size=9))
def test_numbers_are_subtracted_without_the_errors_of_floating_point(rows: list[tuple[int, int]]) -> None:
    """In hundredths: 12,30 and 10,10 lie 2,2 apart, and not 2.2000000000000011."""
    spread = between(PRICES, "spread")
    assert isinstance(spread.column, Real)
    texts = [[f"{number / 100:.2f}".replace(".", ",") for number in side] for side in zip(*rows, strict=True)]
    last = [f"{(one + more) / 100:.2f}".replace(".", ",") for one, more in rows]
    cells = spread.cells(pa.array(texts[0]), pa.array(last))
    assert spread.column.numbers(cells).tolist() == [more / 100 for _, more in rows]
    assert set(placements_of(spread.column, cells).tolist()) == {Placement.DECLARED}


@pytest.mark.parametrize("rows", list(permutations([(0.1 + 0.2, 0.3), (0.5, 0.5), (0.0, -0.0)])))
def test_no_row_decides_the_sign_of_zero_in_others(rows: list[tuple[float, float]]) -> None:
    """The difference of the first rounds to -0.0, at which a function of a user's own, 1 / spread, turns around."""
    spread = between(PRICES, "spread")
    first, last = (pa.array([row[i] for row in rows]) for i in (0, 1))
    alone = [spread.cells(first[i : i + 1], last[i : i + 1]).to_pylist()[0] for i in range(len(rows))]
    assert spread.cells(first, last).to_pylist() == alone
    assert set(alone) == {"0,0"}


def test_what_is_no_number_has_no_difference_and_whole_numbers_have_whole_ones() -> None:
    spread, took = between(PRICES, "spread"), between(YEARS, "took")
    first, last = ["-", "inf", "1,5", "1,5", ""], ["2,5", "inf", "x", "4", "3"]
    cells = spread.cells(pa.array(first), pa.array(last))
    assert cells.to_pylist() == [None, "high = inf", "high = x", "2,5", None]
    assert took.cells(pa.array([1990, 1999, None]), pa.array([1995, 1999, 1999])).to_pylist() == ["5", "0", None]


def test_short_floats_have_the_digits_that_they_are_written_with() -> None:
    """Those of a file of 32 bits lay between the points of the grid, all of them."""
    spread = between(PRICES, "spread")
    first, last = ([12.3, 100.1, -0.5], [14.5, 100.2, 0.25])
    for kind in (pa.float32(), pa.float64()):
        cells = spread.cells(pa.array(first, kind), pa.array(last, pa.float32()))
        assert spread.column.numbers(cells).tolist() == [2.2, 0.1, 0.75]
        assert set(placements_of(spread.column, cells).tolist()) == {Placement.DECLARED}


def test_fractions_between_whole_numbers_are_seen() -> None:
    took = between(YEARS, "took")
    cells = took.cells(pa.array([1990.0, 1990.5]), pa.array([1995.0, 1995.0]))
    assert cells.to_pylist() == ["5", "4.5"]
    assert placements_of(took.column, cells).tolist() == [Placement.DECLARED, Placement.MOVED]


WHOLE_SPREAD = PRICES.replace(
    'kind = "real"\nbetween = ["low", "high"]\nlower = 0\nupper = 500\ndecimals = 2',
    'kind = "integer"\nbetween = ["low", "high"]\nlower = 0\nupper = 500',
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WHOLE_SPREAD, "numbers with fractions lie between 'low' and 'high': declare it with kind = \"real\""),
        (YEARS.replace("began + took", "began * took"), "gives another value"),
        (
            YEARS.replace('["began"', '["flag"') + '[columns.flag]\nkind = "boolean"\n',
            "'flag' is declared as 'boolean'",
        ),
    ],
)
def test_mistakes_about_numbers_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(text)


def test_numbers_between_others_are_read_back_from_what_is_written() -> None:
    for text in (PRICES, YEARS):
        schema = Schema.from_toml(text)
        assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize(("lower", "upper"), [(0.1, 0.9), (2.5, 1000000.3), (-1.7, 7.7)])
def test_reals_are_given_back_whatever_their_bounds_are(lower: float, upper: float) -> None:
    """Sums of bounds such as .1 and .7 have errors of floating point, for which such schemas were refused."""
    text = (
        f'[columns.low]\nkind = "real"\nlower = {lower}\nupper = {upper}\nbins = 5\n'
        '[columns.width]\nkind = "real"\nlower = 0.1\nupper = 0.95\nbins = 5\nbetween = ["low", "high"]\n'
        '[[derived]]\nname = "high"\nkind = "real"\nexpression = "low + width"\n'
    )
    assert "width" in Schema.from_toml(text).between
    with pytest.raises(SchemaError, match="gives another value"):
        Schema.from_toml(text.replace("low + width", "low + width + 0.001"))
