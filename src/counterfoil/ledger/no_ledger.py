"""The warning, given once a process, that a release is not counted in any ledger."""

from __future__ import annotations

import sys
import warnings
from functools import cache

NO_LEDGER = "No ledger: nothing will count this release against later ones of the same table."


class NoLedgerWarning(UserWarning):
    """A release is made without a ledger, so that nothing adds its cost to that of others of the same table.

    Given once a process, before the first query. Pass a `Ledger`, or ignore this category where nothing is shared.
    """


@cache
def warn_without_ledger() -> None:
    """Gives the warning, the first time only; each time where warnings are errors, which ends the release."""
    warnings.warn(
        f"{NO_LEDGER} Pass `ledger`, made by `Ledger.create` or `Ledger.open`, if the release may be shared.",
        NoLedgerWarning,
        stacklevel=_outside_the_package(),
    )


def _outside_the_package() -> int:
    """How many calls up the user's own line is, which is the one to show."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("counterfoil."):
        level, frame = level + 1, frame.f_back
    return level
