"""From a source to the files of a release: notation, types and the order of columns."""

from __future__ import annotations

import csv
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil import synthesize
from counterfoil.methods.independent import Independent
from counterfoil.schema import Boolean, Categorical, Date, Derived, Identifier, Integer, Schema
from counterfoil.schema.zone import find_zone
from counterfoil.synthesis.folder import load_csv
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import in_order, write_table

SCHEMA = """
[columns.n]
kind = "integer"
lower = 0
upper = 9
missing = true
missing_values = ["?"]

[columns.day]
kind = "date"
lower = 2010-01-01
upper = 2010-12-31
resolution = "1mo"
format = "%d.%m.%Y"

[columns.y]
kind = "boolean"
true = "yes"
false = "no"

[columns.seen]
kind = "datetime"
lower = 2020-01-01T00:00:00
upper = 2020-12-31T00:00:00
resolution = "1mo"
zone = "Europe/Zurich"

[columns."a;b;c"]
kind = "categorical"
values = ["01", 'say "hi", you']
missing = true
missing_values = ["n/a"]
"""
NAMES = ["a;b;c", "y", "seen", "n", "day"]


def cells(rng: np.random.Generator) -> list[str]:
    seen = datetime(2020, 1, 15) + timedelta(days=int(rng.integers(300)))
    return [
        str(rng.choice(["01", 'say "hi", you', "n/a"])),
        str(rng.choice(["yes", "no"])),
        f"{seen:%Y-%m-%d %H:%M:%S}+01:00",
        str(rng.choice(["?", "3", "4"])),
        f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2010",
    ]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people") / "people.csv"
    rng = np.random.default_rng(3)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([f"{name}" for name in NAMES])
        writer.writerows(cells(rng) for _ in range(500))
    # The header's separators are counted, so the name with semicolons is quoted.
    text = path.read_text()
    path.write_text(text.replace("a;b;c", '"a;b;c"', 1))
    return path


@pytest.fixture(scope="module")
def made(source: Path) -> Synthesis:
    return synthesize(str(source), Schema.from_toml(SCHEMA), epsilon=50.0, method=Independent(), rows=400, seed=1)


def test_a_csv_file_comes_back_in_its_own_notation(source: Path, made: Synthesis, tmp_path: Path) -> None:
    made.write(tmp_path / "s.csv")
    text = (tmp_path / "s.csv").read_text()
    assert text.splitlines()[0] == source.read_text().splitlines()[0] == '"a;b;c",y,seen,n,day'
    with (tmp_path / "s.csv").open(newline="") as stream:
        header, *rows = csv.reader(stream)
    found = dict(zip(header, map(set, zip(*rows, strict=True)), strict=True))
    assert found["a;b;c"] == {"01", 'say "hi", you', "n/a"}
    assert found["y"] == {"yes", "no"}
    assert {"?", "3", "4"} <= found["n"] <= {"?", *map(str, range(10))}
    for day in found["day"]:
        assert datetime.strptime(day, "%d.%m.%Y").strftime("%d.%m.%Y") == day
    for moment in map(datetime.fromisoformat, found["seen"]):
        assert moment.utcoffset() == moment.astimezone(find_zone("Europe/Zurich")).utcoffset()
    for row in rows:
        assert '"' not in "".join(row[1:])
    codes = made.codes
    for name, column in ((column.name, column) for column in made.schema.synthesized):
        again = column.encode(pa.array([row[header.index(name)] for row in rows]))
        np.testing.assert_array_equal(again, codes[name])


def test_tables_keep_their_types(made: Synthesis, tmp_path: Path) -> None:
    table = made.to_arrow()
    assert table.column_names == NAMES
    kinds = [pa.string(), pa.string(), pa.timestamp("us", "Europe/Zurich"), pa.int64(), pa.date32()]
    assert table.schema.types == kinds
    assert "n/a" in table.column("a;b;c").to_pylist()
    assert table.column("n").null_count > 0
    made.write(tmp_path / "s.parquet")
    assert parquet.read_table(tmp_path / "s.parquet").schema.types == kinds
    frame = made.to_pandas()
    assert list(frame.columns) == NAMES
    assert frame["n"].dtype == pd.Int64Dtype()
    assert "3.0" not in frame["n"].to_csv()
    assert frame["n"].isna().sum() == table.column("n").null_count


