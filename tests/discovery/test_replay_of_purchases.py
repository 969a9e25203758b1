"""A schema that is bought follows from the answers that were paid for, and from public facts.

Each purchase is made of a table, and again of one that has not a row of it and other numbers of rows, with the recorded
answers in place of its own: the document, the receipt and all warnings must be the same. The second table holds what a
reader may trip over.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import counterfoil
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.receipt.receipt import Receipt
from transcripts import Recording, recorded, replayed

STRANGE: dict[str, list[Any]] = {
    "who": ["", "\0", "x" * 300],
    "came": [datetime(1700, 1, 1), datetime(2262, 1, 1)],
    "left": [datetime(1970, 1, 1)],
    "visits": [2**63 - 1, -(2**63)],
    "cost": [np.nan, np.inf, -0.0, 5e-324, 1e308],
    "ward": ["\ufffd0xff", "12 kg", "1e400 %", "1,5", "1.234"],
}


def cells(side: int) -> dict[str, list[Any]]:
    """The columns of either table, whose types are the same."""
    if side:
        return {name: [each[i % len(each)] for i in range(417)] for name, each in STRANGE.items()}
    rng = np.random.default_rng(0)
    came = [datetime(2020, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 600, 2000)]
    return {
        "who": [str(i // 2) for i in range(2000)],
        "came": came,
        "left": [day + timedelta(days=int(stay)) for day, stay in zip(came, rng.integers(0, 9, 2000), strict=True)],
        "visits": rng.integers(0, 99, 2000).tolist(),
        "cost": rng.lognormal(5, 1, 2000).round(2).tolist(),
        "ward": rng.choice(["east", "north", "west"], 2000).tolist(),
    }


def text(separator: str) -> Callable[[int, Path], Path]:
    def written(side: int, folder: Path) -> Path:
        with (folder / "t.csv").open("w", newline="") as file:
            writer = csv.writer(file, delimiter=separator)
            writer.writerow(STRANGE)
            writer.writerows(zip(*cells(side).values(), strict=True))
        return folder / "t.csv"

    return written


def stored(side: int, folder: Path) -> Path:
    parquet.write_table(pa.table(cells(side)), folder / "t.parquet", row_group_size=(700, 50)[side])
    return folder / "t.parquet"


def objects(side: int, _: Path) -> pd.DataFrame:
    mixed = [None, (1,), b"\xff", 10**400, "\ud800", timedelta(1)]
    table = {name: mixed * 70 if side and name != "who" else each for name, each in cells(side).items()}
    rows = min(map(len, table.values()))
    return pd.DataFrame({name: pd.Series(each[:rows], dtype=object) for name, each in table.items()})


def index(side: int, _: Path) -> pd.DataFrame:
    """Of objects, which are moments in one table, and in the other one but for a single cell."""
    table = pd.DataFrame(cells(side))
    came = pd.Series([*(["unknown"] * side), *table["came"][side:]], dtype=object)
    return table.drop(columns="came").set_index(pd.Index(came, dtype=object, name="came"))


TABLES = {
    "commas": text(","),
    "semicolons": text(";"),
    "parquet": stored,
    "arrow": lambda side, _: pa.table(cells(side)),
    "objects": objects,
    "index": index,
}
NEIGHBORS: dict[str, dict[str, Any]] = {
    "add": {},
    "unit": {"relation": "replace_one", "privacy_unit": ("who", 2), "share": 0.5},
}


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("table", TABLES)
def test_a_purchase_follows_from_its_answers(monkeypatch, tmp_path, table, neighbors):
    monkeypatch.setattr(Receipt, "digest", property(lambda _: "0" * 64))  # of its time of day, too

    def bought(side: int) -> Callable[[Recording], Any]:
        def buy(_: Recording) -> Any:
            source = TABLES[table](side, tmp_path)
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                schema, receipt = counterfoil.buy_schema(source, epsilon=3.0, delta=1e-6, **NEIGHBORS[neighbors])
            assert schema.bought is not None
            document = receipt.to_json() | {"created": ""}
            said = [str(one.message) for one in warned if one.category is SchemaWarning]  # others once in a process
            return schema, schema.bought.document, document, said

        return buy

    made, recording = recorded(monkeypatch, bought(0))
    again, _ = replayed(monkeypatch, recording, bought(1))
    assert again == made
    assert recording.asked
