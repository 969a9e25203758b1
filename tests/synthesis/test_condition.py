"""Conditions on rows: what is asked for is what comes, and nothing is narrowed wrongly."""

from __future__ import annotations

from ast import literal_eval
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.schema import Schema
from counterfoil.schema.rules import BoundRule, Rule
from counterfoil.synthesis import conditional_rows
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.conditional_rows import draw_where
from counterfoil.synthesis.grid_values import grid_values
from counterfoil.synthesis.marginal_table import MarginalTable, labeled, names_in

SCHEMA = Schema.from_toml("""
[columns.sex]
kind = "categorical"
values = ["F", "M"]
other = true

[columns.age]
kind = "integer"
lower = 0
upper = 99
edges = [0, 10, 40, 60]
missing = true

[columns.pay]
kind = "real"
lower = 0.0
upper = 100.0
bins = 4

[columns.fee]
kind = "real"
lower = 0.0
upper = 10.0
bins = 4
decimals = 2

[columns.day]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31
resolution = "1mo"

[columns.seen]
kind = "datetime"
lower = 2020-01-01T00:00:00
upper = 2020-01-02T23:59:59
resolution = "1d"

[columns.here]
kind = "boolean"
missing = true
""")
DOMAIN: Domain = SCHEMA.domain


def model(seed: int = 1) -> GraphicalModel:
    rng = np.random.default_rng(seed)
    cliques = [("sex", "age"), ("age", "pay"), ("day",), ("seen",), ("here", "sex")]
    return GraphicalModel(DOMAIN, {clique: rng.normal(size=DOMAIN.shape(clique)) for clique in cliques}, 5000)


