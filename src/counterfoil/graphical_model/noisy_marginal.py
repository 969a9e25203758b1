"""Noisy marginals, how repeated ones merge, and the number of records they imply."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from counterfoil.domain.domain import Clique, Domain

NEARLY_NORMAL = 32
"""The sum of so many cells' Laplace noise exceeds thresholds of normal noise about as rarely as that (`runs`)."""


@dataclass(frozen=True, eq=False)
class NoisyMarginal:
    """A private table of counts: the marginal on `clique`, plus independent noise in every cell.

    `counts` has one axis for each attribute of `clique`, in that order (float64, records); `scale` is the
    standard deviation of the noise in one cell, in records. `laplace` says that the noise is discrete Laplace noise,
    whose tails are heavier than those of the discrete Gaussian.

    Raises ValueError for a repeated attribute, a wrong number of axes, counts that are not finite, or a
    scale that is not positive and finite.
    """

    clique: Clique
    counts: NDArray[np.float64]
    scale: float
    laplace: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", tuple(self.clique))
        object.__setattr__(self, "counts", np.asarray(self.counts, dtype=np.float64))
        object.__setattr__(self, "scale", float(self.scale))
        if len(set(self.clique)) != len(self.clique):
            raise ValueError(f"A clique names each attribute once. Found {self.clique}.")
        if self.counts.ndim != len(self.clique):
            raise ValueError(
                f"A marginal needs one axis for each attribute of {self.clique}. Found {self.counts.ndim} axes."
            )
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"`scale` must be positive and finite. Found {self.scale} for {self.clique}.")
        if not np.isfinite(self.counts).all():
            raise ValueError(f"Counts must be finite. Found others in the marginal {self.clique}.")

    def ordered(self, domain: Domain) -> "NoisyMarginal":
        """The same marginal with its axes in domain order; ValueError where its shape is not the domain's."""
        if self.counts.shape != domain.shape(self.clique):
            raise ValueError(
                f"The marginal {self.clique} must have shape {domain.shape(self.clique)}. Found {self.counts.shape}."
            )
        clique = domain.canonical(self.clique)
        if clique == self.clique:
            return self
        order = [self.clique.index(name) for name in clique]
        return replace(self, clique=clique, counts=np.ascontiguousarray(self.counts.transpose(order)))

    def of_column(self, name: str) -> "NoisyMarginal":
        """The counts of one attribute, summed over all others."""
        others = tuple(axis for axis, other in enumerate(self.clique) if other != name)
        counts = self.counts.sum(axis=others)
        summed = self.counts.size // max(counts.size, 1)
        return NoisyMarginal((name,), counts, self.scale * math.sqrt(summed), self.laplace and summed < NEARLY_NORMAL)


def combine(domain: Domain, measurements: Iterable[NoisyMarginal]) -> tuple[NoisyMarginal, ...]:
    """One marginal for each clique: repeated ones are averaged with weights 1 / scale^2.

    Axes come back in domain order, cliques in the order of their first appearance. For Gaussian noise nothing
    about the distribution is lost (the average is a sufficient statistic).
    """
    sums: dict[Clique, NDArray[np.float64]] = {}
    precisions: dict[Clique, float] = {}
    laplace: set[Clique] = set()
    for marginal in measurements:
        marginal = marginal.ordered(domain)
        weight = marginal.scale**-2
        if marginal.laplace:
            laplace.add(marginal.clique)
        if marginal.clique in sums:
            sums[marginal.clique] = sums[marginal.clique] + weight * marginal.counts
            precisions[marginal.clique] += weight
        else:
            sums[marginal.clique] = weight * marginal.counts
            precisions[marginal.clique] = weight
    return tuple(
        NoisyMarginal(clique, total / precisions[clique], precisions[clique] ** -0.5, clique in laplace)
        for clique, total in sums.items()
    )


def estimate_total(measurements: Iterable[NoisyMarginal]) -> tuple[float, float]:
    """The number of records and its standard error, from the sums of the noisy marginals.

    The sum over a marginal of c cells has variance c scale^2; the sums are averaged with the inverse of
    their variances. The estimate may be negative: that is for the caller to judge.

    Raises ValueError where there is no marginal.
    """
    weighted = precision = 0.0
    for marginal in measurements:
        weight = 1.0 / (marginal.counts.size * marginal.scale**2)
        weighted += weight * float(marginal.counts.sum())
        precision += weight
    if precision == 0.0:
        raise ValueError("The total needs at least one noisy marginal. Found none.")
    return weighted / precision, precision**-0.5
