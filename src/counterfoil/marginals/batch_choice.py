"""How a round of AIM chooses the marginals that it measures: two ways to ask, one idea of what is worth it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.curator.account import FilterAccount
from counterfoil.curator.accounting import bounded_range_of_mu
from counterfoil.curator.noise import ExponentialSelection
from counterfoil.curator.queries.selection import MarginalErrors, WorstApproximatedMarginal
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.coarsening import Coarsening
from counterfoil.marginals.domain import Clique
from counterfoil.marginals.measure import gaussian_noise

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


class BatchChoice(Protocol):
    """Chooses up to `size` marginals that are worth measuring with `deviation` in a cell."""

    @property
    def size(self) -> int: ...

    def choose(
        self,
        account: FilterAccount,
        candidates: Candidates,
        *,
        model_cliques: Sequence[Clique],
        estimates: Mapping[Clique, np.ndarray],
        deviation: float,
        share: float,
        mu_squared: float,
        coarsening: Coarsening,
    ) -> Batch:
        """Costs `mu_squared`. The model may take `share` of its largest size."""
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

    def choose(
        self,
        account: FilterAccount,
        candidates: Candidates,
        *,
        model_cliques: Sequence[Clique],
        estimates: Mapping[Clique, np.ndarray],
        deviation: float,
        share: float,
        mu_squared: float,
        coarsening: Coarsening,
    ) -> Batch:
        selection = ExponentialSelection(bounded_range_of_mu(math.sqrt(mu_squared / self.size)))
        chosen: list[Clique] = []
        covered: frozenset[str] = frozenset()
        while len(chosen) < self.size:
            # Cliques that join columns already joined in this round would be judged by a model that is out of date.
            admitted = candidates.admitted([*model_cliques, *chosen], share, covered=covered)
            if not admitted:
                break
            query = WorstApproximatedMarginal(
                admitted,
                rounded(estimates, admitted),
                weights=np.array([candidates.weights[clique] for clique in admitted]),
                penalties=np.array([expected_error(estimates[clique], deviation) for clique in admitted]),
                coarsening=coarsening,
            )
            chosen.append(admitted[account.choose(query, selection)])
            covered |= set(chosen[-1])
        return Batch({clique: estimates[clique] for clique in chosen}, deviation)


@dataclass(frozen=True)
class GaussianChoice:
    """The errors of all candidates, told with Gaussian noise in one question; then the best by their weighted gain."""

    size: int = 4

    def choose(
        self,
        account: FilterAccount,
        candidates: Candidates,
        *,
        model_cliques: Sequence[Clique],
        estimates: Mapping[Clique, np.ndarray],
        deviation: float,
        share: float,
        mu_squared: float,
        coarsening: Coarsening,
    ) -> Batch:
        cliques = tuple(candidates.weights)
        query = MarginalErrors(cliques, rounded(estimates, cliques), coarsening)
        told = account.ask(query, gaussian_noise(mu_squared))
        gains = {
            clique: candidates.weights[clique] * (error - expected_error(estimates[clique], deviation))
            for clique, error in zip(cliques, told, strict=True)
        }
        chosen: list[Clique] = []
        covered: frozenset[str] = frozenset()
        for clique in sorted(cliques, key=gains.__getitem__, reverse=True):
            if len(chosen) == self.size or (chosen and gains[clique] <= 0):
                break
            if not covered.issuperset(clique) and candidates.fits([*model_cliques, *chosen], clique, share):
                chosen.append(clique)
                covered |= set(clique)
        return Batch({clique: estimates[clique] for clique in chosen}, deviation)
