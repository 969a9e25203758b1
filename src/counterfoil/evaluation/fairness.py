"""How differently predictions treat the groups of a protected column."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

SMALLEST_GROUP = 30
"""Groups of fewer rows are left out, because their shares are mostly noise."""


@dataclass(frozen=True)
class FairnessGaps:
    """Largest differences between groups, 0 to 1; NaN where fewer than two groups have enough rows.

    Args:
        parity: the largest difference of the share of rows that get a class, over classes and pairs of groups
            (statistical parity).
        odds: the same among the rows of one true class, over true classes (equality of odds).
    """

    parity: float
    odds: float


def fairness_gaps(predicted: np.ndarray, truth: np.ndarray, groups: np.ndarray) -> FairnessGaps:
    """The gaps of predictions.

    Args:
        predicted, truth: integer classes [n].
        groups: integer codes [n] of the protected column.

    Source: Hardt, Price and Srebro 2016, "Equality of opportunity in supervised learning", for two classes; for more,
    each class against the rest.
    """
    among = [parity_gap(predicted[truth == label], groups[truth == label]) for label in np.unique(truth)]
    known = [gap for gap in among if not np.isnan(gap)]
    return FairnessGaps(parity_gap(predicted, groups), max(known, default=float("nan")))


def parity_gap(classes: np.ndarray, groups: np.ndarray) -> float:
    """The largest difference between groups of the share of rows with a class, over classes."""
    size = int(classes.max(initial=0)) + 1
    counts = [np.bincount(classes[groups == group], minlength=size) for group in np.unique(groups)]
    shares = [count / count.sum() for count in counts if count.sum() >= SMALLEST_GROUP]
    return float(np.ptp(shares, axis=0).max()) if len(shares) > 1 else float("nan")


@dataclass(frozen=True)
class GroupFairness:
    """How a classifier of two classes treats groups; rows are predicted as 1 where their score is above the threshold.

    A ratio is the smallest rate of a group over the largest, in [0, 1]: 1 where all are treated alike. For two groups
    it is the measure of Rodriguez-Vitores, Lalanne and Loubes 2025, appendix B.1, where their group 0 has the smaller
    rate, and one over it else. A distance is the largest over pairs of groups.

    Args:
        disparate_impact: DI, of the share of rows that are predicted as 1 (their equation 17).
        false_positive_ratio: EO_0, of the same share of the rows whose class is 0 (their equation 20).
        true_positive_ratio: EO_1, of the same share of the rows whose class is 1 (their equation 19).
        score_distance: W_2 between the scores of groups, in units of a score; its square is the penalty of their
            equation 18.
        score_distance_0, score_distance_1: the same among rows of class 0 and of class 1 (their equation 21).
        left_out: for each measure that leaves groups out, those with fewer than 30 of its rows.
        reasons: for each measure that is NaN, why.
    """

    disparate_impact: float
    false_positive_ratio: float
    true_positive_ratio: float
    score_distance: float
    score_distance_0: float
    score_distance_1: float
    left_out: Mapping[str, tuple[int, ...]]
    reasons: Mapping[str, str]


_BASES = {
    "": ("disparate_impact", "score_distance"),
    "of class 0 ": ("false_positive_ratio", "score_distance_0"),
    "of class 1 ": ("true_positive_ratio", "score_distance_1"),
}
"""By which rows are counted, in words: the ratio and the distance."""


def group_fairness(scores: Any, truth: Any, groups: Any, *, threshold: float = 0.5) -> GroupFairness:
    """All measures of a classifier's scores between the groups of a protected column.

    Args:
        scores: finite numbers [n], such as predicted probabilities of class 1.
        truth: classes [n], 0 or 1.
        groups: integer codes [n] of the protected column.
        threshold: rows with a larger score are predicted as 1.

    Raises:
        ValueError: for arrays of different lengths, scores that are not finite, or classes other than 0 and 1.
    """
    scores, truth, groups = _checked(scores, truth, groups)
    rows_of = [np.ones(len(scores), dtype=bool), truth == 0, truth == 1]
    values: dict[str, float] = {}
    left_out: dict[str, tuple[int, ...]] = {}
    reasons: dict[str, str] = {}
    for (words, names), rows in zip(_BASES.items(), rows_of, strict=True):
        present = {int(group): scores[rows & (groups == group)] for group in np.unique(groups)}
        kept = [part for part in present.values() if len(part) >= SMALLEST_GROUP]
        small = tuple(group for group, part in present.items() if len(part) < SMALLEST_GROUP)
        rates = [float(np.mean(part > threshold)) for part in kept]
        found = (smallest_over_largest(rates), _largest_distance(kept))
        few = f"Of the groups, {len(kept)} have the {SMALLEST_GROUP} rows {words}that a comparison needs from two."
        why = few if len(kept) < 2 else f"No row {words}is predicted as 1."
        for name, value in zip(names, found, strict=True):
            values[name] = value
            left_out |= {name: small} if small else {}
            reasons |= {name: why} if math.isnan(value) else {}
    return GroupFairness(**values, left_out=left_out, reasons=reasons)


def smallest_over_largest(rates: Sequence[float]) -> float:
    """The ratio; NaN of fewer than two rates, or where all are 0."""
    return min(rates) / max(rates) if len(rates) > 1 and max(rates) > 0 else float("nan")


def _largest_distance(samples: Sequence[np.ndarray]) -> float:
    """The largest W_2 between two samples; NaN of fewer than two."""
    from counterfoil.transport.rank_gradient import squared_wasserstein

    pairs = itertools.combinations(samples, 2)
    return max((math.sqrt(squared_wasserstein(one, other)) for one, other in pairs), default=math.nan)


def _checked(scores: Any, truth: Any, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays, of one length and of the right kinds."""
    points, classes, codes = np.asarray(scores, dtype=float), np.asarray(truth), np.asarray(groups)
    if points.ndim != 1 or not points.shape == classes.shape == codes.shape:
        raise ValueError(
            f"`scores`, `truth` and `groups` must be arrays of one length. Found the shapes {points.shape}, "
            f"{classes.shape} and {codes.shape}: pass one entry for each row."
        )
    if not np.isfinite(points).all():
        raise ValueError("`scores` must be finite. Found NaN or infinity: leave such rows out.")
    if not np.isin(classes, (0, 1)).all():
        raise ValueError("`truth` must be 0 or 1 for each row. Found another class: compare one class with the rest.")
    if codes.dtype.kind not in "iub":
        raise ValueError(f"`groups` must be integer codes. Found {codes.dtype}: number the groups.")
    return points, classes, codes
