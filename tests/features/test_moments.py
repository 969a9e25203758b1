"""Moments against products of features, and their joint sensitivities against searches for the worst two records."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.features.active_features import ActiveFeatures
from counterfoil.features.feature_map import UNIT
from counterfoil.features.moments import Moments
from counterfoil.noise.noise import Norm
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
RELATIONS = (ADD, REPLACE)

COLUMNS = {
    "plain": lambda name: Real(name, -3.0, 5.0, bins=4),
    "missing": lambda name: Integer(name, 0, 6, missing=True),
    "category": lambda name: Categorical(name, ("a", "b", "c")),
    "boolean": lambda name: Boolean(name),
}
KINDS = st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4)


def schema_of(kinds):
    return Schema(tuple(COLUMNS[kind](f"c{i}") for i, kind in enumerate(kinds)))


def records(schema, rng, n):
    """Codes and numbers of n random records, half of them at the ends of their ranges."""
    codes, numbers = {}, {}
    for column in schema.synthesized:
        codes[column.name] = rng.integers(0, column.size, n).astype(column.dtype)
        if column.is_ordered:
            low, high = np.nanmin(column.ranges[0]), np.nanmax(column.ranges[1])
            values = np.where(rng.random(n) < 0.5, rng.uniform(low, high, n), rng.choice([low, high], n))
            numbers[column.name] = np.where(column.missing & (rng.random(n) < 0.3), np.nan, values)
    return codes, numbers


def dense_features(schema, codes, numbers, n):
    """[n, features] and the column of each feature, from the definition."""
    parts, owners = [], []
    for place, (column, (where, value)) in enumerate(
        zip(schema.synthesized, ActiveFeatures(schema).of(codes, numbers), strict=True)
    ):
        size = len(ActiveFeatures(schema).names[place])
        part = np.zeros((n, size))
        part[np.arange(n), where] = value / UNIT
        parts.append(part)
        owners += [(column, place, i) for i in range(size)]
    return np.hstack(parts), owners


@given(KINDS, st.sampled_from((1, 2)), st.booleans(), st.integers(0, 2**32))
def test_moments_are_sums_of_products_of_features(kinds, order, counted, seed):
    schema, n = schema_of(kinds), 40
    family = Moments(schema, order, counted)
    codes, numbers = records(schema, np.random.default_rng(seed), n)
    dense, owners = dense_features(schema, codes, numbers, n)
    sums = family.sums(n, codes, numbers)
    expected = {(): float(n)} if counted else {}
    for i, (_, u, a) in enumerate(owners):
        expected[family.place((u, a)),] = dense[:, i].sum()
        for j, (other, v, b) in enumerate(owners):
            if order == 2 and (u < v or (u == v and other.is_ordered and a == b == 0)):
                expected[family.place((v, b), (u, a)),] = (dense[:, i] * dense[:, j]).sum()
    assert len(expected) == family.size == len(family.names) == len(sums)
    for place, value in expected.items():
        assert sums[place[0] if place else 0] / family.unit == pytest.approx(value, abs=1e-9)
    assert np.array_equal(sums, family.matrix(n, codes, numbers).sum(axis=1))


@given(KINDS, st.sampled_from((1, 2)), st.booleans(), st.integers(0, 2**32))
def test_no_two_records_move_moments_by_more(kinds, order, counted, seed):
    schema, n = schema_of(kinds), 60
    family = Moments(schema, order, counted)
    columns = family.matrix(n, *records(schema, np.random.default_rng(seed), n)).toarray().T
    apart = np.abs(columns[:, None, :] - columns[None, :, :])
    for relation, moved in ((ADD, np.abs(columns)), (REPLACE, apart.reshape(n * n, -1))):
        assert moved.sum(axis=1).max() <= family.l1_sensitivity(relation) * (1 + 1e-12)
        assert np.sqrt((moved**2).sum(axis=1)).max() <= family.l2_sensitivity(relation) * (1 + 1e-12)


@given(KINDS, st.sampled_from((1, 2)), st.booleans())
def test_a_receipt_restates_the_sensitivities(kinds, order, counted):
    query = FunctionAverages(Moments(schema_of(kinds), order, counted))
    for relation, moved in zip(RELATIONS, (1, 2), strict=True):
        for norm, of in ((Norm.L1, query.l1_sensitivity), (Norm.L2, query.l2_sensitivity)):
            assert query.restated_sensitivity(query.describe(), moved, norm) == pytest.approx(of(relation), rel=1e-12)


def corners(d):
    """[2**d, d]: all corners of the cube."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=d)))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_corners_of_the_cube_attain_what_is_claimed(d):
    """Numbers alone: all claims of adding; of replacing, the l2 norm where 1 + d is even, and most of it elsewhere."""
    family = Moments(Schema(tuple(Real(f"c{i}", -1.0, 1.0, bins=2) for i in range(d))), 2, True)
    points = corners(d)
    columns = family.matrix(len(points), {}, {f"c{i}": points[:, i] for i in range(d)}).toarray().T
    assert np.abs(columns).sum(axis=1).max() == pytest.approx(family.l1_sensitivity(ADD))
    assert np.linalg.norm(columns, axis=1).max() == pytest.approx(family.l2_sensitivity(ADD))
    apart = columns[:, None, :] - columns[None, :, :]
    l2 = np.linalg.norm(apart, axis=2).max() / family.l2_sensitivity(REPLACE)
    assert l2 == pytest.approx(1.0) if d % 2 else 0.9 < l2 <= 1
    assert 0.6 < np.abs(apart).sum(axis=2).max() / family.l1_sensitivity(REPLACE) <= 1


def test_the_joint_sensitivity_is_below_the_sum_of_each():
    """20 columns: 252 moments that move by 2 each would need noise for 504 in l1, and for 2 sqrt(252) in l2."""
    family = Moments(Schema(tuple(Real(f"c{i}", -1.0, 1.0, bins=2) for i in range(20))), 2, False)
    assert family.size == 20 + 190 + 20
    assert family.l2_sensitivity(REPLACE) == 21 * family.unit < 2 * np.sqrt(family.size) * family.unit
    assert family.l1_sensitivity(REPLACE) == (441 // 2 + 20) * family.unit < 2 * family.size * family.unit


@pytest.mark.parametrize("order", [0, 3, "2", True])
def test_other_orders_are_refused(order):
    with pytest.raises(ValueError, match="`order` 1 or 2"):
        Moments(schema_of(["plain"]), order, False)


def test_a_product_that_is_not_asked_has_no_place():
    family = Moments(schema_of(["category", "missing"]), 2, False)
    for features in [((0, 0), (0, 1)), ((1, 1), (1, 1)), ((0, 0), (0, 0))]:
        with pytest.raises(KeyError):
            family.place(*features)


def test_too_many_functions_are_refused():
    wide = Schema((Categorical("a", tuple(map(str, range(600)))), Categorical("b", tuple(map(str, range(600))))))
    with pytest.raises(ValueError, match="361,200"):
        Moments(wide, 2, False)
