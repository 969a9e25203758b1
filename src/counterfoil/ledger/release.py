"""A release of a ledger: what it reserved, and how each answer is paid for before it is computed.

`ledger` says why releases add up, and why what was reserved stays spent once anything was charged to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from counterfoil.ledger.book import Book
from counterfoil.ledger.errors import BudgetExceeded, LedgerError
from counterfoil.ledger.file import canonical_json
from counterfoil.ledger.state import Amount, ReleaseRecord

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger


class Release:
    """A reservation, and the charges against it. Made by `Ledger.open_release` and `Ledger.resume`.

    The attributes were fixed when it opened: `id`, `budget`, `relation`, `composition`, `description`.
    """

    def __init__(self, ledger: Ledger, book: Book, record: ReleaseRecord) -> None:
        self._ledger = ledger
        self._book = book
        self.id = record.id
        self.budget = record.budget
        self.relation = record.relation
        self.composition = record.composition
        self.description = record.description

    def charge(
        self, record: dict[str, Any], *, description: str, affords: Callable[[list[dict[str, Any]]], bool]
    ) -> int:
        """Pay for an answer; only once this has returned may it be computed.

        Reading the earlier charges, deciding and recording are one transaction, so that no number of processes
        can overspend a release together. When this returns, the charge survives a kill and a power failure.

        Args:
            record: the charge, as JSON (`accounting.charge.Charge.to_json`). The ledger keeps it and does not read it.
            description: the query, in public terms.
            affords: whether the budget of the release covers all these charges together. It runs while the ledger
                is locked for others, and must neither use the ledger nor change the list.

        Returns:
            The number of the entry.

        Raises:
            BudgetExceeded: when it does not; nothing is charged.
            ReleaseClosed: when the release was closed or abandoned.
            ValueError: when `record` is not JSON.
        """
        record = json.loads(canonical_json(record))  # as it will be read back
        with self._book.writing() as state:
            earlier = state.open_release(self.id).charges
            if not affords([*earlier, record]):
                raise BudgetExceeded(
                    f"The charges of a release must stay within {Amount(self.budget.epsilon, self.budget.delta)}. "
                    f"After {len(earlier)} charges, release {self.id} can't afford this one ({description}). "
                    "Nothing was charged: ask for more noise, or for fewer answers."
                )
            return self._book.append("charged", release=self.id, event=record, description=description)

    def records(self) -> list[dict[str, Any]]:
        """The charges so far, by any process, in order, as JSON."""
        with self._book.reading() as state:
            return deepcopy(state.release(self.id).charges)

    def record_receipt(self, digest: str) -> None:
        """As `Ledger.record_receipt`, for this release."""
        self._ledger.record_receipt(self.id, digest)

    def record_refusal(self) -> None:
        """As `Ledger.record_refusal`; the entry does not name the release."""
        self._ledger.record_refusal()

    def record_sizes_read(self) -> None:
        """As `Ledger.record_sizes_read`, for the relation of this release, which may still be given back."""
        self._ledger.record_sizes_read(self.relation)

    def close(self, note: str = "") -> None:
        """Refuse further charges. What was reserved stays reserved (`ledger` says why).

        Raises:
            ReleaseClosed: when it was closed or abandoned before.
        """
        with self._book.writing() as state:
            state.open_release(self.id)
            self._book.append("release_closed", release=self.id, note=note)

    def end(self, note: str = "") -> None:
        """Close the release if anything was charged to it, by any process; otherwise give its reservation back.

        Raises:
            ReleaseClosed: when it was closed or abandoned before.
        """
        with self._book.writing() as state:
            if state.open_release(self.id).charges:
                self._book.append("release_closed", release=self.id, note=note)
            else:
                self._book.append("release_abandoned", release=self.id)

    def abandon(self) -> None:
        """Give the whole reservation back, as for a request that was refused before anything was computed.

        Raises:
            LedgerError: when something was charged.
            ReleaseClosed: when it was closed or abandoned before.
        """
        with self._book.writing() as state:
            charges = len(state.open_release(self.id).charges)
            if charges:
                raise LedgerError(
                    f"Only a release without charges can give back what it reserved. Release {self.id} has {charges}: "
                    "all of it stays spent."
                )
            self._book.append("release_abandoned", release=self.id)
