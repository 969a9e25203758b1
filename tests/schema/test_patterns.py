"""One entry for many columns: which names it declares, in which order, and what is hashed."""

from __future__ import annotations

import fnmatch
import hashlib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import counterfoil as cf
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.schema import Boolean, Categorical, Derived, Identifier, Integer, Pattern, Rule, Schema, SchemaError
from counterfoil.schema.drafting import draft
from counterfoil.schema.patterns import is_pattern, matches

TEXT = """
[columns.age]
kind = "integer"
lower = 0
upper = 9

[columns."drug_*"]
kind = "boolean"

[columns."lab_?"]
kind = "integer"
lower = 0
upper = 3
missing = true

[columns.drug_dose]
kind = "integer"
lower = 1
upper = 4

[[derived]]
name = "both"
kind = "integer"
expression = "drug_a + drug_b"
after = "drug_*"

[[rules]]
require = "drug_a or age < 9"
"""
NAMES = ("drug_b", "age", "lab_1", "drug_dose", "lab_2", "drug_a")

LETTERS = st.text("ab*?.[", min_size=1, max_size=6)


@given(LETTERS, LETTERS)
def test_names_match_as_the_shell_matches_them(pattern: str, name: str) -> None:
    assume("[" not in pattern)  # which the shell reads as a set of letters, and we as itself
    assert matches(pattern, name) == fnmatch.fnmatchcase(name, pattern)
    assert matches("[*", "[a")
    assert is_pattern(pattern) == any(sign in pattern for sign in "*?")


def test_a_schema_with_patterns_becomes_one_of_columns() -> None:
    schema = Schema.from_toml(TEXT)
    resolved = schema.resolved(NAMES)
    assert [column.name for column in resolved.columns] == [
        *("age", "drug_b", "drug_a", "both", "lab_1", "lab_2", "drug_dose")
    ]
    assert resolved["drug_a"] == Boolean("drug_a")
    assert resolved["lab_2"] == Integer("lab_2", 0, 3, missing=True)
    assert resolved["drug_dose"] == Integer("drug_dose", 1, 4)
    assert resolved.rules == (Rule("drug_a or age < 9"),)
    assert Schema.from_toml(resolved.to_toml()) == resolved
    assert resolved.resolved(("other",)) is resolved
    with pytest.raises(SchemaError, match=r"Which columns the pattern 'drug_\*' declares depends on the table"):
        schema.domain  # noqa: B018
    with pytest.raises(SchemaError, match="depends on the table"):
        schema.to_toml()


def test_the_same_in_python() -> None:
    patterns = (Pattern(Categorical("drug_*", ("no", "yes")), 1),)
    schema = Schema((Integer("age", 0, 9), Identifier("id")), patterns=patterns)
    assert [column.name for column in schema.resolved(("id", "drug_2", "drug_1")).columns] == [
        *("age", "drug_2", "drug_1", "id")
    ]


