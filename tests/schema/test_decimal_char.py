"""Numbers with decimal commas and separators of thousands: read where a column says so, and never in two ways."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.curator.source_facts import columns_of
from counterfoil.schema import Categorical, Integer, Real, Schema
from counterfoil.schema.decimal_char import DECIMAL_CHARS, plain_number, pointed
from counterfoil.schema.errors import SchemaError, UnplacedValue
from counterfoil.schema.raw_cell import CLASSES, RawCells
from counterfoil.schema.values import parse_number
from counterfoil.synthesis.folder import load_csv
from counterfoil.synthesis.table import decode, write_table

SEPARATORS = {",": ". '", ".": ", '"}


def by_hand(text: str, sign: str) -> str:
    """Digits in groups of three, then the sign and digits; found by looking at one character after the other."""
    whole, found, rest = text.partition(sign)
    if not (whole or rest) or not all(one.isdigit() for one in rest):
        return ""
    used = {one for one in whole if not one.isdigit()}
    if len(used) > 1 or not used <= set(SEPARATORS[sign]):
        return ""
    groups = whole.split(used.pop()) if used else [whole]
    if len(groups) > 1 and not (
        1 <= len(groups[0]) <= 3 and groups[0][0] != "0" and all(len(group) == 3 for group in groups[1:])
    ):
        return ""
    if not all(one.isdigit() for group in groups for one in group) or (not whole and not rest):
        return ""
    return "".join(groups) + ("." if found else "") + rest


@pytest.mark.parametrize("sign", DECIMAL_CHARS)
def test_every_short_text_is_read_as_by_hand(sign: str) -> None:
    for length in range(1, 9):
        for letters in product("1,. " if length > 6 else "10,. '", repeat=length):
            text = "".join(letters)
            assert plain_number(text, sign) == by_hand(text, sign), text


@settings(max_examples=200, derandomize=True)
@given(number=st.decimals(-(10**12), 10**12, places=4), separator=st.sampled_from("'\u2019 \u00a0\u2009\u202f"))
def test_numbers_come_back_from_either_notation(number: object, separator: str) -> None:
    written = f"{number:,.4f}"
    swapped = written.translate(str.maketrans(",.", ".,"))
    assert parse_number(written, {}, ".") == parse_number(swapped, {}, ",") == float(number)  # type: ignore[arg-type]
    spaced = written.replace(",", separator)
    assert parse_number(spaced, {}, ".") == parse_number(spaced.replace(".", ","), {}, ",") == float(number)  # type: ignore[arg-type]


def test_signs_exponents_and_infinities_are_read_as_without_a_notation() -> None:
    assert parse_number("-1,5e3", {}, ",") == -1500
    assert parse_number("+2E-2", {}, ",") == 0.02
    assert parse_number("-Inf", {}, ",") == -np.inf
    assert parse_number("true", decimal_char=",") == 1
    for text in (
        "",
        ",",
        "-",
        "1e",
        "1,5 %",
        "€ 3",
        "１,5",
        "1_000",
        "1.2345",
        "12.34.567",
        "1.234 567",
        "1.5",
        "1.234e2",
    ):
        assert np.isnan(parse_number(text, {}, ",")), text


@pytest.mark.parametrize("sign", DECIMAL_CHARS)
def test_a_long_text_takes_time_in_proportion_to_its_length(sign: str) -> None:
    for unit in ("1", "1.", "111.", "111,", "1 "):
        assert not plain_number(unit * 200_000 + "x", sign)


@pytest.mark.parametrize("kind", [Real, Integer])
def test_columns_read_and_write_their_notation(kind: type[Real | Integer]) -> None:
    plain = kind("x", 0, 3000)
    comma = replace(plain, decimal_char=",")
    cells = ["1.234", "7", "2 500", "1'000", "12"]
    assert comma.parsed(pa.array(cells)).tolist() == [1234, 7, 2500, 1000, 12]
    with pytest.raises(UnplacedValue, match="decimal comma"):
        comma.encode(pa.array(["1.5"]))
    point = replace(plain, decimal_char=".")
    assert point.parsed(pa.array(["1,234", "1,234.00"])).tolist() == [1234, 1234]
    # Numbers of the storage are what they are.
    assert comma.parsed(pa.array([1.5, 2000.0])).tolist() == [1.5, 2000]


def test_reals_are_written_with_the_comma_and_read_back() -> None:
    column = Real("x", 0, 2000, decimals=2, decimal_char=",")
    values = column.decode(np.arange(column.size), np.random.default_rng(0))
    texts = column.written(values)
    assert all(text.count(",") == 1 and "." not in text for text in texts.to_pylist())
    assert column.parsed(texts).tolist() == values.to_pylist()
    assert Real("x", 0, 1, decimal_char=",").written(pa.array([0.25, None, 1e-9])).to_pylist()[:2] == ["0,25", None]


def test_missing_values_are_read_in_the_notation_too() -> None:
    column = Real("x", 0, 100, missing=True, missing_values=("", "-9,9"), decimal_char=",")
    assert column.encode(pa.array(["-9,90", "-9", "5,0"]))[0] == column.missing_code
    assert column.encode(pa.array(["-9"]))[0] != column.missing_code
    with pytest.raises(SchemaError, match="also within the bounds"):
        Real("x", 0, 100, missing=True, missing_values=("9,9",), decimal_char=",")


@pytest.mark.parametrize("sign", [";", ",,", " ", "comma"])
def test_another_sign_is_refused(sign: str) -> None:
    for kind in (Real, Integer):
        with pytest.raises(SchemaError, match="`decimal_char` must be a comma or a point"):
            kind("x", 0, 1, decimal_char=sign)
    with pytest.raises(SchemaError, match=r'`decimal_char` must be "," or "\."'):
        Schema.from_toml(f'[columns.x]\nkind = "real"\nlower = 0\nupper = 1\ndecimal_char = "{sign}"\n')


def test_one_line_above_the_tables_is_about_all_numbers() -> None:
    text = """\
