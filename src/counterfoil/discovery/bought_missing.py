"""The place for missing cells of a bought column, with the words for them and the cells that are read as missing."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

from counterfoil.discovery.bought_facts import CAUTION, TRUTHS, Facts, can_be_listed, counted
from counterfoil.discovery.bought_words import words_beside
from counterfoil.schema.discovered import DiscoveredColumn, count_range
from counterfoil.schema.values import parse_number


def misread(column: DiscoveredColumn, kind: str, words: Container[str] = ()) -> list[tuple[str, int]]:
    """How its cells read that surely show and come back as missing, with their noisy number.

    Args:
        column: the answers.
        kind: that the schema gives it.
        words: of its `words` those that stand for a number.
    """
    others = [one for one in column.others if kind != "integer" or not one[0].startswith(_NUMBERS)]
    taken = sum(count for text, count in column.words if text in words)
    if not taken:
        return others
    left = [(name, count - taken if name == _TEXTS else count) for name, count in others]
    return [(name, count) for name, count in left if name != _TEXTS or count > _SURELY * column.missing_error]


_TEXTS = "texts"
_SURELY = 5.0
"""Standard errors beyond which texts are surely left, once those of words that stand for numbers are taken off."""

_NUMBERS = "numbers with"
"""How words for cells begin that are numbers, and not whole."""


def missing_facts(column: DiscoveredColumn, given: Mapping[str, Any], words: Container[str] = ()) -> Facts:
    """A place for missing cells, and how they are written where no column of texts says it.

    Args:
        column: the answers.
        given: facts that stand already.
        words: of its `words` those that stand for a number.
    """
    facts: Facts = {"missing": (True, why_missing(column, words))}
    own, shared = (
        [text for text in words if not text or _means_missing(text, column)]
        for words in ((*column.missing_words, *words_beside(column)), column.shared_words)
    )
    if not any([*own, *shared]) or not given.get("missing", True):
        return facts
    return facts | words_for_missing(own, shared, SAYS_SO if column.kind == "boolean" else _NOT_APPLICABLE)


def words_for_missing(own: Sequence[str], shared: Sequence[str], seen: str = "") -> Facts:
    """The words for missing that a column has itself, before those that other columns of its table have.

    Args:
        own: which the purchase found in it.
        shared: others.
        seen: what is said of its own; that they say so where empty.
    """
    rest = [text for text in shared if text not in own]
    if not any(own):
        return {"missing_values": ([*own, *rest], _SHARED)}
    also = f"; {', '.join(map(repr, rest))} {_SHARED}" if rest else ""
    return {"missing_values": ([*own, *rest], f"{seen or SAYS_SO}{also}")}


def safe_words(column: DiscoveredColumn, listed: Sequence[str]) -> list[str]:
    """Those words of other columns that are no likely category of a column of texts: NA is one beside EU, - beside +.

    An empty cell comes before them where such cells are how the table likely writes missing ones.

    Args:
        column: the answers.
        listed: its categories, those of a public list among them.
    """
    folded = {text.casefold() for text in listed}
    safe = [
        word
        for word in column.shared_words
        if can_be_listed(word) and word.casefold() not in folded and not _looks_like(word, listed)
    ]
    return [*(word for word in column.shared_words if not word), *safe] if safe else []


def _looks_like(word: str, texts: Sequence[str]) -> bool:
    """Whether a word for missing is written as texts are: short ones in as many capitals, or signs beside a sign."""
    if not any(map(str.isalnum, word)):
        return any(not any(map(str.isalnum, text)) for text in texts)
    shape = _shape(word)
    return 2 * sum(_shape(text) == shape for text in texts) > len(texts)


def _shape(text: str) -> str:
    return "".join("A" if sign.isupper() else "a" if sign.isalpha() else sign for sign in text)


def _means_missing(text: str, column: DiscoveredColumn) -> bool:
    """Whether a word can stand for a missing cell of a column of numbers, days or truths."""
    return _is_no_number(text, column.decimal_char) and not (column.kind == "boolean" and text.casefold() in TRUTHS)


def _is_no_number(text: str, decimal_char: str) -> bool:
    return can_be_listed(text) and math.isnan(parse_number(text, {}, decimal_char))


SAYS_SO = "bought: frequent, and words that say so; delete those that are values"

_SHARED = "by precaution: so other columns of this table write it; delete what does not occur"

_NOT_APPLICABLE = "bought: frequent beside the numbers and days of this table"


def why_missing(column: DiscoveredColumn, words: Container[str] = ()) -> str:
    """The comment on the place for missing cells; `words` are those of the column that stand for a number."""
    if column.missing is None or not column.shows_missing:
        # `others` of columns of integers may be rounded: those that are not are read as missing.
        others = misread(column, column.kind, words)
        return f"bought: for {counted(others)}, which read otherwise; few or none are empty" if others else CAUTION
    return f"bought: about {column.missing:,.0f} cells ({count_range(column.missing, column.missing_error)})"
