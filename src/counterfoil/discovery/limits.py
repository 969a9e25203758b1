"""Which words among the numbers of a column are limits, such as 90+ and <0.5: a rule for what a purchase showed."""

from __future__ import annotations

from collections.abc import Container, Iterable

from counterfoil.schema.number_words import limit_of

SMALL = 10
"""Numbers below it are often marks, which may have a plus: none may lie beyond one that is a limit."""

_BEYOND = 1.5
"""Times a larger limit to which the noise may move the end of numbers that end there."""


def limits_among(
    texts: Iterable[tuple[str, int]], end: float, held: Container[float] = (), decimal_char: str = ""
) -> dict[str, int]:
    """Those texts that are limits, with about how many cells hold each.

    Ages that are cut off end at one number, 90+. Where several texts have a plus, or numbers lie beyond one that has,
    they are marks, of which 2 and 2+ differ. So they are where cells hold the number itself: as one of it, 5+ would
    take the place of each 5.

    Args:
        texts: with about how many cells hold each.
        end: of the numbers of the column, about.
        held: numbers that cells surely hold.
        decimal_char: of the column.
    """
    found = {text: (count, limit) for text, count in texts if (limit := limit_of(text, decimal_char)) is not None}
    plus = {limit.number for _, limit in found.values() if not limit.signed}
    last = max(plus, default=0.0)
    ends_there = len(plus) == 1 and last not in held and end <= last * (1 if last < SMALL else _BEYOND)
    return {text: count for text, (count, limit) in found.items() if limit.signed or ends_there}


def may_be_mark(text: str) -> bool:
    """Whether a limit is written as marks are: a small number with a plus."""
    limit = limit_of(text)
    return limit is not None and not limit.signed and limit.number < SMALL
