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
- With a focus, the pairs of that column with each other one are measured before rounds, in one query, because a model
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
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import CLASS, Clique
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.classed_model import columns_of
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.aim_asked import Asked
from counterfoil.marginals.aim_start import OF_ROUNDS, Begun, begin
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.estimates import Estimates
from counterfoil.marginals.marginal_selection import MarginalSelection, Round, SelectedMarginals
from counterfoil.marginals.measure import marginal_deviation, measure, measure_by_size
from counterfoil.marginals.no_relations import no_relations, plan_of, with_others
from counterfoil.marginals.noisy_errors import noisy_bounds
from counterfoil.marginals.one_way import OneWay, left_without_lost
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.marginals.rounds_allowed import FEWEST_ROUNDS, clear_of_noise, rounds_allowed
from counterfoil.marginals.scores import error_in_blocks, expected_error, in_blocks
from counterfoil.marginals.spanning_tree import count_parts, parts_of
from counterfoil.marginals.weak_relations import blurred_counts, weak_relations
from counterfoil.marginals.width import crowded_by_focus, crowded_by_rules, require_width, too_large_pairs
from counterfoil.synthesis.release import Fitted

_LAST_GAP = 2e-3

_LAST_FIT = 0.95
"""Where the last fit ends, as a share of the work: for the progress alone."""

MOST_FITS = 24
"""Rounds after the tree, where the noise allows more of them: each then chooses more marginals. With 24 errors
were as before and fits took a third less time; with 16 rows of dense tables were further off."""

FEWEST_AFTER_TREE = 1
"""Rounds after the spanning tree of a wide table, which has more pairs than the fewest rounds would measure."""

ENDING, ENDING_OF_WIDE = 1.0, 0.5
"""How readily the tree ends (`Round.ending`): less so where no rounds are left to choose what it passes over."""


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


