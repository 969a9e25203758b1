"""How a ledger counts a release that has to be accepted: as one charge, before its first run.

What a ledger would show of such a release otherwise, such as which marginals a withheld run chose, or how many runs
there were, is more than "withheld" says.
"""

from __future__ import annotations

from typing import Any

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


class Withheld(Exception):
    """No run of a release met the criteria that were declared for it: it was withheld, and stays charged as a whole.

    It says nothing else: neither how far a run was from its criteria, nor how many there were.
    """
