"""Statistical tests with a stated false-alarm probability."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2


def chi_square_p_value(observed: np.ndarray, probabilities: np.ndarray, *, smallest_bin: float = 25.0) -> float:
    """The p-value of Pearson's test that `observed` counts come from `probabilities`.

    Neighboring cells are merged until each expects `smallest_bin` draws, so that the chi-square law holds far into its
    tail.

    Args:
        observed: [cells] counts.
        probabilities: [cells], adding up to 1.
    """
    expected = probabilities * observed.sum()
    group = np.floor((np.cumsum(expected) - expected / 2) / smallest_bin).astype(int)
    group = np.unique(group, return_inverse=True)[1]
    bins, wanted = np.bincount(group, observed), np.bincount(group, expected)
    small = np.flatnonzero(wanted < smallest_bin / 2)  # a narrow bin joins the one before it, or after it
    for index in small:
        target = index - 1 if index else 1
        bins[target] += bins[index]
        wanted[target] += wanted[index]
    bins, wanted = np.delete(bins, small), np.delete(wanted, small)
    assert len(bins) > 1, "a test with one bin can't fail: draw more"
    return float(chi2.sf(((bins - wanted) ** 2 / wanted).sum(), len(bins) - 1))


def integer_law_p_value(draws: np.ndarray, probabilities: np.ndarray) -> float:
    """The same for integers in -b..b with `probabilities` [2 b + 1]."""
    radius = len(probabilities) // 2
    assert np.abs(draws).max() <= radius, "a draw far outside what the law can give"
    return chi_square_p_value(np.bincount(draws + radius, minlength=len(probabilities)), probabilities)
