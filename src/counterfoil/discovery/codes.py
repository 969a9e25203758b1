"""Whether the integers of a column are codes: few of them hold nearly all records, and those between hold none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.votes import Votes
from counterfoil.schema.value_grid import places_of

CHANCES = 3.0
"""How many integers that nobody has may be taken for codes, on average; each costs a code that stays nearly empty."""

_RAREST = 0.05
"""The chance of one of few integers; 1.64 deviations of noise."""

REST = 0.1
"""A share of the records beyond the codes, with the standard error of that share, from which on they are none."""

EXPLAINED = 0.75
"""Of the records of each place of the coarse grid, as far as it shows, codes must hold so many: the few frequent ones
of a column of amounts hold few of those at their place."""

DOUBT = 3.0
"""Deviations of noise by which a place may hold more than its codes."""

_SHOWS = 2.0

_FEWEST = 2
"""Integers that surely show. Beside a single one, as of a flag that few have, nobody knows what the others are."""

_MEASURED = 8
"""Integers that surely show, at least half of those between them: they follow one another as a measure's do, of which
rarer ones are values as well."""

MOST = 100
"""Codes; a longer list is none that a code book has."""


def codes_of(
    intervals: Intervals,
    counts: np.ndarray,
    deviation: float,
    ends: tuple[float, float],
    vote: Votes,
    records: float,
    least: float,
) -> tuple[tuple[int, int], ...]:
    """The codes with their noisy counts, ascending; none where the numbers are not codes.

    They are looked for between the bounds, and as far beyond either as half of what lies between: a rare code next to
    frequent ones may be too rare to move a bound. A dense column, at least half of whose integers hold records, needs
    no list: each integer has a code of its own.

    Args:
        intervals: where the integers were counted.
        counts: int64 [intervals], noisy.
        deviation: of the noise of each.
        ends: the bounds that were found, whole numbers.
        vote: the noisy places of the column's cells.
        records: about how many cells are not missing.
        least: how many deviations a count must exceed to be surely none of noise.
    """
    values, places = integers_in(intervals, ends)
    if not len(values):
        return ()
    inside = np.asarray(counts, dtype=float)[places]
    frequent = np.flatnonzero(inside > _least(len(values)) * deviation)
    codes, held = values[frequent], inside[frequent]
    # The others' counts may be noise that was chosen for being large, and would seem to hold what others do.
    certain = held > least * deviation
    between = int((certain & (codes >= ends[0]) & (codes <= ends[1])).sum())
    if certain.sum() < _FEWEST or len(codes) > MOST or 2 * between >= ends[1] - ends[0] + 1:
        return ()
    if _follow(codes[certain]):
        return ()
    if not _are_all(codes[certain], held[certain], deviation, ends, vote, records):
        return ()
    return tuple((int(code), round(float(count))) for code, count in zip(codes, held, strict=True))


def codes_among(
    found: Sequence[tuple[float, int]], deviation: float, ends: tuple[float, float], vote: Votes, records: float
) -> tuple[tuple[int, int], ...]:
    """The same of integers too large to be counted one by one everywhere, of which these surely show; none where they
    are not all that shows.

    Args:
        found: the integers with their noisy counts, ascending.
        deviation, ends, vote, records: as for `codes_of`.
    """
    codes, held = np.array(found, dtype=float).reshape(-1, 2).T
    if not 0 < len(found) <= MOST or not _are_all(codes, held, deviation, ends, vote, records):
        return ()
    return tuple((int(code), count) for code, count in found)


def _follow(codes: np.ndarray) -> bool:
    """Whether ascending integers follow one another as months or counts do, however far the bounds are."""
    return len(codes) >= _MEASURED and 2 * len(codes) >= codes[-1] - codes[0] + 1


def _are_all(
    codes: np.ndarray, held: np.ndarray, deviation: float, ends: tuple[float, float], vote: Votes, records: float
) -> bool:
    """Whether codes that surely show leave few records, and at no place."""
    rest, error = records - float(held.sum()), deviation * math.sqrt(len(held))
    return max(rest, 0.0) + error <= REST * records and _explained(codes, held, deviation, vote, ends)


def integers_in(intervals: Intervals, ends: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The integers from the lower bound to the upper one and about them, and where each is counted.

    Nothing unless each integer between the bounds has an interval of its own.
    """
    starts, stops = np.array(intervals.edges[:-1]), np.array(intervals.edges[1:])
    single = stops - starts == 1
    if single[(starts >= ends[0]) & (starts <= ends[1])].sum() != ends[1] - ends[0] + 1:
        return np.empty(0), np.empty(0, dtype=np.int64)
    beyond = reach_of(ends)
    near = np.flatnonzero(single & (starts >= ends[0] - beyond) & (starts <= ends[1] + beyond))
    return starts[near], near + 1  # the first interval is below all edges


def reach_of(ends: tuple[float, float]) -> float:
    """How far beyond the bounds codes are looked for."""
    return float((ends[1] - ends[0] + 1) // 2)


def _least(integers: int) -> float:
    """How many deviations a count must exceed, so that few of so many empty ones do."""
    from scipy.special import ndtri

    return float(-ndtri(min(_RAREST, CHANCES / integers)))


def _explained(codes: np.ndarray, held: np.ndarray, deviation: float, vote: Votes, ends: tuple[float, float]) -> bool:
    """Whether the codes hold what shows at each place of the coarse grid between the bounds."""
    first, last = places_of(np.array(ends)).tolist()
    seen, places = vote.places("integer"), places_of(codes)
    for place in range(first, last + 1):
        if seen[place] <= _SHOWS * vote.deviation:
            continue
        own = float(held[places == place].sum())
        noise = math.hypot(vote.deviation, deviation * math.sqrt(int((places == place).sum())))
        if seen[place] - own > DOUBT * noise or own < EXPLAINED * seen[place] - noise:
            return False
    return True
