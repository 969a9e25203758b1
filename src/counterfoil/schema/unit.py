"""Numbers with a sign of their unit beside them, as 12 % and € 5 have; the number is what is left of the text."""

from __future__ import annotations

import re

MONEY = ("€", "$", "£", "¥", "CHF", "EUR", "USD", "GBP", "Fr.", "kr", "kr.", "zł", "Kč", "Ft")
"""Currencies, which are written before numbers too."""

_SHARES = ("%", "‰")
_MEASURES = ("°C", "kg", "mg", "g", "km", "cm", "mm", "m", "m²", "km²", "ha", "kWh", "years", "min")
_CLINICAL = ("mmol/L", "mmol/l", "mg/dL", "mg/dl", "g/dL", "g/dl", "g/L", "g/l", "U/L", "U/l", "mmHg", "bpm")
KNOWN = (*_SHARES, *MONEY, *_MEASURES, *_CLINICAL)
"""Units that are looked for in texts that are no numbers: what offices, shops and clinics write beside most of theirs.

A longer list costs a purchase little, but single letters other than g and m are ends of codes more often than units.
"""

_LONGEST = 20
_NEVER = re.compile(r"\d")
_ALONE = re.compile(r"[-+.,'\u2019\s]*")
_AFTER = re.compile(r"[0-9][.,]?\s*(" + "|".join(map(re.escape, sorted(KNOWN, key=len, reverse=True))) + ")$")
_BEFORE = re.compile(r"[-+]?\s*(" + "|".join(map(re.escape, (*_SHARES, *MONEY))) + r")\s*[-+]?[.,]?[0-9]")


def is_unit(text: str) -> bool:
    """Whether a text can stand beside numbers without being taken for a part of them."""
    short = text == text.strip() and len(text) <= _LONGEST
    return short and not _NEVER.search(text) and not _ALONE.fullmatch(text)


def bare(text: str, unit: str) -> str:
    """The text without its unit after or before the number, as it is where it has none.

    A point after letters shortens a word: kr.500 is five hundred, and is read by the unit "kr." alone.

    Args:
        text: stripped of white space.
        unit: see `is_unit`; nothing is taken off where it is empty.
    """
    if not unit:
        return text
    if text.endswith(unit):
        return text.removesuffix(unit).rstrip()
    sign, rest = (text[0], text[1:].lstrip()) if text[:1] in ("+", "-") else ("", text)
    digits = rest.removeprefix(unit)
    if not rest.startswith(unit) or (unit[-1].isalpha() and digits[:1] in (".", ",")):
        return text
    return sign + digits.lstrip()


def unit_of(text: str) -> str:
    """Which of `KNOWN` may stand after the number of a text, or before it; empty where none does.

    Shares and currencies are written before numbers too; m1 and g2 are codes.

    Args:
        text: stripped of white space.
    """
    found = _AFTER.search(text) or _BEFORE.match(text)
    return found[1] if found else ""
