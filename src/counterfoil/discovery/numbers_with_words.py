"""Whether a column that its votes took for one of texts is one of numbers with words among them: 90+, <0.5, pending."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from counterfoil.discovery.limits import SMALL, limits_among, may_be_mark
from counterfoil.discovery.votes import FEW_TEXTS, Votes
from counterfoil.schema.limit import limit_of
from counterfoil.schema.number_words import is_written_number
from counterfoil.schema.value_grid import bounds_of
from counterfoil.schema.values import parse_number

_FEW_NUMBERS = 0.2
"""A share of numbers among limits, such as <0.5, up to which a column is one of texts all the same."""

_EACH = 0.1
"""A share of the whole numbers: where each has fewer cells, they are too many to be listed as categories."""

_MOST_LISTED = 20
"""Categories, up to which a list of numbers is one of those."""

_FILLED = 0.75
"""A share of the places between the least and the greatest number, from which on they follow one another."""


def are_numbers(vote: Votes, texts: Sequence[tuple[str, int]], shows: float) -> bool:
    """Whether cells are numbers with words among them: limits, as <0.5 is, or one word beside reals of many values.

    Beside whole numbers, or few, another word is a category: A stands beside 1 and 2, "low" beside 0.5 and 1.5. So are
    limits where few numbers with others between them are nearly all there is, 0, 30, 60, 90 and 120+, and beside whole
    numbers that the noise may hide though they are few, while some show: where none does, there is nothing to list.
    """
    masses, kind = vote.masses(), vote.number_kind()
    numbers, others = masses["integer"] + masses["real"], masses["text"]
    if numbers <= _FEW_NUMBERS * (numbers + others) or not vote.numbers(kind).any():
        return False
    words = _limits(vote, texts)
    rest = [one for one in texts if one[0] not in words and not is_written_number(one[0])]
    listed = sum(count for text, count in texts if is_written_number(text))
    if kind == "real" and len(rest) == 1 and listed < numbers / 2:
        words |= dict(rest)
    elif listed + sum(words.values()) > (1 - FEW_TEXTS) * (numbers + others) and _are_few(texts, words, vote):
        return False
    if kind == "integer" and 0 < listed < numbers / 2 and shows > _EACH * numbers:
        return False
    return others - sum(words.values()) < FEW_TEXTS * (numbers + others)


def are_doubtful(vote: Votes, texts: Sequence[tuple[str, int]], end: float | None) -> bool:
    """Whether no bound was found of such a column, or where its numbers end speaks against a limit."""
    if end is None or math.isnan(end):
        return True
    return bool(_limits(vote, texts).keys() - _limits(vote, texts, end).keys())


def _limits(vote: Votes, texts: Sequence[tuple[str, int]], end: float | None = None) -> dict[str, int]:
    """The limits among texts that showed.

    Where numbers end is what their places and the texts say where `end` is None. While few of the numbers show, others
    may lie beyond a small one with a plus: of the marks 1, 1+, 2 and 3, 1+ alone may show at first.
    """
    shown, numbers = _shown(texts), vote.numbers(vote.number_kind())
    if end is not None:  # the last one of small whole numbers is one that cells hold
        whole = vote.number_kind() == "integer" and end < SMALL
        return limits_among(texts, end, shown | {end} if whole else shown)
    last = int(np.flatnonzero(numbers)[-1])
    found = limits_among(texts, max([bounds_of(last, last)[0], *shown]), shown)
    if 2 * sum(count for text, count in texts if is_written_number(text)) < numbers.sum():
        return {text: count for text, count in found.items() if not may_be_mark(text)}
    return found


def _shown(texts: Sequence[tuple[str, int]]) -> set[float]:
    """Those of the texts that are plain numbers."""
    return {number for text, _ in texts if math.isfinite(number := parse_number(text, {}))}


def _are_few(texts: Sequence[tuple[str, int]], words: Iterable[str], vote: Votes) -> bool:
    """Whether numbers are few, limits among them, and others of as many digits lie between them."""
    places = {*_shown(texts), *(limit.number for text in words if (limit := limit_of(text)) is not None)}
    if not 2 <= len(places) <= _MOST_LISTED:
        return False
    unit = 10.0 ** -((vote.decimals() or 0) if vote.number_kind() == "real" else 0)
    return len(places) < _FILLED * (round((max(places) - min(places)) / unit) + 1)
