"""The sums that the entries of a ledger amount to: a pure replay, without a file.

**Amounts are decimals.** A float stands for the shortest decimal that reads back as it, which is what its user
typed: 0.1 is one tenth, and ten releases of 0.1 use up a total of 1 exactly. Sums are exact fractions of these
decimals, so that nothing is lost or overspent by rounding, however many releases there are. (A float differs
from its decimal by at most one part in 2**53, far inside what calibration holds back.) Sums that no float
stands for are shown rounded against the spender: what was spent upwards, what is left downwards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.errors import BudgetExceeded, LedgerEdited, LedgerError, ReleaseClosed
from counterfoil.ledger.protection import Protection, together, why_apart
from counterfoil.ledger.source import SourceIdentity

Status = Literal["open", "closed", "abandoned"]

# Every entry has these keys and those of its kind, and no other: nothing computed from records fits in.
COMMON_KEYS = frozenset({"kind", "time", "version"})
KEYS: dict[str, frozenset[str]] = {
    "created": frozenset({"source", "total"}),
    "release_opened": frozenset({"release", "budget", "relation", "composition", "description"}),
    "release_continued": frozenset({"release", "within", "budget", "relation", "composition", "description"}),
    "charged": frozenset({"release", "event", "description"}),
    "release_closed": frozenset({"release", "note"}),
    "release_abandoned": frozenset({"release"}),
    "revealed": frozenset({"reason"}),
    "refused": frozenset(),
    "moved": frozenset({"source"}),
    "receipt": frozenset({"release", "sha256"}),
    "sizes_read": frozenset({"relation"}),
}
FORMAT_OF = {"refused": 2, "moved": 3, "receipt": 3, "release_continued": 4, "sizes_read": 5}
"""The first format of files that have such entries; 1 for the others. Versions that lack it refuse the file."""
MIXED_FORMAT = 3
"""The first format of files whose releases may have different relations that add up."""

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Amount:
    """A sum of budgets: like a `Budget`, but zero and (after a reveal) infinity are possible."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"epsilon {_short(self.epsilon)} and delta {_short(self.delta)}"


@dataclass
class ReleaseRecord:
    """What the ledger knows of one release: its reservation, and what was charged to it so far.

    `within` is the release whose reservation it spends the rest of, such as the purchase of its schema: it has reserved
    nothing itself, and its budget is that of both together. None for a release with a reservation of its own.
    """

    id: int
    budget: Budget
    relation: str
    composition: str
    description: dict[str, Any]
    opened: str
    status: Status = "open"
    note: str = ""
    charges: list[dict[str, Any]] = field(default_factory=list)
    within: int | None = None


@dataclass(frozen=True)
class Reveal:
    """A look at the records without privacy.

    Args:
        time: when, in UTC, ISO 8601.
        reason: why, in the words of whoever looked.
    """

    time: str
    reason: str


@dataclass(frozen=True)
class FormerPlace:
    """Where the records were before the ledger was moved with them.

    Args:
        source: their name and location until then.
        until: when the move was written down, in UTC, ISO 8601.
    """

    source: SourceIdentity
    until: str


