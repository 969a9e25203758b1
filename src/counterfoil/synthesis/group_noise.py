"""A sentence for the receipt on numbers whose means by groups noise moves far, although the pair was counted.

Of results of a laboratory, one column holds the numbers and another one what was measured. Noise in the cells of the
pair puts some records of each group at numbers that only other groups have: potassiums of 140 doubled their mean.

Post-processing: the noise of the answers and shares of the model, no record is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.answers import KINDS, deviation_of
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_FAR = 1.0
"""Of the range of the middle half of a group's rows: what noise may move its mean by that is more is far."""
_MOST_ROWS = 0.2
"""Small groups are noisy in any release: it is said where those with far means hold more of the rows than this."""
_MOST_GROUPS = 30
_FEWEST_BINS = 5
_NAMED = 3
_QUARTILES = (0.25, 0.75)


@dataclass(frozen=True)
class _Counted:
    """An answer about a pair.

    Args:
        clique: the two columns.
        codes: for each of them int64 [size], which codes were counted together.
        deviation: of the noise of a count.
    """

    clique: Clique
    codes: tuple[np.ndarray, np.ndarray]
    deviation: float


def noisy_groups(curator: Curator, model: TableModel) -> list[str]:
    """The sentence; none where means by groups are known well enough.

    Args:
        curator: that answered.
        model: fitted to the answers.
    """
    counted = [one for one in _counted(curator) if _kinds(curator, one.clique)]
    tables = model.marginals([one.clique for one in counted]) if counted else {}
    errors: dict[tuple[str, str], np.ndarray] = {}
    shares: dict[tuple[str, str], np.ndarray] = {}
    for one in counted:
        for number, group in _kinds(curator, one.clique):
            table, codes = tables[one.clique], one.codes
            if one.clique[0] == number:
                table, codes = table.T, codes[::-1]
            error, shares[number, group] = _errors(curator.schema[number], table, codes, one.deviation)
            errors[number, group] = np.minimum(errors.get((number, group), np.inf), error)
    found = sorted(((float(shares[pair][errors[pair] > _FAR].sum()), *pair) for pair in errors), reverse=True)
    said = [f"{number} by {group} ({share:.0%} of the rows)" for share, number, group in found if share > _MOST_ROWS]
    if not said:
        return []
    more = f" and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return [
        f"Means by groups are unreliable: of {', '.join(said[:_NAMED])}{more}. For so many rows noise may move the "
        "mean of their group by more than the range in which the middle half of the group lies, and its deviation "
        "further. `counterfoil infer RELEASE mean COLUMN --by GROUP` says how far; closer bounds, `edges`, a column or "
        "a table for each group, or more epsilon help."
    ]


def _kinds(curator: Curator, clique: Clique) -> list[tuple[str, str]]:
    """Which column of a pair is one of numbers, and which one has groups."""
    return [
        (number, group)
        for number, group in (clique, clique[::-1])
        if isinstance(curator.schema[number], Integer | Real)
        and isinstance(curator.schema[group], Categorical)
        and curator.schema[number].n_bins >= _FEWEST_BINS
        and curator.schema[group].size <= _MOST_GROUPS
    ]


def _counted(curator: Curator) -> Iterator[_Counted]:
    for _, query, answer in curator.account.answers if curator.account else ():
        if not isinstance(query, MarginalCounts) or answer.noise.kind not in KINDS:
            continue
        deviation = deviation_of(answer.noise.kind, answer.scale)
        for clique, unit in zip(query.cliques, query.each_unit, strict=True):
            if len(clique) == 2:
                one, other = (
                    np.arange(curator.domain[name]) if query.coarsening is None else query.coarsening.codes[name]
                    for name in clique
                )
                yield _Counted(clique, (one, other), deviation / unit)


def _errors(
    column: Column, table: np.ndarray, codes: tuple[np.ndarray, np.ndarray], deviation: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each group two standard errors of its mean, in ranges of its middle half, and its share of the rows.

    A fit leaves no more noise in a cell than it has records there.

    Args:
        column: of numbers.
        table: float64 [groups, codes of the column], of the model.
        codes: which groups, and which codes, were counted together.
        deviation: of the noise of a count.
    """
    groups, cells = codes
    order = np.argsort(column.centers[: column.n_bins], kind="stable")
    centers, cells = column.centers[: column.n_bins][order], cells[: column.n_bins][order]
    counts = _added(table[:, : column.n_bins][:, order], groups)
    in_cells, moments = _added(counts.T, cells).T, _added((counts * centers).T, cells).T
    rows = np.maximum(counts.sum(axis=1), 1e-9)
    middles = moments / np.maximum(in_cells, 1e-300)
    noise = np.minimum(in_cells, deviation) * (middles - (moments.sum(axis=1) / rows)[:, None])
    below = np.cumsum(counts, axis=1) / rows[:, None]
    low, high = (centers[np.minimum((below < level).sum(axis=1), len(centers) - 1)] for level in _QUARTILES)
    ranges = high - low
    error = np.where(ranges > 0, 2 * np.linalg.norm(noise, axis=1) / rows / np.where(ranges > 0, ranges, 1.0), 0.0)
    return error[groups], table.sum(axis=1) / max(float(table.sum()), 1e-9)


def _added(rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The sums of rows [n, m] with the same code."""
    sums = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(sums, codes, rows)
    return sums
