"""Records that repeat the line of names: what `check` says of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from counterfoil.evaluation.schema_report import check_without_privacy

COLUMNS = """
[columns.id]
kind = "identifier"
replace = "sequence"
[columns.sex]
kind = "categorical"
values = ["f", "m"]
other = true
[columns.age]
kind = "integer"
lower = 0
upper = 99
missing = true
[columns.born]
kind = "date"
lower = 1900-01-01
upper = 2020-12-31
missing = true
missing_values = ["", "unknown"]
"""


def notes(tmp_path: Path, names: str, records: str) -> list[str]:
    path = tmp_path / "people.csv"
    first = "".join(f"{i},{'fm'[i % 2]},{i % 60},1980-05-{1 + i % 28:02d}\n" for i in range(50))
    path.write_text(f"{names}\n{first}{records}")
    path.with_suffix(".toml").write_text(COLUMNS)
    found = check_without_privacy(path, path.with_suffix(".toml")).notes
    return [note.text for note in found if note.kind == "repeated_names"]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ("id,sex,age,born\n7,f,30,1999-01-01\n", "in 1 record it holds its own name, and so do the other columns"),
        ("id,sex,age,born\nid,sex,age,born\n", "in 2 records it holds its own name"),
        ("id, sex,age ,born\n", "delete it from the table."),
        ("7,sex,age,1999-01-01\n7,f,30,born\n", ""),
        ("Total,,50,\n", ""),
        ("", ""),
    ],
)
def test_lines_of_names_among_records_are_named(tmp_path: Path, records: str, said: str) -> None:
    """Of a table of two exports every column said what to do about one value, and none that it was no record."""
    found = notes(tmp_path, "id,sex,age,born", records)
    assert [said in text for text in found] == ([True] if said else [])


def test_a_name_that_is_a_category_or_stands_for_missing_ones_is_no_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nsex,20\nsex,\nf,30\n")
    path.with_suffix(".toml").write_text(
        '[columns.sex]\nkind = "categorical"\nvalues = ["f", "sex"]\n'
        '[columns.age]\nkind = "integer"\nlower = 0\nupper = 99\nmissing = true\n'
    )
    assert not [
        note for note in check_without_privacy(path, path.with_suffix(".toml")).notes if "own name" in note.text
    ]


def test_a_storage_with_types_has_none(tmp_path: Path) -> None:
    pq.write_table(pa.table({"sex": ["sex", "f"], "age": [3, 4]}), tmp_path / "people.parquet")
    path = tmp_path / "people.toml"
    path.write_text(
        '[columns.sex]\nkind = "categorical"\nvalues = ["f"]\nother = true\n'
        '[columns.age]\nkind = "integer"\nlower = 0\nupper = 99\n'
    )
    assert not [n for n in check_without_privacy(tmp_path / "people.parquet", path).notes if n.kind == "repeated_names"]
