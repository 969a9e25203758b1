"""Shares of records with an event, in all and by groups."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from counterfoil.features.functions import UNIT, Functions, Share
from counterfoil.inference.bought import bought_by_name
from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.chosen_columns import with_choice
from counterfoil.inference.clamped import with_clamping
from counterfoil.inference.decided import by_schema, decided_groups
from counterfoil.inference.divided_bins import with_divided
from counterfoil.inference.event import Event, group_labels
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding
from counterfoil.inference.group_means import GroupMean, GroupMeans, findings, from_marginal
from counterfoil.inference.joined_missing import JoinedInShare, counted_apart, joined_sentence
from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.inference.pooled_marginal import PooledMarginal, pooled_marginals, total_of
from counterfoil.inference.ratio import Ratio, require_level
from counterfoil.inference.unmeasured import RowGroup, from_error_bar, require_bar
from counterfoil.receipt.answers import RecordedAnswers
from counterfoil.schema import Schema
from counterfoil.schema.asked import require_synthesized
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError


@with_caveats()
def proportion(release: Any, event: str, *, by: str | None = None, level: float = 0.95) -> list[Finding]:
    """The share of the population that has `event`; with `by`, the share within each of its values.

    It rests on the noisy counts of all marginals that hold the columns, or on the share itself where it was bought. The
    interval counts the noise and the sampling, which the finding also states apart. Where the columns were never
    counted together, it is as wide as the release's error bar on them. What the schema alone decides is said as that.
    Values beyond the bounds of a number or date count as the bound, as the finding says: one that equals a bound may
    lie beyond it.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        event: a condition in the language of the schema's rules, such as "age >= 65 and sex == 'F'", or the name of a
            function that was bought.
        by: a column.
        level: of each interval.

    Raises:
        Unanswerable: where nothing bounds the relation of the columns: with their names.
        ValueError: for a level outside (0, 1), or an unknown column.
        SchemaError: for an event that is no condition on the columns.
    """
    require_level(level)
    evidence = Evidence.of(release)
    schema = evidence.schema
    try:
        condition = Event(schema, event)
    except SchemaError:
        if by is None and (named := bought_by_name(evidence.answers, event, level)):
            return named
        raise
    columns = (
        condition.columns if by is None else schema.domain.canonical((*condition.columns, require_column(schema, by)))
    )
    about = f"share of records with {event}"
    codes = {name: np.arange(schema.domain.size((name,))) for name in columns}
    decided = decided_groups(condition, columns, codes, by)
    if None not in decided.values():
        sure = [by_schema(about, group, share, level) for group, share in decided.items() if share is not None]
        return with_clamping(sure, schema, columns)
    known = []
    for pooled in pooled_marginals(evidence.answers, columns):
        found_by_table = _from_table(evidence, pooled, condition, by)
        known.append(with_choice(found_by_table, evidence.answers, pooled))
        decided |= decided_groups(condition, columns, pooled.groups, by)
    if by is None:
        known += _bought(evidence.answers, event)
    if known:
        best = min(known, key=lambda answer: answer.preference)
        total, unit = total_of(evidence.answers), evidence.answers.unit
        found = findings(best, level, about=about, bounds=(0.0, 1.0), total=total, share=True, unit=unit)
        names = [one.group for one in best.means]
    else:
        require_bar(evidence.answers, columns)
        low, high = (part.astype(float) for part in condition.rows(evidence.codes))
        groups = row_groups(evidence, by, low, high)
        found = from_error_bar(evidence, columns, groups, level, about=about, bounds=(0.0, 1.0))
        names = [one.group for one in groups]
    shares = [decided.get(name) for name in names]
    found = [
        one if share is None else by_schema(about, name, share, level)
        for one, name, share in zip(found, names, shares, strict=True)
    ]
    return with_divided(with_clamping(found, schema, columns), condition)


def require_column(schema: Schema, name: str) -> str:
    """The name of a synthesized column.

    Raises:
        ValueError: for another, with the closest.
    """
    require_synthesized(schema, name, f"Inference is about synthesized columns. Found {name!r}.")
    return name


def table_groups(pooled: PooledMarginal, by: str | None, schema: Schema) -> list[tuple[str, np.ndarray]]:
    """The groups of `by` with 1 for their cells; all cells in one where it is None."""
    if by is None:
        return [("", np.ones_like(pooled.counts))]
    slots = [1] * pooled.counts.ndim
    slots[pooled.columns.index(by)] = -1
    labels = group_labels(schema, by, pooled.groups[by])
    inside = [(np.arange(len(labels)) == group).astype(float).reshape(slots) for group in range(len(labels))]
    return [(label, np.broadcast_to(part, pooled.counts.shape)) for label, part in zip(labels, inside, strict=True)]


def row_groups(evidence: Evidence, by: str | None, low: np.ndarray, high: np.ndarray) -> list[RowGroup]:
    """The groups of the synthetic rows [rows] by their code in `by`."""
    if by is None:
        return [RowGroup("", np.ones(len(low), dtype=bool), low, high)]
    codes = evidence.codes[by]
    labels: Sequence[str] = evidence.schema[by].labels
    return [RowGroup(f"{by} = {label}", codes == code, low, high) for code, label in enumerate(labels)]


def _from_table(evidence: Evidence, pooled: PooledMarginal, condition: Event, by: str | None) -> GroupMeans:
    """The shares by a table. Where missing cells, or those of `other`, were counted with values that decide the event,
    they count as these, and intervals allow for how many they may be."""
    answers = evidence.answers
    groups = table_groups(pooled, by, answers.schema)
    low, high = (part.astype(float) for part in condition.cells(pooled.columns, pooled.groups))
    joined = _joined(answers, pooled, condition, by)
    least, most = (part.astype(float) for part in _cells(pooled, condition, joined))
    if np.array_equal(low, least) and np.array_equal(high, most):
        drawn = _drawn_shares(evidence, pooled, condition, by, groups, low != high)
        return from_marginal(pooled, low, high, groups, indicator=True, drawn=drawn)
    for one in [*joined]:
        without = {other: count for other, count in joined.items() if other != one}
        if all(map(np.array_equal, _cells(pooled, condition, without), (least, most))):
            joined = without
    among = JoinedInShare(functools.reduce(operator.add, joined.values()), len(joined))
    drawn = _drawn_shares(evidence, pooled, condition, by, groups, least != most)
    found = from_marginal(pooled, least, most, groups, indicator=True, drawn=drawn, joined=among)
    said = (
        joined_sentence(name, count, "others of its values", cells=_cells_of(answers.schema[name], code))
        for (name, code), count in joined.items()
    )
    return replace(found, basis=(*found.basis, *said))


def _drawn_shares(
    evidence: Evidence,
    pooled: PooledMarginal,
    condition: Event,
    by: str | None,
    groups: Sequence[tuple[str, np.ndarray]],
    is_open: np.ndarray,
) -> list[float | None] | None:
    """For each group the share of its synthetic rows, where the table leaves it open; None where it does not, or codes
    do not decide the event either, as where it divides a bin."""
    codes = {name: np.arange(len(one)) for name, one in pooled.groups.items()}
    divided = np.not_equal(*condition.cells(pooled.columns, codes)).any()
    if divided or not is_open.any() or evidence.conditional is not None:
        return None
    has, _ = condition.rows(evidence.codes)
    members = np.zeros(len(has), dtype=np.int64) if by is None else pooled.groups[by][evidence.codes[by]]
    drawn: list[float | None] = []
    for group, (_, cells) in enumerate(groups):
        rows = members == group
        asked = rows.any() and (is_open & (cells > 0)).any()
        drawn.append(float(has[rows].mean()) if asked else None)
    return drawn


def _cells(
    pooled: PooledMarginal, condition: Event, joined: Mapping[tuple[str, int], LinearAnswer]
) -> tuple[np.ndarray, np.ndarray]:
    passed = dict[str, list[int]]()
    for name, code in joined:
        passed.setdefault(name, []).append(code)
    return condition.cells(pooled.columns, pooled.groups, passed=passed)


def _joined(
    answers: RecordedAnswers, pooled: PooledMarginal, condition: Event, by: str | None
) -> dict[tuple[str, int], LinearAnswer]:
    """How many records have a code of the event's columns that a table counts with other values, by column and code.

    Such codes are those of missing cells and of `other`, which rows have that nobody expected.
    """
    found = dict[tuple[str, int], LinearAnswer]()
    for name in condition.columns:
        column, groups = answers.schema[name], pooled.groups[name]
        left = np.ones(len(groups), dtype=bool)
        for code in _rare_codes(column) if name != by else ():
            if (left & (groups == groups[code])).sum() > 1 and (
                count := counted_apart(answers, name, code)
            ) is not None:
                found[name, code] = count
                left[code] = False
    return found


def _rare_codes(column: Column) -> Iterator[int]:
    if column.missing_code is not None:
        yield column.missing_code
    if isinstance(column, Categorical) and column.other:
        yield column.n_bins - 1


def _cells_of(column: Column, code: int) -> str:
    return "Missing cells" if code == column.missing_code else "Cells that count as `other`"


def _bought(answers: RecordedAnswers, event: str) -> list[GroupMeans]:
    """Shares that were bought directly for the same event, of all records."""
    found = []
    for place, averages in enumerate(answers.averages):
        if not isinstance(averages.family, Functions):
            continue
        for row, function in enumerate(averages.family.functions, int(averages.family.counted)):
            if isinstance(function, Share) and function.expression.split() == event.split():
                source = Source(averages.charge, ("averages", place, row), averages.noise, averages.scale)
                top = LinearAnswer(float(averages.sums[row]) / UNIT, {source: np.array(1 / UNIT)})
                ratio = Ratio(top, total_of(answers))
                deviation = averages.deviation / UNIT
                sentence = (
                    f"Charge {averages.charge} bought this share: the noise in the number of records that have it has "
                    f"standard deviation {deviation:.3g}."
                )
                found.append(GroupMeans((GroupMean("", ratio, ratio),), 0.0, (sentence,)))
    return found
