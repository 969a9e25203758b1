"""Lookup tables of reals of which `decimals` leaves fewer digits than they have: public, as both are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.schema.arithmetic import MOST_DECIMALS, near, round_to
from counterfoil.schema.derived import Derived
from counterfoil.schema.schema import Schema


@dataclass(frozen=True)
class RoundedLookup:
    """A derived column whose numbers come back as others than those of its lookup table.

    Args:
        column: its name.
        text: a sentence with what to write.
        count: how many rows of the lookup table it is about.
    """

    column: str
    text: str
    count: int


def rounded_lookups(schema: Schema) -> list[RoundedLookup]:
    """Those of all derived columns, in their order."""
    return [found for derived in schema.derived if (found := _rounded(derived)) is not None]


def decimals_needed(numbers: np.ndarray, least: int = 0) -> int:
    """As few digits after the point, from `least` on, as leave all of these numbers as they are; 15 if none do."""
    while least < MOST_DECIMALS and not near(round_to(numbers, least), numbers).all():
        least += 1
    return least


def _rounded(derived: Derived) -> RoundedLookup | None:
    if derived.decimals is None or not derived.lookup:
        return None
    numbers = np.array([row[-1] for row in derived.lookup], dtype=float)
    count = int((~near(round_to(numbers, derived.decimals), numbers)).sum())
    if not count:
        return None
    return RoundedLookup(
        derived.name,
        f"Column {derived.name!r} is rounded: {count:,} of the {len(numbers):,} numbers of its lookup have more digits "
        f"after the point than `decimals = {derived.decimals}` leaves. Write `decimals = "
        f"{decimals_needed(numbers, derived.decimals)}`, or round them in the lookup.",
        count,
    )
