"""Bounding how many rows a privacy unit (a patient, a household) contributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import connection, explained, failures
from counterfoil.curator.sources.source import Source, unreadable
from counterfoil.noise.randomness import Randomness, SystemRandomness
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.plain_arrays import array_of, numpy_of
from counterfoil.schema.values import Values, texts_of
from counterfoil.scratch.scratch_folder import scratch_folder

if TYPE_CHECKING:
    import duckdb


def kept_rows(source: Source, unit: str, max_rows: int, randomness: Randomness) -> tuple[np.ndarray, int]:
    """Which rows to keep, as packed bits in the source's order, and the number of all rows.

    A uniform choice of at most `max_rows` rows of each unit.

    Formal guarantee: every row gets an independent priority of 64 random bits, and a unit
    keeps the rows with the lowest ones. What one unit keeps depends on its own rows and their priorities alone,
    so on tables that differ in one unit the two choices can be coupled to agree on all the others: any query's
    sensitivity to one row, taken `max_rows` times, bounds its sensitivity to one unit.

    Two rows are of one unit if the canonical texts of their ids are equal (`schema.spelling`), whatever stands in
    other rows: a text is a function of its cell. A row without an id (null, NaN, or an empty text) is a unit of its
    own and is kept: its person is protected for that row, as every person with a single row is, and no other row's
    place depends on it. An id of a type that has no text, such as a tuple, is refused: if it counted as none, a person
    with many rows would silently be protected as many persons.

    The sorting spills to a private temporary folder when it does not fit in DuckDB's memory limit.
    """
    with scratch_folder() as folder, connection(str(folder)) as opened:
        own = _store_units(opened, source, unit, randomness)
        try:
            chosen = opened.sql(
                "SELECT row FROM units"
                f" QUALIFY row_number() OVER (PARTITION BY unit ORDER BY priority, row) <= {max_rows}"
            )
            for batch in chosen.to_arrow_reader(1_000_000):
                own[numpy_of(batch.column(0))] = True
        except failures() as error:
            raise explained(error, source.name) from None
    return np.packbits(own), len(own)


def unit_sizes(source: Source, unit: str, max_rows: int) -> tuple[np.ndarray, int]:
    """How many units keep at least 1, 2, ..., `max_rows` rows, int64 [max_rows], and the number of all rows.

    A unit with n rows keeps min(n, `max_rows`) of them, whichever they are, so that no random choice is needed. A row
    without an id is a unit of its own, as in `kept_rows`.
    """
    with scratch_folder() as folder, connection(str(folder)) as opened:
        own = _store_units(opened, source, unit, SystemRandomness())
        try:
            sizes = opened.sql(
                f"SELECT least(n, {max_rows}) AS size, count(*) AS units"
                " FROM (SELECT count(*) AS n FROM units GROUP BY unit) GROUP BY size"
            ).fetchall()
        except failures() as error:
            raise explained(error, source.name) from None
    units = np.zeros(max_rows, dtype=np.int64)
    units[0] = own.sum()
    for size, count in sizes:
        units[size - 1] += count
    return np.cumsum(units[::-1])[::-1], len(own)


def _store_units(opened: duckdb.DuckDBPyConnection, source: Source, unit: str, randomness: Randomness) -> np.ndarray:
    """Stores the unit, the number and the priority of the rows that have a unit; bool [n]: which have none.

    DuckDB is fed from this thread: a source may be one that only the thread which opened it may read.
    """
    _run(opened, "CREATE TABLE units (unit VARCHAR, row BIGINT, priority UBIGINT)", source)
    missing: list[np.ndarray] = []
    start = 0
    for batch in source.batches([unit]):
        rows = batch.num_rows
        texts, positions = ids_of(batch.column(0), unit, source.name)
        priorities = randomness.words(rows)
        has = positions >= 0
        missing.append(~has)
        part = pa.table(
            {
                "unit": array_of(texts, pa.large_string()).take(array_of(positions[has])),
                "row": array_of(start + np.flatnonzero(has)),
                "priority": array_of(priorities[has]),
            }
        )
        opened.register("part", part)
        _run(opened, "INSERT INTO units SELECT unit, row, priority FROM part", source)
        opened.unregister("part")
        start += rows
    return np.concatenate(missing) if missing else np.zeros(0, dtype=bool)


def ids_of(cells: Values, unit: str, source: str) -> tuple[list[str], np.ndarray]:
    """Canonical texts of units, of which some may be equal, and which of them each cell has: -1 where it has none.

    Raises:
        SourceError: for ids that have no text.
    """
    try:
        texts, positions = texts_of(cells)
        if isinstance(cells, MixedCells) and len(cells.strangers):
            raise SourceError(
                f"Column {unit!r} of {source} holds ids that are no texts, numbers or dates, so that rows of one unit "
                "can't be recognized. Write them as texts."
            )
    except (TypeError, pa.ArrowException) as error:
        raise unreadable(unit, source, cells.type, error) from None
    return texts, positions


def _run(opened: duckdb.DuckDBPyConnection, statement: str, source: Source) -> None:
    try:
        opened.execute(statement)
    except failures() as error:
        raise explained(error, source.name) from None
