"""Real numbers of so many digits after the point: the nearest counts, the nearest comes back, and means stay."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import counterfoil
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.fidelity.saved_release import folder_problems
from counterfoil.schema import Integer, Real, Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.placement import Placement, place, possible_placements
from counterfoil.schema.placement_words import ColumnWords

FALSE_ALARM = 1e-6


@st.composite
def columns(draw: st.DrawFn) -> Real:
    decimals = draw(st.integers(0, 3))
    lower = draw(st.sampled_from([0.0, -3.0, 1.25, -700.0, 0.05, -0.05, 1000.0]))
    upper = lower + draw(st.sampled_from([1.0, 4.0, 7.7, 25.0, 999.0, 1e4, 1e6]))
    within = st.floats(lower, upper).map(lambda number: round(number, decimals)).filter(lambda x: lower <= x <= upper)
    facts = draw(st.sampled_from(["", "bins", "edges"]))
    chosen: dict[str, object] = {"points": tuple(draw(st.sets(within, max_size=3)))}
    if facts == "bins":
        chosen["bins"] = draw(st.integers(1, 20))
    if facts == "edges":
        chosen["edges"] = (lower, *sorted(draw(st.sets(within, max_size=3)) - {lower, upper}), upper)
    try:
        return Real("x", lower, upper, decimals=decimals, **chosen)  # type: ignore[arg-type]
    except SchemaError:
        assume(False)
        raise


def nearest(number: float, column: Real) -> float:
    """By the arithmetic of decimals, within the bounds."""
    unit = Decimal(1).scaleb(-(column.decimals or 0))
    low, high = ((Decimal(str(end)) / unit) for end in column.bounds)
    places = (Decimal(number) / unit + Decimal("0.5")).to_integral(ROUND_FLOOR)
    return float(max(min(places, high.to_integral(ROUND_FLOOR)), -(-low).to_integral(ROUND_FLOOR)) * unit)


def code_by_edges(number: float, column: Real) -> int:
    """A bin holds its left edge and not its right one, and no point; codes follow the line, a point first."""
    bins = [(low, 1) for low in column._edges[:-1].tolist()] + [(point, 0) for point in column._points]
    line = sorted(bins)
    if number in column._points:
        return line.index((number, 0))
    intervals = column._edges.tolist()
    return line.index((intervals[min(bisect_right(intervals, number), len(intervals) - 1) - 1], 1))


@settings(max_examples=150, deadline=None)
@given(columns(), st.integers(0, 10**6))
def test_each_number_counts_as_the_nearest_of_so_many_digits(column: Real, seed: int) -> None:
    numbers = np.random.default_rng(seed).uniform(*column.bounds, 200)
    expected = [nearest(number, column) for number in numbers.tolist()]
    assert column.rounded(numbers).tolist() == expected
    codes = column.encode(pa.array(numbers))
    assert codes.tolist() == [code_by_edges(number, column) for number in expected]
    lows, highs = column.ranges
    assert (lows[codes] <= expected).all()
    assert (expected <= highs[codes]).all()
    ways = place(column, pa.array(expected)).placements
    assert (ways == Placement.DECLARED).all()
    moved = place(column, pa.array(numbers)).placements == Placement.MOVED
    beside = np.abs(numbers - expected)
    assert moved[beside > 1e-8 * np.abs(numbers)].all()
    assert not moved[beside == 0].any()


@settings(max_examples=150, deadline=None)
@given(columns(), st.integers(0, 10**6), st.booleans())
def test_drawn_numbers_have_so_many_digits_and_their_own_code(column: Real, seed: int, tilted: bool) -> None:
    (column,) = Schema((column,)).synthesized
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, column.size, 300)
    counts = rng.exponential(100, column.size) if tilted else None
    drawn = column.decode(codes, rng, counts)
    numbers = drawn.to_numpy()
    assert [nearest(number, column) for number in numbers.tolist()] == numbers.tolist()
    assert (column.encode(drawn) == codes).all()


def test_half_way_counts_as_the_upper_one_as_it_does_with_a_step() -> None:
    column, stepped = Real("x", -4.0, 4.0, decimals=0), Real("x", -4.0, 4.0, step=1.0)
    cells = np.array([-3.5, -2.5, -0.5, -0.4, 0.5, 1.5, 2.5, 3.49, 3.5, 4.0])
    assert column.rounded(cells).tolist() == [-3, -2, 0, 0, 1, 2, 3, 3, 4, 4] == stepped.rounded(cells).tolist()
    assert Real("x", 0.0, 1.0, decimals=1).rounded(np.array([0.35, 0.1 + 0.2])).tolist() == [0.4, 0.3]


@pytest.mark.parametrize(("upper", "decimals"), [(4.0, 0), (1.0, 1), (30.0, 0), (200.0, 0), (25.0, 1), (250.0, 0)])
def test_means_stay_and_the_top_value_occurs(upper: float, decimals: int) -> None:
    """Of what is drawn for the codes of even numbers: five standard errors of rounding twice."""
    column = Real("x", 0.0, upper, decimals=decimals, scale="linear")
    numbers = np.random.default_rng(1).uniform(0.0, upper, 50_000)
    codes = column.encode(pa.array(numbers))
    drawn = column.decode(codes, np.random.default_rng(2)).to_numpy()
    off = float(drawn.mean() - numbers.mean())
    assert abs(off) < 5 * np.std(drawn - numbers) / np.sqrt(len(numbers))
    assert drawn.max() == upper


def test_drawn_numbers_are_even_among_those_of_their_bin() -> None:
    """Chi-squared of three numbers, below what one run in a million exceeds."""
    column = Real("x", 0.0, 9.0, bins=3, decimals=0, points=(4.0,))
    drawn = column.decode(np.full(30_000, 1), np.random.default_rng(3)).to_numpy()
    numbers, counts = np.unique(drawn, return_counts=True)
    assert numbers.tolist() == [3.0, 5.0]
    assert (counts.min() - 15_000) ** 2 / 7500 < 24
    first = column.decode(np.zeros(30_000, dtype=int), np.random.default_rng(4)).to_numpy()
    counts = np.bincount(first.astype(int))
    assert ((counts - 10_000) ** 2 / 10_000).sum() < -2 * np.log(FALSE_ALARM)


def test_means_are_foretold() -> None:
    column = Real("x", 0.0, 400.0, bins=40, decimals=0)
    counts = np.random.default_rng(5).exponential(100, column.size)
    codes = np.repeat(np.arange(column.size), 4000)
    drawn = column.decode(codes, np.random.default_rng(6), counts).to_numpy().reshape(column.size, -1)
    assert np.allclose(drawn.mean(axis=1), column.drawn_means(counts), atol=6 * drawn.std(axis=1).max() / 4000**0.5)


def test_labels_are_the_numbers_of_their_bins() -> None:
    assert Real("x", 0.0, 4.0, decimals=0).labels == ("0", "1", "2", "3", "4")
    assert Real("x", 0.0, 5.0, edges=(0.0, 2.5, 5.0), decimals=0).labels == ("0..2", "3..5")
    assert Real("x", 0.05, 9.99, bins=2, decimals=1).labels == ("0.1..5", "5.1..9.9")
    assert Real("x", 0.05, 9.99, bins=2, decimals=1).ranges[0][0] == 0.05  # a bound is a value, as cells stand


def test_narrow_reals_are_rounded_by_their_type() -> None:
    column = Real("x", 0.0, 20.0, decimals=2)
    for kind in (np.float32, np.float16):
        cells = np.array([0.1, 3.14, 19.99 if kind is np.float32 else 2.5, 3.145], dtype=kind)
        ways = place(column, pa.array(cells)).placements.tolist()
        assert ways[:3] == [Placement.DECLARED] * 3
        assert ways[3] == (Placement.MOVED if kind is np.float32 else ways[3])
    assert place(column, pa.array([float(np.float32(0.1))])).placements.tolist() == [Placement.MOVED]


def test_check_counts_what_has_more_digits() -> None:
    column = Real("x", 0.0, 4.0, decimals=0)
    assert Placement.MOVED in possible_placements(column)
    assert ColumnWords.of(column).remedy(Placement.MOVED).startswith("give more `decimals` or a finer `step`")
    report = check_without_privacy(pa.table({"x": ["3.9", "2", "2.0", "1.5"]}), Schema((column,)))
    assert [(one.way, one.count) for one in report.columns[0].irregular] == [(Placement.MOVED, 2)]
    assert not report.holds
    exact = check_without_privacy(pa.table({"x": ["3", "2", "2.0", "4"]}), Schema((column,)))
    assert exact.holds


def test_numbers_too_large_for_digits_stay() -> None:
    column = Real("x", 0.0, 1e300, decimals=0)
    assert column.rounded(np.array([1e200, 3.7])).tolist() == [1e200, 4.0]


BESIDE_THE_GRID = [(0.0, 7.7), (0.0, 100.7), (0.2, 7.7), (-3.5, 1e5 + 0.5), (0.05, 1.05), (-0.5, 7.7), (-0.4, 0.4)]


@pytest.mark.parametrize(("lower", "upper"), BESIDE_THE_GRID)
def test_bounds_with_more_digits_hold_the_numbers_between_them(lower: float, upper: float) -> None:
    """Nothing is drawn beyond a bound (it was: 8 of 0 to 7.7), and such bounds need no bins made by hand."""
    column = Real("x", lower, upper, decimals=0)
    codes = np.arange(column.size).repeat(30)
    drawn = column.decode(codes, np.random.default_rng(1)).to_numpy()
    assert (drawn == np.rint(drawn)).all()
    assert (lower <= drawn).all()
    assert (drawn <= upper).all()
    assert (column.encode(pa.array(drawn)) == codes).all()
    assert column.encode(pa.array([lower, upper])).tolist() == [0, column.size - 1]


def test_a_point_that_is_all_that_its_bin_holds_needs_no_code_beside_it(tmp_path: Path) -> None:
    """What noise put in the bin was read back as the point, and `receipt verify` said of an untouched folder that its
    error bars do not follow."""
    fee = Real("fee", 0.0, 500.0, decimals=2, scale="log", points=(0.05, 0.1, 9.99))
    facts = Schema((fee, Integer("n", 0, 3)))
    (kept, _) = facts.columns
    assert kept == replace(fee, points=(9.99,))
    assert kept.size == fee.size - 2
    codes = np.arange(kept.size)
    assert (kept.encode(kept.decode(codes, np.random.default_rng(0))) == codes).all()
    for number in (0.05, 0.1, 9.99):
        code = kept.encode(pa.array([number]))
        assert [ends[code].item() for ends in kept.ranges] == [number, number]
    assert Schema.from_toml(facts.to_toml()) == facts
    rng = np.random.default_rng(1)
    table = pa.table({"fee": rng.choice([0.05, 0.1, 3.5, 9.99], 3000), "n": rng.integers(0, 4, 3000)})
    made = counterfoil.synthesize(table, facts, epsilon=0.5, seed=1)
    made.save(tmp_path / "saved")
    assert folder_problems(tmp_path / "saved") == []


@pytest.mark.parametrize("points", [(0.0,), (0.0, 1000.0), (0.0, 19.99), (0.0, 0.01, 0.02)])
def test_points_at_the_beginning_of_a_narrow_cell_are_no_contradiction(points):
    """`points = [0]`, as the documentation has it, was refused beside `decimals = 2`: 0 was all that its cell held."""
    column = Real("gift", 0.0, 1000.0, decimals=2, points=points)
    assert set(points) <= set(column._points)
    for point in points:
        code = column.encode(pa.array([point]))
        assert column.decode(code, np.random.default_rng(0)).to_pylist() == [point]
    drawn = column.decode(np.arange(column.n_bins), np.random.default_rng(0)).to_numpy()
    assert (np.round(drawn, 2) == drawn).all()
    assert (np.diff(drawn) >= 0).all()
