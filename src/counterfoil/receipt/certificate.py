"""A bound on what any linear model loses by being trained on the synthetic rows, as a sentence with a number.

The bound is `theory.excess_risk`. It needs two gaps between the real and the synthetic table: of order 1 (with the
label) and of order 2 (without). They come from

- `moments`: the largest gaps of moments, measured with a share of the budget;
- `marginals`: the largest L1 distances of marginals of two columns, measured likewise;
- `error bars`: bounds on the same distances from the error bars of the release, at no further cost.

Each holds with probability 95% over the noise of the release, whatever the table. Everything here follows from what
a receipt records; `fidelity.certificate` has what needs the rows and the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from counterfoil.features.feature_map import UNIT
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.receipt.rows_used import rows_used
from counterfoil.receipt.wording import BEFORE_JUDGED, drawn_later
from counterfoil.theory.excess_risk import (
    UniformDeviation,
    excess_risk,
    uniform_deviation_from_marginals,
    uniform_deviation_from_moments,
)
from counterfoil.theory.loss import LOGISTIC

CONFIDENCE = 0.95
NOTHING_KNOWN = 2.0
"""No gap is larger."""

SMALLEST_NORM, LARGEST_NORM = 1e-6, 1e6
"""Far beyond those of any model, bounds drown in rounding and no polynomial is found."""

BASES = {
    "moments": "features are a constant, each ordered column scaled to [-1, 1] by its declared bounds, and an "
    "indicator for each category",
    "marginals": "features are functions of a column's codes with values in [-1, 1]; for a binned column, of its bin",
    "error bars": "features are functions of a column's codes with values in [-1, 1]; for a binned column, of its bin",
}
"""What gaps come from, and which models they apply to."""

MEASURED = {"moments": "moment_gap", "marginals": "marginal_error"}
"""The bases that measures are bought for, and how these are called."""


@dataclass(frozen=True)
class Gaps:
    """Bounds on the distance of the two tables, with confidence `CONFIDENCE`.

    Args:
        target: the column to predict.
        basis: a key of `BASES`.
        label: the gap of order 1, with the label: of moments, or of normalized marginals in L1.
        feature: the gap of order 2, without it.
        values: how many values the target has; above 2, the gap of order 1 is the largest over all labels that tell
            one of them from the rest, and everything holds for the models of all of them together.
    """

    target: str
    basis: str
    label: float
    feature: float
    values: int = 2

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
            **({"values": self.values} if self.values > 2 else {}),
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
            "sentence": self.sentence(norm, bound.value, bound.trivial),
        }

    def sentence(self, norm: float, value: float, trivial: float) -> str:
        """What the certificate says.

        Args:
            norm: the largest norm1 of the models.
            value: the bound on the excess risk.
            trivial: what holds for any two tables; a value that is not below it certifies nothing.
        """
        if not value < trivial:
            return (
                f"The {self.basis} of this release certify nothing about linear models for {self._about} with norm1 "
                f"at most {norm:g}: the bound {value:.3g} is not below {trivial:.3g}, which holds for any "
                "two tables."
            )
        each = f"for each of the {self.values} values of {self.target}, " if self.values > 2 else ""
        model = "the linear model that tells it from the rest" if each else f"the linear model for {self.target}"
        return (
            f"With {CONFIDENCE:.0%} confidence, {each}{model} with norm1 at most {norm:g} and the "
            f"smallest log loss on the synthetic rows has a log loss on the real rows at most {value:.3f} above "
            f"the smallest possible (from {self.basis}; any two tables: {trivial:.3g})."
        )

    @property
    def _about(self) -> str:
        return f"each value of {self.target} against the rest" if self.values > 2 else self.target

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
                int(record.get("values", 2)),
            )
        except (KeyError, TypeError, ValueError):
            raise ValueError("A certificate of the receipt is not understood: it lacks its gaps.") from None
        if gaps.basis not in BASES or not all(0 <= gap <= NOTHING_KNOWN for gap in (gaps.label, gaps.feature)):
            raise ValueError(f"A certificate of the receipt is not understood: basis {gaps.basis!r}.")
        return gaps


def measured_gaps(
    measures: Sequence[NoisyMeasure], target: str, values: int = 2, *, former: bool = False
) -> Iterator[Gaps]:
    """The gaps that noisy measures bound, one for each basis of which both are there.

    Args:
        measures: of a release for `target`.
        target: the column to predict.
        values: how many values it has.
        former: whether as versions before 0.13 had them, to be compared with.
    """
    by_measure = {one.measure: one for one in measures}
    for basis, kind in MEASURED.items():
        label, feature = by_measure.get(f"label_{kind}"), by_measure.get(f"feature_{kind}")
        if label is not None and feature is not None:
            yield Gaps(target, basis, *_shares(label, feature, former=former), values)


def _shares(label: NoisyMeasure, feature: NoisyMeasure, *, former: bool) -> tuple[float, float]:
    """Bounds on both gaps between means, from those between sums; the failure probability is split in three.

    With S of n real records, S' the synthetic sum scaled to N records and abs(S) <= n: abs(S/n - S'/N) is at most
    abs(S - S')/N + abs(S) abs(1/n - 1/N) <= (abs(S - S') + abs(n - N))/N. The same holds for L1 norms of counts.
    """
    share = (1 - CONFIDENCE) / 3
    slack = count_slack(label, share)
    most = NoisyMeasure.formerly_at_most if former else NoisyMeasure.at_most
    first, second = (
        min((most(one, share) / one.unit + slack) / one.records, NOTHING_KNOWN) for one in (label, feature)
    )
    return first, second


def count_slack(noisy: NoisyMeasure, beta: float) -> float:
    """abs(n - N) is at most this with probability 1 - beta.

    N is a weighted mean of sums of noisy counts. Discrete Gaussian noise is sub-Gaussian with its scale squared as
    variance proxy; for other noise, Chebyshev's inequality gives the bound.
    """
    if noisy.noise == GaussianNoise.kind:
        return noisy.records_error * math.sqrt(2 * math.log(2 / beta))
    return noisy.records_error / math.sqrt(beta)


def rests_on_some_pairs(entry: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Whether a certificate from marginals passes over pairs of columns, whose errors may be larger.

    Versions before 0.13 wrote such certificates where two columns have more than 100,000 cells together. Its errors
    were bought by three charges: of all d columns, of d - 1 pairs with the target, and of all others.
    """
    if entry.get("basis") != "marginals":
        return False
    try:
        bought = [charge["parameters"] for charge in record["charges"] if charge["query"] == "largest_marginal_error"]
        columns, labeled, others = (int(parameters["marginals"]) for parameters in bought)
    except (KeyError, TypeError, ValueError):
        return True
    return (labeled, others) != (columns - 1, math.comb(columns - 1, 2))


