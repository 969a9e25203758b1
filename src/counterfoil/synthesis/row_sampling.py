"""Rows from a model that follow the schema's rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.table import with_identifiers

MOST_TRIES = 50
"""Rounds of drawing again before rules that the model hardly ever meets are given up."""

_MOST_DRAWN = 200_000
"""Rows in such a round, unless more are missing."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Synthetic rows.

    Args:
        codes: int32 [rows, attributes], attributes in the domain's order.
        table: their values, in the schema's order, identifiers made anew.
    """

    codes: np.ndarray
    table: pa.Table


def draw(
    model: TableModel,
    schema: Schema,
    n: int,
    rng: np.random.Generator,
    *,
    where: Mapping[str, list[int]] | None = None,
) -> Rows:
    """`n` rows drawn by rounding the model's counts, all of which meet the schema's rules.

    Within a bin numbers are drawn from the density that the model's counts of the bin and its neighbors suggest.
    Rules on one or two columns are zeros of the model already. The others are met by drawing again the rows that
    break them, at most `MOST_TRIES` times: where the model hardly ever meets them, there are fewer than `n` rows.

    Raises:
        ValueError: when `where` has probability zero.
    """
    counts = bin_counts(model, schema)
    codes = model.sample(n, rng, where=where)
    values = _values(schema, codes, rng, counts)
    good = rows_that_hold(schema.row_rules, values)
    codes, values, drawn = codes[good], values.filter(pa.array(good)), n
    for _ in range(MOST_TRIES):
        missing = n - len(codes)
        if missing == 0:
            break
        size = max(2 * missing, min(64 + 2 * missing * drawn // max(len(codes), 1), _MOST_DRAWN))
        more_codes = model.sample(size, rng, where=where)
        more_values = _values(schema, more_codes, rng, counts)
        good = np.flatnonzero(rows_that_hold(schema.row_rules, more_values))[:missing]
        codes = np.concatenate([codes, more_codes[good]])
        values, drawn = pa.concat_tables([values, more_values.take(pa.array(good))]), drawn + size
    return Rows(codes, with_identifiers(schema, values, rng))


def bin_counts(model: TableModel, schema: Schema) -> dict[str, np.ndarray]:
    """The model's counts [size] of each column whose values are drawn by them within bins (`Column.decode`)."""
    names = [(column.name,) for column in schema.synthesized if column.is_tilted]
    return {name: counts for (name,), counts in model.marginals(names).items()} if names else {}


def _values(schema: Schema, codes: np.ndarray, rng: np.random.Generator, counts: Mapping[str, np.ndarray]) -> pa.Table:
    columns = zip(schema.synthesized, codes.T, strict=True)
    return pa.table(
        {column.name: column.decode(column_codes, rng, counts.get(column.name)) for column, column_codes in columns}
    )
