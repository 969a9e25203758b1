"""Facts that are stated by hand while the rest is bought: kept word for word, and checked before a purchase."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from counterfoil.discovery.bought_text import schema_of
from counterfoil.kept_files import KeptFile
from counterfoil.schema import Categorical, Integer, Schema, SchemaError
from counterfoil.schema.discovered import Discovered, DiscoveredColumn
from counterfoil.schema.partial import NOTHING, Partial, read_partial, require_bounds_can_be_bought
from counterfoil.schema.stated import Stated
from discovered_strategies import BOUGHT

WORDS = """\
# People of the town.
name = 'town'  # a literal text

[[rules]]
require = "children <= 20"

# The form has a box for it.
[columns.children]
kind = "integer"
lower = 0
upper = 30   # by the form
description = '''
[columns.fake]
# not a header'''

[columns.sex]
kind = "categorical"
values = [
  "f",
  "m",
]

[columns."drug_*"]
kind = "categorical"
values = ["no", "yes"]

# Born when?
[columns.born]
kind = "date"
lower = 1900-01-01

[columns.town]
kind = "categorical"
missing = true
"""
NAMES = ("id", "born", "sex", "drug_a", "town", "children", "drug_b", "income")


def answer(name: str, kind: str, **facts: object) -> DiscoveredColumn:
    plain = {"votes": {}, "lower": None, "upper": None, "tails": (0.0, 0.0), "categories": (), "records": 100}
    rest = {"missing": 0, "edges": (), "deviation": 1.0}
    return DiscoveredColumn(name, kind, **(plain | rest | facts))  # type: ignore[arg-type]


ANSWERS = (
    answer("id", "text"),
    answer("born", "date", lower=-36_000.0, upper=18_000.0),
    answer("town", "text", categories=(("Ede", 60), ("Epe", 39))),
    answer("income", "integer", lower=0.0, upper=90_000.0),
)


def whole(partial: Partial) -> str:
    return schema_of(Discovered(ANSWERS, 0.1, 1e-9, "add_or_remove_one", {}), BOUGHT, columns=NAMES, partial=partial)


def test_what_is_stated_is_kept_word_for_word_and_what_is_open_is_added() -> None:
    partial = read_partial(WORDS, NAMES)
    text = whole(partial)
    for block in WORDS.split("\n\n"):
        assert block.rstrip() in text, block
    schema = Schema.from_toml(text).resolved(NAMES)
    assert [column.name for column in schema.columns if column.name[:4] != "drug"] == [
        "id",
        "born",
        "sex",
        "town",
        "children",
        "income",
    ]
    assert schema.name == "town"
    assert schema.bought is not None
    assert replace(schema.bought, places=None) == BOUGHT
    assert schema["children"] == Integer("children", 0, 30)
    assert schema["sex"] == Categorical("sex", ("f", "m"))
    assert schema["drug_b"] == Categorical("drug_b", ("no", "yes"))
    assert schema["town"] == Categorical("town", ("Ede", "Epe"), other=True, missing=True)
    assert schema["born"].lower == date(1900, 1, 1)  # type: ignore[union-attr]
    assert schema["born"].upper == date(2019, 12, 31)  # type: ignore[union-attr]
    assert len(schema.rules) == 1


def test_nothing_is_asked_about_what_is_stated() -> None:
    stated = read_partial(WORDS, NAMES).stated(NAMES)
    closed = {name for name, one in stated.items() if one.closed}
    assert closed == {"sex", "drug_a", "drug_b", "children"}
    assert {name: one for name, one in stated.items() if name not in closed} == {
        "born": Stated("date"),
        "town": Stated("text"),
    }
    ignoring = read_partial(
        'ignore = ["id"]\n[[derived]]\nname = "twice"\nexpression = "2 * n"\nkind = "integer"\n'
        '[columns.n]\nkind = "integer"\nlower = 0\nupper = 9\n',
        ["id", "n", "twice", "x"],
    )
    assert {name for name, one in ignoring.stated(["id", "n", "twice", "x"]).items() if one.closed} == {
        "id",
        "n",
        "twice",
    }
    assert not NOTHING.stated(NAMES)


def test_columns_left_out_join_no_stated_list() -> None:
    partial = read_partial('ignore = ["drug_a"]\n', ["id", "drug_a", "n"])
    found = (answer("id", "text"), answer("notes", "text"), answer("n", "integer", lower=0.0, upper=4.0))
    text = schema_of(
        Discovered(found, 0.1, 1e-9, "add_or_remove_one", {}),
        BOUGHT,
        columns=["id", "notes", "drug_a", "n"],
        partial=partial,
    )
    schema = Schema.from_toml(text)
    assert schema.ignore == ("drug_a",)
    assert [column.kind for column in schema.columns] == ["identifier", "identifier", "integer"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[columns.a]\nkind = 1", "`kind` must be one of"),
        ('[columns.a]\nkind = "?"\nconfirm = true', "Found a draft"),
        ('[columns.b]\nkind = "boolean"', "no column 'b'"),
        ('[columns.a]\nkind = "integer"\nlower = 5\nupper = 4', "must be at most"),
        ('[columns.a]\nkind = "integer"\nstep = 5', "`step` goes with `lower`"),
        (
            '[columns.a]\nkind = "integer"\nwords = { "90+" = 90 }',
            "`words` goes with `lower`. State `lower` too, or leave `words` out, and `lower` is bought",
        ),
        ('[columns.a]\nkind = "integer"\nscale = "cube"', '"linear" or "log"'),
        ('[columns.a]\nkind = "real"\nmissing = true\nmissing_values = ["9"]', "`missing_values` goes with `lower`"),
        ('[columns.a]\nkind = "real"\ndecimals = 99', "`decimals` must be from 0"),
        ('[columns.a]\nkind = "date"\nformat = "%d.%m"', "%d.%m"),
        ('[columns.a]\nkind = "categorical"\nordered = true', "`ordered` goes with `values`"),
        ('[columns."a*"]\nkind = "integer"', "nothing of it can be bought"),
        ('ignore = ["b"]', "`ignore`: the table has no column 'b'"),
        ('[[rules]]\nrequire = "a > 1"', "stated in full"),
        ('[[rules]]\nrequire = "a > 1"\n[columns.a]\nkind = "integer"\n[columns.c]\nkind = "boolean"', "'a'"),
        ('nme = "x"', "Did you mean 'name'"),
        ('[columns]\na = { kind = "boolean" }\nc = { kind = "boolean" }', "a table of its own"),
        ('columns.a.kind = "boolean"', "a table of its own"),
        ("bought = { epsilon = 1 }", "bought already"),
        ("[columns.a", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_before_a_purchase(text: str, said: str) -> None:
    with pytest.raises(SchemaError) as raised:
        read_partial(text + "\n", ["a", "c"])
    assert said in str(raised.value)
    assert str(raised.value).startswith("The stated facts: ")


def test_a_file_is_read_and_neither_it_nor_a_list_is_the_table(tmp_path: Path) -> None:
    table, facts = tmp_path / "t.csv", tmp_path / "facts.toml"
    table.write_text("a\n1\n")
    facts.write_text('[columns.a]\nkind = "categorical"\nvalues_from = "t.csv"\n')
    kept = [KeptFile(table, "the sensitive table")]
    with pytest.raises(SchemaError, match="sensitive table"):
        read_partial(table, ["a"], sensitive=kept)
    with pytest.raises(SchemaError, match="table"):
        read_partial(facts, ["a"], sensitive=kept)
    with pytest.raises(SchemaError, match="can't be read"):
        read_partial(tmp_path / "none.toml", ["a"])
    (tmp_path / "codes.csv").write_text("code\nx\ny\n")
    facts.write_text('[columns.a]\nkind = "categorical"\nvalues_from = "codes.csv"\n')
    partial = read_partial(facts, ["a"], sensitive=kept)
    assert (partial.folder, len(partial.files)) == (tmp_path, 1)


def test_a_column_between_two_dates_is_stated_in_full_and_need_not_be_in_the_table() -> None:
    """So that a purchase keeps the lengths of stays: the later date is derived, and nothing is asked about it."""
    text = (
        '[columns.admitted]\nkind = "date"\nlower = 2020-01-01\nupper = 2020-12-31\n'
        '[columns.stay]\nkind = "integer"\nbetween = ["admitted", "discharged"]\nlower = 0\nupper = 90\n'
        '[[derived]]\nname = "discharged"\nkind = "date"\nexpression = "admitted + stay"\n'
    )
    names = ("admitted", "discharged", "ward")
    known = read_partial(text, names)
    assert {name for name, one in known.stated(names).items() if one.ignored} == {"admitted", "discharged"}
    assert any("[columns.stay]" in block for block in known.others)
    with pytest.raises(SchemaError, match="no column 'stay'"):
        read_partial(text.replace('between = ["admitted", "discharged"]\n', ""), names)
    with pytest.raises(
        SchemaError, match="what is computed `between` two columns can't be bought\\. State `upper` too"
    ):
        read_partial(text.replace("upper = 90\n", ""), names)
    with pytest.raises(SchemaError, match=r"'stay': `between` must name columns of the table\. Found 'discharged'"):
        read_partial(text, ("admitted", "ward"))


def test_times_of_day_and_days_at_midnight_are_answered_with_what_states_them() -> None:
    def stated(kind: str, text_format: str) -> Partial:
        return read_partial(f'[columns.at]\nkind = "{kind}"\nformat = "{text_format}"\n', ["at"])

    with pytest.raises(SchemaError, match=r"times of day are public\. State lower = 1900-01-01T00:00:00, upper"):
        stated("datetime", "%-H:%M")
    with pytest.raises(SchemaError, match='beginning of the day, format = "%m/%d/%Y 12:00 AM", for dates are found'):
        require_bounds_can_be_bought(stated("date", "%-m/%-d/%Y %I:%M %p"), {})
    require_bounds_can_be_bought(stated("date", "%m/%d/%Y 12:00 AM"), {})


@pytest.mark.parametrize("read", [lambda facts: read_partial(facts, ["age"]), Schema.from_toml])
def test_facts_that_were_parsed_already_are_refused_in_a_sentence(read: Any) -> None:
    with pytest.raises(TypeError, match=r"be the path of a TOML file, or TOML text\. Found dict: give one of these"):
        read({"columns": {"age": {"kind": "integer"}}})