def drawn(where: object, n: int = 300) -> pa.Table:
    return draw_where(model(), SCHEMA, n, Condition.of(SCHEMA, where), np.random.default_rng(3))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("age", 17, {17}),
        ("age", [17, 65, None], {17, 65, None}),
        ("age", "17", {17}),
        ("age", np.int64(17), {17}),
        ("pay", 12.5, {12.5}),
        ("age", np.array([17, 65]), {17, 65}),
        ("age", pd.Series([17, 65, None], dtype="Int64"), {17, 65, None}),
        ("age", pl.Series([17, 65]), {17, 65}),
        ("age", {17: 0}.keys(), {17}),
        ("age", pd.NA, {None}),
        ("pay", 100, {100.0}),
        ("fee", 1.25, {1.25}),
        ("fee", Decimal("1.25"), {1.25}),
        ("day", date(2020, 2, 29), {date(2020, 2, 29)}),
        ("day", "2020-02-29", {date(2020, 2, 29)}),
        ("seen", datetime(2020, 1, 2, 3, 4, 5), {datetime(2020, 1, 2, 3, 4, 5)}),
        ("sex", "F", {"F"}),
        ("sex", "other", {"other"}),
        ("here", True, {True}),
        ("here", None, {None}),
        ("here", pd.NaT, {None}),
    ],
)
def test_rows_have_the_very_values_that_were_asked_for(name: str, value: object, found: set[object]) -> None:
    assert set(drawn({name: value}).column(name).to_pylist()) == found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("age", 100),
        ("age", -1),
        ("age", 17.5),
        ("age", "young"),
        ("age", float("inf")),
        ("pay", 100.5),
        ("pay", None),
        ("fee", 1.255),
        ("fee", Decimal("1.255")),
        ("day", "2021-01-01"),
        ("day", "29.2.2020"),
        ("sex", "astronaut"),
        ("sex", 3),
        ("here", "perhaps"),
    ],
)
def test_a_value_that_a_column_can_not_have_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^`where`: column '{name}'.*{str(value)[:3]}"):
        Condition.of(SCHEMA, {name: value})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "sex == 'F'",
                "sex != 'M'",
                "age >= 17",
                "age < 50",
                "age is missing",
                "pay > 30 or age < 20",
                "pay > age",
                "not here",
                "here is missing or pay > 60",
                "day >= '2020-06-15'",
                "seen < '2020-01-02T12:00:00'",
            ]
        ),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    st.sampled_from([" and ", " or "]),
)
def test_expressions_narrow_codes_to_those_that_can_meet_them(parts: list[str], joint: str) -> None:
    """Against the rows that meet the expression among many that were drawn without it."""
    text = joint.join(f"({part})" for part in parts)
    unconditional = draw_where(model(), SCHEMA, 4000, Condition.of(SCHEMA, None), np.random.default_rng(5))
    met = _meets(text, unconditional)
    if not met.any():
        with suppress(ValueError):
            assert not Condition.of(SCHEMA, text).holds(unconditional).any()
        return
    condition = Condition.of(SCHEMA, text)
    assert (condition.holds(unconditional) == met).all()
    assert (condition.among(unconditional) == met).all(), "no row that meets it was ruled out by its codes"
    if met.mean() > 0.02:
        rows = draw_where(model(), SCHEMA, 200, condition, np.random.default_rng(6))
        assert rows.num_rows == 200
        assert condition.holds(rows).all()


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({"age": [3, 15, 16, 17, 80]}, "age in [3, 15, 16, 17, 80]"),
        ({"age": [15, None], "sex": ["F", "M"]}, "(age == 15 or age is missing) and sex in ['F', 'M']"),
        ({"day": ["2020-02-03", "2020-02-04", "2020-11-30"]}, "day in ['2020-02-03', '2020-02-04', '2020-11-30']"),
        ({"fee": [1.25, 1.5, 9.75]}, "fee in [1.25, 1.5, 9.75]"),
    ],
)
def test_listed_values_are_as_likely_as_those_of_an_expression(where: dict[str, list], text: str) -> None:
    """A code came as often with one of its numbers listed as with all: of 30, 31 and 96, 96 came twice too often."""
    (name, listed) = next(iter(where.items()))
    even = {
        clique: values for clique, values in model().potentials.items() if not {"age", "pay", "day"} & {*clique}
    } | {("age",): np.log([1.0, 3.0, 2.0, 4.0, 1.0]), ("day",): np.zeros(12)}
    flat = GraphicalModel(DOMAIN, even, 5000)
    rows = [
        draw_where(flat, SCHEMA, 3000, Condition.of(SCHEMA, asked), np.random.default_rng(8)) for asked in (where, text)
    ]
    first, second = (
        np.array([list(map(str, part.column(name).to_pylist())).count(str(one)) for one in listed]) for part in rows
    )
    assert first.sum() == second.sum() == 3000
    # Bins of ages are not drawn from evenly, so that a number within is up to a fifth more or less likely.
    assert np.abs(first - second).max() <= 4 * np.sqrt(2 * second.max()) + 0.2 * second.max()


RULED = Schema.from_toml("""
[columns.first]
kind = "integer"
lower = 0
upper = 39
bins = 2

[columns.last]
kind = "integer"
lower = 0
upper = 39
bins = 2

[[rules]]
require = "first <= last"
""")


def test_a_value_that_a_rule_names_is_as_good_as_in_an_expression() -> None:
    """A first value of 1 was put into rows that met the rule with any other: 3% had a last one below 5, and not 9%."""
    flat = GraphicalModel(RULED.domain, {("first", "last"): np.log([[1.0, 1.0], [1e-9, 1.0]])}, 5000)
    shares = []
    for where in ({"first": 1}, "first == 1"):
        rows = draw_where(flat, RULED, 4000, Condition.of(RULED, where), np.random.default_rng(9))
        assert set(rows.column("first").to_pylist()) == {1}
        shares.append(np.mean(np.array(rows.column("last").to_pylist()) < 5))
    assert abs(shares[0] - shares[1]) < 5 * np.sqrt(2 * shares[1] / 4000)


