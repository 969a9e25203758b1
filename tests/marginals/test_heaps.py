"""What is said of a cell that many rows share, far more densely than what lies beside it."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import numpy as np
import pytest

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.one_way import counted_warnings
from counterfoil.schema import Date, Datetime, Integer, Real, Schema
from counterfoil.schema.column import Column

RNG_SEED = 3


def said_of(column: Column, values: np.ndarray, scale: float = 10.0) -> list[str]:
    """Of values of one column, and noise of the `scale` in each count."""
    rng = np.random.default_rng(RNG_SEED)
    lows, highs = column.ranges
    counts = np.array([((values >= low) & (values <= high)).sum() for low, high in zip(lows, highs, strict=True)])
    counts = np.append(counts, np.zeros(column.size - len(counts))) + rng.normal(0, scale, column.size)
    found = counted_warnings(Schema((column,)), [NoisyMarginal((column.name,), counts, scale)], None, len(values))
    return [sentence for sentence in found if sentence.startswith("Many rows share one cell")]


def days_back(never: int) -> np.ndarray:
    """Days until 5,000 patients came back, and 1,825 for some who did not."""
    rng = np.random.default_rng(RNG_SEED)
    return np.append(np.minimum(rng.exponential(180, 5000).astype(int), 1900), np.full(never, 1825))


def test_a_heap_of_one_value_within_the_range_is_named_with_its_cell() -> None:
    (sentence,) = said_of(Integer("days_back", 0, 1900), days_back(2500))
    assert "34% of the numbers of days_back lie from 18" in sentence
    assert "list it in `points`" in sentence
    assert "Moments" not in sentence


def test_a_heap_that_noise_may_be_or_that_has_a_code_of_its_own_is_not_named() -> None:
    assert said_of(Integer("days_back", 0, 1900), days_back(0)) == []
    assert said_of(Integer("days_back", 0, 1900), days_back(300), scale=200.0) == []
    assert said_of(Integer("days_back", 0, 1900, points=(1825,)), days_back(2500)) == []
    assert said_of(Integer("days_back", 0, 1825), days_back(2500).clip(0, 1825)) == [], "the bound has a cell"


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (Real("pay", 0.0, 20000.0), np.random.default_rng(0).lognormal(7.5, 0.6, 20000)),
        (Real("size", 0.0, 300.0), np.random.default_rng(0).normal(170, 8, 20000)),
        (Real("wait", 0.0, 500.0), np.random.default_rng(0).exponential(20, 20000)),
        (Real("wait", 0.0, 500.0, bins=20), np.random.default_rng(0).exponential(20, 20000)),
    ],
)
def test_smooth_densities_have_no_heaps(column: Real, values: np.ndarray) -> None:
    assert said_of(column, values) == []


def test_a_placeholder_among_dates_is_named() -> None:
    column = Date("left", date(1900, 1, 1), date(2020, 12, 31), resolution="1y")
    counts = np.zeros(column.size)
    counts[0], counts[100:] = 3000, 200
    found = counted_warnings(Schema((column,)), [NoisyMarginal(("left",), counts, 10.0)], None, float(counts.sum()))
    (sentence,) = [one for one in found if one.startswith("Many rows share one cell")]
    assert "of the dates of left lie in 1900" in sentence


@pytest.mark.parametrize("missing", [False, True])
def test_a_heap_at_a_bound_may_be_what_lies_beyond_it(missing: bool) -> None:
    """Births after a bound that was bought count in its year, and no date that the public knows is in `points` then.

    Columns of a bought schema may be missing, so that the last code is none of a date.
    """
    column = Date("born", date(1940, 1, 1), date(1974, 12, 31), resolution="1y", missing=missing)
    for cell, said in ((column.n_bins - 1, True), (0, True), (20, False)):
        counts = np.append(np.full(column.n_bins, 200.0), [200.0] * missing)
        counts[cell] = 2500
        found = counted_warnings(Schema((column,)), [NoisyMarginal(("born",), counts, 10.0)], None, float(counts.sum()))
        (sentence,) = [one for one in found if one.startswith("Many rows share one cell")]
        assert ("Cells at a bound, as of born, also count what lies beyond it" in sentence) is said


def test_a_date_with_heaps_at_both_bounds_is_named_once() -> None:
    column = Date("born", date(1940, 1, 1), date(1974, 12, 31), resolution="1y")
    counts = np.full(column.n_bins, 200.0)
    counts[[0, -1]] = 2500
    found = counted_warnings(Schema((column,)), [NoisyMarginal(("born",), counts, 10.0)], None, float(counts.sum()))
    (sentence,) = [one for one in found if one.startswith("Many rows share one cell")]
    assert "Cells at a bound, as of born, also count" in sentence


def test_a_heap_of_moments_is_kept_apart_by_edges_because_a_datetime_has_no_points() -> None:
    """`points` in the table of a datetime is an unknown key."""
    first, last = datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 59, 59)
    column = Datetime("sent", first, last, resolution="1d")
    counts = np.full(column.size, 200.0)
    counts[90] = 5000
    found = counted_warnings(Schema((column,)), [NoisyMarginal(("sent",), counts, 10.0)], None, float(counts.sum()))
    (sentence,) = [one for one in found if one.startswith("Many rows share one cell")]
    assert "Moments, as of sent, have no `points`: `edges` at such a moment and a second later" in sentence
    heap = datetime(2024, 3, 31)
    apart = Datetime("sent", first, last, edges=(first, heap, heap + timedelta(seconds=1), last))
    assert apart.spans.tolist()[1] == 1
