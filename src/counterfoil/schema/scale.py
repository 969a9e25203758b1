"""Cells of a number column that names only its bounds: equal ones, or ones that grow with the distance from 0.

On the log scale a number x stands at asinh(x / unit): evenly up to the unit, as its logarithm beyond it, on both sides
of 0. Everything follows from the bounds, which are public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

LINEAR, LOG = "linear", "log"
SCALES = (LINEAR, LOG)

CELLS = 96
"""Cells between the bounds. With a bound and 0 as codes of their own, and one for missing values, a pair of columns has
10,000 cells: the largest marginal that workloads name by themselves."""

MANY_NUMBERS = 1000
"""A column of more whole numbers, or whose bounds are at least so far apart, gets growing cells by default."""

_DECADES = 1e4
"""The largest number over the unit: below the unit cells are equal."""
_NARROW = 1e-10
"""Of an interval's distance from 0: the difference of its ends has few digits there, and the scale's slope is even."""
_DIGITS = 9
"""To which computed borders are rounded before they are cut to whole numbers, so that all machines agree."""


@dataclass(frozen=True)
class Scale:
    """Where a number stands on a line on which the cells of a column are equally wide.

    Args:
        name: `linear` or `log`.
        unit: the width of the linear part of the log scale around 0, in the column's unit.
    """

    name: str
    unit: float = 1.0

    def place(self, number: float) -> float:
        """The place of a number."""
        return math.asinh(number / self.unit) if self.name == LOG else number

    def number(self, place: float) -> float:
        """The number at a place."""
        return math.sinh(place) * self.unit if self.name == LOG else place

    def spans(self, lows: np.ndarray, highs: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """float64 [n]: how wide intervals are on the scale; 0 for single points.

        Args:
            lows: where they begin.
            highs: where they end.
            widths: `highs` less `lows`, from where they are known better than by the difference of two large floats.
        """
        narrow = widths < _NARROW * np.abs(lows)
        if self.name != LOG:
            return np.where(narrow, widths, highs - lows)
        apart = np.arcsinh(highs / self.unit) - np.arcsinh(lows / self.unit)
        return np.where(narrow, widths / np.hypot(lows, self.unit), apart)


def scale_of(name: str, lower: float, upper: float, step: float = 0.0) -> Scale:
    """The scale of a column, by its bounds where `name` is empty.

    Args:
        name: as declared.
        lower: the least number.
        upper: the greatest number.
        step: between two whole numbers; 0 for real ones.
    """
    if not name:
        name = LOG if upper - lower >= MANY_NUMBERS * (step or 1.0) else LINEAR
    return Scale(name, max(step, max(abs(lower), abs(upper)) / _DECADES))


def real_edges(lower: float, upper: float, cells: int, scale: Scale) -> list[float]:
    """The edges of `cells` intervals that are equally wide on the scale, as short decimals; 0 is one of them."""
    sides = _sides(lower, upper, cells, scale)
    edges = [lower]
    for start, stop, count in sides:
        low, high = scale.place(start), scale.place(stop)
        borders = [start, *(scale.number(low + (high - low) * i / count) for i in range(1, count)), stop]
        for before, border, after in zip(borders, borders[1:], borders[2:], strict=False):
            edges.append(_short(border, min(border - before, after - border) / 20))
        edges.append(stop)
    return edges


def _sides(lower: float, upper: float, cells: int, scale: Scale) -> list[tuple[float, float, int]]:
    """The part below 0 and the part above it, each with its number of cells; one part where 0 lies outside."""
    if not lower < 0 < upper or cells < 2:
        return [(lower, upper, cells)]
    below, above = -scale.place(lower), scale.place(upper)
    count = min(max(round(cells * below / (below + above)), 1), cells - 1)
    return [(lower, 0.0, count), (0.0, upper, cells - count)]


def _short(number: float, tolerance: float) -> float:
    """The multiple of the largest power of ten within the tolerance that is nearest to the number."""
    if tolerance <= 0:
        return number
    digits = math.ceil(-math.log10(tolerance))
    rounded = round(number, digits)
    return rounded if abs(digits) < 300 and math.isfinite(rounded) else number


def integer_starts(lower: int, upper: int, step: int, cells: int, scale: Scale, *, ends_apart: bool) -> list[int]:
    """The index on the grid of the first number of each cell: single numbers near 0, then ever more on the log scale.

    Args:
        lower: the least number; the grid has every `step` from there to `upper`.
        upper: the greatest number.
        step: between two numbers.
        cells: how many there are, the single ones of `ends_apart` not counted; at least two where 0 lies within.
        scale: on which cells are equally wide.
        ends_apart: whether `lower`, `upper` and 0 have cells of their own.
    """
    last = (upper - lower) // step
    zero = -lower // step if lower <= 0 <= upper and lower % step == 0 else None
    place = _grid_places(lower, step, scale)
    if ends_apart:
        apart = sorted({0, last} | ({zero} if zero is not None else set()))
        ranges = [(before + 1, after) for before, after in pairwise(apart) if before + 1 < after]
    else:
        apart = []
        ranges = [(0, last + 1)] if zero in (None, 0) or cells < 2 else [(0, zero), (zero, last + 1)]
    counts = _shared(cells, [place(stop) - place(start) for start, stop in ranges], [b - a for a, b in ranges])
    starts = set(apart)
    for (start, stop), count in zip(ranges, counts, strict=True):
        starts.update(_growing(start, stop, count, lower, step, scale))
    return sorted(starts)


def _grid_places(lower: int, step: int, scale: Scale) -> Callable[[float], float]:
    return lambda index: scale.place(lower + step * (index - 0.5))


def _shared(cells: int, lengths: list[float], most: list[int]) -> list[int]:
    """Cells divided over parts by their lengths: at least one for each, at most `most`."""
    cells = min(cells, sum(most))
    if not sum(lengths):
        lengths = [float(limit) for limit in most]  # so far from 0 that the scale has one place for all of them
    counts = [
        min(max(round(cells * length / sum(lengths)), 1), limit) for length, limit in zip(lengths, most, strict=True)
    ]
    while (left := cells - sum(counts)) != 0 and any(counts[i] > 1 or left > 0 for i in range(len(counts))):
        open_parts = [i for i, count in enumerate(counts) if (count < most[i] if left > 0 else count > 1)]
        i = max(open_parts, key=lambda j: lengths[j])
        counts[i] += 1 if left > 0 else -1
    return counts


def _growing(start: int, stop: int, count: int, lower: int, step: int, scale: Scale) -> list[int]:
    """The starts of `count` cells of the grid points from `start` to before `stop`, from the end nearer 0 outward."""
    if abs(lower + step * start) > abs(lower + step * (stop - 1)):
        # Mirrored, so that single numbers lie next to 0 here too.
        upper = lower + step * (stop - 1)
        mirrored = _growing(0, stop - start, count, -upper, step, scale)
        return [stop - after for after in [*mirrored[1:], stop - start]][::-1]
    place = _grid_places(lower, step, scale)
    starts, end = [start], place(stop)
    for left in range(count - 1, 0, -1):
        here = place(starts[-1])
        number = scale.number(here + (end - here) / (left + 1))
        index = math.ceil(float(f"{(number - lower) / step + 0.5:.{_DIGITS}g}"))
        starts.append(min(max(starts[-1] + 1, index), stop - left))
    return starts
