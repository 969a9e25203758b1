"""The noisy counts that a release bought, as two plain tables: of single columns, and of pairs counted together.

They stand on the receipt, from which they are written and compared, so that they cost nothing more. Counts are as they
were bought: negative ones stay negative, and the counts of a column need not add up to those of another, because
every correction of that kind would add a bias that nobody could see afterwards. Numbers and dates are counted as their
schema clamps them, so that the cell of a bound also holds what lies beyond it: a column of its own says so.
"""

from __future__ import annotations

import io
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.domain.domain import Clique
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.pooled_marginal import CountedTable, counted_tables
from counterfoil.receipt.answers import AT_ONCE, RecordedAnswers
from counterfoil.schema import Schema
from counterfoil.schema.clamping import clamping_of
from counterfoil.schema.column import Column
from counterfoil.schema.plain_arrays import array_of
from counterfoil.synthesis.csv_writing import write_csv

ONE_WAY, PAIRS = "noisy_tables/one_way.csv", "noisy_tables/pairs.csv"
KEYS: Mapping[str, tuple[str, ...]] = {
    ONE_WAY: ("column", "value", "beyond"),
    PAIRS: ("column_1", "value_1", "beyond_1", "column_2", "value_2", "beyond_2"),
}
"""The columns that say what is counted, by table."""

BELOW, ABOVE, BOTH = "and below", "and above", "and all others"
"""What the cells at the bounds of a number or date hold besides their own values."""

COUNTS = ("noisy_count", "standard_error", "half_width_95", "charges")
"""The columns that follow the names and values."""

MOST_ROWS = 500_000
"""Rows of the table of pairs; of more, the smallest pairs are kept, and last those of a look at all pairs."""

LEVEL = 0.95
_FIGURES = re.compile(r",(-?\d+(?:\.\d{3})?),(\d+(?:\.\d{3})?),(\d+(?:\.\d{3})?),([\d ]+)\n")
"""The end of a row."""

LISTED, ENDING = 20, 2
"""Values of a group that its label names, and how many of them are its last ones: so a range shows where it ends, also
where missing cells, which come last, are in the group."""


@dataclass(frozen=True, eq=False)
class Averaged:
    """Noisy counts of one or two columns: the average of all answers that counted them in the same groups of codes.

    Args:
        columns: the columns, in the schema's order.
        groups: for each of them, int64 [codes]: the group in which each code was counted.
        counts: float64, shaped by the groups.
        parts: the answers' tables, with their weights.
    """

    columns: Clique
    groups: tuple[np.ndarray, ...]
    counts: np.ndarray
    parts: tuple[tuple[CountedTable, float], ...]


@dataclass(frozen=True)
class NoisyTables:
    """Texts of CSV files, and what they leave out.

    Args:
        texts: by path within the release.
        columns: how many columns are counted.
        pairs: which pairs are counted together.
        left_out: how many pairs were too large to be written.
    """

    texts: Mapping[str, str]
    columns: int
    pairs: tuple[tuple[str, str], ...]
    left_out: int


def noisy_tables(answers: RecordedAnswers, *, former: bool = False) -> NoisyTables:
    """The tables of the counts on a receipt; where `former`, as versions before 0.13 wrote them, to be compared.

    A pair is there where one answer counted the two columns together. Answers about the same columns are averaged with
    the inverses of their variances as weights; those that counted codes in other groups are tables of their own.
    """
    schema, by_columns = answers.schema, _by_columns(answers)
    columns = [counts for names, counts in by_columns if len(names) == 1]
    pairs = [counts for names, counts in by_columns if len(names) == 2]
    kept = _smallest(pairs)
    texts = {}
    if columns:
        texts[ONE_WAY] = _text(ONE_WAY, schema, columns, former=former)
    if kept:
        texts[PAIRS] = _text(PAIRS, schema, kept, former=former)
    named = tuple(dict.fromkeys((counts.columns[0], counts.columns[1]) for counts in kept))
    return NoisyTables(texts, len({counts.columns for counts in columns}), named, len(pairs) - len(kept))


def alike(one: str, other: str) -> bool:
    """Whether two texts of such a table say the same: their words to the letter, their figures but for rounding."""
    if one == other:
        return True
    shown, expected = (_FIGURES.findall(text) for text in (one, other))
    if _FIGURES.sub("\n", one) != _FIGURES.sub("\n", other) or len(shown) != len(expected):
        return False
    return all(
        mine[-1] == theirs[-1] and np.allclose(_floats(mine[:-1]), _floats(theirs[:-1]), rtol=1e-5, atol=2e-3)
        for mine, theirs in zip(shown, expected, strict=True)
    )


def says_beyond(text: str) -> bool:
    """Whether a table, of which this is the beginning or all, has the columns that say what lies beyond the bounds.

    Versions before 0.13 did not write them.
    """
    return any(name.startswith("beyond") for name in text.partition("\n")[0].split(","))


def _floats(texts: Sequence[str]) -> list[float]:
    return [float(text) for text in texts]


def _by_columns(answers: RecordedAnswers) -> list[tuple[Clique, Averaged]]:
    """The averaged counts of each column and each pair that were counted, in the schema's order."""
    domain = answers.schema.domain
    found: dict[tuple[Clique, tuple[bytes, ...]], list[CountedTable]] = {}
    groups: dict[tuple[bytes, ...], tuple[np.ndarray, ...]] = {}
    for table in counted_tables(answers):
        of = {name: np.asarray(table.groups.get(name, np.arange(domain[name])), np.int64) for name in table.columns}
        for names in (*itertools.combinations(table.columns, 1), *itertools.combinations(table.columns, 2)):
            pattern = tuple(of[name].tobytes() for name in names)
            groups[pattern] = tuple(of[name] for name in names)
            found.setdefault((names, pattern), []).append(table)
    averaged = [(names, _averaged(names, groups[pattern], tables)) for (names, pattern), tables in found.items()]
    places = {name: place for place, name in enumerate(domain.attributes)}
    return sorted(averaged, key=lambda one: [places[name] for name in one[0]])


