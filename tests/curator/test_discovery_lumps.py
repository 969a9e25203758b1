"""Codes of many digits: found where numbers are asked about twice; else it is said that they lie at few places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.discovery import discover
from counterfoil.curator.discovery_ranges import lumps_in
from counterfoil.schema.discovered import DiscoveredColumn

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
