"""What noisy counts of predictions by group and class say about how fair a public model is on the real table.

With m(g, y, p) records of group g, class y and prediction p, the rate of a group is r_g = k_g / n_g, where n_g sums
the cells of some classes and k_g those of them that are predicted as 1. A measure is the smallest r_g over the largest:

- disparate impact: of all classes (DI);
- false positive ratio: of class 0 (EO_0);
- true positive ratio: of class 1 (EO_1).

Source: Rodriguez-Vitores, Lalanne and Loubes 2025, appendix B.1, equations 17, 19 and 20, for two groups of which the
first has the smaller rate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from counterfoil.curator.queries.fidelity_fairness import GroupPredictions
from counterfoil.noise.answer import Answer
from counterfoil.noise.laplace import LaplaceNoise

SMALLEST_GROUP = 30
"""A group with fewer records, by the noisy counts, is left out: its rate is mostly chance."""

KNOWN_GROUP = 4.0
"""A group whose noisy number of records is not this many standard errors above 0 is left out too."""

LEVEL = 0.95
"""Of the intervals on receipts."""

_STEPS = 64
"""Of a fixed-point iteration whose error halves at least in each."""

RATIOS: Mapping[str, tuple[int, ...]] = {
    "disparate_impact": (0, 1),
    "false_positive_ratio": (0,),
    "true_positive_ratio": (1,),
}
"""The measures, each with the classes that it is about."""

_WORDS = {
    "disparate_impact": "disparate impact (smallest over largest share predicted positive)",
    "false_positive_ratio": "ratio of false positive rates (EO_0)",
    "true_positive_ratio": "ratio of true positive rates (EO_1)",
}


@dataclass(frozen=True)
class NoisyRatio:
    """An estimate of the smallest rate over the largest.

    Args:
        estimate: in [0, 1]; None where the counts say nothing.
        standard_error: by the delta method, of the noise; None with the estimate.
        sampling_error: likewise, of the records as a sample of a population; None with the estimate.
        lower, upper: an interval for the ratio on the real records, whatever the sizes of the groups.
        smallest, largest: the groups with the smallest and the largest rate; empty without an estimate.
        left_out: groups that are too small for the noise; the ratio and the interval are about the others.
    """

    estimate: float | None
    standard_error: float | None
    sampling_error: float | None
    lower: float
    upper: float
    smallest: str = ""
    largest: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Whether any ratio is possible."""
        return self.lower <= 0 and self.upper >= 1


@dataclass(frozen=True)
class _Rate:
    """The rate of one group: `value` = k / n, and the variances of the noise in it and of a sample's."""

    name: str
    records: float
    value: float
    noise: float
    sampling: float


