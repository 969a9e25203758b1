"""What a synthesizer returns: rows, conditional draws, error bars; at the edges of tables and budgets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from counterfoil.schema import Schema
from counterfoil.synthesis.synthesis import Synthesis
from sensitive_tables import UNIT
from small_releases import released

METHODS = {
    "batched": AIM(),
    "gaussian": AIM(variant="gaussian"),
    "published": AIM(variant="published"),
    "mst": MST(),
    "direct": Direct(2),
    "independent": Independent(),
}
PURE = ("direct", "independent")
SCHEMA = Schema.from_toml("""
name = "people"

[columns.id]
kind = "identifier"
replace = "sequence"

[columns.sex]
kind = "categorical"
values = ["f", "m"]

[columns.pregnant]
kind = "boolean"

[columns.age]
kind = "integer"
lower = 0
upper = 99
bins = 20
missing = true

[columns.city]
kind = "categorical"
values = ["York", "Bath", "Ely", "Wells", "Hull", "Leeds", "Truro", "Ripon"]

[[rules]]
if = "pregnant"
then = "sex == 'f'"

[[rules]]
if = "pregnant"
then = "age >= 12"
""")


def people(n: int = 2000) -> pa.Table:
    rng = np.random.default_rng(9)
    sex = rng.random(n) < 0.5
    age = rng.integers(0, 99, n)
    pregnant = sex & (age >= 12) & (rng.random(n) < 0.2)
    city = np.minimum(rng.geometric(0.5, n) - 1, 7)
    return pa.table(
        {
            "id": np.arange(n),
            "sex": np.where(sex, "f", "m"),
            "pregnant": pregnant,
            "age": pa.array(age, mask=rng.random(n) < 0.05),
            "city": np.array(["York", "Bath", "Ely", "Wells", "Hull", "Leeds", "Truro", "Ripon"])[city],
        }
    )


@pytest.fixture(scope="module", params=METHODS)
def made(request) -> Synthesis:
    with Curator(people(), SCHEMA, budget=Budget(1.0, 1e-6), seed=2) as curator:
        return METHODS[request.param].synthesize(curator)


# Rules and zeros, from end to end


def test_what_is_impossible_is_never_drawn(made):
    """Also where rare values were merged while measuring."""
    assert made.rows > 1000
    for table in (made.to_arrow(), made.sample(3000, seed=1)):
        frame = table.to_pandas()
        assert set(frame[frame.pregnant].sex) <= {"f"}
        ages = frame[frame.pregnant].age.dropna()
        assert (ages >= 12).all()
    impossible = made.marginal(["sex", "pregnant"])[1, 1]
    assert impossible == 0


def test_every_part_has_its_place(made):
    assert made.to_arrow().column_names == ["id", "sex", "pregnant", "age", "city"]
    for name, codes in made.codes.items():
        assert np.array_equal(SCHEMA[name].encode(made.to_arrow().column(name)), codes)
    assert made.marginal(["city", "sex"]).shape == (8, 2), "in the order that was asked for"
    assert made.marginal(["age"]).total == pytest.approx(made.model.total)
    assert made.receipt.document["rows"]["drawn"] == made.rows
    assert made.error_bar(["sex"]).attributes == ("sex",)


def test_frames_of_every_kind(made, tmp_path: Path):
    assert isinstance(made.to_pandas(), pd.DataFrame)
    assert isinstance(made.to_polars(), pl.DataFrame)
    assert made.to_polars().shape == made.to_pandas().shape == (made.rows, 5)
    made.write(tmp_path / "made.parquet")
    assert parquet.read_table(tmp_path / "made.parquet").equals(made.to_arrow())


# Conditions


def test_conditional_rows_have_the_conditional_law(made):
    """Rounded to the model: each count is within three rows of its expectation, and nothing else can be drawn."""
    frame = made.sample(4000, {"sex": "f", "city": ["York", "Ely"]}, seed=3).to_pandas()
    assert set(frame.sex) == {"f"}
    assert set(frame.city) == {"York", "Ely"}
    joint = made.marginal(["sex", "pregnant", "city"])[0, :, [0, 2]]
    expected = 4000 * joint / joint.sum()
    for row, city in enumerate(["York", "Ely"]):
        for column, pregnant in enumerate([False, True]):
            found = ((frame.city == city) & (frame.pregnant == pregnant)).sum()
            assert abs(found - expected[row, column]) <= 0.02 * 4000


def test_conditions_take_values_as_the_schema_places_them(made):
    ages = made.sample(200, {"age": 33}, seed=1).to_pandas().age
    assert (ages == 33).all(), "not another number of its bin"
    assert made.sample(20, {"age": None}, seed=1).to_pandas().age.isna().all()
    assert set(made.sample(50, {"pregnant": True}, seed=1).to_pandas().sex) == {"f"}
    several = made.sample(50, {"city": ("Bath", "Hull"), "age": range(10)}, seed=1).to_pandas()
    assert several.age.between(0, 9).all()


def test_draws_repeat_with_a_seed(made):
    assert made.sample(50, seed=4).equals(made.sample(50, seed=4))
    assert not made.sample(50, seed=4).equals(made.sample(50, seed=5))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"town": "York"}, "`where` must name synthesized columns. Found 'town'"),
        ({"ctiy": "York"}, "Did you mean 'city'"),
        ({"id": 3}, "`where` must name synthesized columns. Found 'id'"),
        ({"sex": "x"}, "column 'sex' has no value 'x'"),
        ({"city": "astronaut"}, "column 'city' has no value 'astronaut'"),
        ({"age": 200}, "column 'age' must be a number within its bounds.*Found 200"),
        ({"age": 33.5}, "Found 33.5"),
        ("age > 'x'", "it is compared with 'x'; expected a number"),
        ("age > 200", "no value of column 'age' can meet"),
        ({"sex": "m", "pregnant": True}, "positive probability"),
        ({"sex": []}, "needs codes"),
    ],
)
def test_conditions_that_can_not_be(made, where, message):
    with pytest.raises(ValueError, match=message):
        made.sample(5, where)


# How many rows


@pytest.mark.parametrize("name", METHODS)
def test_rows_default_to_what_is_known_of_their_number(name):
    domain, rows = Domain(("a", "b"), (3, 2)), [(i % 3, i % 2) for i in range(500)]
    noisy = released(METHODS[name], domain, rows)
    assert noisy.rows == round(noisy.model.total)
    assert 0 < abs(noisy.model.total - 500) < 150, "seeded: the noise of the total is not zero"
    assert noisy.receipt.document["rows"]["how"].startswith("estimated from noisy counts")
    public = released(METHODS[name], domain, rows, relation="replace_one")
    assert public.rows == 500
    assert public.receipt.document["rows"]["how"].startswith("the exact number")
    unit = PrivacyUnit(UNIT, 2)
    units = [str(i) for i in range(500)]
    private = released(METHODS[name], domain, rows, relation="replace_one", privacy_unit=unit, units=units)
    assert private.rows == round(private.model.total)
    assert private.model.total != 500, "units may have fewer rows"
    asked = released(METHODS[name], domain, rows, draw=7)
    assert asked.rows == 7
    assert asked.receipt.document["rows"]["how"] == "asked for by the user"


# The edges of tables and budgets


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ((3,), [(i % 3,) for i in range(60)]),  # a single column
        ((1,), [(0,)] * 60),  # with a single value
        ((1, 3, 1), [(0, i % 3, 0) for i in range(60)]),
        ((3, 2), [(1, 1)] * 60),  # all rows equal
        ((3, 2), [(2, 0)]),  # one row
    ],
)
@pytest.mark.parametrize(
    ("relation", "epsilon"), [("add_or_remove_one", 0.01), ("replace_one", 1.0), ("add_or_remove_one", 1e5)]
)
def test_small_tables_and_any_epsilon(name, relation, sizes, rows, epsilon):
    domain = Domain(tuple("abc"[: len(sizes)]), sizes)
    asked = 60 if name == "published" and epsilon < 0.1 else None  # by itself it would be refused: its total is noise
    made = released(METHODS[name], domain, rows, relation=relation, budget=Budget(epsilon, 1e-6), draw=asked)
    assert made.rows >= 1
    assert all(codes.min() >= 0 and codes.max() < domain[column] for column, codes in made.codes.items())
    assert made.receipt.document["spent"]["epsilon"] <= epsilon
    if epsilon > 1e4 and len(rows) > 1:
        for axis, column in enumerate(domain.attributes):
            exact = np.bincount([row[axis] for row in rows], minlength=domain[column])
            # The entropy weighs about 4 records where there are 60; noise is never below 1.5 in a cell.
            assert np.abs(made.marginal([column]) - exact).sum() < 25
    for attributes in ([domain.attributes[0]], domain.attributes):
        assert 0 <= made.error_bar(attributes).fraction <= 2


@pytest.mark.parametrize("name", METHODS)
def test_a_delta_of_zero(name):
    domain, rows = Domain(("a", "b"), (3, 2)), [(i % 3, i % 2) for i in range(50)]
    if name in PURE:
        made = released(METHODS[name], domain, rows, budget=Budget(1.0))
        assert made.receipt.document["spent"] == {"epsilon": pytest.approx(1.0), "delta": 0.0}
    else:
        with pytest.raises(ValueError, match=r"`delta` must be positive .* choose a method with pure privacy"):
            released(METHODS[name], domain, rows, budget=Budget(1.0))
