"""Real numbers on a grid: multiples of a step from the lower bound, such as halves or prices in steps of .05.

They are counted in whole units of the common denominator of `lower` and `step`, as these are written in decimals, so
that the grid has no rounding errors and its cells are those of a column of whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from counterfoil.schema.decimal_grid import LARGEST
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.integer import Integer
from counterfoil.schema.scale import Scale

ROUNDING = 1e-9
"""Numbers this near to the grid, as a part of themselves or of the step, are on it: they were rounded on their way."""


@dataclass(frozen=True)
class RealGrid:
    """The grid of a column of real numbers, and the cells in which its places are counted.

    Args:
        whole: the cells, in whole units.
        denominator: how many units are 1.
        axis: the line on which cells were cut, in the column's own unit.
    """

    whole: Integer
    denominator: int
    axis: Scale

    @property
    def step(self) -> float:
        """Between two places, in the column's own unit."""
        return self.whole.step / self.denominator

    @property
    def last(self) -> int:
        """How many steps lead from the lower to the upper bound."""
        return (self.whole.upper - self.whole.lower) // self.whole.step

    def nearest(self, numbers: np.ndarray) -> np.ndarray:
        """float64 [n]: the places nearest to numbers within the bounds; half-way, the upper one."""
        whole = self.whole
        places = np.floor((numbers * self.denominator - whole.lower) / whole.step + 0.5)
        return self.number(whole.lower + whole.step * np.clip(places, 0, self.last))

    def number(self, units: np.ndarray) -> np.ndarray:
        """float64 [n]: whole units as the floats of their decimals, to which one division of whole numbers rounds."""
        return np.asarray(units, dtype=float) / self.denominator

    def codes(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: the cell of each number within the bounds, by the place that it is nearest to."""
        return self.whole._bin(numbers * self.denominator)

    @property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [cells] twice: the first and the last place of each cell."""
        lows, highs = self.whole._ranges()
        return self.number(lows), self.number(highs)

    @cached_property
    def spans(self) -> np.ndarray:
        """float64 [cells]: how wide each is on the line, half a step beyond its places."""
        lows, highs = self.ranges
        return self.axis.spans(lows - self.step / 2, highs + self.step / 2, self.whole._widths / self.denominator)

    @property
    def labels(self) -> list[str]:
        """A text for each cell."""
        return labels_between(*self.ranges)


def labels_between(lows: np.ndarray, highs: np.ndarray) -> list[str]:
    """A text for each cell of numbers, from its first to its last."""
    ends = ([f"{number:.15g}" for number in side.tolist()] for side in (lows, highs))
    return [low if low == high else f"{low}..{high}" for low, high in zip(*ends, strict=True)]


def grid_of(
    name: str,
    lower: float,
    upper: float,
    step: float,
    *,
    bins: int,
    starts: Sequence[Fraction],
    points: Sequence[float],
    scale: str,
) -> RealGrid:
    """The grid of a column.

    Args:
        name: of the column.
        lower, upper: its bounds.
        step: between two places; positive and finite.
        bins: how many cells of nearly as many places each; 0 for those of `starts`, or of a column of whole numbers.
        starts: where cells begin, from `lower` on; empty for none.
        points: numbers with a cell of their own, which divide the cell that they lie in.
        scale: as the column has it.

    Raises:
        SchemaError: with what is wrong, for the column to say.
    """
    first, last, width = Fraction(str(lower)), Fraction(str(upper)), Fraction(str(step))
    if (last - first) % width:
        below = float(first + width * ((last - first) // width))
        raise SchemaError(
            f"`step` must lead from `lower` to `upper`; found {step:g}, which leads from {lower:g} to {below:g} and "
            f"then beyond {upper:g}. Give an `upper` on the grid"
        )
    unit = math.lcm(first.denominator, width.denominator)
    if max(abs(first), abs(last)) * unit > LARGEST:
        raise SchemaError(f"numbers near the bounds don't tell steps of {step:g}; give a larger `step`")
    off = [point for point in points if (Fraction(str(point)) - first) % width]
    if off:
        raise SchemaError(f"`points` must be on the grid of `step`; found {off[0]:g}")
    n_places = int((last - first) / width) + 1
    if bins > n_places:
        raise SchemaError(f"`bins` must be at most the {n_places} numbers on the grid of `step`; found {bins}")
    firsts = [math.ceil((start - first) / width) for start in starts]
    if any(after <= before for before, after in pairwise([*firsts, n_places])):
        raise SchemaError("every bin must hold a number on the grid of `step`. Give wider bins, or a smaller step")
    low, high, by = int(first * unit), int(last * unit), int(width * unit)
    edges = tuple(low + by * place for place in firsts)
    whole = Integer(name, low, high, by, bins=bins, edges=edges, scale="" if edges else scale)
    axis = Scale(whole._axis.name, whole._axis.unit / unit)
    if points:
        own = {int((Fraction(str(point)) - first) / width) for point in points}
        parts = sorted({*whole._starts.tolist(), *own, *(place + 1 for place in own if place + 1 < n_places)})
        whole = replace(whole, bins=0, scale="", edges=tuple(low + by * place for place in parts))
    return RealGrid(whole, unit, axis)
