"""A number of rows that memory could not hold is refused before a budget is spent on it."""

from __future__ import annotations

import os


def require_rows_fit(rows: int | None, columns: int) -> None:
    """Checks a number of rows that a user asks for, all of which will be held in memory.

    Args:
        rows: how many; None where the noisy counts say how many.
        columns: how many columns they have.

    Raises:
        ValueError: for a number that is not a whole one of at least 1, or of which memory could not hold the values.
    """
    require_row_count(rows)
    if rows is not None:  # a code, and a value of 8 bytes, with room to write them
        require_memory(rows, 16 * rows * columns)


def require_row_count(rows: int | None) -> None:
    """Checks that a number of rows is one.

    Args:
        rows: how many; None where the noisy counts say how many.

    Raises:
        ValueError: for a number that is not a whole one of at least 1.
    """
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        raise ValueError(f"`rows` must be a whole number of at least 1. Found {rows!r}.")


def require_memory(rows: int, needed: int, remedy: str = "Draw fewer rows.") -> None:
    """Refuses rows that take more memory than this machine has; one that does not say how much it has refuses none.

    Args:
        rows: how many, for the sentence.
        needed: bytes.
        remedy: a sentence.

    Raises:
        ValueError: where there is less.
    """
    if not hasattr(os, "sysconf"):
        return  # Windows does not say how much memory there is
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"`rows` of {rows:,} would need about {needed / 2**30:,.0f} GB of memory, of which there are "
            f"{memory / 2**30:,.0f}. {remedy}"
        )
