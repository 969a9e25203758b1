"""Categories, and groups of them, from files beside the schema; a schema's own text needs none of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from counterfoil import synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.given import schema_given
from counterfoil.evaluation.comparison import compare
from counterfoil.schema import Categorical, Schema, SchemaError

BOOK = {"sex": {"values": {"1": "male", "2": "female"}}, "list": ["a", 2, "03"], "top": {"x": {"deep": 1}}}


def column(folder: Path, keys: str, files: dict[str, str]) -> Categorical:
    """The column of a schema beside these files."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "s.toml").write_text(f'[columns.c]\nkind = "categorical"\n{keys}\n', encoding="utf-8")
    schema = Schema.from_toml(folder / "s.toml")
    assert Schema.from_toml(schema.to_toml()) == schema
    assert sorted(schema.files) == sorted(str(folder / name) for name in files)
    made = schema["c"]
    assert isinstance(made, Categorical)
    return made


@pytest.mark.parametrize(
    ("keys", "name", "text", "expected"),
    [
        ('values_from = "c.csv"', "c.csv", "code,label\n01,a\n2,b\n", ("01", "2")),
        ('values_from = "c.csv"', "c.csv", '\ufeffcode\r\n01\r\n\r\n"x,""y"\r\n', ("01", 'x,"y')),
        ('values_from = "c.csv"\ncolumn = "label"', "c.csv", "code;label\n01;a\n2;b,c\n", ("a", "b,c")),
        ('values_from = "c.txt"', "c.txt", "code\n 01 \n", ("01",)),
        ('values_from = "b.json"\nkey = "sex.values"', "b.json", json.dumps(BOOK), ("1", "2")),
        ('values_from = "b.json"\nkey = ["list"]', "b.json", json.dumps(BOOK), ("a", 2, "03")),
        ('values_from = "b.json"', "b.json", '["é", "f"]', ("é", "f")),
    ],
)
def test_values_stand_as_the_file_has_them(
    tmp_path: Path, keys: str, name: str, text: str, expected: tuple[str | int, ...]
) -> None:
    assert column(tmp_path, keys, {name: text}).values == expected


def test_a_real_code_book() -> None:
    path = Path(__file__).parents[3] / "shared" / "data" / "acs_data_dictionary.json"
    if not path.exists():
        pytest.skip("the code book is not here")
    from counterfoil.schema.code_lists import CodeLists

    listed = CodeLists(path.parent).values("", path.name, keys=["PUMA", "values"])
    assert listed == list(json.loads(path.read_text())["PUMA"]["values"])


@pytest.mark.parametrize(
    ("keys", "files", "message"),
    [
        ('values_from = "no.csv"', {}, "the file '.*no.csv' can't be read \\(No such file"),
        ('values_from = "c.csv"', {"c.csv": ""}, "c.csv must have a header"),
        ('values_from = "c.csv"\ncolumn = "cod"', {"c.csv": "code\n1\n"}, "one column 'cod'. Found none. Did you mean"),
        ('values_from = "c.csv"', {"c.csv": "a,b\n1\n"}, "line 2 of c.csv must have 2 cells, as its header. Found 1"),
        ('values_from = "c.csv"', {"c.csv": "a,b\n,1\n"}, "line 2 of c.csv must have a value in column 'a'"),
        ('values_from = "c.csv"', {"c.csv": "a\nsecret\nsecret\n"}, "c.csv must list each value once. Value 2 of it"),
        ('values_from = "c.csv"', {"c.csv": 'a\n"x\n'}, "c.csv is not CSV: line 2 can't be read"),
        ('values_from = "c.csv"\nkey = "a"', {"c.csv": "a\n1\n"}, "`key` is for JSON files"),
        ('values_from = "b.json"\ncolumn = "a"', {"b.json": "[1]"}, "`column` is for CSV files"),
        ('values_from = "b.json"\nkey = "sx"', {"b.json": '{"sex": [1]}'}, "b.json has no `key` 'sx'. Did you mean"),
        ('values_from = "b.json"', {"b.json": json.dumps(BOOK)}, "must hold a list of texts or numbers.*Known: sex"),
        ('values_from = "b.json"', {"b.json": "[true]"}, "must hold a list of texts or numbers"),
        ('values_from = "b.json"', {"b.json": "[1"}, "b.json is not JSON text"),
        ('values_from = "b.json"', {"b.json": "[" * 100_000}, "b.json is not JSON text"),
        ('values_from = "b.json"', {"b.json": '{"a": 1, "a": 2}'}, "must have each key of an object once"),
        ('values = ["a"]\nvalues_from = "c.csv"', {"c.csv": "a\n1\n"}, "give either `values` or `values_from`"),
        ('values = ["a"]\ncolumn = "c"', {}, "`column` and `key` say where in a file"),
        ("values_from = 3", {}, "`values_from` must be a text; found 3"),
        ('values = ["a"]\nvalues_form = 3', {}, "unknown key `values_form`. Did you mean 'values_from'"),
        ('groups_from = "g.csv"\nvalues = ["a"]', {"g.csv": "value,group\nb,1\n"}, "must group some of `values`"),
        ('groups_from = "g.csv"\ngroup_digits = 1\nvalues = ["a"]', {}, "found groups_from and group_digits"),
        ('group_digits = 0\nvalues = ["a"]', {}, "`group_digits` must be a whole number of at least 1; found 0"),
        ('groups = ["a"]\nvalues = ["a"]', {}, "`groups` must be a table of lists"),
        ('groups = { x = ["a", "c"] }\nvalues = ["a", "b"]', {}, "`groups` lists 'c', which is not in `values`"),
        ('groups = { x = ["a"], y = ["a"] }\nvalues = ["a"]', {}, "`groups` must list each value once; found 'a'"),
        ('groups = { x = [] }\nvalues = ["a"]', {}, "`groups` must have a value in each group"),
        ('groups = { x = ["a"] }\nvalues = ["a"]\nordered = true', {}, "`groups` are for categories without order"),
    ],
)
def test_mistakes_name_the_file_the_column_and_the_key(
    tmp_path: Path, keys: str, files: dict[str, str], message: str
) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        column(tmp_path, keys, files)
    assert str(caught.value).startswith(f"The schema {tmp_path / 's.toml'}: ")
    assert "olumn 'c' (categorical)" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_text_names_no_files() -> None:
    with pytest.raises(SchemaError, match=r"a schema that is text can't name files. Found '/etc/passwd'"):
        Schema.from_toml('[columns.c]\nkind = "categorical"\nvalues_from = "/etc/passwd"')


