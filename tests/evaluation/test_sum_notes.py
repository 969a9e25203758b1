"""Columns that are the sum of two others: what `check` says of them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation import linear_search, schema_report, sum_notes
from counterfoil.evaluation.schema_report import check_without_privacy


def sums(table: pd.DataFrame, more: str = "") -> dict[str, tuple[str, int]]:
    """By column that is a sum, what is said of it, and of how many records."""
    columns = "".join(
        f'[columns."{name}"]\nkind = "real"\nlower = 0\nupper = 1000\ndecimals = 2\nmissing = true\n' for name in table
    )
    report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}{more}'))
    return {note.column: (note.text, note.count) for note in report.notes if note.kind == "sum"}


def costs(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    drugs, nursing = np.round(rng.exponential(90, (2, rows)), 2)
    return pd.DataFrame(
        {"total": np.round(drugs + nursing, 2), "drugs": drugs, "free": drugs[::-1], "nursing": nursing}
    )


def test_a_total_is_named_with_its_parts_and_the_expression():
    ((column, (text, count)),) = sums(costs()).items()
    assert (column, count) == ("total", 400)
    assert 'expression = "drugs + nursing"' in text


def test_names_that_are_no_words_stand_between_backticks():
    found = sums(costs().rename(columns={"drugs": "cost of drugs"}))
    assert "`cost of drugs` + nursing" in found["total"][0]


@pytest.mark.parametrize("place", [0, 200, 399])
def test_one_record_that_speaks_against_it_is_enough(place):
    table = costs()
    table.loc[place, "total"] += 0.01
    assert sums(table) == {}


def test_records_that_miss_one_of_the_three_say_nothing():
    table = costs()
    table.loc[:99, "drugs"] = np.nan
    table.loc[100:199, "total"] = np.nan
    assert sums(table)["total"][1] == 200
    table["nursing"] = np.nan
    assert sums(table) == {}


def test_few_records_and_parts_that_are_0_are_chance():
    assert sums(costs(sum_notes.FEWEST - 1)) == {}
    table = costs()
    table["nursing"] = 0.0
    table["total"] = table["drugs"]
    assert sums(table) == {}


def test_a_sum_that_a_rule_names_is_known():
    assert sums(costs(), '[[rules]]\nrequire = "total == drugs + nursing"\n') == {}


def test_numbers_beyond_a_bound_count_as_they_are():
    table = costs()
    table.loc[7, ["total", "drugs"]] += 5000.0
    assert "total" in sums(table)


def test_wide_tables_are_not_asked(monkeypatch):
    monkeypatch.setattr(sum_notes, "MOST_COLUMNS", 3)
    assert sums(costs()) == {}


def declared(table: pd.DataFrame, more: str = "", without: tuple[str, ...] = ()) -> Schema:
    """Columns of whole numbers as integers, and others as reals of which nothing says the digits."""
    kinds = {name: "integer" if (table[name].dropna() % 1 == 0).all() else "real" for name in table}
    columns = "".join(
        f'[columns."{name}"]\nkind = "{kind}"\nlower = -1000\nupper = 100000\nmissing = true\n'
        for name, kind in kinds.items()
        if name not in without
    )
    return Schema.from_toml(f'name = "t"\n{columns}{more}')


def expressions(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    notes = [note for note in check_without_privacy(table, declared(table, more)).notes if note.kind == "sum"]
    return {note.column: re.findall(r'expression = "(.*?)"\.', note.text)[0] for note in notes}


def pasted(table: pd.DataFrame, found: dict[str, str]) -> bool:
    """Whether a schema with all proposed columns, as they are proposed, holds of the table."""
    kinds = {column.name: column.kind for column in declared(table).synthesized}
    entries = "".join(
        f'[[derived]]\nname = "{name}"\nkind = "{kinds[name]}"\nexpression = "{text}"\n' for name, text in found.items()
    )
    return check_without_privacy(table, declared(table, entries, without=tuple(found))).holds


def people(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, schooling = rng.integers(25, 60, rows), rng.integers(6, 19, rows)
    return pd.DataFrame({"age": age, "schooling": schooling, "score": np.round(rng.normal(50, 9, rows), 1)})


@pytest.mark.parametrize(
    ("column", "values", "expression"),
    [
        ("experience", lambda table: table["age"] - table["schooling"] - 6, "age - schooling - 6"),
        ("end", lambda table: table["age"] + 1, "age + 1"),
        ("born", lambda table: 2020 - table["age"], "2020 - age"),
        ("rest", lambda table: 100 - table["age"] - table["schooling"], "100 - age - schooling"),
        ("gap", lambda table: table["age"] - table["schooling"], "age - schooling"),
        ("lost", lambda table: -table["age"] - table["schooling"], "-age - schooling"),
        ("kelvin", lambda table: np.round(table["score"] + 273.15, 2), "round(score + 273.15, 2)"),
        ("class", lambda table: 7 - table["age"], "7 - age"),
    ],
)
def test_sums_with_a_constant_are_named_with_an_expression_that_holds(column, values, expression):
    table = people().assign(**{column: values})
    found = expressions(table)
    if column == "gap":  # age is the sum of the two others
        found, expression, column = found, "schooling + gap", "age"
    assert found == {column: expression}
    assert pasted(table, found)


def test_names_that_python_reserves_stand_between_backticks():
    table = people().rename(columns={"age": "class"})
    table["next"] = table["class"] + 1
    found = expressions(table)
    assert found == {"next": "`class` + 1"}
    assert pasted(table, found)


def test_what_follows_from_a_sum_is_said_by_what_that_follows_from():
    table = people()
    table["start"] = table["age"] + table["schooling"]
    table["end"] = table["start"] + 1
    table["last"] = table["end"] + table["schooling"]
    found = expressions(table)
    assert len(found) == 3
    assert pasted(table, found)


def test_relations_that_others_imply_are_not_said():
    table = people()
    for place in range(6):
        table[f"shifted{place}"] = table["age"] + place + 1
    found = expressions(table)
    assert found == {f"shifted{place}": f"age + {place + 1}" for place in range(6)}
    assert pasted(table, found)


def test_shares_of_one_hot_columns_are_named_once():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 400)
    table = pd.DataFrame({name: (kind == place).astype(int) for place, name in enumerate("abc")})
    assert expressions(table) == {"c": "1 - a - b"}


def test_the_column_that_is_missing_where_the_others_are_follows_from_them():
    table = people().astype(float)
    table["schooling"] = table["schooling"].where(table.index % 5 > 0)
    experience = table["age"] - table["schooling"] - 6
    table = table[["schooling"]].assign(experience=experience, age=table["age"])
    found = expressions(table)
    assert found == {"experience": "age - schooling - 6"}
    assert pasted(table, found)


def test_records_in_which_one_side_alone_is_missing_are_counted():
    table = people().astype(float)
    table["end"] = table["age"] + 1
    table.loc[:9, "age"] = np.nan
    table.loc[10:39, "end"] = np.nan
    (note,) = (note for note in check_without_privacy(table, declared(table)).notes if note.kind == "sum")
    assert note.column == "end"
    assert " In 40 records it is missing and these are not, or the other way round, " in note.text


def test_a_column_that_a_multiple_or_a_rule_says_is_not_a_sum_too():
    table = people()
    table["again"], table["minus"] = table["age"], -table["age"]
    assert expressions(table) == {}
    table["end"] = table["schooling"] + 1
    assert expressions(table, '[[rules]]\nrequire = "end == schooling + 1"\n') == {}


@pytest.mark.parametrize("seed", range(5))
def test_independent_columns_constants_and_rare_values_are_no_sums(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"count{place}": rng.poisson(3 * place + 1, 300) for place in range(6)})
    table = table.assign(zero=0, one=1, twelve=12, hole=np.nan, nearly=np.where(np.arange(300) < 9, 3, 2))
    table["almost"] = table["nearly"] + 1
    for place in range(6):
        table[f"flag{place}"] = (rng.random(300) < 0.03 * (place + 1)).astype(int)
    table["score"] = np.round(rng.normal(50, 9, 300), 1)
    table["known if flag"] = table["score"] * table["flag5"]
    assert expressions(table) == {}


@pytest.mark.parametrize("place", [0, 200, 399])
def test_one_record_that_is_off_by_one_is_enough(place):
    table = people()
    table["experience"] = table["age"] - table["schooling"] - 6
    table.loc[place, "experience"] += 1
    assert expressions(table) == {}


def test_a_constant_that_changes_between_batches_is_none():
    table = people(3000)
    table["end"] = table["age"] + 1
    later = table.assign(end=table["age"] + 2)
    counts = sum_notes.SumCounts(declared(table))
    for part in (table, table, later):
        source = schema_report.read_without_privacy(part, declared(table), reason="test", ledger=None)
        assert len([*counts.notes()]) == (counts._left is not None)
        for batch in source.batches(derived=True):
            counts.add(batch)
    assert [*counts.notes()] == []


@pytest.mark.parametrize("rare", [0.3, 1e-3, 1e-4, 0.0])
def test_few_relations_are_left_for_all_records(rare):
    numbers = (np.random.default_rng(0).random((60, 20_000)) < rare).astype(float)
    assert len(linear_search.search(numbers)) <= linear_search.MOST_LEFT
