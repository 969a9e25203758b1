"""AIM as published: one marginal a round, chosen by the exponential mechanism, everything billed in zCDP."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.accounting.filter import ConcentratedFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.domain.domain import Clique
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model.error_bars import ErrorBars, PassedOverBound, measured_bounds
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.foreseen_total import require_total
from counterfoil.marginals.measure import measure
from counterfoil.marginals.no_relations import no_relations, plan_of
from counterfoil.marginals.scores import rounded
from counterfoil.marginals.weak_relations import blurred_counts, groups_of_model, weak_relations
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.scores import LARGEST_PENALTY
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.release import Fitted

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
class _Round:
    """A round: its query, the temperature and the result of the private choice, and the marginal that it measured."""

    query: WorstApproximatedMarginal
    temperature: float
    chosen: int
    measured: NoisyMarginal


@dataclass
class PublishedAIM:
    """One run: `run` asks the curator and returns the fitted model, and how far off it may be.

    Noise is set in sensitivities of one marginal, so that `replace_one` and privacy units scale it as they must.

    Source: McKenna, Mullins, Sheldon and Miklau 2022, "AIM", Algorithm 2.
    """

    curator: Curator
    workload: Workload | int
    max_model_size: float
    entropy_weight: float | None
    pace: Pace
    rows: int | None = None

    def run(self) -> Fitted:
        domain = self.curator.domain
        candidates = Candidates.of(self.workload, domain, self.max_model_size)
        total = float(self.curator.public_row_count()) if self.curator.row_count_is_public else None
        zeros = self.curator.schema.structural_zeros
        estimator = WarmEstimator(domain, zeros, total, self.entropy_weight, wanted=self.rows, watch=self.pace)
        account = self.curator.filter(ConcentratedFilter())
        rho = account.divisible
        noise = _Noise.spending(rho / (ROUNDS_PER_COLUMN * len(domain.attributes)))
        columns = [(name,) for name in domain.attributes]
        self.pace.step("measuring columns", 0.0)
        # One query with the noise of separate ones: its sensitivity is sqrt(len(columns)) times theirs.
        together = GaussianNoise(noise.sigma / math.sqrt(len(columns)))
        require_total(self.curator, account, [(columns, together)], self.rows)
        answers = [measure(account, domain, columns, together)]
        model = estimator.fit(answers[0])
        counted, total_error = estimator.counted, estimator.total_error
        number = 0
        while (left := rho - account.spent) > 1e-9 * rho:
            number += 1
            last = left < 2 * noise.rho or self.pace.ends_rounds()
            if last:
                noise = _Noise.spending(left)
                self.pace.last_fit()
            self.pace.step(f"round {number}", 1 - left / rho, 1 - (left - noise.rho) / rho)
            with self.pace.working():
                cliques = candidates.admitted(estimator.cliques, 1 - (left - noise.rho) / rho)
                estimates = model.marginals(cliques)
            weights = np.array([candidates.weights[clique] for clique in cliques])
            done = self._round(account, estimates, weights, noise)
            answers.append([done.measured])
            model = estimator.fit([done.measured])
            if last:
                break
            moved = float(np.abs(model.marginal(done.measured.clique) - estimates[done.measured.clique]).sum())
            if moved <= _EXPECTED_ABSOLUTE * done.measured.scale * done.measured.counts.size:
                noise = noise.halved()
        # Only the last round bounds the candidates that it passed over: it was known to be the last before it began. A
        # bound from a round that was picked by its answer would fail more often than it claims.
        bounds = measured_bounds(answers, model)
        for clique, bound in _passed_over(done, model).items():
            bounds[clique] = (*bounds.get(clique, ()), bound)
        error_bars = ErrorBars(domain, bounds, model.total, counted, total_error)
        plan = plan_of(self.curator, account, ConcentratedFilter())
        unrelated = no_relations(domain.attributes, estimator.measurements, model.total, plan)
        if not unrelated:
            groups = groups_of_model(self.curator.schema, model)
            unrelated = weak_relations(
                blurred_counts(estimator.measurements, model.total, groups),
                columns=len(self.curator.schema.synthesized),
            )
        return Fitted(model, error_bars, estimator.outcomes, (*unrelated, *self.pace.warnings()))

    def _round(
        self, account: FilterAccount, estimates: dict[Clique, np.ndarray], weights: np.ndarray, noise: _Noise
    ) -> _Round:
        """Chooses and measures one of `estimates`."""
        domain, cliques = self.curator.domain, tuple(estimates)
        measuring, selection = GaussianNoise(noise.sigma), ExponentialSelection(noise.epsilon)
        deviation = account.deviation(MarginalCounts(domain, cliques[:1]), measuring)
        # A marginal whose noise is beyond any table's error is not worth measuring, however far beyond.
        penalties = [min(_EXPECTED_ABSOLUTE * deviation * domain.size(clique), LARGEST_PENALTY) for clique in cliques]
        query = WorstApproximatedMarginal(
            cliques, rounded(estimates[clique] for clique in cliques), weights, np.array(penalties, float)
        )
        choice = account.choose(query, selection)
        (measured,) = measure(account, domain, [cliques[choice.index]], measuring)
        return _Round(query, choice.scale, choice.index, measured)


def _passed_over(last: _Round, model: GraphicalModel) -> dict[Clique, PassedOverBound]:
    """The bound that the last round gives on each of its candidates."""
    query, measured = last.query, last.measured
    weight = float(query.weights[last.chosen])
    distance = float(np.abs(measured.counts - query.estimates[last.chosen]).sum())
    level = weight * (distance - float(query.penalties[last.chosen]))
    marginals = model.marginals(query.cliques)
    return {
        clique: PassedOverBound(
            weight=float(own),
            level=level + float(own * penalty),
            chosen_slope=weight * measured.scale * math.sqrt(measured.counts.size),
            temperature=last.temperature,
            candidates=len(query.cliques),
            drift=float(np.abs(estimate - marginals[clique]).sum()),
        )
        for clique, estimate, own, penalty in zip(
            query.cliques, query.estimates, query.weights, query.penalties, strict=True
        )
    }
