"""Expressions of derived columns, against Python's own arithmetic on exact numbers."""

from __future__ import annotations

import math
from calendar import isleap
from datetime import date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real, SchemaError
from counterfoil.schema.arithmetic import Arithmetic
from counterfoil.schema.column import Column

COLUMNS: dict[str, Column] = {
    "a": Integer("a", -9, 9, missing=True),
    "b": Integer("b", -9, 9),
    "x": Real("x", -4.0, 4.0, bins=4),
    "flag": Boolean("flag"),
    "two words": Integer("two words", 0, 5),
    "start": Date("start", date(2020, 1, 1), date(2020, 12, 31)),
    "end": Date("end", date(2020, 1, 1), date(2020, 12, 31)),
    "seen": Datetime("seen", datetime(2020, 1, 1), datetime(2020, 12, 31), bins=9),
    "there": Datetime("there", datetime(2020, 1, 1), datetime(2020, 12, 31), bins=9, zone="Europe/Berlin"),
    "job": Categorical("job", ("clerk", "smith")),
    "rooms": Categorical("rooms", (1, 2, 5), ordered=True),
    "huge": Integer("huge", 0, 2**40, bins=2),
}
ROW = {
    "a": -7.0,
    "b": 3.0,
    "x": 0.75,
    "flag": 1.0,
    "two words": 4.0,
    "start": 18300.0,
    "end": 18331.0,
    "rooms": 5.0,
    "seen": 18331.5 * 86_400,
}


def value(text: str, **row: float) -> float:
    numbers = {name: np.array([float(number)]) for name, number in (ROW | row).items()}
    return float(Arithmetic(text, COLUMNS, place="")(numbers)[0])


@pytest.mark.parametrize(
    ("text", "expected", "whole"),
    [
        ("a + b * 2", -1.0, True),
        ("(a + b) * 2", -8.0, True),
        ("a - -b", -4.0, True),
        ("a // b", -3.0, True),
        ("a % b", 2.0, True),
        ("a / b", -7 / 3, False),
        ("round(a / b)", -2.0, True),
        ("round(a / b, 2)", -2.33, False),
        ("round(x + 1.75)", 2.0, True),  # a half goes to the even neighbor
        ("x // 0.5", 1.0, False),
        ("min(a, b, 0)", -7.0, True),
        ("max(a, x)", 0.75, False),
        ("abs(a)", 7.0, True),
        ("flag * 10 + `two words`", 14.0, True),
        ("end - start", 31.0, True),
        ("end - '2020-01-01'", 69.0, True),
        ("years(end, '1990-03-10')", 30.0, True),
        ("years(end, '1990-03-11')", 29.0, True),
        ("years(seen, start) + years('2024-02-29', end)", 3.0, True),
        ("rooms * 2", 10.0, True),
        ("+a", -7.0, True),
    ],
)
def test_each_operation(text: str, expected: float, whole: bool) -> None:
    assert value(text) == pytest.approx(expected, rel=1e-15)
    assert Arithmetic(text, COLUMNS, place="").is_whole is whole


DAYS = st.dates(date(1600, 1, 1), date(2400, 12, 31))


@given(DAYS, DAYS)
def test_years_pass_on_birthdays(last: date, first: date) -> None:
    """Anniversaries are counted one by one; that of a 29 February is on 1 March in other years."""
    columns: dict[str, Column] = {name: Date(name, date(1600, 1, 1), date(2400, 12, 31)) for name in ("last", "first")}
    epoch = date(1970, 1, 1)
    numbers = {name: np.array([float((day - epoch).days)]) for name, day in (("last", last), ("first", first))}
    found = Arithmetic("years(last, first)", columns, place="")(numbers)[0]

    def birthday(year: int) -> date:
        leaps = (first.month, first.day) == (2, 29) and not isleap(year)
        return date(year, 3, 1) if leaps else first.replace(year=year)

    assert found == max(year for year in range(700, 3300) if birthday(year) <= last) - first.year


