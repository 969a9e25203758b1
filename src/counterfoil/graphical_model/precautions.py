"""Values that a schema lists by precaution: what is believed of their noisy counts where none of them stands out.

A bought schema has a place for each cell: a code for missing cells, `other`, whole numbers up to generous bounds. Most
of these places are empty. No count is below zero, so that the noise of an empty one leaves records in it, .4 deviations
in the mean, and each pair with such a column has cells that hold noise alone. Two beliefs about a count of n deviations
are weighed by how well they explain it: that the place is empty, which nine of ten are, and that its records are
exponentially distributed with a mean of two deviations. Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import log_ndtr

from counterfoil.graphical_model.smoothing import Smoothed

_EMPTY = 0.9
"""How probable it is, before anything is counted, that such a place is empty."""
_TAIL_EMPTY = 0.3
"""The same of the tail of what stands out: most bounds that are rounded outwards cut it off, and do not lie beyond."""
_MEAN = 2.0
"""Deviations of noise that another one holds in the mean."""
_BULK = 0.9
"""A part of a tail's records: the cells that hold them say whether it has any."""
_SURE = 5.0
"""Deviations of noise by which what stands out must do so, before anything is said of what lies beyond."""
_FAR = 25.0
"""Deviations beyond which one of the two beliefs is certain."""
_HALF_LOG_TAU = math.log(2 * math.pi) / 2


def believed(deviations: float, *, empty: float = _EMPTY, most: float = _MEAN) -> float:
    """How many deviations of noise are believed of a count of `deviations` that may be noise alone; none below 0.

    Args:
        deviations: the noisy count, in deviations of its noise.
        empty: how probable it is, before anything is counted, that there are no records.
        most: how many deviations there are in the mean where there are some.
    """
    if deviations > _FAR:
        return deviations - 1 / most
    better, if_any = _explained(deviations, most)
    return max(if_any / (1 + math.exp(-math.log((1 - empty) / empty) - better)), 0.0)


def _explained(deviations: float, most: float) -> tuple[float, float]:
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


def beside_one(counts: np.ndarray, scale: float) -> np.ndarray:
    """What is believed of the codes beside the only one that stands out, such as the ones of a rare flag beside zeros.

    Nothing is known of how they fall off. Most columns have one or two such codes, and each further one is half as
    likely as the one before: that the first n hold the rest alike is believed with 2^-n. Half of the columns have none.

    Args:
        counts: float64 [n], noisy, the nearest code first.
        scale: the standard deviation of the noise of each.

    Returns:
        float64 [n], posterior means, none below 0.
    """
    lengths = np.arange(1, len(counts) + 1)
    noises = scale * np.sqrt(lengths)
    found = [
        _explained(deviations, _MEAN / math.sqrt(length))
        for deviations, length in zip((np.cumsum(counts) / noises).tolist(), lengths.tolist(), strict=True)
    ]
    better, means = (np.array(part) for part in zip(*found, strict=True))
    logs = better - lengths * math.log(2) - math.log1p(-(2.0 ** -len(counts)))
    likely = np.exp(logs - np.logaddexp.reduce([*logs, 0.0]))  # the last one is of no records
    each = likely * means * noises / lengths
    return np.cumsum(each[::-1])[::-1]


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


def without_doubtful_tails(
    smoothed: Smoothed, counts: np.ndarray, scale: float, doubtful: tuple[bool, bool]
) -> Smoothed:
    """The smoothed counts of single whole numbers, where what lies beyond all that stands out holds what is believed.

    A tail falls as what lies beside it does, and beyond the last of a few codes there is none. A tail that its own
    counts show keeps its records. Beside a single code nothing says how a tail falls (`beside_one`).

    Args:
        smoothed: of numbers each of which has a code.
        counts: float64 [n], noisy, of the same.
        scale: the standard deviation of the noise of each.
        doubtful: whether the lower and the upper bound may be too wide, as one that is bought may.
    """
    out = np.flatnonzero(smoothed.stands_out)
    if not len(out):
        return smoothed
    runs, found = smoothed.runs.of_cell, smoothed.counts.copy()
    body = (runs >= out[0]) & (runs <= out[-1])
    if counts[body].sum() < _SURE * scale * math.sqrt(int(body.sum())):
        return smoothed
    tails = (np.flatnonzero(runs < out[0])[::-1], np.flatnonzero(runs > out[-1]))
    for tail, may_be_empty in zip(tails, doubtful, strict=True):
        if may_be_empty and body.sum() == 1 and len(tail):
            found[tail] = beside_one(counts[tail], scale)
            continue
        mass = float(found[tail].sum())
        if mass <= 0 or not may_be_empty:
            continue
        bulk = tail[: int(np.searchsorted(np.cumsum(found[tail]), _BULK * mass)) + 1]
        noise = scale * math.sqrt(len(bulk))
        found[tail] *= min(believed(float(counts[bulk].sum()) / noise, empty=_TAIL_EMPTY) * noise / mass, 1.0)
    return replace(smoothed, counts=found)
