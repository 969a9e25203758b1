"""Where noisy counts along a line show that there are records: what earlier answers say, and no record itself."""

from __future__ import annotations

import math

import numpy as np

FALSE_ALARMS = 0.01
"""How probable it may be, for a whole table, that anywhere something shows that is noise alone: a kind, or a place of
bounds. For single numbers it is half as much (`sure_of_points`), and as much again for leading zeros, of which each
column has 14 lines with at most 28 sums each: fewer than `SUMS`."""

SUMS = 400
"""Of one column's places, at most: three lines of 43 places and one of 33, with at most 88 sums each, and 23 single
ones. The sum of the lines is looked at only where one of them shows."""

LIKELY = 1.5
"""Deviations of noise that a sum must exceed beside places that are sure. A wrong place there is a near one, which
costs a few codes, and a place that is left out costs all records there, which are clamped."""

LONGER = 0.4
"""So many more for each doubling of what is added at once: a wrong step of many places costs as many codes."""

NEXT = 0.5
"""The same for each of the next `NEAR` places, which costs one code: the first is one too many in one of three cases. A
rare code next to frequent ones that is left out costs more: all its records."""

NEAR = 2
"""What is likely and not sure adds at most one part in so many to what was found, or so many places."""

NEGLIGIBLE = 0.005
"""A share of the records that may be clamped where it is not sure that there are any."""

RARE = 0.001
"""The same share for the next places."""


def sure(columns: int) -> float:
    """How many deviations of its noise a sum of places must exceed, so that what shows of so many columns is real.

    Each of the sums of all columns exceeds x deviations by noise alone with probability P(N(0, 1) > x), so any of them
    does with at most `SUMS` times `columns` times that: half of `FALSE_ALARMS`, whatever the dependence. 4.74 for 12
    columns.
    """
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARMS / 2 / (SUMS * columns)))


_SUMS_WITHOUT_UNITS, _SUMS_OF_A_UNIT = 357, 334
"""Of `SUMS`, with the 23 single ones, and those of the four lines of the numbers with one unit."""


def sure_of_units(columns: int, units: int) -> float:
    """The same for numbers with units, of which each has lines of its own: what `SUMS` leaves is divided by theirs.

    So what is sure without units is as sure beside them: 5.7 for 12 columns and 24 units.
    """
    from scipy.special import ndtri

    left = FALSE_ALARMS / 2 * (1 - _SUMS_WITHOUT_UNITS / SUMS)
    return float(-ndtri(left / (_SUMS_OF_A_UNIT * units * columns)))


def sure_of(counts: int) -> float:
    """The same for the sums of so many counts of intervals, of all columns together: the other half."""
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARMS / 2 / (2 * counts)))


def sure_of_points(candidates: int) -> float:
    """The same for single numbers of which so many are tried, so that one is called frequent by noise alone with at
    most half of the probability `FALSE_ALARMS`; it costs a code that stays nearly empty."""
    from scipy.special import ndtri

    return float(-ndtri(FALSE_ALARMS / 2 / max(candidates, 1)))


def support(counts: np.ndarray, deviation: float | np.ndarray, least: float) -> tuple[int, int] | None:
    """The first and the last place where there are records, or None where none shows.

    The answer reaches from the first to the last interval of `shown`. Any interval beyond holds fewer records than the
    noise hides: a quantile further out would be one of the noise.

    Args:
        counts: int64 [n], in the order of the line, each with independent noise.
        deviation: of the noise of each, one for all or float64 [n].
        least: deviations that a sum must exceed (`sure`).
    """
    found = shown(counts, deviation, least)
    return (min(start for start, _, _ in found), max(end for _, end, _ in found) - 1) if found else None


def masses(counts: np.ndarray, deviation: float | np.ndarray, least: float) -> np.ndarray:
    """float64 [n]: about how many records are at each place of what shows, 0 elsewhere."""
    result = np.zeros(len(counts))
    for start, end, total in shown(counts, deviation, least):
        result[start:end] = total / (end - start)
    return result


