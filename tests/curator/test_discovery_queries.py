"""Questions about tables that nobody has described: against plain counting, and on neighbors from the raw cell up."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import UTC, datetime
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.engines.engine import Engine
from counterfoil.curator.queries.apart import Dated
from counterfoil.curator.queries.column_places import DAYS, PLACES, ColumnPlaces, place_of_cells
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.queries.text_counts import LONGEST, TextCounts
from counterfoil.curator.records import ExactRecords
from counterfoil.noise.noise import Norm
from counterfoil.noise.open_domain_gaussian import PARTS, parts_of_a_cell
from counterfoil.receipt.charge_parameters import NAMES, strange_parameters
from counterfoil.schema.number_words import is_written_number
from counterfoil.schema.raw_cell import CLASSES, CODES, cells_of
from counterfoil.schema.schema import Schema
from counterfoil.schema.spelling import spell
from sensitive_tables import ENGINES, UNIT, raw_records_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
MAX_ROWS = 2
Row = tuple[str | None, str | None]

DATES = ("2020-02-03", "3/4/2020", "2020-02-03 04:05", "2020-02-03T00:00:00")
HOSTILE = (
    None,
    "",
    "?",
    "5",
    "-5",
    "20240131",
    "20240230",
    "1e999",
    "0.25",
    "yes",
    *DATES,
    "a",
    "a\x00b",
    "<script>",
    "=1+1",
    "x" * 5000,
)


PLACES_OF_BOTH = ColumnPlaces(("a", "b"))
NUMBERS = ("integer", "hundredths", "real")
RANGES = ColumnRanges(
    (
        Intervals("a", tuple(CODES[name] for name in NUMBERS), (-1.0, 0.0, 1.0, 10.0), (-5.0, 0.25, 5.0)),
        Intervals("b", (CODES["%Y-%m-%d"], CODES["ambiguous/"]), (0.0, 18_000.0)),
    )
)
TEXTS = TextCounts(("a", "b"))
REST = RestOfTexts(("a", "b"), (("a", "5"), ("b", "yes")))
"""Without anything known of what `test_the_claims_are_attained` has: a record there has both texts left."""
WORDS = RestOfTexts(("a", "b"), (("a", "x"), ("b", "yes")), ("b",))
"""Words alone of the second column."""
QUERIES = [PLACES_OF_BOTH, RANGES, TEXTS, REST, WORDS]

cells = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=4), st.integers(-20, 20).map(str), st.floats().map(str))
tables = st.lists(st.tuples(cells, cells), max_size=12)


@given(cells)
def test_every_cell_has_exactly_one_place(cell):
    codes, numbers = cells_of(pa.array([cell], pa.string()))
    (place,) = place_of_cells(codes, numbers)
    assert 0 <= place < PLACES
    counts = PLACES_OF_BOTH.split(PLACES_OF_BOTH.exact(raw_records_of([(cell, cell)])))
    assert [int(part.sum()) for part in counts.values()] == [1, 1]
    assert all(part[place] == 1 for part in counts.values())
    ranges = RANGES.split(RANGES.exact(raw_records_of([(cell, cell)])))
    assert all(part.sum() <= 1 for part in ranges.values())


@pytest.mark.parametrize(
    ("cell", "is_day"),
    [("20240131", True), ("20240131.0", True), ("20240230", False), ("18991231", False), ("-20240131", False)],
)
def test_integers_that_read_as_days_are_on_no_grid(cell: str, is_day: bool):
    (place,) = place_of_cells(*cells_of(pa.array([cell], pa.string())))
    assert bool(place == DAYS) == is_day
    assert bool(place >= len(CLASSES)) != is_day


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("2020-02-03 00:00", "midnight"),
        ("1890-02-03T00:00:00.000", "midnight"),
        ("2020-02-03 00:00:00.000001", "datetime"),
        ("2020-02-03 24:00", "text"),
        (datetime(1890, 2, 3), "midnight"),
        (datetime(2020, 2, 3, 0, 1), "datetime"),
        (datetime(2020, 2, 3, tzinfo=UTC), "datetime"),
    ],
)
def test_moments_at_midnight_are_a_class_of_their_own(cell: str | datetime, name: str):
    arrays = [pa.array([cell])]
    if isinstance(cell, datetime):
        zone = "UTC" if cell.tzinfo else None
        arrays = [pa.array([cell], pa.timestamp(unit, zone)) for unit in ("s", "ms", "us", "ns")]
    for array in arrays:
        codes, numbers = cells_of(array)
        assert CLASSES[int(codes[0])] == name
        assert place_of_cells(codes, numbers).tolist() == codes.tolist()


def test_moments_count_as_days_where_what_lies_between_dates_is_counted():
    codes, numbers = cells_of(pa.array(["1969-12-31 23:59", "1970-01-02 00:00", "1970-01-02", "5"], pa.string()))
    moments = (CODES["midnight"], CODES["datetime"])
    days = Dated("a", moments, of_days=True).numbers(codes, numbers)
    assert days[:2].tolist() == [-1, 1]
    assert np.isnan(days[2:]).all()
    assert Dated("a", (CODES["%Y-%m-%d"],), of_days=True).numbers(codes, numbers)[2] == 1
    assert Dated("a", moments).numbers(codes, numbers)[1] == 86_400e6


def test_days_with_a_unit_are_numbers_with_it():
    (place,) = place_of_cells(*cells_of(pa.array(["20240131 kg"], pa.string()), units=True))
    assert place >= PLACES


def texts_by_hand(rows: list[Row], column: int) -> Counter[str]:
    spelled = spell(pa.array([row[column] for row in rows], pa.string())).to_pylist()
    return Counter(text for text in spelled if text and len(text) <= LONGEST)


def told(records: ExactRecords, query: TextCounts = TEXTS) -> dict[tuple[int, str], int]:
    parts = list(query.tallied(records))
    return {
        (column, text): count
        for part in parts
        for column, text, count in zip(part.columns.tolist(), part.texts.to_pylist(), part.counts.tolist(), strict=True)
    }


@settings(max_examples=15, deadline=None)
@given(tables, st.sampled_from(sorted(ENGINES)))
def test_texts_are_counted_as_by_hand_on_every_engine(rows, engine):
    expected = {(i, text): count for i in range(2) for text, count in texts_by_hand(rows, i).items()}
    assert told(raw_records_of(rows, engine)) == expected


def parts_by_hand(rows: list[Row], query: RestOfTexts) -> Counter[tuple[int, str]]:
    """Row by row, from the definition: floor(100 sqrt(d / k)) for each of the k texts that are left."""
    counts: Counter[tuple[int, str]] = Counter()
    for row in rows:
        spelled = [spell(pa.array([cell], pa.string())).to_pylist()[0] for cell in row]
        left = [
            (place, text)
            for place, text in enumerate(spelled)
            if text and len(text) <= LONGEST and (query.columns[place], text) not in query.known
            if query.columns[place] not in query.numberless or not is_written_number(text)
        ]
        for key in left:
            counts[key] += math.floor(100 * math.sqrt(len(row) / len(left)) + 1e-9)
    return counts


@settings(max_examples=25, deadline=None)
@given(
    tables,
    st.sampled_from(sorted(ENGINES)),
    st.sets(st.tuples(st.sampled_from("ab"), cells.filter(bool))),
    st.sampled_from([(), ("a",), ("b",), ("a", "b")]),
)
def test_parts_of_what_is_left_are_counted_as_by_hand_on_every_engine(rows, engine, known, numberless):
    spelled = {(name, spell(pa.array([text], pa.string())).to_pylist()[0] or "x") for name, text in known}
    query = RestOfTexts(("a", "b"), tuple(sorted(spelled)), numberless)
    assert told(raw_records_of(rows, engine), query) == parts_by_hand(rows, query)


def test_texts_of_several_blocks_are_added_up(monkeypatch):
    from counterfoil.curator.engines import reader

    monkeypatch.setattr(reader, "BATCH_ROWS", 3)
    rows = [("a", str(i % 4)) for i in range(10)]
    assert told(raw_records_of(rows)) == {(0, "a"): 10, (1, "0"): 3, (1, "1"): 3, (1, "2"): 2, (1, "3"): 2}
    left = told(raw_records_of(rows), RestOfTexts(("a", "b"), (("a", "a"),)))
    assert left == {(1, "0"): 423, (1, "1"): 423, (1, "2"): 282, (1, "3"): 282}, "141 parts of each"


@given(st.integers(1, 400), st.data())
def test_parts_of_a_record_stay_within_its_norm_and_above_the_least(columns, data):
    cells = data.draw(st.integers(1, columns))
    parts = parts_of_a_cell(cells, columns)
    assert parts >= PARTS
    assert cells * parts**2 <= PARTS**2 * columns < cells * (parts + 1) ** 2


def test_more_distinct_texts_than_a_part_holds_are_all_counted():
    rows = [(f"person {i}", "same") for i in range(100_500)]
    found = told(raw_records_of(rows))
    assert len(found) == 100_501
    assert found[1, "same"] == 100_500


def moved(query, one: ExactRecords, other: ExactRecords) -> dict[Norm, float]:
    if isinstance(query, TextCounts):
        before, after = told(one, query), told(other, query)
        change = np.array([after.get(key, 0) - before.get(key, 0) for key in before | after], dtype=float)
    else:
        change = (query.exact(other) - query.exact(one)).astype(float)
    return {Norm.L1: float(np.abs(change).sum()), Norm.L2: float(np.sqrt((change**2).sum()))}


def claims(query, neighbors: Neighbors) -> dict[Norm, float]:
    norms = {Norm.L2: query.l2_sensitivity} | ({} if isinstance(query, TextCounts) else {Norm.L1: query.l1_sensitivity})
    return {norm: neighbors.sensitivity(of, neighbors.relation) for norm, of in norms.items()}


@settings(max_examples=30, deadline=None)
@given(tables, st.tuples(cells, cells), st.tuples(cells, cells), st.sampled_from(QUERIES))
def test_no_raw_row_moves_an_answer_further_than_claimed(rows, one, other, query):
    base, with_one, with_other = raw_records_of(rows), raw_records_of([*rows, one]), raw_records_of([other, *rows])
    for norm, claim in claims(query, Neighbors(ADD)).items():
        assert moved(query, base, with_one)[norm] <= claim * (1 + 1e-12)
    for norm, claim in claims(query, Neighbors(REPLACE)).items():
        assert moved(query, with_one, with_other)[norm] <= claim * (1 + 1e-12)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_the_claims_are_attained(query):
    one, other = ("6", "2019-01-01"), ("0.25", "3/4/1960")
    base, with_one, with_other = raw_records_of([]), raw_records_of([one]), raw_records_of([other])
    for norm, claim in claims(query, Neighbors(ADD)).items():
        assert moved(query, base, with_one)[norm] == pytest.approx(claim)
    for norm, claim in claims(query, Neighbors(REPLACE)).items():
        assert moved(query, with_one, with_other)[norm] == pytest.approx(claim)


UNIT_ROWS: list[list[Row]] = [
    [("5", "a")], [("5", "a"), ("5", "a")], [("5", "a"), ("0.5", "b")], [("x", "2020-02-03"), ("y", None)],
]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_no_unit_of_several_rows_moves_an_answer_further_than_claimed(query, engine):
    unit = PrivacyUnit(UNIT, MAX_ROWS)

    def of(rows: list[Row]) -> ExactRecords:
        return raw_records_of([("5", "a"), ("7", "b"), *rows], engine, units=["stays"] * 2 + ["changes"] * len(rows))

    reached = 0.0
    for one, other in product([[], *UNIT_ROWS], UNIT_ROWS):
        relation = REPLACE if one else ADD
        claim = claims(query, Neighbors(relation, unit))[Norm.L2]
        change = moved(query, of(one), of(other))[Norm.L2]
        assert change <= claim * (1 + 1e-12)
        reached = max(reached, change / claim) if relation is ADD else reached
    assert reached > 0.6


def test_of_a_unit_no_more_rows_are_counted_than_it_keeps():
    records = raw_records_of([("a", "b")] * 5, units=["one"] * 5)
    assert told(records) == {(0, "a"): MAX_ROWS, (1, "b"): MAX_ROWS}


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_receipts_restate_the_sensitivities_and_know_the_parameters(query, relation):
    described = json.loads(json.dumps(query.describe()))
    assert strange_parameters(query.name, described) == []
    assert strange_parameters(query.name, described | {"note": "x"}) == ["note"]
    of_others = {"sign", "units", "apart"}  # `test_decimal_signs.py`, `test_units_in_places.py` and `test_apart.py`
    assert set(described) == NAMES[query.name] - of_others - (set() if query is WORDS else {"numberless"})
    steps = {ADD: 1.0, REPLACE: 2.0}[relation]
    assert query.restated_sensitivity(described, steps, Norm.L2) == pytest.approx(query.l2_sensitivity(relation))


def test_queries_about_nothing_or_one_column_twice_are_refused():
    with pytest.raises(ValueError, match="`known` must hold texts of `columns`"):
        RestOfTexts(("a",), (("b", "x"),))
    with pytest.raises(ValueError, match="`numberless` must hold some of `columns`"):
        RestOfTexts(("a",), (), ("b",))
    for kind in (ColumnPlaces, TextCounts, RestOfTexts):
        for columns in ((), ("a", "a")):
            with pytest.raises(ValueError, match="none twice"):
                kind(columns)
    for edges in ((), (1.0, 1.0), (2.0, 1.0), (math.inf,)):
        with pytest.raises(ValueError, match="edges"):
            ColumnRanges((Intervals("a", (0,), edges),))
    for points in ((1.0, 1.0), (2.0, 1.0), (math.inf,)):
        with pytest.raises(ValueError, match="points"):
            ColumnRanges((Intervals("a", (0,), (0.0,), points),))
    for codes in ((), (len(CLASSES),), (-1,)):
        with pytest.raises(ValueError, match="codes"):
            ColumnRanges((Intervals("a", codes, (0.0,)),))


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_columns_that_a_schema_describes_are_refused(query):
    """Their codes and numbers would be of other things."""
    described = Schema.from_toml('[columns.a]\nkind = "boolean"\n[columns.b]\nkind = "boolean"\n')
    with pytest.raises(ValueError, match="read without a schema"):
        query.require_fits(described)


def test_an_engine_of_a_users_own_is_told_that_it_cannot_count_texts():
    class Elsewhere(Engine):
        def __init__(self) -> None: ...

        def prepare(self, columns, numbers=()) -> None: ...

        def blocks(self, columns, numbers=(), placements=()): ...

    with pytest.raises(ValueError, match="engines of this package"):
        Elsewhere().tally(("a",), 10)


@pytest.mark.parametrize("numberless", [["c"], "abc", 7, [["a"]], {"x": 1}])
def test_no_receipt_leaves_numbers_out_of_columns_that_were_not_asked_about(numberless):
    """The sensitivity is that of all columns, whatever is left out; a list that no query has shows a forged charge."""
    described = WORDS.describe()
    assert RestOfTexts.restated_sensitivity(described, 1.0, None) == WORDS.l2_sensitivity(
        NeighboringRelation.ADD_OR_REMOVE_ONE
    )
    with pytest.raises((TypeError, ValueError)):
        RestOfTexts.restated_sensitivity(described | {"numberless": numberless}, 1.0, None)
