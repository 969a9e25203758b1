"""Columns of numbers: their cells joined into runs, and their counts smoothed where noise hides them.

Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.graphical_model.beside_one import with_codes_beside_one
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, estimate_total
from counterfoil.graphical_model.runs import Runs, runs_of
from counterfoil.graphical_model.smoothing import Smoothed, spread
from counterfoil.schema import Column, Integer, Schema


def runs_of_columns(
    schema: Schema, marginals: Sequence[NoisyMarginal], spans: Mapping[str, np.ndarray]
) -> dict[str, Runs]:
    """The runs of each column of numbers."""
    return {
        name: runs_of(one.counts[: len(spans[name])], one.scale, laplace=one.laplace)
        for one in marginals
        if (name := one.clique[0]) in spans
    }


def smoothed_columns(
    schema: Schema, runs: Mapping[str, Runs], marginals: Sequence[NoisyMarginal], public: float | None
) -> dict[str, Smoothed]:
    """The smoothed counts of columns of numbers.

    Args:
        schema: of the columns.
        runs: by column of numbers.
        marginals: the noisy counts of all columns.
        public: the number of records where it is public.
    """
    smoothed = {}
    for name, of_name in runs.items():
        column, bins = schema[name], len(of_name.of_cell)
        assert column.spans is not None
        records, error = _with_a_number(name, bins, marginals, public)
        sizes = column.centers[:bins] if column.has_zero else None
        found = spread(of_name, column.spans, sizes, records=records, records_error=error)
        if has_each_number(column):
            (own,) = (one for one in marginals if one.clique == (name,))
            found = with_codes_beside_one(found, own.counts[:bins], own.scale)
        smoothed[name] = found
    return smoothed


def has_each_number(column: Column) -> bool:
    """Whether it is one of whole numbers of which each has a code."""
    return isinstance(column, Integer) and column.n_bins == column.upper - column.lower + 1


def _with_a_number(
    name: str, bins: int, marginals: Sequence[NoisyMarginal], public: float | None
) -> tuple[float, float]:
    """How many records have a number in a column, and the standard error: by all counts but those of its numbers."""
    (own,) = (one for one in marginals if one.clique == (name,))
    others = [one for one in marginals if one is not own]
    if public is None and not others:
        return 0.0, math.inf
    records, error = estimate_total(others) if public is None else (public, 0.0)
    absent = own.counts[bins:]
    return records - float(absent.sum()), math.sqrt(error**2 + len(absent) * own.scale**2)
