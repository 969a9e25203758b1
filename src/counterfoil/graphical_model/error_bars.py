"""How far a model's marginals can be from the real ones, by what was released alone.

All bounds are post-processing: they cost no privacy. Each holds with probability 1 - beta over the noise, whatever
the table. Distances are L1 distances between counts, in records. The derivations are in `docs/methods.md`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterfoil.accounting.upper_end import most_by_gaussian
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.table_model import TableModel


@dataclass(frozen=True)
class ErrorBar:
    """A bound on the L1 distance of the real and the model marginal that holds with probability 1 - beta.

    The L1 distance of two tables of shares lies between 0 and 2: half of it is the share of all records that would have
    to be in other cells. So a `fraction` of .1 says that at most 5% are, and one of 2 says nothing.

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

    def __repr__(self) -> str:
        return (
            f"ErrorBar(attributes={self.attributes!r}, beta={self.beta!r}, records={self.records!r}, "
            f"fraction={self.fraction!r} (an L1 distance, of at most 2), source={self.source!r})"
        )


@dataclass(frozen=True)
class MeasuredBound:
    """The bound from a noisy marginal: abs(real - model) <= abs(noisy - model) + abs(noise), summed over cells.

    The L1 norm of the noise in m cells is above sqrt(2/pi) scale m + t scale sqrt(m) with probability at most
    exp(-t**2 / 2), because abs(noise) of a cell has mean at most sqrt(2/pi) scale and is sub-Gaussian around it.

    Args:
        distance: the L1 distance of the noisy counts from the model.
        scale: of the discrete Gaussian noise in a cell.
        cells: m.
        asked: the number of the query that measured it, from 0.

    Source: McKenna et al. 2022, Theorem 3, with the exact mean in place of sqrt(2 log 2).
    """

    distance: float
    scale: float
    cells: int
    asked: int = 0

    def records(self, beta: float) -> float:
        excess = _deviations(beta) * math.sqrt(self.cells)
        return self.distance + self.scale * (math.sqrt(2 / math.pi) * self.cells + excess)


@dataclass(frozen=True)
class LaplaceMeasuredBound:
    """The bound from a marginal with Laplace noise: abs(real - model) <= abs(noisy - model) + abs(noise), over cells.

    Let X be a discrete Laplace variable of scale b, and E an exponential one of mean b. The L1 norm of the noise in m
    cells is the sum of m independent abs(X), of which two bounds hold, and the smaller one is used:

    - For whole k > 0, P(abs(X) >= k) = 2 exp(-k / b) / (1 + exp(-1 / b)) <= exp(-(k - 1/2) / b) = P(E + 1/2 >= k), as
      2 / (1 + exp(-x)) = exp(x / 2) / cosh(x / 2). So the norm is at most a Gamma variable of m such E, plus m / 2.
    - E exp(t abs(X)) = tanh(1 / 2b) / tanh(1 / 2b - t / 2) <= 1 / (1 - b t), as tanh(u) / u falls with u. So Chernoff's
      bound of the Gamma variable holds for the norm: it is above b m r with probability at most
      exp(-m (r - 1 - log r)), r >= 1.

    Counts that were scaled by a whole weight before the noise have a finer grid, on which less than 1/2 would do.

    Args:
        distance: the L1 distance of the noisy counts from the model.
        scale: sqrt(2) b, about the standard deviation of the noise in a cell.
        cells: m.
        asked: the number of the query that measured it, from 0.
    """

    distance: float
    scale: float
    cells: int
    asked: int = 0

    def records(self, beta: float) -> float:
        from scipy.special import gammainccinv

        mean = self.scale / math.sqrt(2)
        shifted = mean * float(gammainccinv(self.cells, beta)) + self.cells / 2
        ratio = _minus_its_logarithm(1 + math.log(1 / beta) / self.cells)
        return self.distance + min(shifted, mean * self.cells * ratio)


