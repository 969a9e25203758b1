"""Sums of a ledger as pages write them: six digits, which never promise more than there is."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

_DIGITS = 6
_SURE = 15
"""Digits of a decimal that survive in a float: what differs beyond them is no part of the sum."""


def spent_text(amount: float) -> str:
    """Epsilon or delta that was spent, rounded up: 1.0000001 is not 1."""
    return _text(amount, ROUND_CEILING)


def left_text(amount: float) -> str:
    """Epsilon or delta that is left, rounded down."""
    return _text(amount, ROUND_FLOOR)


def _text(amount: float, rounding: str) -> str:
    if not math.isfinite(amount):
        return f"{amount:g}"
    rounded = Context(prec=_DIGITS, rounding=rounding).create_decimal(Decimal(f"{amount:.{_SURE}g}"))
    return f"{float(rounded):.{_DIGITS}g}"
