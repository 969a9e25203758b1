"""Codes of many digits: the purchase can't find each, and says that nearly all numbers lie at a few places."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.discovery import discover
from counterfoil.curator.discovery_ranges import lumps_in

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

ROWS = 20_000


def test_columns_of_few_large_integers_are_told_from_amounts_and_years(tmp_path):
    """Each code has a thousand rows, forty times the noise; nothing is surely seen by noise, in one of a hundred."""
    rng = np.random.default_rng(6)
    table = {
        "zip": rng.choice([123, 1234, 8001, 8002, 9000, 94105], ROWS),
        "trade": rng.choice([111110, 236220, 541511, 722511], ROWS),
        "charge": rng.lognormal(8, 1.2, ROWS).astype(int),
        "year": np.where(rng.random(ROWS) < 0.2, 0, rng.integers(1950, 2024, ROWS)),
        "account": rng.integers(100_000, 900_000, ROWS),
        "age": rng.integers(18, 90, ROWS),
        "group": rng.choice(["a", "b"], ROWS),
    }
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    discovered, curator = discover(tmp_path / "t.csv", budget=Budget(2.0, 1e-9), seed=2)
    curator.close()
    lumps = {column.name: column.lumps for column in discovered.columns}
    assert min(lumps["zip"], lumps["trade"]) >= 4
    assert [name for name, count in lumps.items() if count] == ["zip", "trade"]


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
