"""Sentences for the receipt on columns that noise hides, or that the reference moves, where no value was merged.

Public: they follow from noisy answers and from the weights that were fitted to them. No record is read.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.one_way import columns_within, counted_warnings, smoothed_counts
from counterfoil.marginals.unreliable import first_few
from counterfoil.reweighting.noisy_answers import NoisyAnswers
from counterfoil.schema import Integer, Real, Schema
from counterfoil.synthesis.weighted_records import WeightedRecords

_FAR = 0.25
"""A mean is moved far by more of the mean distance from it, and a deviation by more of itself."""
_LEAST = 0.002
"""Of the range: smaller deviations count as this one, so that a column of one number is not moved by nothing."""
_MANY = 8
"""Of a column with as many values, which values are common matters."""


def column_doubts(
    schema: Schema, answers: NoisyAnswers, model: WeightedRecords, public: float | None, *, uniform: bool
) -> tuple[str, ...]:
    """What is said of columns that marginals count, and of those that a uniform reference leaves even.

    Args:
        schema: of the columns.
        answers: that weights were fitted to, of values of which none were merged.
        model: the weighted records.
        public: the number of records where it is public.
        uniform: whether the reference is uniform.
    """
    said: list[str] = []
    counted = {name for one in answers.marginals for name in one.clique}
    if answers.marginals:
        said += counted_warnings(schema, answers.marginals, public, answers.total()[0])
        said += _moved(schema, answers, model, public)
    return (*said, *(left_even(schema, counted) if uniform else ()))


def left_even(schema: Schema, counted: Collection[str] = ()) -> tuple[str, ...]:
    """What is said of columns with many values over a uniform reference, of which no counts were bought.

    Args:
        schema: of the columns.
        counted: the columns that marginals count.
    """
    even = [c.name for c in schema.synthesized if c.name not in counted and len(c.labels) >= _MANY]
    if not even:
        return ()
    its = "its" if len(even) == 1 else "their"
    return (
        f"The reference is uniform, and no counts of {its} values were bought of {first_few(even)}: {its} values are "
        "spread evenly between the bounds, and over all categories, but for what the averages demand.",
    )


def _moved(schema: Schema, answers: NoisyAnswers, model: WeightedRecords, public: float | None) -> list[str]:
    """A sentence on columns of numbers whose means or deviations the fit leaves far from those of noisy counts."""
    columns = columns_within(answers.marginals)
    _, smoothed = smoothed_counts(schema, columns, public)
    words = [
        f"{name} ({said})"
        for name, counts in smoothed.items()
        if (said := _far(schema, name, counts, model.marginal((name,))))
    ]
    if not words:
        return []
    return [
        "The weights leave columns far from what their own noisy counts say, near the reference and the noise of "
        f"single counts: {first_few(words)}. More epsilon moves them less, and so do marginals over the reference "
        "`product` that count rare values together."
    ]


def _far(schema: Schema, name: str, smoothed: Smoothed, shares: np.ndarray) -> str:
    """What is far off, in words; empty where nothing is, or where the counts say nothing."""
    if not smoothed.runs.stands_out.any():
        return ""  # what its counts say is unreliable, which is said
    counts = smoothed.counts
    lows, highs = (ends[: len(counts)] for ends in schema[name].ranges)
    centers = (lows + highs) / 2
    (mean, deviation, distance), (own, spread, _) = (
        _moments(centers, highs - lows, weights) for weights in (counts, shares[: len(counts)])
    )
    least = _LEAST * float(np.ptp(centers)) if len(centers) else 0.0
    in_figures, said = isinstance(schema[name], (Integer, Real)), []
    if abs(own - mean) > _FAR * max(distance, least):
        said.append(f"a mean of {_figure(own)} for {_figure(mean)}" if in_figures else "its mean")
    if abs(spread - deviation) > _FAR * max(deviation, least):
        of = f"a standard deviation of {_figure(spread)} for {_figure(deviation)}"
        said.append(of if in_figures else "its standard deviation")
    return " and ".join(said)


def _moments(centers: np.ndarray, widths: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    """The mean, the standard deviation and the mean distance from the mean, spread evenly within cells.

    Of the middles of cells alone, a column in one cell would have no deviation, whatever the width of the cell.
    """
    weights = np.maximum(weights, 0.0)
    if not weights.sum() > 0:
        return math.nan, math.nan, math.nan
    weights = weights / weights.sum()
    mean = float(weights @ centers)
    deviation = math.sqrt(float(weights @ ((centers - mean) ** 2 + widths**2 / 12)))
    return mean, deviation, float(weights @ np.maximum(np.abs(centers - mean), widths / 4))


def _figure(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
