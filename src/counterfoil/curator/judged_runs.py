"""How a ledger counts a release that has to be accepted: as one charge, before its first run.

What a ledger would show of such a release otherwise, such as which marginals a withheld run chose, or how many runs
there were, is more than "withheld" says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from counterfoil.interrupts import interrupted_afterwards

if TYPE_CHECKING:  # who handles `Withheld` needs no ledger
    from counterfoil.accounting.budget import Budget
    from counterfoil.ledger.ledger import Ledger

JUDGED = "judged"
"""What a ledger calls the composition of a release that is charged as a whole, whatever becomes of it."""

NOTE = "charged as a whole before its first run; it may have been withheld"


def judged_charge(criteria_sha256: str, attempts: int) -> dict[str, Any]:
    """The one charge of such a release, for its ledger.

    Args:
        criteria_sha256: of the criteria that its runs are judged by.
        attempts: how many runs are allowed on average.
    """
    return {"query": "judged_runs", "parameters": {"criteria_sha256": criteria_sha256, "attempts": attempts}}


def charge_as_a_whole(
    charge: dict[str, Any], ledger: Ledger, *, budget: Budget, relation: str, description: dict[str, Any]
) -> int:
    """Has a ledger charge and close such a release at once; returns its number there.

    Args:
        charge: `judged_charge`.
        ledger: which refuses what it has no room for; nothing is charged then.
        budget: the whole of which is spent.
        relation: that it protects, as `Neighbors.describe` gives it.
        description: public parameters of the release.
    """
    with interrupted_afterwards():  # it is charged as a whole, or not reserved
        release = ledger.open_release(budget=budget, relation=relation, composition=JUDGED, description=description)
        release.charge(charge, description=JUDGED, affords=lambda _: True)
        release.close(NOTE)
    return release.id


class Withheld(Exception):
    """No run of a release met the criteria that were declared for it: it was withheld, and stays charged as a whole.

    It says nothing else: neither how far a run was from its criteria, nor how many there were.
    """