class LedgerState:
    """The sums after a number of entries.

    `apply` is the only way to change them, and refuses an entry without having changed anything.
    """

    def __init__(self) -> None:
        self.source: SourceIdentity | None = None
        self.releases: list[ReleaseRecord] = []
        self.reveals: list[Reveal] = []
        self.refusals: list[str] = []
        self.former: list[FormerPlace] = []
        self.receipts: dict[str, int] = {}
        self.sizes_read: list[str] = []
        self._total = self._reserved = (Fraction(0), Fraction(0))

    def apply(self, number: int, body: dict[str, Any]) -> None:
        """Take in entry `number`.

        Raises:
            LedgerEdited: for an entry that Counterfoil would not have written in this state.
        """
        try:
            kind = body["kind"]
            if body.keys() != COMMON_KEYS | KEYS[kind]:
                raise ValueError("its keys are not those of its kind")
            if (kind == "created") != (number == 1):
                raise ValueError("a ledger is created once, by its first entry")
            steps: dict[str, Callable[[dict[str, Any]], None]] = {
                "created": self._create,
                "release_opened": self._open,
                "release_continued": self._continue,
                "charged": lambda body: self.open_release(body["release"]).charges.append(body["event"]),
                "release_closed": self._close,
                "release_abandoned": self._abandon,
                "revealed": lambda body: self.reveals.append(Reveal(body["time"], body["reason"])),
                "refused": lambda body: self.refusals.append(body["time"]),
                "moved": self._move,
                "receipt": self._note_receipt,
                "sizes_read": self._read_sizes,
            }
            steps[kind](body)
        except (LedgerError, KeyError, TypeError, ValueError) as error:
            raise LedgerEdited(f"Entry {number} of the ledger can't follow those before it: {error!s}.") from error

    @property
    def total(self) -> Amount:
        return Amount(float(self._total[0]), float(self._total[1]))

    @property
    def reserved(self) -> Amount:
        return Amount(*(_rounded(amount, up=True) for amount in self._reserved))

    @property
    def left(self) -> Amount:
        epsilon, delta = (_rounded(a - b, up=False) for a, b in zip(self._total, self._reserved, strict=True))
        return Amount(epsilon, delta)

    def require_room(self, budget: Budget, relation: str) -> None:
        """Check that a release may be opened.

        Raises:
            BudgetExceeded: when less than `budget` is left.
            LedgerError: when earlier releases protect another neighboring relation, so that the sum of their
                budgets with this one would bound nothing.
        """
        self.require_common(relation)
        asked = _exact(budget)
        if any(r + a > t for r, a, t in zip(self._reserved, asked, self._total, strict=True)):
            raise BudgetExceeded(
                f"All releases of a source together must stay within its total. The total is {self.total}; "
                f"{self.reserved} are reserved; {self.left} are left; asked for: "
                f"{Amount(budget.epsilon, budget.delta)}. Ask for at most what is left.{self._still_open()}"
            )

    def require_rest(self, within: int, budget: Budget, relation: str, composition: str) -> None:
        """Check that one release may spend what release `within` left of its reservation; the two are one guarantee.

        Raises:
            LedgerError: where that release is none that was charged and closed, has another budget or relation, spends
                the rest of another one itself, where the rest is another release's, or where the composition does not
                count what the plan of that release took.
        """
        before = self.release(within)
        if before.status != "closed" or not before.charges or before.within is not None:
            advice = (
                " Where its run was killed, or the ledger was busy at its end, `counterfoil ledger close L --release "
                f"{within} --receipt R.json` ends it by the receipt of the schema."
            )
            raise LedgerError(
                f"What is left of a reservation is spent once its release is closed. Release {within} is "
                f"{before.status}{', and spends the rest of another one' if before.within else ''}."
                + (advice if before.status == "open" and before.charges else "")
            )
        if before.budget != budget or before.relation != relation:
            raise LedgerError(
                f"The rest of release {within} has its budget, epsilon {before.budget.epsilon:g} and delta "
                f"{before.budget.delta:g}, and protects '{before.relation}'. Found epsilon {budget.epsilon:g}, delta "
                f"{budget.delta:g} and '{relation}': state the same."
            )
        for other in self.releases:
            if other.within == within and other.status != "abandoned":
                unused = other.status == "open" and not other.charges
                advice = (
                    "where its run was killed before anything was charged, `counterfoil ledger give-back L --release "
                    f"{other.id}` frees it."
                )
                raise LedgerError(
                    f"The rest of release {within} is for one release. Found release {other.id}, which has it already: "
                    + (advice if unused else "make another one with a budget of its own, which adds to both.")
                )
        try:
            counts = RestOfBudget.planned(before.description.get("plan", ())).name
        except (ValueError, TypeError, AttributeError) as error:
            raise LedgerError(f"Release {within} leaves no rest: {error}") from None
        if composition != counts:
            raise LedgerError(
                f"What spends the rest of release {within} is composed by {counts}, which counts what that release "
                f"took. Found {composition!r}."
            )

    def _still_open(self) -> str:
        """A sentence on reservations that killed runs may have left; empty where none is open."""
        count = sum(release.status == "open" for release in self.releases)
        if not count:
            return ""
        which = "1 release is" if count == 1 else f"{count:,} releases are"
        return f" {which} still open: where the run was killed, `counterfoil ledger show` says what can be done."

    def require_common(self, relation: str) -> None:
        """Check that a release of this relation adds up with those before it.

        Raises:
            LedgerError: which says under which relation it would.
        """
        for other in self._relations:
            if Protection.of(other).with_release(Protection.of(relation)) is None:
                raise LedgerError(why_apart(relation, other))

    @property
    def protects(self) -> Protection | None:
        """Between which tables the sum of all releases holds; None where there is none."""
        return together(self._relations)

    @property
    def _relations(self) -> list[str]:
        kept = [release.relation for release in self.releases if release.status != "abandoned"]
        return [*kept, *self.sizes_read]

    def binds(self, relation: str) -> bool:
        """Whether the ledger protects no more than this relation does for good, whatever is given back.

        That is so where sizes were read before, or a release was charged or closed, between neighbors that share what
        those of this relation do: the number of rows, and of those in each of its groups.
        """
        lasting = [release.relation for release in self.releases if release.charges or release.status == "closed"]
        bound = together([*lasting, *self.sizes_read])
        return bound is not None and bound.with_release(Protection.of(relation)) == bound

    def mixes(self, relation: str) -> bool:
        """Whether a release of this relation would stand beside those of another one, which older versions refuse."""
        return any(other != relation for other in self._relations)

    def require_receipt(self, release_id: int, digest: str) -> None:
        """Check that a receipt may be noted.

        Raises:
            LedgerError: where there is no such release, or it was abandoned, or another release has this receipt.
            ValueError: when `digest` is no SHA-256.
        """
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise ValueError(
                "A receipt is noted by its SHA-256, 64 hexadecimal digits in lower case. Found another text."
            )
        if self.release(release_id).status == "abandoned":
            raise LedgerError(f"Only a release that was charged has a receipt. Release {release_id} was abandoned.")
        if self.receipts.get(digest, release_id) != release_id:
            raise LedgerError(
                f"Each receipt is of one release. Found release {self.receipts[digest]} with the receipt that is to be "
                f"noted for release {release_id}: check which of the two it is of."
            )

    def release(self, release_id: int) -> ReleaseRecord:
        """The release with this id, open or not.

        Raises:
            LedgerError: when there is none.
        """
        if not 1 <= release_id <= len(self.releases):
            raise LedgerError(f"A release must be one of 1 to {len(self.releases)}. Found {release_id}.")
        return self.releases[release_id - 1]

    def open_release(self, release_id: int) -> ReleaseRecord:
        """The release with this id, which must be open.

        Raises:
            ReleaseClosed: when it was closed or abandoned.
            LedgerError: when there is none.
        """
        record = self.release(release_id)
        if record.status != "open":
            raise ReleaseClosed(f"A release must be open to be used. Release {release_id} was {record.status}.")
        return record

    def _create(self, body: dict[str, Any]) -> None:
        source, total = SourceIdentity(**body["source"]), _exact(Budget.unrestricted(**body["total"]))
        self.source, self._total = source, total

    def _open(self, body: dict[str, Any]) -> None:
        budget = Budget.unrestricted(**body["budget"])  # older versions had no bounds
        self.require_room(budget, body["relation"])
        self._add(body, budget)
        self._reserved = _plus(self._reserved, _exact(budget), 1)

    def _continue(self, body: dict[str, Any]) -> None:
        budget = Budget.unrestricted(**body["budget"])
        self.require_rest(body["within"], budget, body["relation"], body["composition"])
        self._add(body, budget, within=body["within"])

    def _add(self, body: dict[str, Any], budget: Budget, *, within: int | None = None) -> None:
        if body["release"] != len(self.releases) + 1:
            raise ValueError("releases are numbered from 1 on")
        described = body["composition"], body["description"], body["time"]
        self.releases.append(ReleaseRecord(body["release"], budget, body["relation"], *described, within=within))

    def _move(self, body: dict[str, Any]) -> None:
        assert self.source is not None, "the first entry names it"
        source = SourceIdentity(**body["source"])
        self.former.append(FormerPlace(self.source, body["time"]))
        self.source = source

    def _note_receipt(self, body: dict[str, Any]) -> None:
        self.require_receipt(body["release"], body["sha256"])
        self.receipts[body["sha256"]] = body["release"]

    def _read_sizes(self, body: dict[str, Any]) -> None:
        self.require_common(body["relation"])
        self.sizes_read.append(body["relation"])

    def _close(self, body: dict[str, Any]) -> None:
        record = self.open_release(body["release"])
        record.status, record.note = "closed", body["note"]

    def _abandon(self, body: dict[str, Any]) -> None:
        record = self.open_release(body["release"])
        if record.charges:
            raise ValueError("a release that was charged can't be abandoned")
        record.status = "abandoned"
        if record.within is None:
            self._reserved = _plus(self._reserved, _exact(record.budget), -1)


def _exact(budget: Budget) -> tuple[Fraction, Fraction]:
    return _decimal(budget.epsilon), _decimal(budget.delta)


def _decimal(amount: float) -> Fraction:
    return Fraction(repr(float(amount)))


def _plus(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction], sign: int) -> tuple[Fraction, Fraction]:
    return left[0] + sign * right[0], left[1] + sign * right[1]


def _rounded(amount: Fraction, *, up: bool) -> float:
    value = float(amount)
    while (_decimal(value) < amount) if up else (_decimal(value) > amount):
        value = math.nextafter(value, math.inf if up else -math.inf)
    return value


def _short(amount: float) -> str:
    return repr(float(amount)).removesuffix(".0")
