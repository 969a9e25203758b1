"""Places of cells whose units are looked for: one for each cell, so that no more is paid than without them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.column_places import GRIDS, NUMBERED, UNIT_PLACES, ColumnPlaces
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.discovery.units import codes_with_unit
from counterfoil.discovery.votes import NUMBERS
from counterfoil.noise.noise import Norm
from counterfoil.receipt.charge_parameters import NAMES, strange_parameters
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.open_numbers import OpenCells, as_read
from counterfoil.schema.raw_cell import CODES, RawCells, cells_of, unit_places, without_unit
from counterfoil.schema.schema import Schema
from counterfoil.schema.unit import KNOWN, bare, unit_of
from counterfoil.schema.value_grid import CELLS, places_of
from counterfoil.schema.values import parse_number
from sensitive_tables import ENGINES

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
QUERY = ColumnPlaces(("a", "b"), with_units=("b",))
HOSTILE = (
    None,
    "",
    "?",
    "5",
    "5 %",
    "$-5",
    "-5.25 kg",
    "1e999 %",
    "1,234 €",
    "12,5 %",
    "%",
    "box",
    "yes",
    "m1",
    "5 m",
    "007",
    "05 %",
    "0",
)


def records_of(rows, engine: str = "memory") -> ExactRecords:
    columns = {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate("ab")}
    schema = Schema((RawCells("a"), RawCells("b", units=True)))
    made = ENGINES[engine](open_source(pa.table(columns)), schema)
    made.prepare(("a", "b"))
    return ExactRecords(made, schema.domain)


numbers = st.one_of(st.integers(-(10**6), 10**6).map(str), st.floats(-1e6, 1e6).map(lambda one: f"{one:.2f}"))
cells = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=5),
    st.tuples(numbers, st.sampled_from(("", " ", "\u00a0")), st.sampled_from(KNOWN)).map("".join),
    st.tuples(st.sampled_from(KNOWN), st.sampled_from(("", " ")), numbers).map("".join),
)
tables = st.lists(st.tuples(cells, cells), max_size=8)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(tables, st.sampled_from(sorted(ENGINES)))
def test_every_cell_has_exactly_one_place_on_every_engine(rows, engine):
    parts = QUERY.split(QUERY.exact(records_of(rows, engine)))
    assert {name: len(part) for name, part in parts.items()} == {"a": NUMBERED, "b": NUMBERED + UNIT_PLACES}
    assert [int(part.sum()) for part in parts.values()] == [len(rows)] * 2
    assert all((part >= 0).all() for part in parts.values())


@settings(max_examples=200, deadline=None, derandomize=True)
@given(cells)
def test_only_texts_are_divided_and_by_what_the_readers_read(cell):
    array = pa.array([cell], pa.string())
    (plain,), _ = cells_of(array)
    (code,), (number,) = cells_of(array, units=True)
    if code == plain:
        return
    assert plain == CODES["text"]
    (place,) = unit_places(np.array([code], dtype=np.int64))
    assert without_unit(np.array([code]))[0] in NUMBERS
    text = cell.strip()
    assert KNOWN[place] == unit_of(text)
    assert number == parse_number(text, {}, ".", KNOWN[place]), "a column with this unit reads the same number"
    counts = QUERY.split(QUERY.exact(records_of([(cell, cell)])))["b"][NUMBERED:].reshape(len(KNOWN), len(GRIDS), CELLS)
    assert counts[place, :, places_of(np.array([number]))[0]].sum() == 1


def test_sensitivities_are_kept_by_all_neighbors_and_attained_by_some():
    answers = [QUERY.exact(records_of([row])) for row in product(HOSTILE, HOSTILE)]
    for norm, of in ((1, QUERY.l1_sensitivity), (2, QUERY.l2_sensitivity)):
        assert max(np.linalg.norm(answer, norm) for answer in answers) == pytest.approx(of(ADD))
        moved = max(np.linalg.norm(one - answers[0], norm) for one in answers)
        assert moved == pytest.approx(of(REPLACE))
        assert of(ADD) == (ColumnPlaces(("a", "b")).l1_sensitivity if norm == 1 else QUERY.l2_sensitivity)(ADD)
    assert QUERY.l2_sensitivity(ADD) == ColumnPlaces(("a", "b")).l2_sensitivity(ADD), "units cost nothing"


def test_receipts_restate_the_sensitivity_and_name_the_columns():
    told = QUERY.describe()
    assert told == {"columns": ["a", "b"], "units": ["b"]}
    assert set(told) | {"sign"} == NAMES["column_places"]
    assert strange_parameters("column_places", told) == []
    assert QUERY.restated_sensitivity(told, 1.0, Norm.L2) == QUERY.l2_sensitivity(ADD)


@pytest.mark.parametrize("named", [(), ("a",), ("a", "b")])
def test_columns_are_read_as_the_question_says(named):
    schema = Schema((RawCells("a"), RawCells("b", units=True)))
    with pytest.raises(ValueError, match="`with_units` must hold those of `columns` whose units are looked for"):
        ColumnPlaces(("a", "b"), with_units=named).require_fits(schema)


def test_a_stated_unit_is_not_looked_for():
    with pytest.raises(SchemaError, match="its unit is stated"):
        RawCells("a", unit="%", units=True)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(cells, max_size=6), st.sampled_from((",", ".")))
def test_open_signs_are_read_as_if_they_had_been_known(texts, sign):
    texts = [*texts, "1.234 €", "1,234 %", "1.234,5 kg", "-1'234.5 m", "$ 1 234"]
    array = pa.array(texts, pa.string())
    read = as_read(*OpenCells("a", units=True).encode_with_numbers(array), sign)
    known = RawCells("a", sign, units=True).encode_with_numbers(array)
    for one, other in zip(read, known, strict=True):
        np.testing.assert_array_equal(one, other)


def test_ranges_count_numbers_with_the_unit_and_without_it():
    counted = Intervals("b", codes_with_unit(NUMBERS, "%"), (0.0, 10.0))
    rows = [("x", cell) for cell in ("5 %", "5", "5,000 %", "5 kg", "-1", "%", None)]
    assert ColumnRanges((counted,)).exact(records_of(rows)).tolist() == [1, 2, 1]


@pytest.mark.parametrize("text", ["m1", "g2", "kg5", "5A", "B12", "12 years old", "", "%", "x 5 %x", "5 mile"])
def test_codes_and_words_have_no_unit(text):
    assert unit_of(text) == ""


@pytest.mark.parametrize(
    ("text", "unit"),
    [("5m", "m"), ("5 km", "km"), ("5.kg", "kg"), ("$-5", "$"), ("- 5 €", "€"), ("%50", "%"), ("Fr. 5", "Fr.")],
)
def test_the_longest_unit_beside_a_number_is_its_unit(text, unit):
    assert unit_of(text) == unit
    assert bare(text, unit) != text
