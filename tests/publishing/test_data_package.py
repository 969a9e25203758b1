"""The data dictionary keeps the rules of its format, and by it alone a table is read as it was meant."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.publishing.data_package import data_package
from counterfoil.publishing.file_notation import notation_of
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Derived, Identifier, Integer, Real, Schema
from counterfoil.synthesis.table import decode, write_table
from saved_releases import VISITS_TOML
from schema_strategies import categoricals, dates, datetimes, integers, reals

RULES = json.loads((Path(__file__).parent / "data_package_rules.json").read_text())
RECEIPT = {
    "source": "people.csv",
    "private": True,
    "created": "2026-01-31T12:00:00+00:00",
    "method": {"name": "mst"},
    "budget": {"epsilon": 1.0, "delta": 1e-9},
    "neighboring_relation": "add_or_remove_one",
    "privacy_unit": None,
}


def read_cell(field: dict[str, Any], missing: list[str], text: str) -> Any:
    """A cell by the rules of table schemas, version 1; raises ValueError where it breaks one of them."""
    constraints = field.get("constraints", {})
    if text in missing:
        if constraints.get("required"):
            raise ValueError("a required cell is missing")
        return None
    value = READERS[field["type"]](field, text)
    if "enum" in constraints and value not in constraints["enum"]:
        raise ValueError(f"{value!r} is not in the list")
    for name, beyond in (("minimum", -1), ("maximum", 1)):
        if name in constraints:
            bound = constraints[name]
            bound = READERS[field["type"]](field, bound) if isinstance(bound, str) else bound
            if (value > bound) - (value < bound) == beyond:
                raise ValueError(f"{value!r} is beyond its {name}")
    return value


def read_boolean(field: dict[str, Any], text: str) -> bool:
    if text in field["trueValues"]:
        return True
    if text in field["falseValues"]:
        return False
    raise ValueError(text)


def read_instant(field: dict[str, Any], text: str) -> date | datetime:
    default = "%Y-%m-%d" if field["type"] == "date" else "%Y-%m-%dT%H:%M:%SZ"
    moment = datetime.strptime(text, field.get("format", default))
    return moment.date() if field["type"] == "date" else moment


READERS = {
    "string": lambda field, text: text,
    "integer": lambda field, text: int(text),
    "number": lambda field, text: float(text),
    "boolean": read_boolean,
    "date": read_instant,
    "datetime": read_instant,
}


def package(schema: Schema, table: Any, folder: Path, name: str = "synthetic.csv") -> dict[str, Any]:
    write_table(table, folder / name, schema)
    made = data_package(schema, RECEIPT, table.column_names, folder, [name])
    jsonschema.validate(made, RULES)
    return json.loads(json.dumps(made))


def drawn(schema: Schema, rows: int = 40) -> Any:
    rng = np.random.default_rng(0)
    return decode(schema, {column.name: rng.integers(0, column.size, rows) for column in schema.synthesized}, rng)


def read(folder: Path, resource: dict[str, Any]) -> list[list[Any]]:
    with (folder / resource["path"]).open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    fields = resource["schema"]["fields"]
    assert header == [field["name"] for field in fields]
    missing = resource["schema"]["missingValues"]
    return [[read_cell(field, missing, text) for field, text in zip(fields, line, strict=True)] for line in lines]


@settings(max_examples=75, derandomize=True)
@given(data=st.data())
def test_a_table_is_read_by_its_dictionary_as_it_was_meant(data: st.DataObject, tmp_path_factory: Any) -> None:
    kinds = [data.draw(one) for one in data.draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=3))]
    columns = [replace(kind, name=f"c{place}") for place, kind in enumerate(kinds)]
    schema = Schema(tuple(columns))
    table = drawn(schema)
    folder = tmp_path_factory.mktemp("package")
    resource = package(schema, table, folder)["resources"][0]
    rows = read(folder, resource)
    expected = [list(row.values()) for row in table.to_pylist()]
    for row, values in zip(rows, expected, strict=True):
        for column, field, told, value in zip(columns, resource["schema"]["fields"], row, values, strict=True):
            assert means(column, field, told) == means(column, field, value), (column, field)


KINDS = [categoricals(), integers(), reals(), dates(), datetimes().filter(lambda column: not column.zone)]


def means(column: Any, field: dict[str, Any], value: Any) -> Any:
    """What a value stands for: its code, None where it is missing; words that hold for one column alone included."""
    if value is None or value == column.missing_word or value in field.get("missingValues", ()):
        return None
    if isinstance(column, Categorical):
        return str(value)
    if field["type"] == "string":  # another column has its word for missing values
        import pyarrow as pa

        return int(column.encode(pa.array([value]))[0])
    return value


def test_the_step_of_real_numbers_is_named(tmp_path: Path) -> None:
    """Table schemas, version 1, have no constraint for it."""
    schema = Schema((Real("hours", 0.0, 20.0, step=0.5), Real("pay", 0.0, 20.0)))
    hours, pay = package(schema, drawn(schema), tmp_path)["resources"][0]["schema"]["fields"]
    assert hours["counterfoil:step"] == 0.5
    assert hours["constraints"]["maximum"] == 20.0
    assert "counterfoil:step" not in pay


def test_zeros_at_the_beginning_and_notations_of_moments_are_named(tmp_path: Path) -> None:
    moments = Datetime(
        "at",
        datetime(2024, 1, 1),
        datetime(2024, 1, 31),
        resolution="1d",
        format="%Y-%m-%dT%H:%M:%S.%3f%:z",
        zone="Europe/Zurich",
    )
    schema = Schema((Integer("zip", 0, 999, digits=5), moments))
    code, at = package(schema, drawn(schema), tmp_path)["resources"][0]["schema"]["fields"]
    assert (code["type"], code["counterfoil:digits"]) == ("integer", 5)
    assert at["format"] == "%Y-%m-%dT%H:%M:%S.%f%z"


def test_a_word_that_is_a_value_elsewhere_is_missing_in_its_own_column_alone(tmp_path: Path) -> None:
    """Version 1 has one list of such words for the whole table: by it, the category NA would be lost."""
    country = Categorical("country", ("NA", "DE"))
    score = Integer("score", 0, 9, missing=True, missing_values=("NA",))
    schema = Schema((country, score))
    resource = package(schema, drawn(schema), tmp_path)["resources"][0]
    assert resource["schema"]["missingValues"] == [""]
    by_name = {field["name"]: field for field in resource["schema"]["fields"]}
    assert by_name["country"]["constraints"]["enum"] == ["NA", "DE"]
    assert by_name["score"]["missingValues"] == ["", "NA"]
    assert by_name["score"]["type"] == "string"
    assert None not in [row[0] for row in read(tmp_path, resource)]


def test_words_for_numbers_are_named_beside_a_word_for_missing_of_their_own(tmp_path: Path) -> None:
    age = Integer("age", 0, 90, missing=True, missing_values=("n.a.",), words=(("90+", 90),))
    schema = Schema((age, Categorical("land", ("n.a.", "DE"))))
    field = package(schema, drawn(schema), tmp_path)["resources"][0]["schema"]["fields"][0]
    assert (field["missingValues"], field["counterfoil:words"]) == (["", "n.a."], {"90+": 90})
    assert field["description"].startswith("Numbers, and words that stand for one: 90 is 90+. The word in")


def test_a_word_that_no_other_column_has_holds_for_the_table() -> None:
    schema = Schema(
        (Categorical("country", ("FR", "DE")), Integer("score", 0, 9, missing=True, missing_values=("-9",)))
    )
    assert notation_of(schema, typed=False).missing == ("", "-9")
    assert notation_of(schema, typed=True).missing == ("",)
    beside = Schema((Integer("loss", -20, 9), *schema.columns))
    assert notation_of(beside, typed=False).missing == ("",)
    assert notation_of(beside, typed=False).by_column == {"score": "-9"}


@pytest.mark.parametrize("word", ["N/A", "noch da", "?", "n.a."])
def test_no_number_that_is_computed_has_a_word_without_digits(tmp_path: Path, word: str) -> None:
    """The column was one of texts, of which it was said that another column has the word as a value."""
    amount = Integer("amount", 0, 9, missing=True, missing_values=(word,))
    schema = Schema((amount, Derived("double", "integer", expression="amount * 2")))
    first = package(schema, drawn(schema), tmp_path)["resources"][0]["schema"]
    assert first["fields"][0]["type"] == "integer"
    assert first["missingValues"] == ["", word]
    former = notation_of(schema, typed=False, former=True)
    assert (former.missing, former.by_column) == (("",), {"amount": word})


def test_a_computed_number_may_have_a_word_with_digits() -> None:
    amount = Integer("amount", 0, 9, missing=True, missing_values=("99",))
    schema = Schema((amount, Derived("double", "integer", expression="amount * 11")))
    assert notation_of(schema, typed=False).by_column == {"amount": "99"}


def test_each_kind_says_what_it_is(tmp_path: Path) -> None:
    schema = Schema(
        (
            Identifier("id", "sequence"),
            Boolean("flag"),
            Boolean("sex", true="woman", false="man"),
            Boolean("coded", true=1, false=2),
            Categorical("level", (1, 2, 3), ordered=True),
            Categorical("word", ("a",), other=True),
            Real("cost", 0.0, 5.5, bins=3),
            Date("day", date(2024, 1, 1), date(2024, 12, 31), bins=12, format="%d.%m.%Y"),
            Datetime("at", datetime(2024, 1, 1), datetime(2024, 1, 2), resolution="1h", zone="UTC"),
        )
    )
    fields = {
        field["name"]: field for field in package(schema, drawn(schema), tmp_path)["resources"][0]["schema"]["fields"]
    }
    assert fields["id"]["type"] == "integer"
    assert "identifies nobody" in fields["id"]["description"]
    assert fields["flag"]["trueValues"] == ["true"]
    assert fields["sex"]["constraints"]["enum"] == ["man", "woman"]
    assert fields["coded"] | {"type": "integer"} == fields["coded"]
    assert fields["level"]["constraints"]["enum"] == [1, 2, 3]
    assert fields["word"]["constraints"]["enum"] == ["a", "other"]
    assert fields["cost"]["constraints"] == {"required": True, "minimum": 0.0, "maximum": 5.5}
    assert fields["day"]["format"] == "%d.%m.%Y"
    assert fields["day"]["constraints"]["maximum"] == "31.12.2024"
    assert fields["at"]["format"] == "%Y-%m-%d %H:%M:%S%z"
    assert {field["counterfoil:kind"] for field in fields.values() if "counterfoil:kind" in field} == {
        "boolean",
        "categorical",
        "real",
        "date",
        "datetime",
    }


def test_a_parquet_table_has_types_of_its_own(tmp_path: Path) -> None:
    schema = Schema.from_toml(VISITS_TOML)
    made = package(schema, drawn(schema), tmp_path, "synthetic.parquet")
    assert made["profile"] == "data-package"
    resource = made["resources"][0]
    assert resource["profile"] == "data-resource"
    assert "dialect" not in resource
    day = next(field for field in resource["schema"]["fields"] if field["name"] == "day")
    assert day["constraints"] == {"minimum": "2024-01-01", "maximum": "2024-12-31"}


def test_a_typed_file_says_that_its_moments_are_times_of_day(tmp_path: Path) -> None:
    """A reader of the file alone met people who arrived in 1900."""
    day = datetime(1900, 1, 1), datetime(1900, 1, 1, 23, 59, 59)
    schema = Schema((Datetime("arrived", *day, "15min", format="%H:%M"), Datetime("at", *day, "1h")))
    for name, said in (("synthetic.parquet", ["Times of day, as moments of 1900-01-01.", None]), ("t.csv", [None] * 2)):
        fields = package(schema, drawn(schema), tmp_path, name)["resources"][0]["schema"]["fields"]
        assert [field.get("description") for field in fields] == said


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    name = '<script>alert("1")</script>\u202e\x1b[31m' + "x" * 5000
    schema = Schema((Categorical(name, ("=cmd()", "a|b", "line\nbreak")), Integer("n", 0, 3)))
    made = package(schema, drawn(schema), tmp_path)
    assert made["resources"][0]["schema"]["fields"][0]["name"] == name
    text = json.dumps(made)
    assert text.isascii()
    assert "\x1b" not in text
    assert {row[0] for row in read(tmp_path, made["resources"][0])} == {"=cmd()", "a|b", "line\nbreak"}
    receipt = RECEIPT | {"source": "../\x1b[31m" + "y" * 5000}
    hostile = data_package(schema, receipt, drawn(schema).column_names, tmp_path, ["synthetic.csv"])
    jsonschema.validate(hostile, RULES)
    assert "\x1b" not in hostile["title"]


def test_the_rules_notice_what_breaks_them(tmp_path: Path) -> None:
    schema = Schema.from_toml(VISITS_TOML)
    made = package(schema, drawn(schema), tmp_path)
    for path, value in ((("name",), "People Data"), (("resources", 0, "path"), "../x.csv"), (("profile",), "table")):
        broken = json.loads(json.dumps(made))
        place: Any = broken
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, RULES)


def test_decimal_commas_are_declared_where_texts_have_them(tmp_path: Path) -> None:
    schema = Schema.from_toml(
        'decimal_char = ","\n[columns.x]\nkind = "real"\nlower = 0\nupper = 1\n[columns.n]\nkind = "integer"\nlower = '
        '0\nupper = 1\n[[derived]]\nname = "y"\nkind = "real"\nexpression = "x * 2"\n'
    )
    fields = {}
    for name in ("synthetic.csv", "synthetic.parquet"):
        made = package(schema, drawn(schema), tmp_path, name)
        assert made["resources"][0].get("dialect", {}).get("delimiter", ";") == ";"
        fields[name] = {field["name"]: field.get("decimalChar") for field in made["resources"][0]["schema"]["fields"]}
    assert fields["synthetic.csv"] == {"x": ",", "n": None, "y": ","}
    assert fields["synthetic.parquet"] == {"x": None, "n": None, "y": None}


def test_moments_that_follow_from_others_are_read_by_their_notation(tmp_path: Path) -> None:
    text = (
        '[columns.pickup]\nkind = "datetime"\nlower = 2024-01-01T00:00:00\nupper = 2024-03-31T00:00:00\nbins = 9\n'
        '[columns.ride]\nkind = "integer"\nbetween = ["pickup", "dropoff"]\nlower = 0\nupper = 7200\n'
        '[[derived]]\nname = "dropoff"\nkind = "datetime"\nexpression = "pickup + ride"\n'
    )
    for more in ("", 'format = "%d.%m.%Y %H:%M:%S"\n'):
        schema = Schema.from_toml(text + more)
        table = drawn(schema)
        resource = package(schema, table, tmp_path)["resources"][0]
        fields = resource["schema"]["fields"]
        assert fields[1]["description"] == "From pickup to dropoff: days between dates, seconds between datetimes."
        assert fields[2]["type"] == "datetime"
        assert [row[2] for row in read(tmp_path, resource)] == table.column("dropoff").to_pylist()
