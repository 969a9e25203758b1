"""Schemas as files: there and back, mistakes in one sentence, drafts that nobody can use by accident."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Categorical, Integer, Rule, Schema, SchemaError, UnconfirmedSchema, Zeros, draft
from counterfoil.schema.bought import Bought
from counterfoil.schema.column import Column
from schema_strategies import columns

AGE = '[columns.age]\nkind = "integer"\nlower = 0\nupper = 9\n'


@given(columns, st.text(min_size=1).filter(str.strip))
def test_text_gives_back_an_equal_schema(column: Column, name: str) -> None:
    facts = {key: value for key, value in column.__dict__.items() if key in column.__dataclass_fields__}
    renamed = type(column)(**facts | {"name": name})
    schema = Schema(
        (renamed, Integer("n", 0, 3) if name != "n" else Integer("m", 0, 3)), name=name, ignore=("é\n\x7f",)
    )
    assert Schema.from_toml(schema.to_toml()) == schema


def test_rules_and_zeros_survive() -> None:
    columns = (Integer("age", 0, 9), Categorical("sex", ("F", "M")))
    rules = (Rule("age >= 1"), Rule("age < 9", "sex == 'F' and age > 2"))
    schema = Schema(columns, rules, zeros=(Zeros(("age", "sex"), ((3, "M"),)),))
    assert Schema.from_toml(schema.to_toml()) == schema


def test_every_kind_and_key() -> None:
    schema = Schema.from_toml(
        """
        name = "people"
        description = "who"
        ignore = ["shoe size"]
        [columns.id]
        kind = "identifier"
        replace = "sequence"
        [columns.age]
        description = "in years"
        kind = "integer"
        upper = 120
        edges = [0, 18, 65]
        missing = true
        missing_values = ["?", "-1"]
        [columns.income]
        kind = "real"
        edges = [0, 1, 5.5]
        points = [0]
        [columns.born]
        kind = "date"
        lower = 1900-01-01
        upper = 2020-12-31
        resolution = "1y"
        format = "%d.%m.%Y"
        [columns.seen]
        kind = "datetime"
        lower = 2020-01-01
        upper = 2020-12-31T23:59:59
        bins = 12
        [columns.grade]
        kind = "categorical"
        values = ["low", "high"]
        ordered = true
        [columns.sick]
        kind = "boolean"
        [[rules]]
        description = "children have no income"
        if = "age < 18"
        then = "income == 0"
        [[zeros]]
        columns = ["grade", "sick"]
        values = [["low", true]]
        """
    )
    assert schema.domain.attributes == ("age", "income", "born", "seen", "grade", "sick")
    assert schema.domain.sizes == (4, 3, 121, 12, 2, 2)
    assert list(schema.structural_zeros) == [("grade", "sick"), ("age", "income")]
    assert schema["age"].encode(pa.array([" -1.0 ", "64", "1e3"])).tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns = 3", "one table `\\[columns.NAME\\]` for each column"),
        ("= 3", "not valid TOML"),
        ("nam = 'x'\n" + AGE, "unknown key `nam`. Did you mean 'name'"),
        ("name = 3\n" + AGE, "`name` must be a text; found 3"),
        ("[columns]\nage = 3", "column 'age' must be a table"),
        ("[columns.age]\nlower = 0", "column 'age': `kind` must be one of categorical, boolean"),
        ("[columns.age]\nkind = 'integr'", "found 'integr'. Did you mean 'integer'"),
        ("[columns.age]\nkind = 'integer'\nlower = 0", "column 'age' \\(integer\\) needs `upper`: a whole number"),
        (AGE + "lowr = 0", "column 'age' \\(integer\\): unknown key `lowr`. Did you mean 'lower'"),
        (AGE + "bins = '3'", "column 'age' \\(integer\\): `bins` must be a whole number; found '3'"),
        (AGE + "bins = 2.5", "`bins` must be a whole number"),
        (AGE + "missing = 1", "`missing` must be true or false"),
        (AGE + "missing = ['-9']", r"found \['-9'\]. Words that stand for a missing value go into `missing_values`"),
        (
            AGE + "missing = true\nmissing_values = ['9']",
            "Take it out of `missing_values` if it is a value, or give bounds",
        ),
        (AGE + "missing_values = [1]", "`missing_values` must be a list of texts"),
        (AGE + "confirm = 'no'", "column 'age': `confirm` must be true or false"),
        ("[columns.d]\nkind = 'date'\nlower = '2020-01-01'\nupper = 2020-01-02", "`lower` must be a date, such as"),
        ("[columns.d]\nkind = 'date'\nlower = 2020-01-01T10:00:00\nupper = 2020-01-02", "`lower` must be a date"),
        ("[columns.c]\nkind = 'categorical'\nvalues = [true]", "`values` must be a list of texts or numbers"),
        ("ignore = ['age']\n" + AGE, "Column 'age' is declared twice"),
        ("[columns.id]\nkind = 'identifier'", "at least one column that is not an identifier"),
        (AGE + "[rules]\nrequire = 'age > 1'", "`rules` must be written as tables, `\\[\\[rules\\]\\]`"),
        (AGE + "[[rules]]\nif = 'age > 1'", "rule 1 must have either `require`, or `if` and `then`; found if"),
        (AGE + "[[rules]]\nrequire = 3", "rule 1: `require` must be a text"),
        (AGE + "[[rules]]\nrequire = 'agee > 3'", "Rule `agee > 3`: .* Did you mean 'age'"),
        (AGE + "[[zeros]]\ncolumns = ['age']", "zeros 1: there must be `columns` and `values`"),
        (AGE + "[[zeros]]\ncolumns = ['age']\nvalues = [1]", "zeros 1: `values` must be a list such as"),
    ],
)
def test_mistakes_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(text)
    assert str(caught.value).startswith("The schema")


def test_a_byte_order_mark_as_editors_put_it_is_no_part_of_the_schema(tmp_path):
    text = '[columns.g]\nkind = "boolean"\n'
    (tmp_path / "plain.toml").write_text(text, encoding="utf-8")
    (tmp_path / "marked.toml").write_text(text, encoding="utf-8-sig")
    assert Schema.from_toml(tmp_path / "marked.toml") == Schema.from_toml(tmp_path / "plain.toml")


def test_the_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "people.schema.toml"
    with pytest.raises(SchemaError, match=r"people.schema.toml: the file can't be read \(No such file"):
        Schema.from_toml(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SchemaError, match=r"people.schema.toml: the file is not UTF-8"):
        Schema.from_toml(str(path))
    path.write_text(AGE + "lower = 1")
    with pytest.raises(SchemaError, match=r"people.schema.toml: not valid TOML"):
        Schema.from_toml(path)
    path.write_text(AGE)
    assert Schema.from_toml(str(path)) == Schema((Integer("age", 0, 9),))


def test_a_column_that_is_not_there_is_named_with_the_closest() -> None:
    schema = Schema((Integer("age", 0, 9),))
    with pytest.raises(KeyError, match=r"no column 'agee'. Did you mean 'age'"):
        schema["agee"]


TYPES = {
    "patient_id": pa.int64(),
    "age": pa.int32(),
    "weight": pa.float32(),
    "price": pa.decimal128(9, 2),
    "born": pa.date32(),
    "seen": pa.timestamp("us"),
    "sick": pa.bool_(),
    'say "hi"': pa.string(),
}


def test_a_draft_proposes_kinds_and_confirms_nothing() -> None:
    schema = Schema.from_toml(draft(TYPES, name="people"))
    assert schema.columns == ()
    open_facts = {item.column: item.facts for item in schema.confirm}
    assert list(open_facts) == list(TYPES)
    assert [fact.split(" ")[0] for fact in open_facts["weight"]] == ["`lower`", "`upper`"]
    assert open_facts['say "hi"'] == ('`values` must be a list of texts or numbers, such as ["a", "b"]',)
    assert open_facts["sick"] == ("`kind = 'boolean'` and everything below it must be true of every record",)
    assert open_facts["patient_id"][0].startswith("`kind` must be one of categorical, ")
    with pytest.raises(
        UnconfirmedSchema, match=r"(?s)'people' is a draft.*age': `lower` must be a whole number.*born': `lower`"
    ):
        schema.require_confirmed()
    with pytest.raises(UnconfirmedSchema, match=r"^This schema is a draft"):
        Schema.from_toml('[columns.a]\nconfirm = true\nkind = "boolean"').require_confirmed()
    for use in (lambda: schema.domain, schema.to_toml, lambda: schema.structural_zeros):
        with pytest.raises(UnconfirmedSchema):
            use()


def test_a_draft_that_was_bought_says_where_its_text_is() -> None:
    """In Python no file was written: what the budget had paid for seemed lost."""
    schema = Schema.from_toml('[columns.a]\nconfirm = true\nkind = "boolean"')
    bought = Bought(1.0, 1e-9, "add_or_remove_one", "0" * 64)
    for document, said in (("[columns.a]", True), ("", False)):
        with pytest.raises(UnconfirmedSchema) as refused:
            replace(schema, bought=replace(bought, document=document)).to_toml()
        assert ("`bought.document`" in str(refused.value)) is said


def test_what_is_open_for_many_columns_is_said_once() -> None:
    """A draft of a file with 200 columns was refused in 200 lines, all but their names alike."""
    schema = Schema.from_toml(draft({f"v{i}": pa.string() for i in range(200)}, typed=False))
    with pytest.raises(UnconfirmedSchema) as refused:
        schema.require_confirmed()
    said = str(refused.value).splitlines()[1:]
    assert len(said) == 1
    assert said[0].startswith("  'v0', 'v1', 'v2', ")
    assert "'v19' and 180 more: `kind` must be one of" in said[0]
    two = Schema.from_toml(draft({"a": pa.int64(), "b": pa.int64()}))
    with pytest.raises(UnconfirmedSchema) as refused:
        two.require_confirmed()
    assert [line.split(":")[0] for line in str(refused.value).splitlines()[1:]] == ["  'a'", "  'a'", "  'b'", "  'b'"]


def test_a_draft_of_a_csv_file_knows_names_only() -> None:
    text = draft(TYPES, typed=False)
    assert "come from its values, which were not read" in text
    schema = Schema.from_toml(text)
    facts = {item.column: item.facts for item in schema.confirm}
    assert facts["age"] == ("`kind` must be one of categorical, boolean, integer, real, date, datetime, identifier",)
    assert facts["patient_id"] == facts["age"]


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    "name", ["admission_type_id", "patient_nbr", "ID", "e-mail", "first name", "visitNo", "PatientID", "house.number"]
)
def test_a_name_proves_nothing_so_the_draft_asks(name: str, typed: bool) -> None:
    text = draft({name: pa.int64(), "age": pa.int64()}, typed=typed)
    (line,) = [line for line in text.splitlines() if "or its own kind" in line]
    assert line.startswith("# replace =")
    assert line.endswith('such as "integer"?' if typed else "or its own kind?")
    # Where nothing was said but the line `confirm` is gone, no column is left out without a word.
    with pytest.raises(SchemaError, match=r"`kind` must be one of .*, identifier; found '\?'"):
        Schema.from_toml(text.replace("confirm = true\n", ""))
    for plain in ("paid", "amino", "monkey", "age", "Casino"):
        assert "or its own kind" not in draft({plain: pa.int64()})


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (pa.duration("s"), "lengths of time"),
        (pa.month_day_nano_interval(), "lengths of time"),
        (pa.list_(pa.int64()), "lists"),
        (pa.list_(pa.null()), "values of a type that is not supported"),
        (pa.struct({"a": pa.int64()}), "structures of several values"),
        (pa.map_(pa.string(), pa.int64()), "lists of keys with values"),
    ],
)
def test_the_draft_proposes_no_categories_for_cells_without_a_text(kind: pa.DataType, words: str) -> None:
    """And says in plain words what they are: "month_day_nano_interval" stood there."""
    text = draft({"stay": kind, "age": pa.int64()})
    about = text.split("\n[columns.")[1]
    assert 'kind = "?"' in about
    assert f"# Stored as {words}, of which nothing can be" in about
    assert "of which nothing can be" not in text.split("\n[columns.")[2]
    assert "of which nothing can be" not in draft({"stay": kind}, typed=False)


def test_texts_of_a_file_make_no_lines_in_a_draft():
    """A field's name ended the comment, and what followed was read as facts that nobody had stated."""
    field = 'a\n[[rules]]\nrequire = "x >= 0"\n#'
    text = draft({"c": pa.struct([(field, pa.int64())]), "x": pa.int64(), "e\u202evil": pa.int64()})
    assert tomllib.loads(text).keys() == {"columns"}
    assert list(tomllib.loads(text)["columns"]) == ["c", "x", "e\u202evil"]
    assert "\u202e" not in text
    long = draft({"c": pa.struct([("a" * 5000, pa.int64())])})
    assert max(map(len, long.split("\n"))) < 250


def test_a_draft_is_usable_once_every_fact_is_said() -> None:
    text = draft({"age": pa.int64(), "sick": pa.bool_()}, name="people")
    half = text.replace('lower = "?"', "lower = 0").replace('upper = "?"', "upper = 99")
    assert "kind = 'integer'" in Schema.from_toml(half).confirm[0].facts[0]
    whole = half.replace("confirm = true\n", "")
    schema = Schema.from_toml(whole)
    schema.require_confirmed()
    assert schema.domain.sizes == (100, 2)
    with pytest.raises(SchemaError, match="`lower` must be a whole number; found '\\?'"):
        Schema.from_toml(text.replace("confirm = true\n", ""))