def test_what_is_missing_or_no_number_is_missing() -> None:
    for text in ("a / (b - 3)", "a // (b - 3)", "a % (b - 3)", "x / (x - 0.75)", "(b - 3) / (b - 3)"):
        assert math.isnan(value(text)), text
    for text in ("a + b", "min(a, b)", "max(b, a)", "0 * a", "round(a)", "b - a % 2"):
        assert math.isnan(value(text, a=math.nan)), text
    assert math.isnan(value("x * 1e300 * 1e300"))
    assert math.copysign(1, value("0 * a")) == 1


WHOLE = st.recursive(
    st.sampled_from(["a", "b", "0", "1", "3", "flag"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(lambda p: f"({' '.join(p)})"),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        inner.map(lambda text: f"-({text})"),
        inner.map(lambda text: f"abs({text})"),
    ),
    max_leaves=8,
)


@given(WHOLE, st.integers(-9, 9), st.integers(-9, 9), st.booleans())
def test_whole_numbers_are_exact(text: str, a: int, b: int, flag: bool) -> None:
    found, problem = math.nan, ""
    try:
        found = value(text, a=a, b=b, flag=flag)
    except SchemaError as error:
        problem = str(error)
    if problem:
        assert "it divides by 0" in problem or "it must name a column" in problem
        return
    names = {"a": a, "b": b, "flag": int(flag), "min": min, "max": max, "abs": abs}
    try:
        expected: float = eval(text, names)  # noqa: S307 - the text is made of the operations above
    except ZeroDivisionError:
        expected = math.nan
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_a_divisor_that_may_be_0_bounds_a_quotient_by_its_other_values() -> None:
    """It was refused, as if the quotient could be too large for a whole number."""
    assert value("a // min(a, 0)", a=-7.0) == 1
    assert math.isnan(value("a // min(a, 0)", a=7.0))


@given(st.integers(-9, 9), st.integers(1, 9))
def test_quotients_are_the_nearest_real(a: int, b: int) -> None:
    assert Fraction(value("a / b", a=a, b=b)) == Fraction(float(Fraction(a, b)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a +", "it is not an expression"),
        ("aa + b", "no synthesized column 'aa'. Did you mean 'a'"),
        ("3 + 4", "it must name a column"),
        ("job * 2", "column 'job' \\(categorical\\) has no numbers"),
        ("start", "it gives a date"),
        ("start + 1", "it gives a date"),
        ("start * 2", r"no arithmetic on `start` \(date\) but the difference, and adding a whole number of days"),
        ("start - x", "no arithmetic on `start`"),
        ("seen - '2020-01-31'", "no arithmetic on `seen` \\(datetime\\) but the difference"),
        (
            "2020-12-31 - end",
            "`end` \\(date\\) but the difference, and adding a whole number of days: dates go",
        ),
        ("end - 'May'", "the text 'May' is no date, which is written as '2020-01-31'"),
        ("end - '2020-02-30'", "the text '2020-02-30' is no date"),
        ("'2020-01-31' - '2020-01-01'", "it must name a column"),
        ("years(end)", "`years` takes two dates, the later one first"),
        ("years(end, 3)", "`years` takes two dates"),
        ("years(there, start)", "`years` takes two dates"),
        ("a ** 2", "neither a column, a number nor arithmetic"),
        ("a < b", "neither a column, a number nor arithmetic"),
        ("__import__('os')", "there is no function `__import__`"),
        ("a.real", "neither a column"),
        ("a if b else a", "neither a column"),
        ("a / 0", "it divides by 0"),
        ("min(a)", "`min` takes two numbers"),
        ("abs(a, b)", "`abs` takes one number"),
        ("round(a, b)", "decimals of `round` must be a whole number from 0 to 15"),
        ("huge * huge", "may reach 2\\^53"),
        ("(start + huge * 8191) - (end - huge * 8191)", "may reach 2\\^53"),
        ("start + 9007199254740991", "may reach 2\\^53.*Narrow the bounds\\."),
        ("a * 9007199254740993", "may reach 2\\^53"),
        ("+".join(["a"] * 5000), "nested too deeply|not an expression"),
    ],
)
def test_mistakes_are_found_before_any_row(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Arithmetic(text, COLUMNS, place="Column 'c' (derived): ")


def test_large_reals_are_allowed() -> None:
    assert value("1.0 * huge * huge", huge=2.0**40) == 2.0**80
