"""Derived columns in the notation that their keys state, as other columns of their kind are written."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.publishing.data_package import notation_of
from counterfoil.publishing.release_check import _same_rows
from counterfoil.schema import Categorical, Derived, Integer, Real, Schema, SchemaError
from counterfoil.synthesis.csv_writing import write_csv
from counterfoil.synthesis.table import decode, write_table

COLUMNS = (Integer("q", 1, 3, missing=True), Real("p", 0.0, 9.0, decimals=2), Categorical("k", ("A", "B", "C")))
ON: dict[str, Any] = {"on": ("k",)}


def written(derived: Derived, folder: Path) -> list[str]:
    """The cells of a derived column, of rows 1 A, 2 B, missing C."""
    schema = Schema((*COLUMNS, derived))
    assert Schema.from_toml(schema.to_toml()) == schema
    table = decode(
        schema, {"q": np.array([0, 1, 3]), "p": np.zeros(3, int), "k": np.arange(3)}, np.random.default_rng(0)
    )
    write_table(table, folder / "t.csv", schema)
    return [line.split(",")[-1] for line in (folder / "t.csv").read_text().splitlines()[1:]]


@pytest.mark.parametrize(
    ("derived", "expected"),
    [
        (Derived("d", "boolean", expression="q > 1", true="yes", false="no"), ["no", "yes", ""]),
        (Derived("d", "boolean", expression="q > 1", true=1, false=0), ["0", "1", ""]),
        (Derived("d", "boolean", lookup=(("A", True), ("B", False)), true="J", false="N", **ON), ["J", "N", ""]),
        (Derived("d", "boolean", expression="q > 1"), ["false", "true", ""]),
        (Derived("d", "integer", lookup=(("A", 123), ("B", 123456)), digits=5, **ON), ["00123", "123456", ""]),
        (Derived("d", "integer", expression="q - 2", digits=3), ["-1", "000", ""]),
        (Derived("d", "real", expression="q / 4 + 1200", decimals=3), ["1200.250", "1200.500", ""]),
        (Derived("d", "real", lookup=(("A", 2872.7), ("B", 1.126)), decimals=2, **ON), ["2872.70", "1.13", ""]),
        (Derived("d", "real", lookup=(("A", 2872.7), ("B", 1.126)), **ON), ["2872.7", "1.126", ""]),
        (
            Derived("d", "date", lookup=(("A", date(2010, 12, 31)), ("C", date(1, 2, 3))), format="%d.%m.%Y", **ON),
            ["31.12.2010", "", "03.02.0001"],
        ),
    ],
)
def test_cells_are_written_as_stated(derived: Derived, expected: list[str], tmp_path: Path) -> None:
    assert written(derived, tmp_path) == expected


def test_labels_are_the_values_of_every_storage() -> None:
    for labels, kind in ((("yes", "no"), pa.string()), ((1, 0), pa.int64())):
        true, false = labels
        schema = Schema((*COLUMNS, Derived("d", "boolean", expression="q > 1", true=true, false=false)))
        table = decode(
            schema,
            {"q": np.array([0, 1, 3]), "p": np.zeros(3, int), "k": np.arange(3)},
            np.random.default_rng(0),
        )
        assert table.schema.field("d").type == kind
        assert table.column("d").to_pylist() == [false, true, None]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"true": "yes", "false": "no"}, '`true` goes with kind = "boolean"'),
        ({"format": "%d.%m.%Y"}, '`format` goes with kind = "date"'),
        ({"result": "real", "digits": 2}, '`digits` goes with kind = "integer"'),
        ({"digits": 19}, "`digits` must be from 1 to 18; found 19"),
        ({"digits": 2, "lookup": (("A", -1),)}, "goes with numbers from 0 on"),
        ({"result": "boolean", "lookup": (("A", True),), "true": "yes"}, "give the labels `true` and `false` together"),
        ({"result": "date", "lookup": (("A", date(2020, 1, 31)),), "format": "%m.%Y"}, "must tell all values apart"),
        ({"result": "date", "lookup": (("A", date(2020, 1, 31)),), "format": "%d.%q"}, "can be read and written"),
        (
            {"result": "date", "lookup": (("A", date(2020, 1, 31)),), "format": "%d.%m.%Y%z"},
            "must be one without an offset",
        ),
    ],
)
def test_keys_that_contradict_the_column_are_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=f"Column 'd' .*{message}"):
        Derived("d", **({"result": "integer", "on": ("k",), "lookup": (("A", 1),)} | facts))


def test_the_keys_stand_in_a_schema_file(tmp_path: Path) -> None:
    (tmp_path / "k.csv").write_text("k,zip,open\nA,00123,yes\nB,04500,no\n")
    base = '[columns.k]\nkind = "categorical"\nvalues = ["A", "B"]\n'
    base += '[[derived]]\nname = "d"\nlookup = "k.csv"\non = ["k"]\n'
    said = {
        'kind = "integer"\nvalue = "zip"\ndigits = 5': Derived(
            "d", "integer", lookup=(("A", 123), ("B", 4500)), digits=5, **ON
        ),
        'kind = "boolean"\nvalue = "open"\ntrue = "yes"\nfalse = "no"': Derived(
            "d", "boolean", lookup=(("A", True), ("B", False)), true="yes", false="no", **ON
        ),
    }
    for text, derived in said.items():
        (tmp_path / "s.toml").write_text(base + text)
        assert Schema.from_toml(tmp_path / "s.toml").derived == (derived,)
    for text, message in (("digits = 0", "must be something"), ("true = true", "must be a text or a whole number")):
        (tmp_path / "s.toml").write_text(f'{base}kind = "integer"\nvalue = "zip"\n{text}')
        with pytest.raises(SchemaError, match=message):
            Schema.from_toml(tmp_path / "s.toml")


SOLD = Schema((Integer("q", 1, 3), Derived("half", "real", expression="q / 2", decimals=2)))


def test_tables_that_older_versions_wrote_without_zeros_are_the_release_s_own(tmp_path: Path) -> None:
    made = cf.synthesize(pa.table({"q": [1, 2, 3] * 50}), SOLD, epsilon=1.0, method="independent", seed=1)
    made.write(tmp_path / "new.csv")
    with (tmp_path / "old.csv").open("wb") as file:
        write_csv(made.to_arrow(), {column.name: column for column in SOLD.synthesized}, file)
    assert "1,0.50\n" in (tmp_path / "new.csv").read_text()
    assert "1,0.5\n" in (tmp_path / "old.csv").read_text()
    assert _same_rows(tmp_path / "new.csv", made)
    assert _same_rows(tmp_path / "old.csv", made)
    (tmp_path / "old.csv").write_text((tmp_path / "old.csv").read_text().replace("1,0.5\n", "1,0.51\n", 1))
    assert not _same_rows(tmp_path / "old.csv", made)


def test_a_label_is_a_value_and_no_word_for_missing() -> None:
    """One list of words for missing holds for a whole table of version 1."""
    schema = Schema(
        (
            Categorical("k", ("A",), missing=True, missing_values=("no",)),
            Derived("d", "boolean", expression="k is missing", true="yes", false="no"),
        )
    )
    assert notation_of(schema, typed=False).by_column == {"k": "no"}


def test_a_date_with_a_zone_is_the_day_there_and_is_written_as_a_day() -> None:
    facts: dict[str, Any] = {"result": "date", "lookup": (("A", date(2020, 1, 31)),), "zone": "Europe/Zurich", **ON}
    plain = Derived("d", **facts)
    days = pa.array([date(2020, 1, 31), date(2020, 7, 31), None], pa.date32())
    assert plain.comparable == "date"
    assert plain.written(days).to_pylist() == ["2020-01-31", "2020-07-31", None]
    offset = Derived("d", **facts, format="%Y-%m-%dT%H:%M:%S%:z")
    assert offset.written(days).to_pylist() == ["2020-01-31T00:00:00+01:00", "2020-07-31T00:00:00+02:00", None]
