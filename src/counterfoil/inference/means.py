"""Means of columns of numbers, in all and by groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from counterfoil.features.functions import UNIT, Functions, Value
from counterfoil.features.moments import Moments
from counterfoil.inference.bought import bought_by_name
from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.chosen_columns import with_choice
from counterfoil.inference.clamped import with_clamping
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.group_means import GroupMean, GroupMeans, from_marginal, narrowest, spread_of
from counterfoil.inference.joined_missing import JoinedInMean, joined_sentence, missing_apart
from counterfoil.inference.left_out import with_left_out
from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.inference.pooled_marginal import PooledMarginal, pooled_marginals, total_of
from counterfoil.inference.proportions import require_column, row_groups, table_groups
from counterfoil.inference.ratio import Ratio, require_level
from counterfoil.inference.unmeasured import from_error_bar, require_bar
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages
from counterfoil.schema import Schema
from counterfoil.schema.column import Column


@with_caveats()
def mean(release: Any, column: str, *, by: str | None = None, level: float = 0.95) -> list[Finding]:
    """The mean of a column of numbers among the records that have one; with `by`, within each of its values.

    Numbers count as moved into the declared bounds, as the finding says. It rests on moments, or an average of the
    column, where they were bought, or on the noisy counts of marginals: of a bin they tell its ends alone, and the
    interval is wider by that, which the finding states apart. Within the interval the estimate is the synthetic rows'
    own. Where several of them tell the mean, the narrowest interval is given, at its level (`narrowest`).

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        column: of numbers, or of true and false; or the name of a function that was bought.
        by: another column.
        level: of each interval.

    Raises:
        Unanswerable: where nothing bounds the relation of the columns: with their names.
        ValueError: for a level outside (0, 1), an unknown column, or one without numbers.
    """
    require_level(level)
    evidence = Evidence.of(release)
    schema, answers = evidence.schema, evidence.answers
    if column not in schema.domain.attributes and by is None and (named := bought_by_name(answers, column, level)):
        return named
    numbers = require_numbers(schema, column)
    columns = schema.domain.canonical((column,) if by is None else (column, require_column(schema, by)))
    bounds = float(np.nanmin(numbers.ranges[0])), float(np.nanmax(numbers.ranges[1]))
    bounds = bounds if bounds[0] < bounds[1] else (bounds[0], bounds[0] + 1.0)
    known, joined = _from_tables(evidence, columns, numbers, by, bounds)
    known += _from_moments(answers, column, by) + (_averaged(answers, numbers, bounds) if by is None else [])
    known, about = known or joined, f"mean of {column}"
    if known:
        found = narrowest(known, level, about=about, bounds=bounds, total=total_of(answers), unit=answers.unit)
        return with_clamping(with_left_out(found, answers, column), schema, columns, averaged=column)
    if pooled_marginals(answers, columns):
        raise Unanswerable(
            f"Missing values of {column} were counted together with others and never apart, so that its mean "
            "does not follow: ask for it in a new release, by --queries (in Python, `queries` of `Reweighting`)."
        )
    require_bar(answers, columns)
    found = _of_rows(evidence, columns, numbers, by, level, bounds)
    return with_clamping(with_left_out(found, answers, column), schema, columns, averaged=column)


def require_numbers(schema: Schema, name: str) -> Column:
    """The column of that name, whose values are numbers, or true and false.

    Raises:
        ValueError: for another.
    """
    column = schema[require_column(schema, name)]
    if column.comparable not in ("number", "boolean"):
        raise ValueError(
            f"A mean is of a column of numbers. Found {name!r}, which is {column.kind}: ask for proportions of its "
            "values."
        )
    return column


def _scaled(column: Column, bounds: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """float64 [codes] twice: the ends of each code, scaled to [0, 1]; NaN for missing."""
    low, high = ((ends - bounds[0]) / (bounds[1] - bounds[0]) for ends in column.ranges)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _from_tables(
    evidence: Evidence, columns: tuple[str, ...], column: Column, by: str | None, bounds: tuple[float, float]
) -> tuple[list[GroupMeans], list[GroupMeans]]:
    """The ways by tables where missing cells were counted apart, and those where they were counted with numbers."""
    apart, joined = list[GroupMeans](), list[GroupMeans]()
    missing = missing_apart(evidence.answers, column.name)
    for pooled in pooled_marginals(evidence.answers, columns):
        ends, mixed = _ends_of_groups(column, pooled.groups[column.name], bounds)
        if mixed.any() and missing is None:
            continue
        unasked = np.array_equal(*ends, equal_nan=True) or evidence.conditional is not None
        groups = pooled.groups[by] if by else None
        drawn = None if unasked else _drawn_means(evidence, column, bounds, groups, by)
        among = None
        if mixed.any() and missing is not None:
            among = JoinedInMean(missing, 1, float(ends[0][mixed].max()), float(ends[1][mixed].min()))
        found = _from_table(pooled, column.name, ends, by, evidence.schema, drawn, among)
        found = with_choice(found, evidence.answers, pooled)
        if among is None:
            apart.append(found)
        else:
            low, high = (f"{bounds[0] + (bounds[1] - bounds[0]) * end:.6g}" for end in (among.low, among.high))
            numbers = f"numbers of {low}" if low == high else f"numbers of {low} to {high}"
            said = joined_sentence(column.name, among.missing, numbers)
            joined.append(replace(found, basis=(*found.basis, said)))
    return apart, joined


def _drawn_means(
    evidence: Evidence, column: Column, bounds: tuple[float, float], groups: np.ndarray | None, by: str | None
) -> list[float | None]:
    """For each group of the codes of `by` the mean, scaled to [0, 1], of the synthetic rows; None where it has none.

    The rows have numbers within their bins: as dense there as the counts of neighboring bins suggest.
    """
    numbers = _drawn_numbers(evidence, column, bounds)
    there = ~np.isnan(numbers)
    members = np.zeros(len(numbers), dtype=np.int64) if groups is None or by is None else groups[evidence.codes[by]]
    size = 1 if groups is None else int(groups.max()) + 1
    rows = np.bincount(members[there], minlength=size)
    sums = np.bincount(members[there], weights=numbers[there], minlength=size)
    return [float(top / below) if below else None for top, below in zip(sums, rows, strict=True)]


def _drawn_numbers(evidence: Evidence, column: Column, bounds: tuple[float, float]) -> np.ndarray:
    """float64 [rows]: the numbers of the synthetic rows, scaled to [0, 1]; NaN where missing."""
    numbers = column.numbers(evidence.table.column(column.name))
    return np.clip((numbers - bounds[0]) / (bounds[1] - bounds[0]), 0, 1)


def _ends_of_groups(
    column: Column, groups: np.ndarray, bounds: tuple[float, float]
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """float64 [groups] twice: the ends of the numbers in each group of codes, NaN where it has none; bool [groups]:
    which of them hold missing cells beside numbers."""
    low, high = _scaled(column, bounds)
    size = int(groups.max()) + 1
    there = ~np.isnan(low)
    present = np.bincount(groups, weights=there, minlength=size)
    mixed = (present > 0) & (present < np.bincount(groups, minlength=size))
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(least, groups[there], low[there])
    np.maximum.at(most, groups[there], high[there])
    return (np.where(present > 0, least, np.nan), np.where(present > 0, most, np.nan)), mixed


def _from_table(
    pooled: PooledMarginal,
    name: str,
    ends: tuple[np.ndarray, np.ndarray],
    by: str | None,
    schema: Schema,
    drawn: list[float | None] | None,
    joined: JoinedInMean | None,
) -> GroupMeans:
    slots = [1] * pooled.counts.ndim
    slots[pooled.columns.index(name)] = -1
    present = np.broadcast_to(~np.isnan(ends[0]).reshape(slots), pooled.counts.shape)
    low, high = (np.broadcast_to(np.nan_to_num(end).reshape(slots), pooled.counts.shape) for end in ends)
    groups = [(label, members * present) for label, members in table_groups(pooled, by, schema)]
    return from_marginal(pooled, low, high, groups, indicator=False, drawn=drawn, joined=joined)


def _from_moments(answers: RecordedAnswers, column: str, by: str | None) -> list[GroupMeans]:
    found = []
    for place, averages in enumerate(answers.averages):
        if isinstance(averages.family, Moments):
            found += _moments(answers, averages, averages.family, place, column, by)
    return found


def _moments(
    answers: RecordedAnswers, averages: RecordedAverages, family: Moments, place: int, column: str, by: str | None
) -> list[GroupMeans]:
    """The means from sums z of the numbers scaled to [-1, 1]: the number in [0, 1] is (z + 1) / 2 where it is there.

    Squares are in moments of order 2, of all records alone; without them the spread is bounded.
    """
    columns = answers.schema.synthesized
    names = [one.name for one in columns]
    u = names.index(column)
    if not columns[u].is_ordered or (by is not None and (family.order < 2 or columns[names.index(by)].is_ordered)):
        return []

    def answer(*features: tuple[int, int]) -> LinearAnswer:
        entry = family.place(*features)
        source = Source(averages.charge, ("moments", place, "entry", entry), averages.noise, averages.scale)
        return LinearAnswer(float(averages.sums[entry]) / family.unit, {source: np.array(1 / family.unit)})

    groups: list[tuple[str, tuple[tuple[int, int], ...]]] = [("", ())]
    if by is not None:
        v = names.index(by)
        groups = [(f"{by} = {label}", ((v, code),)) for code, label in enumerate(columns[v].labels)]
    means = []
    for label, members in groups:
        everyone = answer(*members) if members else total_of(answers)
        present = everyone - answer((u, 1), *members) if columns[u].missing else everyone
        scaled = answer((u, 0), *members)
        top = (scaled + present) * 0.5
        squares = (
            (answer((u, 0), (u, 0)) + scaled * 2.0 + present) * 0.25 if family.order == 2 and not members else None
        )
        ratio = Ratio(top, present, None if squares is None else spread_of(top, present, squares))
        means.append(GroupMean(label, ratio, ratio))
    deviation = averages.deviation / family.unit
    sentence = (
        f"Charge {averages.charge} bought moments: the noise in each sum of numbers scaled to [-1, 1] has standard "
        f"deviation {deviation:.3g}."
    )
    return [GroupMeans(tuple(means), 0.0, (sentence,))]


def _averaged(answers: RecordedAnswers, column: Column, bounds: tuple[float, float]) -> list[GroupMeans]:
    """Averages of the column within at least its bounds, where no value is missing."""
    found = []
    for place, averages in enumerate(answers.averages):
        if not isinstance(averages.family, Functions) or column.missing:
            continue
        for row, function in enumerate(averages.family.functions, int(averages.family.counted)):
            if not isinstance(function, Value) or function.column != column.name:
                continue
            if function.lower > bounds[0] or function.upper < bounds[1]:
                continue
            source = Source(averages.charge, ("averages", place, row), averages.noise, averages.scale)
            bought = LinearAnswer(float(averages.sums[row]) / UNIT, {source: np.array(1 / UNIT)})
            width, total = bounds[1] - bounds[0], total_of(answers)
            top = bought * ((function.upper - function.lower) / width) + total * ((function.lower - bounds[0]) / width)
            ratio = Ratio(top, total)
            deviation = averages.deviation / UNIT * (function.upper - function.lower)
            sentence = (
                f"Charge {averages.charge} bought this average: the noise in the sum has standard deviation "
                f"{deviation:.3g}."
            )
            found.append(GroupMeans((GroupMean("", ratio, ratio),), 0.0, (sentence,)))
    return found


def _of_rows(
    evidence: Evidence,
    columns: tuple[str, ...],
    column: Column,
    by: str | None,
    level: float,
    bounds: tuple[float, float],
) -> list[Finding]:
    codes = evidence.codes[column.name]
    low, high = (ends[codes] for ends in _scaled(column, bounds))
    groups = row_groups(evidence, by, np.nan_to_num(low), np.nan_to_num(high))
    drawn = _drawn_numbers(evidence, column, bounds)
    present = [replace(one, members=one.members & ~np.isnan(low), drawn=drawn) for one in groups]
    return from_error_bar(evidence, columns, present, level, about=f"mean of {column.name}", bounds=bounds)
