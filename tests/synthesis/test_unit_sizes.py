"""Rows per privacy unit: what a release says of them, and what a bought histogram makes of the identifiers."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil as cf
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.api import release_from
from counterfoil.curator.queries.unit_sizes import UnitSizes
from counterfoil.domain.domain import Domain
from counterfoil.schema import Identifier, Integer, Schema
from counterfoil.synthesis.unit_rows import unrelated_rows
from counterfoil.synthesis.unit_sizes import shares_of_sizes, sizes_of_units
from sensitive_tables import ENGINES, UNIT, records_of

DOMAIN = Domain(("a",), (2,))


def sizes_of(units: list[str | None], most: int) -> list[int]:
    """T_1, T_2, ... by counting in Python; a row without an id is a unit of its own."""
    kept = [min(n, most) for unit, n in Counter(units).items() if unit] + [1] * sum(not unit for unit in units)
    return [sum(n >= j for n in kept) for j in range(1, most + 1)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("units", [[], ["x"], ["x", "x", "y", None, "", "x", "x"], ["x", " x", None, "z", "z", "z"]])
def test_units_are_counted_by_the_rows_that_they_keep(units: list[str | None], engine: str) -> None:
    stripped = [unit and unit.strip() for unit in units]
    for most in (1, 2, 3):
        records = records_of(
            DOMAIN, [(0,)] * len(units), engine=engine, units=units, privacy_unit=PrivacyUnit(UNIT, most)
        )
        assert UnitSizes(most).exact(records).tolist() == sizes_of(stripped, most)


def test_no_unit_moves_the_counts_by_more_than_is_charged() -> None:
    """All tables of up to four rows of three units: one unit comes, goes, or is replaced."""
    reached = dict.fromkeys(NeighboringRelation, 0.0)
    for others in combinations_with_replacement("yz", 2):
        answers = []
        for n in range(5):
            units = [*others, *("x" * n)]
            records = records_of(DOMAIN, [(0,)] * len(units), units=units, privacy_unit=PrivacyUnit(UNIT, 3))
            answers.append(UnitSizes(3).exact(records))
        for relation in NeighboringRelation:
            pairs = [(0, n) for n in range(5)]
            if relation is NeighboringRelation.REPLACE_ONE:
                pairs = [(m, n) for m in range(1, 5) for n in range(1, 5)]
            moved = max(np.abs(answers[m] - answers[n]).sum() for m, n in pairs)
            neighbors = Neighbors(relation, PrivacyUnit(UNIT, 3))
            assert moved <= neighbors.sensitivity(UnitSizes(3).l1_sensitivity, relation)
            reached[relation] = max(reached[relation], moved)
    assert reached[NeighboringRelation.ADD_OR_REMOVE_ONE] == 3  # attained: a unit with all its rows


@given(st.lists(st.integers(-50, 500), min_size=1, max_size=6))
def test_shares_are_a_distribution_that_fits_exact_counts(at_least: list[int]) -> None:
    shares = shares_of_sizes(np.array(at_least))
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    if at_least == sorted(at_least, reverse=True) and at_least[-1] >= 0 and at_least[0] > 0:
        exact = -np.diff([*at_least, 0])
        assert shares == pytest.approx(exact / at_least[0])


def test_noise_that_leaves_nothing_leaves_single_rows() -> None:
    assert shares_of_sizes(np.array([-3, -9, -1])).tolist() == [1, 0, 0]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=5).filter(any), st.integers(0, 3000))
def test_sizes_use_every_row_in_these_proportions(weights: list[int], n_rows: int) -> None:
    shares = np.array(weights) / sum(weights)
    sizes = sizes_of_units(shares, n_rows)
    assert sizes.sum() == n_rows
    assert ((sizes >= 1) & (sizes <= len(weights))).all()
    counts = np.bincount(sizes, minlength=len(weights) + 1)[1:]
    wanted = shares * n_rows / (shares * np.arange(1, len(weights) + 1)).sum()
    assert np.abs(counts - wanted).max() <= 2 + len(weights)


SIZES = [1] * 300 + [2] * 150 + [3] * 100
PATIENTS = [f"p{i}" for i, size in enumerate(SIZES) for _ in range(size)]
VISITS = pa.table({"patient": PATIENTS, "n": [i % 4 for i in range(len(PATIENTS))]})
UNITS = PrivacyUnit("patient", 3)


def schema(replace: str = "sequence") -> Schema:
    return Schema((Identifier("patient", replace), Integer("n", 0, 3)))


def test_a_release_says_that_rows_are_unrelated() -> None:
    plain = cf.synthesize(VISITS, schema(), epsilon=1.0, delta=1e-6, method="independent", seed=1, privacy_unit=UNITS)
    (words,) = unrelated_rows(Neighbors(NeighboringRelation.ADD_OR_REMOVE_ONE, UNITS), schema())
    assert words in plain.receipt.document["warnings"]
    assert "Each row has a 'patient' of its own" in words
    assert len(set(plain.to_arrow().column("patient").to_pylist())) == plain.rows
    one_each = Neighbors(NeighboringRelation.ADD_OR_REMOVE_ONE, PrivacyUnit("patient", 1))
    assert unrelated_rows(one_each, schema()) == []
    (dropped,) = unrelated_rows(Neighbors(NeighboringRelation.REPLACE_ONE, UNITS), schema("drop"))
    assert "of its own" not in dropped
    sized = unrelated_rows(Neighbors(NeighboringRelation.REPLACE_ONE, UNITS), schema(), sizes_bought=True)
    assert all(
        f"Where one has more than {UNITS.max_rows} rows, the others are in no c" in one for one in [dropped, *sized]
    )


@pytest.mark.parametrize("method", ["independent", "evolution"])
def test_without_a_unit_a_release_says_that_each_row_has_identifiers_of_its_own(method: str) -> None:
    facts = Schema((Identifier("patient", "sequence"), Identifier("visit", "uuid"), Integer("n", 0, 3)))
    table = VISITS.append_column("visit", pa.array(["v"] * len(VISITS)))
    made = cf.synthesize(table, facts, epsilon=1.0, delta=1e-6, method=method, seed=1)
    (words,) = [line for line in made.receipt.document["warnings"] if line.startswith("Rows are unrelated")]
    assert "has a 'patient' of its own and 'visit' of its own" in words
    assert "`--unit-sizes 0.02` keeps how many rows each has" in words
    assert made.receipt.verify().holds
    alone = Neighbors(NeighboringRelation.ADD_OR_REMOVE_ONE)
    assert unrelated_rows(alone, schema("drop")) == []
    assert unrelated_rows(alone, Schema((Integer("n", 0, 3),))) == []


@pytest.mark.parametrize("replace", ["sequence", "uuid"])
@pytest.mark.parametrize("method", ["independent", "mst"])
def test_a_bought_histogram_is_followed_and_charged(method: str, replace: str) -> None:
    options = {"epsilon": 300.0, "delta": 1e-6, "method": method, "seed": 1, "privacy_unit": UNITS}
    made = cf.synthesize(VISITS, schema(replace), unit_sizes=0.2, **options)
    ids = made.to_arrow().column("patient").to_pylist()
    sizes = Counter(Counter(ids).values())
    # At this budget the noise is below 2 units.
    assert [sizes[j] for j in (1, 2, 3)] == pytest.approx([300, 150, 100], abs=12)
    if replace == "sequence":
        assert list(dict.fromkeys(ids)) == list(range(1, len(set(ids)) + 1))
    charges = [charge for charge in made.receipt.document["charges"] if charge["query"] == "unit_sizes"]
    assert [charge["sensitivity"] for charge in charges] == [3.0]
    assert [charge["parameters"] for charge in charges] == [{"max_rows": 3}]
    assert made.receipt.verify().holds
    (words,) = [line for line in made.receipt.document["warnings"] if "unrelated" in line]
    assert "follows a noisy histogram" in words
    assert made.receipt.document["spent"]["epsilon"] <= 300.0


def test_rows_of_one_unit_are_put_together_at_random() -> None:
    """With 1,000 pairs, equal values in a pair happen a quarter of the time; 6 deviations fail with less than 1e-8."""
    table = pa.table({"patient": [f"p{i // 2}" for i in range(4000)], "n": [i // 2 % 4 for i in range(4000)]})
    options = {"epsilon": 300.0, "delta": 1e-6, "method": "independent", "seed": 3}
    made = cf.synthesize(table, schema(), unit_sizes=0.2, privacy_unit=PrivacyUnit("patient", 2), **options).to_arrow()
    pairs: dict[int, list[int]] = {}
    for row in made.to_pylist():
        pairs.setdefault(row["patient"], []).append(row["n"])
    whole = [pair for pair in pairs.values() if len(pair) == 2]
    equal = sum(one == other for one, other in whole) / len(whole)
    assert len(whole) > 1900
    assert abs(equal - 0.25) < 6 * np.sqrt(0.25 * 0.75 / len(whole))


@pytest.mark.parametrize(
    ("columns", "unit", "message"),
    [
        ((Identifier("patient", "sequence"),), None, "Found one row a unit"),
        ((Identifier("patient", "sequence"),), PrivacyUnit("patient", 1), "Found one row a unit"),
        ((Identifier("patient"),), UNITS, "Found none for 'patient': declare the column in the schema with"),
        ((), UNITS, "Found none for 'patient'"),
        ((Identifier("patient", "uuid"),), PrivacyUnit("patient", 1001), "from 1 to 1,000 for a histogram"),
    ],
)
def test_what_can_not_be_bought_is_refused_before_anything_is_charged(
    columns: tuple[Identifier, ...], unit: PrivacyUnit | None, message: str
) -> None:
    facts = Schema((*columns, Integer("n", 0, 3)), ignore=() if columns else ("patient",))
    budget = cf.Budget(1.0, 1e-6)
    with cf.Curator(VISITS, facts, budget=budget, privacy_unit=unit, seed=1) as curator:
        with pytest.raises(ValueError, match=message):
            release_from(curator, cf.Independent(), unit_sizes=0.02)
        assert curator.charged == 0
    with pytest.raises(ValueError, match="The share for rows per unit must be above 0 and below 1"):
        cf.synthesize(VISITS, facts, epsilon=1.0, delta=1e-6, method="independent", privacy_unit=unit, unit_sizes=1.5)
