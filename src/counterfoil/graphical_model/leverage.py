"""How much more evidence a count needs the farther out it lies, because the farther it moves the mean.

Noise stands out somewhere by chance. Near the body of a column that does little; at a million, a hundredth of the
records that noise pretends moves a mean of 2,000 by 10,000. So the chance that noise stands out at a place is shared
out by leverage: where the mean is moved L times as much as by a record of the body, it is 1 / L of what it is there.

Formal guarantee: a Gaussian of mean 0 exceeds d deviations with probability at most exp(-d^2 / 2) / 2 for d >= 0. With
d^2 = k^2 + 2 log L, that is at most exp(-k^2 / 2) / (2 L), so that the sum over n places of probability times leverage
is at most n exp(-k^2 / 2) / 2, half of `runs.ANY_CHANCE` for the k of `runs.deviations_to_stand_out`. Laplace noise
exceeds d deviations with probability exp(-sqrt(2) d) / 2, so that d = k + log(L) / sqrt(2) does the same.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from counterfoil.graphical_model.runs import MANY, Runs

_FEW = 0.5
"""Where runs that stand out hold a smaller part of the records, they don't say where most of these are."""


def shown(
    runs: Runs, spans: np.ndarray, centers: np.ndarray | None, records: float, records_error: float
) -> tuple[Runs, bool]:
    """The runs with what is taken to stand out, and whether that says nothing about what lies beside it.

    Where what stands out holds few of the records, it is the top of the body or a value that many share. The densest
    part of the column tells: it holds most of them, or no part does. Then, of many cells, all the rest is looked at as
    a whole.

    Args:
        runs: of n cells.
        spans: float64 [n], the width of each cell.
        centers: float64 [n], the number in the middle of each cell; None where cells have no sizes.
        records: in all cells, as other counts than theirs say.
        records_error: the standard deviation of the error in it; infinite where they say nothing.
    """

    def few(found: Runs) -> bool:
        return records > 2 * records_error and float(found.totals[found.stands_out].sum()) < _FEW * records

    out, many = runs.stands_out, len(runs.of_cell) >= MANY
    if not out.any() or (few(runs) and (np.bincount(runs.of_cell)[out] > 1).all()):
        densest = with_densest(runs, centers)
        if not (many and out.any() and few(densest)):
            return densest, many and few(densest)
    demanded = demanding(runs, np.cumsum(spans) - spans / 2 if centers is None else centers)
    return demanded, many and few(demanded)


def demanding(runs: Runs, centers: np.ndarray) -> Runs:
    """The same runs with a threshold for each, by its leverage on the mean.

    From the median of what stands out, thresholds are set outward on both sides. The leverage of a run is its distance
    from the median over the mean distance of the records that were accepted nearer to it. A run is accepted that
    reaches its own threshold, alone or together with runs beyond it: a tail whose parts stand out only as a whole. One
    that stands out beside an accepted one needs no more: the body goes on there.

    Args:
        runs: of n cells.
        centers: float64 [n], the number in the middle of each cell, in the column's unit.
    """
    out = np.flatnonzero(runs.stands_out)
    if not len(out):
        return runs
    sizes = np.bincount(runs.of_cell)
    places = np.bincount(runs.of_cell, centers) / sizes
    held = np.cumsum(runs.totals[out])
    middle = int(out[np.searchsorted(held, held[-1] / 2)])
    distance = np.abs(places - places[middle])
    thresholds = np.broadcast_to(runs.threshold, len(places)).astype(np.float64)
    records, moved, accepted = float(runs.totals[middle]), 0.0, {middle}
    for run in sorted(np.delete(out, np.searchsorted(out, middle)).tolist(), key=lambda other: float(distance[other])):
        leverage = distance[run] * records / moved if moved > 0 else 1.0
        needed = _with_leverage(float(thresholds[run]), max(leverage, 1.0), laplace=runs.laplace)
        beyond = slice(run, None) if run > middle else slice(run, None, -1)
        totals, noise = np.cumsum(runs.totals[beyond]), np.sqrt(np.cumsum(runs.noise[beyond] ** 2))
        beside = {run - 1, run + 1} & accepted
        if beside or (totals >= needed * noise).any():
            accepted.add(run)
            records += float(runs.totals[run])
            moved += float(runs.totals[run] * distance[run])
        else:
            thresholds[run] = np.inf
    return replace(runs, threshold=thresholds)


def _with_leverage(threshold: float, leverage: float, *, laplace: bool) -> float:
    """The deviations that are exceeded `leverage` times less often than `threshold`."""
    nats = math.log(leverage)
    return threshold + nats / math.sqrt(2) if laplace else math.sqrt(threshold**2 + 2 * nats)


def with_densest(runs: Runs, centers: np.ndarray | None) -> Runs:
    """The runs, where none stands out: those side by side whose sum is the most deviations of its noise stand out as
    one, so that something says where the records are.

    Beyond the median cell, evidence counts less by leverage, as in `demanding`: twice its log in squared deviations.
    Where cells have no sizes (`centers` is None), it counts more the fewer runs of the same length there are: noise
    alone reaches sqrt(2 log k) deviations in one of k.
    """
    cells = np.append(0, np.cumsum(np.bincount(runs.of_cell)))
    sums, variances = np.append(0.0, np.cumsum(runs.totals)), np.append(0.0, np.cumsum(runs.noise**2))
    starts, stops = np.triu_indices(len(sums), 1)
    score = (sums[stops] - sums[starts]) / np.sqrt(variances[stops] - variances[starts])
    if score.max() <= 0:
        return runs
    if centers is None:
        best = int(np.argmax(score - np.sqrt(2 * np.log(cells[-1] / (cells[stops] - cells[starts])))))
    else:
        far = np.append(0.0, np.cumsum(np.bincount(runs.of_cell, np.abs(centers))))
        away = (far[stops] - far[starts]) / (cells[stops] - cells[starts])
        typical = float(np.median(np.abs(centers)))
        leverage = np.maximum(away / typical, 1.0) if typical > 0 else np.ones(len(away))
        best = int(np.argmax(np.where(score > 0, score**2 - 2 * np.log(leverage), -math.inf)))
    inside = np.arange(len(runs.totals))
    joined = np.searchsorted(np.array([starts[best], stops[best]]), inside, side="right")
    keeps = np.where(joined == 1, starts[best], inside)
    number = np.unique(keeps, return_inverse=True)[1]
    noise = np.sqrt(np.bincount(number, runs.noise**2))
    threshold = np.full(len(noise), math.inf)
    threshold[number[starts[best]]] = 0.0
    return Runs(number[runs.of_cell], np.bincount(number, runs.totals), noise, threshold, runs.laplace)
