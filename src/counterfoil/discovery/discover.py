"""What is bought about a table that nobody has described: kinds, ranges, frequent texts and missing cells."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.replacement import COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.column_places import NUMBERED, PLACES, ColumnPlaces
from counterfoil.curator.queries.column_ranges import ColumnRanges
from counterfoil.curator.queries.decimal_signs import DecimalSigns
from counterfoil.curator.queries.rest_of_texts import RestOfTexts
from counterfoil.curator.source_facts import columns_of
from counterfoil.discovery.asked import asked_of, open_signs, others_of, unknown_units
from counterfoil.discovery.day_order import is_doubtful
from counterfoil.discovery.heard import RANGED, Heard
from counterfoil.discovery.need import need_of
from counterfoil.discovery.number_rounds import NumberRounds
from counterfoil.discovery.plan import DiscoveryPlan, plan_discovery
from counterfoil.discovery.ranges import Bounds
from counterfoil.discovery.steps import Step, next_step
from counterfoil.discovery.texts import TextRounds
from counterfoil.discovery.votes import Votes
from counterfoil.ledger.ledger import Ledger
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.shown_counts import sure
from counterfoil.schema.discovered import Discovered, DiscoveredColumn, FoundSign, Kind, Length, Need
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.number_words import is_written_number
from counterfoil.schema.open_numbers import OpenCells
from counterfoil.schema.raw_cell import NOT_APPLICABLE, TRUTHS, RawCells
from counterfoil.schema.schema import Schema
from counterfoil.schema.stated import Stated
from counterfoil.schema.unit import MONEY, bare

_Later = GaussianNoise | OpenDomainGaussianNoise
_FEW = 4
"""Columns of texts: among so few, one more costs little, even if none of its texts shows at first."""


def discover(
    source: Any,
    *,
    stated: Mapping[str, Stated] | None = None,
    budget: Budget,
    share: float = 1.0,
    relation: NeighboringRelation | str = NeighboringRelation.ADD_OR_REMOVE_ONE,
    privacy_unit: PrivacyUnit | tuple[str, int] | None = None,
    ledger: Ledger | str | Path | None = None,
    seed: int | None = None,
    in_memory: bool | None = None,
    encoding: str = UTF_8,
    ready: Callable[[Curator], None] | None = None,
) -> tuple[Discovered, Curator]:
    """Spends `budget`, or a share of it, on what `stated` leaves open; returns it with the open curator, for a receipt.

    The answers are in `Discovered.columns`, in the table's order: columns that leave nothing open, that can't be read
    as single values, and the column of the privacy unit are not among them. The receipt is made while the curator is
    open: `Receipt.from_curator(curator, method="schema", parameters={"shares": dict(discovered.shares)}, rows=0,
    released="measures")`, then `curator.record_receipt`, then `curator.close()`.

    Of a text file whose cells no commas separate, one vote of each record is asked first, with little of the budget:
    whether its numbers have decimal commas (`DecimalSigns`).

    Four questions are asked at most, each of all columns at once, so that d columns cost sqrt(d): what the cells are
    and where numbers lie on a coarse grid (`ColumnPlaces`); and then, as the answers suggest (`steps`), where numbers
    and days lie within what that shows, and how far columns of days beside each other are apart (`ColumnRanges`), or in
    rounds which texts are frequent among those that are
    left (`RestOfTexts`). Their noise is fixed before the first answer.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        stated: by column, what is known already; nothing is asked about that.
        budget: what all of it may cost, with a delta above 0.
        share: of the budget; the rest is for one release of the same records (`RestOfBudget`).
        relation: which tables are neighbors.
        privacy_unit: whose records are protected together; a single row when None.
        ledger: where charges are recorded durably.
        seed: for tests alone: the answers are then NOT PRIVATE.
        in_memory: as for `Curator`.
        encoding: of a CSV file whose first bytes do not say it.
        ready: called when all that is refused here was accepted, right before the first charge. Commands refuse an
            empty table in it (`Curator.require_rows`).

    Raises:
        ValueError: where nothing is left to ask, `stated` names a column that the table lacks, or the budget has no
            delta; nothing is charged then. Else as `Curator` and its account do.
    """
    unit = PrivacyUnit.of(privacy_unit)
    given = stated or {}
    table = columns_of(source, encoding=encoding)
    asked = asked_of(table, given, unit.column if unit else None)
    opens = [column.kind for column in asked.values()]
    ranged = any(column.kind in (None, *RANGED) and not column.ranged for column in asked.values())
    signs, units = open_signs(table, asked), unknown_units(table, asked)
    texts = None in opens or "text" in opens
    noises = plan_discovery(budget, ranges=ranged, texts=texts, signs=bool(signs), share=share)
    _require_thresholds(noises, asked, Neighbors(NeighboringRelation(relation), unit))
    if share < 1:
        RestOfBudget.after([noise.event() for noise in noises.noises]).capacity(budget)  # refused where nothing is left
    names = tuple(asked)
    cells = [
        OpenCells(name, unit=column.unit, units=name in units)
        if name in signs
        else RawCells(name, column.decimal_char, column.unit, name in units)
        for name, column in asked.items()
    ]
    schema = Schema(tuple(cells), ignore=others_of(table, names, unit), encoding=encoding)
    with ExitStack() as until_done:
        curator = Curator(
            source,
            schema,
            budget=budget,
            relation=relation,
            privacy_unit=unit,
            ledger=ledger,
            seed=seed,
            in_memory=in_memory,
        )
        until_done.push(curator.__exit__)
        if noises.tells_texts:
            curator.require_texts()
        if ready is not None:
            ready(curator)
        account = curator.plan(noises.noises, PrivacyLossPlan(), replacement_factor=COUNTS_WITH_GAUSSIAN_NOISE)
        stored = {name for name in asked if name not in given or given[name].kind is None}
        discovery = _Discovery(account, noises, asked, stored, signs, units)
        columns, need, lengths = discovery.columns(), discovery.need(budget), discovery.lengths()
        until_done.pop_all()
    planned = account.rule.epsilon([noise.event() for noise in noises.noises], budget.delta)
    spent = account.rule.epsilon(account.events, budget.delta) if share == 1 else planned
    relation_name, shares = curator.relation.value, dict(noises.shares)
    return Discovered(columns, spent, budget.delta, relation_name, shares, need, discovery.signs, lengths), curator


def _require_thresholds(noises: DiscoveryPlan, asked: Mapping[str, Stated], neighbors: Neighbors) -> None:
    """Refuses, before anything is charged, units of so many rows that no threshold is proved for their texts.

    Raises:
        ValueError: which says how far they are beyond.
    """
    names = tuple(name for name, column in asked.items() if column.kind in (None, "text") and not column.listed)
    if names:
        sensitivity = neighbors.sensitivity(RestOfTexts(names).l2_sensitivity, neighbors.relation)
        for noise in noises.later:
            if isinstance(noise, OpenDomainGaussianNoise):
                noise.threshold(sensitivity)


def need_foreseen(
    source: Any,
    rows: int,
    *,
    stated: Mapping[str, Stated] | None = None,
    budget: Budget,
    share: float = 1.0,
    relation: NeighboringRelation | str = NeighboringRelation.ADD_OR_REMOVE_ONE,
    privacy_unit: PrivacyUnit | tuple[str, int] | None = None,
    encoding: str = UTF_8,
) -> Need:
    """What the noise of the first question of `discover` will hide, of a table of `rows` rows; no record is read.

    Args:
        source, stated, budget, share, relation, privacy_unit, encoding: as for `discover`.
        rows: a public number.

    Raises:
        ValueError: where nothing is left to ask, or the budget has no delta.
    """
    unit = PrivacyUnit.of(privacy_unit)
    table = columns_of(source, encoding=encoding)
    asked = asked_of(table, stated or {}, unit.column if unit else None)
    noise = plan_discovery(budget, ranges=True, texts=True, signs=bool(open_signs(table, asked)), share=share).places
    neighbors = Neighbors(NeighboringRelation(relation), unit)
    sensitivity = neighbors.sensitivity(ColumnPlaces(tuple(asked)).l2_sensitivity, neighbors.relation)
    return need_of(float(rows), 0.0, sure(len(asked)) * noise.deviation(sensitivity), budget)


class _Discovery:
    """The questions to one account, and what follows from their answers; it sees no record."""

    def __init__(
        self,
        account: Account,
        noises: DiscoveryPlan,
        asked: Mapping[str, Stated],
        stored: Set[str],
        opened: tuple[str, ...],
        units: tuple[str, ...] = (),
    ) -> None:
        """`stored` are the columns whose kinds, where they are known, the storage states and not the user.

        `opened` are those whose decimal sign is open, and `units` those of which a unit is looked for.
        """
        self._account = account
        self._noises = noises
        self._asked = asked
        self._stored = stored
        self._texts, self._numbers = TextRounds(), NumberRounds()
        self._opened, self._looked = opened, units
        self._sign, self.signs = None, None
        if noises.signs is not None:
            self.signs = self._ask_signs(noises.signs)
            self._sign = self.signs.sign
        self._heard = Heard.of(asked, stored, self._ask_places(noises.places), units)
        for number, noise in enumerate(noises.later, start=1):
            self._ask_next(number, noise)

    def _ask_next(self, number: int, noise: _Later) -> None:
        """One of the later questions, as the answers so far suggest."""
        step = self._step(number)
        if step == "texts":
            self._ask_texts(noise)
        elif step == "places" or not self._ask_ranges(number, noise):
            # What the plan foresees is asked in its order: where no number shows yet, what the cells are once more.
            self._heard = self._heard.again(self._ask_places(noise), self._looked)

    def _step(self, number: int) -> Step:
        texts = self._wordy_columns
        uncovered = [self._texts.is_uncovered(name, self._heard.present(name)) for name in texts]
        # Words among numbers are worth the small first share.
        asked = texts or self._worded_columns if number == 1 else texts
        return next_step(number, len(self._heard.numbers), len(asked), uncovered)

    def columns(self) -> tuple[DiscoveredColumn, ...]:
        """All of them, in order."""
        ends = {name: found.last_shown for name, (found, _) in self._numbers.bounds(self._heard).items()}
        released = {name: self._texts.released(name) for name in self._heard.turned}
        self._heard = self._heard.without_doubtful_numbers(ends, released)
        bounds, listed = self._numbers.bounds(self._heard), frozenset(self._text_columns)
        return tuple(self._column(name, *bounds.get(name, (Bounds(), 0.0)), name in listed) for name in self._asked)

    def need(self, budget: Budget) -> Need:
        """How many records the noise hides, and what would show."""
        vote = next(iter(self._heard.answered.values()))
        return need_of(*self._heard.everything, vote.least * vote.deviation, budget)

    def lengths(self) -> tuple[Length, ...]:
        """What lies between two columns of days, where that says more than the later one."""
        return self._numbers.lengths(self._heard)

    def _column(self, name: str, bounds: Bounds, fine: float, may_be_listed: bool) -> DiscoveredColumn:
        heard, (everybody, noise) = self._heard, self._heard.everything
        vote, written = heard.votes[name], heard.formats[name]
        released = self._texts.released(name) if may_be_listed else []
        names = self._texts.names(name) if may_be_listed else {}
        missing = vote.missing - sum(names.values())
        missing_error = math.hypot(vote.missing_deviation, self._texts.deviation(name) * len(names) ** 0.5)
        among = self._texts.released(name) if heard.kinds[name] in ("integer", "real") else []
        missed = may_be_listed or bool(among)
        found = self._texts.missing_words(name, missing, missing_error) if missed else ()
        words = found or vote.missing_words
        kind = _kind_shown(heard.kinds[name], [text for text, _ in released if text not in words])
        listed = self._texts.deviation(name) if released else 0.0
        if kind == "boolean" and vote.hidden_truths:
            released = [(NOT_APPLICABLE, vote.of(NOT_APPLICABLE))]
            # Where other columns have it for what is missing, it is no truth: rare codes may stand beside it.
            kind = "text" if heard.not_applicable else kind
        present, error = heard.present(name), heard.present_error(name)
        voted = name in heard.voted
        asked = voted or vote.days or vote.midnights
        return DiscoveredColumn(
            name=name,
            kind=kind,
            votes={one: round(mass) for one, mass in vote.masses().items()} if voted else {},
            lower=bounds.lower,
            upper=bounds.upper,
            tails=bounds.tails,
            categories=tuple((text, count) for text, count in released if text not in words),
            records=max(round(everybody - missing), 0),
            missing=missing,
            edges=(),
            deviation=listed or fine or vote.deviation,
            missing_deviation=missing_error,
            records_deviation=math.hypot(noise, missing_error),
            together=self._texts.together(name),
            raised=self._texts.raised(name),
            codes=bounds.codes,
            date_format=written,
            order_hides=is_doubtful(written) and vote.hides_order(kind, written),
            missing_words=words,
            decimals=vote.decimals() if kind == "real" else None,
            decimal_char=self._asked[name].decimal_char or self._sign_of((name,)) or "",
            unit=heard.units.get(name, ""),
            separators=name in heard.units and name not in self._opened and not self._asked[name].decimal_char,
            read=vote.share_read(kind, written, present, error, whole=name not in heard.units) if asked else None,
            others=vote.others(kind, written) if asked or name in self._stored else (),
            elsewhere=None if bounds.held is None else (present - bounds.held[0], math.hypot(error, bounds.held[1])),
            least=vote.least,
            beyond=bounds.beyond,
            points=bounds.points,
            points_deviation=bounds.points_deviation,
            lumps=bounds.lumps,
            negatives=bounds.negatives,
            outside=bounds.outside,
            grouped=self._may_part_thousands(name, kind, vote, bounds.upper),
            digits=vote.digits,
            zeros_vary=vote.zeros_vary,
            unpadded=vote.unpadded,
            zeros_hidden=vote.least * vote.deviation,
            last_shown=bounds.last_shown,
            clock=vote.clock if kind == "text" else "",
            clock_read=_share(vote.clocks, vote.deviation, present, error),
            words=tuple(
                (text, count)
                for text, count in among
                if text not in words and not is_written_number(bare(text, self._asked[name].unit))
            ),
        )

    def _may_part_thousands(self, name: str, kind: Kind, vote: Votes, upper: float | None) -> bool:
        """Whether points of a column's numbers may part thousands: also those of amounts such as 1.234 €, whatever sign
        parts the columns of the file. Prices of fuel have three digits after the point too, and are below 10."""
        if name in self._opened:
            return self._leaves_open(kind, vote)
        money = self._heard.units.get(name) in MONEY and not self._asked[name].decimal_char
        return money and kind == "real" and vote.decimals() is None and (upper or 0.0) >= _LARGE_PRICE

    def _leaves_open(self, kind: Kind, vote: Votes) -> bool:
        """Whether points of the numbers of a column may part thousands, for all that was asked."""
        if self.signs is None or kind not in ("integer", "real"):
            return False
        if self.signs.leaves_open(vote.masses()["real"]):
            return True
        most = max(self._heard.votes[name].masses()["real"] for name in self._opened)
        return kind == "integer" and self.signs.leaves_whole_open(most)

    def _ask_signs(self, noise: GaussianNoise) -> FoundSign:
        """The decimal sign that surely more records have; none where the noise hides which."""
        answer = self._account.ask(DecimalSigns(self._opened), noise)
        commas, points, open_ones = (float(count) for count in answer.values)
        return FoundSign(commas, points, open_ones, answer.deviation)

    def _sign_of(self, names: Iterable[str]) -> str | None:
        """With which those of the columns are read whose decimal sign was open; None where no one's was."""
        return self._sign if not set(self._opened).isdisjoint(names) else None

    def _places_of(self, names: tuple[str, ...]) -> ColumnPlaces:
        units = tuple(name for name in names if name in self._looked)
        return ColumnPlaces(names, self._sign_of(names), units)

    def _ask_places(self, noise: _Later) -> dict[str, Votes]:
        query = self._places_of(tuple(self._asked))
        answer = self._account.ask(query, noise)
        least = sure(len(self._asked))
        parts = {name: np.split(counts, [PLACES, NUMBERED]) for name, counts in query.split(answer.values).items()}
        return {
            name: Votes(counts, answer.deviation, least, units=units if len(units) else None, padded=padded)
            for name, (counts, padded, units) in parts.items()
        }

    def _ask_ranges(self, number: int, noise: _Later) -> bool:
        """Counts numbers in intervals, or once more; False, and nothing is asked, where none show."""
        heard, numbers = self._heard, self._numbers
        if not heard.numbers:
            return False
        deviation = self._foreseen_of(noise) if numbers.any else self._foreseen(number)
        if not (intervals := numbers.intervals(heard, deviation)):
            return False
        query = ColumnRanges(intervals, self._sign_of(one.column for one in intervals), numbers.pairs(heard))
        numbers.add(query, self._account.ask(query, noise))
        return True

    def _foreseen(self, number: int) -> float:
        """The deviation of a count of numbers, by this question and those later ones that will be about numbers too."""
        noises = [
            noise
            for later, noise in enumerate(self._noises.later, start=1)
            if later == number or (later > number and self._step(later) == "ranges")
        ]
        return math.fsum(self._foreseen_of(noise) ** -2.0 for noise in noises) ** -0.5

    def _foreseen_of(self, noise: _Later) -> float:
        """The deviation of a count of numbers, beside the pairs of days."""
        names = self._numbers.columns(self._heard)
        # As many columns have the same sensitivity in either question, and pairs are as many columns more.
        alone = self._account.deviation(self._places_of(names), noise)
        return alone * math.sqrt(1 + len(self._numbers.pairs(self._heard)) / len(names))

    def _ask_texts(self, noise: _Later) -> None:
        """One round: the texts that are left, of all columns of texts."""
        assert isinstance(noise, OpenDomainGaussianNoise), "tables that may have texts are planned with a threshold"
        heard, listed = self._heard, self._text_columns
        worded = tuple(name for name in self._worded_columns if name not in listed)
        columns = (*listed, *worded)
        known = tuple(one for one in self._texts.known if one[0] in columns)
        held = {name: heard.votes[name].masses()["text"] if name in worded else heard.present(name) for name in columns}
        left = {name: self._texts.left(name, held[name], heard.records) for name in columns}
        missing = {name: heard.votes[name].missing / max(heard.records, 1.0) for name in columns}
        answer = self._account.ask_texts(RestOfTexts(columns, known, worded), noise)
        self._texts.add(answer, columns, left, missing, heard.records)
        released = {name: self._texts.released(name) for name in listed}
        self._heard = heard.with_numbers(released, {name: self._texts.shows(name) for name in listed})

    @property
    def _wordy_columns(self) -> tuple[str, ...]:
        """Those that a question about texts is for: also booleans that a vote found, for the words for the two.

        Reals may be few numbers that are categories: where nearly all lie at a few places
        (`NumberRounds.few_places`). Such of one or two digits are asked about before that is known, where no more
        columns are such than are of texts, and later on those of which a text shows, or all among few columns.
        """
        heard, voted = self._heard, self._heard.voted
        wordy = {
            name
            for name, kind in heard.kinds.items()
            if kind == "text" or (kind == "boolean" and name in voted and not heard.votes[name].hidden_truths)
        }
        spelled = {
            name
            for name, kind in heard.kinds.items()
            if kind == "real" and name in voted and not self._asked[name].ranged
            if heard.votes[name].decimals() and not heard.votes[name].nearly_whole
        } - heard.units.keys()
        if len(spelled) <= len(wordy):
            few = len(spelled) + len(wordy) <= _FEW
            wordy |= {one for one in spelled if few or not self._texts.is_asked(one) or self._texts.released(one)}
        wordy |= {name for name in self._numbers.few_places(heard) if heard.kinds[name] == "real"}
        return tuple(name for name in self._asked if name in wordy and not self._asked[name].listed)

    @property
    def _worded_columns(self) -> tuple[str, ...]:
        """Columns of numbers, as a vote found them, of which surely some cells are texts: words among numbers."""
        heard = self._heard
        numbers = [name for name in heard.numbers if name in heard.voted and heard.kinds[name] in ("integer", "real")]
        return tuple(name for name in numbers if heard.votes[name].masses()["text"] > 0)

    @property
    def _text_columns(self) -> tuple[str, ...]:
        """Those whose texts are counted where a question is about texts: integers far apart, too, may be codes."""
        wordy = frozenset(self._wordy_columns)
        found = wordy | self._numbers.few_places(self._heard) if wordy else wordy
        return tuple(name for name in self._asked if name in found and not self._asked[name].listed)


def _share(count: float, deviation: float, of: float, error: float) -> tuple[float, float]:
    """The share that a noisy count is, and its standard error, to first order."""
    share = min(max(count / of, 0.0), 1.0)
    return share, math.hypot(deviation, share * error) / of


def _kind_shown(kind: Kind, texts: Sequence[str]) -> Kind:
    """As voted, or text where one of the frequent texts is no word for true or false.

    F beside M, and no beside "refused", are categories: as truths they would be all that is read of the column.
    """
    return "text" if kind == "boolean" and any(text.casefold() not in _TRUTHS for text in texts) else kind


_LARGE_PRICE = 10.0
_TRUTHS = frozenset((*TRUTHS, "1", "0"))
