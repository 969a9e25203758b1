"""Whether a ledger knows a receipt, and its release is the one that the receipt is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.curator.judged_runs import JUDGED, judged_charge
from counterfoil.receipt.canonical import digest_of, unsigned
from counterfoil.receipt.terms import neighbors_of

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger, ReleaseRecord


def ledger_problems(document: Mapping[str, Any], ledger: Ledger) -> Iterator[str]:
    """What differs between a receipt and its release in `ledger`.

    A ledger keeps the SHA-256 of each receipt, which fixes every word. A receipt that was signed after it was recorded
    is known by what it was before. What the ledger counts itself is compared too: it was written by the program that
    asked, before each answer.

    Args:
        document: the receipt.
        ledger: of its source.
    """
    known = ledger.receipts()
    number = _recorded(document, known)
    if number is None:
        yield unrecorded(document, ledger) or _UNKNOWN
        return
    if document["source"] not in _names(ledger):
        yield f"The ledger is of the source {ledger.source.name!r}. The receipt states {document['source']!r}."
    if document.get("ledger") is False:
        yield "The receipt states that no ledger counts its release. This one does."
    release = ledger.releases()[number - 1]
    yield from _differences(document, release)
    yield from _purchase(document, ledger, known, release)


def unrecorded(document: Mapping[str, Any], ledger: Ledger) -> str:
    """Why a ledger that counts a release like that of the receipt can't vouch for it; empty for any other receipt.

    It is no mark against the receipt: a ledger records none of a release that several runs were allowed for
    (`JudgedRuns`).

    Args:
        document: the receipt.
        ledger: of its source.
    """
    judged = None if _recorded(document, ledger.receipts()) is not None else _judged_alike(document, ledger)
    return "" if judged is None else _UNRECORDED.format(judged)


def close_by_receipt(ledger: Ledger, number: int, document: Mapping[str, Any]) -> None:
    """Ends an open release whose receipt is at hand, as its own run would have: it was killed, or the ledger was busy.

    Formal guarantee: nothing is given back, and nothing more can be charged to the release. What it reserved stays
    reserved, so that all releases stay within the total. Where it bought a schema with a share of its budget, what may
    be spent of the rest, by one release, follows from its plan and not from this receipt (`Ledger.require_rest`).

    Args:
        ledger: of the source.
        number: of the release.
        document: a receipt that holds.

    Raises:
        ValueError: for a receipt that is not the release's.
        LedgerError: where there is no such release, it is not open, or the receipt is another release's.
    """
    release = ledger.resume(number)
    record = next(one for one in ledger.releases() if one.id == number)
    problems = list(_differences(document, record))
    if document["source"] not in _names(ledger):
        problems.append(
            f"The ledger is of the source {ledger.source.name!r}. The receipt states {document['source']!r}."
        )
    if problems:
        raise ValueError(f"Only its own receipt ends a release. {problems[0]}")
    digests = (digest_of(document), digest_of(unsigned(document)))
    if not any(ledger.receipts().get(digest) == number for digest in digests):
        release.record_receipt(digests[0])
    release.close("finished")


def _differences(document: Mapping[str, Any], release: ReleaseRecord) -> Iterator[str]:
    """What differs between a receipt and a release of a ledger."""
    rule, charges = _counted(document)
    stated = {
        "budget": (Budget(**document["budget"]), release.budget),
        "neighboring relation": (neighbors_of(document).describe(), release.relation),
        "composition": (rule, release.composition),
    }
    for what, (of_receipt, of_ledger) in stated.items():
        if of_receipt != of_ledger:
            yield f"The {what} of release {release.id} in the ledger is {of_ledger}. The receipt states {of_receipt}."
    if charges != release.charges:
        yield (
            f"The ledger has {len(release.charges)} charges of release {release.id}, and the receipt "
            f"{len(charges)}: they are not the same, in the same order."
        )


_UNKNOWN = (
    "The ledger does not know this receipt: no release of it has recorded its SHA-256, so that it was made elsewhere "
    "or something was changed in it."
)
_UNRECORDED = (
    "The ledger counts release {} by the same criteria and budget, but can't vouch for this receipt: where several "
    "runs are allowed it records none, as the time of that would show how many there were. A signature vouches for it "
    "(--key)."
)


def _recorded(document: Mapping[str, Any], known: Mapping[str, int]) -> int | None:
    """The release of which the ledger recorded this receipt, signed or before it was; None where it did not."""
    digests = (digest_of(document), digest_of(unsigned(document)))
    return next((known[digest] for digest in digests if digest in known), None)


def _judged_alike(document: Mapping[str, Any], ledger: Ledger) -> int | None:
    """A release that may be the one of this receipt, whose digest no ledger records (`JudgedRuns`); None for others."""
    section = document.get("acceptance")
    if section is None or section["attempts"] <= 1 or document["source"] not in _names(ledger):
        return None
    rule, charges = _counted(document)
    wanted = (Budget(**document["budget"]), neighbors_of(document).describe(), rule, charges)
    for release in ledger.releases():
        if (release.budget, release.relation, release.composition, release.charges) == wanted:
            return release.id
    return None


def _purchase(
    document: Mapping[str, Any], ledger: Ledger, known: Mapping[str, int], release: ReleaseRecord
) -> Iterator[str]:
    """Whether the schema cost what the ledger counted when it was bought, where it was bought there."""
    section = document.get("schema_bought", document.get("schema_share"))
    number = None if section is None else known.get(str(section.get("receipt")))
    if section is None or number is None:
        return
    purchase = ledger.releases()[number - 1]
    if "schema_share" in document and release.within != purchase.id:
        yield f"The ledger does not say that release {release.id} spends the rest of release {purchase.id}."
    if "of" in section and not _took(purchase, section):
        yield f"What the schema took of its budget is not what the ledger planned for it (release {purchase.id})."
    spent = purchase.budget
    stated = Budget.unrestricted(float(section.get("of", section)["epsilon"]), float(section["delta"]))
    if (spent.epsilon, spent.delta) != (stated.epsilon, stated.delta):
        yield f"The schema was bought for {spent} in the ledger (release {number}). The receipt states {stated}."


def _took(purchase: ReleaseRecord, section: Mapping[str, Any]) -> bool:
    """Whether a section's share of a budget is what the plan of the purchase takes."""
    try:
        rule = RestOfBudget.planned(purchase.description.get("plan", ()))
        return rule == RestOfBudget(float(section["of"]["mu_squared"]), float(section["of"]["threshold_delta"]))
    except ValueError:
        return False


def unknown_purchase(document: Mapping[str, Any], ledger: Ledger) -> tuple[str, ...]:
    """What a ledger that knows the receipt can't vouch for: the cost of a schema that it did not count."""
    section = document.get("schema_bought", document.get("schema_share"))
    if section is None or str(section.get("receipt")) in ledger.receipts():
        return ()
    return ("what the schema cost (schema_bought): this ledger has no such purchase",)


def _counted(document: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The rule and the charges that a ledger has of a release: of one that had to be accepted, the whole as one."""
    section = document.get("acceptance")
    if section is None:
        return str(document["composition"]["rule"]), list(document["charges"])
    return JUDGED, [judged_charge(str(section["sha256"]), int(section["attempts"]))]


def _names(ledger: Ledger) -> set[str]:
    """What the source was called, before it was moved too."""
    identities = (entry.details.get("source") for entry in ledger.entries() if entry.kind in ("created", "moved"))
    return {str(one["name"]) for one in identities if isinstance(one, dict) and "name" in one}
