"""The same seed gives the same release as before, in every row and every charge (`golden_releases.py` says how)."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import counterfoil as cf
from counterfoil.methods.registry import method_named, method_names, method_type
from golden_releases import CASES, NAMES, golden, recorded, release, rounded, table_of, versions

RECORDED = recorded()


def changes(before: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What is not the same, part by part."""
    said = []
    for part in sorted({*before, *found}):
        one, other = before.get(part), found.get(part)
        if isinstance(one, dict) and isinstance(other, dict):
            said += [f"{part}.{key}" for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
        elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
            said += [f"{part}: {x!r} became {y!r}" for x, y in zip(one, other, strict=True) if x != y]
        elif one != other:
            said.append(f"{part}: {one!r} became {other!r}")
    return said


@pytest.mark.parametrize(("name", "neighbors"), NAMES)
def test_a_release_is_what_it_was(name, neighbors):
    found = changes(RECORDED["releases"][f"{name}, {neighbors}"], golden(release(name, neighbors)))
    assert not found, f"recorded with {RECORDED['recorded_with']}, found with {versions()}"


def test_every_release_is_recorded():
    assert {*RECORDED["releases"]} == {f"{name}, {neighbors}" for name, neighbors in NAMES}


def test_every_method_is_among_them():
    """But the generator, whose weights depend on how a processor adds up: tests/training has its releases."""
    assert {type(case.method) for case in CASES.values()} == {
        type(method_named(name)) for name in method_names() if name != "wasserstein-generator"
    }
    estimators = {case.method.estimator for case in CASES.values() if isinstance(case.method, cf.Direct)}
    assert estimators == {*type(cf.Direct(2).estimator)}
    variants = {case.method.variant for case in CASES.values() if isinstance(case.method, cf.AIM)}
    assert variants == {*type(cf.AIM().variant)}
    presets = method_type("evolution").presets
    assert {f"evolution {preset}" for preset in presets} <= {*CASES}


def written(table: pa.Table, kind: str, folder: Path) -> str:
    """The table in storage of this kind."""
    path = folder / f"people.{kind}"
    if kind == "csv":
        csv.write_csv(table, path)
        return str(path)
    if kind == "parquet":
        parquet.write_table(table, path)
        return str(path)
    if kind == "duckdb":
        with duckdb.connect(str(path)) as database:
            database.register("given", table)
            database.execute("CREATE TABLE people AS SELECT * FROM given")
        return f"{path}::people"
    # SQLite has no dates and no booleans: texts and integers stand for them.
    table = table.set_column(4, "born", table["born"].cast(pa.string()))
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE people (person TEXT, job TEXT, age INTEGER, pay REAL, born TEXT, rich INTEGER)")
    database.executemany(
        "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", [tuple(row.values()) for row in table.to_pylist()]
    )
    database.commit()
    database.close()
    return f"{path}::people"


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "sqlite"])
def test_a_file_gives_the_same_release(kind, tmp_path):
    source = written(table_of("mst with fidelity", "add"), kind, tmp_path)
    assert not changes(
        RECORDED["releases"]["mst with fidelity, add"], golden(release("mst with fidelity", "add", source))
    )


# Changes that must be noticed


def test_rows_in_another_order_are_noticed():
    made = release("independent", "add")
    before = golden(made)
    object.__setattr__(made.drawn, "table", made.drawn.table.take(list(reversed(range(made.rows)))))
    assert {change.partition(".")[0] for change in changes(before, golden(made))} == {"columns"}


@pytest.mark.parametrize("key", ["sensitivity", "event", "event_under_other_relation", "parameters", "noise"])
def test_another_charge_is_noticed(key):
    made = release("independent", "add")
    before = golden(made)
    made.receipt.document["charges"][0][key] = {"kind": "other", "scale": 1.0} if key == "noise" else "other"
    assert [change.partition(":")[0] for change in changes(before, golden(made))] == ["charges"]


def test_a_digit_beyond_the_ninth_is_not():
    assert rounded({"a": [0.1, -0.0, 3, True, None, "x"]}) == rounded({"a": [0.1 + 1e-15, 0.0, 3, True, None, "x"]})
    assert rounded(0.1) != rounded(0.1 + 1e-8)
