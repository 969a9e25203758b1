"""Receipts' answers made directly from a table and noise, for tests of inference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import count, islice

import numpy as np
import pyarrow as pa

from counterfoil.features.moments import Moments
from counterfoil.inference.evidence import Evidence
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages, RecordedMarginal
from counterfoil.schema import Schema
from counterfoil.synthesis.table import encode


def bought_moments(
    schema: Schema,
    table: pa.Table,
    deviation: float,
    rng: np.random.Generator,
    *,
    noise: str = "discrete_gaussian",
    counted: bool = False,
    order: int = 2,
    charge: int = 1,
) -> RecordedAverages:
    """The sums of all moments of a table with noise of that standard deviation, in records."""
    family = Moments(schema, order, counted)
    codes = encode(schema, table)
    numbers = {name: schema[name].numbers(table.column(name)) for name in family.numbers}
    exact = family.sums(table.num_rows, codes, numbers)
    scale = deviation * family.unit / (math.sqrt(2) if noise == "discrete_laplace" else 1)
    draw = rng.laplace if noise == "discrete_laplace" else rng.normal
    sums = exact + np.rint(draw(0, max(scale, 1e-300), len(exact))).astype(np.int64)
    return RecordedAverages(
        family, family.names, family.counted, sums, family.offsets, family.slopes, noise, max(scale, 1e-3), charge
    )


def noised(bought: RecordedAverages, rng: np.random.Generator) -> RecordedAverages:
    """The sums of a family with more noise, of the kind and the scale that they are recorded with."""
    draw = rng.laplace if bought.noise == "discrete_laplace" else rng.normal
    return replace(bought, sums=bought.sums + np.rint(draw(0, bought.scale, len(bought.sums))).astype(np.int64))


def noiseless(bought: RecordedAverages, deviation: float, noise: str = "discrete_gaussian") -> RecordedAverages:
    """Exact sums, recorded as if they had noise of that standard deviation, in records."""
    unit = 1 / float(bought.slopes[0])
    scale = deviation * unit / (math.sqrt(2) if noise == "discrete_laplace" else 1)
    return replace(bought, noise=noise, scale=scale)


def bought_marginal(
    schema: Schema, table: pa.Table, columns: Sequence[str], deviation: float, rng: np.random.Generator, charge: int = 1
) -> RecordedMarginal:
    """The counts of a marginal with Gaussian noise, in records."""
    clique, codes = schema.domain.canonical(columns), encode(schema, table)
    shape = schema.domain.shape(clique)
    flat = np.ravel_multi_index(tuple(codes[name] for name in clique), shape)
    exact = np.bincount(flat, minlength=math.prod(shape)).reshape(shape)
    noisy = exact + np.rint(rng.normal(0, deviation, shape)).astype(np.int64)
    return RecordedMarginal(clique, noisy, {}, "discrete_gaussian", deviation, charge)


def evidence_of(
    schema: Schema,
    averages: Sequence[RecordedAverages],
    *,
    records: int | None,
    marginals: Sequence[RecordedMarginal] = (),
    rows: pa.Table | None = None,
) -> Evidence:
    """A release with those answers; without `rows`, it has none to look at."""
    answers = RecordedAnswers(schema, tuple(marginals), tuple(averages), (), records)
    return Evidence(rows, None, answers)  # type: ignore[arg-type]


def noisy_evidence(
    schema: Schema,
    columns: Mapping[str, object],
    deviation: float,
    rng: np.random.Generator,
    *,
    noise: str = "discrete_gaussian",
    public: bool = True,
) -> Evidence:
    """A release of the second moments of a table given by its columns; the number of records is public or bought."""
    table = pa.table(dict(columns))
    bought = bought_moments(schema, table, deviation, rng, noise=noise, counted=not public)
    return evidence_of(schema, [bought], records=table.num_rows if public else None)


Law = Callable[[int, np.random.Generator], Mapping[str, np.ndarray]]
"""Draws the columns of so many rows; those that a schema has not are left out."""

_TABLES = 100


@cache
def exact_moments(schema: Schema, law: Law, rows: int, counted: bool, batch: int) -> list[np.ndarray]:
    """The exact sums of all moments of each of 100 tables, whose rows are drawn and encoded at once.

    Releases that differ in the noise alone have them in common.
    """
    family = Moments(schema, 2, counted)
    columns = law(rows * _TABLES, np.random.default_rng([rows, batch]))
    table = pa.table({column.name: columns[column.name] for column in schema.synthesized})
    codes = encode(schema, table)
    numbers = {name: schema[name].numbers(table.column(name)) for name in family.numbers}
    each = (slice(i * rows, (i + 1) * rows) for i in range(_TABLES))
    return [family.sums(rows, *({name: v[part] for name, v in of.items()} for of in (codes, numbers))) for part in each]


def noisy_releases(
    schema: Schema,
    law: Law,
    rows: int,
    deviation: float,
    rng: np.random.Generator,
    *,
    noise: str = "discrete_gaussian",
    public: bool = True,
) -> Iterator[Evidence]:
    """What `noisy_evidence` makes of any number of tables of so many rows of one law."""
    columns = law(1, rng)
    one = pa.table({column.name: columns[column.name] for column in schema.synthesized})
    bought = noiseless(bought_moments(schema, one, 0.0, rng, counted=not public), deviation, noise)
    for batch in count():
        for sums in exact_moments(schema, law, rows, not public, batch):
            yield evidence_of(schema, [noised(replace(bought, sums=sums), rng)], records=rows if public else None)


def least_binomial(trials: int, chance: float, false_alarm: float = 1e-7) -> float:
    """The share of successes below which a test of at least that chance fails, with that false-alarm probability."""
    from scipy.stats import binom

    return float(binom.ppf(false_alarm, trials, chance)) / trials


def require_noise_told(inside: Iterator[np.ndarray], trials: int) -> None:
    """Shares within 5.5 standard errors of 95%: false-alarm probability below 1e-7 each.

    A third of the trials decides where all its shares are within 4 of these standard errors. A share that is 7.5 of
    them off is found out with probability 98% by all, and so it is by the third.
    """
    error = math.sqrt(0.95 * 0.05 / trials)
    third = sum(islice(inside, trials // 3))
    if np.abs(third / (trials // 3) - 0.95).max() >= 4 * error:
        rest = sum(islice(inside, trials - trials // 3))
        assert np.abs((third + rest) / trials - 0.95).max() < 5.5 * error