@pytest.mark.parametrize(
    ("names", "change", "message"),
    [
        (("age", "drug_dose", "lab_1"), ("", ""), r"The pattern 'drug_\*' must match a column without an entry of its"),
        (("age", "drug_a", "drug_b", "lab_10"), ("", ""), r"The pattern 'lab_\?' must match"),
        ((*NAMES, "drug_x"), ("lab_?", "*_x"), r"Column 'drug_x' must match one pattern at most. Found 'drug_\*' and"),
        (("age", "drug_b", "lab_1"), ("", ""), "no synthesized column 'drug_a'"),
    ],
)
def test_mistakes_name_the_pattern_and_the_column(
    names: tuple[str, ...], change: tuple[str, str], message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(TEXT.replace(*change)).resolved(names)


def test_columns_that_are_ignored_or_a_unit_match_no_pattern() -> None:
    schema = Schema.from_toml('ignore = ["x_1"]\n[columns."x_*"]\nkind = "boolean"\n')
    assert schema.resolved(("x_1", "x_2", "x_id"), unit="x_id").domain.attributes == ("x_2",)


def test_a_name_with_a_question_mark_is_its_own_entry() -> None:
    asked = '[columns."Smokes?"]\nkind = "boolean"\n'
    resolved = Schema.from_toml(asked).resolved(("Smokes?", "Smokes1"))
    assert resolved.columns == (Boolean("Smokes?"),)
    assert resolved == Schema((Boolean("Smokes?"),)) == Schema.from_toml("exact_names = true\n" + asked)
    assert Schema.from_toml(resolved.to_toml()) == resolved  # a release's schema needs no table to be read
    assert not Schema.from_toml(draft({"Smokes?": pa.bool_()})).patterns
    drafted = draft({"Smokes?": pa.bool_()}).replace("confirm = true\n", "")
    assert Schema.from_toml(drafted).columns == (Boolean("Smokes?"),)


TABLE = pa.table(
    {
        "drug_b": [True, False] * 50,
        "drug_a": [False] * 100,
        "age": [1, 2] * 50,
        "who": [f"p{i // 2}" for i in range(100)],
    }
)


def test_what_a_receipt_hashes_is_the_resolved_schema(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        'ignore = ["who"]\n[columns.age]\nkind = "integer"\nlower = 0\nupper = 3\n[columns."d*"]\nkind = "boolean"\n'
    )
    made = cf.synthesize(TABLE, path, epsilon=1.0, delta=1e-6, method="independent", seed=1)
    assert [column.name for column in made.schema.columns] == ["age", "drug_b", "drug_a"]
    resolved = Schema.from_toml(path).resolved(TABLE.column_names)
    assert made.schema == resolved
    assert made.receipt.document["schema_sha256"] == hashlib.sha256(resolved.to_toml().encode()).hexdigest()


def test_a_pattern_never_declares_the_privacy_unit() -> None:
    schema = Schema((), patterns=(Pattern(Boolean("drug_*")), Pattern(Integer("?g?", 0, 3)), Pattern(Boolean("w*"))))
    with pytest.raises(SchemaError, match=r"The pattern 'w\*' must match a column"):
        Curator(TABLE, schema, budget=Budget(1.0), privacy_unit=PrivacyUnit("who", 2))
    fewer = Schema((), patterns=schema.patterns[:2])
    with Curator(TABLE, fewer, budget=Budget(1.0), privacy_unit=PrivacyUnit("who", 2)) as curator:
        assert curator.domain.attributes == ("drug_b", "drug_a", "age")


def test_a_list_that_is_the_sensitive_table_is_refused(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("city,n\nParis,1\nOslo,2\n")
    (tmp_path / "s.toml").write_text(
        '[columns.city]\nkind = "categorical"\nvalues_from = "./people.csv"\n'
        '[columns.n]\nkind = "integer"\nlower = 0\nupper = 3\n'
    )
    message = "A list that a schema takes from a file must be public. Found 'people.csv', which is the sensitive table"
    for use in (
        lambda: schema_for(people, tmp_path / "s.toml"),
        lambda: Curator(str(people), Schema.from_toml(tmp_path / "s.toml"), budget=Budget(1.0)),
    ):
        with pytest.raises(SchemaError, match=message) as caught:
            use()
        assert "Paris" not in str(caught.value)


def test_derived_columns_may_use_what_patterns_declare() -> None:
    schema = Schema((Derived("n", "integer", expression="drug_a + drug_b"),), patterns=(Pattern(Boolean("drug_*"), 0),))
    assert [column.name for column in schema.resolved(TABLE.column_names).columns] == ["drug_b", "drug_a", "n"]


def test_the_schema_of_a_release_stands_for_itself(tmp_path: Path) -> None:
    """Also where an older version wrote it; and it makes nobody read a file."""
    older = '[columns."Smokes?"]\nkind = "boolean"\n\n[columns.n]\nkind = "integer"\nlower = 0\nupper = 3\n'
    (tmp_path / "schema.toml").write_text(older)
    schema = Schema.from_release(tmp_path / "schema.toml")
    assert schema.domain.attributes == ("Smokes?", "n")
    assert Schema.from_release(older) == schema
    (tmp_path / "schema.toml").write_text('[columns.c]\nkind = "categorical"\nvalues_from = "/etc/passwd"\n')
    with pytest.raises(SchemaError, match="can't name files"):
        Schema.from_release(tmp_path / "schema.toml")


def test_a_saved_release_of_such_a_name_is_loaded(tmp_path: Path) -> None:
    table = pa.table({"Smokes?": [True, False] * 50, "n": [0, 1] * 50})
    schema = Schema((Boolean("Smokes?"), Integer("n", 0, 3)))
    made = cf.synthesize(table, schema, epsilon=1.0, delta=1e-6, method="independent", seed=1)
    made.save(tmp_path / "release")
    text = (tmp_path / "release" / "schema.toml").read_text()
    assert "exact_names = true" in text
    assert type(made).load(tmp_path / "release").schema == schema


def test_a_derived_column_after_one_column_of_a_pattern_is_refused_with_what_to_write() -> None:
    text = TEXT + '\n[[derived]]\nname = "twice"\nkind = "integer"\nexpression = "age * 2"\nafter = "drug_a"\n'
    with pytest.raises(SchemaError, match=r"pattern 'drug_\*'.*`after = .drug_\*.`.*'drug_a' an entry of its own"):
        Schema.from_toml(text)
    Schema.from_toml(text.replace('after = "drug_a"', 'after = "drug_*"'))
