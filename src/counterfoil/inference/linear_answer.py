"""Linear functions of the noisy answers: their values, and how their errors move together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.receipt.answers import deviation_of


@dataclass(frozen=True)
class Source:
    """Noisy numbers of one answer, with independent noise of one law in each.

    Args:
        charge: the charge that bought them.
        place: which of the numbers that it bought they are, so that two sources differ.
        noise: the kind of the noise.
        scale: its scale parameter.
        cells: how many numbers there are.
    """

    charge: int
    place: tuple[object, ...]
    noise: str
    scale: float
    cells: int = 1

    @property
    def variance(self) -> float:
        """A bound on the variance of the noise in one of them."""
        return deviation_of(self.noise, self.scale) ** 2


@dataclass(frozen=True, eq=False)
class LinearAnswer:
    """The value of a linear function of noisy answers, and its coefficients.

    Args:
        value: its value at the noisy answers.
        terms: for each source, its coefficients [m]: each stands for cells / m of the source's numbers.
    """

    value: float
    terms: Mapping[Source, np.ndarray]

    def __add__(self, other: LinearAnswer) -> LinearAnswer:
        terms = dict(self.terms)
        for source, coefficients in other.terms.items():
            terms[source] = terms[source] + coefficients if source in terms else coefficients
        return LinearAnswer(self.value + other.value, terms)

    def __mul__(self, factor: float) -> LinearAnswer:
        return LinearAnswer(self.value * factor, {source: part * factor for source, part in self.terms.items()})

    def __sub__(self, other: LinearAnswer) -> LinearAnswer:
        return self + other * -1.0

    def covariance(self, other: LinearAnswer) -> float:
        """The covariance of the errors of two functions of the same answers."""
        common = [source for source in self.terms if source in other.terms]
        parts = [
            source.variance * source.cells * np.mean(self.terms[source] * other.terms[source]) for source in common
        ]
        return float(sum(parts))

    @property
    def law(self) -> NoiseLaw:
        """The law of its error."""
        normal, scales, times = 0.0, [np.zeros(0)], [np.zeros(0)]
        for source, coefficients in self.terms.items():
            if source.noise == "discrete_laplace":
                flat = np.ravel(coefficients)
                used = flat != 0
                scales.append(np.abs(flat[used]) * source.scale)
                times.append(np.full(used.sum(), source.cells / flat.size))
            else:
                normal += source.variance * source.cells * float(np.mean(coefficients**2))
        return NoiseLaw(normal, np.concatenate(scales), np.concatenate(times))

    @property
    def charges(self) -> tuple[int, ...]:
        """The charges that bought the answers."""
        return tuple(sorted({source.charge for source in self.terms}))
