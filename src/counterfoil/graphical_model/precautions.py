"""Values that a schema lists by precaution: what is believed of their noisy counts where none of them stands out.

A bought schema has a place for each cell: a code for missing cells, `other`, whole numbers up to generous bounds. Most
of these places are empty. No count is below zero, so that the noise of an empty one leaves records in it, .4 deviations
in the mean, and each pair with such a column has cells that hold noise alone. Two beliefs about a count of n deviations
are weighed by how well they explain it: that the place is empty, which nine of ten are, and that its records are
exponentially distributed with a mean of two deviations. Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

EMPTY = 0.9
"""How probable it is, before anything is counted, that such a place is empty."""
MEAN = 2.0
"""Deviations of noise that another one holds in the mean."""
_FAR = 25.0
"""Deviations beyond which one of the two beliefs is certain."""
_HALF_LOG_TAU = math.log(2 * math.pi) / 2


def believed(deviations: float, *, empty: float = EMPTY, most: float = MEAN) -> float:
    """How many deviations of noise are believed of a count of `deviations` that may be noise alone; none below 0.

    Args:
        deviations: the noisy count, in deviations of its noise.
        empty: how probable it is, before anything is counted, that there are no records.
        most: how many deviations there are in the mean where there are some.
    """
    if deviations > _FAR:
        return deviations - 1 / most
    better, if_any = explained(deviations, most)
    return max(if_any / (1 + math.exp(-math.log((1 - empty) / empty) - better)), 0.0)


def explained(deviations: float, most: float) -> tuple[float, float]:
    """The log of how much better a count is explained by records than by none, and how many there are in the mean.

    Args:
        deviations: the noisy count, in deviations of its noise.
        most: how many deviations there are in the mean where there are some.
    """
    count = min(max(deviations, -_FAR), _FAR)
    mean = count - 1 / most  # of the normal law whose positive part the count leaves of the exponential one
    log_above = float(log_ndtr(mean))
    better = _HALF_LOG_TAU + log_above + mean**2 / 2 - math.log(most)
    return better, mean + math.exp(-(mean**2) / 2 - _HALF_LOG_TAU - log_above)


def join_hidden(
    codes: np.ndarray, counts: np.ndarray, listed: np.ndarray, scale: float, deviations: float
) -> tuple[np.ndarray, np.ndarray]:
    """Joins the values of a column in no order that do not stand out with those that most records have.

    Values that were merged as rare are judged together. They take the relations of the most frequent value and keep
    what is believed of their counts. Where nothing else shows, one code may be left: apart, they would be measured with
    every other column, and the noise of each of those cells that are really empty would add rows to them.

    Args:
        codes: int64 [n], the coarse code of each value.
        counts: float64 [n], noisy.
        listed: bool [n], which values are there by precaution; those in an order are not. All others stay as they are,
            and apart from these.
        scale: the standard deviation of the noise of each count.
        deviations: below so many of its noise a sum does not stand out.

    Returns:
        int64 [n], and float64 [n]: what is believed of the counts of those values, NaN for all others.
    """
    # What was merged as rare is divided: a value that a person wrote says nothing of those beside it.
    codes = np.unique(2 * codes + listed, return_inverse=True)[1].reshape(-1).astype(np.int64)
    size = int(codes.max()) + 1
    totals, members = np.bincount(codes, counts, size), np.bincount(codes, minlength=size)
    noises = scale * np.sqrt(members)
    hidden = totals < deviations * noises
    hidden[codes[~listed]] = False
    posterior = np.full(len(codes), math.nan)
    for code in np.flatnonzero(hidden).tolist():
        posterior[codes == code] = believed(totals[code] / noises[code]) * noises[code] / members[code]
    if hidden.all():
        return codes, posterior
    fullest = int(np.argmax(np.where(hidden, -np.inf, totals)))
    joined = np.where(hidden, fullest, np.arange(size))
    return np.unique(joined[codes], return_inverse=True)[1].reshape(-1).astype(np.int64), posterior
