"""Texts that are numbers or days and were not read as such: decimal commas, units, and what a storage keeps as text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.unit import is_unit, unit_of
from counterfoil.schema.values import NUMBER, parse_number

_FEWEST = 3
"""Of fewer texts, such as 1,2 for the answers 1 and 2, nothing is said."""
_MOST = 0.9
"""Of the texts; a word for what is unknown may stand beside them."""
_WRITTEN = re.compile(r"[<>≤≥]?=?\s*[+\u2212-]?\d{1,3}([.' \u00a0\u2019]?\d{3})*(,\d+|\.\d+)?\s?(%|‰|€|\$|£)?")

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2}|\d{1,2}([./-])\d{1,2}\2\d{4})([T ]\d{1,2}:\d{2}.*)?$", re.ASCII)

_FRACTION = re.compile(r"[<>≤≥]?=?\s*[+-]?\d*\.\d+")


def are_written_numbers(texts: Sequence[str]) -> bool:
    """Whether nearly all of some texts are such numbers. 1.50 is read as it stands, and is none."""
    found = sum(_WRITTEN.fullmatch(text) is not None and not NUMBER.fullmatch(text) for text in texts)
    return max(found, _with_a_unit(texts)) >= max(_FEWEST, _MOST * len(texts))


def are_stored_as_texts(texts: Sequence[str]) -> bool:
    """Whether nearly all of some texts are numbers as they are read, some below a limit, with a fraction: no codes."""
    found = sum(_FRACTION.fullmatch(text) is not None for text in texts)
    return found >= max(_FEWEST, _MOST * len(texts))


def are_stored_dates(texts: Sequence[str]) -> bool:
    """Whether nearly all of some texts are days, or moments, with years of four digits."""
    found = sum(_DAY.match(text) is not None for text in texts)
    return found >= max(_FEWEST, _MOST * len(texts))


def _with_a_unit(texts: Sequence[str]) -> int:
    """How many are numbers with the one unit that most have, such as 75.0 kg beside decimal commas, or 12.8 g/dL."""
    found = Counter(unit for text in texts if (unit := unit_of(text) or _apart(text)) and _is_number(text, unit))
    return max(found.values(), default=0)


def _apart(text: str) -> str:
    """What stands behind a number and a space, if it can be a unit; one letter is the end of a code more often.

    A number with a point and nothing behind it is an ordinal in many languages, as in "1. Quartal".
    """
    number, _, unit = text.partition(" ")
    unit = unit.strip()
    return unit if len(unit) > 1 and is_unit(unit) and not number.endswith(".") else ""


def _is_number(text: str, unit: str) -> bool:
    return any(math.isfinite(parse_number(text, {}, sign, unit)) for sign in ("", *DECIMAL_CHARS))
