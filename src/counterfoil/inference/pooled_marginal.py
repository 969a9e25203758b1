"""One noisy table of some columns, from all answers in which they were counted together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.features.moments import Moments
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.answers import RecordedAnswers, RecordedAverages

Patterns = Mapping[str, np.ndarray]
"""For each column, int64 [codes]: the group in which each code was counted."""


@dataclass(frozen=True, eq=False)
class CountedTable:
    """Noisy counts as they were bought: of a marginal, or of pairs of categories among moments.

    Args:
        columns: the columns, in the schema's order.
        counts: float64, shaped by the groups of each column.
        groups: the group of each code of columns that were counted in groups.
        source: their noise, in records.
    """

    columns: Clique
    counts: np.ndarray
    groups: Patterns
    source: Source


@dataclass(frozen=True, eq=False)
class PooledMarginal:
    """A noisy table of some columns with independent noise of one variance in each cell, and the number of records.

    Each table that holds the columns is summed down to them, and the tables are averaged with the inverses of their
    variances as weights, which is the best linear unbiased estimate of the cells from these tables. With c the result,
    v the variance of a cell, m the number of cells and n_hat the number of records, a linear function g of the cells is
    estimated by g.c + mean(g) (n_hat - sum c): the difference of the two totals is spread evenly. Where n_hat has the
    variance v_n and is uncorrelated with c - sum(c) / m, as any weighted average of the tables' totals is, the errors
    of the result have the covariance v (I - J / m) + v_n J / m**2, J being the matrix of ones.

    Args:
        columns: the columns, in the schema's order.
        groups: the group of each code of each column.
        counts: float64, shaped by the groups: the averaged counts c.
        parts: the tables with their weights.
        total: the number of records.
    """

    columns: Clique
    groups: Patterns
    counts: np.ndarray
    parts: tuple[tuple[CountedTable, float], ...]
    total: LinearAnswer

    @property
    def variance(self) -> float:
        """Of the noise in a cell of `counts`."""
        size = self.counts.size
        return sum(weight**2 * part.source.variance * part.source.cells / size for part, weight in self.parts)

    @property
    def excess(self) -> float:
        """The kurtosis of the noise in a cell of `counts` beyond that of the normal law: 3 for one Laplace noise."""
        size = self.counts.size
        laplace = [(part.source, weight) for part, weight in self.parts if part.source.noise == LaplaceNoise.kind]
        fourth = sum(3 * weight**4 * source.variance**2 * source.cells / size for source, weight in laplace)
        return fourth / self.variance**2

    def of(self, weights: np.ndarray) -> LinearAnswer:
        """The sum over cells of `weights`, shaped like `counts`, times the real counts."""
        mean = float(weights.mean())
        spread = (weights - mean).ravel()
        terms = {part.source: weight * spread for part, weight in self.parts}
        return LinearAnswer(float(spread @ self.counts.ravel()), terms) + self.total * mean

    @property
    def charges(self) -> tuple[int, ...]:
        """The charges that bought the tables."""
        return tuple(sorted({part.source.charge for part, _ in self.parts}))

    @property
    def sentence(self) -> str:
        """What it rests on."""
        deviation, size = math.sqrt(self.variance), self.counts.size
        numbers = ", ".join(map(str, self.charges))
        bought = f"charge {numbers} counted" if len(self.charges) == 1 else f"charges {numbers} together counted"
        by = ", ".join(self.columns)
        return (
            f"{bought} the records by {by}: the noise in each of {size:,} cells has standard deviation {deviation:.3g}"
            f"{self._merged}"
        )

    @property
    def _merged(self) -> str:
        """Which columns were counted in fewer groups than they have values; empty where none was."""
        sizes = {
            name: (len(groups), self.counts.shape[axis]) for axis, (name, groups) in enumerate(self.groups.items())
        }
        merged = [
            f"{name} ({values:,} values or bins in {count:,} {'group' if count == 1 else 'groups'})"
            for name, (values, count) in sizes.items()
            if count < values
        ]
        return f"; counted in groups: {', '.join(merged)}" if merged else ""


def counted_tables(answers: RecordedAnswers) -> tuple[CountedTable, ...]:
    """All tables of counts on a receipt: its marginals, and the categories and pairs of categories among moments."""
    tables = [
        CountedTable(
            one.clique,
            one.counts.astype(float),
            one.groups,
            Source(one.charge, (place,), one.noise, one.scale, one.counts.size),
        )
        for place, one in enumerate(answers.marginals)
    ]
    for place, averages in enumerate(answers.averages):
        if isinstance(averages.family, Moments):
            tables += _tables_of_moments(averages, averages.family, place)
    return tuple(tables)


def total_of(answers: RecordedAnswers) -> LinearAnswer:
    """The number of records: public, or the average of the totals of all tables and of all counts of the records, with
    the inverses of their variances as weights.

    Raises:
        Unanswerable: where nothing on the receipt says it.
    """
    return CountedTogether(answers).total


def pooled_marginals(answers: RecordedAnswers, columns: Sequence[str]) -> list[PooledMarginal]:
    """The pooled tables of `columns`: see `CountedTogether.pooled`, which is for many questions about one receipt."""
    return CountedTogether(answers).pooled(columns)


class CountedTogether:
    """All tables of counts on a receipt, each under its columns: they are read once for any number of questions.

    A release of 75 columns holds 6,000 tables and 2,775 pairs of columns.

    Args:
        answers: what the receipt records.
    """

    def __init__(self, answers: RecordedAnswers) -> None:
        self._answers = answers
        self.tables = counted_tables(answers)
        self._of: dict[str, dict[int, CountedTable]] = {}
        for place, table in enumerate(self.tables):
            for name in table.columns:
                self._of.setdefault(name, {})[place] = table

    @cached_property
    def total(self) -> LinearAnswer:
        """The number of records: see `total_of`."""
        answers = self._answers
        if answers.records is not None:
            return LinearAnswer(float(answers.records), {})
        known = [(table.source, float(table.counts.sum()), 1.0) for table in self.tables]
        for place, one in enumerate(answers.averages):
            if one.counted:
                source = Source(one.charge, ("averages", place, 0), one.noise, one.scale)
                known.append((source, float(one.sums[0] * one.slopes[0]), float(one.slopes[0])))
        if not known:
            raise Unanswerable(
                "The number of records was never measured, nor is it public: nothing can be said of shares."
            )
        precisions = np.array([1 / (source.variance * source.cells * unit**2) for source, _, unit in known])
        weights = precisions / precisions.sum()
        terms = {
            source: np.array(weight * unit) for (source, _, unit), weight in zip(known, weights.tolist(), strict=True)
        }
        return LinearAnswer(float(weights @ [value for _, value, _ in known]), terms)

    @cached_property
    def total_variance(self) -> float:
        """The variance of the noise in `total`."""
        return self.total.covariance(self.total)

    def pooled(self, columns: Sequence[str]) -> list[PooledMarginal]:
        """The pooled tables of `columns`: one for each way in which their codes were counted in groups, none where
        they were never counted together.

        Tables with other groups are not pooled: groups were chosen by looking at earlier noisy counts, so that the
        noise of those, added up over a group, is not centered.
        """
        domain = self._answers.schema.domain
        wanted = domain.canonical(columns)
        by_pattern: dict[tuple[bytes, ...], list[CountedTable]] = {}
        for table in self._holding(wanted):
            groups = {name: _groups(table, name, domain[name]) for name in wanted}
            by_pattern.setdefault(tuple(groups[name].tobytes() for name in wanted), []).append(table)
        return [_pooled(wanted, tables, domain.shape(wanted), self.total) for tables in by_pattern.values()]

    def _holding(self, wanted: Clique) -> list[CountedTable]:
        """The tables that hold all these columns, in the order of the receipt."""
        if not wanted:
            return list(self.tables)
        fewest, *others = sorted((self._of.get(name, {}) for name in wanted), key=len)
        return [table for place, table in fewest.items() if all(place in other for other in others)]


def _groups(table: CountedTable, name: str, size: int) -> np.ndarray:
    return np.asarray(table.groups.get(name, np.arange(size)), dtype=np.int64)


def _pooled(wanted: Clique, tables: list[CountedTable], shape: tuple[int, ...], total: LinearAnswer) -> PooledMarginal:
    groups = {name: _groups(tables[0], name, size) for name, size in zip(wanted, shape, strict=True)}
    precisions = np.array([1 / (table.source.variance * table.source.cells) for table in tables])
    weights = precisions / precisions.sum()
    summed = [
        table.counts.sum(axis=tuple(axis for axis, name in enumerate(table.columns) if name not in wanted))
        for table in tables
    ]
    counts = np.einsum("k,k...->...", weights, np.stack(summed))
    return PooledMarginal(wanted, groups, counts, tuple(zip(tables, weights.tolist(), strict=True)), total)


def _tables_of_moments(averages: RecordedAverages, family: Moments, place: int) -> list[CountedTable]:
    """Sums of a column's indicators are counts of its codes, and sums of their products those of pairs of codes."""
    features, tables = family.features, []
    categories = [u for u, column in enumerate(features.columns) if not column.is_ordered]
    blocks: list[tuple[int, ...]] = [(u,) for u in categories]
    blocks += list(itertools.combinations(categories, 2)) if family.order == 2 else []
    for block in blocks:
        shape = tuple(features.sizes[u] for u in block)
        start = family.place(*((u, 0) for u in block))
        size = math.prod(shape)
        counts = averages.sums[start : start + size].reshape(shape) / family.unit
        source = Source(averages.charge, ("moments", place, *block), averages.noise, averages.scale / family.unit, size)
        tables.append(CountedTable(tuple(features.columns[u].name for u in block), counts, {}, source))
    return tables
