"""What leaves the curator: noisy answers with the noise that was added, and private choices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.noise.noise import CountNoise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise


@dataclass(frozen=True, eq=False)
class Answer:
    """The noisy answer to a query for counts. All of it is public.

    Args:
        values: int64 [cells]: the exact counts plus noise.
        noise: the noise that was added.
        scale: the scale parameter of the noise, in units of the values.
        deviation: a bound on the standard deviation of the noise, in units of the values.
    """

    values: np.ndarray
    noise: CountNoise
    scale: float
    deviation: float


@dataclass(frozen=True)
class Choice:
    """A private choice among public candidates. All of it is public.

    Args:
        index: the place of the chosen candidate.
        scale: the scale parameter of the Gumbel noise that its score got, in units of the score.
    """

    index: int
    scale: float


@dataclass(frozen=True)
class FrequentTexts:
    """The texts that are frequent in some columns. All of it is public.

    Args:
        texts: column, text and noisy count, column after column, the most frequent first; counts are of cells, or in
            parts of records, as the query says, and so are the threshold and the deviation.
        noise: the noise that was added.
        threshold: the smallest noisy count that was released.
        deviation: a bound on the standard deviation of the noise.
    """

    texts: tuple[tuple[str, str, int], ...]
    noise: ThresholdedGaussianNoise | OpenDomainGaussianNoise
    threshold: int
    deviation: float