@dataclass(frozen=True)
class NoisyBound:
    """The bound from a noisy L1 distance of the real marginal from an earlier estimate, plus the drift since then.

    A distance is at least 0, which a noisy one need not be: `accounting.upper_end` has the bound.

    Args:
        noisy_distance: the noisy L1 distance of the real marginal from the estimate, a whole number.
        scale: of its discrete Gaussian noise.
        drift: the L1 distance of that estimate from the final model.
    """

    noisy_distance: float
    scale: float
    drift: float

    def records(self, beta: float) -> float:
        return most_by_gaussian(self.noisy_distance, self.scale, beta) + self.drift


@dataclass(frozen=True)
class FormerNoisyBound(NoisyBound):
    """The same as versions before 0.13 had it, which did not use that a distance is at least 0: to be compared with."""

    def records(self, beta: float) -> float:
        from scipy.special import ndtri

        return max(self.noisy_distance + 1 - self.scale * min(float(ndtri(beta)), 0.0), 0.0) + self.drift


@dataclass(frozen=True)
class PassedOverBound:
    """The bound from the exponential mechanism's choice of another marginal, which had nearly the worst score.

    With probability 1 - exp(-t), score(chosen) >= max score - (2 Delta / epsilon) (log(candidates) + t), where Delta
    is the score's sensitivity. The chosen marginal's own error is at most the L1 distance of its noisy counts from the
    estimate, plus s scale sqrt(cells), with probability 1 - exp(-s**2 / 2): with the signs of the error, that distance
    is at least the error plus a sum of signed noises, which is sub-Gaussian. Both events are the same for all
    marginals that were passed over in a round.

    Args:
        weight: w_q of this marginal.
        level: w_chosen * (distance of the chosen one's noisy counts - its penalty) + w_q * this one's penalty.
        chosen_slope: w_chosen * scale * sqrt(cells) of the chosen one.
        temperature: 2 Delta / epsilon.
        candidates: how many marginals the mechanism chose from.
        drift: the L1 distance of the estimate of that round from the final model.

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
        chosen = self.level + _deviations(beta / 2) * self.chosen_slope
        best = chosen + self.temperature * (math.log(self.candidates) + math.log(2 / beta))
        return max(best / self.weight, 0.0) + self.drift


MarginalBound = MeasuredBound | LaplaceMeasuredBound | NoisyBound | PassedOverBound

UNBOUNDED = "nothing that was released bounds this marginal"
"""The source of a bar where nothing was counted that says anything of it."""

NONE_STATED = "no bound is stated of this release"
"""The source of every bar where no counts were bought."""

_SOURCES = {
    MeasuredBound: "its own noisy counts",
    LaplaceMeasuredBound: "its own noisy counts",
    NoisyBound: "its noisy distance from the model",
    FormerNoisyBound: "its noisy distance from the model",
    PassedOverBound: "having been passed over for worse marginals",
}


@dataclass(frozen=True)
class ErrorBars:
    """What a release states about the error of its model.

    Args:
        domain: the attributes.
        bounds: the bounds on each marginal itself.
        total: the model's number of records.
        counted: the number of records: exact where it is public, else as the first query measured it.
        total_error: standard error of `counted`; 0 where the number of records is public.
        laplace: whether the noise of `counted` is Laplace's, and not Gaussian.
    """

    domain: Domain
    bounds: Mapping[Clique, tuple[MarginalBound, ...]]
    total: float
    counted: float
    total_error: float
    laplace: bool = False

    def bar(self, attributes: Iterable[str], beta: float) -> ErrorBar:
        """The smallest bound on the marginal of `attributes`, from it or from any marginal that contains it.

        The failure probability is shared between all events on which the compared bounds rest.

        Raises:
            ValueError: for unknown attributes or `beta` outside (0, 1).
        """
        clique = self.domain.canonical(attributes)
        if not 0 < beta < 1:
            raise ValueError(f"`beta` must lie strictly between 0 and 1. Found {beta}.")
        share = beta / (1 + (self.total_error > 0) + self._passes_over)
        known = self._holding(clique)
        candidates: list[tuple[float, MarginalBound]] = [
            (bound.records(share), bound) for bound in known if isinstance(bound, PassedOverBound)
        ]
        candidates += self._measured([bound for bound in known if not isinstance(bound, PassedOverBound)], share)
        if not candidates:
            return ErrorBar(clique, beta, math.inf, 2.0, UNBOUNDED if self.bounds else NONE_STATED)
        records, best = min(candidates, key=lambda pair: pair[0])
        return ErrorBar(clique, beta, records, self._fraction(records, share), _SOURCES[type(best)])

    @property
    def former(self) -> ErrorBars:
        """The same noisy answers with the bounds that versions before 0.13 drew from them."""
        bounds = {
            clique: tuple(FormerNoisyBound(**vars(one)) if isinstance(one, NoisyBound) else one for one in of)
            for clique, of in self.bounds.items()
        }
        return replace(self, bounds=bounds)

    def raised(self, bar: ErrorBar) -> ErrorBar:
        """`bar`, where one of its columns or pairs has a larger one as far as that: what users are shown.

        Two tables differ in a marginal by at least as much as in each marginal within it. The bound on the larger one
        may still come out below those on its columns, for each rests on noise of its own. It holds as it is; the
        larger number holds as well, and does not contradict what is said of the columns.

        Args:
            bar: with a bound; one that says nothing stays as it is.
        """
        clique, beta = bar.attributes, bar.beta
        if bar.fraction >= 2 or len(clique) < 2:
            return bar
        parts = [(name,) for name in clique] + (list(itertools.combinations(clique, 2)) if len(clique) > 2 else [])
        within = [one for part in parts if (one := self._read(part, beta)).fraction < 2]
        largest = max(within, key=lambda one: one.fraction, default=bar)
        records = max([bar.records, *(one.records for one in within)])
        if largest.fraction <= bar.fraction:
            return replace(bar, records=records)
        source = f"the bound on {' and '.join(largest.attributes)}, from {largest.source}"
        return replace(bar, records=records, fraction=largest.fraction, source=source)

    def _read(self, clique: Clique, beta: float) -> ErrorBar:
        """`bar`, kept for the pairs and triples that have this part in common."""
        if (clique, beta) not in self._kept:
            self._kept[clique, beta] = self.bar(clique, beta)
        return self._kept[clique, beta]

    @cached_property
    def _kept(self) -> dict[tuple[Clique, float], ErrorBar]:
        return {}

    def _holding(self, clique: Clique) -> list[MarginalBound]:
        """The bounds on marginals that contain the clique, in the order of `bounds`."""
        members = set(clique)
        fewest = min((self._with_column.get(name, []) for name in clique), key=len) if clique else [*self.bounds]
        return [bound for other in fewest if members <= set(other) for bound in self.bounds[other]]

    @cached_property
    def _with_column(self) -> dict[str, list[Clique]]:
        """The bounded marginals with each column: among those of one column are all that contain a clique with it."""
        found: dict[str, list[Clique]] = {}
        for clique in self.bounds:
            for name in clique:
                found.setdefault(name, []).append(clique)
        return found

    @cached_property
    def _passes_over(self) -> bool:
        """Whether the release chose marginals adaptively, by a method that always leaves bounds on the others."""
        return any(isinstance(bound, PassedOverBound) for bounds in self.bounds.values() for bound in bounds)

    def _measured(
        self, bounds: Sequence[MeasuredBound | LaplaceMeasuredBound | NoisyBound], beta: float
    ) -> list[tuple[float, MarginalBound]]:
        """Each bound with its value in records; all hold together with probability 1 - beta.

        The number of bounds is known before the noise on which they rest, that of planned queries or of one last one,
        except where bounds rest on queries that depend on each other's answers: there the j-th bound in time gets
        beta / (j (j + 1)), whatever comes after it.
        """
        asked = {bound.asked for bound in bounds if not isinstance(bound, NoisyBound)}
        if not self._passes_over and len(asked) <= 1:
            return [(bound.records(beta / len(bounds)), bound) for bound in bounds]
        in_time = sorted(bounds, key=lambda bound: math.inf if isinstance(bound, NoisyBound) else bound.asked)
        return [(bound.records(beta / (j * (j + 1))), bound) for j, bound in enumerate(in_time, 1)]

    def counting_error(self, beta: float) -> float:
        """By how many records `counted` is off at most, with probability 1 - beta."""
        deviations = _laplace_deviations if self.laplace else _deviations
        return self.total_error * deviations(beta / 2) if self.total_error else 0.0

    def _fraction(self, records: float, beta: float) -> float:
        """Bounds sum abs(h/n - m/total) by (records + abs(n - total)) / n, over all n within the error of `counted`.

        The bound is monotone in n below `total` and above it, so that its largest value is at one end.
        """
        slack = self.counting_error(beta)
        ends = max(self.counted - slack, 1.0), max(self.counted + slack, 1.0)
        return min(max((records + abs(n - self.total)) / n for n in ends), 2.0)


def measured_bounds(
    answers: Sequence[Sequence[NoisyMarginal]], model: TableModel, *, laplace: bool = False
) -> dict[Clique, tuple[MarginalBound, ...]]:
    """One bound for each noisy marginal of `answers`, which holds those of each query in turn.

    Args:
        answers: noisy marginals with discrete Gaussian noise.
        model: the released model.
        laplace: whether the noise is discrete Laplace noise instead.
    """
    kind = LaplaceMeasuredBound if laplace else MeasuredBound
    marginals = model.marginals({marginal.clique for answer in answers for marginal in answer})
    bounds: dict[Clique, tuple[MarginalBound, ...]] = {}
    for asked, answer in enumerate(answers):
        for marginal in answer:
            distance = float(np.abs(marginal.counts - marginals[marginal.clique]).sum())
            bound = kind(distance, marginal.scale, marginal.counts.size, asked)
            bounds[marginal.clique] = (*bounds.get(marginal.clique, ()), bound)
    return bounds


def _deviations(beta: float) -> float:
    """A sub-Gaussian exceeds this many of its scales with probability at most `beta`.

    The discrete Gaussian is sub-Gaussian with its own scale (Canonne, Kamath and Steinke 2020, Corollary 17).
    """
    return math.sqrt(2 * math.log(1 / beta))


def _laplace_deviations(beta: float) -> float:
    """A weighted sum of independent discrete Laplace variables exceeds this many of its standard deviations with
    probability at most `beta`.

    Of one, of scale b, E exp(t X) = sinh(1 / 2b)^2 / (sinh(1 / 2b + t / 2) sinh(1 / 2b - t / 2)) <= 1 / (1 - b^2 t^2),
    as for the continuous law, because log(sinh(u) / u) is convex. Of a sum with weights w and v = sum w^2 b^2, half the
    variance, the product of these is at most 1 / (1 - v t^2), because -log(1 - x) is convex and 0 at 0. Chernoff's
    bound above r sqrt(v), where t is best, is exp(-(y - 2 - log(y / 2))) with y = 1 + sqrt(1 + r^2).
    """
    y = _minus_its_logarithm(math.log(1 / beta) + 2 - math.log(2))
    return math.sqrt((y * (y - 2)) / 2)


def _minus_its_logarithm(value: float) -> float:
    """The r >= 1 with r - log(r) = `value`, at least 1: from above, as Newton's steps on a convex function are."""
    r = value + math.log(value) + 1
    while (step := (r - math.log(r) - value) / (1 - 1 / r)) > 1e-12 * r:
        r -= step
    return r
