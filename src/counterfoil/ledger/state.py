"""The sums that the entries of a ledger amount to: a pure replay, without a file.

**Amounts are decimals.** A float stands for the shortest decimal that reads back as it, which is what its user
typed: 0.1 is one tenth, and ten releases of 0.1 use up a total of 1 exactly. Sums are exact fractions of these
decimals, so that nothing is lost or overspent by rounding, however many releases there are. (A float differs
from its decimal by at most one part in 2**53, far inside what calibration holds back.) Sums that no float
stands for are shown rounded against the spender: what was spent upwards, what is left downwards.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import BudgetExceeded, LedgerEdited, LedgerError, ReleaseClosed

Status = Literal["open", "closed", "abandoned"]

# Every entry has these keys and those of its kind, and no other: nothing computed from records fits in.
COMMON_KEYS = frozenset({"kind", "time", "version"})
KEYS: dict[str, frozenset[str]] = {
    "created": frozenset({"source", "total"}),
    "release_opened": frozenset({"release", "budget", "relation", "composition", "description"}),
    "charged": frozenset({"release", "event", "description"}),
    "release_closed": frozenset({"release", "note"}),
    "release_abandoned": frozenset({"release"}),
    "revealed": frozenset({"reason"}),
    "refused": frozenset(),
}
SECOND_FORMAT = frozenset({"refused"})
"""Kinds that version 0.1 does not know."""


@dataclass(frozen=True)
class SourceIdentity:
    """The records that a ledger is for, identified by name and location alone.

    A fingerprint of the records would let anyone who guesses the table confirm the guess. The price is that
    the ledger can't notice when other records are put in the same place.

    Args:
        name: what people call it, such as "adult".
        location: where it is, such as an absolute path, or "memory".
    """

    name: str
    location: str

    def __str__(self) -> str:
        return f"{self.name!r} at {self.location!r}"

    def is_the_same_as(self, other: SourceIdentity) -> bool:
        """Whether both are the same file now, by whatever links and names; or, without a file, are called the same.

        A link is followed when this is asked: one that was made to lead elsewhere leads to another table.
        """
        if self == other or "memory" in (self.location, other.location):
            return self == other
        (file, table), (other_file, other_table) = self._place, other._place
        return table == other_table and _are_one_file(file, other_file)

    @property
    def _place(self) -> tuple[str, str]:
        file, separator, table = self.location.rpartition("::")
        return os.path.realpath(file if separator else self.location), table if separator else ""


def _are_one_file(one: str, other: str) -> bool:
    try:
        return one == other or os.path.samefile(one, other)
    except OSError:  # one of them is no file, or not here
        return False


@dataclass(frozen=True)
class Amount:
    """A sum of budgets: like a `Budget`, but zero and (after a reveal) infinity are possible."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"epsilon {_short(self.epsilon)} and delta {_short(self.delta)}"


@dataclass
class ReleaseRecord:
    """What the ledger knows of one release: its reservation, and what was charged to it so far."""

    id: int
    budget: Budget
    relation: str
    composition: str
    description: dict[str, Any]
    opened: str
    status: Status = "open"
    note: str = ""
    charges: list[dict[str, Any]] = field(default_factory=list)


class LedgerState:
    """The sums after a number of entries.

    `apply` is the only way to change them, and refuses an entry without having changed anything.
    """

    def __init__(self) -> None:
        self.source: SourceIdentity | None = None
        self.releases: list[ReleaseRecord] = []
        self.reveals: list[str] = []
        self.refusals: list[str] = []
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
                "charged": lambda body: self.open_release(body["release"]).charges.append(body["event"]),
                "release_closed": self._close,
                "release_abandoned": self._abandon,
                "revealed": lambda body: self.reveals.append(body["reason"]),
                "refused": lambda body: self.refusals.append(body["time"]),
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
    def spent(self) -> Amount:
        return Amount(math.inf, self.reserved.delta) if self.reveals else self.reserved

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
        for other in self.releases:
            if other.status != "abandoned" and other.relation != relation:
                raise LedgerError(
                    f"All releases of one ledger must have the same neighboring relation, or their budgets do not "
                    f"add up. Found {relation!r} after {other.relation!r}: use {other.relation!r}."
                )
        asked = _exact(budget)
        if any(r + a > t for r, a, t in zip(self._reserved, asked, self._total, strict=True)):
            raise BudgetExceeded(
                f"All releases of a source together must stay within its total. The total is {self.total}; "
                f"{self.reserved} are reserved; {self.left} are left; asked for: "
                f"{Amount(budget.epsilon, budget.delta)}. Ask for at most what is left."
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
        source, total = SourceIdentity(**body["source"]), _exact(Budget(**body["total"]))
        self.source, self._total = source, total

    def _open(self, body: dict[str, Any]) -> None:
        budget = Budget(**body["budget"])
        self.require_room(budget, body["relation"])
        if body["release"] != len(self.releases) + 1:
            raise ValueError("releases are numbered from 1 on")
        self._reserved = _plus(self._reserved, _exact(budget), 1)
        record = ReleaseRecord(
            body["release"], budget, body["relation"], body["composition"], body["description"], body["time"]
        )
        self.releases.append(record)

    def _close(self, body: dict[str, Any]) -> None:
        record = self.open_release(body["release"])
        record.status, record.note = "closed", body["note"]

    def _abandon(self, body: dict[str, Any]) -> None:
        record = self.open_release(body["release"])
        if record.charges:
            raise ValueError("a release that was charged can't be abandoned")
        record.status = "abandoned"
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
