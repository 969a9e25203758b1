"""The curator: the one object that holds sensitive records, and answers queries about them with noise."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.charge import Charge
from counterfoil.accounting.composition import Composition
from counterfoil.accounting.filter import Filter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.repeated import repeated
from counterfoil.accounting.replacement import ANY_QUESTION, require_replacement_factor
from counterfoil.curator.account import Account
from counterfoil.curator.answer_log import AnswerLog
from counterfoil.curator.coded_table import table_of_blocks
from counterfoil.curator.continued_release import go_on_with, require_continued, resumed_release
from counterfoil.curator.engines.registry import engine_for
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.given import ledger_given, schema_given
from counterfoil.curator.judged_runs import charge_as_a_whole, judged_charge
from counterfoil.curator.paid_runs import PaidRun, PaidRuns
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.releasable_schema import releasable, require_groups_read
from counterfoil.curator.reserve import Reserve, Reserves
from counterfoil.curator.rest import Rest, rest_of_purchase
from counterfoil.curator.silence import silent
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.trial import require_sound
from counterfoil.curator.uncounted import warn_of_purchase_beside, warn_of_uncounted_release
from counterfoil.curator.view_warning import warn_of_row_security, warn_of_view
from counterfoil.domain.domain import Domain
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.interrupts import interrupted_afterwards
from counterfoil.kept_files import keep, kept_source
from counterfoil.ledger.errors import ReleaseClosed
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.ledger.refusals import noting_refusals
from counterfoil.ledger.release import Release
from counterfoil.noise.noise import Noise
from counterfoil.noise.randomness import Randomness, SeededRandomness, SystemRandomness
from counterfoil.noise.sampler import precision_for
from counterfoil.schema import Schema


class Curator:
    """Holds a sensitive table, its budget and its ledger. Nothing else in the package ever sees a record.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: the public facts about the table, or the path of the TOML file that states them.
        budget: the most that this release may cost in all.
        relation: which tables are neighbors.
        privacy_unit: whose records are protected together, as a `PrivacyUnit` or as (column, max_rows); a single row
            when None.
        ledger: where charges are recorded durably, or the path of such a ledger, which is then closed with the curator;
            in memory when None, of which a `NoLedgerWarning` warns.
        seed: for tests and reproductions only: the release is then NOT PRIVATE, and says so.
        in_memory: keep the coded table in memory; by default for tables given from Python, while files are streamed.
        public_groups: columns whose combinations of values are public groups, of known sizes (see `Neighbors`); for
            models that treat groups alike. Which group a person belongs to is then not protected.

    Raises:
        ValueError: with one sentence that names the column or parameter, before anything is charged. Where the records
            are the cause, the ledger notes it (`refusals`).
    """

    def __init__(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        budget: Budget,
        relation: NeighboringRelation | str = NeighboringRelation.ADD_OR_REMOVE_ONE,
        privacy_unit: PrivacyUnit | tuple[str, int] | None = None,
        ledger: Ledger | str | Path | None = None,
        seed: int | None = None,
        in_memory: bool | None = None,
        public_groups: Sequence[str] = (),
    ) -> None:
        schema, privacy_unit = schema_given(schema, source=source), PrivacyUnit.of(privacy_unit)
        self.schema = schema = releasable(schema, source, unit=privacy_unit.column if privacy_unit else "")
        self.budget = budget
        self.neighbors = Neighbors(NeighboringRelation(relation), privacy_unit, tuple(public_groups))
        require_groups_read(self.neighbors.groups, schema)
        self.randomness: Randomness = (
            SystemRandomness(tables=precision_for(budget)) if seed is None else SeededRandomness(seed)
        )
        names = (*schema.declared, privacy_unit.column if privacy_unit else "")
        opened = open_source(source, declared=names, encoding=schema.encoding)
        identity = SourceIdentity(name=opened.name, location=opened.location)
        self.column_names = opened.column_names  # public: a table's header is no record's
        self._warns = ledger is None
        self._of_view = bool(getattr(opened, "is_view", False))
        self._is_guarded = bool(getattr(opened, "is_guarded", False))
        with ExitStack() as files:  # a ledger that is opened here is closed with the curator, or if none is made
            known_ledger = ledger_given(ledger, files)
            self._ledger = Ledger.in_memory(source=identity, total=budget) if known_ledger is None else known_ledger
            self._ledger.require_source(identity)
            self._lasting_ledger = self._ledger  # where it is written what no budget counts; of a run, its curator's
            unit = (privacy_unit.column, privacy_unit.max_rows) if privacy_unit else (None, None)
            self._engine = engine_for(opened, in_memory=in_memory)(
                opened, schema, privacy_unit=unit[0], max_rows=unit[1], randomness=self.randomness
            )
            with noting_refusals(self._ledger), silent():
                self._engine.prepare(self.domain.attributes)
            self._files = files.pop_all()
        self._records = ExactRecords(self._engine, self.domain, randomness=self.randomness)
        self._release: Release | None = None
        self._account: Account | None = None
        self._log: AnswerLog | None = None
        self._resumed = False
        self._resumed_charges = 0
        self._reserves = Reserves()
        self._public_rows: int | None = None
        self._rest: Rest | None = None
        self._runs: PaidRuns | None = None  # what this curator paid for
        self._run: PaidRun | None = None  # the one that this curator is for

    @property
    def domain(self) -> Domain:
        """The synthesized attributes and how many values each has: public."""
        return self.schema.domain

    @property
    def relation(self) -> NeighboringRelation:
        """Which tables are neighbors."""
        return self.neighbors.relation

    @property
    def source_name(self) -> str:
        """What the sensitive table is called, without where it is."""
        return self._ledger.source.name

    def warn_of_query(self) -> None:
        """Says where a query, which nobody here has read, decides what the rows are."""
        if self._of_view:
            warn_of_view(self.source_name)
        if self._is_guarded:
            warn_of_row_security(self.source_name)

    @property
    def has_ledger(self) -> bool:
        """Whether charges are recorded in a file, where other releases of the source are counted too.

        Those of a run are once it is paid for.
        """
        return self._ledger.durable if self._run is None else self._run.begun and self._lasting_ledger.durable

    @property
    def account(self) -> Account | None:
        """The account that was opened, if any."""
        return self._account

    @property
    def reserved(self) -> float:
        """The share of the budget that is kept for queries after the synthesizer's own."""
        return self._reserves.share

    def reserved_for(self, purpose: str) -> float:
        """The share of the budget that is kept for one purpose; 0 where none is."""
        return self._reserves.shares.get(purpose, 0.0)

    def reserve(self, share: float, purpose: str = "", *, counts: bool = False) -> None:
        """Keeps `share` of the budget for queries after the synthesizer's own (`FilterAccount.open_reserve`).

        Args:
            share: beside what is kept for other purposes; together they must be below 1.
            purpose: what for, by which the share is opened; a second reserve for one purpose replaces the first.
            counts: whether nothing but numbers of records in disjoint cells will be asked, which with Gaussian noise
                allow a better guarantee under the other relation than any question does.

        Raises:
            ValueError: unless `share` lies between 0 and 1, or when the account is open already.
        """
        reserve = Reserve.of(share, counts=counts)
        self._require_unopened()
        self._reserves.keep(reserve, purpose)

    def spend_rest(self) -> None:
        """Has the release spend what the purchase of its schema left of the budget, as one guarantee with it.

        Raises:
            ValueError: where the schema was not bought with a share of this budget, between these neighbors; or when
                the account is open already.
            LedgerError: where another release has the rest already, or too little is left of a ledger that has no such
                purchase.
        """
        self._require_unopened()
        if self._attempts > 1:
            raise ValueError("Runs that are judged are paid for with a budget of their own. Found the rest of one.")
        self._rest = rest_of_purchase(self.schema.bought, self._ledger, self.budget, self.neighbors.describe())
        if self._release is None:
            self._rest.require_left(self._ledger, self.budget, self.neighbors.describe())

    @property
    def rest(self) -> Rest | None:
        """What it spends of the budget of a purchase; None for a budget of its own."""
        return self._rest

    def filter(self, rule: Filter, *, replacement_factor: float = ANY_QUESTION) -> FilterAccount:
        """Opens the account of a method whose noise depends on earlier answers; costs add up under `rule`.

        Args:
            rule: how costs add up.
            replacement_factor: the largest one of all queries that the method may make (see `replacement`); a smaller
                one gives a better guarantee under the other relation. Where a share is reserved, the factor of the
                later queries counts too.

        Raises:
            ValueError: for a rule that holds only for noise fixed in advance, or that the budget's delta rules out.
        """
        if not isinstance(rule, Filter):
            raise ValueError(f"{rule.name!r} composes plans only: noise that depends on answers needs a filter.")
        rule = repeated(rule, self._attempts) if self._rest is None else self._rest.rule_for(rule)
        rule.capacity(self.budget)  # refuses a budget that it can't use before anything is reserved
        release = self._open(rule, self._reserves.replacement_factor(rule, replacement_factor))
        account = FilterAccount(self._records, release, rule=rule, **self._parts(release))
        account.reserve(self._reserves.shares)
        self._account = account
        return account

    def plan(self, noises: Sequence[Noise], rule: Composition, *, replacement_factor: float = ANY_QUESTION) -> Account:
        """Opens the account of a method whose noise is all fixed in advance, in the order in which it will be used.

        Args:
            noises: one for each query.
            rule: how their costs are composed.
            replacement_factor: as for `filter`.

        Raises:
            ValueError: when the plan as a whole exceeds the budget, or a part of the budget is reserved; nothing is
                charged.
        """
        if self._attempts > 1:
            raise ValueError("A method that plans its whole budget has one attempt. Found several: leave them out.")
        if self._rest is not None:
            raise ValueError(
                "A method that plans its whole budget can't spend the rest of one. Found one: buy the schema with an "
                "epsilon of its own for it, or use a method that charges a filter."
            )
        if self.reserved:
            raise ValueError(
                f"A method that plans its whole budget leaves nothing for later queries. Found {self.reserved:g} of "
                "the budget reserved for them: reserve nothing, or use a method that charges a filter."
            )
        events = [noise.event() for noise in noises]
        if not rule.affords(self.budget, events):
            spent = rule.epsilon(events, self.budget.delta)
            raise ValueError(
                f"The plan costs epsilon {spent:.6g} at delta {self.budget.delta:g}, above the budget of "
                f"{self.budget.epsilon:g}. Add noise or ask less."
            )
        release = self._open(rule, replacement_factor, plan=[noise.to_json() for noise in noises])
        self._account = Account(self._records, release, rule=rule, planned=noises, **self._parts(release))
        return self._account

    @property
    def row_count_is_public(self) -> bool:
        """Whether all neighbors have the same number of rows: `replace_one`, one row a unit."""
        return self.relation is NeighboringRelation.REPLACE_ONE and self.neighbors.unit is None

    def public_row_count(self) -> int:
        """The exact number of rows, which `replace_one` neighbors of single rows share.

        The ledger is bound to these neighbors first, for good (`Ledger.record_sizes_read`).

        Raises:
            ValueError: under any other notion of neighbors, where the number of rows is private.
            LedgerError: when the releases of the ledger protect others, for which it is private; it is not read.
        """
        if not self.row_count_is_public:
            raise ValueError(
                "The exact number of rows is public only under `replace_one` with one row a unit. "
                "Use a noisy count, such as the total of a measured marginal."
            )
        if self._public_rows is None:
            self._lasting_ledger.record_sizes_read(self.neighbors.describe())
            with noting_refusals(self._ledger), silent():
                self._public_rows = self._engine.rows(self.domain.attributes[0])
        return self._public_rows

    def group_sizes(self, features: TrainingFeatures) -> tuple[int, ...]:
        """The exact number of rows of each group of `features`, which all neighbors share.

        The ledger is bound to these neighbors first, as for `public_row_count`.

        Raises:
            ValueError: under any other notion of neighbors, where these numbers are private; for features of another
                schema, or of a class of a user's own, which would read the records.
            LedgerError: when the releases of the ledger protect others, for which they are private; none is read.
        """
        if type(features) is not TrainingFeatures or features.schema != self.schema:
            raise ValueError("`features` must be `TrainingFeatures` of the curator's own schema. Found others.")
        if not self.neighbors.group_sizes_are_public or self.neighbors.groups != features.groups:
            raise ValueError(
                "Sizes of groups are public only under `replace_one` with these groups as `public_groups`. Found "
                f"'{self.neighbors.describe()}'."
            )
        self._lasting_ledger.record_sizes_read(self.neighbors.describe())
        with noting_refusals(self._ledger), silent():
            return self._records.grouped(features).sizes

    def require_rows(self) -> None:
        """Refuses an empty table, which is a mistake of its steward's.

        Whether there are rows is no secret to the steward, but a program that acts on it would reveal it; so only
        commands call this. Everything else treats an empty table as any other.

        Raises:
            ValueError: when there is no row; the ledger notes it.
        """
        with noting_refusals(self._ledger), silent():
            if not self._engine.rows(self.domain.attributes[0]):
                raise ValueError(
                    f"{self.source_name} must have rows to be copied. Found a table without any: name another one, or "
                    "fill it."
                )

    def require_texts(self) -> None:
        """Refuses a table whose engine can't count texts, before anything is charged; no record is read.

        Raises:
            ValueError: for such an engine.
        """
        self._records.require_texts()

    def require_records_here(self) -> None:
        """Refuses a table whose records do not come to this process, before anything is charged; none is read.

        Raises:
            ValueError: for such a table.
        """
        self._records.require_blocks()

    def reveal_without_privacy(
        self, reason: str, *, numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> pa.Table:
        """The coded table itself, for comparisons that must not be shared; the ledger lists the look for good.

        Returns:
            one column of integer codes for each attribute of the domain, in its order, then one of numbers (float64,
            NaN where missing) for each of the ordered columns `numbers`, then one of `Placement` (uint8) for each of
            the columns `placements`.

        Raises:
            ValueError: within a run of a release that is judged: how many looks there were would tell of its runs.
        """
        if self._run is not None:
            raise ValueError(
                "A run of a release that is judged shows no records. Look with the curator of the release."
            )
        self._ledger.record_reveal(reason)
        with noting_refusals(self._ledger):
            blocks = list(self._engine.blocks(self.domain.attributes, numbers, placements))
        return table_of_blocks(blocks, self.domain.attributes, numbers, placements)

    def charges(self) -> list[Charge]:
        """The charges of this release so far, as written in the ledger."""
        if self._account is not None and self._release is not None:
            return self._account.charges
        return [Charge.from_json(record) for record in self._release.records()] if self._release else []

    def record_receipt(self, digest: str) -> None:
        """Has the ledger keep the SHA-256 of the release's receipt; to be called before `close`.

        Args:
            digest: 64 hexadecimal digits, in lower case.

        Raises:
            ValueError: when `digest` is no SHA-256, or nothing was asked yet or any more.
            LedgerError: when the ledger can't note it.
        """
        if self._release is None:
            raise ValueError("A receipt is of an open release. Found none: note it after a query and before `close`.")
        self._release.record_receipt(digest)

    def close(self) -> None:
        """Ends the release; a reservation of which nothing was charged is given back."""
        with interrupted_afterwards():
            release, self._release = self._release, None
            with self._files:
                if release is not None:
                    release.end("finished")

    def leave_open(self) -> None:
        """Has the release stay open in its ledger, which can't note its receipt; what it reserved stays reserved."""
        self._release = None

    @property
    def charged(self) -> int:
        """How many charges were made so far, without a look at the ledger."""
        return self._resumed_charges if self._account is None else self._account.charged

    @property
    def resumed(self) -> bool:
        """Whether an earlier run made some of the release's charges, of the table as it was then."""
        return self._resumed_charges > 0

    def __enter__(self) -> Curator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # What was charged before an error stays reserved either way; left open, the release can be continued. One that
        # was resumed may be another's, too.
        with self._files:
            if error is None or not (self.charged or self._resumed):
                self.close()

    @property
    def release_id(self) -> int | None:
        """The number of this release in the ledger, once its account is open."""
        return None if self._release is None else self._release.id

    def resume(self, release_id: int) -> None:
        """Makes `plan` or `filter` continue an open release of the ledger, whose charges stay, instead of a new one.

        Raises:
            ReleaseClosed: when it was closed.
            LedgerError: when there is none.
            ValueError: when its budget or relation is another, or this curator has a release already.
        """
        self._require_unopened()
        release = resumed_release(self._ledger, release_id, self.budget, self.neighbors.describe())
        self._release, self._resumed, self._resumed_charges = release, True, len(release.records())

    def keep_answers(self, log: AnswerLog) -> None:
        """Has each noisy answer written to `log` before it is used; what an earlier run kept there is not asked again.

        The release of that run is continued where a ledger has it. Without a ledger in a file, its charges are counted
        again in this process. To be called before anything is asked.

        Raises:
            ValueError: for a curator with a seed, or that has asked already.
            ReleaseClosed: when the release was closed.
            LedgerError: when the ledger has no such release.
        """
        self._require_unopened()
        if not self.randomness.private:
            raise ValueError("Answers are kept for releases that cost something. Found a `seed`: run it again instead.")
        log.carries_charges = not self._ledger.durable
        if log.release is not None and self._ledger.durable:
            try:
                self.resume(log.release)
                # Without charges it is given back as a new one is, where nothing is asked.
                self._resumed = self._resumed_charges > 0
            except ReleaseClosed:
                if log.charges:
                    raise
                # It was given back, because nothing had been charged to it; another one is opened.
        self._resumed_charges = max(self._resumed_charges, len(log.charges))
        self._log, self.randomness = log, log.randomness_for(self.budget)

    def kept_decision(self, kind: str) -> int | None:
        """What the clock of an earlier run of this release decided here; None where it decides now.

        Args:
            kind: what is to be decided.

        Raises:
            CantResume: when the earlier run decided something else here.
        """
        return None if self._log is None else self._log.next_decision(kind)

    def keep_decision(self, kind: str, value: int) -> None:
        """Has the decision of a clock kept where answers are, so that a resumed run takes the same.

        Args:
            kind: what was decided.
            value: the decision, which must not depend on the records but through answers (`synthesis.time_limit`).
        """
        if self._log is not None:
            self._log.write_decision(kind, value)

    def pay_for_runs(self, criteria_sha256: str, attempts: int) -> int:
        """Charges the whole budget for runs that are judged, before the first: whatever becomes of them, it is spent.

        The release is closed at once, so that nothing which happens later shows in the ledger.

        Args:
            criteria_sha256: of the criteria that the runs are judged by.
            attempts: how many runs are allowed on average.

        Returns:
            the number of the release in the ledger.

        Raises:
            LedgerError: when the ledger refuses; nothing is charged.
        """
        self._require_unopened()
        self._require_no_run()
        self._warn()
        relation = self.neighbors.describe()
        facts = {"attributes": list(self.domain.attributes)} | self._fixed()
        charge = judged_charge(criteria_sha256, attempts)
        number = charge_as_a_whole(charge, self._ledger, budget=self.budget, relation=relation, description=facts)
        self._runs = PaidRuns(attempts, self.budget, relation, self.randomness)
        return number

    def another_run(self) -> bool:
        """Whether one more run may follow one that failed, by a coin (`PaidRuns.goes_on`); none before a payment."""
        return self._runs is not None and self._runs.goes_on()

    @contextmanager
    def run(self, attempts: int, pay: Callable[[], None]) -> Iterator[Curator]:
        """A curator of the same records for one of several runs that are paid for together, by `pay_for_runs`.

        It has the whole budget, which its rule divides by what all runs may cost (`accounting.repeated`), and counts
        its charges in memory. That the records refused a request is noted in the ledger of this one. What is paid for
        is one accepted run alone: a run that failed, its answers and how many there were must be forgotten, as
        `fidelity.acceptance_runs` does. Whoever keeps them has a guarantee that no charge states.

        Args:
            attempts: as they are paid for.
            pay: called before anything is asked, after everything was checked that public facts decide. It must see to
                it that this curator has paid; a run that it has not paid for, and that no coin allows, is refused then.

        Raises:
            ValueError: for a run of a run.
        """
        self._require_no_run()
        one = copy(self)
        one._ledger = Ledger.in_memory(source=self._ledger.source, total=self.budget)
        one._release = one._account = one._log = None
        one._reserves, one._files = Reserves(), ExitStack()
        one._warns, one._runs, one._run = False, None, PaidRun(attempts, pay, lambda: self._runs)
        try:
            yield one
        finally:
            refused, one._release = len(one._ledger.refusals()), None
            one._ledger.close()
            for _ in range(refused):
                self._ledger.record_refusal()

    def recorded_charges(self, release_id: int) -> list[dict[str, Any]]:
        """The charges of any release of the ledger, as it records them; none where it has no such release."""
        return [charge for release in self._ledger.releases() if release.id == release_id for charge in release.charges]

    @property
    def _attempts(self) -> int:
        return 1 if self._run is None else self._run.attempts

    def _require_no_run(self) -> None:
        if self._run is not None:
            raise ValueError("A run of a release that is judged has no runs of its own. Make another curator.")

    def _require_unopened(self) -> None:
        if self._account is not None:
            raise ValueError("A curator serves one release: its account is open already. Make another curator.")

    def _warn(self) -> None:
        """Says that the rows are those of a view, and what no ledger counts: the release, or its schema's purchase."""
        if self._run is None:  # it was said of the release before its runs
            self.warn_of_query()
        if self._warns:
            warn_of_uncounted_release(self.budget, self._rest)
        elif self._rest is None:  # else what the purchase cost is in the budget that is reserved
            warn_of_purchase_beside(self._ledger, self.schema.bought)

    def _open(self, rule: Composition, replacement_factor: float, plan: list[dict[str, Any]] | None = None) -> Release:
        self._require_unopened()
        factor = require_replacement_factor(replacement_factor)
        if self._run is not None:
            self._run = self._run.begin(self.budget, self.neighbors.describe())
        if (location := self._ledger.source.location) != "memory":
            keep(kept_source(location))  # what is released must not be written over what it was made from
        facts = {"replacement_factor": factor} | self._fixed()
        if self._release is not None:
            require_continued(self._release, rule.name, facts, plan)
            return self._release
        self._warn()
        described = {"attributes": list(self.domain.attributes)} | facts
        with interrupted_afterwards():  # what is reserved must be known here, so that it is given back
            self._release = self._ledger.open_release(
                budget=self.budget,
                relation=self.neighbors.describe(),
                composition=rule.name,
                description=described | ({} if plan is None else {"plan": plan}),
                within=None if self._rest is None else self._rest.within,
            )
            if self._log is not None:
                go_on_with(self._log, self._release)
        return self._release

    def _fixed(self) -> dict[str, Any]:
        """What a receipt says of all answers of a release, and so must be the same when it is resumed."""
        return {
            "private": self.randomness.private,
            "schema_sha256": hashlib.sha256(self.schema.to_toml().encode()).hexdigest(),
            "rows_without_id": "each_alone",
        }

    @property
    def opened_by_older(self) -> bool:
        """Whether the release was opened by a version that did not record whether its noise came from a seed."""
        return self._release is not None and "private" not in self._release.description

    def _parts(self, release: Release) -> dict[str, Any]:
        return {
            "budget": self.budget,
            "neighbors": self.neighbors,
            "randomness": self.randomness,
            "log": self._log,
            "trial": partial(require_sound, schema=self.schema),
            "schema": self.schema,
            # Older versions declared none, so that any query may have been made.
            "replacement_factor": release.description.get("replacement_factor", ANY_QUESTION),
        }
