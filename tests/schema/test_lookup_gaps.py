"""Declared values that a lookup table has no row for: counted against brute force, and said wherever it matters."""

from __future__ import annotations

import datetime as dt
import json
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil as cf
from counterfoil.cli.app import run
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.schema import Boolean, Categorical, Date, Derived, Integer, Real, Rule, Schema, SchemaError
from counterfoil.schema.column import Column
from counterfoil.schema.lookup_gaps import lookup_gaps, require_lookups_met
from counterfoil.synthesis.table import decode

CODES, FLAG, AGE = (
    Categorical("code", ("01", "1", "2"), other=True),
    Boolean("flag", true="J", false="N"),
    Integer("n", 0, 4),
)
KEYS = {
    "code": ("01", "1", "1.0", "2", "other", "x"),
    "flag": ("J", "no"),
    "n": ("0", "1", "2.0", "3", "4", "9"),
}
"""Keys of which some are no declared values, and no two are the same truth."""


@given(st.sets(st.sampled_from([*product(*KEYS.values())]), min_size=1), st.booleans())
def test_values_without_a_row_are_those_that_get_none(keys: set[tuple[str, ...]], ruled: bool) -> None:
    derived = Derived("v", "integer", on=("code", "flag", "n"), lookup=tuple((*key, 1) for key in sorted(keys)))
    rules = (Rule("n < 2", "flag"),) if ruled else ()
    try:
        schema = Schema((CODES, FLAG, AGE, derived), rules)
    except SchemaError:  # of one column no value is met
        return
    codes = np.array([*product(range(4), range(2), range(5))]).T
    values = decode(schema, dict(zip(("code", "flag", "n"), codes, strict=True)), np.random.default_rng(0))
    allowed = ~(ruled & (codes[1] == 1) & (codes[2] >= 2))
    empty = int((values.column("v").is_null().to_numpy() & allowed).sum())
    gaps = lookup_gaps(schema)
    assert [gap.count for gap in gaps] == ([empty] if empty else [])
    assert all(f"{empty} of the {allowed.sum()} combinations" in gap.text for gap in gaps)


@pytest.mark.parametrize(
    ("column", "keys", "count", "words"),
    [
        (Categorical("k", ("a", "b", "c")), ("a", "b", "c", "d"), 0, ""),
        (Categorical("k", ("a", "b", "c")), ("b",), 2, "2 of the 3 declared values ('a', 'c')"),
        (Categorical("k", tuple("abcdef")), ("b",), 5, "5 of the 6 declared values ('a', 'c', 'd', ...)"),
        (Boolean("k"), ("yes",), 1, "1 of the 2 declared values ('false')"),
        (Boolean("k", true="J", false="N"), ("yes", "N"), 0, ""),
        (Integer("k", 0, 99), ("1", "2", "200"), 98, "98 of the 100 declared values ('0', '3', '4', ...)"),
        (Integer("k", 0, 99, bins=10), tuple(map(str, range(100))), 0, ""),
        (Integer("k", 0, 98, step=2, bins=7), tuple(map(str, range(0, 99, 2))), 0, ""),
        (Integer("k", 0, 99, bins=10), tuple(map(str, range(10))), 90, "and 10 of 100 have one"),
        (Real("k", 0, 2, bins=2, decimals=1), tuple(str(i / 10) for i in range(21)), 0, ""),
        (Real("k", 0, 2, bins=2, step=0.5), ("0", "0.5", "1", "1.7"), 2, "and 3 of 5 have one"),
        (Real("k", 0, 2, bins=2, points=(0.0,)), ("0",), 0, "and few have one"),
        (
            Date("k", dt.date(2020, 1, 1), dt.date(2020, 1, 9), bins=3),
            ("2020-01-01", "2020-01-02", "2020-01-03", "04.01.2020"),
            6,
            "and 3 of 9 have one",
        ),
    ],
)
def test_gaps_of_one_column(column: Column, keys: tuple[str, ...], count: int, words: str) -> None:
    schema = Schema((column, Derived("v", "integer", on=("k",), lookup=tuple((key, 1) for key in keys))))
    require_lookups_met(schema)
    gaps = lookup_gaps(schema)
    assert [gap.count for gap in gaps] == ([count] if words else [])
    assert all(words in gap.text for gap in gaps)


POSTAL = ("123", "4500", "10115")


@pytest.mark.parametrize(
    "column", [Integer("plz", 0, 99_999), Integer("plz", 0, 99_999, bins=100), Real("plz", 0, 99_999)]
)
def test_a_lookup_on_numbers_that_are_drawn_by_chance_is_refused(column: Column) -> None:
    lookup = tuple((key, "A") for key in POSTAL)
    schema = Schema((column, Derived("city", "categorical", on=("plz",), lookup=lookup)))
    with pytest.raises(
        SchemaError, match=r"values that are drawn of 'plz', .*declare 'plz' with kind = \"categorical\""
    ):
        cf.synthesize(pa.table({"plz": [123, 4500] * 20}), schema, epsilon=1.0)
    remedy = Schema(
        (Categorical("plz", (123, 4500, 10115)), Derived("city", "categorical", on=("plz",), lookup=lookup))
    )
    assert lookup_gaps(remedy) == []
    assert len(lookup_gaps(schema)) == 1  # an older release has such a schema, and can be read


def test_two_rows_for_one_truth_are_refused() -> None:
    lookup = (("yes", 1), (True, 2))
    with pytest.raises(SchemaError, match="must have one row for each k; found two that mean the same"):
        require_lookups_met(Schema((Boolean("k"), Derived("v", "integer", on=("k",), lookup=lookup))))


TEXT = """
name = "t"
[columns.puma]
kind = "categorical"
values = ["00503", "00703", "01000"]
[[derived]]
name = "density"
kind = "real"
lookup = "density.csv"
on = ["puma"]
value = "density"
"""
SENTENCE = "Column 'density' is empty in rows whose 'puma' has no row in its lookup: 2 of the 3 declared values"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "density.csv").write_text("puma,density\n00503,2872.7\n")
    (tmp_path / "t.toml").write_text(TEXT)
    (tmp_path / "t.csv").write_text("puma\n" + "00503\n01000\n" * 100)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_line_says_it_before_and_after(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "t.csv", "--schema", "t.toml"]) == 0
    assert SENTENCE in " ".join(capsys.readouterr().out.split())
    assert run(["synth", "t.csv", "--schema", "t.toml", "--epsilon", "1", "--rows", "9", "--out", "o.csv"]) == 0
    said = capsys.readouterr()
    assert SENTENCE in " ".join(said.out.split())
    assert SENTENCE in " ".join(said.err.split())
    receipt = json.loads((folder / "o.receipt.json").read_text())
    assert sum(line.startswith(SENTENCE) for line in receipt["warnings"]) == 1
    assert cf.Receipt(receipt).verify(folder).holds


@pytest.mark.parametrize("method", ["independent", "evolution"])
def test_python_warns(folder: Path, method: str) -> None:
    with pytest.warns(SchemaWarning, match="2 of the 3 declared values"):
        made = cf.synthesize(folder / "t.csv", folder / "t.toml", epsilon=1.0, method=method, rows=9)
    assert sum(line.startswith(SENTENCE) for line in made.receipt.document["warnings"]) == 1
