"""Which words among the numbers of a column are limits, such as 90+ and <0.5: a rule for what a purchase showed."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable
from itertools import chain

from counterfoil.schema.limit import limit_of, same_unit

SMALL = 10
"""Numbers below it are often marks, which may have a plus: none may lie beyond one that is a limit."""

_BEYOND = 1.5
"""Times a larger limit to which the noise may move the end of numbers that end there."""


_DETECTED = 4.0
"""Times a limit below, from which on numbers reach far beyond it, as those of laboratories do."""


def limits_among(
    texts: Iterable[tuple[str, int]], end: float, held: Container[float] = (), decimal_char: str = "", unit: str = ""
) -> dict[str, int]:
    """Those texts that are limits, with about how many cells hold each.

    Ages that are cut off end at one number, 90+. Where several texts have a plus, or numbers lie beyond one that has,
    they are marks, of which 2 and 2+ differ. So they are where cells hold the number itself: as one of it, 5+ would
    take the place of each 5. Where numbers stand alone, and limits have several units beside them, as <1 year and over
    24 months have, these do not say of which the numbers are.

    Args:
        texts: with about how many cells hold each.
        end: of the numbers of the column, about.
        held: numbers that cells surely hold.
        decimal_char, unit: of the column.
    """
    read = {text: (count, limit_of(text, decimal_char, unit)) for text, count in texts}
    found = {text: (count, limit) for text, (count, limit) in read.items() if limit is not None}
    units = [limit.unit for _, limit in found.values() if limit.unit]
    if not all(same_unit(one, units[0]) for one in units):
        found = {text: (count, limit) for text, (count, limit) in found.items() if not limit.unit}
    plus = {limit.number for _, limit in found.values() if not limit.signed}
    last = max(plus, default=0.0)
    ends_there = len(plus) == 1 and last not in held and end <= last * (1 if last < SMALL else _BEYOND)
    return {text: count for text, (count, limit) in found.items() if limit.signed or ends_there}


def numbers_apart(
    limits: Iterable[str],
    decimals: int | None = None,
    held: Container[float] = (),
    decimal_char: str = "",
    unit: str = "",
    end: float = math.inf,
) -> dict[str, float]:
    """A number for each limit (`Limit.stand_in`), each of them another one, and none that cells hold.

    Half of 0.4 and half of 0.5 are both 0.2 with one digit. Nor is the number for one below a limit itself: where some
    cells have <0.5 and others <1, numbers from 0.5 on are cells too. Among whole numbers 6 stands for those over 5, and
    among reals the next one where cells hold the limit. Half is usual for what can't be detected: below <35 among
    temperatures up to 42 nothing is near it, and 34.9 stands for those. Limits below between which there is no room are
    left out.

    Args:
        limits: texts; others are left out.
        decimals: digits after the point of the column; as many as the limits have where None.
        held: numbers that cells surely hold.
        decimal_char, unit: of the column.
        end: of its numbers, about.
    """
    found = {text: limit for text in limits if (limit := limit_of(text, decimal_char, unit)) is not None}
    digits = max((limit.decimals for limit in found.values()), default=0) if decimals is None else decimals
    units, last, taken = 10**digits, None, {round(limit.number * 10**digits, 6) for limit in found.values()}
    below: dict[float, float] = {}
    for limit in sorted((one for one in found.values() if one.below), key=lambda one: one.number):
        if limit.number in below:
            continue
        own, half = round(limit.number * units, 6), round(limit.stand_in(digits) * units)
        if limit.number > 0 and _DETECTED * limit.number > end:
            half = math.ceil(own) - 1
        least = last if last is not None else min(half, 0) - 1
        places = chain(range(half, least, -1), range(half + 1, math.ceil(own)))
        if (place := next((one for one in places if one > least and one not in taken - {own}), None)) is not None:
            last, below[limit.number] = place, place / units
    numbers: dict[str, float | None] = {}
    for text, limit in found.items():
        beyond = limit.strict and (not digits or limit.number in held)
        next_one = (round(limit.number * units) + 1) / units
        numbers[text] = below.get(limit.number) if limit.below else next_one if beyond else limit.stand_in(decimals)
    return {text: number for text, number in numbers.items() if number is not None}


def may_be_mark(text: str) -> bool:
    """Whether a limit is written as marks are: a small number with a plus."""
    limit = limit_of(text)
    return limit is not None and not limit.signed and limit.number < SMALL
