"""Where noisy counts along a line show that there are records: what earlier answers say, and no record itself."""

from __future__ import annotations

import math

import numpy as np

SURE = 4.0
"""Standard deviations of the noise that a sum must exceed. A line of 256 counts has 511 sums, of which any reaches it
by chance with probability below 511 P(N(0, 1) > 4) < 0.017."""

LIKELY = 1.5
"""The same for what lies beside places that are sure and may be more than `NEGLIGIBLE`: a wrong place there is a near
one, which costs a few codes, and a place that is left out costs all records there, which are clamped."""

NEGLIGIBLE = 0.005
"""A share of the records that may be clamped where it is not sure that there are any."""


def support(counts: np.ndarray, deviation: float) -> tuple[int, int] | None:
    """The first and the last place where there are records, or None where none shows.

    The answer reaches from the first to the last interval of `shown`. Any interval beyond holds fewer records than the
    noise hides: a quantile further out would be one of the noise.

    Args:
        counts: int64 [n], in the order of the line, each with independent noise.
        deviation: of the noise of one.
    """
    found = shown(counts, deviation)
    return (min(start for start, _, _ in found), max(end for _, end, _ in found) - 1) if found else None


def mass(counts: np.ndarray, deviation: float) -> float:
    """About how many records there are where they show."""
    return math.fsum(total for _, _, total in shown(counts, deviation))


def shown(counts: np.ndarray, deviation: float) -> list[tuple[int, int, float]]:
    """The narrowest intervals whose sums are surely no noise: where each starts, where it ends, and its sum.

    Sums over dyadic intervals are compared with their noise: few records in many cells show in a long sum, many in one
    cell in a short one. Of the intervals that show, those are left without a part that does.
    """
    sums, length, below = counts.astype(float), 1, np.zeros(len(counts), dtype=bool)
    found = []
    while True:
        lengths = np.minimum(length, len(counts) - length * np.arange(len(sums)))
        shows = sums > SURE * deviation * np.sqrt(lengths)
        found += [
            (place * length, min((place + 1) * length, len(counts)), float(sums[place]))
            for place in np.flatnonzero(shows & ~below).tolist()
        ]
        if len(sums) == 1:
            return found
        sums, below, length = _pairs(sums), _pairs(shows | below) > 0, 2 * length


def extended(
    counts: np.ndarray, found: tuple[int, int], within: tuple[int, int], deviation: float, records: float
) -> tuple[int, int]:
    """From the first to the last place that is found, and on either side as far as more records are likely.

    Args:
        counts: int64 [n], as for `support`.
        found: the first and the last place.
        within: places beyond which nothing is added.
        deviation: of the noise of one count.
        records: about how many there are in all.
    """
    (first, last), (least, most) = found, within
    above = _likely(counts[last + 1 : most + 1], deviation, records)
    return first - _likely(counts[least : max(first, least)][::-1], deviation, records), last + above


def _likely(counts: np.ndarray, deviation: float, records: float) -> int:
    """How many of the first `counts` are added, step by step: each step is the shortest that stands out."""
    reached = 0
    while True:
        rest = np.cumsum(counts[reached:].astype(float))
        lengths = 2 ** np.arange(len(rest).bit_length())
        sums, noises = rest[lengths - 1], deviation * np.sqrt(lengths)
        steps = lengths[sums > np.clip(NEGLIGIBLE * records, LIKELY * noises, SURE * noises)]
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


def _pairs(values: np.ndarray) -> np.ndarray:
    """Sums of two neighbors each; the last alone where there is an odd number."""
    padded = np.append(values.astype(float), [0.0] * (len(values) % 2))
    return np.asarray(padded.reshape(-1, 2).sum(axis=1))