GRIDS = Schema.from_toml("""
[columns.weight]
kind = "real"
lower = 0.0
upper = 500.0
decimals = 1

[columns.price]
kind = "real"
lower = -10.0
upper = 90.0
step = 0.25
missing = true

[columns.year]
kind = "integer"
lower = 0
upper = 9995
step = 5

[columns.net]
kind = "real"
lower = 0.05
upper = 9.96
decimals = 1
points = [3.3]

[columns.free]
kind = "real"
lower = 0.0
upper = 500.0
""")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weight == 70.05", "every 0.1 from 0 to 500"),
        ("weight > 70.01 and weight < 70.09", "every 0.1 from 0 to 500"),
        ("price is not missing and not price != 3.3", "every 0.25 from -10 to 90"),
        ("year == 12", "every 5 from 0 to 9995"),
        ("free > 3 and year in [12, 1013]", "every 5 from 0 to 9995"),
        ("year == 10000", "every 5 from 0 to 9995"),
        ("net == 5.55", "every 0.1 from 0.05 to 9.96"),
    ],
)
def test_a_condition_that_no_value_of_a_grid_can_meet_is_refused_before_rows_are_drawn(text: str, said: str) -> None:
    with pytest.raises(ValueError, match="no value of column") as refused:
        Condition.of(GRIDS, text)
    assert str(refused.value).endswith(f"can meet {text!r}. Its values are {said}.")


def test_a_value_beside_a_grid_is_refused_with_the_grid() -> None:
    with pytest.raises(ValueError, match=r"Found 70\.05\. Its values are every 0\.1 from 0 to 500\.$"):
        Condition.of(GRIDS, {"weight": 70.05})


@pytest.mark.parametrize(
    "text",
    [
        "weight == 70.1",
        "weight == 70.05 or free < 1",
        "weight != 70.05",
        "price == 3.25",
        "price == 3.3 or price is missing",
        "year in [12, 15]",
        "net == 0.05 or net == 3.3",
        "net == 3.3",
        "free == 70.05",
        "year == free",
    ],
)
def test_a_condition_that_values_of_a_grid_can_meet_is_not(text: str) -> None:
    assert Condition.of(GRIDS, text).expression is not None


@pytest.mark.parametrize("name", ["weight", "price", "year", "net"])
def test_the_values_of_a_grid_are_all_that_are_drawn(name: str) -> None:
    """20,000 draws: each is listed under its code."""
    column = GRIDS[name]
    rng = np.random.default_rng(7)
    codes = rng.integers(0, column.n_bins, 20_000)
    found = grid_values(column, np.arange(column.n_bins), 2**18)
    assert found is not None
    listed = {*zip(found[1].tolist(), found[0].tolist(), strict=True)}
    drawn = column.decode(codes, rng).to_numpy().astype(float)
    assert {*zip(codes.tolist(), drawn.tolist(), strict=True)} <= listed
    assert grid_values(column, np.arange(column.n_bins), 50) is None
    assert grid_values(GRIDS["free"], np.arange(3), 2**18) is None


def _meets(text: str, table: pa.Table) -> np.ndarray:
    """By the evaluator of rules alone, row by row: a rule that says so and one that says the opposite."""
    columns = {column.name: column for column in SCHEMA.synthesized}
    holds, fails = (BoundRule(Rule(one), columns).holds(table) for one in (text, f"not ({text})"))
    return holds & ~fails


def test_shares_within_a_condition_are_the_models() -> None:
    """4000 rows, each share within five deviations: a false alarm has probability below 1e-6 for each of 15 cells."""
    rows = drawn("sex == 'F' and pay >= 25", n=4000)
    ages = rows.column("age").to_pylist()
    joint = np.asarray(model().marginal(("sex", "age", "pay")))[0][:, 1:].sum(axis=1)
    expected = joint / joint.sum()
    codes = SCHEMA["age"].encode(rows.column("age"))
    for code, share in enumerate(expected):
        assert abs((codes == code).mean() - share) <= 5 * np.sqrt(share * (1 - share) / len(ages))


