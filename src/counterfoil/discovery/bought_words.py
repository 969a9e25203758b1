"""The words of a bought column of numbers, such as 90+ and <0.5, and the number that each stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from counterfoil.discovery.bought_facts import Facts, can_be_listed
from counterfoil.discovery.limits import SMALL, limits_among, numbers_apart
from counterfoil.schema.discovered import DiscoveredColumn
from counterfoil.schema.integer import EXACT
from counterfoil.schema.limit import limit_of

_WHY = "bought: frequent beside its numbers; correct the number of a word where other cells hold it"


def _limits(column: DiscoveredColumn) -> dict[str, int]:
    """Those words of a column of numbers that are limits, with about how many cells hold each."""
    words = [(text, count) for text, count in column.words if can_be_listed(text)]
    return limits_among(words, end_of(column), _held(column), column.decimal_char, column.unit)


def end_of(column: DiscoveredColumn) -> float:
    """Where its numbers end, as far as they show."""
    end = column.upper if column.last_shown is None else column.last_shown
    return 0.0 if end is None else end


def _held(column: DiscoveredColumn) -> set[float]:
    """Numbers that its cells surely hold: those that stand out, and the last one of small whole ones."""
    sure = _SURELY * column.deviation
    last = {end_of(column)} if column.kind == "integer" and end_of(column) < SMALL else set()
    return last | {number for number, _ in column.points} | {code for code, count in column.codes if count > sure}


_SURELY = 5.0
"""Deviations of the noise beyond which a code is no noise."""


def words_beside(column: DiscoveredColumn) -> list[str]:
    """Its other words, which stand for no number: "refused" is one."""
    return [
        text
        for text, _ in column.words
        if limit_of(text, column.decimal_char, column.unit) is None and can_be_listed(text)
    ]


def numbers_of_words(column: DiscoveredColumn, given: Mapping[str, Any]) -> dict[str, int | float]:
    """The number that each limit stands for: with no more digits than the column, and a place there."""
    if "words" in given or "between" in given:
        return {}
    decimals = 0 if column.kind == "integer" else given.get("decimals", column.decimals)
    result: dict[str, int | float] = {}
    notation = column.decimal_char, column.unit
    numbers = numbers_apart(_limits(column), decimals, _held(column), *notation, end_of(column) or math.inf)
    for text, number in numbers.items():
        if _has_place(number, column, given, decimals):
            result[text] = int(number) if column.kind == "integer" else float(number)
    return result


def _has_place(number: float, column: DiscoveredColumn, given: Mapping[str, Any], decimals: int | None) -> bool:
    """Whether a column with these facts can have a number: a schema with others would not load.

    It lies within bounds that are stated and on the grid of a step that is, and has all digits of its column: numbers
    with leading zeros are none below 0, and very large ones have no digits after the point.
    """
    if not given.get("lower", number) <= number <= given.get("upper", number):
        return False
    if number < 0 and given.get("digits", column.digits):
        return False
    if column.kind == "real" and abs(number) * 10.0 ** (decimals or 0) > EXACT:
        return False
    if not (step := given.get("step")):
        return True
    steps = (number - given["lower"]) / step if "lower" in given else math.nan
    return math.isfinite(steps) and abs(steps - round(steps)) < _ON_GRID


_ON_GRID = 1e-9


def stretched(
    bounds: tuple[float, float], found: float, words: Mapping[str, float], given: Mapping[str, Any]
) -> tuple[float, float]:
    """Bounds that hold the numbers of words; the upper one is that of the last word where no number shows beyond it.

    Args:
        bounds: rounded outwards.
        found: where numbers end, as the answers say.
        words: with their numbers.
        given: facts that stand already; stated bounds stay.
    """
    if not words:
        return bounds
    low, high = bounds
    last = max(words.values())
    if "lower" not in given:
        low = min(low, *words.values())
    if "upper" not in given and found <= last:
        high = max(last, high) if last == low else last  # reals need two bounds
    return low, high


def words_facts(words: Mapping[str, float]) -> Facts:
    """What the schema says of them."""
    return {"words": (dict(words), _WHY)} if words else {}
