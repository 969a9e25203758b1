"""Lines of a CSV file that several threads make, against Python's own reader."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.synthesis import csv_writing
from counterfoil.synthesis.csv_writing import write_csv


class Decimal(Real):
    """Numbers as some countries write them."""

    def _spelled(self, values: pa.Array) -> pa.Array:
        return pa.array([None if value is None else str(value).replace(".", ",") for value in values.to_pylist()])


COLUMNS: dict[str, Column] = {
    "plain": Integer("plain", 0, 10**6),
    "quoted": Integer("quoted", 0, 99, missing=True, missing_values=('no, "none"',)),
    "comma": Decimal("comma", 0.0, 9.0, bins=9),
    "coded": Categorical("coded", (1, 2, 3), missing=True, missing_values=("a,b",)),
    "word": Categorical("word", ("x", 'y, "z"', "line\nfeed")),
}


def drawn(rows: int) -> pa.Table:
    rng = np.random.default_rng(rows)
    own = {name: column.decode(rng.integers(0, column.size, rows), rng) for name, column in COLUMNS.items()}
    return pa.table({**own, "free": pa.array(rng.random(rows)), "flag": pa.array(rng.random(rows) < 0.5)})


def expected(table: pa.Table) -> list[list[str]]:
    columns = zip(table.column_names, table.columns, strict=True)
    cells = [COLUMNS[name].written(own) if name in COLUMNS else own.cast(pa.string()) for name, own in columns]
    return [list(row) for row in zip(*(texts.to_pylist() for texts in cells), strict=True)]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("sizes", [(0,), (1,), (7, 0, 12), (40, 3)])
def test_cells_are_read_back_in_their_order(monkeypatch: pytest.MonkeyPatch, threads: int, sizes: tuple[int]) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(csv_writing, "_BLOCK_ROWS", 5)
    tables, file = [drawn(rows) for rows in sizes], io.BytesIO()
    write_csv(tables, COLUMNS, file)
    lines = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
    assert lines[0] == tables[0].column_names
    assert lines[1:] == [row for table in tables for row in expected(table)]


def test_a_part_that_can_not_be_made_is_raised() -> None:
    def parts():
        yield drawn(3)
        raise KeyError("a part")

    with pytest.raises(KeyError, match="a part"):
        write_csv(parts(), COLUMNS, io.BytesIO())
