"""The second moments of some columns, from all noisy answers that hold a part of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, combinations_with_replacement

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from counterfoil.features.moments import Moments
from counterfoil.inference.clamped import bounds_sentences
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.moment_basis import MomentBasis
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages, RecordedMarginal, deviation_of

MOST_SUMS = 2500
"""Distinct sums that are estimated together."""


@dataclass(frozen=True, eq=False)
class BoughtSums:
    """Noisy sums as one answer holds them, each a linear function of the sums of a basis, with independent noises.

    Args:
        rows: float64 [r, K]: the linear functions.
        values: float64 [r]: the noisy sums, in records.
        noise: the kind of the noises.
        scale: their scale parameter, in records.
        times: of how many independent noises each is the sum.
        charge: the charge that bought them.
    """

    rows: np.ndarray
    values: np.ndarray
    noise: str
    scale: float
    times: int
    charge: int

    @property
    def variance(self) -> float:
        """A bound on the variance of the noise in each."""
        return self.times * deviation_of(self.noise, self.scale) ** 2


@dataclass(frozen=True, eq=False)
class MomentMatrix:
    """Estimates of the sums over the real records of z_i z_j, for the features z of a basis, and their noise.

    All noisy sums y = M s + e with independent noises e of variances D are linear in the K distinct sums s, so that
    s_hat = (M' D^-1 M)^-1 M' D^-1 y is their best linear unbiased estimate, and its error L e is linear in e. It pools
    several bought families, marginals of categories, and what is known: the indicators of a column add up to 1, and the
    number of records where it is public.

    Numbers are clamped into the declared bounds and rounded to 4096ths of half their range: moments are of those.

    Args:
        basis: the features.
        sums: float64 [K]: s_hat, in records.
        loadings: float64 [K, R]: L.
        scales: float64 [R]: the scale parameters of the noises e.
        times: float64 [R]: of how many independent noises each is the sum.
        laplace: bool [R]: which are Laplace noise; the others are normal.
        charges: the charges that bought the sums.
        counted: whether the number of records is an estimate too.
    """

    basis: MomentBasis
    sums: np.ndarray
    loadings: np.ndarray
    scales: np.ndarray
    times: np.ndarray
    laplace: np.ndarray
    charges: tuple[int, ...]
    counted: bool

    @staticmethod
    def of(answers: RecordedAnswers, columns: Sequence[str]) -> MomentMatrix:
        """The moments of columns given by their names.

        Raises:
            ValueError: for an unknown column, one that is named twice, or too many features.
            Unanswerable: where the product of two of the columns was never measured.
        """
        basis = MomentBasis.of(answers.schema, columns)
        if basis.size > MOST_SUMS:
            raise ValueError(
                f"`columns` must have at most {MOST_SUMS:,} products of features. Found {basis.size:,}: name fewer "
                "columns, or such with fewer categories."
            )
        bought = [part for part in _bought(answers, basis) if part.rows.any()]
        rows = np.concatenate([np.zeros((0, basis.size)), *(part.rows for part in bought)])
        _require_measured(basis, rows, answers.records)
        return _estimated(basis, bought, rows, answers.records)

    @property
    def records(self) -> float:
        """The number of records, as it is known or estimated."""
        return float(self.sums[0])

    @cached_property
    def matrix(self) -> np.ndarray:
        """float64 [p, p]: the sums of z_i z_j."""
        return self.filled(self.sums)

    def filled(self, sums: np.ndarray) -> np.ndarray:
        """float64 [..., p, p]: the matrices of the distinct sums [..., K]."""
        return np.where(self.basis.kept, sums[..., self.basis.place], 0.0)

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """float64 [K]: as `MomentBasis.gradient`."""
        return self.basis.gradient(weights)

    def law(self, gradient: np.ndarray) -> NoiseLaw:
        """The law of the noise in `gradient` [K] times the sums."""
        weights = gradient @ self.loadings
        normal = float(self.times[~self.laplace] @ (weights * self.scales)[~self.laplace] ** 2)
        return NoiseLaw(normal, np.abs(weights * self.scales)[self.laplace], self.times[self.laplace])

    @cached_property
    def covariance(self) -> np.ndarray:
        """float64 [K, K]: the covariance of the noise in the sums."""
        scaled = self.loadings * self._deviations
        return scaled @ scaled.T

    @property
    def _deviations(self) -> np.ndarray:
        return self.scales * np.sqrt(self.times * np.where(self.laplace, 2.0, 1.0))

    def draws(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """float64 [count, K]: independent draws of the noise in the sums; `rng` is public randomness."""
        shape = (count, len(self.scales))
        noise = rng.standard_normal(shape) * self._deviations
        if self.laplace.any():
            # A sum of k Laplace variables has the law of the difference of two gamma variables of shape k.
            times, scales = self.times[self.laplace], self.scales[self.laplace]
            one, other = (rng.standard_gamma(times, (count, len(times))) for _ in range(2))
            noise[:, self.laplace] = (one - other) * scales
        return noise @ self.loadings.T

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """What it rests on."""
        numbers = ", ".join(map(str, self.charges))
        bought = f"charge {numbers} bought" if len(self.charges) == 1 else f"charges {numbers} together bought"
        size = "an estimate with noise" if self.counted else "public"
        return (
            f"{bought} the sums of products of features; the number of records, {self.records:,.0f}, is {size}",
            *bounds_sentences(self.basis.schema, self.basis.columns),
        )


def _bought(answers: RecordedAnswers, basis: MomentBasis) -> Iterator[BoughtSums]:
    for averages in answers.averages:
        if averages.counted:
            one = np.zeros((1, basis.size))
            one[0, 0] = 1.0
            values, scale = averages.sums[:1] * averages.slopes[0], float(averages.scale * averages.slopes[0])
            yield BoughtSums(one, values, averages.noise, scale, 1, averages.charge)
        if isinstance(averages.family, Moments):
            yield from _of_moments(averages, averages.family, basis)
    moments = any(isinstance(one.family, Moments) and one.family.order == 2 for one in answers.averages)
    known: set[tuple[str, ...]] = set(combinations(basis.columns, 2)) if moments else set()
    for marginal in answers.marginals:
        kept = _categories(marginal, basis, known)
        known.add(kept)
        yield _of_marginal(marginal, basis, kept)


def _of_moments(averages: RecordedAverages, family: Moments, basis: MomentBasis) -> Iterator[BoughtSums]:
    """The sums of the basis' columns: of each feature, and of each product of two, by pairs of columns."""
    names = [column.name for column in family.features.columns]
    blocks: list[tuple[str, ...]] = [(name,) for name in basis.columns]
    if family.order == 2:
        blocks += list(combinations_with_replacement(basis.columns, 2))
    own_features = {
        name: [basis.coefficients(name, own) for own in range(family.features.sizes[names.index(name)])]
        for name in basis.columns
    }
    places, rows = [], []
    for block in blocks:
        found = [names.index(name) for name in block]
        if len(found) == 2 and found[0] == found[1] and not family.features.columns[found[0]].is_ordered:
            continue
        for own in np.ndindex(*(_own(family, found))):
            places.append(family.place(*zip(found, own, strict=True)))
            rows.append(_row(basis, [own_features[name][i] for name, i in zip(block, own, strict=True)]))
    if rows:
        values = averages.sums[places] / family.unit
        yield BoughtSums(np.array(rows), values, averages.noise, averages.scale / family.unit, 1, averages.charge)


def _own(family: Moments, found: list[int]) -> tuple[int, ...]:
    """How many features each column of a block has; of a square there is one."""
    if len(found) == 2 and found[0] == found[1]:
        return 1, 1
    return tuple(family.features.sizes[u] for u in found)


def _categories(marginal: RecordedMarginal, basis: MomentBasis, known: set[tuple[str, ...]]) -> tuple[str, ...]:
    """The categories of the basis that a marginal is summed down to: at most two, a pair that is not `known` if it can.

    Sums to several pairs would have noise in common. Codes counted in groups are left out: the groups were chosen by
    noisy counts.
    """
    kept = tuple(
        name
        for name in basis.columns
        if name in marginal.clique and name not in marginal.groups and not basis.schema[name].is_ordered
    )
    pairs = list(combinations(kept, 2))
    return next((pair for pair in pairs if pair not in known), pairs[0] if pairs else kept)


def _of_marginal(marginal: RecordedMarginal, basis: MomentBasis, kept: tuple[str, ...]) -> BoughtSums:
    """A marginal summed down to categories of the basis; to none of them, it counts the records."""
    kept = tuple(name for name in marginal.clique if name in kept)
    others = tuple(axis for axis, name in enumerate(marginal.clique) if name not in kept)
    counts = marginal.counts.sum(axis=others).astype(float)
    rows = [
        _row(basis, [basis.coefficients(name, code) for name, code in zip(kept, cell, strict=True)])
        for cell in np.ndindex(*counts.shape)
    ]
    times = marginal.counts.size // max(counts.size, 1)
    return BoughtSums(np.array(rows), counts.ravel(), marginal.noise, marginal.scale, times, marginal.charge)


def _row(basis: MomentBasis, features: Sequence[np.ndarray]) -> np.ndarray:
    """float64 [K]: the sum over records of the product of up to two functions of the basis, each given by [p]."""
    constant = np.zeros(len(basis.names))
    constant[0] = 1.0
    one, other = [*features, constant, constant][:2]
    return basis.gradient(np.outer(one, other))


def _require_measured(basis: MomentBasis, rows: np.ndarray, records: int | None) -> None:
    measured: np.ndarray = np.asarray(rows.any(axis=0))
    measured[0] |= records is not None
    if measured.all():
        return
    owners = max((basis.owners(int(index)) for index in np.flatnonzero(~measured)), key=len)
    relation = {
        0: "The number of records was never measured, nor is it public.",
        1: f"The mean and the mean square of {', '.join(map(repr, owners))} were never measured.",
        2: f"The product of {' and '.join(map(repr, owners))} was never measured: counts in bins do not give it.",
    }[len(owners)]
    raise Unanswerable(f"{relation} Buy second moments with the release (`moments` of order 2) to have it answered.")


def _estimated(basis: MomentBasis, bought: Sequence[BoughtSums], rows: np.ndarray, records: int | None) -> MomentMatrix:
    values = np.concatenate([np.zeros(0), *(part.values for part in bought)])
    variances = np.concatenate([np.zeros(0), *(np.full(len(part.values), part.variance) for part in bought)])
    free = slice(0 if records is None else 1, None)
    sums, loadings = np.zeros(basis.size), np.zeros((basis.size, len(values)))
    if records is not None:
        values = values - rows[:, 0] * records
        sums[0] = records
    weighted = rows[:, free].T / variances
    loadings[free] = cho_solve(cho_factor(weighted @ rows[:, free]), weighted)
    sums += loadings @ values
    each = [(len(part.values), part) for part in bought]
    return MomentMatrix(
        basis,
        sums,
        loadings,
        np.concatenate([np.full(size, part.scale) for size, part in each]),
        np.concatenate([np.full(size, float(part.times)) for size, part in each]),
        np.concatenate([np.full(size, part.noise == "discrete_laplace") for size, part in each]),
        tuple(sorted({part.charge for part in bought})),
        records is None,
    )
