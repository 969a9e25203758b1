"""AIM in rounds of several marginals, under one Gaussian filter.

What differs from the published algorithm (`aim_published`), and why:

- mu squared is what adds up, and the exact trade-off of the Gaussian replaces the conversion from zCDP, which gives a
  tenth more budget at (1, 1e-9). A choice by the exponential mechanism is billed at its own mu.
- The first round is a spanning tree of pairs, chosen as MST does, so that columns are joined however small the budget
  or wide the table. It takes the place of as many marginals of the rounds, and ends where no pair is worth its noise.
  What it leaves goes to the rounds; where the table is so wide that the tree took their place, to the columns, whose
  errors all pairs contain.
- A round chooses several marginals that don't overlap too much, measures them, and refits once: fewer, better
  measurements, and fewer fits.
- A measurement's expected error counts the noise in a cell as at most what the model has there, because a fit that is
  regularized towards entropy does not follow noise into empty cells. The published penalty, the same for every cell,
  keeps large and sparse marginals from being measured.
- Within a round larger marginals get more of the budget; columns get a larger share from the start, since every
  marginal's error contains those of its columns, and up to nearly twice as much where noise hides them.
- With a focus, the columns are followed by the pairs of that column with each other one, in one query, because a model
  that predicts the column learns from these pairs. Nothing is spent on choosing them. Rounds then choose among the
  marginals of the focus with two and three other columns too.
- Marginals of three columns and more that nobody named take part once their noise is small.
- The model may take the square of the spent share of the budget, as a part of its largest size: large ones come last.
- Rare values are merged once the columns are known (see `coarsening`), and come back when the model is refined.
- A fiftieth of the budget measures the errors of the final model: they are the error bars.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import DEFAULT_MAX_CELLS, Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.classed_model import CLASS, columns_of
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.estimates import Estimates
from counterfoil.marginals.marginal_selection import MarginalSelection, Round, SelectedMarginals
from counterfoil.marginals.measure import marginal_deviation, measure, measure_by_size
from counterfoil.marginals.no_relations import Plan, no_relations, plan_of, with_others
from counterfoil.marginals.noisy_errors import noisy_bounds
from counterfoil.marginals.one_way import OneWay, left_for_pairs, left_without_lost, measure_one_way
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.marginals.record_classes import FEWEST_COLUMNS, SHARE, Start, start_with_classes
from counterfoil.marginals.repeated_measurement import NO_MORE, More
from counterfoil.marginals.scores import error_in_blocks, expected_error, in_blocks
from counterfoil.marginals.spanning_tree import count_parts, parts_of
from counterfoil.marginals.weak_relations import blurred_counts, weak_relations
from counterfoil.marginals.width import crowded_by_focus, crowded_by_rules, require_width, too_large_pairs
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.release import Fitted

_LAST_GAP = 2e-3

_OF_ROUNDS, _LAST_FIT = 0.8, 0.95
"""Where rounds and the last fit end, as shares of the work: for the progress alone."""

FEWEST_ROUNDS, MOST_ROUNDS = 8, 48
"""Of a run whose user names no number: fewer gain nothing on small tables either, as rounds that teach nothing give
what they leave to later ones."""

MOST_FITS = 24
"""Rounds after the tree, where the noise allows more of them: each then chooses more marginals. With 24 errors
were as before and fits took a third less time; with 16 rows of dense tables were further off."""

MOST_SCORES = 20_000
"""Candidates times rounds: the work of a wide table, where more rounds gain little."""

SMALL_ERROR = 0.07
"""More rounds are worth their noise while a marginal that is measured in one of them is less far off (L1, of 2), by
the mean over the candidates."""

FEWEST_AFTER_TREE = 1
"""Rounds after the spanning tree of a wide table, which has more pairs than the fewest rounds would measure."""

ENDING, ENDING_OF_WIDE = 1.0, 0.5
"""How readily the tree ends (`Round.ending`): less so where no rounds are left to choose what it passes over."""

CLEAR_ERROR = 0.03
"""Marginals of three columns and more that nobody named may be chosen where their noise, if the fewest rounds shared
the budget, is at most this part of the records (L1, of 2)."""

MORE_FOR_COLUMNS = More(much=0.5, most=0.875)
"""What columns may get besides, as a part of their share, where noise hides them; not with a focus, whose pairs tell of
all columns."""

_AT_ONCE = 256
"""Marginals whose estimates are in memory together."""


@dataclass(frozen=True)
class _Joined:
    """The model with a tree of pairs, and what is left for later rounds.

    Args:
        model: fitted.
        left: what measures their marginals (mu squared).
        choosing: what chooses them (mu squared).
        later: how many rounds follow.
    """

    model: GraphicalModel
    left: float
    choosing: float
    later: int


@dataclass(frozen=True)
class Shares:
    """How the budget (mu squared) is divided; the rest, up to 1, measures the chosen marginals.

    Args:
        columns: the share for all columns, in the first query.
        focus: the share for the pairs of the focus with every other column, in the second query; 0 without a focus.
        choosing: the share for choosing marginals, divided equally over the rounds.
        error_bars: the share for the errors of the final model.
    """

    columns: float = 0.4
    choosing: float = 0.05
    error_bars: float = 0.02
    focus: float = 0.0

    def __post_init__(self) -> None:
        parts = (self.columns, self.choosing, self.error_bars)
        if not (all(part > 0 for part in parts) and self.focus >= 0 and self.marginals > 0):
            raise ValueError(f"Shares of the budget must be positive and leave something of 1. Found {self}.")

    @property
    def marginals(self) -> float:
        """The share that measures the chosen marginals."""
        return 1 - self.columns - self.focus - self.choosing - self.error_bars


@dataclass
class BatchedAIM:
    """One run: `run` asks the curator and returns the fitted model, and how far off it may be.

    Args:
        workload: the marginals to keep; or an order, for all marginals of that order that are small enough once rare
            values are merged.
        choice: how a round's marginals are chosen.
        focus: a column whose pairs with all others are measured before any rounds, or None.
        rows: how many rows the user asks for; None for about as many as there are records.
        classes: how many hidden classes of records may explain how the columns of a wide table go together; 0 for none.
        pace: is told how far the run is, and ends its rounds where a time limit is near: what is left of the budget is
            then spent on marginals of one last round, as many as the rounds that are left out would have had, but no
            more than join all columns.
        rounds: the most rounds; there are fewer when a round improves the model little, because later rounds then get
            more of the budget. None for as many as the noise allows.
    """

    curator: Curator
    workload: Workload | int
    max_model_size: float
    entropy_weight: float | None
    choice: MarginalSelection
    rounds: int | None
    pace: Pace
    focus: str | None = None
    rows: int | None = None
    classes: int = 16

    @property
    def shares(self) -> Shares:
        return Shares() if self.focus is None else Shares(columns=0.25, focus=0.4)

    def run(self) -> Fitted:
        domain, least = self.curator.domain, self.rounds or FEWEST_ROUNDS
        require_width("aim", domain, self.workload, choices=least * self.choice.size, rounds=least + 2)
        Candidates.of(self.workload, domain, self.max_model_size)  # refuses before anything is charged
        account = self.curator.filter(GaussianFilter())
        capacity = account.divisible
        self.pace.step("measuring columns", 0.0)
        noise = account.noise(self.shares.columns * capacity)
        before, more = account.spent, MORE_FOR_COLUMNS if self.focus is None else NO_MORE
        one_way = measure_one_way(
            self.curator,
            account,
            noise,
            more=more,
            by_need=self.focus is None,
            entropy_weight=self.entropy_weight,
            rows=self.rows,
            watch=self.pace,
        )
        candidates = Candidates.by_gain(
            self.workload, self.curator.domain, self.max_model_size, merged=one_way.coarsening.domain
        )
        workload = tuple(candidates.weights)
        if self.focus is not None:
            candidates = candidates.with_focus(self.focus, one_way.coarsening.domain)
        estimator = one_way.coarse_estimator()
        planned = (1 - self.shares.choosing - self.shares.error_bars) * capacity
        left, lost = left_for_pairs(account, before, planned), account.lost
        if pairs := self._pairs_with_focus(one_way.coarsening.domain, candidates):
            asked = self.shares.columns + self.shares.focus
            self.pace.step("measuring pairs with the focus", _OF_ROUNDS * self.shares.columns, _OF_ROUNDS * asked)
            noise = account.noise(self.shares.focus * capacity)
            estimator.fit(measure(account, self.curator.domain, pairs, noise, coarsening=one_way.coarsening))
            left = left_without_lost(account, lost, left - self.shares.focus * capacity)
        in_blocks: Sequence[NoisyMarginal] = ()
        if self.focus is None:
            start = self._start(account, one_way, candidates, estimator, left)
            estimator, in_blocks = start.estimator, start.pairs
            left = left_without_lost(account, lost, left - start.cost)
            candidates = replace(candidates, domain=one_way.released(estimator.domain))
        coarse = self._rounds(account, one_way, candidates, estimator, left)
        self.pace.step("measuring error bars", _LAST_FIT)
        refined = one_way.refine(coarse)
        model = columns_of(refined)
        bounds = noisy_bounds(account, model, workload, self.shares.error_bars * capacity)
        counted, total_error = one_way.estimator.counted, one_way.estimator.total_error
        error_bars = ErrorBars(self.curator.domain, bounds, model.total, counted, total_error)
        counted_together = [one for one in estimator.measurements if CLASS not in one.clique]
        unrelated = no_relations(
            domain.attributes, with_others(counted_together, in_blocks), coarse.total, self._plan(account)
        )
        if not unrelated and model is refined:  # classes hold relations of pairs that no round had to count
            groups = one_way.groups(self.curator.schema, refined)
            unrelated = weak_relations(
                blurred_counts(counted_together, coarse.total, groups),
                columns=len(self.curator.schema.synthesized),
            )
        unmeasured = too_large_pairs(domain, self.max_model_size)
        rules = tuple(self.curator.schema.structural_zeros)
        crowded = crowded_by_rules(domain, rules, pairs, self.max_model_size)
        crowded = crowded or crowded_by_focus(candidates, rules, pairs)
        warnings = (*one_way.warnings, *unmeasured, *crowded, *unrelated, *self.pace.warnings())
        fits = (*one_way.estimator.outcomes, *estimator.outcomes)
        return Fitted(model, error_bars, fits, warnings, one_way.by_themselves())

    def _start(
        self, account: FilterAccount, one_way: OneWay, candidates: Candidates, estimator: WarmEstimator, left: float
    ) -> Start:
        """Classes of the records, where they explain more than the pairs that the rounds would measure."""
        columns = len(self.curator.domain.attributes)
        if columns < FEWEST_COLUMNS or not self.classes:
            return Start(estimator, 0.0)
        model = estimator.fit([])
        rounds = self.rounds or self._affordable(account, candidates, model, left)
        rivals = max(rounds * self.choice.size, columns - 1)
        before = _OF_ROUNDS * (1 - left / account.divisible)
        self.pace.step("looking for classes of records", before, before + _OF_ROUNDS * SHARE * left / account.divisible)
        return start_with_classes(
            account,
            one_way,
            estimator,
            left,
            classes=self.classes,
            rivals=rivals,
            max_size=self.max_model_size,
            watch=self.pace,
        )

    def _plan(self, account: FilterAccount) -> Plan:
        return plan_of(self.curator, account, GaussianFilter(), focused=self.focus is not None)

    def _pairs_with_focus(self, coarse: Domain, candidates: Candidates) -> list[Clique]:
        """The pairs of the focus that are small enough, and that together keep the model within its size."""
        pairs: list[Clique] = []
        if self.focus is None:
            return pairs
        for name in coarse.attributes:
            pair, known = coarse.canonical({name, self.focus}), [*self.curator.schema.structural_zeros, *pairs]
            if name != self.focus and coarse.size(pair) <= DEFAULT_MAX_CELLS and candidates.fits(known, pair, 1.0):
                pairs.append(pair)
        return pairs

    def _rounds(
        self, account: FilterAccount, one_way: OneWay, candidates: Candidates, estimator: WarmEstimator, left: float
    ) -> GraphicalModel:
        """The model on the coarse domain after all rounds, whose measurements cost `left` (mu squared)."""
        capacity, blocks = account.divisible, one_way.blocks()
        joined = self._joined(account, one_way, blocks, candidates, estimator, left)
        model, left = joined.model, joined.left
        if joined.later:
            few = min(joined.later, FEWEST_ROUNDS) * self.choice.size
            deviation = marginal_deviation(account, self.curator.domain, left / few)
            candidates = candidates.among(self._clear(candidates, model, deviation))
        rounds, usual = self._grouped(joined.later)
        choosing = joined.choosing / max(rounds, 1)
        patience = 1.0
        for number in range(rounds):
            lost = account.lost
            last = number + 1 < rounds and self.pace.ends_rounds()
            choice = self._wider((rounds - number) * usual.size) if last else usual
            portion = left if last else min(patience * left / (rounds - number), left)
            spent, after = (_OF_ROUNDS * (1 - rest / capacity) for rest in (left, left - portion))
            self.pace.step(f"round {number + 1} of at most {rounds}", spent, after)
            now = Round(
                candidates,
                blocks,
                model_cliques=self._model_cliques(estimator),
                estimates=Estimates(model, candidates.weights, self.pace),
                deviation=marginal_deviation(account, self.curator.domain, portion / choice.size),
                size_share=_size_share(1 - (left - portion) / capacity, self._share_of_rules),
                mu_squared=choosing * (rounds - number) if last else choosing,
                column_errors=_column_errors(estimator, model, blocks),
                sensitivity=self._sensitivity(),
                watch=self.pace,
            )
            selected = choice.choose(account, now)
            # Asked again as a few, whose last digits do not depend on other candidates: the noise's scale follows from
            # them, and a fit that starts with another last digit ends elsewhere within its gap.
            with self.pace.working():
                again = model.marginals(selected.estimates)
            measured = measure_by_size(account, one_way.coarsening, again, portion)
            if last:
                return self._last_fit(estimator, measured)
            model = estimator.fit(measured)
            left = left_without_lost(account, lost, left - portion)
            if left <= 1e-9 * capacity:
                break
            with self.pace.working():
                patience *= 2 if _taught_nothing(selected, model) else 1
        return self._last_fit(estimator, [])

    def _joined(
        self,
        account: FilterAccount,
        one_way: OneWay,
        blocks: RankBlocks,
        candidates: Candidates,
        estimator: WarmEstimator,
        left: float,
    ) -> _Joined:
        """Measures a spanning tree of pairs, or a part of it, in place of as many marginals of the rounds.

        Args:
            account: what is charged.
            one_way: the measured columns.
            blocks: the values that are compared together.
            candidates: among them the pairs.
            estimator: is fitted to the tree.
            left: what the tree and all rounds may measure (mu squared).
        """
        domain, model = one_way.coarsening.domain, estimator.fit([])
        rounds = self.rounds or self._affordable(account, candidates, model, left)
        choosing = self.shares.choosing * account.divisible
        part = parts_of(estimator.domain, [one.clique for one in estimator.measurements])
        pairs = [clique for clique in candidates.weights if len(clique) == 2]
        edges = count_parts(part) - count_parts(parts_of(estimator.domain, pairs, part))
        if not edges:
            return _Joined(model, left, choosing, rounds)
        later = self._rounds_after(rounds, edges)
        share = edges / (edges + later * self.choice.size)
        spent, after = (_OF_ROUNDS * (1 - rest / account.divisible) for rest in (left, (1 - share) * left))
        self.pace.step("joining the columns", spent, after)
        with self.pace.working():
            # A tree grows no larger than its pairs.
            fit = candidates.fitting(self._model_cliques(estimator), pairs, 1.0)
            estimates = model.marginals([pair for pair, fits in zip(pairs, fit.tolist(), strict=True) if fits])
        now = Round(
            candidates,
            blocks,
            model_cliques=self._model_cliques(estimator),
            estimates=estimates,
            deviation=marginal_deviation(account, self.curator.domain, share * left / edges),
            size_share=1.0,
            mu_squared=share * choosing,
            column_errors=_column_errors(estimator, model, blocks),
            sensitivity=self._sensitivity(),
            ending=ENDING if later > FEWEST_AFTER_TREE else ENDING_OF_WIDE,
            watch=self.pace,
        )
        before, lost = account.spent, account.lost
        tree = self.choice.join(account, now, part).estimates
        choosing -= account.spent - before - (account.lost - lost)
        unspent, measured = share * (1 - len(tree) / edges) * left, list[NoisyMarginal]()
        if unspent and later <= FEWEST_AFTER_TREE:
            columns = [(name,) for name in domain.attributes]
            noise = account.noise(unspent)
            measured += measure(account, self.curator.domain, columns, noise, coarsening=one_way.coarsening)
            left -= unspent
        else:
            later = self._rounds_after(rounds, len(tree))
        share = len(tree) / max(len(tree) + later * self.choice.size, 1)
        if tree:
            measured += measure_by_size(account, one_way.coarsening, tree, share * left)
        left = left_without_lost(account, lost, (1 - share) * left)
        return _Joined(estimator.fit(measured) if measured else model, left, choosing, later)

    def _rounds_after(self, rounds: int, edges: int) -> int:
        """How many of `rounds` are left after a tree of so many pairs."""
        return rounds - 1 if self.rounds else max(round(rounds - edges / self.choice.size), FEWEST_AFTER_TREE)

    @cached_property
    def _share_of_rules(self) -> float:
        """How much of the model's largest size the rules alone need."""
        domain, rules = self.curator.domain, self.curator.schema.structural_zeros
        return min(junction_tree.megabytes(domain, rules) / self.max_model_size, 1.0) if rules else 0.0

    def _model_cliques(self, estimator: WarmEstimator) -> list[Clique]:
        """What the released model's size depends on: rules, too, that bar nothing while rare values are merged."""
        return list(dict.fromkeys([*estimator.cliques, *self.curator.schema.structural_zeros]))

    def _sensitivity(self) -> float:
        """By how many records a neighbor may change the error of one marginal."""
        neighbors, domain = self.curator.neighbors, self.curator.domain
        of_one = MarginalCounts(domain, ((domain.attributes[0],),)).l1_sensitivity
        return neighbors.sensitivity(of_one, neighbors.relation)

    def _named(self, candidates: Candidates) -> list[Clique]:
        """The candidates that the user named, and all of one or two columns."""
        if isinstance(self.workload, int):
            return [clique for clique in candidates.weights if len(clique) <= 2]
        named = self.workload.candidates(self.curator.domain)
        return [clique for clique in candidates.weights if len(clique) <= 2 or clique in named]

    def _clear(self, candidates: Candidates, model: GraphicalModel, deviation: float) -> list[Clique]:
        """The candidates without larger ones that nobody named and that noise would hide.

        A table of three columns or more takes part once its own noise is small. Before that, what is measured of it is
        mostly noise, which the fit shrinks. Post-processing.

        Args:
            candidates: of all rounds.
            model: fitted so far.
            deviation: the standard deviation in a cell of what the fewest rounds would measure, in records.
        """
        named = frozenset(self._named(candidates))
        others = [clique for clique in candidates.weights if clique not in named]
        clear = set(named)
        for start in range(0, len(others), _AT_ONCE):
            tables = model.marginals(others[start : start + _AT_ONCE])
            clear |= {c for c, table in tables.items() if expected_error(table, deviation) <= CLEAR_ERROR * model.total}
        return [clique for clique in candidates.weights if clique in clear]

    def _last_fit(self, estimator: WarmEstimator, measured: Sequence[NoisyMarginal]) -> GraphicalModel:
        self.pace.step("fitting the model", _OF_ROUNDS, _LAST_FIT)
        self.pace.last_fit()
        return estimator.fit(measured, relative_gap=_LAST_GAP)

    def _grouped(self, rounds: int) -> tuple[int, MarginalSelection]:
        """The choices of `rounds`, in at most `MOST_FITS` where nobody named a number: how many, and of what."""
        if self.rounds is not None or rounds <= MOST_FITS:
            return rounds, self.choice
        return MOST_FITS, self.choice.of_size(math.ceil(rounds * self.choice.size / MOST_FITS))

    def _wider(self, choices: int) -> MarginalSelection:
        """The selection of one round in place of some with so many choices."""
        joining = len(self.curator.domain.attributes) - 1
        return self.choice.of_size(min(choices, max(joining, self.choice.size)))

    def _affordable(self, account: FilterAccount, candidates: Candidates, model: GraphicalModel, left: float) -> int:
        """The most rounds whose measurements would be about `SMALL_ERROR` off, at least `FEWEST_ROUNDS`.

        In a table of few columns at least as many as choose every other pair: more would leave little for each.

        Post-processing: it follows from noisy answers.
        """
        estimates = model.marginals(self._named(candidates))
        most = min(MOST_ROUNDS, math.ceil(len(estimates) / self.choice.size), MOST_SCORES // len(estimates))
        total, joint = next(iter(estimates.values())).sum(), sum(len(clique) > 1 for clique in estimates)
        few = min(FEWEST_ROUNDS, max(math.ceil(joint / (2 * self.choice.size)), 1))
        many = max(few, most)
        while few < many:
            middle = (few + many + 1) // 2
            portion = left / (middle * self.choice.size)
            deviation = marginal_deviation(account, self.curator.domain, portion)
            error = np.mean([expected_error(table, deviation) for table in estimates.values()]) / total
            few, many = (middle, many) if error <= SMALL_ERROR else (few, middle - 1)
        return few


def _size_share(spent: float, rules: float) -> float:
    """The share of its largest size that the model may take, once this share of the budget is spent.

    In the published algorithm it is `spent` itself. With its square what needs a large model comes last: marginals that
    hardly enlarge it go first, and fewer fits are of a large one. It is a share of what the rules leave: of the whole,
    rules that need more than a round may take would leave it nothing but to measure the columns of the rules again.

    Args:
        spent: of the budget.
        rules: the share of the largest size that the rules alone need.
    """
    return rules + (1 - rules) * spent**2


def _column_errors(estimator: WarmEstimator, model: GraphicalModel, blocks: RankBlocks) -> dict[str, float]:
    """By column, the expected L1 error of its counts in blocks as they were measured by themselves, in records."""
    scales = {one.clique: one.scale for one in estimator.measurements if len(one.clique) == 1}
    tables = in_blocks(model.marginals(list(scales)), tuple(scales), blocks)
    return {clique[0]: error_in_blocks(clique, tables[clique], scale, blocks) for clique, scale in scales.items()}


def _taught_nothing(selected: SelectedMarginals, model: GraphicalModel) -> bool:
    """Whether most marginals of the round moved by no more than their noise (McKenna et al. 2022, annealing)."""
    after = model.marginals(selected.estimates)
    still = [
        np.abs(after[clique] - before).sum() <= expected_error(before, selected.deviation)
        for clique, before in selected.estimates.items()
    ]
    return 2 * sum(still) >= len(still)
