"""The log loss of a linear model that was trained on the synthetic rows, on the population of the real records."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.centered_moments import bernstein_norm, bernstein_of_units, products_of_units
from counterfoil.inference.clamped import bounds_sentences
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.l1_logistic import smallest_log_loss
from counterfoil.inference.label_moments import LabelMoments
from counterfoil.inference.moment_matrix import MomentMatrix
from counterfoil.inference.noise_matrices import DRAWS, public_generator, quantile_of, spectral_norms
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import most_related, with_related
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.theory.bound import Bound
from counterfoil.theory.excess_risk import UniformDeviation, excess_risk, uniform_deviation_from_moments
from counterfoil.theory.loss import LOGISTIC


@with_caveats(of_all=True)
def risk(
    release: Any, target: str, positive: str | None = None, *, norm: float = 1.0, level: float = 0.95
) -> list[Finding]:
    """What the logistic regression for `target` with the smallest log loss on the synthetic rows is worth.

    The models are those with norm1(w) <= `norm` on the features of `FeatureMap`: a constant, numbers scaled to [-1, 1]
    by their declared bounds, and indicators. All bounds hold for every such model at once, hence for the one that was
    chosen by looking at the release, and together, with probability `level`. In this order:

    - its log loss on the population;
    - its excess risk: how far that is above the smallest possible;
    - the root mean square, over the population, of the difference between its score <w, x> and the best model's;
    - the Euclidean distance of its weights from the best model's.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        target: the column to predict.
        positive: the label of the value that counts as 1; the second of two where None.
        norm: the largest l1 norm of the weights.
        level: the probability that all bounds hold.

    Raises:
        Unanswerable: where second moments were never measured, or a release has no rows.
        ValueError: for a level outside (0, 1), an unknown target or value, or a norm that is not positive.

    Source: docs/theory/excess_risk.md, sections 1, 2 and 4.
    """
    require_level(level)
    if isinstance(norm, bool) or not isinstance(norm, (int, float)) or not 0 < norm < math.inf:
        raise ValueError(f"`norm` must be positive and finite. Found {norm!r}.")
    evidence = Evidence.of(release)
    features = _features(evidence.schema, target, positive)
    moments = LabelMoments.of(evidence.answers, features)
    if not evidence.table.num_rows:
        raise Unanswerable("The release has no rows, so that no model can be trained on them.")
    # Indicators of all categories of a column add up to the constant: there is no curvature to certify with them.
    names = [column.name for column in features.scaled]
    second = MomentMatrix.of(evidence.answers, names) if names and not features.listed else None
    unit = evidence.answers.unit
    rows = _rows(evidence, features)
    model = _TrainedModel(moments, second, *rows, features, float(norm), level, most_related(unit))
    return with_related(model.findings(), unit)


def _features(schema: Schema, target: str, positive: str | None) -> FeatureMap:
    if target not in schema.domain.attributes:
        return FeatureMap(schema, target, 0)  # which says what it expects
    column = schema[target]
    if column.is_ordered and (column.size != 2 or column.missing or not np.array_equal(*column.ranges)):
        raise ValueError(
            f"`target` must be of categories, or of two values and never missing. Found {target!r}, which is "
            f"{column.kind}."
        )
    if positive is None:
        return FeatureMap.binary(schema, target)
    if str(positive) not in column.labels:
        raise ValueError(
            f"`positive` must be a value of {target!r}. Found {positive!r}.{did_you_mean(str(positive), column.labels)}"
        )
    return FeatureMap(schema, target, column.labels.index(str(positive)))


def _rows(evidence: Evidence, features: FeatureMap) -> tuple[np.ndarray, np.ndarray]:
    """float64 [rows, m] and [rows]: the features and the labels of the synthetic rows."""
    numbers = {name: evidence.schema[name].numbers(evidence.table.column(name)) for name in features.numbers}
    return features.features(evidence.codes, numbers) / UNIT, features.labels(evidence.codes)


@dataclass(frozen=True)
class _Errors:
    """Bounds on the errors of all labeled averages, and of all averages of products, against the population's.

    Args:
        labeled, products: the two bounds.
        noise: the failure probability of the part that is noise; None where noise is left out.
        sampling: likewise.
    """

    labeled: float
    products: float
    noise: float | None
    sampling: float | None


@dataclass(frozen=True, eq=False)
class _TrainedModel:
    """The model with the smallest log loss on the synthetic rows, and what the noisy moments say about it.

    Args:
        moments: the noisy moments.
        second: those of the features alone, for the least eigenvalue of E[x x']; None where no curvature is certified.
        points: float64 [rows, m]: the features of the synthetic rows.
        labels: float64 [rows].
        features: the map behind them.
        norm: r.
        level: of all bounds together.
        related: how many records may be one and the same draw (related_rows.py).
    """

    moments: LabelMoments
    second: MomentMatrix | None
    points: np.ndarray
    labels: np.ndarray
    features: FeatureMap
    norm: float
    level: float
    related: int = 1

    def findings(self) -> list[Finding]:
        # Noise and sampling may each fail in the averages and, where there is one, in the spectral norm.
        failure = (1 - self.level) / (1 if self.second is None else 2)
        every = (self._errors(failure / 2, failure / 2), self._errors(failure, None), self._errors(None, failure))
        return [
            self._risk("log loss", every),
            self._one_sided("excess risk", [self._excess(one).value for one in every], self._span),
            self._one_sided(
                "root mean square difference of its scores from the best model's",
                [math.sqrt(2 * self._excess(one).value / self._bend) for one in every],
                2 * self.norm,
            ),
            self._distance("distance of its weights from the best model's", every),
        ]

    @cached_property
    def _fit(self) -> tuple[np.ndarray, float]:
        return smallest_log_loss(self.points, self.labels, self.norm)

    @cached_property
    def _gaps(self) -> tuple[float, float]:
        """The largest differences of the noisy averages from those of the synthetic rows."""
        rows = len(self.labels)
        labeled = np.abs(self.moments.labeled - self.labels @ self.points / rows)
        products = np.abs(self.moments.products - self.points.T @ self.points / rows)
        return float(labeled.max()), float(products.max())

    @property
    def _span(self) -> float:
        """Two risks of models with that norm never differ by more."""
        return LOGISTIC.span(self.norm)

    @property
    def _bend(self) -> float:
        """The least second derivative of the loss on [-r, r], that at its ends."""
        return math.exp(-self.norm) / (1 + math.exp(-self.norm)) ** 2

    def _errors(self, noise: float | None, sampling: float | None) -> _Errors:
        """Sampling by Hoeffding's inequality for means of numbers in [-1, 1], and the union bound over all moments.

        By Bernstein's for sums over units where records are related: such numbers are at most 2 from their mean, and
        have a variance of at most 1.
        """
        labeled, products = (0.0, 0.0) if noise is None else self.moments.largest_noise(noise)
        drawn = 0.0
        if sampling is not None:
            each, records = sampling / sum(self.moments.distinct), self.moments.records
            drawn = math.sqrt(2 * math.log(2 / each) / records)
            if self.related > 1:
                drawn = bernstein_of_units(2.0, 1.0, 2, records, each, self.related)
        return _Errors(labeled + drawn, products + drawn, noise, sampling)

    def _rounding(self, tables: int) -> float:
        """Features are rounded to multiples of 1 / UNIT, which moves a margin by at most r / (2 UNIT) in each table."""
        return tables * LOGISTIC.steepness(self.norm) * self.norm / (2 * UNIT)

    def _deviation(self, errors: _Errors) -> UniformDeviation:
        gaps = {1: self._gaps[0] + errors.labeled, 2: self._gaps[1] + errors.products}
        deviation = uniform_deviation_from_moments(gaps, self.norm)
        return replace(deviation, terms={**deviation.terms, "rounding": self._rounding(2)})

    def _excess(self, errors: _Errors) -> Bound:
        return excess_risk(self._deviation(errors), training_gap=self._fit[1])

    def _risk(self, about: str, every: tuple[_Errors, ...]) -> Finding:
        """For the polynomial P of degree 2 with low <= phi - P <= high, the risk is E P plus a number in that range.

        E P = a_0 + a_1 w' E[x y] + a_2 w' E[x x'] w errs by at most abs(a_1) r and abs(a_2) r^2 times the errors of the
        averages, for all w at once.
        """
        estimate, *halves = (self._about(one) for one in every)
        center, half = estimate
        lowest, highest = (float(LOGISTIC.at(end)) for end in (self.norm, -self.norm))
        return self._finding(
            about,
            min(max(center, lowest), highest),
            (max(center - half, lowest), min(center + half, highest)),
            (halves[0][1], halves[1][1]),
            f"{about}: a polynomial of degree 2 stands for the loss, and what it leaves out is in the interval",
        )

    def _about(self, errors: _Errors) -> tuple[float, float]:
        weights = self._fit[0]
        sharpest = uniform_deviation_from_moments({1: errors.labeled, 2: errors.products}, self.norm).polynomial
        a = (*sharpest.coefficients, 0.0, 0.0)[:3]
        mean = a[0] + a[1] * float(weights @ self.moments.labeled)
        mean += a[2] * float(weights @ self.moments.products @ weights)
        center = mean + (sharpest.residual_low + sharpest.residual_high) / 2
        moved = abs(a[1]) * self.norm * errors.labeled + abs(a[2]) * self.norm**2 * errors.products
        return center, sharpest.spread / 2 + moved + self._rounding(1)

    def _distance(self, about: str, every: tuple[_Errors, ...]) -> Finding:
        """As L(w) - L(best) >= c lambda norm(w - best)^2 / 2 on the ball.

        c is the least second derivative of the loss there, lambda the least eigenvalue of E[x x'].
        """
        radii = []
        for one in every:
            curvature = self._bend * self._least_eigenvalue(one)
            radii.append(math.sqrt(2 * self._excess(one).value / curvature) if curvature > 0 else math.inf)
        finding = self._one_sided(about, radii, 2 * self.norm)
        if math.isfinite(radii[0]):
            return finding
        sentence = f"{about}: no curvature is certified"
        return replace(finding, basis=(*finding.basis, sentence))

    def _least_eigenvalue(self, errors: _Errors) -> float:
        """A lower bound on that of E[x x'] over the population."""
        if self.second is None:
            return 0.0
        average = self.second.matrix / self.second.records
        values = np.linalg.eigvalsh(average)
        noise = 0.0
        if errors.noise is not None:
            draws = self.second.draws(DRAWS, public_generator())
            moved = self.second.filled(draws) - draws[:, :1, None] * average
            noise = quantile_of(spectral_norms(moved), 1 - errors.noise) / self.second.records
        if errors.sampling is None:
            return float(values[0]) - noise
        reach, size = 1.0 + len(self.features.scaled), len(values)
        largest = min(float(values[-1]) + noise, reach)
        if self.related > 1:
            drawn = products_of_units(reach, largest, size, self.second.records, errors.sampling, self.related)
            return float(values[0]) - noise - drawn
        return float(values[0]) - noise - bernstein_norm(reach, largest, size, self.second.records, errors.sampling)

    def _one_sided(self, about: str, bounds: list[float], trivial: float) -> Finding:
        upper, noise, sampling = (min(bound, trivial) for bound in bounds)
        sentence = "an estimate 0 takes the synthetic rows at their word; only the upper end is a statement"
        if upper == trivial:
            sentence = f"{about}: the upper end is what holds for any two models"
        estimate = math.nan if upper == trivial else 0.0
        return self._finding(about, estimate, (0.0, upper), (noise / 2, sampling / 2), sentence)

    def _finding(
        self, about: str, estimate: float, ends: tuple[float, float], alone: tuple[float, float], *sentences: str
    ) -> Finding:
        numbers = ", ".join(map(str, self.moments.charges))
        value = self.features.schema[self.features.target].labels[self.features.positive]
        return Finding(
            about=about,
            estimate=estimate,
            lower=ends[0],
            upper=ends[1],
            level=self.level,
            noise=alone[0],
            sampling=alone[1],
            charges=self.moments.charges,
            basis=(
                f"the moments that {'charge' if len(self.moments.charges) == 1 else 'charges'} {numbers} bought, and "
                "their differences from those of the synthetic rows",
                f"the model is that for {self.features.target} = {value} with the smallest log loss on the synthetic "
                f"rows, among those with norm1 of the weights at most {self.norm:g}; features as in the certificate",
                *bounds_sentences(self.features.schema, [one.name for one in self.features.schema.synthesized]),
                f"sampling by {'Hoeffding' if self.related == 1 else 'Bernstein'}'s inequality; all bounds hold for "
                "every such model, and together",
                *sentences,
            ),
        )
