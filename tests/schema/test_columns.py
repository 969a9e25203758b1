"""Codes and values: one meaning for every storage, and the way back."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from counterfoil.schema import (
    Boolean,
    Categorical,
    Column,
    Date,
    Datetime,
    Identifier,
    Integer,
    Real,
    SchemaError,
    UnplacedValue,
)
from counterfoil.schema.values import instants_of, numbers_of, parse_number
from schema_strategies import CELLS, booleans, categoricals, code_of, columns, integers, reals

FALSE_ALARM = 1e-6


@given(columns, st.randoms(use_true_random=False))
def test_decoding_and_encoding_gives_the_codes_back(column: Column, random: object) -> None:
    codes = np.repeat(np.arange(column.size), 5)[:2000].astype(column.dtype)
    decoded = column.decode(codes, np.random.default_rng(0))
    assert decoded.type == column.arrow_type
    assert decoded.null_count == np.sum(codes == column.missing_code)
    again = column.encode(decoded)
    assert again.dtype == np.min_scalar_type(column.size - 1)
    np.testing.assert_array_equal(again, codes)
    lows, highs = column.ranges
    if column.is_ordered or not isinstance(column, Categorical):
        numbers = column.positions(decoded)
        present = ~np.isnan(numbers)
        np.testing.assert_array_equal(present, codes != column.missing_code)
        assert (lows[codes][present] <= numbers[present]).all()
        assert (numbers[present] <= highs[codes][present]).all()
    assert len(column.labels) == len(column.centers) == len(lows) == column.size


@pytest.mark.parametrize("kind", [categoricals(), booleans, integers(), reals()], ids=str)
@given(data=st.data(), cells=st.lists(CELLS, min_size=1, max_size=30))
def test_cells_are_read_as_documented(
    kind: st.SearchStrategy[Column], data: st.DataObject, cells: list[str | None]
) -> None:
    column = data.draw(kind)
    expected = [code_of(column, cell) for cell in cells]
    if None in expected:
        with pytest.raises(UnplacedValue) as caught:
            column.encode(pa.array(cells, type=pa.string()))
        assert caught.value.row == expected.index(None)
    placed = pa.array([cell for cell, code in zip(cells, expected, strict=True) if code is not None], pa.string())
    codes = [code for code in expected if code is not None]
    assert column.encode(placed).tolist() == codes
    assert column.encode(placed.dictionary_encode()).tolist() == codes
    assert column.encode(pa.chunked_array([placed.slice(0, 1), placed.slice(1)])).tolist() == codes


def test_numbers_between_two_points_go_to_the_nearer_one() -> None:
    column = Integer("n", 0, 10, step=5)
    assert column.encode(pa.array([2.4, 2.5, 7.4, 7.5, 12.5])).tolist() == [0, 1, 1, 2, 2]
    assert Integer("n", -1, 1).encode(pa.array(["-0.5", "-0.51", "0.5"])).tolist() == [1, 0, 2]


def test_missing_cells_go_to_other_where_they_have_no_code() -> None:
    assert Categorical("c", ("a",), other=True).encode(pa.array(["a", None, " ", "b"])).tolist() == [0, 1, 1, 1]
    both = Categorical("c", ("a",), other=True, missing=True, missing_values=("?",))
    assert both.encode(pa.array(["a", None, "?", "b"])).tolist() == [0, 2, 2, 1]


def test_numbers_that_stand_for_missing() -> None:
    column = Integer("n", 0, 9, missing=True, missing_values=("999", "?", "-1e0"))
    assert column.encode(pa.array(["999.0", "?", "-1", "998", " 999", "-2"])).tolist() == [10, 10, 10, 9, 10, 0]
    assert column.encode(pa.array([999, -1, 998])).tolist() == [10, 10, 9]
    np.testing.assert_array_equal(column.numbers(pa.array([999.0, 5.5, -2])), [np.nan, 5.5, 0])
    born = Date("d", date(2000, 1, 1), date(2000, 1, 2), missing=True, missing_values=("1900-01-01",))
    assert born.encode(pa.array([date(1900, 1, 1), date(1900, 1, 2)])).tolist() == [2, 0]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([3, 0, 9, None], pa.int8()),
        pa.array([3, 0, 9, None], pa.uint64()),
        pa.array([3.0, -2.0, np.inf, np.nan], pa.float64()),
        pa.array([3.0, -np.inf, 1e30, None], pa.float32()),
        pa.array([Decimal("3.00"), Decimal("0"), Decimal("9.4"), None]),
        pa.array(["3", "-1", " 9.0", ""]),
        pa.array(["3e0", "0", "+9", "NaN"], pa.large_string()),
        pa.array(["3.0", "-0", "99999999999999999999", "?"], pa.string_view()),
        pa.array(["3", "0", "9", None]).dictionary_encode(),
        pa.array([3, 0, 9, None], pa.int64()).dictionary_encode(),
    ],
)
def test_storage_does_not_matter(values: pa.Array) -> None:
    expected = [3, 0, 9, 10]
    assert Integer("age", 0, 9, missing=True).encode(values).tolist() == expected
    if not pa.types.is_floating(values.type) and values.to_pylist()[1] in (0, "0", "-0", Decimal(0)):
        words = Categorical("age", ("0", "1", "2", "3"), missing=True, other=True)
        assert words.encode(values.slice(0, 2)).tolist() == [3, 0]


def test_chunks_may_have_dictionaries_of_their_own() -> None:
    parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["a", None]).dictionary_encode()]
    column = Categorical("c", ("a", "b"), missing=True)
    assert column.encode(pa.chunked_array(parts)).tolist() == [1, 0, 0, 2]
    assert column.encode(pa.chunked_array([], pa.string())).tolist() == []


def test_booleans_are_numbers_and_words() -> None:
    flags = pa.array([True, False, None])
    assert Boolean("b", missing=True).encode(flags).tolist() == [1, 0, 2]
    assert Integer("b", 0, 1, missing=True).encode(flags).tolist() == [1, 0, 2]
    assert Categorical("b", ("True", "False"), missing=True).encode(flags).tolist() == [0, 1, 2]
    texts = pa.array(["TRUE", "f", "Yes", "no", "1", "0.0", "y", "2", "on", ""])
    assert Boolean("b", missing=True).encode(texts).tolist() == [1, 0, 1, 0, 1, 0, 1, 2, 2, 2]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1))
def test_numbers_survive_their_text(numbers: list[float]) -> None:
    texts = pa.array([repr(number) for number in numbers])
    np.testing.assert_array_equal(numbers_of(texts), np.array(numbers))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1_000", None),
        ("1,5", None),
        ("0x10", None),
        ("１２", None),
        ("", None),
        ("1e", None),
        (".", None),
        ("nan", None),
        ("five", None),
        ("--1", None),
        (".5", 0.5),
        ("5.", 5.0),
        ("1E3", 1000.0),
        ("-inf", -np.inf),
        ("+Infinity", np.inf),
        ("True", 1.0),
    ],
)
def test_what_is_a_number(text: str, number: float | None) -> None:
    found = parse_number(text)
    assert np.isnan(found) if number is None else found == number


def test_large_numbers_are_clamped_not_wrapped() -> None:
    column = Integer("n", -(2**53), 2**53, bins=2)
    values = pa.array([2**64 - 1, 2**63], pa.uint64())
    assert column.encode(values).tolist() == [1, 1]
    assert column.numbers(values).tolist() == [2**53, 2**53]
    assert column.encode(pa.array(["-" + "9" * 400])).tolist() == [0]


@given(
    lower=st.integers(-(2**53), 2**53 - 10**6),
    step=st.integers(1, 1000),
    points=st.integers(1, 1000),
    places=st.lists(st.fractions(0, 1), min_size=1, max_size=20),
)
def test_each_number_goes_to_the_nearest_of_the_grid_however_large(lower, step, points, places):
    column = Integer("n", lower, lower + step * (points - 1), step=step)
    numbers = [float(lower + place * step * (points - 1)) for place in places]
    nearest = [math.floor((Fraction(number) - lower) / step + Fraction(1, 2)) for number in numbers]
    assert column.encode(pa.array(numbers)).tolist() == np.clip(nearest, 0, points - 1).tolist()
    drawn = column.decode(np.arange(points, dtype=np.int64), np.random.default_rng(0))
    assert drawn.to_pylist() == list(range(lower, lower + step * points, step))


@given(st.integers(1 - 2**53, 2**53))
def test_neighbors_are_kept_apart_on_the_widest_grid(first):
    column = Integer("n", -(2**53), 2**53, edges=(-(2**53), first))
    assert column.encode(pa.array([first - 1, first])).tolist() == [0, 1]


@given(st.integers(-(2**53), 2**53 - 10**6), st.integers(1, 1000), st.integers(2, 900))
def test_single_whole_numbers_are_equally_wide_however_large(lower, step, points):
    column = Integer("n", lower, lower + step * (points - 1), step=step)
    assert column.spans.tolist() == [step] * points


def test_a_resolution_of_a_tenth_has_its_edges_on_tenths() -> None:
    column = Real("gpa", 0, 4, resolution=0.1)
    tenths = pa.array([tenth / 10 for tenth in range(40)] + [4.0])
    assert column.size == 40
    assert column.encode(tenths).tolist() == [*range(40), 39]
    assert Real("x", 0, 1, bins=10).encode(pa.array([0.3, 0.6, 0.7])).tolist() == [3, 6, 7]


def test_points_have_codes_of_their_own_along_the_line() -> None:
    column = Real("gain", 0, 10, edges=(0, 5, 10), points=(10.0, 0.0))
    assert column.labels == ("0", "[0, 5)", "[5, 10]", "10")
    assert column.encode(pa.array([0.0, 1e-9, 5.0, 9.9, 10.0, 11.0])).tolist() == [0, 1, 2, 2, 3, 3]
    drawn = column.decode(np.repeat([0, 1, 3], 1000), np.random.default_rng(0)).to_numpy()
    assert set(drawn[:1000]) == {0.0}
    assert (drawn[1000:2000] > 0).all()
    assert set(drawn[2000:]) == {10.0}


def test_dates_in_every_storage() -> None:
    column = Date("d", date(2020, 1, 15), date(2020, 3, 10), "1mo", missing=True)
    assert column.labels == (
        "2020-01-15..2020-01-31",
        "2020-02-01..2020-02-29",
        "2020-03-01..2020-03-10",
        "missing",
    )
    days = [date(2020, 1, 1), date(2020, 2, 29), date(2021, 1, 1), None]
    expected = [0, 1, 2, 3]
    noons = [day and datetime(day.year, day.month, day.day, 12) for day in days]
    for values in (
        pa.array(days),
        pa.array(days, pa.date64()),
        *(pa.array(noons, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")),
        pa.array([day and day.isoformat() for day in days]),
        pa.array([" 2020-01-01 ", "20200229", "2021-01-01T23:59:59", "soon"]),
        pa.array([" 2020-01-01 ", "20200229", "2021-01-01", "2020-02-01T12:00:00Z"]),
    ):
        assert column.encode(values).tolist() == expected, values.type
    american = Date("d", date(2020, 1, 15), date(2020, 3, 10), "1mo", missing=True, format="%m/%d/%Y")
    assert american.encode(pa.array(["02/29/2020", "2020-02-29"])).tolist() == [1, 3]


def test_times_before_1970_and_with_a_zone() -> None:
    column = Datetime("t", datetime(1969, 12, 31, 23), datetime(1970, 1, 1, 1), "1h")
    texts = pa.array(["1969-12-31T23:59:59.9", "1970-01-01 00:00:00", "1970-01-01T01:30:00"])
    assert column.encode(texts).tolist() == [0, 1, 2]
    assert column.encode(texts.take(pa.array([0])).cast(pa.timestamp("ms"))).tolist() == [0]
    zoned = pa.array([datetime(1970, 1, 1, 1, 30, tzinfo=UTC)], pa.timestamp("us", tz="Europe/Paris"))
    assert instants_of(zoned, 1, zone=ZoneInfo("Asia/Tokyo")).tolist() == [5400.0]
    assert np.isnan(instants_of(zoned, 1)).all()


def test_ordered_numbers_are_a_scale_and_ordered_words_are_ranks() -> None:
    scale = Categorical("age", (17.5, 22, 27), ordered=True, missing=True)
    np.testing.assert_array_equal(scale.numbers(pa.array(["22", None, "17.50"])), [22, np.nan, 17.5])
    assert scale.arrow_type == pa.float64()
    ranks = Categorical("size", ("S", "M", "L"), ordered=True)
    assert ranks.centers.tolist() == [0, 1, 2]
    plain = Categorical("sex", ("F", "M"))
    assert np.isnan(plain.centers).all()
    with pytest.raises(ValueError, match="its categories are not `ordered`"):
        plain.numbers(pa.array(["F"]))


def test_a_category_that_reads_other_does_not_swallow_the_others() -> None:
    column = Categorical("c", ("other", "a"), other=True)
    assert column.labels == ("other", "a", "(other)")
    assert column.decode(np.array([2, 0]), np.random.default_rng(0)).to_pylist() == ["(other)", "other"]


def test_equal_numbers_are_told_apart_by_their_text() -> None:
    column = Categorical("zip", ("01234", "1234", "7"), other=True)
    assert column.encode(pa.array(["01234", "1234", "1234.0", "07", "7.0"])).tolist() == [0, 1, 3, 2, 2]
    assert column.encode(pa.array([1234, 7])).tolist() == [1, 2]


@pytest.mark.parametrize(
    "column",
    [
        Integer("n", 0, 99, edges=(0, 1, 60)),
        Integer("n", 0, 100, step=5, bins=2),
        Date("n", date(2020, 1, 1), date(2020, 12, 31), "1y"),
        Datetime("n", datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 1, 39), bins=2),
    ],
)
def test_draws_are_uniform_on_the_grid_of_a_bin(column: Column) -> None:
    """Chi-square; false alarm 1e-6 for each column, seed fixed."""
    code = column.size - 1
    drawn = column.decode(np.full(20_000, code), np.random.default_rng(7))
    counts = pc.value_counts(drawn).field("counts").to_numpy()
    lows, highs = column.ranges
    step = column.step if isinstance(column, Integer) else 1
    n_values = int((highs[code] - lows[code]) // step) + 1
    assert len(counts) <= n_values
    counts = np.append(counts, np.zeros(n_values - len(counts)))
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


def test_draws_are_uniform_within_a_bin() -> None:
    """Kolmogorov-Smirnov; false alarm 1e-6, seed fixed."""
    column = Real("x", 0, 10, edges=(0, 4, 10))
    drawn = column.decode(np.full(20_000, 1), np.random.default_rng(7)).to_numpy()
    assert stats.kstest(drawn, stats.uniform(4, 6).cdf).pvalue > FALSE_ALARM


def test_unplaced_values_name_the_row_and_never_the_value() -> None:
    for column, cells in (
        (Integer("age", 0, 9), ["1", "secret"]),
        (Integer("age", 0, 9), ["1", None]),
        (Categorical("age", ("1", "a")), ["a", "secret"]),
        (Boolean("age"), ["yes", "secret"]),
        (Date("age", date(2020, 1, 1), date(2020, 1, 2)), ["2020-01-01", "secret"]),
    ):
        with pytest.raises(
            UnplacedValue, match=r"Column 'age', row 2: the value is missing or not .*Declare `"
        ) as caught:
            column.encode(pa.array(cells))
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None
    with pytest.raises(UnplacedValue, match="Declare `other = true` or `missing = true`"):
        Categorical("age", ("a",)).encode(pa.array(["b"]))


def test_lists_are_not_values() -> None:
    with pytest.raises(TypeError, match="single values"):
        Categorical("c", ("a",)).encode(pa.array([["a"]]))


def test_codes_outside_the_column_are_refused() -> None:
    with pytest.raises(ValueError, match="must lie in 0 to 1"):
        Boolean("b").decode(np.array([2]), np.random.default_rng(0))


def test_identifiers_are_made_anew() -> None:
    rng = np.random.default_rng(0)
    assert Identifier("id").generate(3, rng) is None
    assert Identifier("id", "sequence").generate(3, rng).to_pylist() == [1, 2, 3]
    made = Identifier("id", "uuid").generate(500, rng).to_pylist()
    assert len(set(made)) == 500
    assert all(text[14] == "4" and text[19] in "89ab" and len(text) == 36 for text in made)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer("n", 5, 4), "`lower` must be at most `upper`"),
        (lambda: Integer("n", 0, 2**60), "within 2\\^53"),
        (lambda: Integer("n", 0, 10, step=3), "leads from 0 to 9 and then beyond 10. Give 9 or 12 as `upper`"),
        (lambda: Integer("n", 0, 10, step=-1), "`step` must be positive; found -1"),
        (lambda: Integer("n", 0, 10, bins=12), "`bins` must be between 1 and the 11 values"),
        (lambda: Integer("n", 0, 10, bins=2, edges=(0, 10)), "`bins` or `edges`, not both"),
        (lambda: Integer("n", 0, 10, edges=(1, 5)), "first of `edges` must be `lower`"),
        (lambda: Integer("n", 0, 10, edges=(0, 5, 5)), "`edges` must increase"),
        (lambda: Integer("n", 0, 10**9, bins=1_000_001), "between 1 and 1,000,000 codes; found 1,000,001"),
        (lambda: Integer("n", 0, 9, missing_values=("?",)), "so `missing = true` must be too"),
        (lambda: Integer("n", 0, 9, missing=True, missing_values=(" ?",)), "without surrounding white space"),
        (lambda: Integer("n", 0, 1000, missing=True, missing_values=("999",)), "'999' is in `missing_values` and also"),
        (lambda: Boolean("n", missing=True, missing_values=("N",)), "it can't be both"),
        (lambda: Real("x", 0, 1, bins=2, resolution=0.5), "at most one of `bins`, `resolution` or `edges`"),
        (lambda: Real("x", 1, 1, bins=2), "`lower` must be below `upper`"),
        (lambda: Real("x", 0, np.inf, bins=2), "both finite"),
        (lambda: Real("x", -1e308, 1e308, bins=2), "must be a finite number"),
        (lambda: Real("x", 0, 1, edges=(0, 0.5, 0.5, 1)), "`edges` must increase"),
        (lambda: Real("x", 0, 1, edges=(0, 0.5)), "the last one `upper`"),
        (lambda: Real("x", 0, 1, bins=2, points=(2.0,)), "must lie between `lower` and `upper`; found 2. Widen them"),
        (lambda: Integer("x", 1, 5, points=(97,)), "found 97. Widen them, or, where it stands for no number, list it"),
        (lambda: Real("x", 0, 1, bins=2, points=(0.5, 0.5)), "`points` must differ"),
        (lambda: Real("x", 1, np.nextafter(1, 2), bins=5), "wide enough for floating point"),
        (lambda: Categorical("c", ()), "at least one category"),
        (lambda: Categorical("c", ("a", "a")), "lists 'a' twice"),
        (lambda: Categorical("c", ("a", "")), "not empty"),
        (lambda: Categorical("c", ("a", True)), 'kind = "boolean"'),
        (lambda: Categorical("c", ("a", "?"), missing=True, missing_values=("?",)), "'\\?' is both in"),
        (lambda: Categorical("c", ("a", "b"), other=True, ordered=True), "`other` has no rank"),
        (lambda: Categorical("c", (2, 1), ordered=True), "must increase where they are `ordered`"),
        (lambda: Date("d", date(2020, 1, 2), date(2020, 1, 1)), "must not come after"),
        (lambda: Date("d", datetime(2020, 1, 2), date(2021, 1, 1)), "dates without a time"),
        (lambda: Date("d", date(2020, 1, 2), date(2021, 1, 1), "7 days"), "`resolution` must be a count and one of"),
        (lambda: Date("d", date(2020, 1, 2), date(2021, 1, 1), "1h"), "whole days"),
        (lambda: Date("d", date(2020, 1, 2), date(2021, 1, 1), "1d", bins=3), "only one of"),
        (lambda: Date("d", date(2020, 1, 2), date(2021, 1, 1), edges=(date(2020, 1, 3),)), "must be `lower`"),
        (lambda: Datetime("t", datetime(2020, 1, 2), datetime(2021, 1, 1)), "give `bins`, `edges`, or a `resolution`"),
        (lambda: Datetime("t", datetime(1900, 1, 2), datetime(2021, 1, 1), "1s"), "more than 1,000,000 bins"),
        (lambda: Datetime("t", datetime(2020, 1, 2, tzinfo=UTC), datetime(2021, 1, 1), "1d"), "without a zone"),
        (lambda: Identifier("id", "uid"), "Did you mean 'uuid'"),
    ],
)
def test_facts_that_contradict_each_other_are_refused(make: object, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()  # type: ignore[operator]


def test_missing_cells_have_a_label_of_their_own_beside_a_category_called_missing() -> None:
    """Probabilities and counts are looked up by labels, of which two were alike."""
    column = Categorical("c", ("a", "missing", "(missing)"), missing=True)
    assert column.labels == ("a", "missing", "(missing)", "((missing))")
    assert Categorical("c", ("a",), missing=True).labels == ("a", "missing")
    assert column.former_labels == ("a", "missing", "(missing)", "missing")
