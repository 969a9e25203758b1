"""One record of a CSV file is one row, whatever stands in it and wherever DuckDB's threads begin to read."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources import csv_text, text_encoding
from counterfoil.curator.sources.csv_text import layout_of, read_header
from counterfoil.curator.sources.file_source import FileSource, identifier
from counterfoil.curator.sources.opening import open_source

PARTS = ['"', "\n", "\r", "\r\n", ",", "a", "b b", "", " ", "é", "x" * 50]


def random_text(rnd: random.Random) -> str:
    """CSV with cells of any letters, quotes that are letters, blank lines, and lines that end in either way."""
    out, end = io.StringIO(), rnd.choice(["\n", "\r\n"])
    columns, quoting = rnd.choice([1, 2, 3]), rnd.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(out, lineterminator=end, quoting=quoting)
    writer.writerow([f"c{i}" for i in range(columns)])
    for _ in range(rnd.randint(0, 5)):
        writer.writerow(["".join(rnd.choices(PARTS, k=rnd.randint(0, 5))) for _ in range(columns)])
        out.write(end if rnd.random() < 0.1 else "")
        out.write(
            "".join(f'{i}"{"," if i + 1 < columns else end}' for i in range(columns)) if rnd.random() < 0.1 else ""
        )
    return out.getvalue()[: -len(end) if rnd.random() < 0.3 else None]


@pytest.mark.parametrize("few", [0, 20, 2**18])
@pytest.mark.parametrize("block", [1, 2, 7, 2**18])
def test_a_text_is_divided_as_the_standard_library_does(
    block: int, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoding, "_BLOCK", block)
    monkeypatch.setattr(csv_text, "_FEW", few)
    rnd = random.Random(block)
    path, broken = tmp_path / "t.csv", 0
    for _ in range(200):
        text = random_text(rnd)
        path.write_bytes(text.encode())
        header = read_header(path)
        _, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        expected = [cells for cells in rows if cells or len(header.names) == 1]
        found = layout_of(path, header)
        assert found.records == len(expected), text
        assert found.breaks_lines == any("\n" in cell or "\r" in cell for cells in rows for cell in cells), text
        broken += found.breaks_lines
    assert 20 < broken < 180  # else one half was not tried


@given(st.lists(st.sampled_from([*b'\n\r" ,;\0a', 255]), max_size=24).map(bytes), st.sampled_from(b",; "))
def test_python_sees_in_a_text_what_machine_code_does(text: bytes, delimiter: int) -> None:
    whole = csv_text._seen(text, delimiter, [0] * 5, interpreted=False)
    for border in range(len(text) + 1):
        for first, second in itertools.product((False, True), repeat=2):
            seen = csv_text._seen(text[:border], delimiter, [0] * 5, interpreted=first)
            assert csv_text._seen(text[border:], delimiter, seen, interpreted=second) == whole


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_quote_within_a_cell_that_does_not_begin_with_one_is_a_letter(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    text = '\ufeff"a b";b\n5" pipe;x\n7" pipe;"y ""z"""\n;"u\n"\n6"'.encode()
    path.write_bytes(gzip.compress(text + b";w") if suffix.endswith("gz") else text + b";w")
    assert layout_of(path, read_header(path)) == csv_text.CSVLayout(4, True)
    rows = [row for batch in open_source(path).batches(["a b", "b"]) for row in batch.rows.to_pylist()]
    cells = [tuple(row.values()) for row in rows]
    assert cells == [('5" pipe', "x"), ('7" pipe', 'y "z"'), (None, "u\n"), ('6"', "w")]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ('a,b\n1, "x\ny"\n2,"z" \n', [("1", "x\ny"), ("2", "z")]),
        ('a,b\n "x\ny",1\n2,z\n', [("x\ny", "1"), ("2", "z")]),
        ('a,b\n1,  x"\n2,"z"\n', [("1", '  x"'), ("2", "z")]),
        ('a,b\n1, \n ,"z"\n', [("1", " "), (" ", "z")]),
    ],
)
def test_a_space_around_a_quoted_cell_is_passed_over_as_duckdb_does(
    text: str, cells: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    rows = [row for batch in open_source(path).batches(["a", "b"]) for row in batch.rows.to_pylist()]
    assert [tuple(row.values()) for row in rows] == cells
    assert layout_of(path, read_header(path)).breaks_lines == ("x\ny" in text)


def spelt(rnd: random.Random) -> str:
    """A cell as some programs write it: with quotes or without, perhaps beside a space."""
    if rnd.random() < 0.5:
        return "".join(rnd.choices(["x", " ", '"', "é", "1"], k=rnd.randint(0, 4))).lstrip('" ')
    quoted = "".join(rnd.choices(["x", " ", '""', ",", "\n", "é"], k=rnd.randint(0, 4)))
    before, after = rnd.choice([("", ""), (" ", ""), ("", " ")])
    return f'{before}"{quoted}"{after}'


@pytest.mark.parametrize("seed", range(4))
def test_a_text_is_divided_as_one_thread_of_duckdb_does(seed: int, tmp_path: Path) -> None:
    rnd, path = random.Random(seed), tmp_path / "t.csv"
    lines = ["a,b,c", *(",".join(spelt(rnd) for _ in range(3)) for _ in range(300))]
    path.write_bytes("\n".join(lines).encode())
    source = open_source(path)
    assert isinstance(source, FileSource)
    found = list(source._scanned(", ".join(map(identifier, source.internal)), 0, 2048, in_parallel=False))
    assert layout_of(path, read_header(path)) == csv_text.CSVLayout(sum(one.num_rows for one in found), True)
    assert sum(batch.rows.num_rows for batch in source.batches(["a", "b", "c"])) == 300


def test_a_header_of_several_lines_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"a\nb",c\n1,2\n')
    assert layout_of(path, read_header(path, None)) == csv_text.CSVLayout(1, True)
    path.write_text('"a\nb",c\n')
    assert layout_of(path, read_header(path, None)) == csv_text.CSVLayout(0, True)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_record_whose_lines_look_like_records_is_one_row(suffix: str, tmp_path: Path) -> None:
    # A part that DuckDB reads by itself begins within this one cell: its lines were 150,000 rows, in place of others.
    line, path = f"1,{'2' * 7}\n", tmp_path / f"t{suffix}"
    before, alike = (8_000_000 - 1000) // len(line), 150_000
    text = "a,b\n" + line * before + '"x\n' + "7,7\n" * alike + '",3\n' + line * (alike + 1000)
    with gzip.open(path, "wt", compresslevel=1) if suffix.endswith("gz") else path.open("w") as stream:
        stream.write(text)
    for batch_rows in (2048, 131_072):
        batches = open_source(path).batches(["a"], batch_rows)
        cells = pa.chunked_array([batch.column("a") for batch in batches])
        assert len(cells) == before + 1 + alike + 1000
        assert np.flatnonzero(pc.not_equal(cells, "1").to_numpy()).tolist() == [before]


def test_rows_that_do_not_add_up_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    monkeypatch.setattr(
        "counterfoil.curator.sources.file_source.layout_of", lambda *_: csv_text.CSVLayout(3, breaks_lines=False)
    )
    with pytest.raises(SourceError, match=r"t\.csv can't be read: DuckDB finds other records than there are"):
        list(open_source(path).batches(["a"]))
