"""How a round of AIM chooses the marginals that it measures: two ways to ask, one idea of what is worth it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.accounting.event import bounded_range_of_mu
from counterfoil.curator.account import FilterAccount
from counterfoil.curator.queries.selection import MarginalErrors, WorstApproximatedMarginal
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique
from counterfoil.marginals.candidates import Candidates
from counterfoil.noise.selection import ExponentialSelection

_EXPECTED_ABSOLUTE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Batch:
    """The marginals of a round.

    Args:
        estimates: which, at least one, and what the model says of them.
        deviation: the noise in a cell that was assumed when they were chosen, in records.
    """

    estimates: Mapping[Clique, np.ndarray]
    deviation: float


@dataclass(frozen=True, eq=False)
class Round:
    """What a round's choice may depend on; all of it public.

    Args:
        candidates: which marginals there are, on the coarse domain.
        coarsening: the values that are counted together.
        model_cliques: what the model's size depends on.
        estimates: what the model says of each candidate.
        deviation: the noise in a cell that a measurement is going to have, in records.
        size_share: how much of its largest size the model may take.
        mu_squared: what the choice costs.
    """

    candidates: Candidates
    coarsening: Coarsening
    model_cliques: Sequence[Clique]
    estimates: Mapping[Clique, np.ndarray]
    deviation: float
    size_share: float
    mu_squared: float

    def admitted(self, chosen: Sequence[Clique]) -> tuple[Clique, ...]:
        """The candidates that still fit once `chosen` are measured.

        Cliques of columns that `chosen` join already are left for the next round: the model that would judge them is
        out of date.
        """
        covered = frozenset(name for clique in chosen for name in clique)
        return self.candidates.admitted([*self.model_cliques, *chosen], self.size_share, covered=covered)

    def expected_errors(self, cliques: Sequence[Clique]) -> np.ndarray:
        """`expected_error` of each of `cliques`."""
        return np.array([expected_error(self.estimates[clique], self.deviation) for clique in cliques])

    def batch(self, chosen: Sequence[Clique]) -> Batch:
        """`chosen` with what the model says of them."""
        return Batch({clique: self.estimates[clique] for clique in chosen}, self.deviation)


class BatchChoice(Protocol):
    """Chooses up to `size` marginals that are worth measuring."""

    @property
    def size(self) -> int: ...

    def choose(self, account: FilterAccount, now: Round) -> Batch:
        """At least one marginal. Costs at most `now.mu_squared`."""
        ...


def expected_error(estimate: np.ndarray, deviation: float) -> float:
    """The L1 error that is left after measuring with `deviation` in a cell, in records.

    The mean of abs(noise), but in a cell no more than what the model has there: a fit that is regularized towards
    entropy takes little from cells where noise is larger than what is expected.
    """
    return float(np.minimum(np.maximum(estimate, 0.0), _EXPECTED_ABSOLUTE * deviation).sum())


def rounded(estimates: Mapping[Clique, np.ndarray], cliques: Sequence[Clique]) -> tuple[np.ndarray, ...]:
    """The estimates of `cliques` as whole records, against which errors are exact integers."""
    return tuple(np.rint(estimates[clique]).astype(np.int64) for clique in cliques)


@dataclass(frozen=True)
class ExponentialChoice:
    """`size` uses of the exponential mechanism, each among what is left, on the weighted gain of a measurement.

    The scores are those of AIM with `expected_error` as the penalty.
    """

    size: int = 4

    def choose(self, account: FilterAccount, now: Round) -> Batch:
        selection = ExponentialSelection(bounded_range_of_mu(math.sqrt(now.mu_squared / self.size)))
        chosen: list[Clique] = []
        while len(chosen) < self.size and (admitted := now.admitted(chosen)):
            query = WorstApproximatedMarginal(
                admitted,
                rounded(now.estimates, admitted),
                weights=np.array([now.candidates.weights[clique] for clique in admitted]),
                penalties=now.expected_errors(admitted),
                coarsening=now.coarsening,
            )
            chosen.append(admitted[account.choose(query, selection).index])
        return now.batch(chosen)


@dataclass(frozen=True)
class GaussianChoice:
    """The errors of all candidates, told with Gaussian noise in one question; then the best by their weighted gain."""

    size: int = 4

    def choose(self, account: FilterAccount, now: Round) -> Batch:
        cliques = tuple(now.candidates.weights)
        query = MarginalErrors(cliques, rounded(now.estimates, cliques), now.coarsening)
        told = account.ask(query, account.noise(now.mu_squared)).values
        weights = np.array([now.candidates.weights[clique] for clique in cliques])
        gains = dict(zip(cliques, weights * (told - now.expected_errors(cliques)), strict=True))
        chosen: list[Clique] = []
        while len(chosen) < self.size and (admitted := now.admitted(chosen)):
            best = max(admitted, key=gains.__getitem__)
            if chosen and gains[best] <= 0:
                break
            chosen.append(best)
        return now.batch(chosen)
