"""Runs of a release that is judged, until one is accepted or a coin ends them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.judged_runs import Withheld
from counterfoil.curator.right import Right
from counterfoil.curator.silence import without_warnings
from counterfoil.fidelity.acceptance import Acceptance
from counterfoil.synthesis.synthesis import Synthesis

Made = TypeVar("Made")


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
        curator.warn_of_query()  # what runs warn of is not shown
        self._curator, self._acceptance, self._paid = curator, acceptance, ""
        self._before_charge = before_charge
        self._once = Right(1, "`first_accepted` gives the one release that was paid for. Found a second call.")
        self.release: int | None = None
        """The number of the release in its ledger; None until it is paid for."""

    def first_accepted(self, make: Callable[[Curator], Any]) -> Synthesis | None:
        """The release of the first run that is accepted; None where it is withheld. To be called once.

        Where several attempts were allowed, its receipt has the time of the charge, which does not tell how long they
        took.

        Args:
            make: spends the budget of a curator on a release, which must be a `Synthesis`.

        Raises:
            TypeError: for a release of another kind.
            LedgerError: when the ledger refuses.
            ValueError: when it was called before.
        """
        self._once.take()
        curator, acceptance = self._curator, self._acceptance

        def run() -> Synthesis | None:
            with curator.run(acceptance.attempts, self._pay) as one:
                acceptance.prepare(one)
                made = make(one)
                if not isinstance(made, Synthesis):
                    raise TypeError("Releases can be judged that are a `Synthesis`. Found one of another kind.")
                return acceptance.judge(one, made)

        made = first_accepted(run, curator.another_run)
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


def first_accepted(run: Callable[[], Made | None], goes_on: Callable[[], bool]) -> Made | None:
    """What the first run that passes gives; None where the coin ended them before one did.

    This is the mechanism of `accounting.repeated`, which has its guarantee. A run that raises ends all as one that
    passes would, so that what it raises is what is released of it. Nothing of a run that failed is kept, and what runs
    warn of is not shown.

    Args:
        run: makes a release from fresh noise and judges it; None where it fails.
        goes_on: the coin: one more run follows a failure with probability 1 - 1/attempts exactly (`PaidRuns.goes_on`).
    """
    while True:
        with without_warnings():
            made = run()
        if made is not None or not goes_on():
            return made


def withheld(budget: Budget) -> Withheld:
    """What is raised where nothing was accepted; it depends on nothing but that."""
    return Withheld(
        f"Withheld: no run met the criteria, and nothing is released. Epsilon {budget.epsilon:g} and delta "
        f"{budget.delta:g} are spent, for everything was computed from the records."
    )
