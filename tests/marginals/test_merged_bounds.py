"""What is said of a long tail that was counted as one cell, up to a bound that was bought."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import synthesize
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import Runs
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.merged_bounds import merged_bounds
from counterfoil.marginals.unreliable import NumberColumn
from counterfoil.schema import Integer, Schema
from counterfoil.schema.bought import Bought
from counterfoil.schema.column import Column

BOUGHT = Bought(0.1, 1e-9, "add_or_remove_one", "0" * 64)
COST = Integer("cost", 0, 19)


def said_of(column: Column, *, tail: float, cells: int, noise: float = 20.0, bought: bool = True) -> list[str]:
    """5,000 rows in the first five cells and a tail that was joined in the last ones."""
    of_cell = np.array([0] * 5 + [1] * (15 - cells) + [2] * cells)
    totals = np.array([5000.0, 0.0, tail])
    runs = Runs(of_cell, totals, np.array([20.0, 20.0, noise]), 3.0)
    rows = totals[of_cell] / np.bincount(of_cell)[of_cell]
    marginal = NoisyMarginal((column.name,), np.append(rows, np.zeros(column.size - 20)), noise)
    smoothed = Smoothed(runs, rows, np.zeros(3, dtype=bool), {})
    schema = Schema((column,))
    return merged_bounds(
        replace(schema, bought=BOUGHT) if bought else schema, [NumberColumn(marginal, runs, smoothed, np.arange(20.0))]
    )


def test_a_tail_that_noise_joins_to_the_bound_is_said_with_its_part_of_the_variance() -> None:
    (sentence,) = said_of(COST, tail=250.0, cells=5)
    numbers = np.arange(20)
    rows = np.where(numbers < 5, 1000.0, np.where(numbers < 15, 0.0, 50.0))
    squares = rows * (numbers - rows @ numbers / rows.sum()) ** 2
    part = 100 * squares[15:].sum() / squares.sum()
    assert f"cost (4.8% up to 19, {part:.0f}% of the variance)" in sentence


@pytest.mark.parametrize(
    "other",
    [
        {"cells": 1},
        {"noise": 200.0},
        {"tail": 2000.0},
        {"tail": 20.0, "noise": 5.0},
        {"bought": False},
        {"column": replace(COST, words=(("19+", 19),))},
    ],
)
def test_nothing_is_said_of_single_cells_noise_bodies_small_parts_and_bounds_by_hand(other: dict[str, object]) -> None:
    facts: dict[str, object] = {"column": COST, "tail": 250.0, "cells": 5, **other}
    assert said_of(**facts) == []  # type: ignore[arg-type]


def test_a_pile_is_said_once() -> None:
    (sentence,) = said_of(COST, tail=250.0, cells=4)
    assert sentence.startswith("Few rows, counted as one")
    assert said_of(COST, tail=250.0, cells=3) == [], "`piled_bounds` says it"


def test_a_release_of_costs_says_so() -> None:
    """Of which 1% are beyond what a purchase saw: a fifth of the mean was lost without a word."""
    costs = np.exp(np.random.default_rng(1).normal(3.5, 1.6, 5000)).round(2)
    table = pa.table({"cost": costs})
    schema = Schema.from_toml('[columns.cost]\nkind = "real"\nlower = 0\nupper = 1100\ndecimals = 2\n')
    made = synthesize(table, replace(schema, bought=BOUGHT), epsilon=0.6, seed=0)
    assert made.to_pandas()["cost"].mean() < 0.85 * costs.mean()
    assert any(line.startswith("Few rows, counted as one") for line in made.receipt.document["warnings"])
