"""The model with the smallest risk, from noisy losses at a net of models: its risk, and a set that holds it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterfoil.inference.bought_losses import BoughtLosses
from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.certified_model import Certified, between_models
from counterfoil.inference.clamped import bounds_sentences
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding
from counterfoil.inference.local_risks import LocalRisks
from counterfoil.inference.loss_polynomials import PolynomialFit
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import with_unrelated
from counterfoil.inference.risk_fit import RiskFit


@with_caveats(of_all=True)
def m_estimate(release: Any, target: str | None = None, *, penalty: float = 0.0, level: float = 0.95) -> list[Finding]:
    """The weights theta with the smallest risk E loss(theta) + penalty norm1(theta) among those with norm1 <= r.

    It rests on the losses of a net of models that were bought as `losses:...`; r and the loss are the net's, and its
    weights those of the features of `LossNet`: a constant, numbers scaled to [-1, 1], and indicators. The estimate is
    the model with the smallest risk by a polynomial fit to the noisy losses. In this order:

    - the smallest risk: of the population, and of the records themselves;
    - the excess risk: how far the estimated model's risk is above the smallest, likewise;
    - each weight of the model with the smallest risk, likewise. An interval that is all of [-r, r] says nothing.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        target: the column that the models predict; the only one for which losses were bought where None.
        penalty: the multiple of norm1(theta) that is added to the risk, as in the Lasso; at least 0.
        level: the probability that all intervals about the population hold; and of those about the records.

    Raises:
        Unanswerable: where no losses were bought.
        ValueError: for a level outside (0, 1), or a penalty that is negative.

    Source: docs/inference.md, "Models by their losses".
    """
    require_level(level)
    if isinstance(penalty, bool) or not isinstance(penalty, (int, float)) or not 0 <= penalty < math.inf:
        raise ValueError(f"`penalty` must be a number of at least 0. Found {penalty!r}.")
    answers = Evidence.of(release).answers
    losses = BoughtLosses.of(answers, target)
    failure = 1 - level
    certify, way = _way(losses, failure)
    records = certify(failure, None, float(penalty), None)
    alone = certify(None, failure, float(penalty), records.weights)
    population = certify(failure / 2, failure / 2, float(penalty), records.weights)
    report = _Report(losses, records, alone, population, float(penalty), level, way)
    return with_unrelated(report.findings(), answers.unit)


Certify = Callable[[float | None, float | None, float, np.ndarray | None], Certified]
"""The statement for failure probabilities of noise and sampling, a penalty, and a model that is meant."""


def _way(losses: BoughtLosses, failure: float) -> tuple[Certify, str]:
    """By polynomials, or by averages where these are sharper; and which it is, in words. No loss is looked at."""
    net = losses.net
    polynomials = [PolynomialFit(net, degree) for degree in PolynomialFit.degrees(net)]
    fit, local = RiskFit.sharpest(losses, polynomials, failure), LocalRisks.sharpest(losses, failure)
    if fit.width <= local.width + between_models(net, net.steps):

        def fitted(noise: float | None, sampling: float | None, penalty: float, model: np.ndarray | None) -> Certified:
            sharpest = RiskFit.sharpest(losses, polynomials, noise)
            return Certified.by_polynomials(sharpest, losses.sampling(noise, sampling), penalty, model)

        return fitted, f"polynomials of degree {fit.polynomials.degree} in the weights stand for the loss"

    def averaged(noise: float | None, sampling: float | None, penalty: float, model: np.ndarray | None) -> Certified:
        sharpest = LocalRisks.sharpest(losses, noise)
        return Certified.by_averages(sharpest, losses.sampling(noise, sampling), penalty, model)

    return averaged, "averages over the models around each one stand for its loss"


@dataclass(frozen=True, eq=False)
class _Report:
    """The findings of three statements.

    Args:
        losses: what they rest on.
        records, drawn, population: about the records, about sampling alone, and about the population.
        penalty: the multiple of norm1 that is added to risks.
        level: the probability that all about the population hold, and of those about the records.
        way: how the risks of all models follow from those of the net, in words.
    """

    losses: BoughtLosses
    records: Certified
    drawn: Certified
    population: Certified
    penalty: float
    level: float
    way: str

    def findings(self) -> Iterator[Finding]:
        net = self.losses.net
        lowest, highest = (
            (math.log1p(math.exp(-net.radius)), math.log(2)) if net.loss.of_labels else (0.0, net.loss.base)
        )
        every = (self.records, self.drawn, self.population)
        risks = [(min(max(one.lower, lowest), highest), min(max(one.upper, lowest), highest)) for one in every]
        word = f"smallest {net.loss.kind} loss" + (" and penalty" if self.penalty else "")
        yield from self._pair(word, min(max(self.records.estimate, lowest), highest), risks)
        trivial = (2 * net.loss.steepest(net.radius) + self.penalty) * net.radius
        above = [(0.0, min(one.excess, trivial)) for one in every]
        yield from self._pair("excess risk of the estimated weights", 0.0, above)
        for place, name in enumerate(net.features):
            about = "constant of the best model" if not place else f"weight of {name} in the best model"
            ends = [(float(one.box[0, place]), float(one.box[1, place])) for one in every]
            yield from self._pair(about, float(self.records.weights[place]), ends)

    def _pair(self, about: str, estimate: float, ends: list[tuple[float, float]]) -> Iterator[Finding]:
        """The finding about the population and that about the records."""
        noise, sampling = ((high - low) / 2 for low, high in ends[:2])
        yield self._finding(about, estimate, ends[2], noise, sampling)
        yield self._finding(f"{about}, of the records", estimate, ends[0], noise, 0.0)

    def _finding(
        self, about: str, estimate: float, ends: tuple[float, float], noise: float, sampling: float
    ) -> Finding:
        lower, upper = min(ends[0], estimate), max(ends[1], estimate)
        return Finding(about, estimate, lower, upper, self.level, noise, sampling, self.losses.charges, self._basis)

    @cached_property
    def _basis(self) -> tuple[str, ...]:
        losses, net = self.losses, self.losses.net
        numbers = ", ".join(map(str, losses.charges))
        norm = f"{self.penalty:g} times norm1 of the weights is added to each risk; " if self.penalty else ""
        scaled = "a constant, numbers scaled to [-1, 1] and indicators of all categories but a column's first"
        target = "" if net.loss.of_labels else f"; {net.target} is scaled to [-1, 1]"
        return (
            f"the losses of {len(net.lattice):,} models that {'charge' if len(losses.charges) == 1 else 'charges'} "
            f"{numbers} bought: the noise in each average is of scale {losses.scale:.3g}",
            f"models for {self._value} have norm1 of the weights at most {net.radius:g}, on {scaled}{target}",
            f"{norm}{self.way}, and what that leaves open is in every interval",
            "sampling by a bound for bounded losses, without further assumptions: the sets hold the weights of the "
            "model with the smallest risk, and are no normal intervals",
            *bounds_sentences(net.schema, [one.name for one in net.schema.synthesized]),
            *self._said,
        )

    @property
    def _value(self) -> str:
        net = self.losses.net
        if not net.loss.of_labels:
            return net.target
        return f"{net.target} = {net.schema[net.target].labels[1]}"

    @property
    def _said(self) -> tuple[str, ...]:
        """Where a set leaves a weight all that the ball allows."""
        net, whole = self.losses.net, []
        for one, words in ((self.records, "records"), (self.population, "population")):
            open_ends = (one.box[0] <= -net.radius) & (one.box[1] >= net.radius)
            if open_ends.all():
                whole.append(
                    f"of the weights that are best for the {words} nothing is said: each may be anything in the ball"
                )
        return tuple(whole)
