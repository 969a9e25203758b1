"""Numbers that many records hold exactly: found where noise allows, and none where numbers are smooth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.api import synthesize
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.discover import discover
from counterfoil.discovery.points import MOST, TRIED, Points, integers_standing_out
from counterfoil.discovery.round_numbers import round_numbers
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.noise.shown_counts import FALSE_ALARMS, extended, shown, sure_of_points
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.raw_cell import cells_of
from counterfoil.schema.real import Real
from counterfoil.schema.value_grid import fine_edges, places_of

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

ROWS = 30_000
A_TENTH = Budget(1.0, 1e-9)


def amounts(rows: int = ROWS) -> pd.DataFrame:
    """Donations of which three in five are a few round sums, salaries of which seven in ten are whole thousands."""
    rng = np.random.default_rng(5)
    some = rng.choice([10.0, 20.0, 25.0, 50.0, 100.0], rows, p=[0.2, 0.3, 0.1, 0.3, 0.1])
    donation = np.where(rng.random(rows) < 0.6, some, rng.lognormal(3.3, 0.8, rows).round(2))
    paid = rng.lognormal(10.3, 0.5, rows)
    salary = np.where(rng.random(rows) < 0.7, (paid / 1000).round() * 1000, paid.round()).astype(int)
    return pd.DataFrame({"donation": donation, "salary": salary, "group": rng.choice(list("abc"), rows)})


def points_of(table: pd.DataFrame, budget: Budget, *, share: float = 1.0, seed: int = 1) -> dict[str, dict[float, int]]:
    discovered, curator = discover(table, budget=budget, share=share, seed=seed)
    with curator:
        receipt = Receipt.from_curator(
            curator, method="schema", parameters={"shares": dict(discovered.shares)}, rows=0, released="measures"
        )
    assert receipt.verify().holds, receipt.verify().problems
    return {column.name: dict(column.points) for column in discovered.columns}


@pytest.mark.parametrize("seed", range(4))
def test_round_sums_and_thousands_are_found_with_a_tenth_of_a_budget(seed):
    """The rarest sum has 1,700 rows, 28 deviations of noise. A false one is found in one run of 200 at most; whole
    thousands of more than 500 rows are missed with probability below 1e-4 each, and seeds are fixed."""
    table = amounts()
    found = points_of(table, A_TENTH, share=0.1, seed=seed)
    assert set(found["donation"]) == {10.0, 20.0, 25.0, 50.0, 100.0}
    for number, count in found["donation"].items():
        assert abs(count - (table["donation"] == number).sum()) < 6 * 75
    held = table["salary"].value_counts()
    assert {*held.index[held > 550]} <= set(found["salary"])
    assert all(number % 1000 == 0 for number in found["salary"])
    assert len(found["salary"]) <= MOST


@pytest.mark.parametrize("seed", range(3))
def test_a_number_that_most_cells_hold_need_not_be_one_of_the_roundest(seed):
    """The limit of detection of a test: 45 is none of the thirty roundest from 16 to 256, all that were tried."""
    rng = np.random.default_rng(2)
    rows = ROWS // 2
    cycles = np.where(rng.random(rows) < 0.8, 45.0, rng.uniform(14, 45, rows).round(2))
    others = {f"other{i}": rng.integers(0, 90, rows) for i in range(17)}
    found = points_of(pd.DataFrame({"cycles": cycles} | others), Budget(0.2, 1e-9), seed=seed)
    assert set(found["cycles"]) == {45.0}


def test_a_copy_has_as_many_of_them():
    """The sums of a release have a noise of about 40 rows, and no seed: 20 deviations of it."""
    table = amounts()
    purchase = SchemaPurchase.of(table, A_TENTH, "add_or_remove_one", share=0.1)
    made, curator = purchase.make(None)
    curator.close()
    rows = synthesize(table, made.schema, epsilon=1.0, delta=1e-9, rest=True, method="independent").to_pandas()
    for number in (10.0, 20.0, 25.0, 50.0, 100.0):
        assert (rows["donation"] == number).mean() == pytest.approx((table["donation"] == number).mean(), abs=0.03)
    assert (rows["salary"] % 1000 == 0).mean() > 0.3


def smooth(rows: int = 20_000) -> dict[str, tuple[np.ndarray, int | None]]:
    """Columns without heaps, and the digits of their numbers after the point."""
    rng = np.random.default_rng(2)
    return {
        "cents": (rng.lognormal(3.3, 0.8, rows).round(2), 2),
        "tenths": (rng.exponential(20, rows).round(1), 1),
        "thousandths": (rng.random(rows).round(3), None),
        "any": (rng.normal(0, 1500, rows), None),
        "whole": (rng.lognormal(8, 1, rows).round(), 0),
        "below": (rng.normal(-3000, 2000, rows).round(), 0),
    }


def counted(numbers: np.ndarray, digits: int | None, least: float, cells: int = 128) -> Points:
    """Without noise, the answer about numbers at a few dozen points."""
    places = places_of(np.unique(numbers))
    first, last = int(places.min()), int(places.max())
    tried = [number for place in range(first, last + 1) for number in round_numbers(place, 40, digits)]
    whole = digits == 0
    intervals = Intervals("a", (0,), fine_edges(first, last, cells, whole=whole), tuple(sorted(tried)))
    exact = intervals.counts(np.zeros(len(numbers)), numbers)
    return Points(intervals, exact.astype(float), 1.0, digits, least)


def noisy(points: Points, deviation: float, rng: np.random.Generator) -> Points:
    counts = points.counts + rng.normal(0, deviation, len(points.counts))
    return replace(points, counts=counts, deviation=deviation)


def alarms(least: float | None) -> int:
    """In how many of 100 tables of six smooth columns a number is called frequent."""
    rng, tables = np.random.default_rng(3), 100
    columns = [counted(*column, 0.0) for column in smooth().values()]
    limit = sure_of_points(sum(len(one.intervals.points) for one in columns)) if least is None else least
    return sum(
        any(noisy(replace(one, least=limit), deviation, rng).frequent for one in columns)
        for deviation in rng.choice([1.0, 5.0, 20.0, 100.0], tables)
    )


def test_no_number_of_a_smooth_column_is_frequent():
    """Half of `FALSE_ALARMS` of 100 tables is one half; 8 or more with probability below 1e-6."""
    assert FALSE_ALARMS == 0.01
    assert alarms(None) < 8
    assert alarms(2.0) >= 8


def test_of_noise_alone_no_integer_is_frequent():
    """300 columns of 2,000 integers that were counted one by one: 1.5, and 13 or more with probability below 1e-6."""
    rng, limit = np.random.default_rng(4), sure_of_points(2000)
    values = np.arange(-1000.0, 1000.0)
    found = [integers_standing_out(values, rng.normal(5, 30, 2000), 30.0, limit) for _ in range(300)]
    assert sum(map(bool, found)) < 13
    dense = rng.poisson(400, 2000) + rng.normal(0, 1, 2000)
    assert integers_standing_out(values, dense, 1.0, limit) == (), "by chance some hold 80 more"


def test_integers_that_were_counted_one_by_one_need_not_be_round():
    rng = np.random.default_rng(6)
    values, counts = np.arange(-500.0, 1500.0), rng.normal(10, 20, 2000)
    counts[[137, 138, 500, 1999]] += 400
    found = integers_standing_out(values, counts, 20.0, sure_of_points(2000))
    assert [number for number, _ in found] == [-363.0, -362.0, 1499.0], "0 has a code of its own anyway"
    assert integers_standing_out(values[:9], counts[:9], 20.0, 4.0) == ()


@pytest.mark.parametrize(
    ("heaps", "digits", "scale"),
    [((-500.0, -20.0, 250.0), 2, 900.0), ((0.5, 0.25), None, 0.4), ((-1500.0, 3000.0, 9999.0), 0, 5000.0)],
)
def test_heaps_are_found_on_both_sides_of_zero_and_with_any_digits(heaps, digits, scale):
    """Each holds 40 deviations of noise; an interval of a smooth column holds less."""
    rng = np.random.default_rng(7)
    plain = rng.normal(0, scale, 20_000)
    plain = np.clip(plain if digits is None else plain.round(digits), -3 * scale, 3 * scale)
    numbers = np.concatenate([plain, *[np.full(2000, heap) for heap in heaps]])
    points = counted(numbers, digits, 4.2)
    for _ in range(20):
        found = dict(noisy(points, 50.0, rng).frequent)
        assert set(found) == set(heaps)
        assert all(abs(count - 2000) < 6 * 50 + 100 for count in found.values())


def test_no_more_get_a_code_of_their_own_than_a_column_can_bear():
    numbers, held = np.arange(1000.0, 61_000.0, 1000.0), np.random.default_rng(11).permutation(np.arange(1000, 1060))
    intervals = Intervals("a", (0,), (0.0, 100_000.0), tuple(numbers.tolist()))
    counts = np.concatenate([[0, 20_000, 0], held]).astype(float)
    frequent = Points(intervals, counts, 1.0, 0, 4.2).frequent
    assert [number for number, _ in frequent] == sorted(numbers[held >= 1060 - MOST])


def test_where_no_number_stands_out_bounds_are_found_with_the_noise_of_intervals_alone():
    """Points at which no more lie than beside them are left out of most intervals: 16% of places take theirs in."""
    points, rng = counted(smooth()["cents"][0], 2, 4.2), np.random.default_rng(8)
    loud = [noisy(points, 50.0, rng).line[1] > 50.0 for _ in range(200)]
    inside = np.bincount(np.searchsorted(points.intervals.edges, points.intervals.points, side="right") - 1)
    assert np.mean(loud) < 0.3 * np.mean(inside > 0)
    sums, noises = replace(points, deviation=50.0).line
    assert abs(sums.sum() - 20_000) < 500
    assert noises.max() <= 50.0 * (1 + inside.max()) ** 0.5


def test_many_heaps_of_which_none_stands_out_count_among_the_records():
    """Fifty of 100 records each, which a noise of 60 hides one by one; left out, a quarter of the records would be."""
    heaps = np.repeat(np.arange(10_000.0, 60_000.0, 1000.0), 100)
    plain = np.random.default_rng(9).uniform(5000, 60_000, 15_000).round()
    points, rng = counted(np.append(plain, heaps), 0, 4.2), np.random.default_rng(10)
    for _ in range(20):
        told = noisy(points, 60.0, rng)
        assert len(told.frequent) <= 2
        sums, noises = told.line
        assert abs(sums.sum() - 20_000) < 6 * float(np.square(noises).sum()) ** 0.5 + 1000


@given(st.lists(st.integers(0, 500), min_size=1, max_size=60), st.floats(1, 50), st.floats(2, 6))
def test_equal_noises_are_one_noise(counts, deviation, least):
    line = np.array(counts, dtype=float)
    each = np.full(len(line), deviation)
    assert shown(line, each, least) == shown(line, deviation, least)
    ends = (len(line) // 2, len(line) // 2)
    within = (0, len(line) - 1)
    one, other = (extended(line, ends, within, noise, 1000.0, least) for noise in (each, deviation))
    assert one == other


def test_a_louder_count_must_exceed_more():
    line, noises = np.array([100.0, 100.0, 0.0, 0.0]), np.array([10.0, 40.0, 10.0, 10.0])
    assert [(start, end) for start, end, _ in shown(line, noises, 4.0)] == [(0, 1)]
    assert extended(line, (0, 0), (0, 3), noises, 200.0, 6.0) == (0, 1)
    assert extended(line, (0, 0), (0, 3), noises * 8, 200.0, 6.0) == (0, 0)


def test_numbers_are_counted_at_points_or_in_intervals_and_never_in_both():
    intervals = Intervals("a", tuple(range(11)), (-10.0, 0.0, 10.0), (-5.0, 0.0, 0.3, 10.0))
    codes, numbers = cells_of(pa.array(["-5", "-5.0", "-4", "0", "0.3", "0.30", ".31", "10", "11", "-11", "x", ""]))
    assert intervals.counts(codes, numbers).tolist() == [1, 1, 1, 1, 2, 1, 2, 1]


def test_heaps_at_the_bounds_are_points_of_a_schema_that_loads():
    table = amounts().assign(donation=lambda one: one["donation"].clip(5, 100), group="a")
    purchase = SchemaPurchase.of(table, Budget(5.0, 1e-9), "add_or_remove_one")
    made, curator = purchase.make(None)
    curator.close()
    (donation,) = (column for column in made.schema.columns if column.name == "donation")
    assert isinstance(donation, Real)
    assert {20.0, 50.0, 100.0} <= set(donation.points)
    assert donation.lower <= 5
    assert len(donation.points) <= MOST < TRIED
