"""Accounts: a query is charged first, then computed, and noise is added before its answer leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.charge import Charge
from counterfoil.accounting.composition import Composition
from counterfoil.accounting.event import PrivacyEvent
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.accounting.replacement import ANY_QUESTION, require_declared, require_replacement_factor
from counterfoil.brought import brought_within
from counterfoil.curator.admission import Admission
from counterfoil.curator.answer_log import AnswerLog, Kept, LostAnswer
from counterfoil.curator.answer_size import AnswerSizes
from counterfoil.curator.fingerprint import fingerprint
from counterfoil.curator.noisy_answers import NoisyAnswers, unlisted_noise
from counterfoil.curator.paid import Paid
from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.curator.queries.query import CountQuery, Query, SelectionQuery
from counterfoil.curator.queries.text_counts import TextCounts
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.silence import silent
from counterfoil.curator.training import Training
from counterfoil.interrupts import interrupted_afterwards
from counterfoil.ledger.errors import BudgetExceeded, LedgerError
from counterfoil.ledger.refusals import noting_refusals
from counterfoil.ledger.release import Release
from counterfoil.noise.answer import Answer, Choice, FrequentTexts
from counterfoil.noise.exact_answers import require_positive
from counterfoil.noise.known import require_known
from counterfoil.noise.noise import CountNoise, Noise, Norm, SelectionNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.randomness import Randomness
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise
from counterfoil.schema.schema import Schema

MOST_NUMBERS = 2_000_000_000
"""Of one run: what is held back of a budget for discrete noise covers as many (`noise.gaussian`)."""


class Account:
    """The only way to query the sensitive table. Made by `Curator.filter` and `Curator.plan`.

    Each query is charged to the ledger, durably, before its answer is computed, so that a crash can only over-count.
    A query that the budget does not cover is refused and costs nothing. One that fails while it is computed stays
    charged, and the ledger notes that it was refused.

    Where answers are kept (`answer_log`), each is in its file before the method gets it, and a resumed run gets those
    of the earlier one without asking the records.
    """

    def __init__(
        self,
        records: ExactRecords,
        release: Release,
        *,
        budget: Budget,
        rule: Composition,
        neighbors: Neighbors,
        randomness: Randomness,
        trial: Callable[[Query], int],
        schema: Schema | None = None,
        planned: Sequence[Noise] | None = None,
        replacement_factor: float = ANY_QUESTION,
        log: AnswerLog | None = None,
    ) -> None:
        self._records = records
        self._release = release
        self._budget = budget
        self._rule = rule
        self._neighbors = neighbors
        self._randomness = randomness
        self._schema = schema
        self._admission = Admission(trial, schema)
        self._computed = NoisyAnswers(records, release, randomness)
        self._read: list[dict[str, Any]] = []
        self._read_events: list[PrivacyEvent] = []
        self._replacement_factor = require_replacement_factor(replacement_factor)
        self._plan = None if planned is None else tuple(planned)
        self._log = log
        self._sizes: AnswerSizes | None = None
        self._before: list[dict[str, Any]] | None = None
        self._answered: list[int] = []  # the charges of those answers that the method got, where answers are kept
        # A release that is resumed has used the first noises of its plan; unless its answers are given once more.
        self.charged = len(self._recorded())
        self._answers: list[tuple[int, CountQuery, Answer]] = []
        self._planned = None if planned is None else list(planned)[self.charged if log is None else 0 :]
        self._foreseen = None if planned is None else [noise.event() for noise in planned]

    @property
    def rule(self) -> Composition:
        """How events are added up."""
        return self._rule

    @property
    def plan(self) -> tuple[Noise, ...] | None:
        """All noises, in order, where they were fixed before the first answer."""
        return self._plan

    @property
    def replacement_factor(self) -> float:
        """The largest replacement factor that a query may have (see `replacement`), fixed before the first answer."""
        return self._replacement_factor

    @property
    def events(self) -> list[PrivacyEvent]:
        """The events that were charged so far, in order."""
        return [charge.event for charge in self.charges]

    @property
    def charges(self) -> list[Charge]:
        """The charges so far, as written in the ledger."""
        return [Charge.from_json(record) for record in self._recorded()]

    @property
    def answers(self) -> tuple[tuple[int, CountQuery, Answer], ...]:
        """What `ask` answered so far in this process: the number of the charge, from 1, the query and the answer."""
        return tuple(self._answers)

    def ask(self, query: CountQuery, noise: CountNoise) -> Answer:
        """The noisy answer to `query`, with the scale and the deviation of its noise.

        Raises:
            BudgetExceeded: when what is left does not cover it; nothing is charged.
            ValueError: when a plan foresaw another noise here, the replacement factor exceeds the declared one, or the
                query is not registered; nothing is charged. Also for exact answers that are not whole numbers: these
                stay charged, and nothing of them is released.
        """
        asked: Query = query
        other = isinstance(asked, Query) and not isinstance(asked, CountQuery)  # what is no query is refused below
        if other or not isinstance(noise, CountNoise):
            raise ValueError(
                f"Numbers are asked of a `CountQuery`, with noise for counts. Found {noise} for {query.name}: texts "
                "are asked for by `ask_texts`, candidates by `choose`, and gradients by `train`."
            )
        of = _sensitivity_in(query, noise.norm)
        with self._paying(query, noise, of) as paid:
            sensitivity, kept = paid.sensitivity, paid.kept
            cells = self._admission.cells_of(query)
            values = self._computed.numbers(query, noise, paid, cells) if kept is None else kept
            self._keep(paid, values)
        answer = Answer(values, noise, noise.scale(sensitivity), noise.deviation(sensitivity))
        self._answers.append((self.charged, query, answer))
        return answer

    def ask_texts(self, query: TextCounts, noise: ThresholdedGaussianNoise | OpenDomainGaussianNoise) -> FrequentTexts:
        """The texts whose noisy counts reach the threshold of `noise`; nothing else of them is released.

        Raises:
            BudgetExceeded: when what is left does not cover it; nothing is charged.
            ValueError: as for `ask`, and for another noise, which would show texts that one record alone has.
        """
        add = unlisted_noise(query, noise)
        with self._paying(query, noise, query.l2_sensitivity) as paid:
            sensitivity = paid.sensitivity
            if paid.kept is None:
                texts = self._computed.texts(query, add, paid)
            else:
                texts = tuple((*named, int(count)) for named, count in zip(paid.texts, paid.kept, strict=True))
            counts = np.array([count for *_, count in texts], dtype=np.int64)
            self._keep(paid, counts, tuple((name, text) for name, text, _ in texts))
        return FrequentTexts(texts, noise, noise.threshold(sensitivity), noise.deviation(sensitivity))

    def choose(self, query: SelectionQuery, noise: SelectionNoise) -> Choice:
        """A candidate of `query` with a high score, chosen privately.

        Raises:
            BudgetExceeded: when what is left does not cover it; nothing is charged.
            ValueError: as for `ask`.
        """
        asked: Query = query
        other = isinstance(asked, Query) and not isinstance(asked, SelectionQuery)
        if other or not isinstance(noise, SelectionNoise):
            raise ValueError(
                f"Candidates are chosen by a `SelectionQuery`, with noise for selections. Found {noise} for "
                f"{query.name}."
            )
        with self._paying(query, noise, query.score_sensitivity) as paid:
            cells = self._admission.cells_of(query)
            chosen = self._computed.choice(query, noise, paid, cells) if paid.kept is None else int(paid.kept[0])
            self._keep(paid, np.array([chosen], dtype=np.int64))
        return Choice(chosen, noise.scale(paid.sensitivity))

    def train(self, query: GradientQuery, noise: SubsampledGaussianNoise) -> Training:
        """The right to ask `query` of `noise.steps` random batches; all of them are charged now.

        Raises:
            BudgetExceeded: when what is left does not cover them; nothing is charged.
            ValueError: as for `ask`, where the noise counts on smaller batches than the query's, and for a question
                that fails on a made-up batch; nothing is charged.
        """
        if self._log is not None:
            raise ValueError("Answers are kept of queries that read all records. Found one of batches: keep none here.")
        if not isinstance(query, GradientQuery) or not isinstance(noise, SubsampledGaussianNoise):
            raise ValueError("Gradients are asked of batches with subsampled Gaussian noise. Found something else.")
        query = query.alone()  # a network that others hold could change between the norms of a step and its gradient
        self._admission.admit(query)  # before anything of it reads a record
        with silent():
            query.require_answerable()
        if not self._neighbors.group_sizes_are_public or self._neighbors.groups != query.features.groups:
            raise ValueError(
                "Batches of fixed size hide who is in them, and not how many records each group has. Found neighbors "
                f"'{self._neighbors.describe()}': open the curator with `replace_one` and the query's groups as "
                "`public_groups`."
            )
        if noise.sampling_probability < query.sampling_probability:
            raise ValueError(
                f"The noise counts on batches that hold at most {noise.sampling_probability:.6g} of a group. Found "
                f"{query.sampling_probability:.6g}: plan the noise with the query's `sampling_probability`."
            )
        self._release.record_sizes_read()  # whether the query's sizes are the records' is an exact fact about them
        with noting_refusals(self._release), silent():
            records = self._records.grouped(query.features)
        if records.sizes != query.group_sizes:
            raise ValueError("The sizes of groups are not those of the records: take them from `Curator.group_sizes`.")
        self._require_few_numbers(query, noise)
        paid = self._charge(query, noise, query.l2_sensitivity)
        return Training(
            records,
            query,
            noise,
            sensitivity=paid.sensitivity,
            randomness=self._randomness,
            refusals=self._release,
            vouched_for=paid.vouched_for,
        )

    def _require_few_numbers(self, query: GradientQuery, noise: SubsampledGaussianNoise) -> None:
        """Refuses a run that answers with more numbers than discrete noise is proved for, however many charges it is.

        Counted are the steps that were charged before, in earlier processes too, and those of the plan that follow.
        """
        charged = [charge for charge in self.charges if charge.noise.get("kind") == noise.kind]
        before = sum(int(one.noise["steps"]) * (int(one.parameters["parameters"]) + 1) for one in charged)
        planned = [noise] if self._planned is None else self._planned
        steps = sum(one.steps for one in planned if isinstance(one, SubsampledGaussianNoise))
        if before + steps * (query.size + 1) > MOST_NUMBERS:
            raise ValueError(
                f"A run may answer with at most {MOST_NUMBERS:,} numbers, for which discrete noise is proved. Found "
                f"{before:,} before, and {steps:,} steps of {query.size + 1:,}: take fewer steps or a smaller network."
            )

    def admit(self, query: Query) -> None:
        """Refuses, before anything is charged, a query that could not be asked.

        Raises:
            ValueError: for a query that is not registered, of another schema, or whose trial fails.
        """
        self._admission.admit(query)

    def deviation(self, query: CountQuery, noise: CountNoise) -> float:
        """The deviation that the `Answer` would have, for planning: nothing is computed, and nothing charged."""
        return noise.deviation(self._sensitivity(_sensitivity_in(query, noise.norm)))

    def scale(self, query: CountQuery, noise: CountNoise) -> float:
        """The scale that the `Answer` would have: nothing is computed, and nothing charged."""
        return noise.scale(self._sensitivity(_sensitivity_in(query, noise.norm)))

    @property
    def vouched_for(self) -> tuple[str, ...]:
        """The types of a user's own that ran on records, in the order of their first use."""
        named = (words for charge in self.charges for words in charge.parameters.get("vouched_for", ()))
        return tuple(dict.fromkeys(named))

    def _sensitivity(self, of: Callable[[NeighboringRelation], float]) -> float:
        return self._neighbors.sensitivity(of, self._neighbors.relation)

    @contextmanager
    def _paying(self, query: Query, noise: Noise, of: Callable[[NeighboringRelation], float]) -> Iterator[Paid]:
        """Charges `query`; where answers are kept, no interrupt comes between the charge and its answer."""
        if self._log is None:
            yield self._charge(query, noise, of)
            return
        with interrupted_afterwards():
            yield self._charge(query, noise, of)

    def _keep(self, paid: Paid, values: np.ndarray, texts: tuple[tuple[str, str], ...] = ()) -> None:
        """Writes an answer down, where answers are kept and it was not given from there."""
        if self._log is not None and paid.kept is None:
            self._log.write_answer(Kept(self.charged, dict(paid.record), paid.asked, values, texts))

    def _recorded(self) -> list[dict[str, Any]]:
        """The charges in the ledger, as far as the method has come that is given its answers once more."""
        records = self._release.records()
        return records if self._log is None else records[: self._log.seen(len(records))]

    def _charge(self, query: Query, noise: Noise, of: Callable[[NeighboringRelation], float]) -> Paid:
        if self._planned is not None and self._planned[:1] != [noise]:
            foreseen = self._planned[0] if self._planned else "nothing more"
            raise ValueError(f"The plan foresees {foreseen} here. Found {noise}.")
        require_known(noise)
        vouched_for = [*self._admission.admit(query), *(one.words for one in brought_within(noise))]
        require_declared(query.name, of, self._replacement_factor)
        sensitivity = require_positive(query.name, self._sensitivity(of))
        other = self._neighbors.sensitivity(of, self._neighbors.relation.other)
        charge = Charge(
            query.name,
            query.describe() | ({"vouched_for": vouched_for} if vouched_for else {}),
            {**noise.to_json(), "scale": noise.scale(sensitivity)},
            sensitivity,
            noise.event(),
            noise.event_under(sensitivity, other),
        )
        paid = Paid(sensitivity, charge.to_json())
        if self._log is None:
            self._pay(query, paid)
        else:
            paid = self._kept_or_paid(self._log, query, paid)
        if self._planned is not None:
            del self._planned[0]
        return paid

    def _pay(self, query: Query, paid: Paid) -> None:
        def affords(records: list[dict[str, Any]]) -> bool:
            if self._log is not None:
                self.charged = len(records)  # with what was lost, or what another run charged
            elif self._planned is not None and len(records) != self.charged:
                # Two runs that shared a plan would each end after some of its parts, with the others' answers lost.
                raise LedgerError(
                    f"Another process goes on with this release: its ledger has {len(records) - 1} charges of it, and "
                    f"this run knows of {self.charged - 1}. Let the other one finish."
                )
            return self._affords(records)

        self._randomness.make_ready()
        before = self.charged
        self.charged += 1  # first: where no interrupt can be held back, the ledger may have it before it is known here
        try:
            with interrupted_afterwards():
                self._release.charge(dict(paid.record), description=query.name, affords=affords)
        except (LedgerError, ValueError):
            self.charged = max(before, len(self._before or ()))  # with what an earlier run charged and lost
            raise

    def _kept_or_paid(self, log: AnswerLog, query: Query, paid: Paid) -> Paid:
        """`paid` with the answer that an earlier run of the release kept; charged where there is none left.

        Room for the answer is made before the charge, so that a full disk ends a run before it pays for what it could
        not keep. Without a ledger in a file the charge is written down as well, before its answer is computed.
        """
        cells, asked = self._cells_of(query), fingerprint(query)
        record = json.loads(json.dumps(paid.record))  # as it will be read back
        if self._before is None:
            self._before = self._release.records()
        if (number := log.next_number()) is not None:
            if not self._affords(self._before[:number]):
                raise BudgetExceeded(f"The kept answers must be within the budget. Found charge {number} beyond it.")
            kept = log.next_answer(record, asked, self._before, cells)
            self.charged = number
            self._answered.append(number)
            return Paid(paid.sensitivity, record, asked, kept.values, kept.texts)
        lost = len(self._before) > log.answers_before
        log.reserve(record, cells)
        try:
            if lost and self._planned is not None:
                raise BudgetExceeded("A plan has no noise for a query that is asked twice.")
            self._pay(query, paid)
        except BudgetExceeded as error:
            if not lost:
                raise
            raise LostAnswer(
                "An answer that was charged was lost when an earlier run ended, and what is left of the budget does "
                f"not pay for it again ({query.name}): this release can't be finished. Begin another one."
            ) from error
        self._answered.append(self.charged)
        if log.carries_charges:
            log.write_charge(self.charged, record, asked)
        return Paid(paid.sensitivity, record, asked)

    def _cells_of(self, query: Query) -> int | None:
        if isinstance(query, TextCounts):
            return None
        if isinstance(query, SelectionQuery):
            return 1
        if self._sizes is None:
            assert self._schema is not None, "accounts that keep answers have a schema"
            self._sizes = AnswerSizes(self._schema)
        return self._sizes.of(query)

    def _affords(self, records: list[dict[str, Any]]) -> bool:
        for place, record in enumerate(records):  # each is read once: there may be thousands of charges
            if self._read[place : place + 1] != [record]:
                self._read[place:], self._read_events[place:] = [record], [Charge.from_json(record).event]
        events = self._read_events[: len(records)]
        if self._foreseen is not None:
            # The whole plan was checked against the budget before its first answer; a part of it reveals no more.
            return events == self._foreseen[: len(events)]
        return self._rule.affords(self._budget, events)


def _sensitivity_in(query: CountQuery, norm: Norm) -> Callable[[NeighboringRelation], float]:
    return query.l1_sensitivity if norm is Norm.L1 else query.l2_sensitivity
