"""What is believed of whole numbers beside the only one that stands out, such as the ones of a flag beside its zeros.

Nothing is known of how they fall off. Most columns have one or two such codes, and each further one is half as likely
as the one before: that the first n hold the rest alike is believed with 2^-n, and half of the columns have none. Where
the bounds are known to be those of the numbers, the rest may also lie apart, as the never and the always of a question
do: with one to nine any codes side by side hold it alike. What the number of records leaves for them is counted too.
Where codes stand out as a run of several alone, its sum is known better than what each of them holds. Post-processing
of noisy counts: no record is read.
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

_ANYWHERE = 0.1
"""How probable it is that records lie in any codes side by side, within bounds that are known."""
_FEWEST, _MOST = 2, 16
"""Codes of a column with more of them, and the most on one side of the one that stands out: among more of them a whole
body may be hidden, far from it."""


def beside_one(
    counts: np.ndarray,
    scale: float,
    runs: np.ndarray | None = None,
    noise: np.ndarray | None = None,
    *,
    left: float = 0.0,
    left_error: float = math.inf,
    anywhere: float = 0.0,
) -> np.ndarray:
    """Posterior means of the counts of the codes beside the only one that stands out.

    Args:
        counts: float64 [n], noisy, the nearest code first.
        scale: the standard deviation of the noise of each.
        runs: int64 [n], the run of each, whose sum is known better; each by itself when None.
        noise: float64 [runs], by number of run, the standard deviation of the noise of its sum.
        left: how many records the number of records and all other counts leave for them.
        left_error: the standard deviation of the error in it; infinite where the number of records is not known.
        anywhere: how probable it is, where there are any records, that they lie in any codes side by side.

    Returns:
        float64 [n], none below 0.
    """
    shapes, logs = _shapes(len(counts), anywhere)
    sizes = shapes.sum(axis=1)
    if runs is None or noise is None:
        estimated, information = shapes @ counts / scale**2, sizes / scale**2
    else:
        estimated, information = _with_sums(shapes, counts, _WITHIN * scale, runs, noise)
    estimated, information = estimated + sizes * left / left_error**2, information + (sizes / left_error) ** 2
    deviations = 1 / np.sqrt(information)  # of the number of records of each code
    found = [
        explained(estimate, MEAN * scale / (size * deviation))
        for estimate, size, deviation in zip(
            (estimated * deviations).tolist(), sizes.tolist(), deviations.tolist(), strict=True
        )
    ]
    better, means = (np.array(part) for part in zip(*found, strict=True))
    logs = logs + better
    likely = np.exp(logs - np.logaddexp.reduce([*logs, 0.0]))  # the last one is of no records
    return np.asarray((likely * means * deviations) @ shapes)


def _shapes(codes: int, anywhere: float) -> tuple[np.ndarray, np.ndarray]:
    """float64 [k, codes], as 1 the codes that may hold the rest alike, and float64 [k], the log of how probable."""
    begin, end = np.triu_indices(codes)
    prior = np.full(len(begin), anywhere / len(begin))
    nearest = begin == 0
    prior[nearest] += (1 - anywhere) * 2.0 ** -(end[nearest] + 1) / (1 - 2.0**-codes)
    begin, end, prior = begin[prior > 0, None], end[prior > 0, None], prior[prior > 0]
    code = np.arange(codes)
    return ((begin <= code) & (code <= end)).astype(float), np.log(prior)


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
    at = _only_one(smoothed)
    if at is None:
        return smoothed
    found = smoothed.counts.copy()
    if only_code(smoothed) is None:
        for run in np.flatnonzero(smoothed.stands_out).tolist():
            inside = np.flatnonzero(smoothed.runs.of_cell == run)
            if len(inside) > 1:
                inside = inside if inside[0] > at else inside[::-1]
                found[inside] = _within_run(found[inside], counts[inside], _WITHIN * scale)
        return replace(smoothed, counts=found)
    for side in (np.arange(at)[::-1], np.arange(at + 1, len(counts))):
        if len(side):
            found[side] = of_side(smoothed, counts, scale, side, _ANYWHERE)
    return replace(smoothed, counts=found)


def only_code(smoothed: Smoothed) -> int | None:
    """The only one of a few codes that stands out by itself, where nothing else does but runs beside it."""
    at, codes = _only_one(smoothed), len(smoothed.runs.of_cell)
    return None if at is None or max(at, codes - 1 - at) > _MOST else at


def _only_one(smoothed: Smoothed) -> int | None:
    """The same of any number of codes above two."""
    runs, out = smoothed.runs, np.flatnonzero(smoothed.stands_out)
    single = out[np.bincount(runs.of_cell)[out] == 1]
    if len(single) != 1 or (np.abs(out - single[0]) > 1).any() or len(runs.of_cell) <= _FEWEST:
        return None
    return int(np.flatnonzero(runs.of_cell == single[0])[0])


def of_side(
    smoothed: Smoothed, counts: np.ndarray, scale: float, side: np.ndarray, anywhere: float = 0.0
) -> np.ndarray:
    """What is believed of the codes on one side of the only one that stands out.

    Args:
        smoothed, counts, scale: see `with_codes_beside_one`.
        side: int64 [k], these codes, the nearest first.
        anywhere: see `beside_one`.
    """
    runs = smoothed.runs
    left, error = smoothed.left_for(np.isin(np.arange(len(runs.totals)), runs.of_cell[side]))
    return beside_one(
        counts[side], scale, runs.of_cell[side], runs.noise, left=left, left_error=error, anywhere=anywhere
    )


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
