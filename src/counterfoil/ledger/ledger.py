"""The ledger: what may be spent on one source of sensitive records, and what was, in a file of its own.

A ledger has a total budget. A *release* reserves a part of it; each answer is *charged* to its release, durably,
before the answer is computed. A process that is killed may therefore have paid for an answer that it did not get;
it can't have got one that it did not pay for.

**Why releases add up.** The epsilons and the deltas of releases are added (Dwork, Kenthapadi, McSherry, Mironov
and Naor 2006, "Our data, ourselves"). The sum holds when each release is chosen after seeing the earlier ones,
its budget included (a basic-composition privacy filter: Rogers, Roth, Ullman and Vadhan 2016, arXiv 1605.08294),
and when several run at the same time and take turns (Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang 2023,
arXiv 2309.05901). It needs that each release's budget is fixed when it opens and never exceeded by what is charged
to it, and that all protect the same neighbors; both are enforced (`protection`). Sharper composition is for the
charges inside a release, by the rule that it names.

**What one release may leave for another.** A schema may be bought with a share of the budget that its release reserves.
One later release may then spend the rest: it reserves nothing, and its budget, which was fixed when the schema was
bought, is that of both together (`accounting.rest_of_budget`). Between the two other releases may come, as above.

**Why nothing is given back.** A release may have spent less than it reserved, but how much it spent may depend
on its answers. A filter's guarantee is for the budget that was fixed in advance, not for what turned out to be
used: knowing the latter takes an odometer, which costs more (Rogers et al.).

**What is never in it.** No record, no statistic, no fingerprint of the data: an entry has only the keys in
`state.KEYS`, and its callers write public parameters into them.

`file` explains how the file survives crashes, and what its hashes can and can't show; `state`, how amounts are
added without rounding; `book` keeps the two in step.
"""

from __future__ import annotations

import sqlite3
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.sanity import require_moderate_delta, warn_of_loose_budget
from counterfoil.inert import inert
from counterfoil.kept_files import keep, kept_ledger, kept_source, ledger_outputs, require_apart
from counterfoil.ledger.book import Book
from counterfoil.ledger.entry import Entry, amounts, first_entry
from counterfoil.ledger.errors import LedgerError, WrongSource
from counterfoil.ledger.file import START, LedgerFile
from counterfoil.ledger.page import ledger_html, ledger_text
from counterfoil.ledger.protection import Protection
from counterfoil.ledger.release import Release
from counterfoil.ledger.source import SourceIdentity, why_wrong
from counterfoil.ledger.state import (
    MIXED_FORMAT,
    Amount,
    FormerPlace,
    ReleaseRecord,
    Reveal,
)

__all__ = ["Amount", "Entry", "FormerPlace", "Ledger", "Release", "ReleaseRecord", "Reveal", "SourceIdentity"]


