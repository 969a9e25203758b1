"""Supports: rules kept, equal records merged, and functions averaged over the bins of a record."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.domain.coarsening import identity
from counterfoil.features.functions import Functions, Share, Value
from counterfoil.features.moments import Moments
from counterfoil.geometry.euclidean import Box
from counterfoil.reweighting.reference import nearest_density
from counterfoil.reweighting.support import support_of_codes, support_of_points
from counterfoil.schema import Boolean, Categorical, Integer, Real, Rule, Schema

SCHEMA = Schema((Categorical("job", ("a", "b")), Integer("age", 0, 3), Boolean("rich")))
BINNED = Schema((Real("pay", 0.0, 8.0, bins=2), Boolean("rich")))


def uniform(schema):
    return lambda m, rng: np.column_stack([rng.integers(0, size, m) for size in schema.domain.sizes])


def test_equal_records_are_merged_and_their_weights_added():
    support = support_of_codes(SCHEMA, uniform(SCHEMA), 4000, np.random.default_rng(0))
    assert support.size == 16
    assert support.prior.sum() == pytest.approx(1)
    assert len(support.values) == 1, "each code is one value"
    assert (support.prior * 4000).round(6).tolist() == (support.prior * 4000).round().tolist()


def test_barred_records_are_drawn_again():
    rules = (Rule("not rich", "age <= 2"), Rule("job == 'a'", "rich"))
    schema = Schema(SCHEMA.columns, rules)
    support = support_of_codes(schema, uniform(schema), 300, np.random.default_rng(0))
    job, age, rich = support.codes.T
    assert not ((age <= 2) & (rich == 1)).any()
    assert not ((job == 1) & (rich == 1)).any()
    assert support.size == 9


def test_a_reference_that_never_meets_the_rules_is_refused():
    schema = Schema(SCHEMA.columns, (Rule("not rich", "age <= 2"),))
    with pytest.raises(ValueError, match="None of the records"):
        support_of_codes(schema, lambda m, rng: np.tile([0, 0, 1], (m, 1)), 50, np.random.default_rng(0))


def test_functions_of_bins_are_averages_over_them():
    support = support_of_codes(BINNED, uniform(BINNED), 1000, np.random.default_rng(0))
    assert len(support.values) > 1
    family = Functions(
        BINNED,
        (Value("pay", 0.0, 8.0, "pay"), Share.of_records(BINNED, "pay >= 5"), Share.of_records(BINNED, "rich")),
        False,
    )
    found = family.slopes[:, None] * support.matrix(family).toarray()
    for (pay, rich), (mean, above, of) in zip(support.codes, found.T, strict=True):
        assert mean == pytest.approx(2 + 4 * pay, abs=1.5), "of 16 draws: 1.5 is 5 standard errors"
        assert above == (0 if pay == 0 else pytest.approx(0.75, abs=0.5))
        assert of == rich


def test_indicators_are_cells():
    support = support_of_codes(SCHEMA, uniform(SCHEMA), 500, np.random.default_rng(0))
    cells = support.indicators(("job", "rich"), identity(SCHEMA.domain))
    assert cells.tolist() == (support.codes[:, 0] * 2 + support.codes[:, 2]).tolist()


def test_points_keep_their_values():
    schema = Schema((Real("x", 0.0, 1.0, bins=4), Real("y", -1.0, 1.0, bins=4)))
    points = np.array([[0.1, -0.9], [0.6, 0.3], [0.6, 0.3]])
    support = support_of_points(schema, Box.of(schema), points, np.random.default_rng(0))
    assert support.codes.tolist() == [[0, 0], [2, 2], [2, 2]]
    family = Moments(schema, 1, False)
    assert (support.matrix(family).toarray() / family.unit) == pytest.approx(
        np.array([[-0.8, 0.2, 0.2], [-0.9, 0.3, 0.3]]), abs=1e-3
    )


@pytest.mark.parametrize("counts", [[3.0, 1.0], [5.0, -1.0, 0.2], [-1.0, -2.0], [0.0, 0.0], [1e6, -1e6, 3.0]])
def test_the_nearest_density_is_nearest(counts):
    density = nearest_density(np.array(counts))
    assert density.sum() == pytest.approx(1)
    assert density.min() >= 0
    if sum(counts) > 0:
        shares = np.array(counts) / sum(counts)
        rng = np.random.default_rng(0)
        others = rng.dirichlet(np.ones(len(counts)), 2000)
        best = ((others - shares) ** 2).sum(axis=1).min()
        assert ((density - shares) ** 2).sum() <= best + 1e-9
