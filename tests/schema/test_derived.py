"""Columns that follow from others: computed in each synthetic row, never read, in their place."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil as cf
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.schema import Boolean, Categorical, Date, Derived, Identifier, Integer, Real, Rule, Schema, SchemaError
from counterfoil.schema.column import Column
from counterfoil.schema.drafting import draft
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import decode, encode

DISTRICT = Categorical("district", ("01", "02", "10"), missing=True)
COLUMNS = (
    Identifier("id", "sequence"),
    DISTRICT,
    Derived("density", "real", on=("district",), lookup=(("01", 12.5), ("10", 3.0))),
    Integer("price", 0, 9),
    Integer("quantity", 0, 9),
    Derived("cost", "integer", expression="price * quantity"),
    Boolean("member"),
    Derived("large", "boolean", expression="quantity >= 5 and member"),
)
SCHEMA = Schema(COLUMNS)


def rows(schema: Schema, n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return decode(schema, {c.name: rng.integers(0, c.size, n) for c in schema.synthesized}, rng)


def test_each_row_follows_and_columns_stand_in_their_place() -> None:
    table = rows(SCHEMA, 300)
    assert table.column_names == [column.name for column in COLUMNS]
    assert [str(table.schema.field(name).type) for name in ("density", "cost", "large")] == ["double", "int64", "bool"]
    density = {"01": 12.5, "10": 3.0}
    for row in table.to_pylist():
        assert row["cost"] == row["price"] * row["quantity"]
        assert row["density"] == density.get(row["district"])
        assert row["large"] == (row["quantity"] >= 5 and row["member"])
    assert {row["density"] for row in table.to_pylist()} == {12.5, 3.0, None}
    assert SCHEMA.domain.attributes == ("district", "price", "quantity", "member")
    assert list(encode(SCHEMA, table)) == list(SCHEMA.domain.attributes)


def test_what_depends_on_a_missing_value_is_missing() -> None:
    schema = Schema(
        (
            Integer("a", 0, 3, missing=True),
            Derived("twice", "integer", expression="2 * a"),
            Derived("some", "boolean", expression="a > 0"),
            Derived("known", "boolean", expression="a is not missing"),
            Derived("share", "real", expression="1 / a"),
        )
    )
    table = decode(schema, {"a": np.array([0, 2, 4])}, np.random.default_rng(0))
    assert table.to_pydict() == {
        "a": [0, 2, None],
        "twice": [0, 4, None],
        "some": [False, True, None],
        "known": [True, True, False],
        "share": [None, 0.5, None],
    }


KEYS = st.sampled_from(["1", "01", "1.0", "2", "x", "X", "é"])


LISTED = st.dictionaries(st.tuples(KEYS, st.integers(0, 2)), st.integers(-5, 5), min_size=1)


@given(LISTED.filter(lambda listed: any(key != "X" for key, _ in listed)), st.integers(0, 2**20))
def test_lookups_match_texts_and_else_equal_numbers(listed: dict[tuple[str, int], int], seed: int) -> None:
    column = Categorical("k", ("1", "01", "2", "x", "é"))
    lookup = tuple((key, n, value) for (key, n), value in listed.items())
    schema = Schema((column, Integer("n", 0, 2), Derived("v", "integer", on=("k", "n"), lookup=lookup)))
    for row in rows(schema, 20, seed).to_pylist():
        same = [value for (key, n), value in listed.items() if key == row["k"] and n == row["n"]]
        if not same and row["k"] in ("1", "01", "2"):
            number = float(row["k"])
            same = [v for (key, n), v in listed.items() if key[0].isdigit() and float(key) == number and n == row["n"]]
            same = same if len(same) == 1 else []
        assert row["v"] == (same[0] if same else None)


def test_every_kind_of_result_comes_back_from_its_text() -> None:
    on = {"on": ("district",)}
    schema = Schema(
        (
            Derived("first", "categorical", lookup=(("01", 'a "b"'), ("02", "01")), **on),
            DISTRICT,
            Derived("day", "date", lookup=(("01", date(2020, 2, 29)),), **on),
            Derived("yes", "boolean", lookup=(("01", True), ("10", False)), **on),
            Integer("n", 0, 4),
            Identifier("id"),
            Derived("half", "real", expression="n / 2"),
            Derived("last", "real", expression="-n"),
        ),
        (Rule("n < 4"),),
    )
    again = Schema.from_toml(schema.to_toml())
    assert again == schema
    assert rows(again, 50).equals(rows(schema, 50))
    row = next(row for row in rows(schema, 50).to_pylist() if row["district"] == "01")
    assert (row["first"], row["day"], row["yes"]) == ('a "b"', date(2020, 2, 29), True)


LOOKUP = "code,area,density,label\n01,7,12.5,a\n02,8,,b\n 10 ,9,3,\n"
TEXT = """
[columns.code]
kind = "categorical"
values = ["01", "02", "10"]

