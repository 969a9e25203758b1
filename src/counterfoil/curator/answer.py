"""What comes through the wall: noisy numbers, with the noise that is in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.noise.noise import CountNoise


@dataclass(frozen=True, eq=False)
class Answer:
    """The noisy answer to a question about counts. All of it is public.

    Args:
        values: int64 [cells].
        noise: what was added.
        scale: its scale parameter, in units of the values.
        deviation: a bound on its standard deviation, in units of the values.
    """

    values: np.ndarray
    noise: CountNoise
    scale: float
    deviation: float


@dataclass(frozen=True)
class Choice:
    """A private choice among public candidates. All of it is public.

    Args:
        index: of the candidate.
        scale: the scale parameter of the Gumbel noise that its score got, in units of the score.
    """

    index: int
    scale: float
