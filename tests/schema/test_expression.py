"""The language of rules against plain Python on single values, and against enumeration on bins."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real, SchemaError
from counterfoil.schema.column import Column
from counterfoil.schema.expression import Expression, Range, column_text, names_column

Row = Mapping[str, float | None]
Meaning = Callable[[Row], "float | bool | None"]
Phrase = tuple[str, Meaning]

COLUMNS: Mapping[str, Column] = {
    column.name: column
    for column in (
        Integer("a", -4, 4, missing=True),
        Integer("b b", 0, 8, bins=3, missing=True),
        Boolean("c", missing=True),
        Categorical("d", ("x", "y", "z"), other=True, missing=True),
    )
}
VALUES = {"a": range(-4, 5), "b b": range(9), "c": (0, 1), "d": range(4)}


def lifted(work: Callable, *parts: Meaning) -> Meaning:
    """The operation on what the parts mean; nothing where one of them is missing."""

    def meaning(row: Row) -> float | bool | None:
        values = [part(row) for part in parts]
        return None if any(value is None for value in values) else work(*values)

    return meaning


def both(left: Meaning, right: Meaning) -> Meaning:
    def meaning(row: Row) -> bool | None:
        found = [left(row), right(row)]
        return False if False in found else None if None in found else True

    return meaning


def negated(part: Meaning) -> Meaning:
    return lifted(operator.not_, part)


def either(left: Meaning, right: Meaning) -> Meaning:
    return negated(both(negated(left), negated(right)))


NUMBERS: st.SearchStrategy[Phrase] = st.recursive(
    st.sampled_from([("a", lambda row: row["a"]), ("`b b`", lambda row: row["b b"])]),
    lambda inner: st.one_of(
        st.tuples(inner, inner, st.sampled_from([("+", operator.add), ("-", operator.sub), ("*", operator.mul)])).map(
            lambda p: (f"({p[0][0]} {p[2][0]} {p[1][0]})", lifted(p[2][1], p[0][1], p[1][1]))
        ),
        st.tuples(inner, st.sampled_from([2, -4])).map(
            lambda p: (f"({p[0][0]} / {p[1]})", lifted(lambda value: value / p[1], p[0][1]))
        ),
        inner.map(lambda p: (f"-{p[0]}", lifted(operator.neg, p[1]))),
    ),
    max_leaves=3,
)
ORDERS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
COMPARISONS: st.SearchStrategy[Phrase] = st.one_of(
    st.tuples(NUMBERS, st.integers(-6, 6), st.sampled_from(sorted(ORDERS))).map(
        lambda p: (f"{p[0][0]} {p[2]} {p[1]}", lifted(lambda value: ORDERS[p[2]](value, p[1]), p[0][1]))
    ),
    st.tuples(NUMBERS, NUMBERS, st.sampled_from(sorted(ORDERS))).map(
        lambda p: (f"{p[0][0]} {p[2]} {p[1][0]}", lifted(ORDERS[p[2]], p[0][1], p[1][1]))
    ),
    st.tuples(st.integers(-4, 2), NUMBERS, st.integers(0, 4)).map(
        lambda p: (f"{p[0]} <= {p[1][0]} < {p[2]}", lifted(lambda value: p[0] <= value < p[2], p[1][1]))
    ),
    st.just(("c", lambda row: None if row["c"] is None else bool(row["c"]))),
    st.sampled_from(["xyz".index("x"), 1, 2]).map(
        lambda code: (f"d == '{'xyz'[code]}'", lifted(lambda value: value == code, lambda row: row["d"]))
    ),
    st.just(("d not in ['x', 'z']", lifted(lambda value: value not in (0, 2), lambda row: row["d"]))),
    st.just(("a is missing", lambda row: row["a"] is None)),
    st.just(("d is not missing", lambda row: row["d"] is not None)),
)
PHRASES: st.SearchStrategy[Phrase] = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]} and {p[1][0]})", both(p[0][1], p[1][1]))),
        st.tuples(inner, inner).map(lambda p: (f"({p[0][0]} or {p[1][0]})", either(p[0][1], p[1][1]))),
        inner.map(lambda p: (f"not ({p[0]})", negated(p[1]))),
    ),
    max_leaves=3,
)


def possible(expression: Expression, ranges: Mapping[str, Range], shape: tuple[int, ...]) -> np.ndarray:
    """Boolean [3, *shape]: whether true, false and unknown can occur."""
    truth = expression(ranges)
    return np.stack([np.broadcast_to(part, shape) for part in (truth.true, truth.false, truth.unknown)])


@given(
    PHRASES, st.lists(st.fixed_dictionaries({k: st.none() | st.sampled_from(v) for k, v in VALUES.items()}), min_size=1)
)
def test_on_single_values_it_is_python_with_unknowns(phrase: Phrase, rows: list[Row]) -> None:
    text, meaning = phrase
    arrays = {name: np.array([np.nan if row[name] is None else row[name] for row in rows], float) for name in COLUMNS}
    ranges = {name: Range(array, array) for name, array in arrays.items()}
    expected = np.array([[meaning(row) is True, meaning(row) is False, meaning(row) is None] for row in rows]).T
    np.testing.assert_array_equal(possible(Expression(text, COLUMNS), ranges, expected.shape[1:]), expected)


@given(PHRASES)
def test_on_bins_nothing_that_can_occur_is_left_out(phrase: Phrase) -> None:
    """Every value of every pair of bins of `a` and `b b`; exact where no bin holds two values."""
    text, meaning = phrase
    a, b = COLUMNS["a"], COLUMNS["b b"]
    fixed = {"c": 1.0, "d": 0.0}
    ranges = {
        "a": Range(*(ends[:, None] for ends in a.ranges)),
        "b b": Range(*(ends[None, :] for ends in b.ranges)),
    } | {name: Range(np.array(value), np.array(value)) for name, value in fixed.items()}
    expression = Expression(text, COLUMNS)
    found = possible(expression, ranges, (a.size, b.size))
    for i, j in itertools.product(range(a.size), range(b.size)):
        inside = [meaning({"a": u, "b b": v} | fixed) for u, v in itertools.product(values_of(a, i), values_of(b, j))]
        occurs = [True in inside, False in inside, None in inside]
        if "b b" in expression.columns:
            assert all(found[:, i, j] >= occurs)
        else:
            assert found[:, i, j].tolist() == occurs


def values_of(column: Column, code: int) -> list[float | None]:
    low, high = (ends[code] for ends in column.ranges)
    return [None] if np.isnan(low) else list(range(int(low), int(high) + 1))


def test_dates_ordered_categories_and_booleans() -> None:
    columns = {
        "day": Date("day", date(2020, 1, 1), date(2020, 1, 9)),
        "size": Categorical("size", ("S", "M", "L"), ordered=True),
        "sick": Boolean("sick"),
    }
    ranges = {
        "day": Range(*([np.array([18262.0, 18270.0])] * 2)),
        "size": Range(*([np.array([0.0, 2.0])] * 2)),
        "sick": Range(*([np.array([0.0, 1.0])] * 2)),
    }
    for text, expected in {
        "day <= '2020-01-05'": [True, False],
        "'2020-01-05' < day": [False, True],
        "size >= 'M'": [False, True],
        "not sick": [True, False],
        "sick == true": [False, True],
        "sick == True and size == 'L'": [False, True],
    }.items():
        assert Expression(text, columns)(ranges).true.tolist() == expected, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a <", "it is not an expression"),
        ("a < 1 if c else a > 2", "made of comparisons"),
        ("age < 3", "no synthesized column 'age' \\(texts go between quotes\\)"),
        ("b < 3", "texts go between quotes, and `b b` between backticks\\)"),
        ("bb < 3", "no synthesized column 'bb'"),
        ("`b bb` < 3", "Did you mean 'b b'"),
        ("a", "made of comparisons"),
        ("a + 1", "made of comparisons"),
        ("a > 1 & c", "joined by and, or, not. Found `&`: write `and`"),
        ("(a > 1) | c", "Found `|`: write `or`"),
        ("~c", "Found `~`: write `not`"),
        ("1 < 2", "must name a column"),
        ("a == 'x'", "is compared with 'x'; expected a number"),
        ("a == d", "'a' and 'd' can't be compared"),
        ("d == 'w'", "'w', which is not among its values"),
        ("d < 'y'", "not `ordered`"),
        ("d + 1 == 2", "no arithmetic on column 'd'"),
        ("a / `b b` < 1", "divide only by a constant"),
        ("a / 0 < 1", "divide only by a constant that is not zero"),
        ("a ** 2 < 1", "neither a column, a constant nor arithmetic"),
        ("abs(a) < 1", "no synthesized column 'abs'"),
        ("[a][0] < 1", "neither a column, a constant nor arithmetic"),
        ("a.real < 1", "neither a column"),
        ("c == 1", "expected true or false"),
        ("d in 'x'", "needs a list of constants"),
        ("a is None", "only for `COLUMN is missing`"),
        ("a is missing or d is z", "only for `COLUMN is missing`"),
        ("__import__('os').system('true')", "made of comparisons"),
        ("a = 3", "not an expression: equality is written `==`"),
        ("a <> 3", "not an expression: inequality is written `!=`"),
        (
            "if a == 3 then b == 4",
            "not an expression: a rule for some records has two lines, `if` with the condition and `then`",
        ),
        ("a < 3 AND d == 'x'", "not an expression: conditions are joined by `and`"),
        ("a == '3'", "expected a number, without quotes: 3"),
        ("(" * 500 + "a" + ")" * 500, "it is not an expression"),
    ],
)
def test_what_is_not_in_the_language_is_refused(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Expression(text, COLUMNS)


def test_a_constant_of_a_date_must_be_a_date() -> None:
    columns = {"day": Date("day", date(2020, 1, 1), date(2020, 1, 9)), "x": Real("x", 0, 1, bins=2)}
    with pytest.raises(SchemaError, match='expected a text such as "2020-01-01"'):
        Expression("day < '1st of May'", columns)
    with pytest.raises(SchemaError, match="can't be compared"):
        Expression("day < x", columns)


def test_a_date_that_is_to_count_as_a_moment_keeps_its_format() -> None:
    """Another one would read none of its days."""
    columns = {
        "born": Date("born", date(1900, 1, 1), date(2020, 1, 9), format="%d.%m.%Y"),
        "seen": Datetime("seen", datetime(2020, 1, 1), datetime(2020, 1, 9), "1d"),
    }
    with pytest.raises(SchemaError, match=re.escape('`resolution = "1d"` and `format = "%d.%m.%Y"` for dates')):
        Expression("born <= seen", columns)
    with pytest.raises(SchemaError, match=re.escape('`resolution = "1d"` and `format = "%d.%m.%Y"` for dates')):
        Expression("born <= '2020-01-03T12:00'", columns)


def test_what_is_asked_of_dates_and_moments_alike_is_refused_with_what_to_write() -> None:
    columns = {
        "day": Date("day", date(2020, 1, 1), date(2020, 1, 9)),
        "seen": Datetime("seen", datetime(2020, 1, 1), datetime(2020, 1, 9), "1d"),
        "x": Real("x", 0, 1, bins=2),
    }
    midnights = '`kind = "datetime"`, `resolution = "1d"` and `format = "%Y-%m-%d"`'
    for text, words in {
        "day <= seen": f"'seen' with `kind = \"date\"` if its day alone matters, or 'day' with {midnights}",
        "seen - day < 3": f"'seen' with `kind = \"date\"` if its day alone matters, or 'day' with {midnights}",
        "day >= '2020-01-03T12:00'": f"no time of day. Write '2020-01-03', or declare it with {midnights}",
        "seen - seen < 3": 'declare them with `kind = "date"`',
        "day + 3 < day": "as in `discharged - admitted <= 60`.",
        "day > 2020-01-03": "dates go between quotes",
    }.items():
        with pytest.raises(SchemaError, match=re.escape(words)):
            Expression(text, columns)
    day = float(columns["day"].constant("2020-01-03"))
    same = Expression("day >= '2020-01-03 00:00:00'", columns)
    assert same({"day": Range(np.array([day - 1, day]), np.array([day - 1, day]))}).true.tolist() == [False, True]


def test_constants_may_be_written_as_the_format_of_their_column_has_them() -> None:
    columns = {
        "day": Date("day", date(2020, 1, 1), date(2020, 12, 31), format="%d.%m.%Y"),
        "at": Datetime("at", datetime(1900, 1, 1), datetime(1900, 1, 1, 23, 59, 59), "1h", format="%H:%M"),
        "odd": Date("odd", date(2020, 1, 1), date(2020, 12, 31), format="%Y-%d-%m"),
    }
    for name, own, standard in (
        ("day", "05.06.2020", "2020-06-05"),
        ("at", " 18:00", "1900-01-01 18:00"),
        ("odd", "2020-06-05", "2020-06-05"),  # where it may be either, it is ISO 8601
    ):
        assert (
            Expression(f"{name} > '{own}'", columns).compared == Expression(f"{name} > '{standard}'", columns).compared
        )
    assert columns["odd"].constant("2020-06-05") == (date(2020, 6, 5) - date(1970, 1, 1)).days
    with pytest.raises(SchemaError, match=r'or as `format` has it, "01\.01\.2020"'):
        Expression("day > '5th of May'", columns)
    with pytest.raises(SchemaError, match=r"dates have no time of day\. Write '2020-06-05'"):
        Expression("day > '2020-06-05 12:00'", columns)


def test_dates_that_count_as_their_midnights_are_compared_with_moments() -> None:
    day = Datetime("day", datetime(2020, 1, 1), datetime(2020, 1, 9), "1d", format="%Y-%m-%d")
    seen = Datetime("seen", datetime(2020, 1, 1), datetime(2020, 1, 9), "1h")
    assert Expression("day <= seen", {"day": day, "seen": seen}).orders_columns
    drawn = day.decode(np.array([0, 3]), np.random.default_rng(0)).to_pylist()
    assert drawn == [datetime(2020, 1, 1), datetime(2020, 1, 4)]


DAYS = {
    name: Date(name, date(2020, 1, 1), date(2020, 12, 31), resolution=resolution, missing=True)
    for name, resolution in (("came", "1mo"), ("went", "7d"))
}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("went - came <= 60", lambda came, went: went - came <= 60),
        ("-3 < went - came < 20.5", lambda came, went: -3 < went - came < 20.5),
        ("not 14 == went - came", lambda came, went: went - came != 14),
        ("went - came in [0, 1, 2]", lambda came, went: 0 <= went - came <= 2),
    ],
)
def test_days_between_dates_are_compared_with_numbers(text, meaning):
    came, went = (days.ravel() for days in np.meshgrid(np.arange(0, 90), np.arange(20, 120)))
    first = (date(2020, 1, 1) - date(1970, 1, 1)).days
    truth = Expression(text, DAYS)(
        {"came": Range(came + first, came + first), "went": Range(went + first, went + first)}
    )
    expected = np.array([meaning(*pair) for pair in zip(came, went, strict=True)])
    np.testing.assert_array_equal(truth.true, expected)
    np.testing.assert_array_equal(truth.false, ~expected)
    # In bins nothing that some days of them do is left out.
    bins = {name: Range(*(end[:, None] if name == "came" else end for end in DAYS[name].ranges)) for name in DAYS}
    possible = Expression(text, DAYS)(bins).true
    codes = [
        np.searchsorted(DAYS[name].ranges[1][:-1], days + first) for name, days in (("came", came), ("went", went))
    ]
    assert possible[codes[0][expected], codes[1][expected]].all()
    assert Expression(text, DAYS)(bins).unknown[-1].all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("went - came <= '2020-01-01'", "compared with a number; found `'2020-01-01'`"),
        ("went - came <= true", "compared with a number; found `true`"),
        ("went - came <= came", "compared with a number; found `came`"),
        ("went + came <= 9", "no arithmetic on column 'went'"),
        ("went - 9 <= came", "no arithmetic on column 'went'"),
        (f"went - came <= {10**400}", "too many digits"),
    ],
)
def test_days_between_dates_are_compared_with_nothing_else(text, message):
    with pytest.raises(SchemaError, match=message):
        Expression(text, DAYS)


ANSWERS = Categorical("answer", (1, 2, 3, -1, -9.5), missing=True, missing_values=("-8", "?"))


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("answer == -1", [3]),
        ("answer != -1", [0, 1, 2, 4]),
        ("-1 == answer", [3]),
        ("answer in [-1, 3]", [2, 3]),
        ("answer == -9.5", [4]),
        ("answer == 1", [0]),
        ("answer == -8", [5]),
        ("answer not in [-1, -8]", [0, 1, 2, 4]),
    ],
)
def test_a_category_that_is_a_negative_number_is_itself_and_not_minus_the_code_of_its_amount(text, codes):
    expression = Expression(text, {"answer": ANSWERS})
    values = np.array([0, 1, 2, 3, 4, np.nan])
    assert np.flatnonzero(expression({"answer": Range(values, values)}).true).tolist() == codes


def test_a_minus_is_no_arithmetic_on_categories_and_negative_numbers_are_listed_or_refused():
    signs = Boolean("sign", true=-2, false=2)
    truth = Expression("sign == -2", {"sign": signs})({"sign": Range(np.array([0.0, 1.0]), np.array([0.0, 1.0]))})
    assert truth.true.tolist() == [False, True]
    for text in ("answer == -2", "answer == -answer", "answer == -(-1)", "answer == -'1'", "answer == -True"):
        with pytest.raises(SchemaError):
            Expression(text, {"answer": ANSWERS})


def test_a_column_may_be_called_as_a_word_of_the_language() -> None:
    """A derived column named missing was found in each `is missing`, and true, without backticks, is no column."""
    assert not names_column("a is missing and b is not missing", "missing")
    assert names_column("missing is missing", "missing")
    assert names_column("`missing` > 3", "missing")
    assert not names_column("a == true", "true")
    columns = {name: Integer(name, lower=0, upper=9, missing=True) for name in ("missing", "true", "false")}
    for name in columns:
        text = f"{column_text(name)} is missing or {column_text(name)} < 5"
        assert Expression(text, columns).columns == (name,)
        assert names_column(text, name)
