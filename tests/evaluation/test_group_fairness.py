"""Measures between groups against fairlearn, counts by hand, and sorted samples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.evaluation.fairness import SMALLEST_GROUP, group_fairness

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(seed: int, groups: int, rows: int) -> Rows:
    """Scores, classes and groups that depend on each other."""
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, rows, p=rng.dirichlet(np.full(groups, 3.0)))
    truth = rng.integers(0, 2, rows)
    scores = np.clip(0.25 * truth + 0.2 * group / groups + rng.random(rows) * 0.7, 0, 1).round(2)
    return scores, truth, group


def by_hand(scores: list[float], truth: list[int], groups: list[int], base: tuple[int, ...]) -> float:
    rates = []
    for group in set(groups):
        mine = [s for s, y, g in zip(scores, truth, groups, strict=True) if g == group and y in base]
        if len(mine) >= SMALLEST_GROUP:
            rates.append(sum(s > 0.5 for s in mine) / len(mine))
    return min(rates) / max(rates) if len(rates) > 1 and max(rates) else math.nan


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 400))
def test_ratios_equal_a_count_by_hand(seed: int, groups: int, rows: int) -> None:
    scores, truth, group = drawn(seed, groups, rows)
    found = group_fairness(scores, truth, group)
    for name, base in (("disparate_impact", (0, 1)), ("false_positive_ratio", (0,)), ("true_positive_ratio", (1,))):
        expected = by_hand(scores.tolist(), truth.tolist(), group.tolist(), base)
        assert getattr(found, name) == pytest.approx(expected, nan_ok=True)
        assert (name in found.reasons) == math.isnan(expected)


@pytest.mark.parametrize("groups", [2, 3, 6])
@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_ratios_equal_those_of_fairlearn(groups: int, threshold: float) -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    scores, truth, group = drawn(groups, groups, 6000)
    found = group_fairness(scores, truth, group, threshold=threshold)
    assert not found.left_out, "fairlearn leaves no group out"
    predicted = (scores > threshold).astype(int)
    options = {"y_true": truth, "y_pred": predicted, "sensitive_features": group}
    assert found.disparate_impact == pytest.approx(fairlearn.demographic_parity_ratio(**options))
    worse = min(found.false_positive_ratio, found.true_positive_ratio)
    assert worse == pytest.approx(fairlearn.equalized_odds_ratio(**options))
    rates = {"true_positive_ratio": fairlearn.true_positive_rate, "false_positive_ratio": fairlearn.false_positive_rate}
    for name, rate in rates.items():
        frame = fairlearn.MetricFrame(metrics=rate, **options)
        assert getattr(found, name) == pytest.approx(frame.ratio(method="between_groups"))
        assert getattr(found, name) < 1


def distance_by_hand(one: np.ndarray, other: np.ndarray) -> float:
    """W_2 of samples of any sizes: each is repeated until both are as long, and sorted."""
    length = math.lcm(len(one), len(other))
    long = [np.sort(np.repeat(part, length // len(part))) for part in (one, other)]
    return math.sqrt(np.mean((long[0] - long[1]) ** 2))


@pytest.mark.parametrize("groups", [2, 3])
def test_distances_are_the_largest_over_pairs(groups: int) -> None:
    scores, truth, group = drawn(5 + groups, groups, 900)
    found = group_fairness(scores, truth, group)
    bases = {"score_distance": truth >= 0, "score_distance_0": truth == 0, "score_distance_1": truth == 1}
    for name, rows in bases.items():
        pairs = itertools.combinations(range(groups), 2)
        expected = max(distance_by_hand(scores[rows & (group == a)], scores[rows & (group == b)]) for a, b in pairs)
        assert getattr(found, name) == pytest.approx(expected)


def test_a_ratio_does_not_depend_on_the_names_of_groups() -> None:
    scores, truth, group = drawn(1, 2, 500)
    one, other = group_fairness(scores, truth, group), group_fairness(scores, truth, 1 - group)
    assert one == other
    assert 0 < one.disparate_impact < 1


def test_small_groups_are_left_out_by_measure() -> None:
    group, truth = np.repeat([0, 1, 2], [60, 60, 29]), np.tile([0, 1], 75)[:149]
    truth[60:89] = 0  # of group 1, 29 + 15 of class 0 and 16 of class 1
    scores = np.where(group == 0, 0.9, np.linspace(0, 1, 149))
    found = group_fairness(scores, truth, group)
    assert found.left_out["disparate_impact"] == (2,)
    assert found.left_out["true_positive_ratio"] == (1, 2)
    assert math.isnan(found.true_positive_ratio)
    assert math.isnan(found.score_distance_1)
    assert "1 have the 30 rows of class 1" in found.reasons["true_positive_ratio"]
    assert not math.isnan(found.disparate_impact)


def test_where_nobody_is_predicted_as_1_a_ratio_is_unknown_and_a_distance_is_not() -> None:
    found = group_fairness(np.repeat([0.1, 0.5], 100), np.tile([0, 1], 100), np.repeat([0, 1], 100))
    assert math.isnan(found.disparate_impact)
    assert found.reasons["disparate_impact"] == "No row is predicted as 1."
    assert found.reasons["false_positive_ratio"] == "No row of class 0 is predicted as 1."
    assert found.score_distance == pytest.approx(0.4)
    assert "score_distance" not in found.reasons


@pytest.mark.parametrize(
    ("scores", "truth", "groups", "message"),
    [
        ([0.1, 0.2], [0], [0, 1], "arrays of one length"),
        ([0.1, math.nan], [0, 1], [0, 1], "must be finite"),
        ([0.1, 0.2], [0, 2], [0, 1], "must be 0 or 1"),
        ([0.1, 0.2], [0, 1], [0.5, 1.0], "must be integer codes"),
    ],
)
def test_what_is_no_table_of_predictions_is_refused(scores, truth, groups, message) -> None:
    with pytest.raises(ValueError, match=message):
        group_fairness(scores, truth, groups)
