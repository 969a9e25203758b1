"""Numbers of rows as people write them: 1000, 1_000_000 or 1e8."""

from __future__ import annotations

import re
from decimal import Decimal

import typer

_NUMBER = re.compile(r"[+-]?\d+(?:_\d+)*(?:\.\d+)?(?:[eE]\+?\d{1,2})?", re.ASCII)


def row_count(text: str) -> int:
    """The whole number that a text means, which may be an option's default too; whether it is one of rows is not asked.

    Raises:
        BadParameter: for a text that means no whole number.
    """
    found = str(text).strip()
    number = Decimal(found.replace("_", "")) if _NUMBER.fullmatch(found) and len(found) < 100 else None
    if number is None or number != number.to_integral_value():
        raise typer.BadParameter(f"it must be a whole number, such as 5000 or 1e8. Found {text!r}.")
    return int(number)
