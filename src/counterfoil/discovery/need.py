"""What it would take to see what a discovery could not: a budget, from a noisy number of rows."""

from __future__ import annotations

import math

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.schema.discovered import Need

SEEN = 0.2
"""A share of the records whose common value a discovery should show."""

_MOST_EPSILON = 1000.0


def need_of(rows: float, error: float, hidden: float, budget: Budget) -> Need:
    """How many records the noise hides, and the epsilon under which it would hide fewer than `SEEN` of them.

    Noise falls as 1 / mu, whatever the shares of a budget.

    Args:
        rows: the noisy number of records.
        error: the deviation of its noise; where fewer records are seen, there may be as many.
        hidden: below this many records nothing shows.
        budget: under which that is so.
    """
    times = hidden / (SEEN * max(rows, error, 1.0))
    return Need(rows, error, hidden, _enough(budget, times) if times > 1 else None)


def _enough(budget: Budget, times: float) -> float | None:
    """The smallest epsilon, of two digits, whose mu is so many times that of `budget`; None beyond any sense."""
    wanted, low, high = times * largest_mu(budget), budget.epsilon, budget.epsilon
    while largest_mu(Budget.unrestricted(high, budget.delta)) < wanted:
        low, high = high, 2 * high
        if high > _MOST_EPSILON:
            return None
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        if largest_mu(Budget.unrestricted(middle, budget.delta)) < wanted:
            low = middle
        else:
            high = middle
    unit = 10.0 ** (math.floor(math.log10(high)) - 1)
    return round(math.ceil(high / unit) * unit, 12)
