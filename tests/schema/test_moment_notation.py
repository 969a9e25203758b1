"""How dates and times are written: with a T or a space, with seconds or without, with an offset of either notation."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Date, Datetime, SchemaError
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.notation import format_of, moment_of, of_python, shape_of, states_utc, text_of

WRITTEN = {
    "2024-01-15T00:30:00+01:00": "%Y-%m-%dT%H:%M:%S%:z",
    "2024-01-15T00:30+01:00": "%Y-%m-%dT%H:%M%:z",
    "2024-01-15 00:30:00+0100": "%Y-%m-%d %H:%M:%S%z",
    "2024-01-14T23:30:00Z": "%Y-%m-%dT%H:%M:%SZ",
    "2024-01-14T23:30:00.000Z": "%Y-%m-%dT%H:%M:%S.%3fZ",
    "20240115T003000+0100": "%Y%m%dT%H%M%S%z",
    "2024-01-15 00:30:00.000000 +01:00": "%Y-%m-%d %H:%M:%S.%f %:z",
}
"""One instant, in each of these notations."""


def column(text_format: str, zone: str = "Europe/Zurich") -> Datetime:
    ends = datetime(2024, 1, 1), datetime(2024, 1, 31)
    return Datetime("t", *ends, resolution="1h", format=text_format, zone=zone)


@pytest.mark.parametrize(("text", "text_format"), WRITTEN.items())
def test_an_instant_comes_back_in_its_own_notation(text: str, text_format: str) -> None:
    assert format_of(text) == text_format
    stated = column(text_format)
    instant = datetime(2024, 1, 14, 23, 30, tzinfo=UTC).timestamp()
    assert stated.parsed(pa.array([text])).tolist() == [instant]
    drawn = pa.array([round(instant) * 1_000_000]).cast(stated.arrow_type)
    assert stated.written(drawn).to_pylist() == [text]
    codes = np.arange(stated.size)
    written = stated.written(stated.decode(codes, np.random.default_rng(0)))
    assert {shape_of(one) for one in written.to_pylist()} == {shape_of(text)}
    np.testing.assert_array_equal(stated.encode(written), codes)


def test_milliseconds_are_read_and_whole_seconds_are_written() -> None:
    stated = column("%Y-%m-%dT%H:%M:%S.%3fZ", "UTC")
    assert stated.rewritten("2024-01-15T00:30:00.250Z") == "2024-01-15T00:30:00.000Z"
    assert stated.rewritten("no moment") == ""


def test_a_z_is_utc_whatever_the_zone_and_part_of_the_text_without_one() -> None:
    in_zurich = column("%Y-%m-%dT%H:%M:%SZ")
    assert in_zurich.parsed(pa.array(["2024-01-14T23:30:00Z"])) == column("").parsed(pa.array(["2024-01-15T00:30:00"]))
    days = Date("d", date(2024, 1, 1), date(2024, 1, 31), format="%Y-%m-%dT%H:%M:%SZ", zone="Europe/Zurich")
    assert days.encode(pa.array(["2024-01-14T23:30:00Z", "2024-01-14T22:30:00Z"])).tolist() == [14, 13]
    plain = Datetime("t", datetime(2024, 1, 1), datetime(2024, 1, 31), resolution="1h", format="%Y-%m-%dT%H:%M:%SZ")
    assert plain.encode(pa.array(["2024-01-14T23:30:00Z"])).tolist() == [13 * 24 + 23]
    assert plain.rewritten("2024-01-14T23:30:00Z") == "2024-01-14T23:30:00Z"


@pytest.mark.parametrize("text_format", ["%d.%m.%Y %H:%M%Z", "%HZ%M", "Z", "%YZ", "%H:%M%%Z", "%H:%M:%S Z"])
def test_other_letters_are_no_utc(text_format: str) -> None:
    assert not states_utc(text_format)


@pytest.mark.parametrize("offset", ["%z", "%:z"])
def test_an_offset_needs_a_zone(offset: str) -> None:
    with pytest.raises(SchemaError, match=f"has an offset \\({offset}\\), so `zone` must say where the days are"):
        column(f"%Y-%m-%d %H:%M:%S{offset}", zone="")


def test_formats_of_other_texts_are_not_guessed() -> None:
    for text in ("31.12.2024", "2024-1-5", "2024-01-15T00:30:00+01", "2024-01-15T00:30:00.1234", "2024-01-1500:30", ""):
        assert format_of(text) == ""
    assert format_of("20240131") == "%Y%m%d"
    assert format_of("2024-01-31") == "%Y-%m-%d"


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from([*WRITTEN.values(), "%Y-%m-%d %H:%M:%S%:z 100%%", "%Y-%m-%dT%H:%M:%S.%f%:z"]),
)
def test_what_is_written_is_read_as_the_same_moment(moment: datetime, minutes: int, text_format: str) -> None:
    aware = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    if "%S" not in text_format:
        aware = aware.replace(second=0)
    text = text_of(aware, text_format)
    assert moment_of(text, text_format, zoned=True) == aware
    if format_of(text):
        assert format_of(text) == text_format


def test_pythons_own_directives_are_all_that_others_read() -> None:
    assert of_python("%Y %:z %3f %%:z %%3f") == "%Y %z %f %%:z %%3f"


@pytest.mark.parametrize("zone", ["", "Europe/Zurich"])
@pytest.mark.parametrize("notation", ["%H:%M:%S", "%H:%M"])
def test_times_of_day_are_read_however_they_are_stored(notation: str, zone: str) -> None:
    ends = datetime(1900, 1, 1), datetime(1900, 1, 1, 23, 59, 59)
    column = Datetime("at", *ends, resolution="15min", format=notation, zone=zone, missing=True)
    times = [time(0, 0), time(7, 30), None, time(23, 45)]
    texts = pa.array([None if one is None else one.strftime(notation) for one in times])
    expected = column.encode(texts)
    assert len(set(expected.tolist())) == 4
    stored = [pa.array(times, kind) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))]
    for values in (*stored, pa.chunked_array([stored[2]]), stored[0].dictionary_encode(), MixedCells(times)):
        assert column.encode(values).tolist() == expected.tolist()
    part = pa.array([time(7, 30, 15, 250_000)], pa.time64("us"))
    assert column.encode(part).tolist() == [expected[1]]


def test_a_time_of_day_is_no_moment_where_a_date_belongs() -> None:
    times = pa.array([time(7, 30)], pa.time64("us"))
    for notation in ("", "%d.%m.%Y %H:%M:%S"):
        column = Datetime("at", datetime(1900, 1, 1), datetime(1900, 1, 2), "1h", format=notation, missing=True)
        assert column.encode(times).tolist() == [column.missing_code]
    day = Date("day", date(1900, 1, 1), date(1900, 1, 2), missing=True)
    assert day.encode(times).tolist() == [day.missing_code]
