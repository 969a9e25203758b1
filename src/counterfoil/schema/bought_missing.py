"""The place for missing cells of a bought column, with the words for them and the cells that are read as missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from counterfoil.schema.bought_facts import CAUTION, TRUTHS, Facts, can_be_listed, counted
from counterfoil.schema.discovered import DiscoveredColumn, count_range
from counterfoil.schema.values import parse_number


def misread(column: DiscoveredColumn, kind: str) -> list[tuple[str, int]]:
    """How its cells read that surely show and come back as missing, with their noisy number.

    Args:
        column: the answers.
        kind: that the schema gives it.
    """
    return [one for one in column.others if kind != "integer" or not one[0].startswith(_NUMBERS)]


_NUMBERS = "numbers with"
"""How words for cells begin that are numbers, and not whole."""


def missing_facts(column: DiscoveredColumn, given: Mapping[str, Any]) -> Facts:
    """A place for missing cells, and how they are written where no column of texts says it."""
    facts: Facts = {"missing": (True, why_missing(column))}
    seen = SAYS_SO if column.kind == "boolean" else _NOT_APPLICABLE
    for words, why in ((column.missing_words, seen), (column.shared_words, _SHARED)):
        listed = [text for text in words if not text or _means_missing(text, column)]
        if any(listed) and given.get("missing", True):
            return facts | {"missing_values": (listed, why)}
    return facts


def _means_missing(text: str, column: DiscoveredColumn) -> bool:
    """Whether a word can stand for a missing cell of a column of numbers, days or truths."""
    return _is_no_number(text, column.decimal_char) and not (column.kind == "boolean" and text.casefold() in TRUTHS)


def _is_no_number(text: str, decimal_char: str) -> bool:
    return can_be_listed(text) and math.isnan(parse_number(text, {}, decimal_char))


SAYS_SO = "bought: frequent, and words that say so; delete those that are values"

_SHARED = "by precaution: so other columns of this table write it; delete what does not occur"

_NOT_APPLICABLE = "bought: frequent beside the numbers and days of this table"


def why_missing(column: DiscoveredColumn) -> str:
    """The comment on the place for missing cells."""
    if column.missing is None or not column.shows_missing:
        # `others` of columns of integers may be rounded: those that are not are read as missing.
        others = misread(column, column.kind)
        return f"bought: for {counted(others)}, which read otherwise; few or none are empty" if others else CAUTION
    return f"bought: about {column.missing:,.0f} cells ({count_range(column.missing, column.missing_error)})"
