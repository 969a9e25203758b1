"""The mean of the numbers that a column draws in each bin, against draws."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.schema import Schema

SCHEMA = Schema.from_toml("""
[columns.amount]
kind = "integer"
lower = -2000
upper = 90000
missing = true

[columns.even]
kind = "integer"
lower = 0
upper = 9000
step = 30
bins = 12

[columns.real]
kind = "real"
lower = -50.0
upper = 400.0
bins = 9

[columns.age]
kind = "integer"
lower = 0
upper = 99
""")


@pytest.mark.parametrize("name", ["amount", "even", "real", "age"])
def test_the_mean_of_what_is_drawn_is_foretold(name: str):
    column = SCHEMA[name]
    place = np.arange(column.size)
    counts = 1e5 * np.exp(-place / column.size * 6) + (place % 7 == 3) * 500
    rng, draws = np.random.default_rng(7), 4000
    codes = np.repeat(np.arange(column.n_bins), draws)
    drawn = column.decode(codes, rng, counts).to_numpy(zero_copy_only=False).astype(float).reshape(-1, draws)
    # Six standard errors in each bin: a false alarm in any of at most 300 has probability below 1e-6. Whole numbers are
    # the left ends of pieces of a density: of a step, at most a twelfth of its tilt.
    low, high = (ends[: column.n_bins] for ends in column.ranges)
    errors = 6 * drawn.std(axis=1) / np.sqrt(draws) + 1e-3 * (high - low) + 0.1 * (high - low < 10)
    assert (np.abs(drawn.mean(axis=1) - column.drawn_means(counts)) <= errors + 1e-9).all()


def test_even_bins_have_their_middle():
    assert SCHEMA["age"].drawn_means(np.ones(100)) == pytest.approx(np.arange(100))
