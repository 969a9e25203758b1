"""What was bought about the columns of a table whose schema nobody has written: released numbers and names alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["integer", "real", "date", "datetime", "boolean", "text"]
"""What the cells of a column are, as a vote or the storage's types say; "text" is for categories and identifiers."""


@dataclass(frozen=True)
class DiscoveredColumn:
    """A column, as noisy answers show it.

    Args:
        name: as the header has it, which is public.
        kind: what most cells are.
        votes: by kind, the noisy number of cells; empty where the storage's types or the user said the kind.
        lower, upper: bounds of a number, or of a date or time in days or microseconds since 1970, edges of the public
            grid; None for texts.
        tails: noisy shares of the cells below `lower` and above `upper`.
        categories: values whose noisy counts reached the threshold, most frequent first, with these counts.
        records: the noisy number of cells that are not missing; what `categories` leave out of it is in no category.
        missing: the noisy number of missing cells, or None where it was not asked.
        edges: inner edges of bins between the bounds, ascending; empty where bounds are enough.
        deviation: the standard deviation of the noise of a count of this column.
        date_format: how its dates are written, as `strftime`; "" for ISO.
        missing_words: of `raw_cell.MISSING_WORDS`, as the cells of a text write them, those whose noisy counts reached
            the threshold; they are not among `categories`.
    """

    name: str
    kind: Kind
    votes: Mapping[str, int]
    lower: float | None
    upper: float | None
    tails: tuple[float, float]
    categories: tuple[tuple[str, int], ...]
    records: int
    missing: int | None
    edges: tuple[float, ...]
    deviation: float
    date_format: str = ""
    missing_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Discovered:
    """All columns that were asked about, and what was paid.

    Args:
        columns: in the table's order.
        epsilon, delta: what was charged for all of it.
        relation: of neighbors.
        shares: by question, its public share of the budget.
    """

    columns: tuple[DiscoveredColumn, ...]
    epsilon: float
    delta: float
    relation: str
    shares: Mapping[str, float]
