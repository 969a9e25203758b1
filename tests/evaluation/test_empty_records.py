"""Records without a value in any column: what `check` says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterfoil.evaluation.schema_report import check_without_privacy

COLUMNS = """
decimal_char = ","
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
[columns.pay]
kind = "real"
lower = 0
upper = 99
missing = true
missing_values = ["", "refused"]
"""


@pytest.mark.parametrize(
    ("below", "said"),
    [
        (";;;\n;;;\n", "in 2 records it is missing, and so are the other 2 columns."),
        (";;;\n", "if it is one of these, delete it from the table."),
        ("\n\n", ""),
        ("7;;;refused\n", "in 1 record it is missing"),
        ("7;;8;\n", ""),
    ],
)
def test_lines_of_delimiters_below_a_table_are_named(tmp_path: Path, below: str, said: str) -> None:
    """An export ended with them, and each column of a copy had missing cells that no person had."""
    path = tmp_path / "people.csv"
    path.write_text("id;sex;age;pay\n" + "".join(f"{i};{'fm'[i % 2]};{i % 60};{i % 90},5\n" for i in range(50)) + below)
    path.with_suffix(".toml").write_text(COLUMNS)
    notes = check_without_privacy(path, path.with_suffix(".toml")).notes
    found = [note for note in notes if note.kind == "empty_records"]
    assert [(note.column, said in note.text) for note in found] == ([("sex", True)] if said else [])
