"""The encoding of a table's text files among its public facts."""

from __future__ import annotations

import re

import pytest

from counterfoil.schema import Categorical, Integer, Schema
from counterfoil.schema.encoding import encoding_named
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.partial import encoding_of, read_partial

FACTS = '[columns.ort]\nkind = "categorical"\nvalues = ["Köln", "Zürich"]\n'


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("windows-1252", "windows-1252"),
        (" CP1252", "windows-1252"),
        ("latin1", "windows-1252"),
        ("ISO-8859-1", "windows-1252"),
        ("ISO8859_9", "windows-1254"),
        ("latin9", "iso-8859-15"),
        ("UTF8", "utf-8"),
        ("ascii", "utf-8"),
        ("mac_roman", "macintosh"),
        ("cp850", "ibm850"),
        ("cp932", "shift_jis"),
        ("Shift_JIS", "shift_jis"),
        ("gb2312", "gbk"),
        ("euc_kr", "euc-kr"),
    ],
)
def test_common_names_stand_for_one(name: str, encoding: str) -> None:
    assert encoding_named(name) == encoding
    assert encoding_named(encoding) == encoding


@pytest.mark.parametrize(
    "name", ["windows-1259", "ansi", "", "rot13", "punycode", "idna", "undefined", "utf-7", "ä", "\0"]
)
def test_what_is_no_encoding_of_texts_is_refused(name: str) -> None:
    with pytest.raises(SchemaError, match="`encoding` must be the name of one"):
        encoding_named(name)


@pytest.mark.parametrize("name", ["utf-16", "UTF-16LE", "utf_16_be"])
def test_utf_16_is_not_stated(name: str) -> None:
    with pytest.raises(SchemaError, match="UTF-16 is recognized by the first bytes of a file"):
        Schema.from_toml(f'encoding = "{name}"\n{FACTS}')


def test_a_schema_keeps_it_and_says_nothing_of_utf_8() -> None:
    schema = Schema.from_toml(f'encoding = "latin1"\n{FACTS}')
    assert schema.encoding == "windows-1252"
    assert 'encoding = "windows-1252"\n' in schema.to_toml()
    assert Schema.from_toml(schema.to_toml()) == schema
    plain = Schema.from_toml(f'encoding = "utf-8"\n{FACTS}')
    assert "encoding" not in plain.to_toml()
    assert plain == Schema.from_toml(FACTS) != schema
    assert Schema((Integer("a", 0, 1),), encoding="cp1250").encoding == "windows-1250"


def test_a_letter_that_the_encoding_lacks_is_refused() -> None:
    with pytest.raises(
        SchemaError, match=re.escape("`encoding = 'windows-1252'`: the encoding has no 'Ł'. Found it in")
    ):
        Schema((Categorical("ort", ("Łódź",)),), encoding="windows-1252")
    Schema((Categorical("ort", ("Łódź",)),), encoding="windows-1250")
    # The name of the schema is in no table.
    Schema((Categorical("ort", ("Köln",)),), name="Łódź", encoding="windows-1252")


def test_stated_facts_say_it_once() -> None:
    said = f'encoding = "cp1252"\n{FACTS}'
    assert encoding_of(said, None) == encoding_of(said, "latin1") == "windows-1252"
    assert encoding_of(FACTS, None) == encoding_of(None, None) == "utf-8"
    assert encoding_of(FACTS, "cp1250") == "windows-1250"
    assert encoding_of("a = not TOML", "cp1250") == "windows-1250"  # which is said when it is read
    with pytest.raises(SchemaError, match="must be stated once"):
        encoding_of(said, "utf-8")
    partial = read_partial(FACTS, ["ort"]).with_encoding("latin1")
    assert partial.top.startswith('encoding = "windows-1252"  # stated\n')
    assert partial.with_encoding("cp1252") is partial
