"""How far a model's marginals can be from the real ones, told from what was released alone.

All bounds are post-processing: they cost no privacy. Each holds with probability 1 - beta over the noise, whatever
the table. Distances are L1 distances between counts, in records. The derivations are in `docs/methods.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.marginals.measurement import NoisyMarginal


@dataclass(frozen=True)
class ErrorBar:
    """With probability 1 - beta: L1 distance of real and model marginal <= `records` (counts), `fraction` (shares).

    Args:
        attributes: the marginal.
        beta: the probability that the bound fails.
        records: bound on the sum over cells of abs(real count - model count); infinite where nothing is known.
        fraction: bound on the sum over cells of abs(real share - model share); at most 2.
        source: which released numbers the bound comes from.
    """

    attributes: Clique
    beta: float
    records: float
    fraction: float
    source: str


@dataclass(frozen=True)
class MeasuredBound:
    """From a noisy marginal: abs(real - model) <= abs(noisy - model) + abs(noise), summed over cells.

    The noise in m cells has L1 norm with mean at most sqrt(2/pi) scale m, and, being a sqrt(m)-Lipschitz function of
    independent Gaussians, exceeds its mean by t scale sqrt(m) with probability at most exp(-t**2 / 2).

    Source: McKenna et al. 2022, Theorem 3, with the exact mean in place of sqrt(2 log 2).
    """

    distance: float
    scale: float
    cells: int

    def records(self, beta: float) -> float:
        excess = math.sqrt(2 * math.log(1 / beta))
        return self.distance + self.scale * (math.sqrt(2 / math.pi) * self.cells + excess * math.sqrt(self.cells))


@dataclass(frozen=True)
class ToldBound:
    """From a noisy L1 error: the distance of the real marginal from an earlier estimate, plus from there to the model.

    Args:
        told: the noisy L1 distance of the real marginal from the estimate.
        scale: standard deviation of its noise.
        drift: the L1 distance of that estimate from the final model.
    """

    told: float
    scale: float
    drift: float

    def records(self, beta: float) -> float:
        return max(self.told - self.scale * float(ndtri(beta)), 0.0) + self.drift


@dataclass(frozen=True)
class PassedOverBound:
    """From not having been chosen by the exponential mechanism: what was chosen had nearly the worst score.

    With probability 1 - exp(-t), score(chosen) >= max score - (2 Delta / epsilon) (log(candidates) + t), where Delta
    is the score's sensitivity. The chosen marginal's own error is at most the L1 distance of its noisy counts from the
    estimate, plus s scale sqrt(cells), with probability 1 - exp(-s**2 / 2), because the mean of that distance is no
    less than the error (Jensen) and it concentrates around its mean.

    Args:
        weight: w_q of this marginal.
        level: w_chosen * (distance of the chosen one's noisy counts - its penalty) + w_q * this one's penalty.
        chosen_slope: w_chosen * scale * sqrt(cells) of the chosen one.
        temperature: 2 Delta / epsilon.
        candidates: how many there were.
        drift: the L1 distance of the estimate then from the final model.

    Source: McKenna et al. 2022, Theorem 4; Zhou et al. 2024, Theorem C.3, where M_q(D_{t-1}) is M_{q_i}(D_{i-1}) and
    the chosen marginal's error is that of its noisy counts.
    """

    weight: float
    level: float
    chosen_slope: float
    temperature: float
    candidates: int
    drift: float

    def records(self, beta: float) -> float:
        gaussian, exponential = math.sqrt(2 * math.log(2 / beta)), math.log(2 / beta)
        score = self.level + gaussian * self.chosen_slope + self.temperature * (math.log(self.candidates) + exponential)
        return max(score / self.weight, 0.0) + self.drift

    def moved(self, drift: float) -> PassedOverBound:
        """The same bound on a model that is `drift` further away."""
        return replace(self, drift=self.drift + drift)


Bound = MeasuredBound | ToldBound | PassedOverBound

_SOURCES = {
    MeasuredBound: "its own noisy counts",
    ToldBound: "its noisy distance from the model",
    PassedOverBound: "having been passed over for worse marginals",
}


@dataclass(frozen=True)
class ErrorBars:
    """All that a release says about the error of its model.

    Args:
        domain: the attributes.
        bounds: what is known of each marginal directly.
        total: the model's number of records.
        total_error: standard error of `total`; 0 where the number of records is public.
    """

    domain: Domain
    bounds: Mapping[Clique, tuple[Bound, ...]]
    total: float
    total_error: float

    def bar(self, attributes: Iterable[str], beta: float) -> ErrorBar:
        """The smallest bound on the marginal of `attributes`, from it or from any marginal that contains it.

        The failure probability is shared between the bounds that are compared, and the number of records.

        Raises:
            ValueError: for unknown attributes or `beta` outside (0, 1).
        """
        clique = self.domain.canonical(attributes)
        if not 0 < beta < 1:
            raise ValueError(f"`beta` must lie strictly between 0 and 1. Found {beta}.")
        members = set(clique)
        known = [bound for other, bounds in self.bounds.items() if members <= set(other) for bound in bounds]
        if not known:
            return ErrorBar(clique, beta, math.inf, 2.0, "nothing that was released bounds this marginal")
        share = beta / (len(known) + (self.total_error > 0))
        records, best = min(((bound.records(share), bound) for bound in known), key=lambda pair: pair[0])
        return ErrorBar(clique, beta, records, self._fraction(records, share), _SOURCES[type(best)])

    def _fraction(self, records: float, share: float) -> float:
        """Shares divide by the real n, of which abs(n - total) <= z: sum abs(h/n - m/total) <= (records + z) / n."""
        slack = -self.total_error * float(ndtri(share / 2)) if self.total_error else 0.0
        rows = self.total - slack
        return min((records + slack) / rows, 2.0) if rows > 0 else 2.0


def measured_bounds(measurements: Sequence[NoisyMarginal], model: GraphicalModel) -> dict[Clique, tuple[Bound, ...]]:
    """One `MeasuredBound` for each noisy marginal of `measurements`, whose cliques are distinct."""
    marginals = model.marginals([marginal.clique for marginal in measurements])
    return {
        marginal.clique: (
            MeasuredBound(
                float(np.abs(marginal.counts - marginals[marginal.clique]).sum()), marginal.scale, marginal.counts.size
            ),
        )
        for marginal in measurements
    }
