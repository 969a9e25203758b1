"""Moments of all features with a label, as linear models need them, from bought second moments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.moments import Moments
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.inference.pooled_marginal import total_of
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages, deviation_of

_SUMMED_LABELS = 5


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """Estimates of E[x_u y] and E[x_u x_v] over the real records for the features x and the label y of a `FeatureMap`.

    Args:
        labeled: float64 [m]: of x_u y.
        products: float64 [m, m]: of x_u x_v.
        records: the number of records.
        noises: the laws of the noise in a labeled sum, in a sum of products, and in the number of records, in records.
        charges: the charges that bought the sums.
    """

    labeled: np.ndarray
    products: np.ndarray
    records: float
    noises: tuple[NoiseLaw, NoiseLaw, NoiseLaw]
    charges: tuple[int, ...]

    @staticmethod
    def of(answers: RecordedAnswers, features: FeatureMap) -> LabelMoments:
        """The moments from all families of second moments, averaged with the inverses of their variances as weights.

        Raises:
            Unanswerable: where none were bought, or the number of records is not positive.
        """
        bought = [
            (one, one.family) for one in answers.averages if isinstance(one.family, Moments) and one.family.order == 2
        ]
        if not bought:
            raise Unanswerable(
                f"The products of features with {features.target!r} were never measured: buy second moments with the "
                "release (`moments` of order 2) to have the risk of linear models bounded."
            )
        variances = np.array([(one.deviation / family.unit) ** 2 for one, family in bought])
        weights = 1 / variances / (1 / variances).sum()
        total = total_of(answers)
        if total.value < 1:
            raise Unanswerable("By its noisy answers the release is of no records: nothing can be said of averages.")
        parts = [_Sums(one, family, features) for one, family in bought]
        labeled = sum(weight * part.labeled(total.value) for weight, part in zip(weights.tolist(), parts, strict=True))
        products = sum(
            weight * part.products(total.value) for weight, part in zip(weights.tolist(), parts, strict=True)
        )
        scales = weights * [one.scale / family.unit for one, family in bought]
        charges = {one.charge for one, _ in bought} | set(total.charges)
        kinds = [one.noise for one, _ in bought]
        return LabelMoments(
            np.asarray(labeled) / total.value,
            np.asarray(products) / total.value,
            total.value,
            (_law(scales, kinds, parts[0].label_weights), _law(scales, kinds, np.ones(1)), total.law),
            tuple(sorted(charges)),
        )

    @property
    def distinct(self) -> tuple[int, int]:
        """How many labeled moments there are, and how many products with u <= v."""
        size = len(self.labeled)
        return size, size * (size + 1) // 2

    def largest_noise(self, failure: float) -> tuple[float, float]:
        """Bounds on the noise in all labeled averages, and in all averages of products, that fail with probability
        `failure` together (union bound).

        For a sum S of n records and noisy S' and n', abs(S' / n' - S / n) <= (abs(S' - S) + abs(n' - n)) / n', because
        abs(S) <= n.
        """
        first, second = self.distinct
        level = 1 - failure / (first + second + 1)
        labeled, product, count = (law.quantile(level) for law in self.noises)
        return (labeled + count) / self.records, (product + count) / self.records


def _law(scales: np.ndarray, kinds: Sequence[str], weights: np.ndarray) -> NoiseLaw:
    """The law of the sum, over families, of a linear function of independent noises with those weights."""
    normal, laplace = 0.0, [np.zeros(0)]
    for scale, kind in zip(scales.tolist(), kinds, strict=True):
        if kind == "discrete_laplace":
            laplace.append(np.abs(weights) * scale)
        else:
            normal += float(weights @ weights) * deviation_of(kind, scale) ** 2
    return NoiseLaw(normal, np.concatenate(laplace), np.ones(sum(map(len, laplace))))


@dataclass(frozen=True, eq=False)
class _Sums:
    """The noisy sums of one family by features of a map."""

    averages: RecordedAverages
    family: Moments
    features: FeatureMap

    @cached_property
    def owners(self) -> list[tuple[int, int]]:
        """For each feature of the map but the constant: its column among the family's, and its index there."""
        place = {column.name: u for u, column in enumerate(self.family.features.columns)}
        scaled, listed = self.features.scaled, self.features.listed
        owners = [(place[column.name], 0) for column in scaled]
        owners += [(place[column.name], 1) for column in scaled if column.missing]
        return owners + [(place[column.name], code) for column in listed for code in range(column.size)]

    @cached_property
    def target(self) -> int:
        """The target's column among the family's."""
        return [column.name for column in self.family.features.columns].index(self.features.target)

    @property
    def label_weights(self) -> np.ndarray:
        """float64: the label as a linear function of the target's features, and of 1 where it is one longer.

        A number of two values is 1 or -1 itself. With categories it is the sum of 1 and -1 times their indicators or,
        where these are many, 2 times that of the positive one minus 1, which has less noise.
        """
        column, positive = self.family.features.columns[self.target], self.features.positive
        if column.is_ordered:
            return np.array([1.0 if positive == 1 else -1.0])
        weights = np.where(np.arange(column.size) == positive, 1.0, -1.0)
        if column.size <= _SUMMED_LABELS:
            return weights
        return np.append(np.where(weights > 0, 2.0, 0.0), -1.0)

    def _sum(self, *features: tuple[int, int]) -> float:
        return float(self.averages.sums[self.family.place(*features)]) / self.family.unit

    def labeled(self, records: float) -> np.ndarray:
        """float64 [m]: the sums of x_u y, the constant first."""
        weights, size = self.label_weights, self.family.features.sizes[self.target]
        sums = np.zeros(1 + len(self.owners))
        for own, weight in enumerate(weights.tolist()):
            if own == size:
                sums += weight * np.array([records, *(self._sum(owner) for owner in self.owners)])
            elif weight:
                alone = self._sum((self.target, own))
                sums += weight * np.array([alone, *(self._sum(owner, (self.target, own)) for owner in self.owners)])
        return sums

    def products(self, records: float) -> np.ndarray:
        """float64 [m, m]: the sums of x_u x_v, the constant first."""
        size = 1 + len(self.owners)
        sums = np.zeros((size, size))
        sums[0, 0] = records
        sums[0, 1:] = sums[1:, 0] = [self._sum(owner) for owner in self.owners]
        for i, one in enumerate(self.owners, 1):
            for j, other in enumerate(self.owners[:i], 1):
                if one[0] != other[0]:
                    sums[i, j] = sums[j, i] = self._sum(one, other)
            number = self.family.features.columns[one[0]].is_ordered and one[1] == 0
            sums[i, i] = self._sum(one, one) if number else sums[0, i]
        return sums
