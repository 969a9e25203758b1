"""Columns that are multiples, products and quotients of others: what `check` says of them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation import product_notes, schema_report
from counterfoil.evaluation.factors import factor_text
from counterfoil.evaluation.schema_report import check_without_privacy

Found = dict[str, tuple[str, int]]


def schema_of(table: pd.DataFrame, more: str = "", without: str = "") -> Schema:
    kinds = {name: "integer" if pd.api.types.is_integer_dtype(table[name]) else "real" for name in table}
    columns = "".join(
        f'[columns."{name}"]\nkind = "{kind}"\nlower = 0\nupper = 100000\nmissing = true\n'
        for name, kind in kinds.items()
        if name != without
    )
    return Schema.from_toml(f'name = "t"\n{columns}{more}')


def products(table: pd.DataFrame, more: str = "") -> Found:
    """By column that follows from others, the expression that is proposed, and how many records tell."""
    notes = [note for note in check_without_privacy(table, schema_of(table, more)).notes if note.kind == "product"]
    return {note.column: (re.findall(r'expression = "(.*?)"\.', note.text)[0], note.count) for note in notes}


def expressions(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    return {column: text for column, (text, _) in products(table, more).items()}


def loans(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    amount, months = rng.integers(1000, 40_000, rows), rng.integers(6, 60, rows)
    monthly = np.round(amount / months, 2)
    return pd.DataFrame({"amount": amount, "age": rng.integers(18, 90, rows), "months": months, "monthly": monthly})


def orders(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    price, quantity = np.round(rng.exponential(20, rows), 2), rng.integers(1, 9, rows)
    return pd.DataFrame({"total": np.round(price * quantity, 2), "price": price, "unit": quantity})


def test_a_quotient_is_named_with_the_digits_that_are_stored():
    assert expressions(loans()) == {"monthly": "round(amount / months, 2)"}
    table = loans()
    table["monthly"] = table["amount"] / table["months"]
    assert expressions(table) == {"monthly": "amount / months"}


def test_a_product_is_named_and_not_the_quotients_that_it_implies():
    assert expressions(orders()) == {"total": "round(price * unit, 2)"}
    whole = orders().assign(price=lambda table: table["price"].astype(int) + 2)
    whole["total"] = whole["price"] * whole["unit"]
    assert expressions(whole) == {"total": "price * unit"}


def test_a_multiple_is_named_with_its_constant():
    table = loans()[["amount", "age"]]
    table["yearly"] = 12 * table["amount"]
    table["inches"] = np.round(table["age"] / 2.54, 1)
    assert expressions(table) == {"yearly": "12 * amount", "inches": "round(age / 2.54, 1)"}
    table["yearly"], table["inches"] = table["amount"], np.round(0.453592 * table["amount"], 3)
    assert expressions(table) == {"yearly": "amount", "inches": "round(0.453592 * amount, 3)"}


def test_a_constant_that_needs_no_rounding_is_the_one_that_is_named():
    hours = np.random.default_rng(0).integers(1, 60, 400)
    table = pd.DataFrame({"seconds": 3600 * hours, "hours": hours})
    schema = Schema.from_toml(
        schema_of(table).to_toml() + '[[derived]]\nname = "half"\nkind = "real"\nexpression = "seconds / 2"\n'
    )
    notes = check_without_privacy(table, schema).notes
    assert {note.column: note.expression for note in notes if note.expression} == {"hours": "round(seconds / 3600)"}


def test_a_column_that_is_another_one_is_not_rounded():
    table = pd.DataFrame({"price": np.random.default_rng(0).integers(1, 10**9, 300) / 10**8})
    table["again"] = table["price"]
    assert expressions(table) == {"again": "price"}


def test_a_share_in_percent_is_named_with_its_hundred():
    table = loans()[["months", "amount"]]
    table["share"] = np.round(100 * table["months"] / table["amount"], 3)
    table["of hundred"] = np.rint(table["months"] * table["amount"] / 100).astype(int)
    assert expressions(table[["months", "amount", "share"]]) == {"share": "round(100 * months / amount, 3)"}
    assert expressions(table[["months", "amount", "of hundred"]]) == {"of hundred": "round(months * amount / 100)"}


@pytest.mark.parametrize("table", [loans(), orders(), loans().assign(twice=lambda table: table["age"] * 2)])
def test_what_is_proposed_is_a_schema_that_holds(table):
    for column, text in expressions(table).items():
        kind = "integer" if pd.api.types.is_integer_dtype(table[column]) else "real"
        derived = f'[[derived]]\nname = "{column}"\nkind = "{kind}"\nexpression = \'{text}\'\n'
        assert check_without_privacy(table, schema_of(table, derived, without=column)).holds


def test_what_follows_from_a_column_that_follows_is_given_by_what_that_follows_from():
    table = loans()
    table["yearly"] = np.round(12 * table["monthly"], 2)
    found = expressions(table)
    assert found == {"monthly": "round(amount / months, 2)", "yearly": "12 * (round(amount / months, 2))"}
    both = "".join(f'[[derived]]\nname = "{name}"\nkind = "real"\nexpression = "{found[name]}"\n' for name in found)
    kept = table[["amount", "age", "months"]]
    schema = Schema.from_toml(schema_of(kept).to_toml() + both)
    assert check_without_privacy(table, schema).holds


@pytest.mark.parametrize("place", [0, 200, 399])
def test_one_record_that_speaks_against_it_is_enough(place):
    table = loans()
    table.loc[place, "monthly"] += 5000.0
    assert products(table) == {}


def test_a_value_where_the_divisor_is_0_speaks_against_a_quotient_and_none_does_not():
    table = loans()
    table.loc[5, "months"] = 0
    table.loc[5, "monthly"] = np.nan
    assert "monthly" in products(table)
    table.loc[5, "monthly"] = 0.0
    assert products(table) == {}


def test_records_that_miss_one_say_nothing():
    table = loans()
    table.loc[:99, "monthly"] = np.nan
    assert 290 < products(table)["monthly"][1] < 300
    table["months"] = np.nan
    assert products(table) == {}


def test_the_column_that_is_missing_where_the_others_are_follows_from_them():
    table = loans()[["amount", "months"]].astype(float)
    table["share"] = table["amount"] * table["months"]
    table.loc[:99, "amount"] = np.nan
    table.loc[:99, "share"] = np.nan
    assert expressions(table) == {"share": "round(amount * months, 0)"}
    table["share"] = table["share"].fillna(1.0)
    (note,) = (note for note in check_without_privacy(table, schema_of(table)).notes if note.kind == "product")
    assert " In 100 records it is missing and these are not, or the other way round, " in note.text


def test_few_records_and_few_values_are_chance():
    assert products(loans(product_notes.FEWEST)) == {}
    table = loans()
    table["code"] = table["age"] % 5 + 2
    table["level"] = 3 * table["code"]
    assert "level" not in products(table)


@pytest.mark.parametrize("seed", range(5))
def test_independent_columns_zeros_and_constants_are_none(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"count{place}": rng.poisson(3 * place + 1, 300) for place in range(6)})
    table = table.assign(zero=0, one=1, twelve=12, flag=rng.integers(0, 2, 300), rare=(rng.random(300) < 0.02) * 7)
    table["score"] = np.round(rng.normal(50, 9, 300), 1)
    table["known if flag"] = table["score"] * table["flag"]
    assert products(table) == {}


def test_a_product_that_a_rule_names_is_known():
    table = loans()[["amount", "age"]]
    table["yearly"] = 12 * table["amount"]
    assert products(table, '[[rules]]\nrequire = "yearly == 12 * amount"\n') == {}


def test_batches_are_asked_one_after_another(monkeypatch):
    table = loans(3000)
    counts = product_notes.ProductCounts(schema_of(table))
    source = schema_report.read_without_privacy(table, schema_of(table), reason="test", ledger=None)
    batches = list(source.batches(derived=True))
    for batch in (*batches, *batches):
        counts.add(batch)
    (note,) = counts.notes()
    assert note.count > 5900


def test_a_column_that_is_a_multiple_is_not_said_to_follow_too():
    table = loans(4000)[["age", "amount"]]
    table["in months"] = 12 * table["age"]
    notes = check_without_privacy(table, schema_of(table)).notes
    assert [note.kind for note in notes if note.column == "in months" and note.kind in ("product", "follows")] == [
        "product"
    ]


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (11.99, 12.01, "12 * {}"),
        (0.999, 1.001, "{}"),
        (0.0833, 0.08334, "{} / 12"),
        (0.01, 0.01, "{} / 100"),
        (1.5, 1.5, "1.5 * {}"),
        (-2.01, -1.99, "-2 * {}"),
        (2.54, 2.54, "2.54 * {}"),
        (1000.0, 1000.0, "1000 * {}"),
        (2.718281828, 2.718281829, ""),
        (-1.0, 1.0, ""),
    ],
)
def test_the_constant_is_the_one_of_fewest_digits(low, high, text):
    assert factor_text(low, high, digits=6) == text


def bodies(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    height, weight = rng.integers(150, 200, rows), np.round(rng.normal(75, 12, rows), 1)
    return pd.DataFrame({"weight": weight, "height": height, "bmi": np.round(weight / (height / 100) ** 2, 1)})


@pytest.mark.parametrize("order", [["weight", "height", "bmi"], ["bmi", "height", "weight"]])
def test_a_weight_over_the_square_of_a_height_is_named(order: list[str]) -> None:
    assert expressions(bodies()[order]) == {"bmi": "round(10000 * weight / (height * height), 1)"}
    meters = bodies().assign(height=lambda table: table["height"] / 100)[order]
    assert expressions(meters) == {"bmi": "round(weight / (height * height), 1)"}
    assert expressions(bodies().assign(bmi=lambda table: table["bmi"] + 0.3 * (table["height"] == 170))[order]) == {}


def test_the_square_that_is_proposed_is_a_schema_that_holds() -> None:
    (text,) = expressions(bodies()).values()
    derived = f'[[derived]]\nname = "bmi"\nkind = "real"\ndecimals = 1\nexpression = "{text}"\n'
    assert check_without_privacy(bodies(), schema_of(bodies(), derived, without="bmi")).holds
