"""Columns that noise hides or the reference moves are named, with what came back and what noisy counts say."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from counterfoil.api import synthesize
from counterfoil.methods.reweighting import Reweighting
from counterfoil.reweighting.column_doubts import _moments
from counterfoil.schema import Categorical, Integer, Real, Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis

SCHEMA = Schema(
    (
        Integer("age", 16, 95),
        Real("wealth", 0.0, 1e7, bins=16, scale="log", decimals=2),
        Categorical("job", tuple("abcdefghij")),
        Categorical("sex", ("f", "m")),
    )
)
POINTS = Schema((Real("x", -1.0, 1.0), Real("y", -1.0, 1.0)))


def people(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": np.clip(rng.normal(44, 16, rows), 16, 95).round().astype(int),
            "wealth": np.minimum(rng.lognormal(10, 1.6, rows), 1e7).round(2),
            "job": rng.choice(list("abcdefghij"), rows, p=[0.55, *[0.05] * 9]),
            "sex": rng.choice(["f", "m"], rows),
        }
    )


def released(
    table: pd.DataFrame, schema: Schema = SCHEMA, *, epsilon: float = 1.0, **wishes
) -> tuple[Synthesis | PointSynthesis, list[str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        synthesis = synthesize(table, schema, epsilon=epsilon, method=Reweighting(**wishes), seed=3)
    return synthesis, synthesis.receipt.document["warnings"]


@pytest.mark.parametrize(
    "wishes",
    [
        {"reference": "uniform"},
        {"keep_rare": True},
        {"queries": "moments:2"},
        {"queries": "losses:squared:age~sex"},
        {},
    ],
    ids=str,
)
def test_a_tail_that_noise_hides_is_named_by_every_variant(wishes):
    _, said = released(people(3000), **wishes)
    assert any("Few rows decide the tail of wealth" in words for words in said)


def test_a_column_that_the_reference_moves_is_named_with_both_figures():
    table = people(3000)
    synthesis, said = released(table, reference="uniform")
    (words,) = (words for words in said if "The weights leave columns far from" in words)
    found = re.search(r"age \(a mean of ([\d.]+) for ([\d.]+)", words)
    assert found, words
    own, counted = map(float, found.groups())
    assert synthesis.to_pandas()["age"].mean() == pytest.approx(own, abs=0.5)
    assert table["age"].mean() == pytest.approx(counted, abs=2)
    assert own - counted > 3


def test_nothing_is_said_of_columns_that_are_as_counted():
    schema = Schema((Integer("age", 16, 95), Categorical("sex", ("f", "m"))))
    for wishes in ({"reference": "uniform", "queries": "marginals:1"}, {"keep_rare": True}):
        _, said = released(people(3000)[["age", "sex"]], schema, epsilon=30, **wishes)
        assert not any("The weights leave" in words or "Few rows" in words for words in said), said


def test_columns_that_no_count_tells_of_are_said_to_be_even():
    _, said = released(people(3000), reference="uniform", queries="moments:1")
    (words,) = (words for words in said if "The reference is uniform" in words)
    assert "of age, wealth, job: their values are spread evenly" in words
    _, said = released(people(3000), reference="uniform")
    assert not any("The reference is uniform" in words for words in said)
    rng = np.random.default_rng(0)
    corner = pd.DataFrame({name: rng.uniform(0.8, 0.9, 2000) for name in "xy"})
    _, said = released(corner, POINTS, reference="uniform")
    assert any("no counts of their values were bought of x, y" in words for words in said)


def test_a_column_in_one_cell_has_the_deviation_of_that_cell():
    """That of the middles of cells would be 0 or 1e-38, and moved far by any noise in other cells."""
    column = Real("x", 0.0, 8.0, bins=8)
    lows, highs = column.ranges
    mean, deviation, distance = _moments(column.centers, highs - lows, np.eye(8)[5])
    assert (mean, deviation, distance) == (
        column.centers[5],
        pytest.approx(12**-0.5, rel=0.02),
        pytest.approx(0.25, rel=0.02),
    )
    assert _moments(column.centers, highs - lows, np.ones(8))[1] == pytest.approx(8 / 12**0.5, rel=0.02)