def shown(counts: np.ndarray, deviation: float | np.ndarray, least: float) -> list[tuple[int, int, float]]:
    """The narrowest intervals whose sums are surely no noise: where each starts, where it ends, and its sum.

    Sums over dyadic intervals are compared with their noise: few records in many cells show in a long sum, many in one
    cell in a short one. Of the intervals that show, those are left without a part that does.
    """
    sums, length, below = counts.astype(float), 1, np.zeros(len(counts), dtype=bool)
    variances = _variances(counts, deviation)
    found = []
    while True:
        shows = sums > least * np.sqrt(variances)
        found += [
            (place * length, min((place + 1) * length, len(counts)), float(sums[place]))
            for place in np.flatnonzero(shows & ~below).tolist()
        ]
        if len(sums) == 1:
            return found
        sums, variances, below, length = _pairs(sums), _pairs(variances), _pairs(shows | below) > 0, 2 * length


def any_shows(lines: np.ndarray, deviation: float, least: float) -> np.ndarray:
    """bool [lines]: whether `shown` finds something in each of the lines [lines, n], all at once."""
    sums, length = lines.astype(float), 1
    found = np.zeros(len(lines), dtype=bool)
    while True:
        found |= (sums > least * deviation * np.sqrt(length)).any(axis=1)
        if sums.shape[1] == 1:
            return found
        padded = np.pad(sums, ((0, 0), (0, sums.shape[1] % 2)))
        sums, length = padded.reshape(len(lines), -1, 2).sum(axis=2), 2 * length


def extended(
    counts: np.ndarray,
    found: tuple[int, int],
    within: tuple[int, int],
    deviation: float | np.ndarray,
    records: float,
    least: float,
    narrow: np.ndarray | None = None,
) -> tuple[int, int]:
    """From the first to the last place that is found, and on either side as far as more records are likely.

    Args:
        counts: int64 [n], as for `support`.
        found: the first and the last place.
        within: places beyond which nothing is added.
        deviation: of the noise of each count, one for all or float64 [n].
        records: about how many there are in all.
        least: as for `support`.
        narrow: bool [n]: which places cost few codes, so that `NEXT` is enough for them; all where None.
    """
    cheap, variances = np.ones(len(counts), dtype=bool) if narrow is None else narrow, _variances(counts, deviation)
    (first, last), (lowest, highest) = found, within
    near = max((last - first + 1) // NEAR, NEAR)
    after, before = slice(last + 1, highest + 1), slice(lowest, max(first, lowest))
    above = _likely(counts[after], cheap[after], variances[after], records, near, least)
    below = _likely(counts[before][::-1], cheap[before][::-1], variances[before][::-1], records, near, least)
    return first - below, last + above


def _likely(
    counts: np.ndarray, cheap: np.ndarray, variances: np.ndarray, records: float, near: int, least: float
) -> int:
    """How many of the first `counts` are added, step by step: each step is the shortest that stands out."""
    reached = 0
    while True:
        rest = np.cumsum(counts[reached:].astype(float))
        if not len(rest):
            return reached
        lengths = 2 ** np.arange(len(rest).bit_length())
        sums, noises = rest[lengths - 1], np.sqrt(np.cumsum(variances[reached:])[lengths - 1])
        likely = np.minimum(LIKELY + LONGER * np.log2(lengths), least)
        asked = np.where(reached + lengths <= near, likely, least)
        limits = np.clip(NEGLIGIBLE * records, asked * noises, least * noises)
        if reached < NEAR and cheap[reached]:
            limits[0] = np.clip(RARE * records, NEXT * noises[0], least * noises[0])
        steps = lengths[sums > limits]
        if not len(steps):
            return reached
        reached += int(steps[0])


def best_score(counts: np.ndarray, deviation: float) -> float:
    """By how many deviations the largest of the dyadic sums exceeds 0."""
    sums, length, best = counts.astype(float), 1, -math.inf
    while True:
        best = max(best, float(sums.max()) / (deviation * math.sqrt(length)))
        if len(sums) == 1:
            return best
        sums, length = _pairs(sums), 2 * length


def _variances(counts: np.ndarray, deviation: float | np.ndarray) -> np.ndarray:
    """float64 [n]: of the noise of each count."""
    return np.broadcast_to(np.square(deviation, dtype=float), counts.shape)


def _pairs(values: np.ndarray) -> np.ndarray:
    """Sums of two neighbors each; the last alone where there is an odd number."""
    padded = np.append(values.astype(float), [0.0] * (len(values) % 2))
    return np.asarray(padded.reshape(-1, 2).sum(axis=1))
