"""Sums of the numbers of columns whose means their noisy counts leave in doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.features.functions import UNIT, Functions, Value
from counterfoil.graphical_model.clipped_sum import (
    LEAST_SHARE,
    Clip,
    SumQuestion,
    fair_shares,
    follow_sum,
    shares_in_runs,
    squared_error_left,
    variances,
)
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.inert import inert
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.schema import Schema
from counterfoil.schema.column import Column

MOST_SHARE = 0.15
"""Of what all columns cost, the most that sums of their numbers take from the second measurement of their counts."""

_MOST_SUMS = int(MOST_SHARE / LEAST_SHARE + 1e-9)

_WORTH = 0.8
"""A sum is worth its cost where it leaves at most that part of the error of the mean."""

_TRIFLE = 1 + 1e-12
"""By what noise grows when a query takes a part of the budget, so that all parts never exceed it."""


@dataclass(frozen=True)
class ColumnSum:
    """What is known of the sum of a column's numbers, each moved into a range.

    Args:
        column: the column.
        clip: the range.
        total: the sum of what they then exceed its lower end by.
        noise: the standard deviation of the error in it.
        records: how many records that is the sum of, as far as was known.
    """

    column: Column
    clip: Clip
    total: float
    noise: float
    records: float

    def followed_by(self, smoothed: Smoothed) -> Smoothed:
        """The counts of the column's cells, moved as the sum says."""
        part = float(smoothed.counts.sum()) / self.records
        return follow_sum(smoothed, self._means, self.clip, self.total * part, self.noise * part)

    def with_counts(self, before: Smoothed, after: Smoothed) -> ColumnSum:
        """What the noisy sum and the noisy counts say of the sum together.

        Args:
            before: the counts before they followed the sum.
            after: and since.
        """
        far = np.clip(self._means(after.counts), self.clip.lower, self.clip.upper) - self.clip.lower
        of_run = np.bincount(before.runs.of_cell, shares_in_runs(before) * far)
        left = math.sqrt(squared_error_left(variances(before), of_run, of_run, self.noise))
        return ColumnSum(self.column, self.clip, float(after.counts @ far), left, float(after.counts.sum()))

    def _means(self, counts: np.ndarray) -> np.ndarray:
        return _means(self.column, counts)


def part_of(noise: GaussianNoise, share: float) -> GaussianNoise:
    """The noise of a query that has that part of the budget of one with `noise`."""
    return GaussianNoise(noise.noise_multiplier * (math.sqrt(1 / share) * _TRIFLE))


@dataclass(frozen=True, eq=False)
class SumBuyer:
    """Finds out which sums are worth their cost, and asks for them.

    Args:
        schema: of the columns.
        account: what is charged.
        noise: of all of the budget that columns have.
    """

    schema: Schema
    account: Account
    noise: GaussianNoise

    def wishes(self, smoothed: Mapping[str, Smoothed], *, better: float = 1.0) -> dict[str, float]:
        """By column, the least part of the budget at which its sum tells the mean; those alone whose counts do not.

        Only of columns whose sum could tell clearly more than their counts: where few columns share the budget, it does
        not. At most as many columns as `MOST_SHARE` gives the least share, those that want least: each reads the table.

        Args:
            smoothed: the counts of columns of numbers.
            better: see `SumQuestion.share_wanted`.
        """
        questions = {name: self._question(name, one) for name, one in smoothed.items() if self.schema[name].has_zero}
        wanted = {name: one.share_wanted(better) for name, one in questions.items()}
        worth = [
            name
            for name, share in wanted.items()
            if share > 0 and questions[name].error_left(MOST_SHARE, better) <= _WORTH
        ]
        fewest = sorted(worth, key=lambda name: wanted[name])
        return {name: wanted[name] for name in fewest[:_MOST_SUMS]}

    def ask(self, smoothed: Mapping[str, Smoothed], share: float) -> dict[str, ColumnSum]:
        """The sums of the columns `smoothed`, each in a query of its own, for that part of the budget together."""
        questions = {name: self._question(name, one) for name, one in smoothed.items()}
        shares = fair_shares(np.array([one.share_wanted() for one in questions.values()]), share)
        sums = {}
        for (name, question), part in zip(questions.items(), shares.tolist(), strict=True):
            clip = question.best_range(part) if part > 0 else None
            if clip is not None:
                answer = self.account.ask(_query(self.schema, name, clip), part_of(self.noise, part))
                unit = (clip.upper - clip.lower) / UNIT
                total = float(answer.values[0]) * unit
                records = float(smoothed[name].counts.sum())
                sums[name] = ColumnSum(self.schema[name], clip, total, answer.deviation * unit, records)
        return sums

    def _question(self, name: str, smoothed: Smoothed) -> SumQuestion:
        column, bins = self.schema[name], len(smoothed.counts)
        low, high = column.ranges
        noise = self.account.deviation(_query(self.schema, name, Clip(0.0, 1.0)), self.noise) / UNIT
        return SumQuestion(smoothed, _means(column, smoothed.counts), low[:bins], high[:bins], noise)


def settle(model: GraphicalModel, smoothed: Mapping[str, Smoothed], sums: Mapping[str, ColumnSum]) -> GraphicalModel:
    """The model with columns of numbers moved as their sums say; what depends on them stays as it is given them.

    Other marginals were measured since, whose noise moved the ends of these columns too.

    Args:
        model: of the schema's codes.
        smoothed: the runs of columns of numbers.
        sums: of some of them, with what their counts say (`ColumnSum.with_counts`).
    """
    if not sums:
        return model
    potentials = dict(model.potentials)
    for (name,), counts in model.marginals([(name,) for name in sums]).items():
        one = smoothed[name]
        bins = len(one.counts)
        moved = np.append(sums[name].followed_by(replace(one, counts=counts[:bins])).counts, counts[bins:])
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.where(counts > 0, np.log(moved / counts), 0.0)
        potentials[(name,)] = potentials[(name,)] + change if (name,) in potentials else change
    return GraphicalModel(model.domain, potentials, model.total)


def _means(column: Column, counts: np.ndarray) -> np.ndarray:
    """float64 [bins]: the mean of the numbers that are drawn in each bin."""
    return column.drawn_means(np.append(counts, np.zeros(column.size - len(counts))))


def _query(schema: Schema, name: str, clip: Clip) -> FunctionAverages:
    words = f"{inert(name)} within {clip.lower:.9g} to {clip.upper:.9g}"
    return FunctionAverages(Functions(schema, (Value(words, clip.lower, clip.upper, name),), counted=False))