def test_a_draft_counts_a_file_as_said(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text('[columns.c]\nconfirm = true\nkind = "categorical"\nvalues_from = "c.csv"\n')
    assert Schema.from_toml(path).confirm[0].facts == (
        "`kind = 'categorical'` and everything below it must be true of every record",
    )


CODES = 'values = ["A00", "A01", "B10", "C"]\nother = true\nmissing = true\n'
GROUPS = (("A", ("A00", "A01")), ("B", ("B10",)), ("C", ("C",)))


@pytest.mark.parametrize(
    ("keys", "files", "expected"),
    [
        ("group_digits = 1", {}, GROUPS),
        ('groups = { A = ["A00", "A01"], B = ["B10"] }', {}, GROUPS[:2]),
        ('groups_from = "g.csv"', {"g.csv": "group,value\nA,A00\nA,A01\nB,B10\nB,B11\nZ,Z0\n"}, GROUPS[:2]),
        ('groups_from = "g.json"', {"g.json": '{"A": ["A00", "A01", "A02"], "Z": ["Z"], "B": ["B10"]}'}, GROUPS[:2]),
    ],
)
def test_groups_of_categories(tmp_path: Path, keys: str, files: dict[str, str], expected: object) -> None:
    made = column(tmp_path, CODES + keys, files)
    assert made.groups == expected
    assert made.size == 6
    np.testing.assert_array_equal(made.group_codes, [0, 0, 1, 2 if len(made.groups) == 3 else -1, -1, -1])


@pytest.mark.parametrize(
    "text",
    [
        "c\nParis\nOslo\nParis\n",  # one value is repeated
        "c,d\nParis\n",  # a line that is too short
        'c\nParis\n"Os\nlo\n',  # no CSV
        "other\nParis\n",  # no such column
        "c\nParis\nOslo\n",  # nothing wrong
    ],
)
@pytest.mark.parametrize("named", ["people.csv", "./linked.csv"])
def test_a_list_that_is_the_sensitive_table_is_refused_whatever_is_in_it(tmp_path: Path, text: str, named: str) -> None:
    """One sentence for all tables, so that it says nothing about any."""
    people = tmp_path / "people.csv"
    people.write_text(text)
    (tmp_path / "linked.csv").symlink_to(people)
    schema = tmp_path / "s.toml"
    for keys in (
        f'values_from = "{named}"\ncolumn = "c"',
        f'values = ["a"]\ngroups_from = "{named}"',
    ):
        schema.write_text(f'[columns.c]\nkind = "categorical"\n{keys}\n')
        for use in (
            lambda: schema_given(schema, source=people),
            lambda: Curator(str(people), schema, budget=Budget(1.0)),
            lambda: synthesize(people, schema, epsilon=1.0),
            lambda: compare(people, people, schema_given(schema, source=str(people))),
        ):
            with pytest.raises(SchemaError) as caught:
                use()
            assert str(caught.value) == (
                f"The schema {schema}: A list that a schema takes from a file must be public. Found "
                f"{Path(named).name!r}, which is the sensitive table: what is taken from it would be released without "
                "any noise."
            )


def test_the_table_is_no_schema(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("[secret]\n")
    with pytest.raises(SchemaError, match=r"it must be public\. Found the sensitive table: give the schema's own file"):
        schema_given(people, source=people)
