"""Upper bounds of delta that hold whatever rounding does. They certify conversions that were computed with floats.

They are computed with decimals of at least 80 digits. Addition, multiplication, division, square roots and exponentials
of `decimal` are rounded correctly, by the specification that it implements, so that each is off by a factor
1 + d, abs(d) < 10**-79; the logarithms, too. What follows from a few thousand of them is within 10**-30, by which the
bounds are raised.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal

_DIGITS = 80
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
_LARGEST = 10**9
_NEXT_TO_NOTHING = Decimal("1e-1000000")
_ROUNDING = Decimal("1e-30")


def gaussian_delta_bound(epsilon: float, mu: float) -> Decimal:
    """At least the delta of a mu-Gaussian mechanism, Phi(-x) - e**epsilon Phi(-x - mu) with x = epsilon/mu - mu/2.

    Beyond 10**9 it is not computed: Phi(-x) is next to nothing there, and any delta is at most 1.
    """
    if mu == 0:
        return Decimal(0)
    # x and its square are known to fewer digits than they are computed with, by their size.
    with decimal.localcontext(_context(_DIGITS + 40)):
        ratio, width = Decimal(epsilon) / Decimal(mu), Decimal(mu)
        x = ratio - width / 2
        if x > _LARGEST:
            return _NEXT_TO_NOTHING
        if x < -_LARGEST or x + width > _LARGEST:
            return Decimal(1)
        first, second = _tail(x)[1], Decimal(epsilon).exp() * _tail(x + width)[0]
        return first - second + _ROUNDING * first


def is_above_response(mu: float, epsilon: float) -> bool:
    """Whether randomized response with `epsilon` is surely mu-Gaussian: Phi(-mu/2) <= 1 / (1 + e**epsilon)."""
    assert mu <= _LARGEST
    assert epsilon <= _LARGEST
    with decimal.localcontext(_context(_DIGITS + 40)):
        return _tail(Decimal(mu) / 2)[1] * (1 + Decimal(epsilon).exp()) <= 1 - _ROUNDING


def central_mass(x: Decimal) -> Decimal:
    """At least Phi(x) - Phi(-x), the mass of the standard normal law within `x` >= 0 of its center; off by 10**-28."""
    with decimal.localcontext(_context(_DIGITS + 40)):
        return 1 - 2 * _tail(x)[0] + _ROUNDING


def concentrated_delta_bound(epsilon: float, rho: float, excess: float) -> Decimal:
    """At least the bound of rho-zCDP at the order a = 1 + `excess`: e**((a-1) (a rho - epsilon)) (1-1/a)**a / (a-1).

    Source: Canonne, Kamath and Steinke 2020, Proposition 12. Any a gives a valid bound.
    """
    if not 1e-300 < excess < 1e300:
        return Decimal(1)
    # No term of the exponent is above 10**900 or so.
    with decimal.localcontext(_context(_DIGITS + 1000)):
        e = Decimal(excess)
        order = 1 + e
        exponent = e * (order * Decimal(rho) - Decimal(epsilon))
    with decimal.localcontext(_context(_DIGITS + max(exponent.adjusted(), e.adjusted(), 0))):
        exponent += order * (e / order).ln() - e.ln()
        return min(Decimal(1), exponent.exp() * (1 + _ROUNDING)) if exponent < 0 else Decimal(1)


def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


def _tail(x: Decimal) -> tuple[Decimal, Decimal]:
    """Below and above Phi(-x), up to the rounding of the digits in force."""
    density = (-x * x / 2).exp() / (2 * _PI).sqrt()
    if x >= 1:
        low, high = _mills(x)
        return density * low, density * high
    if x <= -1:
        low, high = _mills(-x)
        return 1 - density * high, 1 - density * low
    # Phi(x) = 1/2 + phi(x) (x + x**3 / 3 + x**5 / (3 * 5) + ...): from the 60th on, terms fall by 1/120 or faster.
    term = total = abs(x)
    for n in range(1, 60):
        term *= x * x / (2 * n + 1)
        total += term
    low, high = density * total, density * (total + term)
    half = Decimal(1) / 2
    return (half - high, half - low) if x >= 0 else (half + low, half + high)


def _mills(x: Decimal) -> tuple[Decimal, Decimal]:
    """Below and above Phi(-x) / phi(x) for x >= 1, by Laplace's continued fraction 1/(x + 1/(x + 2/(x + ...))).

    What follows the k-th numerator lies between x and x + (k + 1) / x, and the fraction is monotone in it: two
    successive convergents lie on different sides. They differ by about e**(-2 x sqrt(k)).
    """
    depth = 40 + math.ceil(1600 / float(x) ** 2)
    one, other = _convergent(x, depth), _convergent(x, depth + 1)
    return min(one, other), max(one, other)


def _convergent(x: Decimal, depth: int) -> Decimal:
    value = x
    for k in range(depth, 0, -1):
        value = x + k / value
    return 1 / value
