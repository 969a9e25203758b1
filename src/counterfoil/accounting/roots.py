"""The root of a function of one number, without the packages that a quarter of a second is needed to import."""

from __future__ import annotations

import math
from collections.abc import Callable

_RELATIVE = 4 * 2.0**-52
_MOST_STEPS = 100


def brentq(function: Callable[[float], float], low: float, high: float, *, xtol: float) -> float:
    """A root between `low` and `high`, where `function` has different signs, within `xtol` and rounding.

    It takes the same steps as `scipy.optimize.brentq`, in the same floating point numbers.

    Args:
        function: continuous.
        low, high: the ends, in either order.
        xtol: how far the root may be off, besides four relative roundings.

    Source: Brent 1973, "Algorithms for Minimization without Derivatives", chapter 4.

    Raises:
        ValueError: where the signs at the ends are equal, or a value is NaN.
        RuntimeError: after 100 steps.
    """
    before, now = low, high
    value_before, value = _value(function, before), _value(function, now)
    if value_before == 0:
        return before
    if value == 0:
        return now
    if (value_before < 0) == (value < 0):
        raise ValueError("A root is looked for between values of different signs. Found equal ones.")
    across, value_across, last, step = 0.0, 0.0, 0.0, 0.0
    for _ in range(_MOST_STEPS):
        if value_before != 0 and value != 0 and (value_before < 0) != (value < 0):
            across, value_across = before, value_before
            last = step = now - before
        if abs(value_across) < abs(value):
            before, now, across = now, across, now
            value_before, value, value_across = value, value_across, value
        delta = (xtol + _RELATIVE * abs(now)) / 2
        half = (across - now) / 2
        if value == 0 or abs(half) < delta:
            return now
        tried = math.inf
        if abs(last) > delta and abs(value) < abs(value_before):
            tried = _tried(before, now, across, value_before, value, value_across)
        if 2 * abs(tried) < min(abs(last), 3 * abs(half) - delta):
            last, step = step, tried
        else:
            last = step = half
        before, value_before = now, value
        now += step if abs(step) > delta else math.copysign(delta, half)
        value = _value(function, now)
    raise RuntimeError(f"No root was found in {_MOST_STEPS} steps.")


def _tried(a: float, b: float, c: float, value_a: float, value_b: float, value_c: float) -> float:
    """The step from b by the secant through a, where a is c, or else by the inverse parabola through all three."""
    if a == c:
        return _ratio(-value_b * (b - a), value_b - value_a)
    slope_a, slope_c = (value_a - value_b) / (a - b), (value_c - value_b) / (c - b)
    above = -value_b * (value_c * slope_c - value_a * slope_a)
    return _ratio(above, slope_c * slope_a * (value_c - value_a))


def _ratio(above: float, below: float) -> float:
    """The quotient; infinite where Python would refuse to divide, so that the interval is halved."""
    return above / below if below else math.inf


def _value(function: Callable[[float], float], point: float) -> float:
    value = float(function(point))
    if math.isnan(value):
        raise ValueError("The function whose root is looked for must have a value everywhere. Found NaN.")
    return value
