"""Numbers with a sign of their unit beside them, as 12 % and € 5 have; the number is what is left of the text."""

from __future__ import annotations

import re

KNOWN = (
    "%",
    "‰",
    "€",
    "$",
    "£",
    "¥",
    "CHF",
    "EUR",
    "USD",
    "GBP",
    "Fr.",
    "kr",
    "zł",
    "Kč",
    "Ft",
    "°C",
    "kg",
    "cm",
    "km",
)
"""Units that are looked for in texts that are no numbers."""

_LONGEST = 20
_NEVER = re.compile(r"\d")
_ALONE = re.compile(r"[-+.,'\u2019\s]*")


def is_unit(text: str) -> bool:
    """Whether a text can stand beside numbers without being taken for a part of them."""
    short = text == text.strip() and len(text) <= _LONGEST
    return short and not _NEVER.search(text) and not _ALONE.fullmatch(text)


def bare(text: str, unit: str) -> str:
    """The text without its unit after or before the number, as it is where it has none.

    Args:
        text: stripped of white space.
        unit: see `is_unit`; nothing is taken off where it is empty.
    """
    if not unit:
        return text
    if text.endswith(unit):
        return text.removesuffix(unit).rstrip()
    sign, rest = (text[0], text[1:].lstrip()) if text[:1] in ("+", "-") else ("", text)
    return sign + rest.removeprefix(unit).lstrip() if rest.startswith(unit) else text
