"""Rows that Spark's executors draw from a model, which is public once it is released."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.identifier import Identifier
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.conditional_rows import draw_where
from counterfoil.synthesis.table import in_order

PART_ROWS = 250_000
"""Rows of a partition: a number of its own, so that a seed gives the same rows on every cluster."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A table that is drawn part by part.

    Args:
        model, schema: what rows are drawn from, and what they follow.
        names: the columns in their order.
        rows: of the whole table.
        entropy: of all parts; the number of a part makes its own of it.
        arrow: the types of the columns.
    """

    model: TableModel
    schema: Schema
    names: Sequence[str]
    rows: int
    entropy: Any
    arrow: pa.Schema

    @property
    def count(self) -> int:
        """How many parts there are."""
        return -(-self.rows // PART_ROWS)

    def draw(self, part: int) -> pa.Table:
        """The rows of one part, the same whenever and wherever it is drawn."""
        start = part * PART_ROWS
        rng = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(part,)))
        rows = min(PART_ROWS, self.rows - start)
        drawn = draw_where(self.model, self.schema, rows, Condition.of(self.schema, None), rng)
        return _numbered(in_order(drawn, self.names), self.schema, start).cast(self.arrow)


def draw_in_spark(session: Any, model: TableModel, schema: Schema, like: pa.Schema, rows: int, seed: int | None) -> Any:
    """A DataFrame of rows, each partition drawn by an executor from a seed of its own.

    A partition that is computed again, because an executor was lost or the frame is used twice, has the same rows.

    Args:
        session: the SparkSession.
        model, schema: what rows are drawn from, and what they follow.
        like: the columns of the rows, in their order.
        rows: how many.
        seed: makes the draw repeatable.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark warns of pandas, which is not used here
        from pyspark.sql.pandas.types import from_arrow_schema

        types = from_arrow_schema(like)
        entropy = np.random.SeedSequence(seed).entropy
        parts = Parts(model, schema, like.names, rows, entropy, pa.schema([_in_spark(field) for field in like]))

        def drawn(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for part in batch.column(0).to_pylist():
                    yield from parts.draw(part).to_batches(max_chunksize=1 << 16)

        return session.range(0, parts.count, 1, max(parts.count, 1)).mapInArrow(drawn, types)


def _in_spark(field: pa.Field) -> pa.Field:
    """The type in which executors hand a column over: Spark has moments in microseconds alone."""
    kind = field.type
    return pa.field(field.name, pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else kind)


def _numbered(table: pa.Table, schema: Schema, start: int) -> pa.Table:
    """The table with identifiers that are numbers going on where the part before ended."""
    for column in schema.columns:
        if isinstance(column, Identifier) and column.replace == "sequence":
            place = table.column_names.index(column.name)
            numbers = pa.array(np.arange(start + 1, start + 1 + table.num_rows), pa.int64())
            table = table.set_column(place, column.name, numbers)
    return table