decimal_char = ","

[columns.price]
kind = "real"
lower = 0
upper = 100

[columns.rate]
kind = "real"
lower = 0
upper = 1
decimal_char = "."

[columns.town]
kind = "categorical"
values = ["a"]

[[derived]]
name = "twice"
kind = "real"
expression = "2 * price"
"""
    schema = Schema.from_toml(text)
    assert [getattr(column, "decimal_char", None) for column in schema.columns] == [",", ".", None, ","]
    assert Schema.from_toml(schema.to_toml()) == schema
    with pytest.raises(SchemaError, match=r'`decimal_char` must be "," or "\."'):
        Schema.from_toml(text.replace('decimal_char = ","', "decimal_char = true", 1))
    with pytest.raises(SchemaError, match="unknown key `decimal_char`"):
        Schema.from_toml('[columns.x]\nkind = "boolean"\ndecimal_char = ","\n')


def test_derived_numbers_are_written_and_compared_in_their_notation() -> None:
    text = (
        '[columns.a]\nkind = "real"\nlower = 0\nupper = 10\ndecimals = 1\n[[derived]]\nname = "b"\nkind = "real"\n'
        'expression = "a / 4"\ndecimals = 2\ndecimal_char = ","\n'
    )
    (derived,) = Schema.from_toml(text).derived
    assert derived.written(pa.array([1.5, None])).to_pylist() == ["1,50", None]
    plain = Schema.from_toml(text.replace('decimals = 2\ndecimal_char = ","', 'decimal_char = ","')).derived[0]
    assert not plain.is_spelled_plainly
    assert plain.written(pa.array([0.25])).to_pylist() == ["0,25"]
    with pytest.raises(SchemaError, match=r"`decimal_char` must be a comma or a point; found ';'"):
        Schema.from_toml(text.replace('decimal_char = ","', 'decimal_char = ";"'))
    with pytest.raises(SchemaError, match="goes with kind"):
        Schema.from_toml(text.replace('"real"\nexpression = "a / 4"\ndecimals = 2', '"boolean"\nexpression = "a > 4"'))


@settings(max_examples=200, derandomize=True)
@given(text=st.text("0123456789,. '-+eE", max_size=12))
def test_unknown_cells_are_numbers_exactly_where_columns_read_them(text: str) -> None:
    for sign in ("", *DECIMAL_CHARS):
        (code,), (number,) = (one.tolist() for one in RawCells("x", sign).encode_with_numbers(pa.array([text.strip()])))
        column = Real("x", -1e13, 1e13, missing=True, decimal_char=sign)
        expected = column.parsed(pa.array([text.strip()]))[0]
        if CLASSES[code] in ("integer", "tenths", "hundredths", "real"):
            assert number == expected
        else:
            assert not np.isfinite(expected) or CLASSES[code] == "infinite"


def test_points_of_thousands_are_not_taken_for_decimal_ones() -> None:
    assert pointed("1.234,5", ",") == "1 234.5"
    assert pointed("1.234", ",") == "1 234"
    assert pointed("1.234", "") == "1.234"


@settings(max_examples=50, derandomize=True)
@given(data=st.data())
def test_files_with_decimal_commas_have_semicolons_and_are_read_back(
    data: st.DataObject, tmp_path_factory: Any
) -> None:
    names = data.draw(
        st.lists(st.text(';,"|\tab', min_size=1).filter(str.strip), min_size=1, max_size=3, unique_by=str.strip)
    )
    real, *others = (name.strip() for name in names)
    columns = [Real(real, -5, 5, decimal_char=",", missing=True)]
    schema = Schema((*columns, *(Categorical(name, ("a;b", "c,d", 'e"', "1,5")) for name in others)))
    rng = np.random.default_rng(0)
    table = decode(schema, {column.name: rng.integers(0, column.size, 9) for column in schema.synthesized}, rng)
    path = tmp_path_factory.mktemp("files") / "made.csv"
    write_table(table, path, schema)
    found = load_csv(path)
    assert found.column_names == table.column_names
    assert columns_of(path).delimiter == (";" if others else ",")
    np.testing.assert_array_equal(columns[0].parsed(found[real]), table[real].to_numpy())
    for name in others:
        assert found[name].to_pylist() == table[name].to_pylist()


_BY_LOOKUP = """
decimal_char = ","
[columns.amount]
kind = "real"
lower = 0
upper = 5000
decimals = 3
[[derived]]
name = "fee"
kind = "real"
decimals = 3
on = ["amount"]
lookup = LOOKUP
"""


@pytest.mark.parametrize("key", ['"1.000"', '"1,5"', '" 2 500 "'])
def test_keys_of_a_lookup_table_are_plain_digits_and_nothing_else_in_the_notation_of_their_column(key: str) -> None:
    with pytest.raises(SchemaError, match="plain digits"):
        Schema.from_toml(_BY_LOOKUP.replace("LOOKUP", f"[[{key}, 2.5]]"))
    assert Schema.from_toml(_BY_LOOKUP.replace("LOOKUP", '[["1.0", 1.234], [1.234, 2], ["1000", 3]]')).derived


def test_results_of_a_lookup_file_are_plain_digits_and_nothing_else_in_the_notation_of_the_column(
    tmp_path: Path,
) -> None:
    schema = tmp_path / "schema.toml"
    schema.write_text(_BY_LOOKUP.replace("LOOKUP", '"fees.csv"\nvalue = "fee"'))
    for text in ("1.234", '"1,5"'):
        (tmp_path / "fees.csv").write_text(f"amount,fee\n1,{text}\n")
        with pytest.raises(SchemaError, match="plain digits"):
            Schema.from_toml(schema)


def test_a_comparison_with_a_text_is_refused_with_the_same_number_in_plain_digits() -> None:
    for text, plain in (("10.000", "10000"), ("1,5", r"1\.5")):
        with pytest.raises(SchemaError, match=rf"without quotes: {plain}\.$"):
            Real("x", 0, 20000, decimal_char=",").constant(text)
    with pytest.raises(SchemaError, match=r"expected a number\.$"):
        Real("x", 0, 20000, decimal_char=",").constant("1.5")


def test_categories_that_are_numbers_are_refused_with_how_to_list_them():
    with pytest.raises(UnplacedValue, match='Declare numbers as the table writes them, such as "1,5", `other = true`'):
        Categorical("x", (1, 1.5)).encode(pa.array(["1,5"]))
    with pytest.raises(UnplacedValue, match="Declare `other = true` or"):
        Categorical("x", (1, 2.0)).encode(pa.array(["1,5"]))
    with pytest.raises(
        SchemaError, match="categories have no `decimal_char`: list them as the table writes them, such"
    ):
        Schema.from_toml('[columns.x]\nkind = "categorical"\nvalues = [1, 1.5]\ndecimal_char = ","\n')
    assert Categorical("x", ("1", "1,5")).encode(pa.array(["1,5", "1"])).tolist() == [1, 0]
