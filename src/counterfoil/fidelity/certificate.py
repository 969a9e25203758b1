"""A bound on what any linear model loses by being trained on the synthetic rows, as a sentence with a number.

The bound is `theory.excess_risk`. It needs two gaps between the real and the synthetic table: of order 1 (with the
label) and of order 2 (without). They come from

- `moments`: the largest gaps of moments, measured with a share of the budget;
- `marginals`: the largest L1 distances of marginals of two columns, measured likewise;
- `error bars`: bounds on the same distances from the error bars of the release, at no further cost.

Each holds with probability 95% over the noise of the release, whatever the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterfoil.features.feature_map import UNIT
from counterfoil.fidelity.synthetic_counts import compared_cliques, count
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.theory.bound import Bound
from counterfoil.theory.excess_risk import (
    UniformDeviation,
    excess_risk,
    uniform_deviation_from_marginals,
    uniform_deviation_from_moments,
)
from counterfoil.theory.loss import LOGISTIC

CONFIDENCE = 0.95
_NOTHING_KNOWN = 2.0

BASES = {
    "moments": "features are a constant, each ordered column scaled to [-1, 1] by its declared bounds, and an "
    "indicator for each category",
    "marginals": "features are functions of a column's codes with values in [-1, 1]; for a binned column, of its bin",
    "error bars": "features are functions of a column's codes with values in [-1, 1]; for a binned column, of its bin",
}
"""What gaps come from, and which models they apply to."""


@dataclass(frozen=True)
class Gaps:
    """Bounds on the distance of the two tables, with confidence `CONFIDENCE`.

    Args:
        target: the column to predict, of two values.
        basis: a key of `BASES`.
        label: the gap of order 1, with the label: of moments, or of normalized marginals in L1.
        feature: the gap of order 2, without it.
    """

    target: str
    basis: str
    label: float
    feature: float

    def deviation(self, norm: float) -> UniformDeviation:
        """The bound on abs(risk on real - risk on synthetic rows) over models with norm1(w) <= `norm`.

        Raises:
            ValueError: for a norm that is not positive.
        """
        gaps = {1: self.label, 2: self.feature}
        if self.basis != "moments":
            return uniform_deviation_from_marginals(gaps, norm)
        deviation = uniform_deviation_from_moments(gaps, norm)
        # Features are rounded to multiples of 1 / UNIT, which moves them by at most half of that in either table.
        rounding = LOGISTIC.steepness(norm) * norm / UNIT
        return replace(deviation, terms={**deviation.terms, "rounding": rounding})

    def certificate(self, norm: float) -> dict[str, Any]:
        """The certificate in the form of the receipt."""
        deviation = self.deviation(norm)
        bound = excess_risk(deviation)
        return {
            "target": self.target,
            "basis": self.basis,
            "confidence": CONFIDENCE,
            "norm": float(norm),
            "gaps": {"label": self.label, "feature": self.feature},
            "deviation": deviation.value,
            "excess_risk": bound.value,
            "terms": dict(bound.terms),
            "trivial": bound.trivial,
            "vacuous": bound.vacuous,
            "polynomial": deviation.polynomial.name,
            "assumptions": [BASES[self.basis], *bound.assumptions],
            "source": bound.source,
            "sentence": self._sentence(norm, bound),
        }

    def _sentence(self, norm: float, bound: Bound) -> str:
        if bound.vacuous:
            return (
                f"The {self.basis} of this release certify nothing about linear models for {self.target} with norm1 "
                f"at most {norm:g}: the bound {bound.value:.3g} is not below {bound.trivial:.3g}, which holds for any "
                "two tables."
            )
        return (
            f"With {CONFIDENCE:.0%} confidence, the linear model for {self.target} with norm1 at most {norm:g} and the "
            f"smallest log loss on the synthetic rows has a log loss on the real rows at most {bound.value:.3f} above "
            f"the smallest possible (from {self.basis}; any two tables: {bound.trivial:.3g})."
        )

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Gaps:
        """The gaps behind a certificate of a receipt.

        Raises:
            ValueError: for a record of another shape.
        """
        try:
            gaps = Gaps(
                str(record["target"]),
                str(record["basis"]),
                float(record["gaps"]["label"]),
                float(record["gaps"]["feature"]),
            )
        except (KeyError, TypeError, ValueError):
            raise ValueError("A certificate of the receipt is not understood: it lacks its gaps.") from None
        if gaps.basis not in BASES or not (gaps.label >= 0 and gaps.feature >= 0):
            raise ValueError(f"A certificate of the receipt is not understood: basis {gaps.basis!r}.")
        return gaps


def certificates(
    synthesis: Synthesis, measures: Sequence[NoisyMeasure], target: str, *, norm: float = 1.0
) -> list[dict[str, Any]]:
    """The certificates of a release, the sharpest first."""
    entries = [gaps.certificate(norm) for gaps in _all_gaps(synthesis, measures, target)]
    return sorted(entries, key=lambda certificate: float(certificate["excess_risk"]))


def _all_gaps(synthesis: Synthesis, measures: Sequence[NoisyMeasure], target: str) -> Iterator[Gaps]:
    by_measure = {one.measure: one for one in measures}
    for basis, kind in (("moments", "moment_gap"), ("marginals", "marginal_error")):
        label, feature = by_measure.get(f"label_{kind}"), by_measure.get(f"feature_{kind}")
        if label is not None and feature is not None:
            yield Gaps(target, basis, *_shares(label, feature))
    yield _gaps_of_error_bars(synthesis, target)


def _shares(label: NoisyMeasure, feature: NoisyMeasure) -> tuple[float, float]:
    """Bounds on both gaps between means, from those between sums; the failure probability is split in three.

    With S of n real records, S' the synthetic sum scaled to N records and abs(S) <= n: abs(S/n - S'/N) is at most
    abs(S - S')/N + abs(S) abs(1/n - 1/N) <= (abs(S - S') + abs(n - N))/N. The same holds for L1 norms of counts.
    """
    share = (1 - CONFIDENCE) / 3
    slack = _count_slack(label, share)
    first, second = (
        min((one.at_most(share) / one.unit + slack) / one.records, _NOTHING_KNOWN) for one in (label, feature)
    )
    return first, second


def _count_slack(noisy: NoisyMeasure, beta: float) -> float:
    """abs(n - N) is at most this with probability 1 - beta.

    N is a weighted mean of sums of noisy counts. Discrete Gaussian noise is sub-Gaussian with its scale squared as
    variance proxy; for other noise, Chebyshev's inequality gives the bound.
    """
    if noisy.noise == GaussianNoise.kind:
        return noisy.records_error * math.sqrt(2 * math.log(2 / beta))
    return noisy.records_error / math.sqrt(beta)


def _gaps_of_error_bars(synthesis: Synthesis, target: str) -> Gaps:
    """Error bars bound the distance of the real table from the model; that of the drawn rows is counted and added."""
    order = min(2, len(synthesis.schema.domain.attributes))
    cliques = compared_cliques(synthesis.schema, order)
    domain, codes = synthesis.schema.domain, synthesis.codes
    largest = {True: 0.0, False: 0.0}
    total = math.comb(len(domain.attributes), order)
    if len(cliques) < total:
        largest = {True: _NOTHING_KNOWN, False: _NOTHING_KNOWN}
    model = synthesis.model.marginals(cliques)
    for clique in cliques:
        bar = synthesis.error_bar(clique, (1 - CONFIDENCE) / total)
        rows = count(codes, domain.shape(clique), clique) / max(synthesis.rows, 1)
        drawn = float(np.abs(rows - model[clique] / synthesis.model.total).sum())
        labeled = target in clique
        largest[labeled] = max(largest[labeled], min(bar.fraction + drawn, _NOTHING_KNOWN))
    # With a single feature, its moments are those of its pair with the label.
    feature = largest[False] or largest[True]
    return Gaps(target, "error bars", largest[True], feature)


def certify(record: Mapping[str, Any], target: str, norm: float) -> list[dict[str, Any]]:
    """The certificates of a receipt for `target`, for models of another norm; the sharpest first.

    Args:
        record: the receipt's document.

    Raises:
        ValueError: when the receipt has none for this target, or `norm` is not positive.
    """
    if not 0 < norm < math.inf:
        raise ValueError(f"`norm` must be positive and finite. Found {norm}.")
    given = [entry for entry in record.get("certificates", ()) if entry.get("target") == target]
    if not given:
        others = sorted({str(entry.get("target")) for entry in record.get("certificates", ())})
        known = f"It has some for {', '.join(others)}." if others else "It has none."
        raise ValueError(
            f"The receipt has no certificate for {target!r}. {known} Make the release with --target {target}."
        )
    entries = [Gaps.from_json(entry).certificate(norm) for entry in given]
    return sorted(entries, key=lambda certificate: float(certificate["excess_risk"]))
