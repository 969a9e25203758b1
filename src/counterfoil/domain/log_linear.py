"""Densities that are log-linear within a bin, as the counts of its neighbors suggest."""

from __future__ import annotations

import math

import numpy as np

_STEEPEST = 40.0
"""The largest tilt: the density at one end of a bin is at most exp(40) times that at its other end."""
_SPIKE = 4.0
"""How often denser than what lies beside it a bin is that says nothing about its neighbors."""
_LEAST = 0.5
"""A bin with fewer records counts as having that many, so that its density has a logarithm."""


def tilts(spans: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The tilt of each bin: the log of the density at its right end over that at its left end.

    Between two neighbors the log density follows the lines from center to center, and only where it goes one way; at a
    peak or in a valley a bin stays even. The first and the last bin meet the neighbor's density and decay from there to
    the end of the line, as their count demands. Where they are denser than their neighbor, only the half next to it is
    known to fall towards it. Bins far denser than both neighbors, such as a 0 that many records hold, are even, and are
    passed over by their neighbors.

    Args:
        spans: float64 [n], the width of each bin, which lie side by side; 0 for a single point.
        counts: float64 [n], the number of records in each.
    """
    result = np.zeros(len(spans))
    ends = np.cumsum(spans)
    usable = _usable(spans, counts)
    if len(usable) < 2:
        return result
    starts, stops = (ends - spans)[usable], ends[usable]
    centers = (starts + stops) / 2
    logs = np.log(np.maximum(counts[usable], _LEAST) / spans[usable])
    slopes = np.diff(logs) / np.diff(centers)
    one_way = slopes[:-1] * slopes[1:] > 0
    left, right = slopes[:-1] * (centers - starts)[1:-1], slopes[1:] * (stops - centers)[1:-1]
    inner = np.where(one_way, left + right, 0.0)
    widths = stops - starts
    first = -_end_tilt(-slopes[0], -(inner[0] if len(inner) else 0.0), widths[0], widths[1], logs[0] - logs[1])
    last = _end_tilt(slopes[-1], inner[-1] if len(inner) else 0.0, widths[-1], widths[-2], logs[-1] - logs[-2])
    result[usable] = np.clip(np.concatenate([[first], inner, [last]]), -_STEEPEST, _STEEPEST)
    return result


def _end_tilt(slope: float, inner: float, width: float, inner_width: float, drop: float) -> float:
    """The tilt of the outermost bin, in the direction of the end of the line.

    Args:
        slope: of the log density from the center of the bin before.
        inner: the tilt of the bin before.
        width: of the outermost bin.
        inner_width: of the bin before.
        drop: log of the outermost bin's density over that of the bin before.
    """
    if slope >= 0:
        return slope * width / 2
    # The height where the two bins meet: by the tilt of the bin before, or along the line between the centers.
    reached = inner / 2 if inner < 0 else slope * min(inner_width, width) / 2
    return decay(math.exp(drop - max(reached, drop)))


def decay(share: float) -> float:
    """The tilt b <= 0 of a density whose mean is `share` of its height where it begins: (exp(b) - 1) / b = share."""
    if share >= 1.0:
        return 0.0
    low, high = -1.0 / max(share, 1 / _STEEPEST), 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.expm1(middle) / middle < share else (low, middle)
    return max(low, -_STEEPEST)


def _usable(spans: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which bins say something about their neighbors: those that are no points and no spikes."""
    wide = np.flatnonzero(spans > 0)
    if len(wide) < 2:
        return wide
    widths, density = spans[wide], np.maximum(counts[wide], _LEAST) / spans[wide]
    beside = np.maximum(np.append(0.0, density[:-1]), np.append(density[1:], 0.0))
    spike = density > _SPIKE * beside
    # At an end of the line a steep decay looks the same; only a narrow bin is taken for a spike there.
    for end, neighbor in ((0, 1), (-1, -2)):
        spike[end] &= _SPIKE * widths[end] < widths[neighbor]
    return wide[~spike]


def positions(tilt: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The place in a bin, from 0 to 1, below which lie `shares` of a density of that tilt.

    Args:
        tilt: float64 [n].
        shares: float64 [n], from 0 to 1; uniform ones give draws from the density.
    """
    even = np.abs(tilt) < 1e-9
    safe = np.where(even, 1.0, tilt)
    # Written so that neither exp(tilt) nor a difference of nearly equal numbers is needed.
    rising = safe > 0
    beyond = np.where(rising, 1.0 - shares, shares)
    # The end of a steep bin has a share too small for a float to tell from none.
    past = np.maximum(beyond * np.expm1(-np.abs(safe)), np.nextafter(-1.0, 0.0))
    place = np.log1p(past) / -np.abs(safe)
    return np.clip(np.where(even, shares, np.where(rising, 1.0 - place, place)), 0.0, 1.0)


def shares_below(tilt: float, places: np.ndarray) -> np.ndarray:
    """The share of a density of that tilt that lies below each of `places`, from 0 to 1 within the bin."""
    if abs(tilt) < 1e-9:
        return places
    if tilt > 0:
        return 1.0 - shares_below(-tilt, 1.0 - places)
    return np.expm1(tilt * places) / math.expm1(tilt)


def mean_places(tilt: np.ndarray) -> np.ndarray:
    """The mean place in a bin, from 0 to 1, under a density of that tilt: what `positions` gives in the mean.

    Args:
        tilt: float64 [n], at most `_STEEPEST` away from 0.
    """
    even = np.abs(tilt) < 1e-2  # the difference of two large numbers, whose series is exact to eight digits there
    safe = np.where(even, 1.0, tilt)
    return np.asarray(np.where(even, 0.5 + tilt / 12, -1 / np.expm1(-safe) - 1 / safe))
