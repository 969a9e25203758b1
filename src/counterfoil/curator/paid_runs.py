"""The runs that one charge pays for, each of them once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.repeated import require_attempts
from counterfoil.curator.right import Right
from counterfoil.noise.randomness import Randomness

_WORDS = 2**64


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


@dataclass(frozen=True)
class PaidRun:
    """What the curator of one run knows of what pays for it.

    Args:
        attempts: K, as they are paid for.
        pay: sees to it that the runs are paid for, before the first asks anything.
        paid: what was paid for; None before that.
        begun: whether this run was taken from them.
    """

    attempts: int
    pay: Callable[[], None]
    paid: Callable[[], PaidRuns | None]
    begun: bool = False

    def begin(self, budget: Budget, relation: str) -> PaidRun:
        """Has the runs paid for and takes this one from them; to be called before anything is asked.

        Raises:
            ValueError: for a run that was not paid for, or that no coin allows.
        """
        self.pay()
        runs = self.paid()
        if runs is None:
            raise ValueError("A run is paid for by its curator's `pay_for_runs`, before it asks anything. Found none.")
        runs.begin(self.attempts, budget, relation)
        return replace(self, begun=True)


def one_of(sides: int, randomness: Randomness) -> bool:
    """True with probability 1/sides, exactly: words of 64 random bits beyond the last multiple of `sides` are left."""
    whole = _WORDS - _WORDS % sides
    while True:
        word = int(randomness.words(1)[0])
        if word < whole:
            return word % sides == 0
