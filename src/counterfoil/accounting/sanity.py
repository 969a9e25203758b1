"""Budgets that promise next to nothing: what they mean in odds, for a warning, and what is refused unless said twice.

A budget is public, and so is the number of rows here: the exact one under `replace_one`, else a noisy count. Nothing in
this file depends on a record in any other way.
"""

from __future__ import annotations

import math
import warnings

from counterfoil.accounting.budget import Budget
from counterfoil.callers import outside_the_package

LARGE_EPSILON = 10.0
"""Above it a warning is given: the odds on a person may change by a factor of exp(10), about 22,026."""

LARGE_DELTA = 0.1
"""From it on a delta must be said twice: one in ten releases may reveal everything."""


class LooseBudgetWarning(UserWarning):
    """A release, or the total of a ledger, whose budget protects little: an epsilon above 10, or a delta of .1 or more.

    Given before anything is charged. What a delta means for the table's own number of rows is on the receipt.
    """


def warn_of_loose_budget(budget: Budget) -> None:
    """Gives the warning, for callers in Python; the command line prints the same sentences."""
    for sentence in budget_warnings(budget, None):
        warnings.warn(sentence, LooseBudgetWarning, stacklevel=outside_the_package())


def budget_warnings(budget: Budget, rows: float | None) -> list[str]:
    """Public sentences on a budget that protects little, for the terminal and the receipt; none for a usual one.

    Args:
        budget: of a release, or the total of a ledger.
        rows: about how many rows there are, which is public or noisy; None where nothing is known about that.
    """
    warnings = []
    if budget.epsilon > LARGE_EPSILON:
        warnings.append(
            f"Epsilon {budget.epsilon:g} protects hardly anybody: what is released may change the odds on any fact "
            f"about a person by a factor of {_factor(budget.epsilon)}. Up to 1 is usual, and above "
            f"{LARGE_EPSILON:g} the guarantee says next to nothing."
        )
    if rows is not None and rows >= 1 and budget.delta > 1 / rows:
        warnings.append(
            f"Delta {budget.delta:g} is above one in the {rows:,.0f} rows that there are about: to publish the rows of "
            f"{_persons(budget.delta * rows)} drawn at random would meet it too. Far below {1 / rows:.1g} is usual."
        )
    elif rows is None and budget.delta >= LARGE_DELTA:
        warnings.append(
            f"Delta {budget.delta:g} allows everything to be revealed with that probability. Far below one in the "
            "number of rows is usual."
        )
    return warnings


def require_moderate_delta(delta: float, confirmed: float | None = None) -> None:
    """Refuses a delta of .1 or more that was not said twice.

    Args:
        delta: of a budget.
        confirmed: the same number again; None where it was said once.

    Raises:
        ValueError: which says what such a delta allows, and how to say it twice.
    """
    if confirmed is not None and confirmed != delta:
        raise ValueError(
            f"`--confirm-delta` (`confirm_delta` in Python) repeats delta. Found {confirmed:g} beside {delta:g}: "
            "give the same number, or leave it out."
        )
    if delta >= LARGE_DELTA and confirmed is None:
        raise ValueError(
            f"`delta` must be far below one in the number of rows. Found {delta:g}, with which everything about "
            "everybody may be revealed with that probability: lower it, or repeat it with `--confirm-delta` "
            "(`confirm_delta` in Python)."
        )


def _factor(epsilon: float) -> str:
    """exp(epsilon), or the power of ten where nobody reads the number any more."""
    if epsilon <= 20:
        return f"{math.exp(epsilon):,.0f}"
    return f"10 to the power {epsilon / math.log(10):,.0f}"


def _persons(count: float) -> str:
    return f"about {count:,.0f} of them" if count >= 2 else "one of them"
