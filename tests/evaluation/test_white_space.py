"""What `check` says of texts that a storage holds otherwise than they come back: blanks around them, and empty ones."""

import sqlite3
from contextlib import closing

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema import Categorical, Schema

TEXTS = ["ok", "ok ", "\u00a0ok", "", "  ", None, "bad", " other"]


def stored(kind, path):
    """A table with these texts in column a."""
    table = pa.table({"a": pa.array(TEXTS)})
    if kind == "dictionary":
        return pa.table({"a": table["a"].dictionary_encode()})
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "csv":
        csv.write_csv(table, path)
    else:
        with closing(sqlite3.connect(path)) as opened:
            opened.execute("CREATE TABLE t (a TEXT)")
            opened.executemany("INSERT INTO t VALUES (?)", [(text,) for text in TEXTS])
            opened.commit()
        return f"{path}::t"
    return path


def said(kind, path, *, words=()):
    schema = Schema((Categorical("a", ("ok", "bad"), other=True, missing=True, missing_values=words),))
    return {note.kind: (note.count, note.text) for note in check_without_privacy(stored(kind, path), schema).notes}


@pytest.mark.parametrize("kind", ["dictionary", "parquet", "sqlite"])
def test_blanks_that_are_left_out_and_empty_texts_that_become_nulls_are_counted(kind, tmp_path):
    notes = said(kind, tmp_path / f"t.{kind}")
    assert notes["rewritten"] == (2, "in 2 of its cells white space around the text is left out.")
    count, text = notes["missing_spellings"]
    assert count == 2
    assert "hold an empty text, which is a null in Parquet files and frames of a copy" in text


def test_a_csv_file_has_neither(tmp_path):
    """Blanks there may part the cells, and every empty cell comes back as one."""
    assert not said("csv", tmp_path / "t.csv")


def test_a_word_that_is_written_for_them_is_said_alone(tmp_path):
    _, text = said("parquet", tmp_path / "t.parquet", words=("?", ""))["missing_spellings"]
    assert "null" not in text