def certify(record: Mapping[str, Any], target: str, norm: float) -> list[dict[str, Any]]:
    """The certificates of a receipt for `target`, for models of another norm; the sharpest first.

    Args:
        record: the receipt's document.

    Raises:
        ValueError: when the receipt has none for this target, or `norm` is not between 1e-6 and 1e6.
    """
    if not 0 < norm < math.inf:
        raise ValueError(f"`norm` must be positive and finite. Found {norm}.")
    if not SMALLEST_NORM <= norm <= LARGEST_NORM:
        raise ValueError(f"`norm` must lie between {SMALLEST_NORM:g} and {LARGEST_NORM:g}. Found {norm}.")
    stated = [entry for entry in record.get("certificates", ()) if not rests_on_some_pairs(entry, record)]
    given = [entry for entry in stated if entry.get("target") == target]
    if not given:
        others = sorted({str(entry.get("target")) for entry in stated})
        if drawn_later(record):
            raise ValueError(
                "These rows were drawn later from a release's model, and nothing certifies them: certificates are of "
                "the rows of that release. Name its table or its folder."
            )
        known = f"It has some for {', '.join(others)}." if others else "It has none."
        raise ValueError(
            f"The receipt has no certificate for {target!r}. {known} Make the release with --target {target}."
        )
    entries = [Gaps.from_json(entry).certificate(norm) for entry in given]
    further = [*filter(None, [rows_used(record)]), *([BEFORE_JUDGED] if "acceptance" in record else [])]
    entries = [entry | {"assumptions": [*entry["assumptions"], *further]} for entry in entries]
    return sorted(entries, key=lambda certificate: float(certificate["excess_risk"]))
