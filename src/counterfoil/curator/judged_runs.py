"""How a ledger counts a release that has to be accepted: as one charge, before its first run.

What a ledger would show of such a release otherwise, such as which marginals a withheld run chose, or how many runs
there were, is more than "withheld" says.
"""

from __future__ import annotations

from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.repeated import require_attempts
from counterfoil.curator.right import Right
from counterfoil.noise.randomness import Randomness

JUDGED = "judged"
"""What a ledger calls the composition of a release that is charged as a whole, whatever becomes of it."""

NOTE = "charged as a whole before its first run; it may have been withheld"

_WORDS = 2**64


def judged_charge(criteria_sha256: str, attempts: int) -> dict[str, Any]:
    """The one charge of such a release, for its ledger.

    Args:
        criteria_sha256: of the criteria that its runs are judged by.
        attempts: how many runs are allowed on average.
    """
    return {"query": "judged_runs", "parameters": {"criteria_sha256": criteria_sha256, "attempts": attempts}}


class PaidRuns:
    """The runs that one charge pays for: the first, and one more as often as a coin says so (`accounting.repeated`).

    Args:
        attempts: K, how many runs are allowed on average.
        budget: of the charge.
        relation: that it protects, as `Neighbors.describe` gives it.
        randomness: of the coin, which nobody else sees.
    """

    def __init__(self, attempts: int, budget: Budget, relation: str, randomness: Randomness) -> None:
        require_attempts(attempts)
        self._paid = attempts, budget, relation
        self._randomness = randomness
        self._ended = False
        self._next = self._one()

    def begin(self, attempts: int, budget: Budget, relation: str) -> None:
        """Takes the run that may be made now.

        Raises:
            ValueError: where there is none, or it was paid for otherwise.
        """
        if (attempts, budget, relation) != self._paid:
            raise ValueError(
                "A run has the attempts, the budget and the neighbors that were paid for. Found others: pay for these."
            )
        self._next.take()

    def goes_on(self) -> bool:
        """Whether one more run may follow one that failed: with probability 1 - 1/K, exactly, until once it may not."""
        self._ended = self._ended or one_of(self._paid[0], self._randomness)
        if not self._ended:
            self._next = self._one()
        return not self._ended

    @staticmethod
    def _one() -> Right:
        return Right(1, "All runs that were paid for are made: pay for another release.")


def one_of(sides: int, randomness: Randomness) -> bool:
    """True with probability 1/sides, exactly: words of 64 random bits beyond the last multiple of `sides` are left."""
    whole = _WORDS - _WORDS % sides
    while True:
        word = int(randomness.words(1)[0])
        if word < whole:
            return word % sides == 0


class Withheld(Exception):
    """No run of a release met the criteria that were declared for it: it was withheld, and stays charged as a whole.

    It says nothing else: neither how far a run was from its criteria, nor how many there were.
    """
