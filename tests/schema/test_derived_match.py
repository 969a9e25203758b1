"""Cells of derived columns beside what is derived: each kind of result, in several storages."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.schema import Boolean, Categorical, Date, Integer, Real
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_match import followed, matched
from counterfoil.schema.placement import place

COLUMNS = {
    column.name: column
    for column in (
        Integer("age", 0, 100, bins=4, missing=True, missing_values=("-1",)),
        Real("pay", 0.0, 1e6, bins=3),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 12, 31), format="%d.%m.%Y", resolution="1mo"),
        Categorical("city", ("a", "b"), other=True),
        Boolean("old", true="J", false="N"),
    )
}
ROWS = {
    "age": ["10", "20", "-1", "200"],
    "pay": ["1.5", "3", "7.25", "9"],
    "day": ["05.02.2020", "31.12.2020", "01.01.2020", "02.01.2020"],
    "city": ["a", "b", "c", "a"],
    "old": ["J", "no", "N", "j"],
}


def differs(derived: Derived, found: pa.Array) -> list[bool]:
    names = followed(derived, COLUMNS)
    about = {name: COLUMNS[name] for name in names}
    cells = {name: place(column, pa.array(ROWS[name])) for name, column in about.items()}
    return matched(derived, about, cells, found).differs.tolist()


@pytest.mark.parametrize(
    ("derived", "found", "expected"),
    [
        # the third age is missing, the fourth one clamped and so left out
        (Derived("d", "integer", expression="age + 1"), ["11", "21", None, "0"], [False, False, False, False]),
        (Derived("d", "integer", expression="age + 1"), ["11.0", "22", "5", "0"], [False, True, True, False]),
        (Derived("d", "integer", expression="age + 1"), [11.4, None, None, 0.0], [True, True, False, False]),
        (Derived("d", "real", expression="pay / 3"), ["0.5", "1.0", "2.42", "3"], [False, False, False, False]),
        (Derived("d", "real", expression="pay / 3"), ["0.5", "1.0", "2.43", "3"], [False, False, True, False]),
        (Derived("d", "real", expression="pay * 0.1"), [0.15, 0.3, 0.725, 0.9 + 1e-12], [False] * 4),
        (Derived("d", "real", expression="pay * 0.1"), [0.15, 0.3, 0.725, 0.9 + 1e-6], [False] * 3 + [True]),
        (Derived("d", "boolean", expression="age > 15"), ["no", "no", "", "no"], [False, True, False, False]),
        (
            Derived("d", "categorical", on=("city",), lookup=(("a", "01"), ("b", "02"))),
            ["01", "2", "03", " 01 "],
            [False, True, False, False],
        ),
        (
            Derived("d", "categorical", on=("old",), lookup=(("J", "yes"), ("N", "no"))),
            ["yes", "no", "yes", "no"],
            [False, False, True, True],
        ),
        (
            Derived("d", "integer", on=("day",), lookup=((dt.date(2020, 2, 5), 1), (dt.date(2020, 12, 31), 2))),
            ["1", "3", "", "4"],
            [False, True, False, True],
        ),
        (
            Derived("d", "date", on=("city",), lookup=(("a", dt.date(2021, 1, 1)), ("b", dt.date(2021, 1, 2)))),
            ["2021-01-01", "2021-01-01", "", "01.01.2021"],
            [False, True, False, True],
        ),
    ],
)
def test_cells_differ_from_the_derivation(derived: Derived, found: list, expected: list[bool]):
    assert differs(derived, pa.array(found)) == expected
    assert differs(derived, pa.chunked_array([pa.array(found)]).dictionary_encode()) == expected


def test_rounding_is_that_of_nearly_all_cells():
    """One cell with noise of floating point does not make the others' rounding a difference."""
    column = {"pay": Real("pay", 0.0, 1e6)}
    pay = np.random.default_rng(0).integers(0, 10**6, 1000) / 100
    found = np.round(pay / 3, 1)
    found[0] = pay[0] / 3
    cells = {"pay": place(column["pay"], pa.array(pay))}
    assert not matched(Derived("d", "real", expression="pay / 3"), column, cells, pa.array(found)).differs.any()
    wrong = found + np.where(np.arange(1000) == 5, 0.2, 0.0)
    again = matched(Derived("d", "real", expression="pay / 3"), column, cells, pa.array(wrong))
    assert np.flatnonzero(again.differs).tolist() == [5]