def test_a_condition_that_hardly_any_row_meets_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditional_rows, "MOST_TRIES", 12)
    with pytest.raises(ValueError, match="`where` must be met by some of the rows"):
        drawn("pay > 10 and pay < 10.0000001")


def test_tables_of_counts_are_labeled_in_the_order_asked_for() -> None:
    counts = model().marginal(("pay", "sex"))
    table = labeled(SCHEMA, names_in(SCHEMA, ["pay", "sex"]), counts)
    assert table.attributes == ("pay", "sex")
    assert table["[0, 25)", "M"] == counts[0, 1] == table[0, 1]
    assert table.to_arrow().to_pylist()[1] == {"pay": "[0, 25)", "sex": "M", "count": counts[0, 1]}
    assert table.shares.sum() == pytest.approx(1)
    assert np.asarray(table) is not counts
    assert (np.asarray(table) == counts).all()
    assert "pay x sex" in repr(table)
    with pytest.raises(KeyError, match="Did you mean 'F'"):
        table["[0, 25)", "f"]
    with pytest.raises(KeyError, match="Name one value"):
        table["M"]


@pytest.mark.parametrize("names", [[], ["sex", "sex"], ["sxe"], "sxe"])
def test_names_of_columns_are_checked(names: object) -> None:
    with pytest.raises(ValueError, match=r"sex|Name at least"):
        names_in(SCHEMA, names)


def test_one_name_is_one_column() -> None:
    assert names_in(SCHEMA, "sex") == ("sex",)
    with pytest.raises(ValueError, match="one cell"):
        MarginalTable(("a",), (("x",),), np.zeros(2))


DAYS = (date(2020, 1, 5), date(2020, 3, 1))


@pytest.mark.parametrize(
    ("name", "pair", "listed", "between"),
    [
        ("age", (20, 30), "[20, 30]", "age >= 20 and age <= 30"),
        ("age", (np.int64(20), np.int64(30)), "[20, 30]", "age >= 20 and age <= 30"),
        ("pay", (0.5, 30), "[0.5, 30]", "pay >= 0.5 and pay <= 30"),
        ("day", DAYS, "['2020-01-05', '2020-03-01']", "day >= '2020-01-05' and day <= '2020-03-01'"),
        (
            "seen",
            ("2020-01-01 10:00", "2020-01-02"),
            "['2020-01-01 10:00', '2020-01-02']",
            "seen >= '2020-01-01 10:00' and seen <= '2020-01-02'",
        ),
    ],
)
def test_a_pair_that_may_be_a_range_is_refused_with_both_ways_to_write_it(name, pair, listed, between):
    with pytest.raises(ValueError, match="which may mean a range") as refused:
        Condition.of(SCHEMA, {name: pair})
    assert f'write {listed} for one of two values, or where="{between}" for' in str(refused.value)
    assert len(Condition.of(SCHEMA, {name: literal_eval(listed)}).codes[name]) in (1, 2)
    assert Condition.of(SCHEMA, between).expression is not None


def test_tuples_that_can_be_no_range_are_lists_of_values():
    assert Condition.of(SCHEMA, {"sex": ("F", "M")}).codes == {"sex": [0, 1]}
    assert Condition.of(SCHEMA, {"age": (20, None)}).codes == {"age": [1, 4]}
    assert Condition.of(SCHEMA, {"age": (5, 20, 50)}).codes == {"age": [0, 1, 2]}
    assert Condition.of(SCHEMA, {"age": (20,)}).codes == Condition.of(SCHEMA, {"age": 20}).codes
    spaced = Schema.from_toml('[columns."net pay"]\nkind = "integer"\nlower = 0\nupper = 99\n')
    with pytest.raises(ValueError, match="`net pay` >= 3 and `net pay` <= 9"):
        Condition.of(spaced, {"net pay": (3, 9)})
