"""How far the days of two columns are apart: what is counted, and how far one record can move it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, timedelta
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.apart import Apart, Dated
from counterfoil.curator.queries.column_ranges import ColumnRanges, Intervals
from counterfoil.curator.records import ExactRecords
from counterfoil.noise.noise import Norm
from counterfoil.receipt.charge_parameters import NAMES, strange_parameters
from counterfoil.schema.month_first import month_first
from counterfoil.schema.raw_cell import CLASSES, CODES, RawCells, cells_of
from counterfoil.schema.schema import Schema
from sensitive_tables import ENGINES, raw_records_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
MAX_ROWS = 2
EDGES = (-30.0, 0.0, 1.0, 7.0, 400.0)
WRITTEN = {"%d/%m/%Y": False, "%m/%d/%Y": True}

days = st.dates(date(1900, 1, 1), date(2100, 12, 31))


def dated(column: str, written: str) -> Dated:
    either = () if written.startswith("%Y") else (CODES["ambiguous/"],)
    return Dated(column, (CODES[written], *either), WRITTEN.get(written, False))


def query_of(first: str = "%Y-%m-%d", last: str = "%Y-%m-%d") -> ColumnRanges:
    lines = (Intervals("a", (CODES["%Y-%m-%d"],), (0.0,)),)
    return ColumnRanges(lines, apart=(Apart(dated("a", first), dated("b", last), EDGES),))


def counted(query: ColumnRanges, records: ExactRecords) -> list[int]:
    return query.split_apart(query.exact(records))["a", "b"].tolist()


@given(st.lists(days, min_size=1, max_size=20))
def test_dates_with_two_readings_are_turned(found):
    for written, first in WRITTEN.items():
        codes, numbers = cells_of(pa.array([day.strftime(written) for day in found]))
        read = month_first(codes, numbers) if first else numbers
        assert read.tolist() == [(day - date(1970, 1, 1)).days for day in found]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(days, st.integers(-500, 500)), max_size=12),
    st.sampled_from(["%Y-%m-%d", *WRITTEN]),
    st.sampled_from(["%Y-%m-%d", *WRITTEN]),
    st.sampled_from(sorted(ENGINES)),
)
def test_differences_are_counted_as_by_hand(found, first, last, engine):
    rows = [(day.strftime(first), (day + timedelta(days=far)).strftime(last)) for day, far in found]
    strange = [(None, "2020-01-01"), ("2020-01-01", ""), ("x", "5"), ("?", None)]
    expected = Counter(sum(far >= edge for edge in EDGES) for _, far in found)
    answer = counted(query_of(first, last), raw_records_of(rows + strange, engine))
    assert answer == [expected[place] for place in range(len(EDGES) + 1)]


def test_moments_are_counted_in_microseconds():
    kind = (CODES["datetime"], CODES["midnight"])
    edges = (0.0, 60e6, 120e6)
    query = ColumnRanges((Intervals("a", kind, (0.0,)),), apart=(Apart(Dated("a", kind), Dated("b", kind), edges),))
    rows = [("2020-01-01 00:00:00", f"2020-01-01 00:0{minute}:59.5") for minute in range(3)]
    assert counted(query, raw_records_of(rows)) == [0, 1, 1, 1]


CELLS = [None, "2020-01-01", "2020-01-05", "2021-06-01", "x"]


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_one_record_moves_no_more_than_is_claimed_and_some_move_it_all(engine):
    """Every record beside a fixed one, added or in the place of every other one, for two pairs in both directions."""
    there, back = query_of().apart[0], Apart(dated("b", "%Y-%m-%d"), dated("a", "%Y-%m-%d"), EDGES)
    query = ColumnRanges((Intervals("a", (CODES["%Y-%m-%d"],), (18_500.0,)),), apart=(there, back))
    fixed = [("2020-01-01", "2020-01-03")]
    rows = list(product(CELLS, CELLS))
    alone = query.exact(raw_records_of(fixed, engine))
    beside = [query.exact(raw_records_of([*fixed, row], engine)) for row in rows]
    added = [np.linalg.norm(answer - alone) for answer in beside]
    replaced = [np.linalg.norm(one - other) for one, other in product(beside, beside)]
    assert max(added) == pytest.approx(query.l2_sensitivity(ADD)) == pytest.approx(3**0.5)
    assert max(replaced) == pytest.approx(query.l2_sensitivity(REPLACE)) == pytest.approx(6**0.5)
    assert max(np.abs(one - other).sum() for one, other in product(beside, beside)) == query.l1_sensitivity(REPLACE)


def test_of_a_unit_no_more_records_are_counted_than_it_keeps():
    records = raw_records_of([("2020-01-01", "2020-01-03")] * 5, units=["one"] * 5)
    assert sum(counted(query_of(), records)) == MAX_ROWS


@pytest.mark.parametrize("relation", NeighboringRelation)
def test_receipts_restate_the_sensitivity_and_know_the_parameters(relation):
    query = query_of()
    described = json.loads(json.dumps(query.describe()))
    assert strange_parameters(query.name, described) == []
    assert set(described) == NAMES[query.name] - {"sign"}
    moved = {ADD: 1.0, REPLACE: 2.0}[relation]
    assert query.restated_sensitivity(described, moved, Norm.L2) == pytest.approx(query.l2_sensitivity(relation))
    assert query.restated_sensitivity(described, moved, Norm.L1) == query.l1_sensitivity(relation)
    fewer = query.restated_sensitivity(described | {"apart": []}, moved, Norm.L2)
    assert fewer < query.l2_sensitivity(relation), "a pair is paid for"


@pytest.mark.parametrize(
    "forged",
    [
        *(None, 5, True, "a", {"a": 1}, [1], [[]], [None], ["ab"], [{"first": "a"}], [{"first": "a", "last": "a"}]),
        *([{"first": "a", "last": 1}], [{"first": [], "last": "b"}], [{"first": "a", "last": "b"}] * 2),
    ],
)
def test_what_is_no_list_of_pairs_is_no_parameter(forged):
    """What else has a length stood for as many pairs."""
    described = query_of().describe() | {"apart": forged}
    with pytest.raises((ValueError, TypeError, KeyError)):
        ColumnRanges.restated_sensitivity(described, 1.0, Norm.L2)


def test_pairs_that_can_not_be_counted_are_refused():
    one, two = dated("a", "%Y-%m-%d"), dated("b", "%Y-%m-%d")
    lines = query_of().columns
    for pairs in ((Apart(one, one, EDGES),), (Apart(one, two, EDGES),) * 2):
        with pytest.raises(ValueError, match="none twice"):
            ColumnRanges(lines, apart=pairs)
    for edges in ((), (1.0, 1.0), (2.0, 1.0), (float("inf"),)):
        with pytest.raises(ValueError, match="edges"):
            ColumnRanges(lines, apart=(Apart(one, two, edges),))
    for codes in ((), (len(CLASSES),), (-1,)):
        with pytest.raises(ValueError, match="codes"):
            ColumnRanges(lines, apart=(Apart(one, Dated("b", codes), EDGES),))


def test_columns_that_a_schema_describes_are_refused():
    from counterfoil.schema.integer import Integer

    schema = Schema((RawCells("a"), Integer("b", lower=0, upper=9)))
    with pytest.raises(ValueError, match=r"read without a schema\. Found 'b'"):
        query_of().require_fits(schema)
