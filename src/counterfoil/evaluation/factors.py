"""The constant of a multiple, as people would write it: the one of fewest digits that the records allow."""

from __future__ import annotations

import math


def factor_text(low: float, high: float, *, digits: int) -> str:
    """How an expression, which stands for `{}`, is multiplied: "{}", "12 * {}", "{} / 100"; empty where no constant of
    so many significant digits lies in a range, nor its reciprocal.

    Args:
        low: of the range.
        high: of the range.
        digits: the most that are written.
    """
    if not (0 < low <= high < math.inf or -math.inf < low <= high < 0):
        return ""
    for count in range(1, digits + 1):
        times, by = _shortest(low, high, count), _shortest(1 / high, 1 / low, count)
        if times is not None and (by is None or times == int(times) or by != int(by)):
            return "{}" if times == 1 else f"{_written(times)} * {{}}"
        if by is not None:
            return f"{{}} / {_written(by)}"
    return ""


def _shortest(low: float, high: float, count: int) -> float | None:
    """A number of `count` significant digits in a range of one sign, the one nearest to 0; None where there is none."""
    near, far = (low, high) if low > 0 else (-high, -low)
    exponent = math.floor(math.log10(near)) - count + 1
    found = float(f"{math.ceil(round(near / 10.0**exponent, 9))}e{exponent}")
    return math.copysign(found, low) if near * (1 - 1e-9) <= found <= far * (1 + 1e-9) else None


def _written(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"
