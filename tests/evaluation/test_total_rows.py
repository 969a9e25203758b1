"""Records that sum others: what `check` says of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.evaluation.total_rows import names_a_total

COLUMNS = """
[columns.district]
kind = "categorical"
values = ["north", "south"]
other = true
[columns.children]
kind = "integer"
lower = 0
upper = 15
missing = true
[columns.benefit]
kind = "real"
lower = 0
upper = 5000
"""
LISTED = COLUMNS.replace('"south"', '"south", "Total", "total south"')


def notes(tmp_path: Path, schema: str, records: str) -> dict[str, str]:
    path = tmp_path / "people.csv"
    first = "".join(f"{('north', 'south')[i % 2]},{i % 5},{i}.5\n" for i in range(50))
    path.write_text(f"district,children,benefit\n{first}{records}")
    found = check_without_privacy(path, schema).notes
    return {note.column: note.text for note in found if note.kind == "total_rows"}


@pytest.mark.parametrize("text", ["Total", "TOTAL:", "Total north", "Grand Total", "Sub-total", "Summe ", "合計"])
def test_words_for_sums(text: str) -> None:
    assert names_a_total(text)


@pytest.mark.parametrize(
    "text", ["", "-", "totally", "partial", "the total number of cars", "a sum that nobody has seen"]
)
def test_other_words(text: str) -> None:
    assert not names_a_total(text)


def test_records_that_sum_others_are_named(tmp_path: Path, schema_file: Path) -> None:
    """The advice on each cell alone was to list Total as a district, and to raise the bounds to the sums."""
    schema_file.write_text(COLUMNS)
    found = notes(tmp_path, schema_file, "Total south,60,900.5\nTotal,120,1800.5\n,Summe,1800.5\n")
    assert found["district"].startswith("in 2 records it has a word for sums")
    assert "delete them from the table, and neither list their names nor raise bounds for them" in found["district"]
    assert found["children"].startswith("in 1 record it has a word for sums")


def test_a_listed_word_counts_beside_numbers_above_their_bounds(tmp_path: Path, schema_file: Path) -> None:
    schema_file.write_text(LISTED)
    assert notes(tmp_path, schema_file, "Total,3,20.5\n") == {}
    assert notes(tmp_path, schema_file, "Total,3,20.5\ntotal south,60,900.5\n")["district"].startswith("in 1 record ")


def test_frames_are_looked_at_too(tmp_path: Path, schema_file: Path) -> None:
    schema_file.write_text(COLUMNS)
    frame = pd.DataFrame({"district": ["north", "Total"], "children": [1, 2], "benefit": [10.0, 10.0]})
    (note,) = (note for note in check_without_privacy(frame, schema_file).notes if note.kind == "total_rows")
    assert note.count == 1


@pytest.fixture
def schema_file(tmp_path: Path) -> Path:
    return tmp_path / "people.toml"
