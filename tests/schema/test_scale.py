"""Columns that name only their bounds: fine cells on a scale, read cell by cell, and values drawn within them."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.schema import Integer, Real, Schema, SchemaError
from counterfoil.schema.column import Column
from counterfoil.schema.drafting import draft
from counterfoil.schema.scale import CELLS, LOG

FALSE_ALARM = 1e-6


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    step = draw(st.sampled_from([1, 1, 1, 2, 25]))
    lower = draw(st.sampled_from([0, 0, 1, -1, -3, -700, -20_000, 40, 90_000]))
    upper = lower + step * draw(st.integers(1, 3) | st.integers(90, 1300) | st.integers(10_000, 3_000_000))
    facts = draw(st.sampled_from([{}, {"missing": True}]))
    bins = draw(st.sampled_from([0, 0, 2, 3, 17]))
    scale = draw(st.sampled_from(["", "linear", "log"]))
    return Integer("c", lower, upper, step, bins=min(bins, (upper - lower) // step + 1), scale=scale, **facts)


@st.composite
def reals(draw: st.DrawFn) -> Real:
    lower = draw(st.sampled_from([0.0, 0, 1.5, -0.25, -300.0, -7e4, 120.0]))
    upper = lower + draw(st.sampled_from([0.5, 1.0, 3.25, 40.0, 999.0, 5000.0, 2e6, 1e12]))
    facts = draw(st.sampled_from([{}, {"missing": True}]))
    bins = draw(st.sampled_from([0, 0, 0, 1, 12]))
    decimals = None if bins else draw(st.sampled_from([None, None, 2, 3]))
    return Real("c", lower, upper, bins, scale=draw(st.sampled_from(["", "linear", "log"])), decimals=decimals, **facts)


@settings(max_examples=150, deadline=None)
@given(integers() | reals(), st.integers(0, 10**6), st.booleans())
def test_drawn_values_have_the_codes_that_they_were_drawn_for(column: Column, seed: int, tilted: bool):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, column.size, 300)
    counts = rng.exponential(100, column.size) * rng.integers(0, 2, column.size) if tilted else None
    decoded = column.decode(codes, rng, counts)
    np.testing.assert_array_equal(column.encode(decoded), codes)
    lows, highs = column.ranges
    present = codes < column.n_bins
    numbers = decoded.cast(pa.float64()).to_numpy(zero_copy_only=False)[present]
    assert (lows[codes][present] <= numbers).all()
    assert (numbers <= highs[codes][present]).all()
    assert column.spans is not None
    assert len(column.spans) == column.n_bins
    assert (column.spans >= 0).all()
    assert len(column.labels) == column.size


@settings(max_examples=100, deadline=None)
@given(integers())
def test_whole_numbers_lie_in_the_cell_that_their_label_names(column: Integer):
    numbers = np.unique(np.clip(np.concatenate([column.ranges[0], column.ranges[1]]), *column.bounds))
    for number in numbers[~np.isnan(numbers)].astype(int)[:60]:
        (code,) = column.encode(pa.array([int(number)]))
        low, _, high = column.labels[code].partition("..")
        assert int(low) <= number <= int(high or low)
    lows, highs = column.ranges
    present = slice(0, column.n_bins)
    assert (lows[present][1:] == highs[present][:-1] + column.step).all(), "each number of the grid has one cell"


@settings(max_examples=100, deadline=None)
@given(integers() | reals())
def test_cells_by_default_are_few_and_the_bounds_and_zero_are_alone(column: Integer | Real):
    if column.bins:
        return
    many = isinstance(column, Real) or (column.upper - column.lower) // column.step >= (
        CELLS if column.scale == LOG else 1000
    )
    if not many:
        assert column.n_bins == (column.upper - column.lower) // column.step + 1
        return
    assert column.size <= 100, "a pair has at most 10,000 cells"
    alone = [column.lower, column.upper]
    if column.lower < 0 < column.upper and (isinstance(column, Real) or column.lower % column.step == 0):
        alone.append(0)
    for number in alone:
        (code,) = column.encode(pa.array([float(number)]))
        low, high = (float(ends[code]) for ends in column.ranges)
        if isinstance(column, Real) and column.decimals is not None:
            step = Decimal(10) ** -column.decimals
            inside = (Decimal(str(low)) / step, Decimal(str(high)) / step)
            assert int(inside[1].to_integral("ROUND_FLOOR")) - int(inside[0].to_integral("ROUND_CEILING")) <= 0
        else:
            assert low == high == number


def test_cells_grow_with_the_distance_from_zero():
    column = Integer("gain", 0, 500_000)
    lows, highs = column.ranges
    widths = highs - lows + 1
    assert widths[0] == 1
    assert widths[1] <= 6
    inner = widths[1:-1]
    assert (inner[5:] >= 0.8 * inner[4:-1]).all()
    far = lows[1:-1] > 5000
    assert (inner[far] / lows[1:-1][far]).max() < 0.13


def test_single_numbers_lie_around_zero_on_both_sides():
    column = Integer("delay", -600, 6000)
    labels = set(column.labels)
    assert {"-3", "-2", "-1", "0", "1", "2", "3", "-600", "6000"} <= labels


def test_up_to_a_thousand_whole_numbers_keep_a_code_each():
    assert Integer("n", 0, 999).size == 1000
    assert Integer("n", 0, 999, scale="linear").size == 1000
    assert Integer("n", 0, 1000).size < 101
    assert Integer("n", 0, 999, scale="log").size < 101


def test_a_real_needs_no_bins_and_is_linear_or_logarithmic_by_its_bounds():
    narrow, wide = Real("share", 0, 1), Real("price", 0, 1e6)
    widths = narrow.ranges[1] - narrow.ranges[0]
    assert widths[1:-1].max() < 1.05 * widths[1:-1].min()
    widths = wide.ranges[1] - wide.ranges[0]
    assert widths[-2] > 500 * widths[1]


def test_bins_on_the_log_scale_are_as_many_as_said():
    column = Real("price", 0, 1e6, bins=30, scale="log")
    assert column.size == 30
    assert (np.diff(column.ranges[1] - column.ranges[0]) > 0).all()
    assert Integer("n", 0, 10**6, bins=30, scale="log").size == 30


@pytest.mark.parametrize("decimals", [0, 1, 2])
def test_values_have_the_stated_decimals(decimals: int):
    column = Real("fare", 0, 300, decimals=decimals)
    rng = np.random.default_rng(3)
    texts = column.decode(rng.integers(0, column.size, 3000), rng).cast(pa.string()).to_pylist()
    assert max(-Decimal(text).as_tuple().exponent for text in texts) == decimals or decimals == 0
    assert all(len(text.partition(".")[2]) <= decimals for text in texts)


def test_without_decimals_values_tell_a_hundredth_of_their_bin():
    column = Real("weight", 0, 50, bins=10)
    values = column.decode(np.repeat(np.arange(10), 500), np.random.default_rng(1)).to_pylist()
    assert max(len(repr(value)) for value in values) <= 5, "two digits after the point, and no 15"
    assert len(set(values)) > 2000
    wide = Real("price", 0, 1e6, bins=10).decode(np.arange(10), np.random.default_rng(1)).to_pylist()
    assert all(value == int(value) for value in wide)


def test_counts_of_neighbors_say_where_in_a_bin_values_lie():
    rng = np.random.default_rng(7)
    exact = rng.exponential(1000, 40_000)
    column = Real("x", 0, 20_000, edges=(0, 1000, 2000, 4000, 20_000))
    codes = column.encode(pa.array(exact))
    counts = np.bincount(codes, minlength=4).astype(float)
    even = np.asarray(column.decode(codes, np.random.default_rng(1)))
    tilted = np.asarray(column.decode(codes, np.random.default_rng(1), counts))
    clipped = np.minimum(exact, 20_000)
    assert abs(even.mean() / clipped.mean() - 1) > 0.1
    assert abs(tilted.mean() / clipped.mean() - 1) < 0.05
    assert abs(even.std() / clipped.std() - 1) > 0.3
    assert abs(tilted.std() / clipped.std() - 1) < 0.1


def test_even_counts_leave_draws_uniform():
    column = Real("x", 0, 3, bins=3)
    values = np.asarray(column.decode(np.ones(20_000, dtype=int), np.random.default_rng(2), np.full(3, 10.0)))
    # Dvoretzky, Kiefer and Wolfowitz: a false alarm has probability 2 exp(-2 n t**2) < 1e-6.
    far = np.sqrt(np.log(2 / FALSE_ALARM) / 2 / 20_000)
    assert np.abs(np.sort(values) - 1 - np.arange(20_000) / 20_000).max() < far + 0.02


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real("x", 0, 1, scale="lg"), "`scale` must be one of linear, log; found 'lg'. Did you mean"),
        (lambda: Integer("x", 0, 9, edges=(0, 5), scale="log"), "`edges` says where bins are: leave `scale` out"),
        (lambda: Real("x", 0, 9, resolution=1, scale="log"), "`resolution` says where bins are"),
        (lambda: Real("x", 0, 1, decimals=-1), "`decimals` must be from 0 to 12; found -1"),
        (
            lambda: Real("x", 0, 1, edges=(0, 0.3, 0.4, 1), decimals=0),
            r"every bin must hold .* \[0.3, 0.4\) holds none",
        ),
        (lambda: Real("x", 0, 1e14, decimals=4), "numbers near the bounds have no 4 digits"),
    ],
)
def test_facts_that_contradict_each_other_are_refused(make: object, message: str):
    with pytest.raises(SchemaError, match=message):
        make()  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(integers() | reals())
def test_a_schema_keeps_its_scale(column: Integer | Real):
    schema = Schema((column,))
    assert Schema.from_toml(schema.to_toml()) == schema


def test_toml_names_the_scales():
    with pytest.raises(SchemaError, match='`scale` must be "linear" or "log"'):
        Schema.from_toml('[columns.x]\nkind = "real"\nlower = 0\nupper = 1\nscale = "logarithmic"\n')


def test_a_draft_proposes_the_log_scale_for_amounts():
    text = draft({"capital-gain": pa.int64(), "annualIncome": pa.float64(), "age": pa.int64(), "again": pa.int64()})
    parts = {part.partition("]")[0]: part for part in text.split("\n[columns.")[1:]}
    assert [name for name, part in parts.items() if 'scale = "log"' in part] == ["capital-gain", "annualIncome"]
    assert "bins = " not in text.split("\n[columns.")[1]
    assert 'scale = "log"' in draft({"fare": pa.string()}, typed=False).split("\n[columns.")[1]


@pytest.mark.parametrize("bins", [1, 2, 3])
@pytest.mark.parametrize("sign", [-1, 1])
def test_whole_numbers_that_the_scale_cannot_tell_apart_are_shared_evenly(bins: int, sign: int):
    """Next to 2**53 the logarithms of neighbors are one float."""
    lower, upper = sorted((sign * 2**53, sign * (2**53 - 5)))
    column = Integer("x", lower, upper, bins=bins, scale="log")
    codes = column.encode(pa.chunked_array([pa.array(range(lower, upper + 1), pa.int64())]))
    assert (np.diff(codes) >= 0).all()
    assert np.unique(codes).size == column.size >= bins


def test_far_from_zero_intervals_on_the_log_scale_are_as_wide_as_their_slope_says():
    """The difference of two logarithms has hardly a digit there; with decimals of 50 digits it has."""
    column = Integer("x", 2**53 - 5000, 2**53, scale="log")
    unit = Decimal(column._axis.unit)

    def place(number: Decimal) -> Decimal:
        return ((number + (number**2 + unit**2).sqrt()) / unit).ln()

    with localcontext(prec=50):
        ends = [
            (Decimal(int(low)) - Decimal("0.5"), Decimal(int(high)) + Decimal("0.5"))
            for low, high in zip(*column.ranges, strict=True)
        ]
        exact = [float(place(high) - place(low)) for low, high in ends]
    np.testing.assert_allclose(column.spans, exact, rtol=1e-9)