class Ledger:
    """The budget of one source. Make one with `create`, `open` or `in_memory`.

    Every method looks at the file anew, so that what other processes spent is seen, and checks the new entries
    and the last one known; `open` and `entries` check every one. All methods may raise `LedgerLocked`,
    `LedgerUnwritable`, `LedgerEdited` and `LedgerCutShort` (see `errors`). Usable as a context manager,
    and by several threads; not across a fork.
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file
        self._book = Book(file)
        try:
            with self._book.reading():
                pass
        except BaseException:
            self.close()
            raise
        if file.path is not None:
            keep(kept_ledger(file.path))

    @classmethod
    def create(
        cls,
        path: str | Path,
        *,
        source: SourceIdentity | str | Path,
        total: Budget | tuple[float, float] | float,
        timeout: float = 5.0,
        confirm_delta: float | None = None,
    ) -> Ledger:
        """A new ledger at `path`, with nothing spent.

        Args:
            path: where the file is made; nothing may be there.
            source: the path of the sensitive table (`file.db::table` for one in a database), or its identity.
            total: the most that all releases together may cost: a budget, (epsilon, delta), or epsilon alone, with
                which only releases of pure differential privacy are possible.
            timeout: seconds to wait for other processes.
            confirm_delta: the total's delta again, which one of .1 or more needs.

        A total that protects little is warned of (`LooseBudgetWarning`).

        Raises:
            LedgerError: when something is at `path` already.
            LedgerUnwritable: when it can't be written there.
            TypeError: for a source or a total of another type.
            ValueError: when `path` belongs to the source, as the journal of its database does; when there is no file
                at the path of the source; for a delta that must be said twice.
        """
        identity, budget = SourceIdentity.of(source), Budget.of(total)
        if identity is not source:
            identity.require_there()
        require_moderate_delta(budget.delta, confirm_delta)
        require_apart(ledger_outputs(Path(path)), kept_source(identity.location))
        warn_of_loose_budget(budget)
        LedgerFile.create(Path(path), first_entry(identity, budget))
        return cls.open(path, source=identity, timeout=timeout)

    @classmethod
    def open(cls, path: str | Path, *, source: SourceIdentity | str | Path | None, timeout: float = 5.0) -> Ledger:
        """The ledger at `path`, checked from its first to its last entry.

        Args:
            path: the file.
            source: the records that are about to be read, by their path, which is compared as a file, or by their
                identity; None only to look at the ledger.
            timeout: seconds to wait for other processes, here and later.

        Raises:
            WrongSource: when it was created for another name or location.
            NotALedger: when there is none, or some other file.
            TypeError: for a source of another type.
        """
        identity = None if source is None else SourceIdentity.of(source)
        ledger = cls(LedgerFile.open(Path(path), timeout=timeout))
        if identity is not None:
            try:
                ledger.require_source(identity)
            except WrongSource:
                ledger.close()
                raise
        return ledger

    @classmethod
    def in_memory(cls, source: SourceIdentity | str | Path, total: Budget | tuple[float, float] | float) -> Ledger:
        """A ledger that lasts as long as the process: within it the rules are the same."""
        return cls(LedgerFile.in_memory(first_entry(SourceIdentity.of(source), Budget.of(total))))

    def __repr__(self) -> str:
        try:
            spent, left = self.spent(), self.left()
        except (LedgerError, sqlite3.Error):  # closed, or taken away: say what is known
            return f"Ledger({inert(self._file.name)!r}, for {inert(self.source.name)!r}, total {self.total})"
        name, of = inert(self._file.name), inert(self.source.name)
        return f"Ledger({name!r}, for {of!r}, total {self.total}, spent {spent}, left {left})"

    def text(self) -> str:
        """The page that `counterfoil ledger show` prints, ending in a newline."""
        return ledger_text(self)

    def _repr_html_(self) -> str:
        return ledger_html(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @property
    def durable(self) -> bool:
        """Whether it is a file, and not in memory."""
        return self._file.path is not None

    @property
    def source(self) -> SourceIdentity:
        """The records that this ledger is for, where they are now as far as this process has read."""
        assert self._book.state.source is not None, "the first entry of every ledger names its source"
        return self._book.state.source

    @property
    def total(self) -> Amount:
        """The budget that the ledger was created with."""
        return self._book.state.total

    @property
    def revealed(self) -> bool:
        """Whether the records were looked at without privacy."""
        return bool(self.reveals())

    def reveals(self) -> list[Reveal]:
        """The looks at the records without privacy, in order: no budget bounds them, and none is in any sum."""
        with self._book.reading() as state:
            return list(state.reveals)

    def former_places(self) -> list[FormerPlace]:
        """Where the records were before each move, the first place first."""
        with self._book.reading() as state:
            return list(state.former)

    def protects(self) -> Protection | None:
        """Between which tables the sum of all releases holds (see `protection`); None before the first release."""
        with self._book.reading() as state:
            return state.protects

    def require_source(self, source: SourceIdentity) -> None:
        """Check that these are the records that the ledger is for, where they are now.

        Raises:
            WrongSource: which says what to do where they were moved.
        """
        with self._book.reading():
            served = self.source
        if not source.is_the_same_as(served):
            raise WrongSource(why_wrong(self._file.name, served, source))

    def move(self, source: SourceIdentity | str | Path) -> None:
        """Record that the same records are in another place now, or have another name; what was spent stays spent.

        Whoever keeps the ledger vouches that they are the same records: no fingerprint of them is kept, by which it
        could be checked.

        Args:
            source: the new path (`file.db::table` for a table in a database), or the new identity.

        Raises:
            ValueError: when there is no file at the path, it belongs to the ledger, or the records are there already.
            TypeError: for a source of another type.
        """
        identity = SourceIdentity.of(source)
        if identity is not source:
            identity.require_there()
        if self._file.path is not None:
            require_apart(ledger_outputs(self._file.path), kept_source(identity.location))
        with self._book.writing() as state:
            if identity == state.source:
                raise ValueError(f"The ledger is for {identity} already: there is no move to write down.")
            self._book.append("moved", source=asdict(identity))

    def refusals(self) -> list[str]:
        """When requests were refused because of what the records hold; in UTC, ISO 8601."""
        with self._book.reading() as state:
            return list(state.refusals)

    def reserved(self) -> Amount:
        """What releases have reserved, used or not."""
        with self._book.reading() as state:
            return state.reserved

    def spent(self) -> Amount:
        """What releases have reserved, used or not; `reveals` are looks that no budget bounds, and not among it."""
        return self.reserved()

    def left(self) -> Amount:
        """What further releases may reserve. A reveal does not lower it: see `record_reveal`."""
        with self._book.reading() as state:
            return state.left

    def releases(self) -> list[ReleaseRecord]:
        """Every release with its charges, in the order of opening."""
        with self._book.reading() as state:
            return deepcopy(state.releases)

    def entries(self) -> list[Entry]:
        """Every entry, all of them read and verified again."""
        with self._file.transaction(write=False):
            rows = self._file.rows_after(START)
        return [Entry.of(row) for row in rows]

    def require_room(self, budget: Budget, relation: str) -> None:
        """Check that a release may be opened, before any record is read for it; nothing is reserved.

        Raises:
            BudgetExceeded: when less is left.
            LedgerError: when earlier releases protect no neighbors of this relation.
        """
        with self._book.reading() as state:
            state.require_room(budget, str(relation))

    def require_rest(self, within: int, budget: Budget, relation: str, composition: str) -> None:
        """Check that one release may spend what release `within` left of its reservation; nothing is written.

        Raises:
            LedgerError: which says why not.
        """
        with self._book.reading() as state:
            state.require_rest(within, budget, str(relation), composition)

    def require_common(self, relation: str) -> None:
        """Check that a release of this relation adds up with those before it, whatever is left.

        Raises:
            LedgerError: which says under which relation it would.
        """
        with self._book.reading() as state:
            state.require_common(str(relation))

    def open_release(
        self,
        *,
        budget: Budget,
        relation: str,
        composition: str,
        description: dict[str, Any],
        within: int | None = None,
    ) -> Release:
        """Reserve `budget` for a release, whatever it will use of it.

        Args:
            budget: the most that the release may cost.
            relation: the neighboring relation that it protects; all releases of a ledger have neighbors in common
                (see `protection`).
            composition: the name of the rule by which its charges are added.
            description: public parameters, as JSON.
            within: a closed release of the same budget and relation, such as the purchase of the schema, whose
                reservation this one spends the rest of: nothing further is reserved. `composition` must then be the
                name of the rule that counts what the plan of that release took (`accounting.rest_of_budget`).

        Raises:
            BudgetExceeded: when less is left; nothing is reserved.
            LedgerError: when earlier releases protect no neighbors of this relation.
            ValueError: when `description` is not JSON.
        """
        with self._book.writing() as state:
            release_id = len(state.releases) + 1
            facts: dict[str, Any] = {
                "release": release_id,
                "budget": amounts(budget),
                "relation": str(relation),
                "composition": composition,
                "description": description,
            }
            if within is None:
                state.require_room(budget, str(relation))
                mixed = MIXED_FORMAT if state.mixes(str(relation)) else None
                self._book.append("release_opened", form=mixed, **facts)
            else:
                state.require_rest(within, budget, str(relation), composition)
                self._book.append("release_continued", within=within, **facts)
        return self.resume(release_id)

    def resume(self, release_id: int) -> Release:
        """The open release with this id, to charge what is left of its reservation or to abandon it.

        Raises:
            ReleaseClosed: when it was closed or abandoned.
            LedgerError: when there is none.
        """
        with self._book.reading() as state:
            record = deepcopy(state.open_release(release_id))
        return Release(self, self._book, record)

    def record_reveal(self, reason: str) -> None:
        """Record that the records are looked at without privacy: for ever, and outside all sums.

        Later releases stay possible: the owner of the data may look at it, and what leaves the house in a release is
        as private as before, as long as nothing of the look leaves with it. That is for people to keep, not for
        a program, which is why `reveals` lists the look ever after.

        Raises:
            ValueError: when `reason` is empty.
        """
        if not reason.strip():
            raise ValueError("`reason` must say why the records are looked at without privacy. Found nothing.")
        with self._book.writing():
            self._book.append("revealed", reason=reason)

    def record_receipt(self, release_id: int, digest: str) -> None:
        """Record the SHA-256 of a release's receipt, so that a forged one can be told from it; once for each text.

        Args:
            release_id: the release, which may be closed.
            digest: 64 hexadecimal digits, in lower case.

        Raises:
            LedgerError: where there is no such release, it was abandoned, or another release has this receipt.
            ValueError: when `digest` is no SHA-256.
        """
        with self._book.writing() as state:
            state.require_receipt(release_id, digest)
            if digest not in state.receipts:
                self._book.append("receipt", release=release_id, sha256=digest)

    def receipts(self) -> dict[str, int]:
        """Which release each receipt is of, by the receipt's SHA-256."""
        with self._book.reading() as state:
            return dict(state.receipts)

    def record_sizes_read(self, relation: str) -> None:
        """Bind the ledger to a relation for good, before an exact size that is public under it is read.

        Under another relation the size is private, so that a release which can be given back, or none at all, must not
        be what makes it public. Nothing is written where the ledger is bound already, by a release that was charged or
        by an earlier size.

        Args:
            relation: as `Neighbors.describe` gives it; the sizes are those that all of its neighbors share.

        Raises:
            LedgerError: when earlier releases protect no neighbors of this relation.
        """
        with self._book.writing() as state:
            state.require_common(str(relation))
            if not state.binds(str(relation)):
                self._book.append("sizes_read", relation=str(relation))

    def sizes_read(self) -> list[str]:
        """The relations under which exact sizes were read before a release of them was charged, in order."""
        with self._book.reading() as state:
            return list(state.sizes_read)

    def record_refusal(self) -> None:
        """Record that a request was refused because of what the records hold; nothing of what they hold."""
        with self._book.writing():
            self._book.append("refused")
