"""What is said of a bought column: its facts with their comments, and words that all kinds of columns share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from counterfoil.schema.boolean import WORDS
from counterfoil.schema.discovered import DiscoveredColumn, share_range
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.spelling import BYTES, strip

STANDARD_ERRORS = 3.0
"""What the rest of a column's cells must exceed to be distinguished from its noise."""

TRUTHS: Mapping[str, float] = {**WORDS, "1": 1.0, "0": 0.0}
"""The words of true and false, in small letters."""

NO_RANGE = "no range of its values can be distinguished from noise"
NO_KIND = "what its cells are can't be distinguished from noise"
EMPTY = "nothing but missing cells shows"
NOT_ASKED = "by precaution: it was not asked about, and each cell has a place"
CAUTION = "by precaution: few or none are seen, and each cell has a place"

Facts = dict[str, tuple[Any, str]]
"""By key of the TOML, the value and a comment on it."""


@dataclass(frozen=True)
class BoughtColumn:
    """What goes into the schema about one column.

    Args:
        name: of the column.
        facts: by key, each with a comment; empty where no column can be made of it.
        seen: what was seen, in words for a comment where it is left out.
    """

    name: str
    facts: Facts
    seen: str = ""

    @property
    def is_hidden(self) -> bool:
        """Whether it is left out for the noise alone, which hides what it is or where its values lie."""
        return not self.facts and self.seen in (NO_KIND, NO_RANGE)


def counted(others: Sequence[tuple[str, int]]) -> str:
    """Other cells in words."""
    return ", ".join(f"about {count:,} {words}" for words, count in others)


def coverage(column: DiscoveredColumn, listed: int, categories: int) -> tuple[float, float]:
    """The share of a column's cells that are in selected categories, from 0 to 1, and its standard error.

    Args:
        column: the answers.
        listed: the sum of the noisy counts of the categories.
        categories: how many there are.
    """
    records = max(column.records, 1)
    share = min(max(listed / records, 0.0), 1.0)
    error = math.hypot(math.sqrt(categories) * column.deviation, share * column.records_error)
    return share, min(error / records, 1.0)


def coverage_range(column: DiscoveredColumn, share: float, error: float) -> str:
    """The 95% interval of such a share in words, of both kinds of columns: `together` and `raised` are of texts."""
    return share_range(share, error, column.together, column.raised / max(column.records, 1))


def is_empty(column: DiscoveredColumn) -> bool:
    """Whether most of its cells surely are missing, and none surely is not."""
    if not column.shows_missing or column.missing is None or column.categories:
        return False
    sure = column.records <= STANDARD_ERRORS * column.records_error
    return sure and column.records + 2 * column.records_error <= _MOST_PRESENT * column.missing


_MOST_PRESENT = 0.25
"""Of the missing cells, so many may not be missing, at the upper end of a 95% interval."""


def can_be_listed(text: str) -> bool:
    """Whether a category may be written as it is; other texts count as `other`."""
    return bool(text) and not text.startswith(BYTES) and strip(array_of([text]))[0].as_py() == text
