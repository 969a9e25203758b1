"""Counts of how cells were placed: against brute force, on neighbors that attain the sensitivity, and audited."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pytest

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.queries.placement import SchemaPlacement
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.schema.placement import Placement
from sensitive_tables import ENGINES, UNIT

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
SCHEMA = Schema(
    (
        Integer("rank", 1, 6, missing=True),
        Categorical("job", ("cook", "nurse"), other=True),
        Categorical("sex", ("f", "m")),  # leaves nothing open, and is not counted
        Real("pay", 0.0, 10.0, bins=5),
    )
)
CELLS = {
    "rank": {"3": "declared", "0": "below", "9": "above", "2.5": "moved", "": "missing", "x": "unreadable"},
    "job": {"cook": "declared", "smith": "other", "": "missing"},
    "sex": {"f": "declared"},
    "pay": {"5": "declared", "-1": "below", "11": "above", "inf": "infinite"},
}
RECORDS = [("3", "cook", "f", "5"), ("9", "smith", "f", "inf"), ("x", "", "f", "-1"), ("", "nurse", "f", "11")]
QUERY = SchemaPlacement.of(SCHEMA)
UNITS = PrivacyUnit(UNIT, 2)


def answer(rows, engine: str = "memory", units=None) -> np.ndarray:
    names = [column.name for column in SCHEMA.columns]
    table = pa.table({name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate(names)})
    bounds = {}
    if units is not None:
        table = table.append_column(UNIT, pa.array(units, pa.string()))
        bounds = {"privacy_unit": UNIT, "max_rows": UNITS.max_rows}
    made = ENGINES[engine](open_source(table), SCHEMA, **bounds)
    made.prepare(SCHEMA.domain.attributes)
    return QUERY.exact(ExactRecords(made, SCHEMA.domain))


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_are_those_of_a_loop_over_the_cells(engine):
    rng = np.random.default_rng(1)
    rows = [tuple(rng.choice(list(CELLS[name])) for name in CELLS) for _ in range(300)]
    found = QUERY.split(answer(rows, engine))
    for position, name in enumerate(CELLS):
        if name == "sex":
            assert name not in found
            continue
        expected = Counter(CELLS[name][row[position]] for row in rows)
        assert {way.word: count for way, count in found[name].items() if count} == expected


def test_only_columns_that_leave_something_open_are_counted():
    assert [name for name, _ in QUERY.columns] == ["rank", "job", "pay"]
    assert SchemaPlacement.of(Schema((Boolean("ill"), Categorical("sex", ("f", "m"))))) is None


@pytest.mark.parametrize("engine", ENGINES)
def test_the_sensitivities_hold_on_all_neighbors_and_are_attained(engine):
    tables = [rows for n in range(3) for rows in combinations_with_replacement(RECORDS, n)]
    answers = {rows: answer(rows, engine) for rows in tables}
    pairs = {ADD: [], REPLACE: []}
    for rows in tables:
        larger = [tuple(sorted([*rows, record], key=RECORDS.index)) for record in RECORDS]
        larger = [other for other in larger if other in answers]
        pairs[ADD] += [(rows, other) for other in larger]
        pairs[REPLACE] += list(product(larger, larger))
    for relation, chosen in pairs.items():
        moved = np.abs([answers[one] - answers[other] for one, other in chosen])
        assert moved.sum(axis=1).max() == QUERY.l1_sensitivity(relation)
        assert math.sqrt((moved**2).sum(axis=1).max()) == pytest.approx(QUERY.l2_sensitivity(relation))
    assert QUERY.l1_sensitivity(ADD) == 3
    assert QUERY.l2_sensitivity(REPLACE) == math.sqrt(6)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_unit_moves_the_counts_by_no_more_than_its_rows(engine):
    others = [RECORDS[0], RECORDS[3]]
    one, other = (
        answer([*others, *[record] * 5], engine, units=["a", "b", *["u"] * 5]) for record in (RECORDS[1], RECORDS[2])
    )
    bound = Neighbors(REPLACE, UNITS).sensitivity(QUERY.l1_sensitivity, REPLACE)
    assert np.abs(one - other).sum() == bound == 12


def test_a_query_refuses_what_would_break_its_claim():
    ways = ("declared", "above")
    with pytest.raises(ValueError, match="none twice"):
        SchemaPlacement((("rank", ways), ("rank", ways)))
    with pytest.raises(ValueError, match="none twice"):
        SchemaPlacement((("rank", (*ways, *ways)),))
    with pytest.raises(ValueError, match="at least one"):
        SchemaPlacement(())
    with pytest.raises(ValueError, match="Found 'rang'"):
        SchemaPlacement((("rang", ways),)).require_fits(SCHEMA)


EPSILON, DELTA, RUNS = 1.0, 0.01, 60_000
LARGE = PrivacyUnit(UNIT, 8)


@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise])
@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_worst_neighbors_keep_the_claim_and_half_the_noise_does_not(kind, relation):
    """One unit of eight rows, whose cells are all placed in other ways, comes or is replaced.

    False alarms: 1e-6 for each sound audit; the seed is fixed, so that each outcome is the same every time.
    """
    changed = {ADD: [], REPLACE: [RECORDS[1]] * 8}[relation], [RECORDS[2]] * 8
    others = [RECORDS[0]] * 40
    one, other = (answer([*others, *rows]) for rows in changed)
    moved = np.flatnonzero(one != other)
    claims = Neighbors(relation, LARGE)
    if kind is GaussianNoise:
        noise = GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(Budget(EPSILON, DELTA))) * (1 + 1e-12))
        sensitivity, delta = claims.sensitivity(QUERY.l2_sensitivity, relation), DELTA
    else:
        noise, delta = LaplaceNoise(EPSILON), 0.0
        sensitivity = claims.sensitivity(QUERY.l1_sensitivity, relation)

    def evidence(told: np.ndarray) -> np.ndarray:
        if kind is GaussianNoise:
            return told @ (other - one)[moved]
        return (np.abs(told - one[moved]) - np.abs(told - other[moved])).sum(axis=1)

    def audited(randomness) -> float:
        told = [noise.add(np.tile(exact[moved], (RUNS, 1)), sensitivity, randomness) for exact in (one, other)]
        return epsilon_lower_bound(evidence(told[0]), evidence(told[1]), delta)

    assert audited(SeededRandomness(3)) <= EPSILON
    assert audited(LessNoise(SeededRandomness(3))) > EPSILON


def test_a_large_table_is_counted_in_blocks_and_again_after_the_codes():
    rows = 300_000
    table = pa.table({"rank": np.arange(rows) % 8, "job": ["cook"] * rows, "sex": ["f"] * rows, "pay": np.zeros(rows)})
    for engine in ENGINES.values():
        made = engine(open_source(table), SCHEMA)
        made.prepare(SCHEMA.domain.attributes)
        found = QUERY.split(QUERY.exact(ExactRecords(made, SCHEMA.domain)))
        assert found["rank"][Placement.ABOVE] == found["rank"][Placement.BELOW] == rows // 8
        again = QUERY.split(QUERY.exact(ExactRecords(made, SCHEMA.domain)))
        assert again == found