@dataclass(frozen=True, eq=False)
class NoisyGroups:
    """The noisy counts; all of them are public.

    Args:
        model: what was tried, in words.
        target: the column that it predicts, and its positive value.
        protected: the columns whose combinations are the groups.
        groups: each group in words.
        counts: int64 [groups, 2, 2], by group, class and prediction, with independent noise in each.
        noise: the kind of that noise.
        scale: its scale parameter, in records.
    """

    model: str
    target: str
    protected: tuple[str, ...]
    groups: tuple[str, ...]
    counts: np.ndarray
    noise: str
    scale: float

    @property
    def deviation(self) -> float:
        """A bound on the standard deviation of the noise in a count, in records."""
        return self.scale * (math.sqrt(2) if self.noise == LaplaceNoise.kind else 1.0)

    def ratio(self, name: str, *, level: float = LEVEL, sampling: bool = False) -> NoisyRatio:
        """The measure `name` with its errors and an interval.

        Standard errors are those of q = a / b to first order (the delta method): var q = var a / b**2 + a**2 var b /
        b**4. The groups are chosen by the noisy rates: among several that are nearly as small, the smallest is small
        by its noise too, which a standard error does not show. The interval does: each of G rates lies in its own
        interval with probability 1 - (1 - level) / G, hence all of them, whichever groups are looked at, with
        probability `level`; the smallest then lies between the smallest lower and the smallest upper end, and the
        largest likewise.

        Args:
            name: a key of `RATIOS`.
            level: of the interval, at least 0.9.
            sampling: whether the interval is about the population that the records are a sample of.

        Raises:
            ValueError: for an unknown measure, or another level.
        """
        if name not in RATIOS:
            raise ValueError(f"`name` must be one of {', '.join(RATIOS)}. Found {name!r}: choose one.")
        if not 0.9 <= level < 1:
            raise ValueError(f"`level` must be at least 0.9 and below 1. Found {level!r}: 0.95 is usual.")
        classes = RATIOS[name]
        rates, left_out = self._rates(classes)
        if len(rates) < 2:
            return NoisyRatio(None, None, None, 0.0, 1.0, left_out=left_out)
        share = 1 - (1 - level) / len(self.groups)
        ends = np.array([self._interval(rate, classes, share, sampling=sampling) for rate in rates])
        (low, low_of_largest), (high_of_smallest, high) = (
            (ends[:, side].min(), ends[:, side].max()) for side in (0, 1)
        )
        lower = low / high if high > 0 else 0.0
        upper = min(high_of_smallest / low_of_largest, 1.0) if low_of_largest > 0 else 1.0
        least, most = (choose(rates, key=lambda rate: rate.value) for choose in (min, max))
        if most.value <= 0:
            return NoisyRatio(None, None, None, float(lower), float(upper), left_out=left_out)
        return NoisyRatio(
            least.value / most.value,
            _of_quotient(least, most, least.noise, most.noise),
            _of_quotient(least, most, least.sampling, most.sampling),
            float(lower),
            float(upper),
            least.name,
            most.name,
            left_out,
        )

    def _rates(self, classes: Sequence[int]) -> tuple[list[_Rate], tuple[str, ...]]:
        """The rates of groups that are large enough, and the names of the others."""
        counts = self.counts[:, list(classes), :].sum(axis=1).astype(float)
        error = self.deviation * math.sqrt(2 * len(classes))
        rates, left_out = [], []
        for name, (rejected, accepted) in zip(self.groups, counts.tolist(), strict=True):
            records = rejected + accepted
            if records < max(SMALLEST_GROUP, KNOWN_GROUP * error):
                left_out.append(name)
                continue
            value = min(max(accepted / records, 0.0), 1.0)
            # What the noise adds to k - r n: (1 - r) times that of accepted cells less r times that of the others.
            noise = self.deviation**2 * len(classes) * ((1 - value) ** 2 + value**2) / records**2
            rates.append(_Rate(name, records, value, noise, value * (1 - value) / records))
        return rates, tuple(left_out)

    def _interval(self, rate: _Rate, classes: Sequence[int], level: float, *, sampling: bool) -> tuple[float, float]:
        """The rates r with (k - r n)**2 <= q**2 (Var noise(k - r n) + n r (1 - r)), the last where sampling counts.

        The variance of the noise is s**2 c ((1 - r)**2 + r**2), c being the number of classes and s the deviation: it
        is Fieller's set, moved into [0, 1] as `inference.Ratio` has it. The set is [0, 1] where n is within its noise
        of 0.
        """
        records, square = rate.records, self._critical(level, len(classes)) ** 2
        noise = square * len(classes) * self.deviation**2
        drawn = square * records if sampling else 0.0
        top = rate.value * records
        a = records**2 - 2 * noise + drawn
        b = -2 * top * records + 2 * noise - drawn
        c = top**2 - noise
        if a <= 0:
            return 0.0, 1.0
        root = math.sqrt(max(b * b - 4 * a * c, 0.0))
        low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
        return min(max(low, 0.0), rate.value), max(min(high, 1.0), rate.value)

    def _critical(self, level: float, classes: int) -> float:
        """How many standard deviations k - r n may be from 0.

        For Laplace noise it is the quantile where the weighted sum of its noises has the heaviest tails, at r = 0 and
        r = 1, where one noise of scale 1 for each class is left: P(abs(X) > x) is exp(-x) for one and (1 + x / 2)
        exp(-x) for two. At levels of at least 0.95 no other r has a larger one (a test compares them).
        """
        from scipy.special import ndtri

        if self.noise != LaplaceNoise.kind:
            return -float(ndtri((1 - level) / 2))
        tail = -math.log1p(-level)
        if classes == 1:
            return tail / math.sqrt(2)
        x = tail
        for _ in range(_STEPS):
            x = tail + math.log1p(x / 2)  # a contraction: its slope is 1 / (2 + x)
        return x / 2

    def sentences(self) -> list[str]:
        """What a receipt says: a sentence for each measure."""
        of = f"the {self.model} for {self.target}, by {' and '.join(self.protected)}"
        return [_sentence(_WORDS[name], of, self.ratio(name)) for name in RATIOS]

    def to_json(self) -> dict[str, Any]:
        """The counts in the form of the receipt, with what follows from them."""
        return {
            "measure": GROUP_PREDICTIONS,
            "about": self.target,
            "model": self.model,
            "protected": list(self.protected),
            "groups": list(self.groups),
            "told": self.counts.tolist(),
            "noise": self.noise,
            "scale": self.scale,
            "measures": {name: asdict(self.ratio(name)) | {"level": LEVEL} for name in RATIOS},
        }

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> NoisyGroups:
        """What `to_json` wrote.

        Raises:
            ValueError: for a record of another shape.
        """
        try:
            words = [str(record[key]) for key in ("model", "about", "noise")]
            protected, groups = (tuple(map(str, record[key])) for key in ("protected", "groups"))
            counts, scale = np.array(record["told"]), float(record["scale"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("The counts of predictions on the receipt are not understood.") from None
        if counts.dtype.kind != "i" or counts.shape != (len(groups), 2, 2) or not 0 < scale < math.inf:
            raise ValueError("The counts of predictions on the receipt do not fit its groups.")
        return NoisyGroups(words[0], words[1], protected, groups, counts.astype(np.int64), words[2], scale)


def noisy_groups(query: GroupPredictions, answer: Answer, *, model: str) -> NoisyGroups:
    """The counts that `query` bought.

    Args:
        query: what was asked.
        answer: its noisy answer.
        model: what was tried, in words.
    """
    predictor = query.model
    target = f"{predictor.target} = {predictor.schema[predictor.target].labels[predictor.positive]}"
    counts = query.split(answer.values)
    return NoisyGroups(model, target, query.protected, query.group_names, counts, answer.noise.kind, answer.scale)


GROUP_PREDICTIONS = GroupPredictions.name
"""What the measure is called on a receipt."""


def _of_quotient(least: _Rate, most: _Rate, of_least: float, of_most: float) -> float:
    """The standard error of least / most, from the variances of both."""
    return math.sqrt(of_least / most.value**2 + least.value**2 * of_most / most.value**4)


def _sentence(measure: str, of: str, ratio: NoisyRatio) -> str:
    left_out = f"; too small for the noise: {', '.join(ratio.left_out)}" if ratio.left_out else ""
    if ratio.says_nothing:
        return f"{measure} of {of}: the noisy counts say nothing about it{left_out}."
    interval = f"{LEVEL:.0%} interval {ratio.lower:.3f} to {ratio.upper:.3f}"
    if ratio.estimate is None:
        return f"{measure} of {of}: {interval} on the real rows{left_out}."
    return (
        f"{measure} of {of}: {ratio.estimate:.3f} on the real rows, standard error {ratio.standard_error:.3f} "
        f"from noise and {ratio.sampling_error:.3f} from sampling, {interval} (noise alone); smallest for "
        f"{ratio.smallest}, largest for {ratio.largest}{left_out}."
    )
