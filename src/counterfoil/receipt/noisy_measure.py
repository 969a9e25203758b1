"""A noisy answer about the real table that measures its distance from the synthetic one, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from counterfoil.accounting.upper_end import most_by_gaussian, most_by_laplace
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.noisy_groups import GROUP_PREDICTIONS, NoisyGroups

_RENAMED = {"answer": "told", "told": "answer"}
"""From the fields to the keys of the receipt, and back, where they differ."""


@dataclass(frozen=True)
class NoisyMeasure:
    """A noisy answer of the fidelity part of a release; all of it is public.

    Args:
        measure: a key of `MEASURES`.
        about: what is measured: the target, a column, or how many columns a marginal has.
        answer: the noisy answer, in its own integer units.
        scale: the scale parameter of its discrete noise, in the same units.
        noise: the kind of noise.
        unit: the answer that stands for 1 in each record.
        rounding: how far the answer may be off because the synthetic side was rounded to integers, in the same units.
        records: the number of records that sums are divided by: public, or measured with noise.
        records_error: its standard error; 0 where it is public.
    """

    measure: str
    about: str
    answer: int
    scale: float
    noise: str
    unit: float
    rounding: float
    records: float
    records_error: float

    @property
    def estimate(self) -> float:
        """The noisy value of the measure, clipped to its range."""
        return min(max(self.answer / (self.unit * self.records), 0.0), RANGES[self.measure])

    @property
    def standard_error(self) -> float:
        """The standard error of `estimate`, from the noise in the answer and in the number of records that divides it.

        A sum that is off by noise z of n records, divided by n + e, is off by (z + (1 + estimate) e) / n to first
        order: once because the synthetic counts are scaled to n + e records, and once for the division.
        """
        deviation = self.scale * (math.sqrt(2) if self.noise == LaplaceNoise.kind else 1.0) / self.unit
        return math.hypot(deviation, (1 + self.estimate) * self.records_error) / self.records

    def at_most(self, beta: float) -> float:
        """With probability 1 - beta over the noise, the answer without noise and rounding is at most this, in its own
        units.

        What is measured is at least 0, which a noisy answer need not be: `accounting.upper_end` has the bounds.
        """
        most = most_by_gaussian if self.noise == GaussianNoise.kind else most_by_laplace
        return math.ceil(most(float(self.answer), self.scale, beta)) + self.rounding

    def formerly_at_most(self, beta: float) -> float:
        """The same as versions before 0.13 had it, which did not use that it is at least 0: to be compared with."""
        return max(self.answer + self.off_by(beta), 0.0)

    def off_by(self, beta: float) -> float:
        """How far the answer may be below the one without noise and rounding, but for probability `beta`.

        It may be as far above, as the noise is symmetric. Discrete Gaussian Z, integer k: P(Z >= k) <= P(N(0, scale**2)
        >= k - 1) (Canonne, Kamath and Steinke 2020, Proposition 25). Discrete Laplace: P(Z >= k) <= exp(-k / scale).
        """
        from scipy.special import ndtri

        if self.noise == GaussianNoise.kind:
            slack = 1 - self.scale * float(ndtri(beta))
        else:
            slack = self.scale * math.log(1 / beta)
        return math.ceil(slack) + self.rounding

    @property
    def sentence(self) -> str:
        """The measure in words, with its standard error, and what rounding may do where that is more.

        Rows are counted as whole records: where many are drawn for each record, as 2,000 for 200, most cells hold less
        than half of one, and the distance from them is that from none.
        """
        estimate, error = f"{self.estimate:.4f}", f"{self.standard_error:.4f}"
        rounded = self.rounding / (self.unit * self.records)
        also = ""
        if rounded > self.standard_error:
            also = f"; rounding of the rows' counts to whole records may move it by up to {rounded:.2f}"
        return f"{MEASURES[self.measure]} ({self.about}): {estimate}, standard error {error}{also}."

    def to_json(self) -> dict[str, Any]:
        """The measure in the form of the receipt."""
        fields = {_RENAMED.get(name, name): value for name, value in asdict(self).items()}
        return fields | {"estimate": self.estimate, "standard_error": self.standard_error}

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> NoisyMeasure:
        """What `to_json` wrote.

        Raises:
            ValueError: for a record of another shape.
        """
        derived = ("estimate", "standard_error")
        fields = {_RENAMED.get(key, key): value for key, value in record.items() if key not in derived}
        numbers = [value for key, value in fields.items() if key not in ("measure", "about", "noise")]
        numeric = all(type(value) in (int, float) for value in numbers) and type(fields.get("answer")) is int
        words = all(isinstance(fields.get(key), str) for key in ("measure", "about", "noise"))
        complete = fields.keys() == NoisyMeasure.__dataclass_fields__.keys() and numeric and words
        if not complete or fields["measure"] not in RANGES:
            raise ValueError(f"A fidelity measure of the receipt is not understood: {record.get('measure')!r}.")
        noisy = NoisyMeasure(**fields)
        if not (noisy.scale > 0 and noisy.unit > 0 and noisy.records > 0 and 0 < noisy.unit * noisy.records < math.inf):
            raise ValueError(f"A fidelity measure of the receipt has scales that are not positive: {noisy.measure!r}.")
        return noisy


def measure_sentences(record: Mapping[str, Any]) -> list[str]:
    """What an entry of a receipt's section `fidelity` says: one number, or the counts of a model's predictions.

    Raises:
        ValueError: for an entry of another shape.
    """
    if record.get("measure") == GROUP_PREDICTIONS:
        return NoisyGroups.from_json(record).sentences()
    return [NoisyMeasure.from_json(record).sentence]


def pairs_passed_over(compared: float, columns: int) -> str:
    """A sentence where fewer pairs of columns were compared than there are; empty where all were.

    Args:
        compared: how many pairs.
        columns: how many columns.
    """
    pairs = math.comb(columns, 2)
    if compared >= pairs:
        return ""
    return (
        f"Of {pairs:,} pairs of columns {compared:,.0f} were compared: the others have too many cells, and are in no "
        "such error."
    )


MEASURES = {
    "mean_marginal_error": "mean L1 error of the marginals",
    "pair_error": "L1 error of the marginal of a pair",
    "largest_marginal_error": "largest L1 error of the marginals",
    "label_marginal_error": "largest L1 error of a marginal with the target",
    "feature_marginal_error": "largest L1 error of a marginal without the target",
    "wasserstein": "W_1 distance of the column, as a share of its range",
    "label_moment_gap": "largest gap of a moment with the target",
    "feature_moment_gap": "largest gap of a moment without the target",
    "accuracy": "accuracy on the real rows of a linear model trained on the synthetic ones",
    "log_loss": "log loss of that model on the real rows, counted up to 4 a row",
}
"""Each measure in words."""

RANGES = {
    "mean_marginal_error": 2.0,
    "pair_error": 2.0,
    "largest_marginal_error": 2.0,
    "label_marginal_error": 2.0,
    "feature_marginal_error": 2.0,
    "wasserstein": 1.0,
    "label_moment_gap": 2.0,
    "feature_moment_gap": 2.0,
    "accuracy": 1.0,
    "log_loss": 4.0,
}
"""The most that a measure can be; the least is 0."""
