"""AIM as published: one marginal a round, chosen by the exponential mechanism, everything billed in zCDP."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from counterfoil.curator.account import FilterAccount
from counterfoil.curator.accounting import ConcentratedFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.noise import ExponentialSelection, GaussianNoise
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.marginals.batch_choice import rounded
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.domain import Clique
from counterfoil.marginals.error_bars import Bound, PassedOverBound, measured_bounds
from counterfoil.marginals.fitting import Fitter
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.marginals.measure import cell_deviation, measure
from counterfoil.marginals.measurement import NoisyMarginal
from counterfoil.marginals.release import Progress
from counterfoil.marginals.workload import Workload

MEASURING = 0.9
"""Share of rho for measuring; the rest is for choosing (McKenna et al. 2022, Algorithm 2)."""

ROUNDS_PER_COLUMN = 16
_EXPECTED_ABSOLUTE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class _Noise:
    """The noise of a round: `sigma` in sensitivities of one marginal, `epsilon` of the exponential mechanism."""

    sigma: float
    epsilon: float

    @staticmethod
    def spending(rho: float) -> _Noise:
        """The noise of a round that costs `rho`."""
        return _Noise(math.sqrt(1 / (2 * MEASURING * rho)) * (1 + 1e-12), math.sqrt(8 * (1 - MEASURING) * rho))

    @property
    def rho(self) -> float:
        return 0.5 / self.sigma**2 + self.epsilon**2 / 8

    def halved(self) -> _Noise:
        return _Noise(self.sigma / 2, self.epsilon * 2)


@dataclass(frozen=True, eq=False)
class _PassedOver:
    """What the last round in which a clique was a candidate says of it, before the model moved on."""

    estimate: np.ndarray
    bound: PassedOverBound


@dataclass
class PublishedAIM:
    """One run: `run` asks the curator and returns the fitted model; `bounds` says how far off it may be.

    Noise is set in sensitivities of one marginal, so that `replace_one` and privacy units scale it as they must.

    Source: McKenna, Mullins, Sheldon and Miklau 2022, "AIM", Algorithm 2.
    """

    curator: Curator
    workload: Workload | int
    max_model_size: float
    entropy_weight: float
    progress: Progress
    bounds: dict[Clique, tuple[Bound, ...]] = field(default_factory=dict)
    total_error: float = 0.0
    _passed_over: dict[Clique, _PassedOver] = field(default_factory=dict)

    def run(self) -> GraphicalModel:
        domain = self.curator.domain
        candidates = Candidates.of(self.workload, domain, self.max_model_size)
        total = float(self.curator.public_row_count()) if self.curator.row_count_is_public else None
        fitter = Fitter(domain, self.curator.schema.structural_zeros, total, self.entropy_weight)
        account = self.curator.filter(ConcentratedFilter())
        rho = account.capacity * (1 - 1e-9)
        noise = _Noise.spending(rho / (ROUNDS_PER_COLUMN * len(domain.attributes)))
        columns = [(name,) for name in domain.attributes]
        self.progress("measuring columns", 0.0)
        # One question with the noise of separate ones: its sensitivity is sqrt(len(columns)) times theirs.
        model = fitter.fit(measure(account, domain, columns, GaussianNoise(noise.sigma / math.sqrt(len(columns)))))
        number = 0
        while (left := rho - account.spent) > 1e-9 * rho:
            number += 1
            last = left < 2 * noise.rho
            if last:
                noise = _Noise.spending(left)
            self.progress(f"round {number}", 1 - left / rho)
            cliques = candidates.admitted(fitter.cliques, 1 - (left - noise.rho) / rho)
            weights = np.array([candidates.weights[clique] for clique in cliques])
            before, told = self._round(account, model.marginals(cliques), weights, noise)
            model = fitter.fit([told])
            if last:
                break
            moved = float(np.abs(model.marginal(told.clique) - before).sum())
            if moved <= _EXPECTED_ABSOLUTE * told.scale * told.counts.size:
                noise = noise.halved()
        self._settle_bounds(model)
        for clique, bounds in measured_bounds(fitter.measurements, model).items():
            self.bounds[clique] = self.bounds.get(clique, ()) + bounds
        self.total_error = fitter.total_error
        return model

    def _round(
        self, account: FilterAccount, estimates: dict[Clique, np.ndarray], weights: np.ndarray, noise: _Noise
    ) -> tuple[np.ndarray, NoisyMarginal]:
        """Chooses and measures one of `estimates`; returns what the model said of it, and the noisy counts."""
        domain, cliques = self.curator.domain, tuple(estimates)
        measuring, selection = GaussianNoise(noise.sigma), ExponentialSelection(noise.epsilon)
        deviation = cell_deviation(account, MarginalCounts(domain, cliques[:1]), measuring)
        query = WorstApproximatedMarginal(
            cliques,
            rounded(estimates, cliques),
            weights,
            penalties=np.array([_EXPECTED_ABSOLUTE * deviation * domain.size(clique) for clique in cliques]),
        )
        chosen = account.choose(query, selection)
        (told,) = measure(account, domain, [cliques[chosen]], measuring)
        temperature = selection.scale(account.sensitivity(query.score_sensitivity))
        self._note_passed_over(query, chosen, told, temperature)
        return estimates[told.clique], told

    def _note_passed_over(
        self, query: WorstApproximatedMarginal, chosen: int, told: NoisyMarginal, temperature: float
    ) -> None:
        """Keeps what this round says of each candidate (see `PassedOverBound`)."""
        weight = float(query.weights[chosen])
        distance = float(np.abs(told.counts - query.estimates[chosen]).sum())
        level = weight * (distance - float(query.penalties[chosen]))
        slope = weight * told.scale * math.sqrt(told.counts.size)
        for clique, estimate, own, penalty in zip(
            query.cliques, query.estimates, query.weights, query.penalties, strict=True
        ):
            bound = PassedOverBound(
                weight=float(own),
                level=level + float(own * penalty),
                chosen_slope=slope,
                temperature=temperature,
                candidates=len(query.cliques),
                drift=0.0,
            )
            self._passed_over[clique] = _PassedOver(estimate, bound)

    def _settle_bounds(self, model: GraphicalModel) -> None:
        """Adds to each bound how far the final model is from the estimate that the bound is about."""
        marginals = model.marginals(self._passed_over)
        for clique, noted in self._passed_over.items():
            drift = float(np.abs(noted.estimate - marginals[clique]).sum())
            self.bounds[clique] = (noted.bound.moved(drift),)
