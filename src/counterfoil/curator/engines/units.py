"""Bounding how many rows a privacy unit (a patient, a household) contributes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.curator.sources.file_source import FAILURES, connection, explained
from counterfoil.curator.sources.source import Source
from counterfoil.noise.randomness import Randomness
from counterfoil.schema.values import unique_texts

_ROWS = pa.schema([("unit", pa.string()), ("row", pa.int64()), ("priority", pa.uint64())])


def kept_rows(source: Source, unit: str, max_rows: int, randomness: Randomness) -> np.ndarray:
    """Which rows to keep, as packed bits in the source's order: a uniform choice of at most `max_rows` per unit.

    Formal guarantee: every row gets an independent priority of 64 random bits, and a unit
    keeps the rows with the lowest ones. What one unit keeps depends on its own rows and their priorities alone,
    so on tables that differ in one unit the two choices can be coupled to agree on all the others: any query's
    sensitivity to one row, taken `max_rows` times, bounds its sensitivity to one unit.

    Units are told apart by their text, surrounding white space stripped. All rows without a unit (null, empty, NaN)
    are one unit together: nobody can gain influence by leaving the cell empty.
    The sorting spills to a private temporary folder when it does not fit in DuckDB's memory limit.
    """
    feed = _Feed(source, unit, randomness)
    with tempfile.TemporaryDirectory(prefix="counterfoil-") as folder, connection(folder) as opened:
        opened.register("units", pa.RecordBatchReader.from_batches(_ROWS, feed.batches()))
        try:
            chosen = opened.sql(
                "SELECT row FROM units"
                f" QUALIFY row_number() OVER (PARTITION BY unit ORDER BY priority, row) <= {max_rows}"
            )
            parts = [batch.column(0).to_numpy() for batch in chosen.to_arrow_reader(1_000_000)]
        except FAILURES as error:
            # A failure of the source reaches us through DuckDB as another error: raise the source's own.
            raise feed.error or explained(error, source.name) from None
    kept = np.zeros(feed.n_rows, dtype=bool)
    for rows in parts:
        kept[rows] = True
    return np.packbits(kept)


class _Feed:
    """The unit and the priority of every row, for DuckDB to pull."""

    def __init__(self, source: Source, unit: str, randomness: Randomness):
        self._source, self._unit, self._randomness = source, unit, randomness
        self.n_rows = 0
        self.error: Exception | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._source.batches([self._unit]):
                n_rows = batch.num_rows
                texts, positions = unique_texts(batch.column(0))
                unit = pa.array([*texts, ""], type=pa.string()).take(pa.array(positions % (len(texts) + 1)))
                row = pa.array(np.arange(self.n_rows, self.n_rows + n_rows))
                priority = pa.array(self._randomness.words(n_rows))
                self.n_rows += n_rows
                yield pa.record_batch([pc.fill_null(unit, ""), row, priority], schema=_ROWS)
        except Exception as error:
            self.error = error
            raise
