"""One release of the coverage experiment: which intervals hold the truth, and which tests reject. NOT PRIVATE.

Ours rest on the noisy answers of the receipt. The naive ones take the synthetic rows for a sample of the population:
Wilson's interval for a share, the textbook's interval for a coefficient, Pearson's test.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import chi2_contingency, norm, t

from counterfoil import AIM, MST, Reweighting, synthesize
from counterfoil.inference import Evidence, Unanswerable, chi2, proportion
from counterfoil.inference.event import Event
from counterfoil.inference.least_squares import ols
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.schema import Schema
from reproductions.private_density.coverage_tables import Conditions, Population, Regression, population, text_of

LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
LEVEL, SIGNIFICANCE, DELTA = 0.95, 0.05, 1e-9
METHODS = {"aim": AIM(), "mst": MST(), "reweighting": Reweighting(queries="marginals:2", keep_rare=True)}
MOMENTS = "moments"
"""The method whose releases are regressed: the moments of the columns of the regressions, bought directly."""
OF_MOMENTS = Reweighting(queries="moments:2")
QUANTITIES = ("columns", "pairs", "unmeasured", "ols", "chi2")


@dataclass(frozen=True)
class Task:
    """A release of a table."""

    data: str
    epsilon: float
    method: str
    seed: int


@dataclass(frozen=True)
class Verdict:
    """What one interval or test said.

    Args:
        quantity: one of `QUANTITIES`.
        subject: what it is about.
        side: "ours" or "naive".
        level: nominal.
        hit: whether the interval holds the truth, or the test rejects; None where an answer is refused.
        width: of the interval.
    """

    quantity: str
    subject: str
    side: str
    level: float
    hit: bool | None
    width: float = math.nan


def verdicts(task: Task) -> list[Verdict]:
    """All of one release."""
    people = population(task.data)
    rng = np.random.default_rng([round(1000 * task.epsilon), sum(map(ord, task.method)), task.seed])
    if task.method == MOMENTS:
        people = people.numbers
        release = _released(people.resampled(rng), people.schema, OF_MOMENTS, task)
        return [one for asked in people.asked.regressions for one in _of_regression(release, people, asked)]
    release = _released(people.records(rng), people.schema, METHODS[task.method], task)
    events = [*people.asked.columns, *people.asked.pairs]
    found = [one for event in events for one in _of_event(release, people, event)]
    return found + [one for other in people.asked.against for one in _of_test(release, people, other, task.seed)]


def _released(records: pa.Table, schema: Schema, method: Any, task: Task) -> Evidence:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoLedgerWarning)  # the tables are public
        made = synthesize(
            records, schema, epsilon=task.epsilon, delta=DELTA, relation="replace_one", method=method, seed=task.seed
        )
    return Evidence.of(made)


def _of_event(release: Evidence, people: Population, event: Conditions) -> Iterator[Verdict]:
    text, truth = text_of(event), people.share(event)
    quantity = "columns" if len(event) == 1 else "pairs"
    met = Event(people.schema, text).rows(release.codes)[0]
    for level in LEVELS:
        try:
            (finding,) = proportion(release, text, level=level)
        except Unanswerable:
            quantity = "unmeasured"
            yield Verdict(quantity, text, "ours", level, None)
        else:
            quantity = quantity if finding.measured else "unmeasured"
            holds = bool(finding.lower <= truth <= finding.upper)
            yield Verdict(quantity, text, "ours", level, holds, finding.upper - finding.lower)
        low, high = wilson(float(met.mean()), len(met), level)
        yield Verdict(quantity, text, "naive", level, bool(low <= truth <= high), high - low)


def _of_test(release: Evidence, people: Population, other: str, seed: int) -> Iterator[Verdict]:
    column = people.asked.independent
    about = f"{column} and {other}"
    try:
        p_value = chi2(release, column, other, seed=seed).p_value
        yield Verdict("chi2", about, "ours", SIGNIFICANCE, p_value <= SIGNIFICANCE)
    except Unanswerable:
        yield Verdict("chi2", about, "ours", SIGNIFICANCE, None)
    sizes = [people.schema.domain[name] for name in (column, other)]
    cells = np.ravel_multi_index([release.codes[name] for name in (column, other)], sizes)
    counts = np.bincount(cells, minlength=math.prod(sizes)).reshape(sizes)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    naive = chi2_contingency(counts, correction=False).pvalue if min(counts.shape) > 1 else 1.0
    yield Verdict("chi2", about, "naive", SIGNIFICANCE, bool(naive <= SIGNIFICANCE))


def _of_regression(release: Evidence, people: Population, asked: Regression) -> Iterator[Verdict]:
    truth = true_coefficients(people.name, asked)
    own, error, freedom = least_squares(release.table, people.schema, asked)
    for level in LEVELS:
        try:
            ours = [(one.lower, one.upper) for one in ols(release, asked.target, asked.predictors, level=level)]
        except Unanswerable:
            ours = []
        half = error * t.ppf((1 + level) / 2, freedom)
        for row, (value, name) in enumerate(zip(truth, ("constant", *asked.predictors), strict=True)):
            about = f"{asked.target} by {name}"
            if ours:
                low, high = ours[row]
                yield Verdict("ols", about, "ours", level, bool(low <= value <= high), float(high - low))
            else:
                yield Verdict("ols", about, "ours", level, None)
            holds = bool(abs(own[row] - value) <= half[row])
            yield Verdict("ols", about, "naive", level, holds, float(2 * half[row]))


@cache
def true_coefficients(name: str, asked: Regression) -> np.ndarray:
    """float64 [p]: least squares on the whole table, which is the population."""
    people = population(name).numbers
    return least_squares(people.table, people.schema, asked)[0]


def least_squares(table: pa.Table, schema: Schema, asked: Regression) -> tuple[np.ndarray, np.ndarray, int]:
    """The textbook's coefficients [p], constant first, their standard errors [p], and the degrees of freedom."""
    design = np.column_stack([np.ones(table.num_rows), *(_numbers(table, schema, name) for name in asked.predictors)])
    answer = _numbers(table, schema, asked.target)
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ answer
    freedom = len(answer) - design.shape[1]
    variance = float(np.square(answer - design @ coefficients).sum()) / freedom
    return coefficients, np.sqrt(variance * np.diag(inverse)), freedom


def wilson(share: float, rows: int, level: float) -> tuple[float, float]:
    """Wilson's interval for a share of so many rows."""
    z = float(norm.ppf((1 + level) / 2))
    middle = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * math.sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return middle - half, middle + half


def _numbers(table: pa.Table, schema: Schema, name: str) -> np.ndarray:
    """A column as numbers, one of two categories as 1 for the second."""
    column = schema[name]
    if column.is_ordered:
        return np.asarray(column.numbers(table.column(name)), dtype=np.float64)
    return np.asarray(column.encode(table.column(name)), dtype=np.float64)
