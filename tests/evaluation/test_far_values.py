"""Values beyond a bound that may stand for none are said to, and which they are is not."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from counterfoil.evaluation.schema_report import Irregular, check_without_privacy
from counterfoil.schema import Date, Datetime, Integer, Real, Schema
from counterfoil.schema.column import Column
from counterfoil.schema.integer import AS_CODES
from counterfoil.schema.placement import Placement


def found(column: Column, cells: Sequence[Any], *, values: bool = False) -> tuple[str, Irregular]:
    """The remedy for the only cells that are not as declared, and these."""
    table = pa.table({column.name: pa.array(cells)})
    (report,) = check_without_privacy(table, Schema((column,)), values=values).columns
    (irregular,) = report.found
    return report.remedy(irregular), irregular


UNTIL = Date("until", dt.date(2020, 1, 1), dt.date(2024, 12, 31))
BORN = Date("born", dt.date(1940, 1, 1), dt.date(2000, 12, 31), format="%d.%m.%Y", missing=True)
AT = Datetime("at", dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1), resolution="1mo", zone="Europe/Zurich")
AGE = Integer("age", 0, 90)
NINES = Integer("n", -20, 10_000)


@pytest.mark.parametrize(
    ("column", "cells", "remedy"),
    [
        (
            UNTIL,
            ["2020-03-04", *["9999-12-31"] * 3],
            "they all hold one day. Where it stands for none, declare `missing = true` and list it in "
            '`missing_values`, such as ["9999-12-31"]; raise `upper` only where it is a true day',
        ),
        (
            UNTIL,
            ["2020-03-04", "2099-12-31"],
            "where it stands for none, declare `missing = true` and list it in `missing_values`, such as "
            '["9999-12-31"]; raise `upper` only where it is a true day',
        ),
        (
            BORN,
            ["01.01.1900", "01.01.1900", "01.01.1970"],
            "they all hold one day. Where it stands for none, list it in `missing_values`, such as "
            '["01.01.1900"]; lower `lower` only where it is a true day',
        ),
        (
            AT,
            ["9999-12-31 00:00:00"] * 4 + ["2021-05-06 07:08:09"],
            "4 of them hold one moment. Where it stands for none, declare `missing = true` and list it in "
            '`missing_values`, such as ["9999-12-31 00:00:00"]; raise `upper` for the others',
        ),
        (
            AGE,
            [5, 99, 99, 999],
            "they all hold 2 numbers. Where these stand for none, declare `missing = true` and list them in "
            '`missing_values`, such as ["9999"]; raise `upper` only where these are true numbers',
        ),
        (
            AGE,
            [5, -1],
            'where it stands for none, declare `missing = true` and list it in `missing_values`, such as ["-9"]; '
            "lower `lower` only where it is a true number",
        ),
        (
            NINES,
            [5, 123_456, 123_456],
            "they all hold one number. Where it stands for none, declare `missing = true` and list it in "
            '`missing_values`, such as ["99999"]; raise `upper` only where it is a true number',
        ),
        (
            Real("x", 0.0, 1.0),
            [0.5, 99.99, 99.99, 1.5],
            "2 of them hold one number. Where it stands for none, declare `missing = true` and list it in "
            '`missing_values`, such as ["9999"]; raise `upper` for the others',
        ),
        (
            AGE,
            [91, 92, 93, 94, 99],
            "1 of them holds one number. Where it stands for none, declare `missing = true` and list it in "
            '`missing_values`, such as ["9999"]; raise `upper` for the others',
        ),
    ],
)
def test_a_value_that_may_stand_for_none_is_to_be_listed_first(column: Column, cells: list[Any], remedy: str) -> None:
    """The advice was to raise the bound, which spreads all other values over the years in between."""
    assert found(column, cells)[0] == remedy


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (UNTIL, ["2025-01-01", "2025-01-02", "2025-01-01"]),
        (UNTIL, ["2029-12-31", "2027-06-07"]),
        (AGE, [91, 92, 91]),
        (AGE, [9.9e300, 1000]),
        (AGE, [*range(91, 140), 99]),
        (Real("x", 0.0, 9.0), [9.9, 9.8, 9.9]),
    ],
)
def test_other_values_beyond_a_bound_ask_for_another_bound(column: Column, cells: list[Any]) -> None:
    assert found(column, cells)[0] in ("raise `upper`", AS_CODES)


def test_no_value_of_a_record_is_said_unless_it_was_asked_for() -> None:
    for cells in (["2999-12-31"] * 3, ["4712-12-31", "4712-12-31"]):
        remedy, _ = found(UNTIL, cells)
        assert cells[0] not in remedy
        assert '"9999-12-31"' in remedy
    assert found(AGE, [8888, 8888])[0] == found(AGE, [9999, 9999])[0]


def test_the_advice_cures_it() -> None:
    cells = ["2020-03-04", "9999-12-31", "9999-12-31"]
    cured = Date("until", UNTIL.lower, UNTIL.upper, missing=True, missing_values=("9999-12-31",))
    table = pa.table({"until": cells})
    assert not check_without_privacy(table, Schema((UNTIL,))).holds
    assert check_without_privacy(table, Schema((cured,))).holds


def test_values_are_counted_in_bounded_memory() -> None:
    remedy, irregular = found(Integer("n", 0, 10), [*range(11, 3000), *[10**6] * 4000])
    assert irregular.way is Placement.ABOVE
    assert irregular.placeholders == (0, 0)  # not among the first thousand values
    assert remedy == "raise `upper`"
