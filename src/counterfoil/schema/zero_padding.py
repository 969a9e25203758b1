"""Whole numbers that a table of texts writes with leading zeros, as 00123: how many digits each has."""

from __future__ import annotations

WIDTHS = range(2, 16)
"""Digits, leading zeros included, of the numbers that have a class of their own: all numbers of so many are exact in
floating point. Longer ones are codes that no column of integers holds."""


def width_of(text: str) -> int:
    """How many digits a plain number has that begins with 0 and has others behind it; 0 for every other text."""
    if text[:1] != "0" or len(text) not in WIDTHS or not (text.isascii() and text.isdigit()):
        return 0
    return len(text)


def padded_class(width: int) -> str:
    """What the class of such numbers with so many digits is called."""
    return f"{width} digits"
