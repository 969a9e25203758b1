"""A public grid on which every finite number has exactly one place, equally on both sides of zero."""

from __future__ import annotations

import math
import sys
from datetime import date
from itertools import pairwise

import numpy as np

BASE = 16.0
_EXPONENTS = range(-4, 16)
MAGNITUDES = tuple(BASE**exponent for exponent in _EXPONENTS)
"""Powers of two, so that they and comparisons with them are exact."""

REACH = len(MAGNITUDES) + 1
"""Places on either side of zero, which has one of its own: below all magnitudes, between any two, beyond all."""

CELLS = 2 * REACH + 1
_WHOLE_ENDS = (*(magnitude for magnitude in MAGNITUDES if magnitude >= 1), sys.float_info.max)
WHOLE_PLACES = np.array(
    [
        place
        for place in range(CELLS)
        if abs(place - REACH) != 1 and (place == REACH or MAGNITUDES[abs(place - REACH) - 2] >= 1)
    ]
)
"""The places that hold whole numbers."""

_OCTAVES = 10
_BEYOND = 2
_EPOCH = date(1970, 1, 1).toordinal()


def places_of(numbers: np.ndarray) -> np.ndarray:
    """int64 [n]: the place of each finite number, from 0 for the most negative ones to `CELLS - 1`.

    Zero, with either sign, is at `REACH`. A positive number x lies one place above for each magnitude of at most x,
    and one more; a negative one as many below.
    """
    steps = np.searchsorted(np.array(MAGNITUDES), np.abs(numbers), side="right") + 1
    return (REACH + np.sign(numbers).astype(np.int64) * steps).astype(np.int64)


def bounds_of(first: int, last: int) -> tuple[float, float]:
    """Between which numbers those at the places `first` to `last` lie, both ends included."""
    lower = -_outer(REACH - first) if first < REACH else _inner(first - REACH)
    upper = _outer(last - REACH) if last > REACH else 0.0 - _inner(REACH - last)
    return lower, upper


def _inner(steps: int) -> float:
    """The magnitude above which places so many steps from zero begin."""
    return MAGNITUDES[steps - 2] if steps >= 2 else 0.0


def _outer(steps: int) -> float:
    """The magnitude below which they end."""
    return 0.0 if steps == 0 else MAGNITUDES[steps - 1] if steps < REACH else sys.float_info.max


YEARS = (1900, 2100)
"""Whole numbers that lie between these alone are taken for years."""

_DECADE = 10


def fine_edges(first: int, last: int, cells: int, *, whole: bool, singles: bool = False) -> tuple[float, ...]:
    """Edges of about `cells` intervals where the numbers at the places `first` to `last` lie, and of all other places.

    The intervals are even between powers of two, and near zero. The next place further from zero is divided, too, for
    the few numbers that may lie there; each place beyond is one interval.

    Args:
        first, last: places, as `places_of` counts them.
        cells: how many intervals there may be between their bounds.
        whole: only whole numbers, as finer intervals would be empty.
        singles: whether each whole number between their bounds has an interval of its own, whatever `cells` is.
    """
    lower, upper = bounds_of(first, last)
    least = bounds_of(first - 1, first)[0] if 0 < first < REACH else lower
    most = bounds_of(last, last + 1)[1] if REACH < last < CELLS - 1 else upper
    inner = _corners(lower, upper)
    each = max(cells // max(len(inner) - 1, 1), 1)
    within = np.arange(lower, upper + 1) if singles else _even(inner, each)
    outer = [
        np.arange(low, high + 1) if whole and high - low <= BASE else _even(_corners(low, high), _BEYOND)
        for low, high in ((least, lower), (upper, most))
    ]
    parts = [within, *outer]
    ends = np.array([1.0, *MAGNITUDES, sys.float_info.max] if not whole else _WHOLE_ENDS)
    beyond = np.concatenate([-ends, [0.0], ends])
    edges = np.concatenate([*parts, beyond[(beyond < lower) | (beyond > upper)]])
    return tuple(np.unique(np.floor(np.append(edges, upper + 1)) if whole else edges).tolist())


def with_years(edges: tuple[float, ...], lower: float, upper: float) -> tuple[float, ...]:
    """The same intervals of whole numbers, those of decades among them where numbers may be years.

    Nearly all years that a table holds lie within one place of the grid, and in intervals that reach over centuries.

    Args:
        edges: whole numbers, ascending.
        lower, upper: the bounds of the places that show. Where these are others, nothing changes, nor where the
            intervals are as fine.
    """
    first, last = YEARS
    (place,) = {int(place) for place in places_of(np.array(YEARS))}
    decades = np.arange(first, last + 1, _DECADE, dtype=float)
    line = np.array(edges)
    outside = line[(line < first) | (line > last)]
    if (lower, upper) != bounds_of(place, place) or len(line) - len(outside) >= len(decades):
        return edges
    return tuple(np.concatenate([outside[outside < first], decades, outside[outside > last]]).tolist())


def _even(corners: list[float], each: int) -> np.ndarray:
    """Edges that divide the parts between `corners` into `each`."""
    # A difference of two corners may overflow: those of halves do not.
    parts = [np.linspace(a / 2, b / 2, each + 1) * 2 for a, b in pairwise(corners)]
    return np.clip(np.concatenate([np.array(corners), *parts]), -sys.float_info.max, sys.float_info.max)


def _corners(lower: float, upper: float) -> list[float]:
    """`lower`, `upper`, zero, and the powers of two between them that are not too small beside them."""
    top = max(abs(lower), abs(upper))
    if top == 0:
        return [0.0]
    highest = math.ceil(math.log2(top))
    powers = [2.0**exponent for exponent in range(highest - _OCTAVES, min(highest + 1, 1024))]
    between = [0.0, *powers, *(-power for power in powers)]
    return sorted({lower, upper, *(corner for corner in between if lower < corner < upper)})


def year_edges() -> tuple[float, ...]:
    """First days of years, in days since 1970: every year from 1900 to 2100, every hundredth before and after."""
    years = [1, *range(100, 1900, 100), *range(1900, 2100), *range(2100, 10_000, 100)]
    return tuple(float(date(year, 1, 1).toordinal() - _EPOCH) for year in years)