[columns.n]
kind = "integer"
lower = 0
upper = 3

[[derived]]
name = "density"
kind = "real"
lookup = "districts.csv"
on = ["code"]
value = "density"
after = "code"

[[derived]]
name = "label"
kind = "categorical"
lookup = "districts.csv"
on = ["code"]
value = "label"

[[derived]]
name = "first"
kind = "integer"
expression = "n * 2"
after = ""
"""


def test_a_lookup_table_beside_the_schema(tmp_path: Path) -> None:
    (tmp_path / "districts.csv").write_text(LOOKUP)
    path = tmp_path / "s.toml"
    path.write_text(TEXT)
    schema = Schema.from_toml(path)
    assert [column.name for column in schema.columns] == ["first", "code", "density", "n", "label"]
    assert schema.derived[1].lookup == (("01", 12.5), ("10", 3.0))
    assert schema.derived[2].lookup == (("01", "a"), ("02", "b"))
    (tmp_path / "districts.csv").unlink()  # a release's own schema needs no other file
    assert Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("12.5", "many"), "column 'density' \\(derived\\): row 1 of districts.csv must have a value of kind 'real'"),
        (("02,8", "01,8"), "Column 'label' \\(derived\\): `lookup` must have one row for each code"),
        (("02,8,", "02,8"), "line 3 of districts.csv must have 4 cells, as its header. Found 3"),
        (("02,8", ",8"), "line 3 of districts.csv must have a value in column 'code'. Found none"),
        (("density,", "dens,"), "districts.csv must have one column 'density'. Found none. Did you mean 'dens'"),
    ],
)
def test_mistakes_in_a_lookup_table_show_no_value(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    (tmp_path / "districts.csv").write_text(LOOKUP.replace(*change))
    (tmp_path / "s.toml").write_text(TEXT)
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(tmp_path / "s.toml")
    assert str(caught.value).startswith(f"The schema {tmp_path / 's.toml'}: ")
    assert "many" not in str(caught.value)


BASE = '[columns.n]\nkind = "integer"\nlower = 0\nupper = 3\n[[derived]]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('kind = "real"', "derived 1 needs `name`"),
        ('name = "d"', "column 'd' \\(derived\\): it needs `kind`"),
        ('name = "d"\nkind = "reel"\nexpression = "n"', "`kind` must be one of .*found 'reel'. Did you mean 'real'"),
        ('name = "d"\nkind = "real"', "give either `expression`, or `lookup` with `on`"),
        (
            'name = "d"\nkind = "real"\nvalues = "x"',
            "`values`. Did you mean `value`, the column of the file that has the",
        ),
        (
            'name = "d"\nkind = "real"\nkey = ["g"]',
            "`key`. Did you mean `on`, the list of the columns that are its keys",
        ),
        ('name = "d"\nkind = "real"\nlookup_from = "x"', "Did you mean `lookup`, the file of the lookup table"),
        ('name = "d"\nkind = "real"\nlower = 0', "`lower`. Leave it out: which values a derived column has follows"),
        (
            'name = "d"\nkind = "real"\nquux = 0',
            "unknown key `quux`. Known: name, kind, expression, lookup, on, value,",
        ),
        ('name = "d"\nkind = "real"\nlookup = {a = 1}', "`lookup` must be a file or a list of rows"),
        ('name = "d"\nkind = "real"\nexpresion = "n"', "unknown key `expresion`. Did you mean 'expression'"),
        ('name = "d"\nkind = "real"\nexpression = "m"', "no synthesized column 'm'"),
        ('name = "d"\nkind = "integer"\nexpression = "n / 2"', "may give fractions. Use `round"),
        ('name = "d"\nkind = "date"\nexpression = "n"', "`n`: it gives a number, not a date"),
        ('name = "d"\nkind = "boolean"\nexpression = "n + 1"', "made of comparisons"),
        ('name = "n"\nkind = "real"\nexpression = "n"', "Column 'n' is declared twice"),
        ('name = "d"\nkind = "real"\nexpression = "n"\nafter = "m"', "`after` must name a column or pattern.*'m'"),
        ('name = "d"\nkind = "real"\nlookup = [[1, 2.0]]', "`lookup` and `on` belong together"),
        ('name = "d"\nkind = "real"\non = ["m"]\nlookup = [[1, 2.0]]', "`on` must name synthesized columns; found 'm'"),
        ('name = "d"\nkind = "real"\non = ["n"]\nlookup = [[1]]', "row 1 has 1 entries"),
        ('name = "d"\nkind = "real"\non = ["n"]\nlookup = [[1, "x"]]', "row 1 of `lookup` must be a finite number"),
        ('name = "d"\nkind = "real"\non = ["n"]\nlookup = [[1, 2], [1.0, 3]]', "one row for each n; found two"),
        ('name = "d"\nkind = "real"\non = ["n"]\nlookup = "x.csv"\nvalue = "v"', "that is text can't name files"),
        (
            'name = "d"\nkind = "real"\nexpression = "n"\n[[rules]]\nrequire = "d < 3"',
            "'d' is derived, so that no",
        ),
        (
            'name = "d"\nkind = "real"\nexpression = "n"\n[[derived]]\nname = "e"\nkind = "real"\nexpression = "d * n"',
            "'e' .derived.: it can't follow from 'd', which is derived itself. Write what 'd' follows from",
        ),
        (
            'name = "d"\nkind = "real"\non = ["e"]\nlookup = [[1, 2]]\n[[derived]]\nname = "e"\nkind = "real"\n'
            'expression = "n"',
            "'d' .derived.: it can't follow from 'e', which",
        ),
    ],
)
def test_mistakes_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.from_toml(BASE + text)


SOURCE = pa.table(
    {
        "person": [f"p{i // 2}" for i in range(400)],
        "code": ["01", "02"] * 200,
        "density": [-1.0] * 400,  # wrong on purpose: it is never read
        "n": [i % 4 for i in range(400)],
    }
)
RELEASED = Schema(
    (
        Categorical("code", ("01", "02")),
        Derived("density", "real", on=("code",), lookup=(("01", 12.5), ("02", 3.0))),
        Integer("n", 0, 3),
        Derived("odd", "integer", expression="n % 2"),
    ),
    ignore=("person",),
)


@pytest.mark.parametrize("method", ["mst", "evolution"])
def test_a_release_has_what_follows_and_reads_nothing_of_it(method: str, tmp_path: Path) -> None:
    options = {"epsilon": 5.0, "delta": 1e-6, "seed": 1, "method": method}
    made = cf.synthesize(SOURCE, RELEASED, **options)
    table = made.to_arrow()
    assert table.column_names == ["code", "density", "n", "odd"]
    density = {"01": 12.5, "02": 3.0}
    assert all(row["density"] == density[row["code"]] and row["odd"] == row["n"] % 2 for row in table.to_pylist())
    without = cf.synthesize(SOURCE.drop_columns(["density"]), RELEASED, **options)
    assert without.to_arrow().equals(table)
    made.save(tmp_path / "saved")
    loaded = type(made).load(tmp_path / "saved")
    assert loaded.schema == RELEASED
    assert loaded.to_arrow().equals(table)
    if isinstance(made, Synthesis):
        assert made.sample(5, {"code": "01"}, seed=1).column("density").to_pylist() == [12.5] * 5


def test_a_derived_column_is_no_target_and_no_unit() -> None:
    with pytest.raises(KeyError, match="Column 'density' is derived: it has no codes"):
        RELEASED["density"]
    with pytest.raises(SchemaError, match=r"The privacy unit must be a column that is read\. Found 'density'"):
        Curator(SOURCE, RELEASED, budget=Budget(1.0), privacy_unit=PrivacyUnit("density", 2))


def test_the_draft_names_derived_columns() -> None:
    assert "[[derived]]" in draft({"a": pa.int64()})


@pytest.mark.parametrize(
    ("column", "key", "met"),
    [
        (Boolean("k"), "true", True),
        (Boolean("k"), True, True),
        (Boolean("k"), "yes", True),
        (Boolean("k", true="J", false="N"), True, True),
        (Boolean("k", true="J", false="N"), "yes", True),
        (Boolean("k"), "ja", False),
        (Integer("k", 0, 9), "3.0", True),
        (Integer("k", 0, 9), 12, False),
        (Categorical("k", ("01", "2")), 1, True),
        (Categorical("k", ("a", "b")), "A", False),
        (Categorical("k", ("a", "b"), ordered=True), "b", True),
        (Date("k", date(2020, 1, 1), date(2020, 1, 9)), date(2020, 1, 3), True),
        (Date("k", date(2020, 1, 1), date(2020, 1, 9)), "03.01.2020", False),
    ],
)
def test_keys_that_no_value_has_are_refused(column: Column, key: str | int | date, met: bool) -> None:
    made = Derived("v", "integer", on=("k",), lookup=((key, 7),))
    if met:
        assert 7 in rows(Schema((column, made)), 300).column("v").to_pylist()
    else:
        with pytest.raises(SchemaError, match="`lookup` must have rows for values of 'k'; found none"):
            Schema((column, made))


def test_a_row_for_the_missing_word_is_for_missing_cells() -> None:
    state = Categorical("state", ("CA", "TX"), missing=True, missing_values=("?", "NA"))
    old = Boolean("old", missing=True)
    lookup = (("CA", "yes", 1), ("CA", False, 2), ("?", "1", 3), ("TX", "", 4))
    schema = Schema((state, old, Derived("v", "integer", on=("state", "old"), lookup=lookup)))
    table = decode(schema, {"state": np.array([0, 0, 2, 2, 1, 1]), "old": np.array([1, 0, 1, 0, 2, 0])}, None)
    assert table.column("v").to_pylist() == [1, 2, 3, None, 4, None]


def test_what_is_written_can_be_read_by_anybody(tmp_path: Path) -> None:
    made = cf.synthesize(SOURCE, RELEASED, epsilon=5.0, delta=1e-6, seed=1, method="independent")
    made.write(tmp_path / "out.csv")
    first, *lines = (tmp_path / "out.csv").read_text().splitlines()
    assert first.replace('"', "") == "code,density,n,odd"
    written = [line.replace('"', "").split(",") for line in lines]
    assert [[code, float(density), int(n), int(odd)] for code, density, n, odd in written] == [
        [row["code"], row["density"], row["n"], row["odd"]] for row in made.to_arrow().to_pylist()
    ]


def test_reals_may_be_looked_up_by_reals() -> None:
    schema = Schema((Real("x", 0, 1, bins=2), Derived("y", "categorical", on=("x",), lookup=((0.5, "half"),))))
    assert set(rows(schema, 5).column("y").to_pylist()) <= {None, "half"}


TENTHS, HUNDREDTHS = Real("a", 0.0, 9.0, decimals=1), Real("b", 0.0, 9.0, decimals=2)


@pytest.mark.parametrize(
    ("expression", "decimals", "digits"),
    [
        ("a + b", None, 2),
        ("a - 0.125", None, 3),
        ("-a * b", None, 3),
        ("min(a, 3) + round(b)", None, 1),
        ("abs(a - 0.5) + round(b, 1)", None, 1),
        ("a + b // 1", None, 1),
        ("a / 3 + b", None, None),
        ("a / 3 + b", 4, 4),
        ("a + b", 1, 1),
        ("b % 0.1", None, None),
        ("c + a", None, None),
        ("s + a", None, 2),
    ],
)
def test_reals_have_the_decimals_that_follow(expression: str, decimals: int | None, digits: int | None) -> None:
    """Of .1 + .2 there is .3 and not .30000000000000004; where nothing follows, all digits stay."""
    columns = (TENTHS, HUNDREDTHS, Real("c", 0.0, 1.0), Real("s", 0.0, 9.0, step=0.25))
    schema = Schema((*columns, Derived("d", "real", expression=expression, decimals=decimals)))
    assert Schema.from_toml(schema.to_toml()) == schema
    found = [row["d"] for row in rows(schema, 300).to_pylist()]
    places = [len(f"{number:.17g}".partition(".")[2]) for number in found]
    if digits is None:
        assert max(places) > 10
    else:
        assert all(number == float(f"{number:.{digits}f}") for number in found)
        assert any(number != float(f"{number:.{digits - 1}f}") for number in found)


def test_decimals_of_what_has_none_are_refused() -> None:
    for change, message in (
        ({"decimals": 16}, "from 0 to 15; found 16"),
        ({"result": "integer"}, 'goes with kind = "real"'),
    ):
        facts = {"result": "real", "decimals": 2, "expression": "a"} | change
        with pytest.raises(SchemaError, match=message):
            Derived("d", **facts)
    with pytest.raises(SchemaError, match="`decimals` must be a whole number; found '2'"):
        Schema.from_toml(BASE + 'name = "d"\nkind = "real"\nexpression = "n"\ndecimals = "2"\n')
