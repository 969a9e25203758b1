"""The triangle of pairs: a cell for each, in the color of its step, with a dot where it was measured."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.pictures.pair_matrix import matrix_records, pair_matrix, step_words
from counterfoil.pictures.style import STEPS
from counterfoil.pictures.svg import render

LIMITS = (0.05, 0.1, 0.2, 0.4, 0.6)


@settings(max_examples=60)
@given(st.integers(2, 7), st.integers(0, 10**6))
def test_each_pair_has_the_step_of_its_value(count, seed):
    rng = np.random.default_rng(seed)
    values = rng.choice([0.0, 0.05, 0.07, 0.1, 0.39, 0.4, 0.6, 1.0, np.nan], (count, count))
    marked = rng.random((count, count)) < 0.5
    records = {(one["i"], one["j"]): one for one in matrix_records(values, LIMITS, marked)}
    assert set(records) == {(i, j) for i in range(count) for j in range(i)}
    for (i, j), record in records.items():
        assert record["known"] == bool(np.isfinite(values[i, j]))
        assert record["marked"] == marked[i, j]
        if record["known"]:
            assert record["words"] == step_words(LIMITS)[sum(values[i, j] >= limit for limit in LIMITS)]


def test_the_words_say_the_limits():
    assert step_words((0.1, 0.2, 0.3, 0.4, 0.5)) == [
        "below 0.1",
        "0.1 to 0.2",
        "0.2 to 0.3",
        "0.3 to 0.4",
        "0.4 to 0.5",
        "0.5 or more",
    ]


def test_fifty_columns_fit_with_a_name_each():
    values = np.full((50, 50), 0.5)
    names = [f"column {number}" for number in range(50)]
    picture = render(pair_matrix(names, values, LIMITS, values > 1), title="All pairs", description="Cells.")
    assert len(picture) < 250_000
    assert all(f"{number} column {number - 1}</text>" in picture for number in range(1, 51))
    assert picture.count("h13v13h-13Z") == 50 * 49 // 2


def test_dots_stand_out_from_their_cells():
    values = np.array([[np.nan, 0], [0.9, np.nan]])
    dark = render(pair_matrix("ab", values, LIMITS, values > 0.5), title="t", description="d")
    light = render(pair_matrix("ab", values * 0.01, LIMITS, values > 0.5), title="t", description="d")
    plain = render(pair_matrix("ab", values, LIMITS, None), title="t", description="d")
    for picture, cell, dot in ((dark, STEPS[5], STEPS[0]), (light, STEPS[0], STEPS[5])):
        assert picture.count(f'fill="{cell}"') == 1
        assert picture.count(f'fill="{dot}"') == 1
    assert plain.count(f'fill="{STEPS[0]}"') == 0


def test_numbers_below_narrow_cells_do_not_run_together():
    for count, each in ((16, 1), (60, 2), (120, 5)):
        chart = pair_matrix([f"c{place}" for place in range(count)], np.zeros((count, count)), LIMITS)
        texts = re.findall(r">(\d+)</text>", render(chart, title="t", description="d"))
        assert texts == [str(number) for number in range(1, count + 1, each)]
