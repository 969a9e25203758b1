"""Tables of values: in the schema's order, and written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from counterfoil.schema import Boolean, Categorical, Identifier, Integer, Schema, UnplacedValue
from counterfoil.synthesis.table import decode, encode, write_table

SCHEMA = Schema(
    (
        Identifier("id", "sequence"),
        Integer("age", 0, 9, missing=True),
        Identifier("name"),
        Categorical("c", ("a", 'q"\n,')),
        Boolean("sick"),
    )
)
CODES = {"sick": np.array([0, 1, 1]), "c": np.array([0, 1, 0]), "age": np.array([3, 10, 0])}


def test_decoded_tables_follow_the_schema() -> None:
    table = decode(SCHEMA, CODES, np.random.default_rng(0))
    assert table.to_pydict() == {
        "id": [1, 2, 3],
        "age": [3, None, 0],
        "c": ["a", 'q"\n,', "a"],
        "sick": [False, True, True],
    }
    again = encode(SCHEMA, table)
    assert list(again) == ["age", "c", "sick"]
    for name, codes in again.items():
        np.testing.assert_array_equal(codes, CODES[name])


def test_codes_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"as many codes as the others. Found \[2, 3\]"):
        decode(SCHEMA, CODES | {"age": np.array([1, 2])}, np.random.default_rng(0))


def test_tables_that_do_not_fit_are_refused() -> None:
    table = decode(SCHEMA, CODES, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"no column 'age', which the schema declares. Did you mean 'ages'"):
        encode(SCHEMA, table.rename_columns(["id", "ages", "c", "sick"]))
    with pytest.raises(UnplacedValue, match="Column 'c', row 3"):
        encode(SCHEMA, table.set_column(2, "c", pa.array(["a", "a", "b"])))


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    table = decode(SCHEMA, CODES, np.random.default_rng(0))
    write_table(table, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").equals(table)
    write_table(table, str(tmp_path / "t.CSV"))
    written = csv.read_csv(tmp_path / "t.CSV", parse_options=csv.ParseOptions(newlines_in_values=True))
    assert written.to_pydict() == table.to_pydict()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.CSV", "t.parquet"]
    assert (tmp_path / "t.parquet").stat().st_mode & 0o400


def test_another_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for name, found in (("t.xlsx", "'.xlsx'"), ("t", "'no suffix'")):
        with pytest.raises(ValueError, match=f"written as .csv or .parquet. Found {found}"):
            write_table(pa.table({"a": [1]}), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")
    with pytest.raises(pa.ArrowInvalid):
        write_table(pa.table({"a": [[1]]}), path)
    assert path.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["t.csv"]
    with pytest.raises(OSError, match="There is no such folder"):
        write_table(pa.table({"a": [1]}), tmp_path / "nowhere" / "t.csv")