@dataclass
class BatchedAIM:
    """One run: `run` asks the curator and returns the fitted model, and how far off it may be."""

    asked: Asked

    def run(self) -> Fitted:
        asked, curator, pace = self.asked, self.asked.curator, self.asked.pace
        domain, least = curator.domain, asked.rounds or FEWEST_ROUNDS
        require_width("aim", domain, asked.workload, choices=least * asked.choice.size, rounds=least + 2)
        Candidates.of(asked.workload, domain, asked.max_model_size)  # refuses before anything is charged
        account = curator.filter(GaussianFilter())
        begun = begin(asked, account)
        one_way, estimator = begun.one_way, begun.estimator
        coarse = self._rounds(account, one_way, begun.candidates, estimator, begun.left)
        pace.step("measuring error bars", _LAST_FIT)
        refined = one_way.refine(coarse)
        model = columns_of(refined)
        bounds = noisy_bounds(account, model, begun.workload, asked.shares.error_bars * account.divisible)
        counted, total_error = one_way.estimator.counted, one_way.estimator.total_error
        error_bars = ErrorBars(domain, bounds, model.total, counted, total_error)
        unrelated = self._unrelated(account, begun, coarse, refined)
        warnings = (*one_way.warnings, *self._crowded(begun), *unrelated, *pace.warnings())
        fits = (*one_way.estimator.outcomes, *estimator.outcomes)
        return Fitted(model, error_bars, fits, warnings, one_way.by_themselves())

    def _unrelated(
        self, account: FilterAccount, begun: Begun, coarse: GraphicalModel, refined: GraphicalModel
    ) -> tuple[str, ...]:
        """Warnings of relations that were not found, or that noise has made weak."""
        curator, one_way = self.asked.curator, begun.one_way
        counted = [one for one in begun.estimator.measurements if CLASS not in one.clique]
        plan = plan_of(curator, account, GaussianFilter(), focused=self.asked.focus is not None)
        together = with_others(counted, begun.in_blocks)
        unrelated = no_relations(curator.domain.attributes, together, coarse.total, plan)
        if unrelated or CLASS in refined.domain.attributes:
            return unrelated  # classes hold relations of pairs that no round had to count
        groups = one_way.groups(curator.schema, refined)
        return weak_relations(blurred_counts(counted, coarse.total, groups), columns=len(curator.schema.synthesized))

    def _crowded(self, begun: Begun) -> tuple[str, ...]:
        """Warnings of pairs that do not fit into the model."""
        domain, size = self.asked.curator.domain, self.asked.max_model_size
        rules = tuple(self.asked.curator.schema.structural_zeros)
        crowded = crowded_by_rules(domain, rules, begun.of_focus, size)
        crowded = crowded or crowded_by_focus(begun.candidates, rules, begun.of_focus)
        return (*too_large_pairs(domain, size), *crowded)

    def _rounds(
        self, account: FilterAccount, one_way: OneWay, candidates: Candidates, estimator: WarmEstimator, left: float
    ) -> GraphicalModel:
        """The model on the coarse domain after all rounds, whose measurements cost `left` (mu squared)."""
        capacity, blocks = account.divisible, one_way.blocks()
        joined = self._joined(account, one_way, blocks, candidates, estimator, left)
        model, left = joined.model, joined.left
        if joined.later:
            few = min(joined.later, FEWEST_ROUNDS) * self.asked.choice.size
            deviation = marginal_deviation(account, self.asked.curator.domain, left / few)
            candidates = candidates.among(clear_of_noise(self.asked, candidates, model, deviation))
        rounds, usual = self._grouped(joined.later)
        choosing = joined.choosing / max(rounds, 1)
        patience = 1.0
        for number in range(rounds):
            lost = account.lost
            last = number + 1 < rounds and self.asked.pace.ends_rounds()
            choice = self._wider((rounds - number) * usual.size) if last else usual
            portion = left if last else min(patience * left / (rounds - number), left)
            spent, after = (OF_ROUNDS * (1 - rest / capacity) for rest in (left, left - portion))
            self.asked.pace.step(f"round {number + 1} of at most {rounds}", spent, after)
            now = Round(
                candidates,
                blocks,
                model_cliques=self._model_cliques(estimator),
                estimates=Estimates(model, candidates.weights, self.asked.pace),
                deviation=marginal_deviation(account, self.asked.curator.domain, portion / choice.size),
                size_share=_size_share(1 - (left - portion) / capacity, self._share_of_rules),
                mu_squared=choosing * (rounds - number) if last else choosing,
                column_errors=_column_errors(estimator, model, blocks),
                sensitivity=self._sensitivity(),
                watch=self.asked.pace,
            )
            selected = choice.choose(account, now)
            # Asked again as a few, whose last digits do not depend on other candidates: the noise's scale follows from
            # them, and a fit that starts with another last digit ends elsewhere within its gap.
            with self.asked.pace.working():
                again = model.marginals(selected.estimates)
            measured = measure_by_size(account, one_way.coarsening, again, portion)
            if last:
                return self._last_fit(estimator, measured)
            model = estimator.fit(measured)
            left = left_without_lost(account, lost, left - portion)
            if left <= 1e-9 * capacity:
                break
            with self.asked.pace.working():
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
        rounds = rounds_allowed(self.asked, account, candidates, model, left)
        choosing = self.asked.shares.choosing * account.divisible
        part = parts_of(estimator.domain, [one.clique for one in estimator.measurements])
        pairs = [clique for clique in candidates.weights if len(clique) == 2]
        edges = count_parts(part) - count_parts(parts_of(estimator.domain, pairs, part))
        if not edges:
            return _Joined(model, left, choosing, rounds)
        later = self._rounds_after(rounds, edges)
        share = edges / (edges + later * self.asked.choice.size)
        spent, after = (OF_ROUNDS * (1 - rest / account.divisible) for rest in (left, (1 - share) * left))
        self.asked.pace.step("joining the columns", spent, after)
        with self.asked.pace.working():
            # A tree grows no larger than its pairs.
            fit = candidates.fitting(self._model_cliques(estimator), pairs, 1.0)
            estimates = model.marginals([pair for pair, fits in zip(pairs, fit.tolist(), strict=True) if fits])
        now = Round(
            candidates,
            blocks,
            model_cliques=self._model_cliques(estimator),
            estimates=estimates,
            deviation=marginal_deviation(account, self.asked.curator.domain, share * left / edges),
            size_share=1.0,
            mu_squared=share * choosing,
            column_errors=_column_errors(estimator, model, blocks),
            sensitivity=self._sensitivity(),
            ending=ENDING if later > FEWEST_AFTER_TREE else ENDING_OF_WIDE,
            watch=self.asked.pace,
        )
        before, lost = account.spent, account.lost
        tree = self.asked.choice.join(account, now, part).estimates
        choosing -= account.spent - before - (account.lost - lost)
        unspent, measured = share * (1 - len(tree) / edges) * left, list[NoisyMarginal]()
        if unspent and later <= FEWEST_AFTER_TREE:
            columns = [(name,) for name in domain.attributes]
            noise = account.noise(unspent)
            measured += measure(account, self.asked.curator.domain, columns, noise, coarsening=one_way.coarsening)
            left -= unspent
        else:
            later = self._rounds_after(rounds, len(tree))
        share = len(tree) / max(len(tree) + later * self.asked.choice.size, 1)
        if tree:
            measured += measure_by_size(account, one_way.coarsening, tree, share * left)
        left = left_without_lost(account, lost, (1 - share) * left)
        return _Joined(estimator.fit(measured) if measured else model, left, choosing, later)

    def _rounds_after(self, rounds: int, edges: int) -> int:
        """How many of `rounds` are left after a tree of so many pairs."""
        return (
            rounds - 1 if self.asked.rounds else max(round(rounds - edges / self.asked.choice.size), FEWEST_AFTER_TREE)
        )

    @cached_property
    def _share_of_rules(self) -> float:
        """How much of the model's largest size the rules alone need."""
        domain, rules = self.asked.curator.domain, self.asked.curator.schema.structural_zeros
        return min(junction_tree.megabytes(domain, rules) / self.asked.max_model_size, 1.0) if rules else 0.0

    def _model_cliques(self, estimator: WarmEstimator) -> list[Clique]:
        """What the released model's size depends on: rules, too, that bar nothing while rare values are merged."""
        return list(dict.fromkeys([*estimator.cliques, *self.asked.curator.schema.structural_zeros]))

    def _sensitivity(self) -> float:
        """By how many records a neighbor may change the error of one marginal."""
        neighbors, domain = self.asked.curator.neighbors, self.asked.curator.domain
        of_one = MarginalCounts(domain, ((domain.attributes[0],),)).l1_sensitivity
        return neighbors.sensitivity(of_one, neighbors.relation)

    def _last_fit(self, estimator: WarmEstimator, measured: Sequence[NoisyMarginal]) -> GraphicalModel:
        self.asked.pace.step("fitting the model", OF_ROUNDS, _LAST_FIT)
        self.asked.pace.last_fit()
        return estimator.fit(measured, relative_gap=_LAST_GAP)

    def _grouped(self, rounds: int) -> tuple[int, MarginalSelection]:
        """The choices of `rounds`, in at most `MOST_FITS` where nobody named a number: how many, and of what."""
        if self.asked.rounds is not None or rounds <= MOST_FITS:
            return rounds, self.asked.choice
        return MOST_FITS, self.asked.choice.of_size(math.ceil(rounds * self.asked.choice.size / MOST_FITS))

    def _wider(self, choices: int) -> MarginalSelection:
        """The selection of one round in place of some with so many choices."""
        joining = len(self.asked.curator.domain.attributes) - 1
        return self.asked.choice.of_size(min(choices, max(joining, self.asked.choice.size)))


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
