"""Whole numbers that read as days, against `strptime`, and dates that are declared so."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Schema
from counterfoil.schema.compact_dates import FORMAT, are_days, days_of, days_since_1970, year_edges

EPOCH = date(1970, 1, 1)


def day_of(number: int) -> float:
    """By the standard library, from 1900 to 2099 alone."""
    try:
        read = datetime.strptime(str(number), FORMAT).date()
    except ValueError:
        return np.nan
    in_reach = len(str(number)) == 8 and 1900 <= read.year < 2100
    return float((read - EPOCH).days) if in_reach else np.nan


near = st.builds(
    lambda y, m, d: y * 10_000 + m * 100 + d, st.integers(1895, 2105), st.integers(0, 13), st.integers(0, 33)
)


@given(st.lists(st.one_of(near, st.integers(-(10**9), 10**9)), min_size=1))
def test_days_are_those_that_the_calendar_has(numbers: list[int]) -> None:
    found = days_of(np.array(numbers, dtype=float))
    assert np.array_equal(found, [day_of(number) for number in numbers], equal_nan=True)
    assert np.array_equal(are_days(np.array(numbers, dtype=float)), ~np.isnan(found))


def test_every_day_reads_and_nothing_else() -> None:
    every = np.arange(18_990_101, 21_010_101, dtype=float)
    assert are_days(every).sum() == (date(2100, 1, 1) - date(1900, 1, 1)).days
    strange = np.array([np.nan, np.inf, -np.inf, 1e300, -20_240_131.0, 0.0])
    assert not are_days(strange).any()
    assert not are_days(np.zeros(0)).any()


def test_years_begin_where_they_are_written() -> None:
    edges = year_edges()
    assert (edges[0], edges[-1], len(edges)) == (19_000_101.0, 21_000_101.0, 201)
    assert [days_since_1970(edge) for edge in edges[:-1]] == days_of(np.array(edges[:-1])).tolist()


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([20240131, None, 20240230]),
        pa.array([20240131.0, None, 20240230.0]),
        pa.array(["20240131", "", "20240230"]),
        pa.array(["20240131.0", "", "20240230.0"]),
    ],
)
def test_dates_are_read_of_every_storage(cells: pa.Array) -> None:
    text = 'kind = "date"\nformat = "%Y%m%d"\nlower = 2020-01-01\nupper = 2025-12-31\nmissing = true\n'
    column = Schema.from_toml(f"[columns.born]\n{text}")["born"]
    read = column.numbers(cells)
    assert read[0] == (date(2024, 1, 31) - EPOCH).days
    assert np.isnan(read[1:]).all()
