"""Sentences for the receipt on columns that noise moved because rules leave it on one side alone.

Noise has a mean of zero. Where a rule bars half of the cells of a pair, what noise adds to the others stays, and pulls
the two columns apart: of dates with `admitted <= discharged`, mean stays of 6 days became 250. The counts of each
column by itself are not bent by that, so that their means tell.

Post-processing: noisy counts and rows of the model, no record is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.features.functions import Functions, Value
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine
from counterfoil.receipt.answers import KINDS, deviation_of
from counterfoil.schema.column import Column
from counterfoil.schema.rules import BoundRule
from counterfoil.synthesis.redrawn_rows import TriedRows, amount, measured_by, one_less, pairs_of

_FAR = 0.1
"""A mean that is farther from that of its noisy counts, in deviations of the column, is said."""
_MOST = 0.5
"""What lies between two means is mostly noise where smoothed counts of each column say less than this part of it."""
_DEVIATIONS = 4.0
"""What noise alone moves by so many standard errors is no finding."""


@dataclass(frozen=True)
class NoisyMean:
    """The mean of a column's numbers by its own noisy counts.

    Args:
        value: with each number in the middle of its bin.
        error: its standard error.
        slack: how far the mean may be from it because of where numbers lie within bins.
    """

    value: float
    error: float
    slack: float


def noisy_columns(curator: Curator) -> dict[str, NoisyMarginal]:
    """The noisy counts of single columns, value by value, those of several answers averaged.

    Without columns whose numbers were added up as well: sums tell means better than counts, and models follow them.
    """
    counted, summed = [], set[str]()
    for _, query, answer in curator.account.answers if curator.account else ():
        if isinstance(query, FunctionAverages) and isinstance(query.family, Functions):
            summed.update(one.column for one in query.family.functions if isinstance(one, Value))
        if isinstance(query, MarginalCounts) and query.coarsening is None and answer.noise.kind in KINDS:
            deviation = deviation_of(answer.noise.kind, answer.scale)
            parts = zip(query.cliques, query.split(answer.values), query.each_unit, strict=True)
            counted += [
                NoisyMarginal(clique, part / unit, deviation / unit) for clique, part, unit in parts if len(clique) == 1
            ]
    return {one.clique[0]: one for one in combine(curator.domain, counted) if one.clique[0] not in summed}


def one_sided_noise(
    tried: TriedRows, counted: Mapping[str, NoisyMarginal], smoothed: Mapping[str, np.ndarray]
) -> list[str]:
    """The sentences; none where means are as noisy counts say, and differences larger than noise leaves in doubt.

    Args:
        tried: rows of the model.
        counted: the noisy counts of columns.
        smoothed: the same after smoothing, for some of them: nearer to the records than noisy counts are.
    """
    schema = tried.schema
    # Rules on more columns and of too many cells bend no fit: what drawing again moves is said of them.
    bending = [rule for rule in schema.bound_rules if len(rule.columns) == 2 and rule.cells is not None]
    named = dict.fromkeys(name for rule in bending for name in rule.columns)
    known = {name: counted[name] for name in named if name in counted and measured_by(schema[name])}
    means = {name: mean for name, one in known.items() if (mean := noisy_mean(schema[name], one))}
    nearer = {
        name: mean for name in known if name in smoothed and (mean := _smoothed_mean(schema[name], smoothed[name]))
    }
    ordered = [rule for rule in pairs_of(schema.bound_rules, schema) if set(rule.columns) <= set(known)]
    hidden = {name: _hidden(schema[name], known[name].scale, smoothed[name]) for name in nearer}
    gaps = (_gap(tried, rule, means, nearer, hidden) for rule in ordered)
    return [*_shifts(tried, means | nearer), *filter(None, gaps)]


def noisy_mean(column: Column, counted: NoisyMarginal) -> NoisyMean | None:
    """None where noise hides whether the column has any numbers."""
    counts, numbers = counted.counts[: column.n_bins], column.centers[: column.n_bins]
    total = float(counts.sum())
    if total <= _DEVIATIONS * counted.scale * np.sqrt(len(counts)):
        return None
    mean = float(counts @ numbers) / total
    return NoisyMean(
        mean, counted.scale * float(np.linalg.norm(numbers - mean)) / total, _slack(column, np.maximum(counts, 0))
    )


def _smoothed_mean(column: Column, counts: np.ndarray) -> NoisyMean | None:
    """What moves the rows from it is no noise of these counts, which the model was fitted to; None without numbers."""
    numbers = counts[: column.n_bins]
    if not numbers.sum() > 0:
        return None
    mean = float(numbers @ column.centers[: column.n_bins]) / float(numbers.sum())
    return NoisyMean(mean, 0.0, 0.0)


def _hidden(column: Column, scale: float, counts: np.ndarray) -> float:
    """How far the mean of smoothed counts may be from that of the records, as a standard error.

    In a cell there is no more noise than smoothing left records, so that empty tails add nothing.
    """
    numbers, middles = np.maximum(counts[: column.n_bins], 0), column.centers[: column.n_bins]
    mean = float(numbers @ middles) / float(numbers.sum())
    return float(np.linalg.norm(np.minimum(numbers, scale) * (middles - mean))) / float(numbers.sum())


def _slack(column: Column, counts: np.ndarray) -> float:
    """How far numbers lie from the middles of their bins at most, on average."""
    lows, highs = (ends[: column.n_bins] for ends in column.ranges)
    return float(counts @ (highs - lows)) / (2 * float(counts.sum()))


def _shifts(tried: TriedRows, means: Mapping[str, NoisyMean]) -> list[str]:
    said = []
    for name, mean in means.items():
        found, error, deviation = _mean_of_rows(tried, name)
        by, chance = found - mean.value, float(np.hypot(error, mean.error)) if mean.error else 0.0
        if deviation and abs(by) > max(_FAR * deviation, _DEVIATIONS * chance + mean.slack):
            said.append(f"{name} by {amount(tried.schema[name], by)} ({by / deviation:+.2f} of its deviation)")
    if not said:
        return []
    return [
        f"Rules moved means away from what the counts of each column say by themselves: that of {', of '.join(said)}. "
        "Noise is left only where a rule allows rows, which pulls columns to that side. More epsilon moves them less."
    ]


def _gap(
    tried: TriedRows,
    rule: BoundRule,
    means: Mapping[str, NoisyMean],
    nearer: Mapping[str, NoisyMean],
    hidden: Mapping[str, float],
) -> str:
    """The sentence on the columns of a rule; empty where there is nothing to say."""
    first, last = rule.columns
    rows = _mean_of_rows(tried, last)[0] - _mean_of_rows(tried, first)[0]
    column, alone, doubt, left = tried.schema[first], "", np.inf, "all of that"
    if first in means and last in means:
        doubt = 2 * float(np.hypot(means[first].error, means[last].error)) + means[first].slack + means[last].slack
        left = amount(column, doubt)
    if np.isnan(rows):
        return ""
    if first in nearer and last in nearer:
        # Noise in empty tails leaves much in doubt of which smoothing removes most: what remains is compared by itself,
        # and where noise hides the records that are left, agreement is chance.
        smoothed = nearer[last].value - nearer[first].value
        unseen = 2 * float(np.hypot(hidden[first], hidden[last]))
        if not abs(rows - smoothed) > _MOST * abs(rows) and unseen <= abs(rows):
            return ""
        alone = f", and {amount(column, smoothed * np.sign(rows))} by the counts of each column alone"
    elif abs(rows) > doubt and abs(rows - (means[last].value - means[first].value)) <= doubt:
        return ""
    # Rules have no arithmetic on moments.
    bound = f", and so does a rule that bounds {last} - {first}, where the public knows a bound or a closer one"
    return (
        f"Differences between {first} and {last} are unreliable. Their means are {amount(column, abs(rows))} apart "
        f"among these rows{alone}; noise and the width of bins leave {left} in doubt, and "
        f"`{rule.rule.text}` leaves noise on one side alone, where it adds to all differences. More epsilon leaves "
        f"less of it{'' if column.kind == 'datetime' else bound}; or {one_less(rule, tried.schema)}."
    )


def _mean_of_rows(tried: TriedRows, name: str) -> tuple[float, float, float]:
    """The mean of the numbers of rows that meet the rules, what chance moves it by, and their deviation."""
    numbers = tried.numbers(name)[tried.good]
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return np.nan, np.nan, np.nan
    deviation = float(numbers.std())
    return float(numbers.mean()), deviation / float(np.sqrt(len(numbers))), deviation
