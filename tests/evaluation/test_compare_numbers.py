"""Distances of numbers against scipy's, and on tables whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from counterfoil.evaluation.numbers import compare_numbers, ordered_columns
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema

SCHEMA = Schema(
    (
        Integer("age", 0, 100, missing=True),
        Categorical("job", ("cook", "smith")),
        Real("pay", -50.0, 150.0, bins=4),
        Boolean("rich"),
        Integer("one", 3, 3),
    )
)


def numbers(rows: int, seed: int, shift: float = 0.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, rows) + shift
    return {
        "age": np.where(rng.random(rows) < 0.1, np.nan, age),
        "pay": rng.normal(50, 20, rows),
        "rich": rng.integers(0, 2, rows).astype(float),
    }


def compared(one: dict, other: dict):
    return compare_numbers(one, other, SCHEMA, rng=np.random.default_rng(0))


def test_ordered_columns_are_those_with_several_numbers() -> None:
    assert ordered_columns(SCHEMA) == ("age", "pay", "rich")


def test_distances_on_the_line_are_those_of_scipy() -> None:
    one, other = numbers(400, 0), numbers(300, 1, shift=5.0)
    found = compared(one, other).wasserstein
    for name, length in (("age", 100.0), ("pay", 200.0), ("rich", 1.0)):
        a, b = (part[name][~np.isnan(part[name])] for part in (one, other))
        assert found[name] == pytest.approx(wasserstein_distance(a, b) / length)


def test_a_shift_of_everything_is_reported() -> None:
    one = numbers(500, 0)
    moved = {name: values + {"age": 10.0, "pay": 20.0, "rich": 0.1}[name] for name, values in one.items()}
    found = compared(one, moved)
    assert all(value == pytest.approx(0.1) for value in found.wasserstein.values())
    # Every row moves by 0.1 in each of three directions, but for the tenth whose age is missing: the mean of
    # <theta, v>^2 over directions is about abs(v)^2 / 3, between 0.02 / 3 and 0.03 / 3 here.
    assert 0.05 < found.sliced < 0.15
    assert compared(one, one).sliced == 0


def test_a_column_that_is_missing_throughout_has_no_distance() -> None:
    one, other = numbers(50, 0), numbers(50, 1)
    other["age"] = np.full(50, np.nan)
    found = compared(one, other)
    assert math.isnan(found.wasserstein["age"])
    assert found.sliced > 0