def _averaged(names: Clique, groups: tuple[np.ndarray, ...], tables: Sequence[CountedTable]) -> Averaged:
    """A count that adds up m cells of an answer has m times the variance of a cell."""
    shape = tuple(int(of.max()) + 1 for of in groups)
    precisions = np.array([1 / (table.source.variance * table.counts.size / math.prod(shape)) for table in tables])
    weights = precisions / precisions.sum()
    summed = [
        table.counts.sum(axis=tuple(axis for axis, name in enumerate(table.columns) if name not in names))
        for table in tables
    ]
    counts = np.einsum("k,k...->...", weights, np.stack(summed))
    return Averaged(names, groups, counts, tuple(zip(tables, weights.tolist(), strict=True)))


def _smallest(pairs: Sequence[Averaged]) -> list[Averaged]:
    """As many pairs as fit, the smallest first, in their old order; last those of which a look at all pairs is all."""
    together = Counter(charge for one in pairs for charge in {table.source.charge for table, _ in one.parts})

    def rank(place: int) -> tuple[bool, int]:
        one = pairs[place]
        return all(together[table.source.charge] >= AT_ONCE for table, _ in one.parts), one.counts.size

    order = sorted(range(len(pairs)), key=rank)
    sizes = np.cumsum([pairs[place].counts.size for place in order])
    kept = {place for place, so_far in zip(order, sizes, strict=True) if so_far <= MOST_ROWS}
    return [pair for place, pair in enumerate(pairs) if place in kept]


def _rows(schema: Schema, tables: Sequence[Averaged], *, former: bool) -> Iterator[list[str | None]]:
    for number, one in enumerate(tables, 1):
        grouped = list(zip(one.columns, one.groups, strict=True))
        labels = [_keys(schema[name], of, former=former) for name, of in grouped]
        errors = _errors(one, former=former)
        for cell in np.ndindex(one.counts.shape):
            named = [(name, *texts[at]) for name, texts, at in zip(one.columns, labels, cell, strict=True)]
            yield [str(number), *itertools.chain.from_iterable(named), _number(float(one.counts[cell])), *errors]


def _errors(averaged: Averaged, *, former: bool = False) -> list[str]:
    """The standard error of each count, half the width of its interval, and the charges that bought it.

    The law has continuous noise in place of that of whole numbers, which lies within x with a smaller probability where
    x is just below one of these: within 2.94 there are the whole numbers up to 2, and beyond is all from 3 on. A whole
    number k > 0 has at most the probability that is within half of 1 of it (noise is convex there), so that half of 1
    is added; of an average, half of the largest step that a whole number of one answer makes.
    """
    indicator = np.zeros(averaged.counts.size)
    indicator[0] = 1.0
    law = LinearAnswer(0.0, {part.source: weight * indicator for part, weight in averaged.parts}).law
    charges = sorted({part.source.charge for part, _ in averaged.parts})
    step = 0.0 if former else max(weight for _, weight in averaged.parts)
    return [_number(law.deviation), _number(law.quantile(LEVEL) + step / 2), " ".join(map(str, charges))]


def _keys(column: Column, groups: np.ndarray, *, former: bool) -> list[tuple[str | None, ...]]:
    """What the columns of the table say of each group of codes, but for the name of the column."""
    if former:
        return [(text,) for text in _labels(column.former_labels, groups, former=True)]
    return list(zip(_labels(column.labels, groups), _beyond(column, groups), strict=True))


def _labels(labels: Sequence[str], groups: np.ndarray, *, former: bool = False) -> list[str]:
    """A text for each group of codes: the label of its code, or those of its first and of its last codes."""
    texts = []
    for group in range(int(groups.max()) + 1):
        members = [labels[code] for code in np.flatnonzero(groups == group).tolist()]
        if rest := max(len(members) - LISTED, 0):
            ending = 0 if former else ENDING
            kept = LISTED - ending
            members = [*members[:kept], f"and {rest:,} more", *members[kept + rest :]]
        texts.append(" | ".join(members))
    return texts


def _beyond(column: Column, groups: np.ndarray) -> list[str | None]:
    """What each group of codes holds besides its values: what was clamped to a bound that is one of them."""
    texts: list[str | None] = [None] * (int(groups.max()) + 1)
    if (clamping := clamping_of(column)) is not None:
        lowest, highest = groups[list(clamping.codes)].tolist()
        texts[lowest], texts[highest] = (BELOW, ABOVE) if lowest != highest else (BOTH, BOTH)
    return texts


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.3f}"


def _text(name: str, schema: Schema, tables: Sequence[Averaged], *, former: bool) -> str:
    """The CSV file, as `write_csv` writes every table."""
    keys = (key for key in KEYS[name] if not (former and key.startswith("beyond")))
    columns = list(zip(*_rows(schema, tables, former=former), strict=True))
    table = pa.table([array_of(column, pa.string()) for column in columns], names=["table", *keys, *COUNTS])
    stream = io.BytesIO()
    write_csv(table, {}, stream)
    return stream.getvalue().decode()
