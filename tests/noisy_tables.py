"""Answers as a receipt has them, with simulated noise of the exact discrete laws, and coverage with a stated risk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.domain.domain import Clique
from counterfoil.inference.evidence import Evidence
from counterfoil.receipt.answers import ErrorBarEntry, RecordedAnswers, RecordedAverages, RecordedMarginal
from counterfoil.schema import Schema

UNMARKED = SimpleNamespace(document={"warnings": []})
"""What inference asks of the receipt of rows that were drawn under no condition."""

GAUSSIAN, LAPLACE = "discrete_gaussian", "discrete_laplace"


@cache
def _table(kind: str, scale: float) -> np.ndarray:
    """The distribution function on -r..r, beyond which less than 1e-12 is left."""
    radius = int((12 if kind == GAUSSIAN else 40) * (scale + 1))
    places = np.arange(-radius, radius + 1)
    weights = np.exp(-(places**2) / (2 * scale**2)) if kind == GAUSSIAN else np.exp(-np.abs(places) / scale)
    return np.cumsum(weights / weights.sum())


def discrete_noise(rng: np.random.Generator, kind: str, scale: float, shape: int | tuple[int, ...]) -> np.ndarray:
    """int64 [shape]: discrete Gaussian or Laplace noise, by its distribution function."""
    table = _table(kind, scale)
    return np.searchsorted(table[:-1], rng.random(shape)) - len(table) // 2


def noisy_marginal(
    rng: np.random.Generator,
    clique: Clique,
    counts: np.ndarray,
    kind: str,
    scale: float,
    charge: int,
    groups: Mapping[str, np.ndarray] | None = None,
) -> RecordedMarginal:
    """The marginal with the exact `counts`, as it would be recorded."""
    noisy = counts + discrete_noise(rng, kind, scale, counts.shape)
    return RecordedMarginal(clique, noisy.astype(np.int64), groups or {}, kind, scale, charge)


def evidence_of(
    schema: Schema,
    marginals: Sequence[RecordedMarginal] = (),
    averages: Sequence[RecordedAverages] = (),
    error_bars: Sequence[ErrorBarEntry] = (),
    records: int | None = None,
    first_look: int | None = None,
    rows: pa.Table | None = None,
    unit: PrivacyUnit | None = None,
) -> Evidence:
    """Evidence with these answers and rows; what rests on a receipt, or on rows that are not given, can't be asked."""
    answers = RecordedAnswers(schema, tuple(marginals), tuple(averages), tuple(error_bars), records, first_look, unit)
    return Evidence(rows, UNMARKED, answers)  # type: ignore[arg-type]


def require_coverage(hits: int, trials: int, *, at_least: float = 0.945, at_most: float = 0.98) -> None:
    """Fails, with probability at most 1e-6 where the coverage lies between the two, else if it is far outside them."""
    low, high = binom.ppf(5e-7, trials, at_least), binom.isf(5e-7, trials, at_most)
    assert low <= hits <= high, f"{hits / trials:.4f} of {trials} intervals held, {low / trials:.4f} must"


def require_held(held: Iterator[bool], trials: int, *, at_least: float = 0.945, at_most: float = 0.98) -> None:
    """`require_coverage` of so many trials, but that a fourth of them decides where it leaves no doubt.

    That fourth passes where its share is inside the limits of `require_coverage` by two standard errors of the share of
    all, or more: a coverage outside them by two is found out with probability 97% by all, and so it is by the fourth.
    """
    low, high = binom.ppf(5e-7, trials, at_least) / trials, binom.isf(5e-7, trials, at_most) / trials
    inside = 2 * np.sqrt(np.array([low * (1 - low), high * (1 - high)]) / trials)
    few = trials // 4
    hits = sum(islice(held, few))
    if not low + inside[0] <= hits / few <= high - inside[1]:
        require_coverage(hits + sum(islice(held, trials - few)), trials, at_least=at_least, at_most=at_most)
