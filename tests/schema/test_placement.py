"""How each cell is placed: in exactly one way, and as declared only where its code stands for its own value."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real
from counterfoil.schema.errors import UnplacedValue
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.placement import Placement, place, placements_of, possible_placements, taken
from counterfoil.schema.placement_words import ColumnWords
from schema_strategies import CELLS, booleans, categoricals, code_of, integers, number, reals

P = Placement


def expected(column, cell: str | None) -> Placement:
    """The placement of one cell of text, read by the documented rules alone."""
    text = (cell or "").strip()
    if not text or text in column.missing_values:
        return P.MISSING
    if isinstance(column, Categorical):
        code = code_of(column, cell)
        if code is not None and code < len(column.values):
            return P.DECLARED
        read = None if text.casefold() in ("true", "false") else number(text)
        same = [value for value in [*column.values, *column.missing_values] if number(value) == read]
        if isinstance(read, Fraction) and len(same) == 1 and same[0] in column.missing_values:
            return P.MISSING
        return P.OTHER if column.other else P.UNREADABLE
    read = number(text)
    if isinstance(column, Boolean):
        if code_of(column, cell) in (0, 1):
            return P.DECLARED
        known = read is not None and read in [number(word) for word in column.missing_values]
        return P.MISSING if known and read in (0, 1) else P.UNREADABLE
    if read is None:
        # The one spelling that is no number to `decimal` and yet a NaN, hence missing, to nobody.
        return P.UNREADABLE
    if read in [number(word) for word in column.missing_values]:
        return P.MISSING
    if isinstance(read, float):
        return P.INFINITE if "inf" in text.casefold() or abs(float(text)) == float("inf") else P.ABOVE
    if read < Fraction(column.lower):
        return P.BELOW
    if read > Fraction(column.upper):
        return P.ABOVE
    if isinstance(column, (Integer, Real)) and column.step and (read - Fraction(column.lower)) % Fraction(column.step):
        return P.MOVED
    return P.DECLARED


@settings(max_examples=300, deadline=None)
@given(st.one_of(integers(), reals(), booleans, categoricals()), st.lists(CELLS, max_size=12))
def test_cells_are_placed_as_the_rules_say(column, cells):
    placed = place(column, pa.array(cells, pa.string()))
    assert [P(way) for way in placed.placements.tolist()] == [expected(column, cell) for cell in cells]


def contains(column, code: int, value: float) -> bool:
    """Whether decoding the code can give the value, or what is next to it where reals are concerned."""
    lows, highs = column.ranges
    near = 1e-6 if isinstance(column, Real) and column.step and column.lower <= value <= column.upper else 0
    if not lows[code] - near <= value <= highs[code] + near:
        return False
    if isinstance(column, Real) and column.step:
        off = (Fraction(value) - Fraction(column.lower)) % Fraction(column.step)
        off = min(off, Fraction(column.step) - off)
        return off <= Fraction(1, 10**9) * max(abs(Fraction(value)), Fraction(column.step))
    return not isinstance(column, Integer) or (Fraction(value) - column.lower) % column.step == 0


@settings(max_examples=300, deadline=None)
@given(st.one_of(integers(), reals()), st.lists(st.floats(-400, 400) | st.integers(-60, 60), min_size=1, max_size=12))
def test_a_number_is_as_declared_if_and_only_if_its_code_stands_for_it(column, cells):
    numbers = np.array(cells, dtype=float)
    placed = place(column, pa.array(numbers))
    declared_missing = np.isin(numbers, [float(word) for word in column.missing_values if word.lstrip("-").isdigit()])
    for value, code, way, missing in zip(numbers, placed.codes, placed.placements, declared_missing, strict=True):
        assert (way == P.DECLARED) == (not missing and contains(column, int(code), float(value)))


@settings(max_examples=200, deadline=None)
@given(st.one_of(integers(), reals(), booleans, categoricals()), st.lists(CELLS, min_size=1, max_size=12))
def test_codes_are_those_of_encode_and_possible_ways_are_all_that_occur(column, cells):
    values = pa.array(cells, pa.string())
    placed = place(column, values)
    if (placed.codes < 0).any():
        with pytest.raises(UnplacedValue) as caught:
            column.encode(values)
        assert caught.value.row == np.argmax(placed.codes < 0)
        return
    codes = column.encode(values)
    assert np.array_equal(placed.codes, codes)
    assert {P(way) for way in placed.placements.tolist()} <= set(possible_placements(column))
    drawn = column.decode(codes, np.random.default_rng(0))
    undeclared = placements_of(column, drawn) != P.DECLARED
    # What is drawn is as declared; but for the missing code, and for `other`, which stands for what is not listed.
    special = codes >= column.n_bins - (isinstance(column, Categorical) and column.other)
    assert np.array_equal(undeclared, special)


STORED = {
    "text": lambda cells: pa.array([None if cell is None else str(cell) for cell in cells]),
    "objects": lambda cells: MixedCells(list(cells)),
    "dictionary": lambda cells: pa.array([None if c is None else str(c) for c in cells]).dictionary_encode(),
    "chunks of dictionaries": lambda cells: pa.chunked_array(
        [pa.array([None if c is None else str(c) for c in part]).dictionary_encode() for part in (cells[:2], cells[2:])]
    ),
    "nothing in chunks": lambda cells: pa.chunked_array(
        [pa.array([None if c is None else str(c) for c in cells]), pa.array([], pa.string())]
    ),
}


@pytest.mark.parametrize("stored", STORED)
def test_the_storage_does_not_matter(stored):
    column = Integer("c", 0, 10, 5, missing=True, missing_values=("-9", "?"))
    cells = [0, None, "?", -9, "-9.0", "x", 7, 11, -1, "inf", "", 10]
    ways = [P.DECLARED, P.MISSING, P.MISSING, P.MISSING, P.MISSING, P.UNREADABLE, P.MOVED]
    ways += [P.ABOVE, P.BELOW, P.INFINITE, P.MISSING, P.DECLARED]
    assert placements_of(column, STORED[stored](cells)).tolist() == ways


def test_typed_columns_and_objects_of_no_kind():
    real = Real("c", 0.0, 1.0, bins=2, missing=True)
    assert placements_of(real, pa.array([0.5, None, np.nan, np.inf, 2.0])).tolist() == [
        P.DECLARED,
        P.MISSING,
        P.MISSING,
        P.INFINITE,
        P.ABOVE,
    ]
    assert placements_of(real, MixedCells([(1, 2), None, 0.25, pd.NA])).tolist() == [
        P.UNREADABLE,
        P.MISSING,
        P.DECLARED,
        P.MISSING,
    ]
    listed = Categorical("c", ("a",), other=True)
    assert placements_of(listed, MixedCells([(1, 2), None, "a"])).tolist() == [P.OTHER, P.MISSING, P.DECLARED]


def test_dates_in_a_wrong_notation_are_unreadable_and_late_ones_above():
    day = Date("c", dt.date(2020, 1, 1), dt.date(2020, 12, 31), missing=True)
    cells = pa.array(["2020-01-05", "31.12.2020", "2021-01-01", "1999-01-01", ""])
    assert placements_of(day, cells).tolist() == [P.DECLARED, P.UNREADABLE, P.ABOVE, P.BELOW, P.MISSING]
    assert placements_of(day, pa.array([dt.date(2020, 1, 5), None])).tolist() == [P.DECLARED, P.MISSING]
    second = Datetime("c", dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), bins=2, missing=True)
    assert placements_of(second, pa.array([dt.datetime(2020, 1, 1, 5), dt.datetime(2021, 1, 1)])).tolist() == [
        P.DECLARED,
        P.ABOVE,
    ]


def test_taking_cells_keeps_their_types():
    values = pa.chunked_array([["a", None], ["b"], []], type=pa.string())
    assert taken(values, np.array([1, 2])).to_pylist() == [None, "b"]
    assert taken(MixedCells([1, "x", None]), np.array([0, 2])).cells == [1, None]


@pytest.mark.parametrize(
    "column",
    [
        Integer("rank", 1, 6, missing=True),
        Real("pay", 0.0, 5.0, bins=2, missing=True),
        Boolean("ill", missing=True),
        Categorical("job", ("a",), missing=True),
        Categorical("job", ("a",), other=True),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 1, 2), format="%d/%m/%Y", missing=True),
    ],
    ids=lambda column: column.kind,
)
def test_each_possible_way_has_words_and_those_against_the_schema_a_remedy(column):
    words = ColumnWords.of(column)
    assert ColumnWords.from_json(words.to_json()) == words
    for way in possible_placements(column):
        assert words.happened(way)
        assert bool(words.remedy(way)) == (way != P.DECLARED and (way != P.MISSING or not column.missing))


def test_remedies_fit_the_kind():
    assert "`format`" in ColumnWords.of(Date("d", dt.date(2020, 1, 1), dt.date(2020, 1, 2))).remedy(P.UNREADABLE)
    assert "`upper`" in ColumnWords.of(Integer("rank", 1, 6)).remedy(P.ABOVE)
    said = ColumnWords.of(Integer("rank", 1, 6)).happened(P.ABOVE)
    assert said == "lie above 6, the upper bound, and count as that"
    assert "`values`" in ColumnWords.of(Categorical("job", ("a",), other=True)).remedy(P.OTHER)


ENDS = dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 31)


@pytest.mark.parametrize(
    ("column", "cells", "way", "said", "remedied"),
    [
        (
            Datetime("at", *ENDS, resolution="1d", missing=True),
            ["2024-01-15T00:30:00+01:00"],
            P.UNREADABLE,
            "declare `zone` where they state an offset from UTC and none is declared",
            Datetime("at", *ENDS, resolution="1d", missing=True, zone="Europe/Zurich"),
        ),
        (
            Datetime("at", *ENDS, resolution="1d", missing=True),
            ["15.01.2024 00:30"],
            P.UNREADABLE,
            'state the notation in `format`, such as "%d.%m.%Y %H:%M"',
            Datetime("at", *ENDS, resolution="1d", missing=True, format="%d.%m.%Y %H:%M"),
        ),
        (
            Real("pay", 0.0, 9.0, missing=True),
            ["inf", "-inf"],
            P.INFINITE,
            'list them in `missing_values` after the word to write, such as ["", "inf", "-inf"]',
            Real("pay", 0.0, 9.0, missing=True, missing_values=("", "inf", "-inf")),
        ),
        (
            Integer("pay", 0, 9),
            [float("inf")],
            P.INFINITE,
            "declare `missing = true`, and list them in `missing_values`",
            Integer("pay", 0, 9, missing=True, missing_values=("", "inf", "-inf")),
        ),
        (
            Boolean("ill", missing=True),
            ["J"],
            P.UNREADABLE,
            "give the two words as the labels `true` and `false`",
            Boolean("ill", "J", "N", missing=True),
        ),
        (
            Integer("rank", 1, 6, missing=True),
            ["20:05:00"],
            P.UNREADABLE,
            "times such as 20:05:00 as numbers of one unit, and state in `words` for which numbers",
            Datetime(
                "rank",
                dt.datetime(1900, 1, 1),
                dt.datetime(1900, 1, 1, 23, 59, 59),
                resolution="15min",
                format="%H:%M:%S",
            ),
        ),
    ],
)
def test_what_is_advised_gives_the_cells_their_place(column, cells, way, said, remedied):
    values = pa.array(cells)
    assert set(placements_of(column, values).tolist()) == {way}
    assert said in ColumnWords.of(column).remedy(way)
    assert set(placements_of(remedied, values).tolist()) <= {P.DECLARED, P.MISSING}
    again = remedied.written(remedied.decode(np.arange(remedied.size), np.random.default_rng(0)))
    assert not {"inf", "-inf"} & set(again.to_pylist())


def test_who_lists_words_for_missing_must_declare_it():
    assert "declare `missing = true` and list the words" in ColumnWords("x", "integer").remedy(P.UNREADABLE)
    assert "declare `missing = true` and" not in ColumnWords("x", "integer", missing=True).remedy(P.UNREADABLE)
