"""Runs of a release that is judged, until one is accepted or a coin ends them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.repeated import require_attempts
from counterfoil.curator.curator import Curator
from counterfoil.curator.judged_runs import Withheld
from counterfoil.fidelity.acceptance import Acceptance
from counterfoil.noise.randomness import Randomness
from counterfoil.synthesis.synthesis import Synthesis

Made = TypeVar("Made")

_WORDS = 2**64


class JudgedRuns:
    """The runs of one release, which are paid for together when the first of them is about to ask its first question.

    What public facts alone refuse is therefore refused before anything is charged. Runs charge ledgers in memory, show
    no progress and keep no answers; of those that fail nothing stays but, in this process, memory that is let go.

    Args:
        curator: an open one, which has answered no query and answers none itself.
        acceptance: what a run must keep.
        before_charge: called once, when the charge is about to be made; what runs warn of is not shown.

    Raises:
        ValueError: for bounds on what can't be measured; nothing is charged.
    """

    def __init__(
        self, curator: Curator, acceptance: Acceptance, before_charge: Callable[[], None] = lambda: None
    ) -> None:
        acceptance.require_possible(curator.schema)
        self._curator, self._acceptance, self._paid = curator, acceptance, ""
        self._before_charge = before_charge
        self.release: int | None = None
        """The number of the release in its ledger; None until it is paid for."""

    def first_accepted(self, make: Callable[[Curator], Any]) -> Synthesis | None:
        """The release of the first run that is accepted; None where it is withheld.

        Where several attempts were allowed, its receipt has the time of the charge, which does not tell how long they
        took.

        Args:
            make: spends the budget of a curator on a release, which must be a `Synthesis`.

        Raises:
            TypeError: for a release of another kind.
            LedgerError: when the ledger refuses.
        """
        curator, acceptance = self._curator, self._acceptance

        def run() -> Synthesis | None:
            with curator.run(acceptance.attempts, self._pay) as one:
                acceptance.prepare(one)
                made = make(one)
                if not isinstance(made, Synthesis):
                    raise TypeError("Releases can be judged that are a `Synthesis`. Found one of another kind.")
                return acceptance.judge(one, made)

        made = first_accepted(run, acceptance.attempts, curator.randomness)
        return (
            made
            if made is None or acceptance.attempts == 1
            else replace(made, receipt=made.receipt.made_at(self._paid))
        )

    def _pay(self) -> None:
        if self.release is None:
            self._before_charge()
            self._paid = datetime.now(UTC).isoformat(timespec="seconds")
            acceptance = self._acceptance
            self.release = self._curator.pay_for_runs(acceptance.criteria.sha256, acceptance.attempts)


def first_accepted(run: Callable[[], Made | None], attempts: int, randomness: Randomness) -> Made | None:
    """What the first run that passes gives; None where the coin ended them before one did.

    This is the mechanism of `accounting.repeated`, which has its guarantee: one more run follows a failure with
    probability 1 - 1/attempts exactly. A run that raises ends all as one that passes would, so that what it raises is
    what is released of it. Nothing of a run that failed is kept, and what runs warn of is not shown.

    Args:
        run: makes a release from fresh noise and judges it; None where it fails.
        attempts: K, at least 1.
        randomness: of the coin, which nobody else sees.
    """
    require_attempts(attempts)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = run()
        if made is not None or one_of(attempts, randomness):
            return made


def one_of(sides: int, randomness: Randomness) -> bool:
    """True with probability 1/sides, exactly: words of 64 random bits beyond the last multiple of `sides` are left."""
    whole = _WORDS - _WORDS % sides
    while True:
        word = int(randomness.words(1)[0])
        if word < whole:
            return word % sides == 0


def withheld(budget: Budget) -> Withheld:
    """What is raised where nothing was accepted; it depends on nothing but that."""
    return Withheld(
        f"Withheld: no run met the criteria, and nothing is released. Epsilon {budget.epsilon:g} and delta "
        f"{budget.delta:g} are spent, for everything was computed from the records."
    )
