"""Rows from a model that follow the schema's rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.domain.counting import count_marginals
from counterfoil.domain.layout import Layout
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.table import in_order, with_identifiers

MOST_TRIES = 50
"""Rounds of drawing again before rules that the model hardly ever meets are given up."""

_WITHIN = 16
"""Times that values of a row which breaks a rule are drawn anew within its codes, before the row is."""

_MOST_DRAWN = 200_000
"""Rows in such a round, unless more are missing."""

Sampler = Callable[[int, np.random.Generator], np.ndarray]


@dataclass(frozen=True, eq=False)
class Rows:
    """Synthetic rows in memory.

    Args:
        codes: int32 [rows, attributes], attributes in the domain's order.
        table: their values, in the schema's order, identifiers made anew.
    """

    codes: np.ndarray
    table: pa.Table

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    @property
    def column_names(self) -> list[str]:
        """Those of the table."""
        return list(self.table.column_names)

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns of the table and their types."""
        return self.table.schema

    def ordered(self, names: Sequence[str]) -> Rows:
        """The same rows, the table's columns in the order of `names`; others follow the one before them."""
        return Rows(self.codes, in_order(self.table, names))

    def tables(self, *, coded: bool = False) -> Iterator[pa.Table]:
        """The values: one part, texts as they are whether they may be `coded` or not."""
        yield self.table

    def counts(self, layout: Layout) -> np.ndarray:
        """int64 [cells of all]: how many rows are in each cell of the layout's cliques."""
        by_name = dict(zip(layout.domain.attributes, self.codes.T, strict=True))
        # Not compiled: a command that reads a release would spend more on loading the compiler than on counting.
        names = layout.domain.attributes
        cliques = [tuple(names[axis] for axis in axes) for axes in np.split(layout.members, layout.begins[1:-1])]
        tables = count_marginals(by_name, len(self.codes), cliques, layout.domain)
        return np.concatenate([table.ravel() for table in tables])


@dataclass(frozen=True, eq=False)
class RowMaker:
    """Draws rows that follow a schema's rules.

    Within a bin numbers are drawn from the density that the model's counts of the bin and its neighbors suggest.
    Rules on one or two columns are zeros of the model already. Where values break a rule that others of the same codes
    meet, these are drawn: every record that was counted there met the rule, so that the model's counts stay what they
    are. The rest is met by drawing again the rows that break a rule, at most `MOST_TRIES` times.

    Args:
        schema: whose synthesized columns the codes are of.
        sample: rows of codes, int32 [n, attributes], by rounding the model's counts.
        counts: the model's counts of the columns whose values are drawn by them.
    """

    schema: Schema
    sample: Sampler
    counts: Mapping[str, np.ndarray]

    @staticmethod
    def of(model: TableModel, schema: Schema, where: Mapping[str, list[int]] | None = None) -> RowMaker:
        """Of the model's distribution, or its conditional one.

        Raises:
            ValueError: when `where` has probability zero.
        """
        return RowMaker(schema, model.sampler(where=where), bin_counts(model, schema))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, pa.Table]:
        """Codes and values of `n` rows; fewer, where the model hardly ever meets the rules."""
        codes = self.sample(n, rng)
        (values, good, _), drawn = self.meeting(codes, rng), n
        if not good.all():  # a copy of a wide table takes as long as drawing it
            codes, values = codes[good], values.filter(array_of(good))
        for _ in range(MOST_TRIES):
            missing = n - len(codes)
            if missing == 0:
                break
            size = max(2 * missing, min(64 + 2 * missing * drawn // max(len(codes), 1), _MOST_DRAWN))
            more_codes = self.sample(size, rng)
            more_values, good, _ = self.meeting(more_codes, rng)
            some = np.flatnonzero(good)[:missing]
            codes = np.concatenate([codes, more_codes[some]])
            values, drawn = pa.concat_tables([values, more_values.take(array_of(some))]), drawn + size
        return codes, values

    def meeting(self, codes: np.ndarray, rng: np.random.Generator) -> tuple[pa.Table, np.ndarray, np.ndarray]:
        """Values within the codes [n, attributes] that meet the rules as far as these allow.

        Returns:
            The values; bool [n], which rows meet all rules; and bool [n], which of them do since they were given others
            within their codes.
        """
        values, rules = self.values(codes, rng), self.schema.row_rules
        good = rows_that_hold(rules, values)
        first = good
        for _ in range(_WITHIN if self._within_bins else 0):
            broken = np.flatnonzero(~good)
            if not len(broken):
                break
            tried = self.values(codes[broken], rng, {name for rule in rules for name in rule.columns})
            held = rows_that_hold(rules, tried)
            mended = np.zeros(len(good), dtype=bool)
            mended[broken[held]] = True
            values, good = _replaced(values, tried.filter(array_of(held)), mended), good | mended
        return values, good, good & ~first

    @cached_property
    def _within_bins(self) -> bool:
        """Whether a code of a column that rules name stands for several values."""
        named = {name for rule in self.schema.row_rules for name in rule.columns}
        return any(bool((ends[1] > ends[0]).any()) for ends in (self.schema[name].ranges for name in named))

    def values(self, codes: np.ndarray, rng: np.random.Generator, names: Collection[str] | None = None) -> pa.Table:
        """The values of the synthesized columns, or of some of them, drawn within the codes [n, attributes]."""
        columns = zip(self.schema.synthesized, codes.T, strict=True)
        return pa.table(
            {
                column.name: column.decode(own, rng, self.counts.get(column.name))
                for column, own in columns
                if names is None or column.name in names
            }
        )

    def coded_values(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Table:
        """What `values` gives, texts as dictionaries: these draw nothing, so that all others are the same."""
        made = {}
        for column, own in zip(self.schema.synthesized, codes.T, strict=True):
            coded = column.coded(own)
            made[column.name] = column.decode(own, rng, self.counts.get(column.name)) if coded is None else coded
        return pa.table(made)


def draw(
    model: TableModel,
    schema: Schema,
    n: int,
    rng: np.random.Generator,
    *,
    where: Mapping[str, list[int]] | None = None,
) -> Rows:
    """`n` rows drawn by rounding the model's counts, all of which meet the schema's rules (see `RowMaker`).

    Where the model hardly ever meets the rules, there are fewer than `n` rows.

    Raises:
        ValueError: when `where` has probability zero.
    """
    codes, values = RowMaker.of(model, schema, where).draw(n, rng)
    return Rows(codes, with_identifiers(schema, values, rng))


def _replaced(values: pa.Table, others: pa.Table, mask: np.ndarray) -> pa.Table:
    """`values` with the rows of `others`, in their order, where `mask`."""
    for name in others.column_names:
        old, new = (table.column(name).combine_chunks() for table in (values, others))
        changed = pc.replace_with_mask(old, array_of(mask), new)
        values = values.set_column(values.column_names.index(name), name, changed)
    return values


def bin_counts(model: TableModel, schema: Schema) -> dict[str, np.ndarray]:
    """The model's counts [size] of each column whose values are drawn by them within bins (`Column.decode`)."""
    names = [(column.name,) for column in schema.synthesized if column.is_tilted]
    return {name: counts for (name,), counts in model.marginals(names).items()} if names else {}
