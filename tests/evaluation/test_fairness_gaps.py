"""Fairness gaps against counts by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.evaluation.fairness import SMALLEST_GROUP, fairness_gaps, parity_gap


def by_hand(classes: list[int], groups: list[int]) -> float:
    kept = [group for group in set(groups) if groups.count(group) >= SMALLEST_GROUP]
    if len(kept) < 2:
        return math.nan
    gaps = []
    for label in set(classes):
        shares = []
        for group in kept:
            members = [c for c, g in zip(classes, groups, strict=True) if g == group]
            shares.append(members.count(label) / len(members))
        gaps.append(max(shares) - min(shares))
    return max(gaps)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(40, 200))
def test_gaps_equal_a_count_by_hand(seed: int, classes: int, groups: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    predicted, truth = rng.integers(0, classes, (2, rows))
    group = rng.choice(groups, rows, p=rng.dirichlet(np.ones(groups)))
    found = fairness_gaps(predicted, truth, group)
    assert found.parity == pytest.approx(by_hand(predicted.tolist(), group.tolist()), nan_ok=True)
    within = [by_hand(predicted[truth == y].tolist(), group[truth == y].tolist()) for y in range(classes)]
    known = [gap for gap in within if not math.isnan(gap)]
    assert found.odds == pytest.approx(max(known, default=math.nan), nan_ok=True)


def test_predictions_that_are_always_right_have_equal_odds_but_not_parity() -> None:
    groups = np.repeat([0, 1], 100)
    truth = np.concatenate([np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [50, 50])])
    found = fairness_gaps(truth, truth, groups)
    assert found.odds == 0
    assert found.parity == pytest.approx(0.3)


def test_small_groups_are_left_out() -> None:
    assert math.isnan(parity_gap(np.zeros(60, dtype=int), np.repeat([0, 1], [59, 1])))
    assert parity_gap(np.repeat([0, 1], [30, 30]), np.repeat([0, 1], [30, 30])) == 1
