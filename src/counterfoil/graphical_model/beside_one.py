"""What is believed of whole numbers beside the only one that stands out, such as the ones of a flag beside its zeros.

Nothing is known of how they fall off. Most columns have one or two such codes, and each further one is half as likely
as the one before: that the first n hold the rest alike is believed with 2^-n, and half of the columns have none. Where
codes stand out as a run of several alone, its sum is known better than what each of them holds. Post-processing of
noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from counterfoil.graphical_model.precautions import MEAN, explained
from counterfoil.graphical_model.smoothing import Smoothed

_WITHIN = 1.2
"""The deviation of the noise by which codes of a run differ, over that of all that is known of a code: a last
measurement counts runs alone."""

_FEWEST, _MOST = 2, 16
"""Codes of a column with more of them, and the most on one side of the one that stands out: among more of them a whole
body may be hidden, far from it."""


def beside_one(
    counts: np.ndarray, scale: float, runs: np.ndarray | None = None, noise: np.ndarray | None = None
) -> np.ndarray:
    """Posterior means of the counts of the codes beside the only one that stands out.

    Args:
        counts: float64 [n], noisy, the nearest code first.
        scale: the standard deviation of the noise of each.
        runs: int64 [n], the run of each, whose sum is known better; each by itself when None.
        noise: float64 [runs], by number of run, the standard deviation of the noise of its sum.

    Returns:
        float64 [n], none below 0.
    """
    first = np.tri(len(counts))  # [n, n]: the first n of them, as 1
    lengths = np.arange(1, len(counts) + 1)
    if runs is None or noise is None:
        estimated, information = first @ counts / scale**2, lengths / scale**2
    else:
        estimated, information = _with_sums(first, counts, _WITHIN * scale, runs, noise)
    deviations = 1 / np.sqrt(information)  # of the number of records of each code
    found = [
        explained(estimate, MEAN * scale / (length * deviation))
        for estimate, length, deviation in zip(
            (estimated * deviations).tolist(), lengths.tolist(), deviations.tolist(), strict=True
        )
    ]
    better, means = (np.array(part) for part in zip(*found, strict=True))
    logs = better - lengths * math.log(2) - math.log1p(-(2.0 ** -len(counts)))
    likely = np.exp(logs - np.logaddexp.reduce([*logs, 0.0]))  # the last one is of no records
    each = likely * means * deviations
    return np.asarray(np.cumsum(each[::-1])[::-1])


def _with_sums(
    shapes: np.ndarray, counts: np.ndarray, within: float, runs: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The inner products of shapes [k, n] with the counts, and with themselves, by the precision of the noise.

    Of a run the sum has noise of its own, and what its codes exceed their mean by that of `within`.
    """
    member = (runs == np.unique(runs)[:, None]).astype(float)  # [r, n]
    sizes, precisions = member.sum(axis=1), noise[np.unique(runs)] ** -2.0
    sums, totals = shapes @ member.T, member @ counts  # [k, r], [r]
    estimated = (shapes @ counts - (sums / sizes) @ totals) / within**2 + (sums * precisions) @ totals
    information = ((shapes**2).sum(axis=1) - sums**2 @ (1 / sizes)) / within**2 + sums**2 @ precisions
    return estimated, information


def with_codes_beside_one(smoothed: Smoothed, counts: np.ndarray, scale: float) -> Smoothed:
    """The smoothed counts of a few single whole numbers, where one of them stands out alone.

    Or with a run of several beside it, within which nothing else says how the density changes: half of all rare flags
    would be twos to sixes. Where more codes are left, what lies beyond that run stays as it is.

    Args:
        smoothed: of numbers each of which has a code.
        counts: float64 [n], noisy, of the same.
        scale: the standard deviation of the noise of each.
    """
    runs, out = smoothed.runs, np.flatnonzero(smoothed.stands_out)
    sizes = np.bincount(runs.of_cell)
    single = out[sizes[out] == 1]
    if len(single) != 1 or (np.abs(out - single[0]) > 1).any():
        return smoothed
    (at,) = np.flatnonzero(runs.of_cell == single[0]).tolist()
    if len(counts) <= _FEWEST:
        return smoothed
    found = smoothed.counts.copy()
    if max(at, len(counts) - 1 - at) > _MOST:
        for run in out[out != single[0]].tolist():
            inside = np.flatnonzero(runs.of_cell == run)
            inside = inside if inside[0] > at else inside[::-1]
            found[inside] = _within_run(found[inside], counts[inside], _WITHIN * scale)
        return replace(smoothed, counts=found)
    for side in (np.arange(at)[::-1], np.arange(at + 1, len(counts))):
        if len(side):
            found[side] = beside_one(counts[side], scale, runs.of_cell[side], runs.noise)
    return replace(smoothed, counts=found)


def _within_run(smoothed: np.ndarray, counts: np.ndarray, within: float) -> np.ndarray:
    """The counts of the codes of a run with the same sum: of the first n alike, or, for one half, as they were.

    Args:
        smoothed: float64 [n], the nearest to the one that stands out first, with a positive sum.
        counts: float64 [n], noisy.
        within: the standard deviation of the noise by which they differ.
    """
    cells, total = len(counts), float(smoothed.sum())
    lengths = np.arange(1, cells)
    alike = np.tri(cells)[: cells - 1] * (total / lengths)[:, None]
    shapes = np.concatenate([smoothed[None], alike])
    prior = np.append(0.5, 0.5 * 2.0**-lengths / (1 - 2.0 ** (1 - cells)))
    residuals = (counts - counts.mean()) - (shapes - total / cells)
    logs = np.log(prior) - (residuals**2).sum(axis=1) / (2 * within**2)
    weights = np.exp(logs - logs.max())
    return np.asarray(weights @ shapes / weights.sum())
