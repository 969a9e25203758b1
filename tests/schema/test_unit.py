"""Numbers with a sign of their unit beside them, such as 12,5 % and € 1.200: read where the column names the sign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.discover import discover
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.fidelity.bought_schema import SchemaPurchase
from counterfoil.schema import Integer, Real, Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.open_numbers import OpenCells, as_read
from counterfoil.schema.raw_cell import CODES, RawCells
from counterfoil.schema.unit import KNOWN, bare, is_unit

SPACES = ("", " ", "\u00a0", "\u202f")


@settings(max_examples=200, derandomize=True)
@given(
    number=st.floats(-1e6, 1e6).map(lambda one: round(one, 3)),
    unit=st.sampled_from(KNOWN),
    space=st.sampled_from(SPACES),
    before=st.booleans(),
)
def test_a_number_is_what_its_text_is_without_the_unit(number: float, unit: str, space: str, before: bool) -> None:
    assert is_unit(unit)
    plain = f"{number:.3f}"
    column = Real("x", -1e7, 1e7, unit=unit)
    comma = Real("x", -1e7, 1e7, unit=unit, decimal_char=",")
    text = f"{unit}{space}{plain}" if before else f"{plain}{space}{unit}"
    assert column.parsed(pa.array([text, plain])).tolist() == [number, number]
    assert comma.parsed(pa.array([text.replace(plain, plain.replace(".", ","))])).tolist() == [number]
    if before and number < 0:
        assert column.parsed(pa.array([f"-{unit}{space}{plain[1:]}"])).tolist() == [number]


@pytest.mark.parametrize(
    ("text", "unit", "number"),
    [
        ("kr.500", "kr", np.nan),
        ("-Rs.500", "Rs", np.nan),
        ("CHF,500", "CHF", np.nan),
        ("kr.500", "kr.", 500),
        ("500 kr.", "kr.", 500),
        ("Fr.500", "Fr.", 500),
        ("CHF .50", "CHF", 0.5),
        ("$.50", "$", 0.5),
        ("5.kg", "kg", 5),
    ],
)
def test_a_point_after_letters_begins_no_fraction(text: str, unit: str, number: float) -> None:
    cells = pa.array([text])
    np.testing.assert_array_equal(Real("x", -1000, 1000, missing=True, unit=unit).parsed(cells), [number])
    np.testing.assert_array_equal(RawCells("x", unit=unit).numbers(cells), [number])
    if unit in KNOWN and np.isnan(number):
        assert RawCells("x", units=True).encode(cells).tolist() == [CODES["text"]]


@pytest.mark.parametrize("text", ["%", "5 % %", "% 5 %", "5 €", "5 percent", "<5 %", "5 6 %", "", "5 %x", "--5 %"])
def test_other_signs_and_texts_are_no_numbers(text: str) -> None:
    assert np.isnan(Real("x", 0, 100, missing=True, unit="%").parsed(pa.array([text]))[0])


@pytest.mark.parametrize("unit", [" %", "5", "m2", "-", ",", ". ", "%" * 21, "\t"])
def test_what_may_be_a_part_of_a_number_is_no_unit(unit: str) -> None:
    for kind in (Real, Integer):
        with pytest.raises(SchemaError, match="`unit` must be a sign or a word that stands beside numbers"):
            kind("x", 0, 1, unit=unit)


def test_facts_come_back_and_an_empty_unit_is_refused() -> None:
    bounds = "lower = 0\nupper = 9\n"
    text = f'[columns.x]\nkind = "real"\n{bounds}unit = "%"\n[columns.n]\nkind = "integer"\n{bounds}unit = "kg"\n'
    schema = Schema.from_toml(text)
    assert [column.unit for column in schema.synthesized] == ["%", "kg"]
    assert Schema.from_toml(schema.to_toml()) == schema
    with pytest.raises(SchemaError, match="`unit` must be something"):
        Schema.from_toml(text.replace('"%"', '""'))


def test_units_are_not_written() -> None:
    column = Integer("x", 0, 9, unit="%", missing=True, missing_values=("-1 %",))
    assert column.written(pa.array([5, None])).to_pylist() == ["5", "-1 %"]
    assert column.encode(pa.array(["-1", "-1%", "5 %"])).tolist() == [column.missing_code, column.missing_code, 5]


def test_cells_that_nobody_described_are_read_with_a_stated_unit() -> None:
    array = pa.array(["5 %", "5,5 %", "7", "x %"])
    codes, numbers = RawCells("x", ",", "%").encode_with_numbers(array)
    assert codes.tolist() == [CODES[name] for name in ("integer", "tenths", "integer", "text")]
    np.testing.assert_array_equal(numbers, [5, 5.5, 7, np.nan])
    for found, expected in zip(
        as_read(*OpenCells("x", unit="%").encode_with_numbers(array), ","), (codes, numbers), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "unit", "name"),
    [
        ("NA", "A", "missing"),
        ("na", "a", "missing"),
        ("yes €", "€", "text"),
        ("3/4/2020 €", "€", "text"),
        ("2020-01-01 €", "€", "text"),
        ("5 A", "A", "integer"),
    ],
)
def test_a_unit_is_a_part_of_no_word_and_of_no_date(text: str, unit: str, name: str) -> None:
    cells = pa.array([text])
    for column in (RawCells("x", unit=unit), OpenCells("x", unit=unit)):
        assert column._codes(cells).tolist() == [CODES[name]]


def test_keys_of_lookup_tables_have_no_unit() -> None:
    text = (
        '[columns.x]\nkind = "integer"\nlower = 0\nupper = 9\nunit = "%"\n[[derived]]\nname = "k"\nkind = "integer"\n'
    )
    rows = 'on = ["x"]\nlookup = [["5", 1], ["6", 2]]\n'
    assert Schema.from_toml(text + rows).derived
    with pytest.raises(SchemaError, match="found '6 %', which is 6 in the notation of 'x'"):
        Schema.from_toml(text + rows.replace('"6"', '"6 %"'))


def test_a_comparison_with_a_number_and_its_unit_is_refused_with_the_number_alone() -> None:
    with pytest.raises(SchemaError, match=r"without quotes: 12\.$"):
        Real("x", 0, 100, unit="%").constant("12 %")


def test_bounds_of_numbers_with_a_unit_are_bought(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = tmp_path / "rates.csv"
    lines = [
        f"{one:.1f} %;{int(other)} €".replace(".", ",")
        for one, other in zip(rng.uniform(20, 80, 4000), rng.uniform(0, 900, 4000), strict=True)
    ]
    path.write_text("\n".join(["rate;amount", *lines]) + "\n")
    stated = '[columns.rate]\nkind = "real"\nunit = "%"\n[columns.amount]\nkind = "integer"\nunit = "€"\n'
    made, curator = SchemaPurchase.of(path, Budget(5.0, 1e-9), "add_or_remove_one", stated=stated).make(None)
    with curator:
        pass
    rate, amount = made.schema.synthesized
    assert isinstance(rate, Real)
    assert isinstance(amount, Integer)
    assert (rate.unit, rate.decimal_char, amount.unit) == ("%", ",", "€")
    assert 15 <= rate.lower <= 25
    assert 75 <= rate.upper <= 90
    assert amount.parsed(pa.array(["12 €"])).tolist() == [12]
    found, curator = discover(path, budget=Budget(5.0, 1e-9), seed=1)
    curator.close()
    assert {column.name: (column.kind, column.unit) for column in found.columns} == {
        "rate": ("real", "%"),
        "amount": ("integer", "€"),
    }, "the purchase finds what nobody said"


@pytest.mark.parametrize(
    ("cells", "sign", "said"),
    [
        (["5 %", "91 %"], "", 'they have the sign of a unit beside the number: give `unit = "%"`,'),
        (["5,5 €", "1.200,00 €"], "", 'give `unit = "€"` and `decimal_char = ","`'),
        (["$5.5"], ",", 'give `unit = "$"`, and leave `decimal_char` out'),
        (["5 %", "x"], "", '1 of them have the sign of a unit beside the number: give `unit = "%"`. For the others, '),
    ],
)
def test_check_names_the_unit(cells: list[str], sign: str, said: str) -> None:
    schema = Schema((Real("x", 0, 10_000, missing=True, decimal_char=sign),))
    (column,) = check_without_privacy(pa.table({"x": cells}), schema).columns
    assert said in f"{column.remedy(column.found[0])},"
    assert bare("5 %", "") == "5 %"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["5 kg", "91 kg", "700 g"], 'they have "g" beside the number, and not "kg": write all in one unit, or give'),
        (["5 kg", "700 g", "x"], '1 of them have "g" beside the number, and not "kg": write all in one unit, or give'),
        (["5 g", "9,5 g"], 'or give `unit = "g"` and `decimal_char = ","` where no cell has the other'),
    ],
)
def test_check_tells_another_unit_from_the_declared_one(cells: list[str], said: str) -> None:
    schema = Schema((Real("x", 0, 10_000, missing=True, unit="kg"),))
    (column,) = check_without_privacy(pa.table({"x": cells}), schema).columns
    assert said in column.remedy(column.found[0])
