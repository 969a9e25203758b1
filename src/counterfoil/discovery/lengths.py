"""From noisy counts of how far two columns of days are apart to a length that takes the place of the later one.

Bins of an admission and of a discharge are weeks or months wide, and a stay takes days: of two dates that were bought
each by itself half of the stays in a copy end before they begin. Where one date surely comes after another, and mostly
soon, what lies between them is counted instead (`schema.between`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from counterfoil.curator.queries.apart import Apart, Dated
from counterfoil.discovery.outwards import integers
from counterfoil.discovery.votes import codes_counted
from counterfoil.noise.shown_counts import extended, masses, support
from counterfoil.schema.discovered import AT_MOST, Kind, Length

_OCTAVES: Mapping[Kind, int] = {"date": 16, "datetime": 27}
"""Powers of two up to which lengths are counted, in `_UNITS`: of both they make about two hundred years."""
_UNITS: Mapping[Kind, float] = {"date": 1.0, "datetime": 60e6}
"""The shortest length that is distinguished, in days and in microseconds."""
_MICROSECONDS = 1e6

_WRONG = 0.01
"""A share of the records: where more than so many surely lie on the other side, nothing says which date comes first."""
_UNSEEN = 0.25
"""Where noise may hide such a share of the records on the other side, neither does anything."""
_ALONE = 0.02
"""A share of the later dates of which no length shows: most have no earlier date beside them, and are lost with one."""
_MOST, _SHORT = 0.75, 0.25
"""Where so many lengths are at most such a part of all the time that the later dates span, bins of dates lose them."""
_ROOM = 0.02
"""Where noise may hide such a share of the records in the next octave, it is taken in: codes beyond all cost little."""
_SURE, _SURELY = 2.0, 3.0
"""Deviations of noise that it may hide, and by which one number must exceed another, so that they differ."""


@dataclass(frozen=True, eq=False)
class CountedApart:
    """What was answered about two columns.

    Args:
        apart: where it was counted how far they are apart.
        counts: float64 [size], noisy.
        deviation: of the noise of each.
    """

    apart: Apart
    counts: np.ndarray
    deviation: float

    def beside(self, other: CountedApart) -> CountedApart:
        """With another answer to the same question, each weighted by its precision."""
        one, two = self.deviation**-2.0, other.deviation**-2.0
        counts = (one * self.counts + two * other.counts) / (one + two)
        return replace(self, counts=counts, deviation=(one + two) ** -0.5)

    @property
    def directions(self) -> tuple[Direction, Direction]:
        """With the first before the last, and the other way round."""
        first, last = self.apart.columns
        zero = self.apart.edges.index(0.0) + 1
        before, same, after = np.split(self.counts, [zero, zero + 1])
        ends = np.array(self.apart.edges[zero:])
        return (
            Direction(first, last, np.concatenate([same, after]), before, ends, includes=False),
            Direction(last, first, np.concatenate([same, before[::-1]]), after, np.append(0.0, ends), includes=True),
        )


@dataclass(frozen=True, eq=False)
class Direction:
    """The lengths from one column to another, and what speaks against that order.

    Args:
        first, last: their names.
        lengths: float64 [n], noisy counts: of the shortest length first, of which the last has no end.
        wrong: float64, those of records in which the last comes before the first.
        ends: float64 [n - 1], of all but the last.
        includes: whether a length that is an end lies before it.
    """

    first: str
    last: str
    lengths: np.ndarray
    wrong: np.ndarray
    ends: np.ndarray
    includes: bool


def pairs_of(kinds: Mapping[str, Kind], formats: Mapping[str, str]) -> tuple[Apart, ...]:
    """The columns of days, and those of moments, that follow each other in the table's order: each with the next.

    Tables state what belongs together side by side. All pairs would make the noise of d dates as large as that of their
    d (d - 1) / 2 lengths.

    Args:
        kinds: of the columns whose bounds are open, in order.
        formats: of the dates among them, as `strftime` writes them; empty for those of a storage.
    """
    return tuple(
        Apart(_dated(first, kind, formats), _dated(last, kind, formats), _edges(kind))
        for kind in _UNITS
        for first, last in pairwise([name for name, one in kinds.items() if one == kind])
    )


def length_of(
    counted: CountedApart, kind: Kind, least: float, *, spans: Mapping[str, float], present: Mapping[str, tuple]
) -> Length | None:
    """What lies between two columns, where it says more than the later one; None where that is not known.

    Args:
        counted: what was answered about them.
        kind: of both.
        least: how many deviations a sum of counts must exceed (`shown_counts.sure_of`).
        spans: of each column, how far its bounds are apart, in days or microseconds.
        present: of each column, about how many cells are days, with the deviation of the noise.
    """
    deviation = counted.deviation
    way = min(counted.directions, key=lambda one: float(masses(one.wrong, deviation, least).sum()))
    if (found := support(way.lengths, deviation, least)) is None:
        return None
    records, error = present[way.last]
    last = extended(way.lengths, found, (0, len(way.lengths) - 1), deviation, records, least)[1]
    total = float(way.lengths[: last + 1].sum())
    if not _is_ordered(way, total, deviation, least) or last >= len(way.ends):
        return None
    # Those without an earlier date, with a later one, or beyond: of the lengths that show the noise is least.
    rest, noise = records - total, math.hypot(deviation * math.sqrt(last + 1), error)
    if rest > max(_ALONE * records, _SURELY * noise):
        return None
    if _quantile(way, last) > _SHORT * spans[way.last]:
        return None
    if last + 2 < len(way.ends) and _SURE * math.sqrt(2) * deviation > _ROOM * total:
        last += 2
    upper = max(_greatest(way, last, kind), 1.0)
    beyond = way.lengths[last + 1 :]
    below, above = (
        max(float(part.sum()), 0.0) + AT_MOST * deviation * math.sqrt(len(part)) for part in (way.wrong, beyond)
    )
    alone = max(rest, 0.0) + AT_MOST * noise
    return Length(way.first, way.last, kind, integers(0.0, upper)[1], total, below, above, deviation, alone)


def independent(lengths: Iterable[Length]) -> tuple[Length, ...]:
    """Those of which none is counted twice: a column follows from one other, and never from itself."""
    kept: dict[str, Length] = {}
    for one in lengths:
        origin = one.first
        while origin in kept:
            origin = kept[origin].first
        if one.last not in kept and origin != one.last:
            kept[one.last] = one
    return tuple(kept.values())


def _dated(name: str, kind: Kind, formats: Mapping[str, str]) -> Dated:
    written = formats.get(name, "")
    return Dated(name, codes_counted(kind, written), written.startswith("%m"), of_days=kind == "date")


def _edges(kind: Kind) -> tuple[float, ...]:
    """Two for each octave, on either side of zero."""
    lengths = sorted({float(round(2 ** (half / 2))) for half in range(2 * _OCTAVES[kind] + 1)})
    ends = [length * _UNITS[kind] for length in lengths]
    return (*(-end for end in reversed(ends)), 0.0, *ends)


def _greatest(way: Direction, last: int, kind: Kind) -> float:
    """The longest length up to an end, in days or seconds: days are whole, and moments nearly reach it."""
    if kind == "datetime":
        return float(way.ends[last]) / _MICROSECONDS
    return float(way.ends[last]) - (0.0 if way.includes else 1.0)


def _is_ordered(way: Direction, total: float, deviation: float, least: float) -> bool:
    """Whether hardly any record surely has the last before the first, and noise does not hide many."""
    hidden = _SURE * deviation * math.sqrt(len(way.wrong))
    return float(masses(way.wrong, deviation, least).sum()) <= _WRONG * total and hidden <= _UNSEEN * total


def _quantile(way: Direction, last: int) -> float:
    """The length that most records do not exceed: an end."""
    held = np.cumsum(np.maximum(way.lengths[: last + 1], 0.0))
    return float(way.ends[int(np.searchsorted(held, _MOST * held[-1]))])
