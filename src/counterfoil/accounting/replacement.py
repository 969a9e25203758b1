"""How much further a record that is replaced can move an answer than one that is added or removed.

The *replacement factor* of a query is its sensitivity under `replace_one` over that under `add_or_remove_one`, in the
norm of its noise. An account declares the largest factor that it admits before its first query. What a release
guarantees under the relation that it was not made for follows from that declaration alone, and is therefore the same
for every run of a method.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from counterfoil.accounting.neighbors import NeighboringRelation

ANY_QUESTION = 2.0
"""Replacing a record is removing it and adding another: no answer moves further than in two steps."""

COUNTS_WITH_GAUSSIAN_NOISE = math.sqrt(2)
"""Replacing a record moves the counts of two cells, each by as much as adding or removing one moves a single count."""

ROUNDING = 1 + 1e-12
"""Sensitivities hold square roots, whose quotients round in the sixteenth digit."""


def require_replacement_factor(factor: float) -> float:
    """`factor`, as it may be declared.

    Raises:
        ValueError: unless it lies between 1 and `ANY_QUESTION`.
    """
    if not (isinstance(factor, (int, float)) and 1 <= factor <= ANY_QUESTION):
        raise ValueError(f"`replacement_factor` must lie between 1 and {ANY_QUESTION:g}. Found {factor!r}.")
    return float(factor)


def require_declared(name: str, sensitivity: Callable[[NeighboringRelation], float], factor: float) -> None:
    """Refuses the query `name`, of this sensitivity, where its replacement factor exceeds the declared one.

    Raises:
        ValueError: with the factor that would have to be declared.
    """
    moved = sensitivity(NeighboringRelation.ADD_OR_REMOVE_ONE)
    replaced = sensitivity(NeighboringRelation.REPLACE_ONE)
    if replaced > moved * factor * ROUNDING:
        raise ValueError(
            f"This account was opened for queries with a replacement factor of at most {factor:.6g}. Found "
            f"{name} with {replaced / moved:.6g}: open the account with that `replacement_factor`."
        )
