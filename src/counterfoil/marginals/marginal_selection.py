"""How a round of AIM selects the marginals that it measures: by two queries, with the same score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.accounting.event import bounded_range_of_mu
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.selection import MarginalDistances
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.marginals.scores import Gain, error_in_blocks, in_blocks, rounded, scores_of
from counterfoil.marginals.spanning_tree import Pick, choose_tree, count_parts, parts_of
from counterfoil.noise.selection import ExponentialSelection

_NOTHING = 1e-12
"""The weight of a candidate that stands for no pair at all: whatever its error, its score is 0 to a hundredth."""


@dataclass(frozen=True)
class SelectedMarginals:
    """The marginals that a round selected.

    Args:
        estimates: by selected clique, the model's counts.
        deviation: the standard deviation of the noise in a cell that the selection assumed, in records.
    """

    estimates: Mapping[Clique, np.ndarray]
    deviation: float


@dataclass(frozen=True, eq=False)
class Round:
    """What the selection of a round may depend on; all of it public.

    Args:
        candidates: the marginals to select from, on the coarse domain.
        blocks: the values that are compared together.
        model_cliques: the cliques that the model's size depends on.
        estimates: the model's counts for each candidate.
        deviation: the standard deviation of the noise that a measurement will have in a cell, in records.
        size_share: the share of its largest size that the model may take.
        mu_squared: the budget of the selection.
        sensitivity: by how many records a neighbor may change the error of one marginal.
        column_errors: by column, the expected L1 error of its counts in blocks, in records.
        ending: how readily a tree of pairs ends: with m of them, its end has the odds of m ** ending without gain.
        watch: counts the time that it takes to see which candidates fit.
    """

    candidates: Candidates
    blocks: RankBlocks
    model_cliques: Sequence[Clique]
    estimates: Mapping[Clique, np.ndarray]
    deviation: float
    size_share: float
    mu_squared: float
    column_errors: Mapping[str, float]
    sensitivity: float = 1.0
    ending: float = 1.0
    watch: FitWatch = UNWATCHED

    def admitted(self, chosen: Sequence[Clique]) -> tuple[Clique, ...]:
        """The candidates that still fit once `chosen` are measured.

        Cliques within the columns that `chosen` join are left for the next round, because the model that scores them
        does not know the new measurements yet.
        """
        covered = frozenset(name for clique in chosen for name in clique)
        with self.watch.working():
            return self.candidates.admitted([*self.model_cliques, *chosen], self.size_share, covered=covered)

    def measured_gains(self, account: FilterAccount) -> Mapping[Clique, float]:
        """By how much measuring each marginal would bring it nearer: of the estimated ones, measured with noise."""
        tables = in_blocks(self.estimates, tuple(self.estimates), self.blocks)
        query = MarginalDistances(tuple(tables), rounded(tables.values()), self.blocks.coarsening)
        errors = account.ask(query, account.noise(self.mu_squared)).values
        expected = [error_in_blocks(*one, self.deviation, self.blocks) for one in tables.items()]
        return dict(zip(tables, (errors - expected).tolist(), strict=True))

    def gain(self, scale: float) -> Gain:
        """What gains are compared with, in a choice whose noise has this scale."""
        return Gain(scale, self.column_errors)

    def joints(self, part: np.ndarray) -> int:
        """How many pairs a spanning tree of the estimated ones takes, where all of them fit."""
        return count_parts(part) - count_parts(parts_of(self.blocks.coarsening.domain, self.estimates, part))

    def tree(self, part: np.ndarray, pick: Pick) -> SelectedMarginals:
        """The spanning tree of the estimated pairs that `pick` chooses, within the size that the model may take."""
        pairs = tuple(self.estimates)

        def fits(places: Sequence[int], asked: np.ndarray) -> np.ndarray:
            known = [*self.model_cliques, *(pairs[place] for place in places)]
            with self.watch.working():
                return self.candidates.fitting(known, [pairs[place] for place in asked.tolist()], self.size_share)

        return self.selected(choose_tree(self.blocks.coarsening.domain, pairs, pick, part=part, fits=fits))

    def selected(self, chosen: Sequence[Clique]) -> SelectedMarginals:
        """`chosen` with the model's counts."""
        return SelectedMarginals({clique: self.estimates[clique] for clique in chosen}, self.deviation)


