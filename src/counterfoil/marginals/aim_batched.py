"""AIM in rounds of several marginals, under one Gaussian filter.

What differs from the published algorithm (`aim_published`), and why:

- mu squared is what adds up, and the exact trade-off of the Gaussian replaces the conversion from zCDP, which gives a
  tenth more budget at (1, 1e-9). A choice by the exponential mechanism is billed at its own mu.
- A round chooses several marginals that don't overlap too much, measures them, and refits once: fewer, better
  measurements, and fewer fits.
- A measurement's expected error counts the noise in a cell as at most what the model has there, because a fit that is
  regularized towards entropy does not follow noise into empty cells. The published penalty, the same for every cell,
  keeps large and sparse marginals from being measured.
- Within a round larger marginals get more of the budget; columns get a larger share from the start, since every
  marginal's error contains those of its columns.
- The errors of the final model are told with noise, for a fiftieth of the budget: they are the error bars.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from counterfoil.curator.account import FilterAccount
from counterfoil.curator.accounting import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import MarginalErrors
from counterfoil.marginals.batch_choice import Batch, BatchChoice, expected_error
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.domain import Clique
from counterfoil.marginals.error_bars import Bound, ToldBound
from counterfoil.marginals.fitting import Fitter
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.marginals.measure import cell_deviation, gaussian_noise, measure
from counterfoil.marginals.release import Progress

_SIZE_EXPONENT = 2 / 3
"""Minimizing sum(size / sqrt(budget)) over budgets with a fixed sum gives shares proportional to size ** (2/3)."""

_SMALLEST_SHARE = 0.02
_LAST_GAP = 2e-3


@dataclass(frozen=True)
class Shares:
    """How the budget (mu squared) is divided; what is left of 1 measures marginals.

    Args:
        columns: for all columns, in the first question.
        choosing: for choosing marginals, in equal parts a round.
        error_bars: for the errors of the final model.
    """

    columns: float = 0.4
    choosing: float = 0.05
    error_bars: float = 0.02

    def __post_init__(self) -> None:
        parts = (self.columns, self.choosing, self.error_bars)
        if not (all(part > 0 for part in parts) and sum(parts) < 1):
            raise ValueError(f"Shares of the budget must be positive and leave something of 1. Found {parts}.")


@dataclass
class BatchedAIM:
    """One run: `run` asks the curator and returns the fitted model; `bounds` says how far off it may be.

    Args:
        choice: how a round's marginals are chosen.
        rounds: the most rounds; fewer when a round teaches nothing and the budget is kept for larger ones.
    """

    curator: Curator
    candidates: Candidates
    fitter: Fitter
    choice: BatchChoice
    rounds: int
    progress: Progress
    shares: Shares = field(default_factory=Shares)
    bounds: dict[Clique, tuple[Bound, ...]] = field(default_factory=dict)

    def run(self) -> GraphicalModel:
        account = self.curator.filter(GaussianFilter())
        capacity = account.capacity * (1 - 1e-9)
        domain = self.curator.domain
        columns = [(name,) for name in domain.attributes]
        self.progress("measuring columns", 0.0)
        model = self.fitter.fit(measure(account, domain, columns, gaussian_noise(self.shares.columns * capacity)))
        choosing = self.shares.choosing * capacity / self.rounds
        left = (1 - self.shares.columns - self.shares.choosing - self.shares.error_bars) * capacity
        patience = 1.0
        for number in range(self.rounds):
            portion = min(patience * left / (self.rounds - number), left)
            self.progress(f"round {number + 1} of at most {self.rounds}", 1 - left / capacity)
            before, batch = (
                model,
                self._choose(account, model, portion, choosing, share=1 - (left - portion) / capacity),
            )
            model = self._measure(account, batch, portion)
            left -= portion
            if left <= 1e-9 * capacity:
                break
            if self._taught_nothing(batch, before, model):
                patience *= 2
        self.progress("error bars", 1 - self.shares.error_bars)
        model = self.fitter.fit([], relative_gap=_LAST_GAP)
        self._tell_errors(account, model, self.shares.error_bars * capacity)
        return model

    def _choose(
        self, account: FilterAccount, model: GraphicalModel, portion: float, choosing: float, *, share: float
    ) -> Batch:
        """A round's marginals, in a model of at most `share` of the largest size."""
        return self.choice.choose(
            account,
            self.candidates,
            model_cliques=self.fitter.cliques,
            estimates=model.marginals(self.candidates.weights),
            deviation=self._deviation(account, portion / self.choice.size),
            share=share,
            mu_squared=choosing,
        )

    def _measure(self, account: FilterAccount, batch: Batch, portion: float) -> GraphicalModel:
        deviation = self._deviation(account, portion / len(batch.cliques))
        sizes = np.array([np.minimum(batch.estimates[clique] / deviation, 1.0).sum() for clique in batch.cliques])
        shares = np.maximum(sizes, 1.0) ** _SIZE_EXPONENT
        shares = np.maximum(shares / shares.sum(), _SMALLEST_SHARE)
        shares /= shares.sum()
        told = [
            measure(account, self.curator.domain, [clique], gaussian_noise(float(portion * part)))[0]
            for clique, part in zip(batch.cliques, shares, strict=True)
        ]
        return self.fitter.fit(told)

    def _taught_nothing(self, batch: Batch, before: GraphicalModel, after: GraphicalModel) -> bool:
        """Whether most marginals of the round moved by no more than their noise (McKenna et al., annealing)."""
        old, new = (model.marginals(batch.cliques) for model in (before, after))
        still = [
            np.abs(new[clique] - old[clique]).sum() <= expected_error(old[clique], batch.deviation)
            for clique in batch.cliques
        ]
        return 2 * sum(still) >= len(still)

    def _tell_errors(self, account: FilterAccount, model: GraphicalModel, mu_squared: float) -> None:
        cliques = tuple(self.candidates.weights)
        marginals = model.marginals(cliques)
        estimates = tuple(np.rint(marginals[clique]).astype(np.int64) for clique in cliques)
        query, noise = MarginalErrors(cliques, estimates), gaussian_noise(mu_squared)
        told = account.ask(query, noise)
        scale = noise.scale(account.sensitivity(query.l2_sensitivity))
        for clique, estimate, error in zip(cliques, estimates, told, strict=True):
            drift = float(np.abs(estimate - marginals[clique]).sum())
            self.bounds[clique] = (ToldBound(float(error), scale, drift),)

    def _deviation(self, account: FilterAccount, mu_squared: float) -> float:
        """Standard deviation in a cell, in records, of one marginal measured at that cost."""
        domain = self.curator.domain
        one = MarginalCounts(domain, ((domain.attributes[0],),))
        return cell_deviation(account, one, gaussian_noise(mu_squared))
