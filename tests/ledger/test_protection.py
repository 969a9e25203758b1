"""Whom several releases protect together, against the neighbors of all small tables, listed one by one."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.ledger.errors import LedgerError
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.ledger.protection import Protection, together

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
COLUMNS = ("person", "house", "group")
ROWS = tuple(product((0, 1), repeat=3))
TABLES = [rows for size in range(4) for rows in combinations_with_replacement(ROWS, size)]
KINDS = [
    Neighbors(ADD),
    Neighbors(REPLACE),
    Neighbors(REPLACE, groups=("group",)),
    Neighbors(REPLACE, groups=("group", "house")),
    Neighbors(REPLACE, groups=("house",)),
    Neighbors(ADD, PrivacyUnit("person", 1)),
    Neighbors(ADD, PrivacyUnit("person", 3)),
    Neighbors(REPLACE, PrivacyUnit("person", 2)),
    Neighbors(REPLACE, PrivacyUnit("person", 1)),
    Neighbors(ADD, PrivacyUnit("house", 3)),
]


@cache
def pairs(relation: str, unit: str | None, groups: frozenset[str]) -> frozenset[tuple]:
    """The neighbors among all tables of at most three rows, by the definition of each relation."""
    return frozenset(
        (one, other) for one, other in combinations(TABLES, 2) if differ_in_one(one, other, relation, unit, groups)
    )


def differ_in_one(one: tuple, other: tuple, relation: str, unit: str | None, groups: frozenset[str]) -> bool:
    gone, new = list((Counter(one) - Counter(other)).elements()), list((Counter(other) - Counter(one)).elements())
    if unit is None:
        if relation == "add_or_remove_one":
            return len(gone) + len(new) == 1
        same = [COLUMNS.index(name) for name in groups]
        return len(gone) == len(new) == 1 and all(gone[0][i] == new[0][i] for i in same)
    at = COLUMNS.index(unit)

    def rest(table: tuple, left_out: int) -> Counter:
        return Counter(row for row in table if row[at] != left_out)

    if relation == "add_or_remove_one":
        return any(
            rest(one, u) == Counter(other) or rest(other, u) == Counter(one) for u in {row[at] for row in one + other}
        )
    units = {row[at] for row in one}, {row[at] for row in other}
    return any(
        rest(one, u) == rest(other, v) and (u == v or (v not in units[0] and u not in units[1]))
        for u in units[0]
        for v in units[1]
    )


def listed(kind: Neighbors) -> frozenset[tuple]:
    return pairs(kind.relation.value, kind.unit.column if kind.unit else None, frozenset(kind.groups))


@pytest.mark.parametrize(("one", "other"), list(product(KINDS, repeat=2)), ids=lambda kind: kind.describe())
def test_a_sum_protects_the_neighbors_that_its_releases_have_in_common(one: Neighbors, other: Neighbors) -> None:
    common = listed(one) & listed(other)
    joined = Protection.of(one.describe()).with_release(Protection.of(other.describe()))
    if joined is None:
        assert common < listed(one)
        assert common < listed(other), "one of them would protect fewer than it says"
        assert one.unit != other.unit or not common
    else:
        assert common == pairs(joined.relation, joined.unit, joined.groups)
        assert common, "a sum that protects nobody is none"


def test_the_listing_tells_relations_apart():
    assert len({listed(kind) for kind in KINDS}) == len(
        {(kind.relation, kind.unit and kind.unit.column, kind.groups) for kind in KINDS}
    )


NAMES = st.text(min_size=1, max_size=12)


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    relation=st.sampled_from([ADD, REPLACE]),
    unit=st.none() | st.tuples(NAMES, st.integers(1, 99)),
    groups=st.lists(NAMES | st.sampled_from(["and", "a and b", "it's", 'say "x"', " of "]), max_size=4, unique=True),
)
def test_what_neighbors_describe_is_read_back(relation, unit, groups):
    if groups:
        relation, unit = REPLACE, None
    described = Neighbors(relation, None if unit is None else PrivacyUnit(*unit), tuple(groups)).describe()
    expected = Protection(relation.value, None if unit is None else unit[0], frozenset(groups))
    assert Protection.of(described) == expected


@pytest.mark.parametrize(
    "text", ["", "pairs of friends", "replace_one within groups of equal ", "replace_one within groups of equal a or b"]
)
def test_a_text_of_another_kind_protects_what_it_says_and_nothing_else(text):
    assert Protection.of(text) == Protection(text)
    assert Protection.of(text).with_release(Protection.of("replace_one")) is None


@pytest.fixture
def ledger():
    with Ledger.in_memory(SourceIdentity("people", "memory"), Budget(9.0, 1e-6)) as made:
        yield made


def opened(ledger: Ledger, neighbors: Neighbors) -> None:
    ledger.open_release(budget=Budget(1.0), relation=neighbors.describe(), composition="pure", description={})


def test_units_of_any_number_of_rows_share_a_ledger(ledger):
    for rows in (3, 1, 2):
        opened(ledger, Neighbors(ADD, PrivacyUnit("person", rows)))
    assert ledger.spent().epsilon == 3.0
    assert str(ledger.protects()) == "add_or_remove_one of person, with all of its rows"
    page = ledger.text()
    assert "the sum protects: add_or_remove_one of person, with all of its rows" in page
    assert "add_or_remove_one of person with at most 3 rows" in " ".join(page.split())


def test_groups_mix_with_replacement_and_are_united(ledger):
    opened(ledger, Neighbors(REPLACE))
    assert str(ledger.protects()) == "replace_one"
    assert "the sum protects" not in ledger.text()
    opened(ledger, Neighbors(REPLACE, groups=("sex",)))
    opened(ledger, Neighbors(REPLACE, groups=("age", "sex")))
    opened(ledger, Neighbors(REPLACE))
    assert str(ledger.protects()) == "replace_one within groups of equal age and sex"
    assert "the sum protects: replace_one within groups of equal age and sex" in ledger.text()


@pytest.mark.parametrize(
    ("before", "asked", "remedy"),
    [
        (Neighbors(REPLACE), Neighbors(ADD), "use 'replace_one', for this"),
        (Neighbors(ADD), Neighbors(REPLACE, groups=("sex",)), "use 'add_or_remove_one', for this"),
        (Neighbors(ADD), Neighbors(ADD, PrivacyUnit("person", 1)), "use 'add_or_remove_one' without a privacy unit"),
        (Neighbors(ADD, PrivacyUnit("person", 1)), Neighbors(ADD), "with the privacy unit 'person', with any number"),
        (
            Neighbors(ADD, PrivacyUnit("house", 4)),
            Neighbors(ADD, PrivacyUnit("person", 4)),
            "with the privacy unit 'house', with any number of rows",
        ),
    ],
)
def test_what_can_not_be_added_is_refused_with_the_ledgers_own_neighbors(ledger, before, asked, remedy):
    opened(ledger, before)
    count = len(ledger.entries())
    with pytest.raises(LedgerError) as refusal:
        opened(ledger, asked)
    assert remedy in str(refusal.value)
    if before.unit is None and asked.unit is not None:
        assert "Single rows are then protected, and not all rows of one 'person' together." in str(refusal.value)
    assert "reate" not in str(refusal.value), "never a second ledger for the same people"
    assert len(ledger.entries()) == count
    with pytest.raises(LedgerError):
        ledger.require_common(asked.describe())


def test_what_was_abandoned_protects_nobody_and_binds_nobody(ledger):
    ledger.open_release(budget=Budget(1.0), relation="replace_one", composition="pure", description={}).abandon()
    assert ledger.protects() is None is together([])
    opened(ledger, Neighbors(ADD))
