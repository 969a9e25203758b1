"""The made-up records of appendix B: features that say what is asked, and features that say the group.

Source: Rodriguez-Vitores, Lalanne and Loubes 2025, appendix B. NOT PRIVATE: seeds are fixed, and nobody is described.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from counterfoil.schema import Real

AGREEMENT = 0.7
CORE, SPURIOUS = 8, 8
INPUTS = CORE + SPURIOUS
RECORDS = 30_000
BOUNDS = -3.0, 4.0
"""Declared for each input of the package's models; what lies outside, one number in 20000, is moved to the nearer."""
CORE_VARIANCE, SPURIOUS_VARIANCE = 1 / 5, 2 / 5


@dataclass(frozen=True, eq=False)
class Sample:
    """n records.

    Args:
        inputs: float64 [n, 16]: four noisy copies of the response, then eight of the group.
        group: int64 [n], the protected A.
        label: int64 [n], Y: on which side of the diagonal of the square the response lies.
        response: float64 [n, 2], Y^C, uniform on the unit square.
    """

    inputs: np.ndarray
    group: np.ndarray
    label: np.ndarray
    response: np.ndarray


def sample(n: int, rng: np.random.Generator) -> Sample:
    """n records, of which 70% have a group that is equal to their label."""
    response = rng.random((n, 2))
    label = (response.sum(axis=1) > 1).astype(np.int64)
    group = np.where(rng.random(n) < AGREEMENT, label, 1 - label)
    core = np.tile(response, CORE // 2) + CORE_VARIANCE**0.5 * rng.standard_normal((n, CORE))
    spurious = group[:, None] + SPURIOUS_VARIANCE**0.5 * rng.standard_normal((n, SPURIOUS))
    return Sample(np.concatenate([core, spurious], axis=1), group, label, response)


@cache
def train_and_test(n: int) -> tuple[Sample, Sample]:
    """The records that models are trained on, and as many others."""
    return sample(n, np.random.default_rng(1)), sample(n, np.random.default_rng(2))


def input_columns() -> tuple[Real, ...]:
    """The public facts about the inputs, for the package's own models."""
    return tuple(Real(f"x{place}", lower=BOUNDS[0], upper=BOUNDS[1], bins=8) for place in range(INPUTS))


def bounded_columns(records: Sample) -> dict[str, np.ndarray]:
    """The inputs by their names, within their bounds."""
    return {f"x{place}": np.clip(records.inputs[:, place], *BOUNDS) for place in range(INPUTS)}


def unit_scaled(values: np.ndarray) -> np.ndarray:
    """Inputs in [-1, 1], as the package's models read them."""
    low, high = BOUNDS
    return 2 * (values - low) / (high - low) - 1
