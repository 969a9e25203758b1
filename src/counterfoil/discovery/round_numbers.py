"""Numbers that people like, such as 50, 250 or 45,000, at each place of a public grid: no record decides which."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from counterfoil.schema.value_grid import BASE, MAGNITUDES, REACH

_FIRST = (1, 2, 5)
_SECOND = (*_FIRST, Fraction(3, 2), Fraction(5, 2), 3, 4, 6, 7, Fraction(15, 2), 8, 9)
"""Times a power of ten."""

_STEPS = (5, 2, 1)
"""The same, of which all multiples come next, those of ever smaller steps."""

LARGEST = 2.0**53
"""Whole numbers up to here are exact."""


def round_numbers(place: int, most: int, digits: int | None) -> tuple[float, ...]:
    """The roundest numbers at a place of the grid, ascending.

    First come 1, 2 and 5 times a power of ten, then few more of one digit or so and those of nines, which often stand
    for something else, then the multiples of ever smaller steps: each of these parts as a whole, while they have at
    most `most` numbers together.

    Args:
        place: as `value_grid.places_of` counts it; zero, what is nearer to it than any other place, and what is beyond
            2^53 have none.
        most: how many there may be.
        digits: after the point, at most; any number where None.
    """
    steps = abs(place - REACH)
    if not 2 <= steps < REACH or MAGNITUDES[steps - 1] > LARGEST:
        return ()
    low = MAGNITUDES[steps - 2]
    chosen: set[Fraction] = set()
    for part in _parts(Fraction(low), most):
        more = chosen | {number for number in part if digits is None or (number * 10**digits).denominator == 1}
        if len(more) > most:
            break
        chosen = more
    sign = 1.0 if place > REACH else -1.0
    return tuple(sorted(sign * float(number) for number in chosen))


def _parts(low: Fraction, most: int) -> Iterator[set[Fraction]]:
    """The parts of the numbers from `low` to before the next place."""
    high = low * int(BASE)
    powers = [Fraction(10) ** power for power in range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)))]
    for factors in (_FIRST, _SECOND):
        yield {number for power in powers for factor in factors if low <= (number := factor * power) < high}
        yield {power - 1 for power in powers if power > 1 and low <= power - 1 < high}
    for step in (factor * power for power in reversed(powers) for factor in _STEPS):
        first, stop = math.ceil(low / step), math.ceil(high / step)
        if stop - first > most:
            return
        yield {number * step for number in range(first, stop)}
