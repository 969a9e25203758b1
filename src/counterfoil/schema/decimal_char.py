"""Numbers written in another notation than 1234.5: with a decimal comma, or with separators of thousands.

A column says which sign is its decimal one, `decimal_char`, in the word of Frictionless Table Schema. Then, and only
then, separators of thousands are read too: points or commas (whichever is not the decimal sign), spaces (no-break ones
among them) or apostrophes, always the same one between groups of three digits. So no text has two meanings: 1.234 is
1234 with a decimal comma, and 1.5 is no number there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

DECIMAL_CHARS = (",", ".")

_SPACES = " \u00a0\u2009\u202f"
_APOSTROPHES = "'\u2019"


def _pattern(decimal_char: str) -> re.Pattern[str]:
    """No text matches in more than one way, so that a long one takes time in proportion to its length."""
    sign = re.escape(decimal_char)
    separators = "".join(other for other in DECIMAL_CHARS if other != decimal_char) + _SPACES + _APOSTROPHES
    # No number begins with a group of zeros: 0.123 is written by somebody who means a decimal point.
    grouped = rf"[1-9]\d{{0,2}}(?P<separator>[{separators}])\d{{3}}(?:(?P=separator)\d{{3}})*"
    single = rf"(?:\d+(?:{sign}\d*)?|{sign}\d+)(?:[eE][+-]?\d+)?"
    # Exponents go with no separators: 1.234e2 is 123.4, in a notation that has no decimal comma.
    return re.compile(rf"[+-]?(?:{grouped}(?:{sign}\d*)?|{single})|[+-]?inf(?:inity)?", re.ASCII | re.IGNORECASE)


_PATTERNS: Mapping[str, re.Pattern[str]] = {sign: _pattern(sign) for sign in DECIMAL_CHARS}
_TO_POINTS = str.maketrans({",": ".", ".": " "})
_GROUPING = re.compile(f"[{_SPACES}{_APOSTROPHES}]")


def plain_number(text: str, decimal_char: str) -> str:
    """The same number in digits with an optional point; the empty text where this notation has no such number.

    Args:
        text: stripped of white space.
        decimal_char: one of `DECIMAL_CHARS`.
    """
    if _PATTERNS[decimal_char].fullmatch(text) is None:
        return ""
    other = "." if decimal_char == "," else ","
    return _GROUPING.sub("", text).replace(other, "").replace(decimal_char, ".")


def pointed(text: str, decimal_char: str) -> str:
    """The text with a point for its decimal sign; points that separate thousands become spaces."""
    return text.translate(_TO_POINTS) if decimal_char == "," else text
