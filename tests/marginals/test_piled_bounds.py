"""What is said of few rows at a bought bound that make up much of the variance."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import Runs
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.one_way import counted_warnings
from counterfoil.marginals.piled_bounds import piled_bounds
from counterfoil.marginals.unreliable import NumberColumn
from counterfoil.schema import Date, Integer, Real, Schema
from counterfoil.schema.bought import Bought

BOUGHT = Bought(0.1, 1e-9, "add_or_remove_one", "0" * 64)


def said_of(column: Integer | Real | Date, counts: np.ndarray, *, bought: bool = True, scale: float = 5.0) -> list[str]:
    schema = Schema((column,))
    schema = replace(schema, bought=BOUGHT) if bought else schema
    marginal = NoisyMarginal((column.name,), np.append(counts, np.zeros(column.size - len(counts))), scale)
    said = counted_warnings(schema, [marginal], None, float(counts.sum()))
    return [sentence for sentence in said if sentence.startswith("Rows at a bound")]


def falling(cells: int, pile: float) -> np.ndarray:
    """About 10,000 rows, ever fewer in each cell, and `pile` more in the last one."""
    counts = 1000 * 0.9 ** np.arange(cells)
    counts[-1] += pile
    return counts


@pytest.mark.parametrize(
    "column", [Integer("hours", 0, 79), Integer("hours", 0, 79, missing=True), Real("hours", 0.0, 79.0, step=1.0)]
)
def test_a_pile_at_a_bought_upper_bound_is_said_with_its_part_of_the_variance(column):
    counts = falling(80, 120)
    numbers = np.arange(80)
    squares = (numbers - counts @ numbers / counts.sum()) ** 2
    part = 100 * counts[-1] * squares[-1] / (counts @ squares)
    (sentence,) = said_of(column, counts)
    told = re.search(r"hours \(1.2% at 79, (\d+)% of the variance\)", sentence)
    assert told is not None
    assert int(told[1]) == pytest.approx(part, abs=2.0)
    assert said_of(column, counts, bought=False) == [], "bounds that somebody stated end where the numbers do"
    assert said_of(column, falling(80, 0)) == [], "no pile"
    assert said_of(column, counts, scale=60.0) == [], "noise hides it"
    cut_off = replace(column, words=(("79+", 79),))
    assert said_of(cut_off, counts) == [], "the word says that numbers end there"


@pytest.mark.parametrize("missing", [False, True])
def test_piles_at_both_bounds_of_dates_are_said(missing: bool):
    """Of births 11% lay after the last year that a purchase had seen, and nothing said that they were moved there."""
    column = Date("born", date(1931, 1, 1), date(1979, 12, 31), resolution="1y", missing=missing)
    counts = np.full(column.n_bins, 200.0)
    assert said_of(column, counts) == [], "no pile"
    counts[-1] += 1100
    (sentence,) = said_of(column, counts)
    assert re.search(r"born \(12% at or beside 1979-12-31, \d\d% of the variance\)", sentence)
    assert said_of(column, counts, bought=False) == []
    (sentence,) = said_of(column, counts[::-1])
    assert "at or beside 1931-01-01" in sentence


def test_below_zero_a_lower_bound_is_judged_too():
    counts = falling(80, 120)
    (sentence,) = said_of(Integer("balance", -79, 0), counts[::-1])
    assert "balance (1.2% at -79," in sentence
    assert said_of(Integer("balance", 0, 79), falling(80, 0) + 3000 * (np.arange(80) == 0)) == [], "zeros"
    assert said_of(Integer("code", 1, 80), falling(80, 0) + 3000 * (np.arange(80) == 0)) == [], "the first code"


def test_a_pile_at_zero_may_be_negative_numbers_that_a_purchase_did_not_see() -> None:
    """Of changes in percent a quarter was negative and counted as 0: their mean was 2.5 in place of 2, unsaid."""

    def said(column: Integer | Real, counts: np.ndarray, bought: Bought = replace(BOUGHT, hides=3700, rows=10_100)):
        schema = replace(Schema((column,)), bought=bought)
        found = counted_warnings(schema, [NoisyMarginal((column.name,), counts, 5.0)], None, float(counts.sum()))
        return [sentence for sentence in found if sentence.startswith("Rows pile up at 0")]

    change = Real("change", 0.0, 7.9, step=0.1)
    counts = 130 * 0.99 ** np.arange(80) + 2500 * (np.arange(80) == 0)
    (sentence,) = said(change, counts)
    assert re.match(r"Rows pile up at 0, the lower bound, in change \(27%, \d\d% of the variance\)\. The", sentence)
    assert said(change, counts, replace(BOUGHT, hides=1000, rows=10_100)) == [], "so many would have shown"
    assert said(change, counts, BOUGHT) == []
    assert said(change, counts - 2500 * (np.arange(80) == 0)) == []
    assert said(replace(change, lower=-1.0, upper=6.9), counts) == []
    assert said(Integer("visits", 0, 79), counts) == [], "counts often are 0"


def test_few_codes_and_wide_last_bins_are_no_piles():
    assert said_of(Integer("yes", 0, 1), np.array([9000.0, 1000.0])) == []
    assert said_of(Integer("children", 0, 3), np.array([9000.0, 10.0, 10.0, 1000.0])) == []
    pay = Real("pay", 0.0, 100.0, edges=(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 10.0, 100.0))
    assert said_of(pay, np.array([500.0, 400.0, 300.0, 250.0, 200.0, 600.0, 900.0])) == []


def test_a_pile_that_smoothing_took_for_noise_is_never_more_than_the_whole_variance():
    visits = Integer("visits", 0, 7, missing=True)
    (sentence,) = said_of(visits, np.array([3690.0, 430.0, 122.0, 49.0, 28.0, 10.0, 13.0, 66.0]), scale=16.5)
    told = re.search(r"visits \(1.5% at 7, (\d+)% of the variance\)", sentence)
    assert told is not None
    assert int(told[1]) == pytest.approx(57, abs=8)


def test_a_pile_that_a_first_look_joined_with_the_cells_beside_it_is_said() -> None:
    """Of 8,000 amounts that 4% have, all beyond 15, some copies had a mean of .6 in place of 199 without a word."""
    column = Integer("bonus", 0, 15)
    schema = replace(Schema((column,)), bought=BOUGHT)
    noisy = np.array([7698, 32, -146, 88, 1, 91, -30, -67, 71, 128, 21, -10, 9, -35, 36, 308.0])
    of_cell = np.repeat(np.arange(4), [1, 6, 6, 3])
    for total, said in ((310.0, True), (61.0, False)):
        runs = Runs(of_cell, np.array([7698.0, 35, 154, total]), np.array([52.0, 65, 65, 61]), 4.0)
        rows = np.where(of_cell == 0, 7698.0, np.where(of_cell == 3, total / 3, 10.0))
        one = NumberColumn(
            NoisyMarginal(("bonus",), noisy, 52.0),
            runs,
            Smoothed(runs, rows, np.zeros(4, dtype=bool), {}),
            np.arange(16.0),
        )
        told = "".join(piled_bounds(schema, [one]))
        assert ("bonus (3.8% at or beside 15, " in told) is said
