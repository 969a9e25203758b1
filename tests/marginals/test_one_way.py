"""The first question of adaptive methods, and what follows from it."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.marginals.one_way import OneWay, measure_one_way
from counterfoil.marginals.repeated_measurement import NO_MORE, More
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.schema import Schema

SCHEMA = Schema.from_toml("""
name = "people"

[columns.color]
kind = "categorical"
values = ["red", "green", "blue", "gray"]

[columns.age]
kind = "integer"
lower = 0
upper = 5
missing = true

[columns.size]
kind = "categorical"
values = ["small", "middle", "large"]
ordered = true

[[zeros]]
columns = ["size"]
values = [["large"]]
""")
PEOPLE = pa.table(
    {
        "color": ["red"] * 300 + ["green"] * 290 + ["blue"] * 5 + ["gray"] * 5,
        "age": [0] * 280 + [1] * 10 + [2] * 10 + [3] * 290 + [None] * 10,
        "size": ["small"] * 400 + ["middle"] * 200,
    }
)
NOISE = GaussianNoise(5.0)  # over three columns: a deviation of 8.8, below 27 is rare


def measured(relation: str = "add_or_remove_one", seed: int = 3) -> tuple[OneWay, list]:
    with Curator(PEOPLE, SCHEMA, budget=Budget(20.0, 1e-6), relation=relation, seed=seed) as curator:
        return measure_one_way(curator, curator.filter(GaussianFilter()), NOISE, entropy_weight=1.0), curator.charges()


def what_columns_cost(copies: int, bins: int, more: float) -> tuple[OneWay, list[float]]:
    """Of `copies` times as many people, with so many bins of a number: the costs (mu squared), as parts of the plan."""
    numbers = f'[columns.number]\nkind = "integer"\nlower = 1\nupper = {bins}\n\n'
    schema = Schema.from_toml(SCHEMA.to_toml().replace("[columns.size]", numbers + "[columns.size]"))
    people = pa.concat_tables([PEOPLE] * copies)
    people = people.append_column("number", pa.array(np.arange(people.num_rows) % bins + 1))
    with Curator(people, schema, budget=Budget(20.0, 1e-6), seed=3) as curator:
        account = curator.filter(GaussianFilter())
        one_way = measure_one_way(curator, account, NOISE, more=more, entropy_weight=1.0)
        return one_way, [charge.event.mu**2 * NOISE.noise_multiplier**2 for charge in curator.charges()]


@pytest.mark.parametrize("bins", [5, 100])
def test_columns_cost_more_where_noise_hides_them(bins):
    """Of 600 people noise hides 5 to 10%, of 60,000 less than .1%; shares of the last query have the mean 1."""
    _, planned = what_columns_cost(1, bins, NO_MORE)
    _, clear = what_columns_cost(100, bins, More(0.5, 0.5))
    hidden, costs = what_columns_cost(1, bins, More(0.5, 0.5))
    assert math.fsum(planned) == pytest.approx(1.0, rel=1e-6)
    assert math.fsum(clear) == pytest.approx(1.0, rel=1e-6)
    assert 1.2 < math.fsum(costs) <= 1.5 * (1 + 1e-9)
    assert len(clear) == 2
    assert len(costs) == 3
    assert 0 < costs[1] <= 0.2 * (1 + 1e-9)
    whole = 2 * NOISE.noise_multiplier  # in each cell of four columns
    precisions = [one.scale**-2 for one in hidden.estimator.measurements]
    assert math.fsum(precisions) == pytest.approx(4 * math.fsum(costs) / whole**2, rel=0.03)


@pytest.mark.parametrize(
    ("error", "part"), [(1e-4, 0.0), (0.01, 0.0), (0.0316, 0.25), (0.1, 0.5), (0.3, 0.8), (1.9, 0.8)]
)
def test_what_columns_get_besides_follows_from_their_error(error, part):
    assert More(0.5, 0.8).where(error) == pytest.approx(part, abs=1e-3)
    assert NO_MORE.where(error) == 0


def test_three_questions_for_all_columns_where_noise_hides_some():
    one_way, charges = measured()
    assert [charge.parameters["cliques"] for charge in charges] == [[["color"], ["age"], ["size"]]] * 3
    assert ["weights" in charge.parameters for charge in charges] == [False, False, True]
    assert one_way.model.marginal(("color",)) == pytest.approx([300, 290, 5, 5], abs=60)
    assert one_way.model.total == one_way.estimator.counted
    assert one_way.estimator.total_error > 0


def test_the_number_of_rows_is_exact_where_it_is_public():
    one_way, _ = measured("replace_one")
    assert one_way.model.total == 600
    assert one_way.estimator.total_error == 0


def test_rare_values_are_merged_as_their_column_allows():
    codes = measured()[0].coarsening.codes
    assert codes["color"].tolist() == [0, 1, 2, 2], "categories with any others"
    # 1 and 2 lie between 0 and 3, 4 and 5 after it; the missing stay apart.
    assert codes["age"].tolist() == [0, 1, 1, 2, 3, 3, 4]
    assert codes["size"].tolist() == [0, 1, 2], "an ordered column too, but large has nobody beside it"


def test_the_coarse_estimator_knows_the_columns():
    one_way, _ = measured()
    estimator = one_way.coarse_estimator()
    assert estimator.domain.sizes == (3, 5, 3)
    assert estimator.model is not None
    assert estimator.model.total == one_way.model.total
    assert estimator.total_error == 0, "the number of records is settled"
    assert estimator.model.marginal(("size",))[2] == 0, "what is impossible stays so"
    merged = np.bincount(one_way.coarsening.codes["age"], one_way.model.marginal(("age",)))
    assert estimator.model.marginal(("age",)) == pytest.approx(merged, abs=30)


def test_values_that_do_not_stand_out_come_back_evenly_between_those_that_do():
    one_way, _ = measured()
    coarse = one_way.coarse_estimator().fit([])
    refined = one_way.refine(coarse)
    assert refined.domain == SCHEMA.domain
    assert refined.marginal(("size",))[2] == 0
    ages = refined.marginal(("age",))
    assert ages[1] == pytest.approx(ages[2], rel=0.1)
    assert 0 < ages[4] + ages[5] < 3 * 8.8 * math.sqrt(2), "and little lies beyond"
    assert ages[1] + ages[2] == pytest.approx(coarse.marginal(("age",))[1])