def test_a_folder_that_is_not_there_is_named_and_no_draft(made: Synthesis, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no such folder: '.*nowhere'$"):
        made.write(tmp_path / "nowhere" / "rows.csv")


def test_frames_have_types_that_follow_from_the_schema_alone(tmp_path: Path) -> None:
    """An ordered category sorted by its letters, truths were objects, and derived whole numbers reals."""
    columns = [
        Categorical("triage", ("low", "high", "critical"), ordered=True, missing=True),
        Categorical("grade", ("low", "high"), ordered=True, missing=True, missing_values=("?",)),
        Categorical("level", (1, 2, 3), ordered=True),
        Categorical("dose", ("01", 2.5, 10), ordered=True),
        Boolean("smoker", missing=True),
        Boolean("died"),
        Integer("nights", 0, 3, missing=True),
        Integer("visits", 0, 3),
        Date("since", date(2020, 1, 1), date(2020, 12, 31), missing=True),
    ]
    derived = [
        Derived("more", "integer", expression="nights + visits"),
        Derived("one", "integer", expression="visits + 1"),
    ]
    derived += [Derived("long", "boolean", expression="nights > visits")]
    derived += [Derived("each", "integer", expression="nights // visits")]
    rng = np.random.default_rng(0)
    cells = {
        "triage": rng.choice(["low", "high", "critical"], 400),
        "grade": rng.choice(["low", "?"], 400),
        "level": rng.integers(1, 4, 400),
        "dose": rng.choice(["01", "2.5", "10"], 400),
        **{name: rng.integers(0, 2, 400).astype(bool) for name in ("smoker", "died")},
        **{name: rng.integers(0, 4, 400) for name in ("nights", "visits")},
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, 400), unit="D"),
    }
    types = ("category", "str", "int64", "category", "boolean", "bool", "Int64", "int64", "datetime64[ms]")
    made = synthesize(pd.DataFrame(cells), Schema((*columns, *derived)), epsilon=5.0, seed=1, method="independent")
    made.save(tmp_path / "saved")
    expected = dict(zip(cells, types, strict=True))
    expected |= {"more": "Int64", "one": "int64", "long": "boolean", "each": "Int64"}
    for release in (made, Synthesis.load(tmp_path / "saved")):
        frame = release.to_pandas()
        assert frame.dtypes.astype(str).replace("object", "str").to_dict() == expected
        assert frame["triage"].cat.ordered
        assert list(frame["triage"].cat.categories) == ["low", "high", "critical"]
        assert list(frame["dose"].cat.categories) == ["01", "2.5", "10"]
        assert not frame["dose"].isna().any()
        plain = release.to_arrow().column("triage").to_pylist()
        assert frame["triage"].astype(object).where(frame["triage"].notna(), None).tolist() == plain
        other = release.to_polars()
        assert other["triage"].dtype == pl.Enum(["low", "high", "critical"])
        assert other["triage"].to_list() == plain
        assert (other["grade"].dtype, other["level"].dtype) == (pl.String, pl.Int64)


def test_later_rows_and_loaded_ones_have_the_same_order(made: Synthesis, tmp_path: Path) -> None:
    made.save(tmp_path / "saved")
    loaded = Synthesis.load(tmp_path / "saved")
    assert loaded.to_arrow().equals(made.to_arrow())
    for release in (made, loaded):
        assert release.sample(5, seed=1).schema.equals(made.to_arrow().schema)


def test_points_have_the_order_of_their_source() -> None:
    schema = Schema((Integer("b", 0, 9, missing=False), Identifier("id", "sequence"), Integer("a", 0, 9)))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(200), "a": rng.integers(0, 10, 200), "b": rng.integers(0, 10, 200)})
    points = synthesize(frame, schema, epsilon=5.0, delta=1e-6, rows=20, seed=1, method="signed-measure")
    assert points.to_arrow().column_names == ["id", "a", "b"]
    assert points.sample(3, seed=1).column_names == ["id", "a", "b"]


def test_columns_that_the_source_lacks_follow_the_one_before_them() -> None:
    table = pa.table({name: [0] for name in "xaybz"})
    assert in_order(table, ["b", "c", "a"]).column_names == ["x", "b", "z", "a", "y"]
    assert in_order(table, []).column_names == list("xaybz")
    assert in_order(table, ["a"]).num_rows == 1


def test_only_empty_cells_are_null_again(tmp_path: Path) -> None:
    table = pa.table({"c": ["NA", "null", "nan", None], "d": [1, None, 2, None]})
    write_table(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "c,d\nNA,1\nnull,\nnan,2\n,\n"
    assert load_csv(tmp_path / "t.csv").column("c").to_pylist() == ["NA", "null", "nan", None]


def test_cells_of_several_lines_are_read_wherever_a_block_of_the_file_ends(tmp_path: Path) -> None:
    """Arrow reads 1 MB at a time: here its first block ends between the two signs that end a line within a cell."""
    rows = ["aaa", *"a" * 262_141, "\r\n", "a", *["a\nb"] * 400_000]
    write_table(pa.table({"c": rows, "d": ["b"] * len(rows)}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes()[2**20 - 1 : 2**20 + 1] == b"\r\n"
    assert load_csv(tmp_path / "t.csv").column("c").to_pylist() == rows


def test_cells_are_quoted_as_they_must_be(tmp_path: Path) -> None:
    texts = ["plain", 'a "b"', "a,b", "a\nb", "a\rb", "a;b", '"', None]
    write_table(pa.table({'x"y': texts, "z|": texts[::-1]}), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as stream:
        assert list(csv.reader(stream)) == [
            ['x"y', "z|"],
            *([one or "", other or ""] for one, other in zip(texts, texts[::-1], strict=True)),
        ]
    write_table(pa.table({"x": ["a", None, "b"]}), tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_text() == 'x\na\n""\nb\n'
    many = pa.table({"n": np.arange(150_000), "r": np.arange(150_000) / 8})
    write_table(many, tmp_path / "many.csv")
    assert pd.read_csv(tmp_path / "many.csv").equals(many.to_pandas())
    write_table(many.slice(0, 0), tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text() == "n,r\n"
