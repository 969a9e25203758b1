"""How strongly a fit is drawn towards independence, where nobody says.

A potential grows by N / (weight * sigma) nats for each standard deviation that a noisy marginal of N records lies off:
with a fixed weight that is in proportion to N and to epsilon, until products of potentials leave the range of floats,
or fits take hundreds of steps. The weight is therefore never so small that a deviation is worth more than
`NATS_A_DEVIATION`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal

LARGEST_OF_FEW = 100.0
"""The weight, in records, where noise is large: best of 30 to 300 on tables of 5,000 to 60,000 records at epsilon 1."""

OF_ROOT = 0.5
"""There it is also at most this multiple of the square root of the records, so that a small table is not flattened."""

NATS_A_DEVIATION = 8.0
"""The discretized Adult has the same errors with 5, 10 and 20 at epsilon 1 to 10; fits with 20 take twice the time at
10, and a weight of 100, which is 90 nats there, takes fifty times as long."""


def entropy_weight_for(total: float, measured: Iterable[NoisyMarginal]) -> float:
    """The weight of the entropy, in records.

    Args:
        total: the number of records, at least 1.
        measured: what is fitted; the most exact of the marginals of several columns counts, or of the columns where
            there are no others.
    """
    small = max(min(LARGEST_OF_FEW, OF_ROOT * math.sqrt(total)), 1.0)
    scales = [(len(marginal.clique) == 1, marginal.scale) for marginal in measured if marginal.clique]
    return max(small, total / (NATS_A_DEVIATION * min(scales)[1])) if scales else small
