"""Codes of many digits: found where numbers are asked about twice; else it is said that they lie at few places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_text import schema_of
from counterfoil.discovery.discover import discover
from counterfoil.discovery.lumps import is_narrow, lumps_in
from counterfoil.schema import Schema
from counterfoil.schema.discovered import DiscoveredColumn
from discovered_strategies import BOUGHT

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

ROWS = 20_000


ZIPS, TRADES = [123, 1234, 8001, 8002, 9000, 94105], [111110, 236220, 541511, 722511]
OCCUPATIONS = [510, 2310, 4510, 4720, 5240, 6230, 7315, 9130]


def discovered_of(tmp_path: Path, several_texts: bool, seed: int) -> dict[str, DiscoveredColumn]:
    """A table with codes among amounts and years, of which each code has a thousand rows or more."""
    rng = np.random.default_rng(6)
    table = {
        "zip": rng.choice(ZIPS, ROWS),
        "trade": rng.choice(TRADES, ROWS),
        "occupation": rng.choice(OCCUPATIONS, ROWS),
        "charge": rng.lognormal(8, 1.2, ROWS).astype(int),
        "year": np.where(rng.random(ROWS) < 0.2, 0, rng.integers(1950, 2024, ROWS)),
        "account": rng.integers(100_000, 900_000, ROWS),
        "age": rng.integers(18, 90, ROWS),
        "group": rng.choice(["a", "b"], ROWS),
    }
    if several_texts:  # so many that the last question is about texts
        table |= {f"group{i}": rng.choice(["a", "b"], ROWS) for i in range(3)}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    discovered, curator = discover(tmp_path / "t.csv", budget=Budget(2.0, 1e-9), seed=seed)
    curator.close()
    return {column.name: column for column in discovered.columns}


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_codes_of_many_digits_are_found_where_numbers_are_asked_about_twice(tmp_path, seed):
    """The rarest has 2,400 rows, 80 times the noise; another number is found with probability below .005."""
    columns = discovered_of(tmp_path, False, seed)
    found = {name: [code for code, _ in columns[name].codes] for name in ("zip", "trade", "occupation")}
    assert found == {"zip": ZIPS, "trade": TRADES, "occupation": OCCUPATIONS}
    assert not any(columns[name].codes for name in ("charge", "account", "age"))
    assert not any(column.lumps for column in columns.values())


def test_columns_of_few_large_integers_are_told_from_amounts_and_years(tmp_path):
    """Each code has a thousand rows, forty times the noise; nothing is surely seen by noise, in one of a hundred."""
    lumps = {name: column.lumps for name, column in discovered_of(tmp_path, True, 2).items()}
    assert min(lumps["zip"], lumps["trade"], lumps["occupation"]) >= 4
    assert [name for name, count in lumps.items() if count] == ["zip", "trade", "occupation"]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_where_texts_are_asked_about_last_numbers_at_few_places_are_too(tmp_path, seed):
    """Each number has 2,000 rows or more, 15 times what a threshold hides, and no amount has more than 40."""
    rng = np.random.default_rng(7)
    tariffs = [0.0, 3.258096, 3.931826, 4.564348, 11.5]
    table = {
        "tariff": rng.choice(tariffs, ROWS),
        "trade": rng.choice(TRADES, ROWS),
        "amount": np.where(rng.random(ROWS) < 0.9, 0.0, rng.lognormal(3, 1, ROWS).round(6)),
        "weight": rng.normal(70, 12, ROWS).round(6),
    } | {f"group{i}": rng.choice(["a", "b"], ROWS) for i in range(4)}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    discovered, curator = discover(tmp_path / "t.csv", budget=Budget(2.0, 1e-9), seed=seed)
    curator.close()
    columns = {column.name: column for column in discovered.columns}
    assert {float(text) for text, _ in columns["tariff"].categories} == set(tariffs)
    assert {int(text) for text, _ in columns["trade"].categories} == set(TRADES)
    assert not columns["amount"].categories
    assert not columns["weight"].categories
    made = Schema.from_toml(schema_of(discovered, BOUGHT))
    kinds = {column.name: column.kind for column in made.columns}
    assert [kinds[name] for name in table] == [*["categorical"] * 2, *["real"] * 2, *["categorical"] * 4]


def test_narrow_are_few_intervals_that_hold_nearly_all_beside_the_fullest_too():
    counts = np.zeros(40)
    counts[[0, 12, 13, 14]] = [6000.0, 1500.0, 1500.0, 1000.0]
    assert is_narrow(counts, 5.0, 10_000.0, 4.0)
    assert not is_narrow(counts, 5.0, 11_000.0, 4.0), "a fifth of the records beside the fullest is elsewhere"
    assert not is_narrow(counts[:15], 5.0, 10_000.0, 4.0), "more than a quarter of the intervals"
    many = np.where(np.arange(400) < 9, 1000.0, 0.0)
    assert not is_narrow(many, 5.0, 9000.0, 4.0), "more than eight"
    assert not is_narrow(np.where(np.arange(40) < 1, 9000.0, 0.0), 5.0, 9000.0, 4.0), "one alone"


def test_lumps_are_few_narrow_and_hold_nearly_all():
    counts, edges = np.zeros(100), np.arange(101) * 50.0
    counts[[3, 40, 41, 90]] = 1000.0
    assert lumps_in(edges, counts, 5.0, 4000.0, 4.0) == 3
    assert lumps_in(edges, counts, 5.0, 5000.0, 4.0) == 0, "a fifth of the records is elsewhere"
    assert lumps_in(edges / 50, counts, 5.0, 4000.0, 4.0) == 0, "each integer is counted by itself"
    body = counts.copy()
    body[50:53] = 1000.0
    assert lumps_in(edges, body, 5.0, 7000.0, 4.0) == 0, "a body of numbers"
    assert lumps_in(edges[:12], counts[[3, 10, 10, 40, 10, 10, 90, 10, 10, 10, 10]], 5.0, 3000.0, 4.0) == 0, "dense"
    assert lumps_in(edges, np.zeros(100), 5.0, 4000.0, 4.0) == 0


def test_codes_with_a_unit_are_to_be_listed_as_the_texts_that_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    path = tmp_path / "runs.csv"
    pd.DataFrame({"way": rng.choice(["800 m", "5000 m", "10000 m"], 4000)}).to_csv(path, index=False)
    found, curator = discover(path, budget=Budget(20.0, 1e-9), seed=1)
    curator.close()
    assert found.columns[0].unit == "m"
    assert found.columns[0].lumps
    listed = "list them as the `values` of a categorical column (as texts, the way the table has them)"
    assert listed in schema_of(found, BOUGHT)
