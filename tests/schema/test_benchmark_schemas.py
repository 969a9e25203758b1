"""The schemas that ship: each loads, places every value of its table, and its rules hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.curator.sources.opening import open_source
from counterfoil.schema import Schema
from counterfoil.synthesis.table import decode, encode

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
SCHEMAS = sorted((ROOT / "benchmarks" / "schemas").glob("*.schema.toml"))
AFFAIRS = ROOT / "src" / "counterfoil" / "data" / "affairs.schema.toml"
BUNDLED = {"affairs": "fair", "randhie": "randhie"}
"""Tables that come with statsmodels."""
ELSEWHERE = {
    "acs_ma": "acs_ma2019",
    "california_coordinates": "california_housing",
    "pgm_adult": "pgm_adult/adult",
}


def table_of(name: str) -> Path:
    if name in BUNDLED:
        datasets = pytest.importorskip(f"statsmodels.datasets.{BUNDLED[name]}")
        return Path(datasets.__file__).parent / f"{BUNDLED[name]}.csv"
    stem = ELSEWHERE.get(name, name.replace("encoded_", "paper_encoded/"))
    found = [DATA / f"{stem}{suffix}" for suffix in (".csv", ".csv.gz") if (DATA / f"{stem}{suffix}").exists()]
    if not found:
        pytest.skip(f"the table {stem} is not in {DATA}")
    return found[0]


def test_they_are_all_here() -> None:
    names = {path.name.removesuffix(".schema.toml") for path in SCHEMAS}
    plain = {"adult", "compas", "churn", "dutch", "law", "heart"}
    others = {"acs_ma", "pgm_adult", "california_coordinates", "california_housing", "randhie"}
    assert names == plain | {f"encoded_{name}" for name in plain} | others


@pytest.mark.parametrize("path", [*SCHEMAS, AFFAIRS], ids=lambda path: path.name.split(".")[0])
def test_a_schema_places_every_value_of_its_table(path: Path) -> None:
    schema = Schema.from_toml(path)
    assert schema.name == path.name.removesuffix(".schema.toml")
    assert Schema.from_toml(schema.to_toml()) == schema
    source = open_source(table_of(schema.name))
    declared = {column.name for column in schema.columns} | {*schema.ignore}
    assert declared == set(source.column_names)
    table = pa.concat_tables(batch.rows for batch in source.batches(schema.domain.attributes))
    codes = encode(schema, table)
    again = encode(schema, decode(schema, codes, np.random.default_rng(0)))
    for name in schema.domain.attributes:
        np.testing.assert_array_equal(codes[name], again[name])
    for clique, impossible in schema.structural_zeros.items():
        assert not impossible[tuple(codes[name] for name in clique)].any(), clique
    for rule in schema.row_rules:
        assert rule.holds(table).all(), rule.rule.text


@pytest.mark.parametrize("name", ["pgm_adult", "encoded_adult", "encoded_law"])
def test_integer_codes_come_back_as_they_were(name: str) -> None:
    schema = Schema.from_toml(ROOT / "benchmarks" / "schemas" / f"{name}.schema.toml")
    source = open_source(table_of(name))
    table = pa.concat_tables(batch.rows for batch in source.batches(schema.domain.attributes))
    codes = encode(schema, table)
    numbers = table.cast(pa.schema([(column, pa.int64()) for column in table.column_names]))
    assert decode(schema, codes, np.random.default_rng(0)).equals(numbers)
