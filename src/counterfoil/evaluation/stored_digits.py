"""How many digits after the point the numbers of a column are stored with, and expressions that keep to them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from counterfoil.schema.arithmetic import Arithmetic
from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.integer import Integer

MOST_DIGITS = 8
"""After the point; numbers of more are not rounded."""


def stored_digits(numbers: np.ndarray) -> int | None:
    """The fewest that all numbers have; None where some have more than `MOST_DIGITS`."""
    return next((digits for digits in range(MOST_DIGITS + 1) if has_digits(numbers, digits)), None)


def has_digits(numbers: np.ndarray, digits: int | None) -> bool:
    """Whether no number has more digits after the point."""
    known = numbers[np.isfinite(numbers)]
    return digits is None or bool((np.abs(np.round(known, digits) - known) <= 1e-12 * np.abs(known)).all())


def as_stored(text: str, target: Column, columns: Mapping[str, Column], digits: int | None) -> str:
    """An expression for a derived column that stands for another one; empty for one that no schema may state.

    Args:
        text: what gives its numbers, unrounded.
        target: the column.
        columns: those that the expression may name.
        digits: that its numbers are stored with; None for unrounded ones.
    """
    try:
        read = Arithmetic(text, columns, place="")
    except SchemaError:
        return ""
    if isinstance(target, Integer):
        return text if read.is_whole else f"round({text})"
    kept = digits is None or (read.decimals is not None and read.decimals <= digits)
    return text if kept else f"round({text}, {digits})"