class MarginalSelection(Protocol):
    """Selects up to `size` marginals that are worth measuring."""

    @property
    def size(self) -> int: ...

    def of_size(self, size: int) -> MarginalSelection:
        """The same selection of up to `size` marginals."""
        ...

    def choose(self, account: FilterAccount, now: Round) -> SelectedMarginals:
        """At least one marginal. Costs at most `now.mu_squared`."""
        ...

    def join(self, account: FilterAccount, now: Round, part: np.ndarray) -> SelectedMarginals:
        """A spanning tree of the candidates that are pairs, over the parts that are joined already, or a part of it.

        None where no candidate joins two of them. Costs at most `now.mu_squared`, less where it ends early.

        Args:
            account: what is charged.
            now: its estimates are those of the pairs.
            part: int64 [attributes], see `spanning_tree.parts_of`.
        """
        ...


@dataclass(frozen=True)
class ExponentialChoice:
    """`size` uses of the exponential mechanism, each among the remaining candidates, on the weighted gain of measuring.

    The scores are those of AIM with `expected_error` as the penalty.
    """

    size: int = 4

    def of_size(self, size: int) -> ExponentialChoice:
        return ExponentialChoice(size)

    def choose(self, account: FilterAccount, now: Round) -> SelectedMarginals:
        selection = ExponentialSelection(bounded_range_of_mu(math.sqrt(now.mu_squared / self.size)))
        layout = now.candidates.layout(now.blocks.coarsening.domain)
        weights = now.candidates.weights
        gain = now.gain(selection.scale(now.sensitivity * max(weights[clique] for clique in now.estimates)))
        scores = scores_of(now.estimates, weights, now.deviation, now.blocks, layout, gain=gain)
        place = {clique: i for i, clique in enumerate(now.estimates)}
        chosen: list[Clique] = []
        while len(chosen) < self.size and (admitted := now.admitted(chosen)):
            query = scores.among(np.array([place[clique] for clique in admitted], dtype=np.int64))
            chosen.append(admitted[account.choose(query, selection).index])
        return now.selected(chosen)

    def join(self, account: FilterAccount, now: Round, part: np.ndarray) -> SelectedMarginals:
        """As MST chooses: each pair by the exponential mechanism, among those that join two parts, or no more at all.

        To end is one more candidate of each choice. With `now.ending` of 1 its odds are those of all pairs together,
        had each of them nothing to gain.
        """
        edges = now.joints(part)
        if not edges:
            return now.selected([])
        selection = ExponentialSelection(bounded_range_of_mu(math.sqrt(now.mu_squared / edges)))
        scale = selection.scale(now.sensitivity)
        first = next(iter(now.estimates))
        end, places = first[:1], len(now.estimates)
        scores = scores_of(
            {**now.estimates, end: now.estimates[first].sum(axis=1)},
            dict.fromkeys(now.estimates, 1.0) | {end: _NOTHING},
            now.deviation,
            now.blocks,
            gain=now.gain(scale),
            margin=now.ending * scale * math.log(len(now.estimates)),
        )

        def pick(joining: np.ndarray) -> int | None:
            chosen = account.choose(scores.among(np.append(joining, places)), selection).index
            return None if chosen == len(joining) else int(joining[chosen])

        return now.tree(part, pick)


@dataclass(frozen=True)
class GaussianChoice:
    """One query for the errors of all candidates, with Gaussian noise; then the candidates with the largest gains."""

    size: int = 4

    def of_size(self, size: int) -> GaussianChoice:
        return GaussianChoice(size)

    def choose(self, account: FilterAccount, now: Round) -> SelectedMarginals:
        measured, weights = now.measured_gains(account), now.candidates.weights
        gains = {clique: weights[clique] * gain for clique, gain in measured.items()}
        chosen: list[Clique] = []
        while len(chosen) < self.size and (admitted := now.admitted(chosen)):
            best = max(admitted, key=gains.__getitem__)
            if chosen and gains[best] <= 0:
                break
            chosen.append(best)
        return now.selected(chosen)

    def join(self, account: FilterAccount, now: Round, part: np.ndarray) -> SelectedMarginals:
        """From one query for the errors of all pairs: the tree with the largest gains."""
        if not now.joints(part):
            return now.selected([])
        gains = np.array(list(now.measured_gains(account).values()))
        return now.tree(part, lambda joining: int(joining[np.argmax(gains[joining])]))
