"""A release that an earlier run began, and what must be the same for another run to go on with it."""

from __future__ import annotations

from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.curator.answer_log import AnswerLog
from counterfoil.ledger.errors import ReleaseClosed
from counterfoil.ledger.ledger import Ledger
from counterfoil.ledger.release import Release


def resumed_release(ledger: Ledger, release_id: int, budget: Budget, relation: str) -> Release:
    """The open release with this number.

    Args:
        ledger: which has it.
        release_id: its number.
        budget: of the curator that goes on with it.
        relation: between which tables that curator protects, in words.

    Raises:
        ReleaseClosed: when it was closed.
        LedgerError: when there is none.
        ValueError: when its budget or relation is another.
    """
    try:
        release = ledger.resume(release_id)
    except ReleaseClosed as error:  # a run may be killed after it closed its release, before it deletes its answers
        whole = "Where its table and its receipt are there, it is whole, and what kept its answers can be deleted."
        raise ReleaseClosed(f"{error} {whole}") from None
    if release.budget != budget or release.relation != relation:
        raise ValueError(
            f"Release {release_id} has {release.budget} and {release.relation}; found {budget} and "
            f"{relation}. Continue it with the same."
        )
    return release


def require_continued(
    release: Release, composition: str, facts: dict[str, Any], plan: list[dict[str, Any]] | None
) -> None:
    """Refuses to go on with a release in another way than it was opened; older versions stated fewer facts.

    Raises:
        ValueError: which says what is another.
    """
    if release.composition != composition:
        raise ValueError(f"Release {release.id} composes by {release.composition!r}.")
    # Noise that is changed after an answer depends on that answer, which a plan's accounting excludes.
    if release.description.get("plan") != plan:
        raise ValueError(f"Release {release.id} was opened with another plan. Continue it with the same.")
    for fact, value in facts.items():
        if release.description.get(fact, value) != value:
            raise ValueError(f"Release {release.id} was opened with another `{fact}`. Continue it with the same.")


def go_on_with(log: AnswerLog, release: Release) -> None:
    """Has the answers name the release that was opened; without a ledger in a file, it gets their charges."""
    log.opened(release.id)
    for kept in log.charges if log.carries_charges else ():
        # Whether the budget covers them is asked with each answer that is given once more.
        release.charge(kept.record, description=str(kept.record.get("query")), affords=lambda _: True)
