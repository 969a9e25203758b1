"""Integers of crowded intervals, counted one by one in a later question, so that a number that many hold shows.

Numbers that stand at the end of a scale, such as 501 for "501 or more", are not round, and the columns that have them
may be too wide to be counted one by one. An interval that surely holds records is: which ones are follows from earlier,
noisy answers, and a cell is still counted once at most, so that nothing is charged for it.
"""

from __future__ import annotations

import numpy as np

from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.points import integers_standing_out

FEW, MANY = 4096, 2**17
"""Integers of a column that are counted one by one, those of the fullest intervals: of most columns, and of those whose
numbers may be codes of many digits."""


def opened(intervals: Intervals, counts: np.ndarray, least: float, most: int = FEW) -> Intervals:
    """The same intervals, of which those that hold at least so many records are opened, the fullest first.

    Args:
        intervals: of a column of integers.
        counts: float64 [size], noisy.
        least: what a single number must hold to be seen.
        most: integers that are counted one by one.
    """
    edges = np.array(intervals.edges)
    widths, inner = np.diff(edges), counts[1 : len(edges)]
    chosen, left = np.zeros(len(widths), dtype=bool), float(most)
    for place in np.argsort(-inner).tolist():
        if inner[place] < least:
            break
        if widths[place] <= left:
            chosen[place], left = True, left - widths[place]
    if not (chosen & (widths > 1)).any():
        return intervals
    parts = [np.arange(edges[place], edges[place + 1]) for place in np.flatnonzero(chosen).tolist()]
    inside = np.searchsorted(edges, np.array(intervals.points), side="right") - 1
    points = [point for point, place in zip(intervals.points, inside.tolist(), strict=True) if not chosen[place]]
    found = np.unique(np.concatenate([edges, *parts]))
    return Intervals(intervals.column, intervals.codes, tuple(found.tolist()), tuple(points))


def opens(fine: Intervals, coarse: Intervals) -> bool:
    """Whether `fine` are intervals of `coarse` of which some are opened, and not all integers one by one."""
    return set(coarse.edges) <= set(fine.edges) and bool((np.diff(fine.edges) > 1).any())


def closed(fine: Intervals, counts: np.ndarray, coarse: Intervals) -> tuple[np.ndarray, np.ndarray]:
    """The counts of `coarse` that follow from those of `fine`, which opens some of its intervals.

    Returns:
        float64 [size], and float64 [size]: of how many counts each is the sum.
    """
    edges, intervals = np.array(coarse.edges), len(coarse.edges) + 1
    places = np.searchsorted(edges, np.append(-np.inf, fine.edges), side="right")
    result, parts = np.zeros(coarse.size), np.ones(coarse.size)
    result[:intervals] = np.bincount(places, counts[: len(places)], minlength=intervals)
    parts[:intervals] = np.bincount(places, minlength=intervals)
    own = dict(zip(fine.points, counts[len(places) :].tolist(), strict=True))
    for i, point in enumerate(coarse.points):
        if point not in own:
            own[point] = float(counts[np.searchsorted(fine.edges, point, side="right")])
            place = np.searchsorted(edges, point, side="right")
            result[place], parts[place] = result[place] - own[point], parts[place] - 1
        result[intervals + i] = own[point]
    return result, np.maximum(parts, 1.0)


def singles(intervals: Intervals) -> int:
    """How many integers have an interval of their own."""
    return int((np.diff(intervals.edges) == 1).sum())


def crowded(intervals: Intervals, counts: np.ndarray, deviation: float, least: float) -> tuple[tuple[float, int], ...]:
    """The integers of opened intervals that stand out of those beside them, with their noisy counts.

    Args:
        intervals: some of them opened.
        counts: float64 [size], noisy.
        deviation: of the noise of each.
        least: deviations by which a number must exceed the others.
    """
    edges = np.array(intervals.edges)
    alone = np.diff(edges) == 1
    starts = np.flatnonzero(alone & ~np.append(False, alone[:-1]))
    stops = np.flatnonzero(alone & ~np.append(alone[1:], False)) + 1
    return tuple(
        found
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        for found in integers_standing_out(edges[start:stop], counts[start + 1 : stop + 1], deviation, least)
    )


def seen_alone(intervals: Intervals, counts: np.ndarray, least: float) -> tuple[tuple[float, int], ...]:
    """The integers with at least so many records among those that are counted by themselves, ascending, with counts.

    Args:
        intervals: some of them opened.
        counts: float64 [size], noisy.
        least: records.
    """
    edges = np.array(intervals.edges)
    alone = np.flatnonzero(np.diff(edges) == 1)
    numbers = np.append(edges[alone], intervals.points)
    own = np.append(counts[alone + 1], counts[len(edges) + 1 :])
    found = np.flatnonzero(own >= least)
    return tuple(sorted((float(numbers[i]), round(float(own[i]))) for i in found.tolist()))
