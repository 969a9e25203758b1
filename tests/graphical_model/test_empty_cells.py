"""Cells that are most likely empty: pairs in which one column follows from the other, or nearly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.empty_cells import with_empty_cells
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator

RECORDS, CODES = 10_000, 8
Measured = list[NoisyMarginal]


def counted(counts: np.ndarray, scale: float, rng: np.random.Generator) -> Measured:
    """Both columns with less noise, and the pair."""
    noise = rng.normal(0, 0.6 * scale, (2, CODES))
    columns = [NoisyMarginal((name,), counts.sum(axis=1 - i) + noise[i], 0.6 * scale) for i, name in enumerate("ab")]
    return [*columns, NoisyMarginal(("a", "b"), counts + rng.normal(0, scale, counts.shape), scale)]


def followed(exceptions: float, rng: np.random.Generator) -> np.ndarray:
    """Counts of a pair: `b` is `a` but for a share of the records, in which any other code stands."""
    own, others = rng.dirichlet(np.full(CODES, 3.0)), 1 - np.eye(CODES)
    law = (1 - exceptions) * np.diag(own) + exceptions * others / others.sum()
    return rng.multinomial(RECORDS, law.ravel()).reshape(CODES, CODES).astype(float)


def error_of_fit(counts: np.ndarray, measured: Measured, *, shrinks: bool) -> float:
    """The L1 distance of the fitted pair, as a share."""
    estimator = WarmEstimator(Domain(("a", "b"), (CODES, CODES)), {}, float(RECORDS), shrinks=shrinks)
    return float(np.abs(estimator.fit(measured).marginal(("a", "b")) - counts).sum()) / RECORDS


@pytest.mark.parametrize("scale", [30.0, 100.0, 200.0])
def test_a_column_that_follows_from_another_one_does(scale: float) -> None:
    rng, before, after = np.random.default_rng(7), [], []
    for _ in range(6):
        counts = followed(0.0, rng)
        measured = counted(counts, scale, rng)
        before.append(error_of_fit(counts, measured, shrinks=False))
        after.append(error_of_fit(counts, measured, shrinks=True))
    assert np.mean(after) < 0.6 * np.mean(before)


@pytest.mark.parametrize("scale", [30.0, 100.0])
@pytest.mark.parametrize("exceptions", [0.005, 0.02, 0.08, 0.2, 0.5])
def test_exceptions_are_not_lost(scale: float, exceptions: float) -> None:
    rng, before, after = np.random.default_rng(8), [], []
    for _ in range(6):
        counts = followed(exceptions, rng)
        measured = counted(counts, scale, rng)
        before.append(error_of_fit(counts, measured, shrinks=False))
        after.append(error_of_fit(counts, measured, shrinks=True))
    assert np.mean(after) < 1.02 * np.mean(before)


def test_the_rest_is_what_the_other_cells_leave() -> None:
    # 3,000 records are in a code of `a` of which no cell stands out: they are none of the rest.
    counts = np.diag([1500.0] * 4 + [500.0] * 2 + [0.0] * 2)
    counts[6, :] = 375.0
    measured = [
        NoisyMarginal(("a",), counts.sum(axis=1), 1.0),
        NoisyMarginal(("b",), counts.sum(axis=0), 1.0),
        NoisyMarginal(("a", "b"), counts - 3.0, 130.0),
    ]
    found, tables = with_empty_cells(measured, float(counts.sum()))
    share = np.exp(tables["a", "b"])
    assert (share[:6, :6] < 0.1).sum() == 30
    assert (share[6:, :] == 1).all(), "nothing is said of a code without a cell that stands out"
    assert found[0] is measured[0]
    np.testing.assert_array_equal(found[2].counts[share == 1], measured[2].counts[share == 1])


@settings(deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([1.0, 20.0, 400.0, 5000.0]), st.sampled_from([0.02, 0.3, 5.0]))
def test_any_counts_are_kept_or_moved_towards_independence(seed: int, scale: float, concentration: float) -> None:
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(CODES * CODES, concentration))
    measured = counted(rng.multinomial(RECORDS, law).reshape(CODES, CODES).astype(float), scale, rng)
    found, tables = with_empty_cells(measured, float(RECORDS))
    assert [one.clique for one in found] == [one.clique for one in measured]
    assert set(tables) <= {("a", "b")}
    for table in tables.values():
        assert np.isfinite(table).all()
        assert (table <= math.log(1.0)).all()
        moved = table < 0
        assert moved.any()
        assert (measured[2].counts[moved] <= 3 * scale).all(), "what stands out stays"
        assert (found[2].counts[moved] >= 0).all()
        # Together they hold less than a half of what noise would leave.
        assert found[2].counts[moved].sum() <= 0.5 * 0.4 * scale * moved.sum() * (1 + 1e-9)


def test_independent_columns_are_left_alone() -> None:
    rng = np.random.default_rng(9)
    counts = rng.multinomial(RECORDS, np.full(CODES * CODES, 1 / CODES**2)).reshape(CODES, CODES).astype(float)
    for scale in (10.0, 60.0, 200.0, 2000.0):
        assert not with_empty_cells(counted(counts, scale, rng), float(RECORDS))[1]
