"""How differently predictions treat the groups of a protected column."""

from __future__ import annotations

from dataclasses import dataclass

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
