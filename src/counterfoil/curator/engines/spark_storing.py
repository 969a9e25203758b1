"""What executors do with the rows of a Spark table, once: encode them, bound the units, and store the codes.

This module runs in the executors' Python: it imports no PySpark, and nothing in it lets a value out. What fails is
reported as a number, of which the driver makes a sentence: Spark would log an exception with all that it says.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.curator.engines.spark_reading import Reading, rows_of
from counterfoil.curator.engines.spark_trouble import Trouble, Troubled
from counterfoil.curator.silence import silent
from counterfoil.curator.sources.source import BATCH_ROWS
from counterfoil.schema.errors import UnplacedValue
from counterfoil.schema.placement import placements_of
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import texts_of
from counterfoil.scratch.shared_scratch import is_shared, written

RANK = ("rank", "")
"""The key of the numbers 1, 2, ... by which the kept rows of a unit are counted."""

Key = tuple[str, str]
"""A kind of array ("codes", "numbers", "placements" or "rank"), and the column."""

STORED = pa.schema(
    {"file": pa.string(), "rows": pa.int64(), "trouble": pa.int32(), "column": pa.int32(), "owed": pa.int64()}
)
"""What is reported of a file, or of a failure. `owed` counts rows that the first stage sent to the second one, and is
below 0 where this one took them: over all that a job reports it sums to 0 unless a row was lost, or taken twice."""

ENCODED = pa.schema({"unit": pa.binary(), "priority": pa.int64(), "cells": pa.binary(), "report": pa.bool_()})
"""The cells of a row of a unit, or what a task of the first stage reports: `STORED`, as bytes."""

_REPORT = struct.Struct("<qqqq")

_PACKED = 1 << 28
"""Bytes of cells, about, that go to the second stage together."""


@dataclass(frozen=True)
class Storing:
    """What is stored of each row.

    Args:
        schema: the public facts.
        keys: what is stored, in order.
        columns: the columns of the frame that are read, in the order in which executors get them.
        unit: the privacy unit, which is one of `columns`; None without one.
        secret: 32 bytes that nobody else knows, by which units are distinguished without their names.
        folder, token: the scratch folder, and what its token says.
        reading: the files that executors read; None where Spark passes the rows on.
    """

    schema: Schema
    keys: tuple[Key, ...]
    columns: tuple[str, ...]
    unit: str | None
    secret: bytes
    folder: str
    token: str
    reading: Reading | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The columns in the order in which reports of trouble count them: those that are computed come last."""
        return *self.columns, *self.schema.between

    @property
    def types(self) -> list[np.dtype]:
        """The type of each of `keys`."""
        return [type_of(self.schema, key) for key in self.keys]


def type_of(schema: Schema, key: Key) -> np.dtype:
    """The type of the arrays of a key."""
    kind, name = key
    if kind == "codes":
        return np.dtype(schema[name].dtype)
    return np.dtype({"numbers": np.float64, "placements": np.uint8, "rank": np.int32}[kind])


def store(batches: Iterable[pa.RecordBatch], storing: Storing) -> Iterator[pa.RecordBatch]:
    """Encodes the rows of a partition and stores them in one file, of which it tells the name."""
    try:
        with silent(), _file(storing) as (name, write):
            rows = sum(write(_encoded(part, storing)) for part in _together(rows_of(batches, storing.reading)))
        yield _stored(name, rows)
    except Exception as error:
        yield _report_of(_trouble_of(error))


def encode(batches: Iterable[pa.RecordBatch], storing: Storing, partition: int) -> Iterator[pa.RecordBatch]:
    """The rows of units with a key for their unit, a random priority, and their cells as bytes; then a report.

    A row without an id is kept whatever else is, so that it is stored here, in a file that the report names. Had it a
    random key of its own, an attempt at a partition whose output was lost would send it to another task of the second
    stage, and one that had finished would have it as well.

    The key of the report follows from the number of the partition, so that all attempts at it report to one task of the
    second stage, of which one result counts. A failure is a report too, and is passed on whatever is kept.
    """
    sent = 0
    try:
        with silent(), _file(storing) as (name, write):
            alone = 0
            for rows in _together(rows_of(batches, storing.reading)):
                arrays = _encoded(rows, storing)
                keys, positions = _unit_keys(rows.column(storing.columns.index(str(storing.unit))), storing)
                free = positions < 0
                if free.any():
                    ranks = np.ones(int(free.sum()), dtype=np.int32)
                    alone += write([*(array[free] for array in arrays), ranks])
                    arrays, positions = [array[~free] for array in arrays], positions[~free]
                sent += len(positions)
                yield from _packed([keys[position] for position in positions.tolist()], arrays, storing)
        result = name.encode(), alone, Trouble.NONE, -1
    except Exception as error:
        found = _trouble_of(error)
        result = b"", 0, found.trouble, found.column
    key = hashlib.blake2b(b"%d" % partition, key=storing.secret, digest_size=16, person=b"report").digest()
    report = _REPORT.pack(*result[1:], sent) + result[0]
    yield pa.record_batch([[key], [0], [report], [True]], schema=ENCODED)


def store_kept(batches: Iterable[pa.RecordBatch], storing: Storing) -> Iterator[pa.RecordBatch]:
    """Stores the kept rows of `encode`, each with its rank, in one file, and passes on what was reported.

    The columns are cells, report, rank, and size: how many rows of its unit came, whatever was kept of them.
    """
    try:
        reports: list[bytes] = []
        taken = 0
        with _file(storing) as (name, write):
            kept = 0
            for rows in _together(batches):
                is_report = rows.column(1)
                reports += rows.column(0).filter(is_report).to_pylist()
                of_units = rows.filter(pc.invert(is_report))
                ranks, sizes = (of_units.column(place).to_numpy() for place in (2, 3))
                taken += int(sizes[ranks == 1].sum())
                kept += write([*_unpacked(of_units.column(0), storing), ranks.astype(np.int32)])
        for report in reports:
            rows_alone, trouble, column, sent = _REPORT.unpack_from(report)
            yield _stored(report[_REPORT.size :].decode(), rows_alone, Trouble(trouble), column, sent)
        yield _stored(name, kept, owed=-taken)
    except Exception as error:
        yield _report_of(_trouble_of(error))


def _trouble_of(error: Exception) -> Troubled:
    """What may be said of an error; whatever else it is may quote a record."""
    return error if isinstance(error, Troubled) else Troubled(Trouble.FAILED)


def _report_of(found: Troubled) -> pa.RecordBatch:
    return _stored("", 0, found.trouble, found.column)


def _stored(name: str, rows: int, trouble: Trouble = Trouble.NONE, column: int = -1, owed: int = 0) -> pa.RecordBatch:
    return pa.record_batch([[name], [rows], [int(trouble)], [column], [owed]], schema=STORED)


def _together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in parts of about `BATCH_ROWS`: many batches are small, and each costs a fixed time."""
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        if rows >= BATCH_ROWS:
            yield pa.Table.from_batches(held)
            held, rows = [], 0
    if rows:
        yield pa.Table.from_batches(held)


def _encoded(rows: pa.Table, storing: Storing) -> list[np.ndarray]:
    """The arrays of `storing.keys`, but for ranks."""
    arrays = []
    for kind, name in storing.keys:
        if kind == "rank":
            continue
        column, place = storing.schema[name], storing.places.index(name)
        try:
            cells = _cells(rows, name, storing)
            if kind == "codes":
                arrays.append(column.encode(cells))
            else:
                arrays.append(column.numbers(cells) if kind == "numbers" else placements_of(column, cells))
        except UnplacedValue:
            raise Troubled(Trouble.UNPLACED, place) from None
        except Exception:
            raise Troubled(Trouble.UNREADABLE, place) from None
    return arrays


def _cells(rows: pa.Table, name: str, storing: Storing) -> pa.ChunkedArray | pa.Array:
    """The cells of a column as the frame has them, or computed from two others."""
    computed = storing.schema.between.get(name)
    stored = (name,) if computed is None else computed.inputs
    read = [in_utc(rows.column(storing.columns.index(one))) for one in stored]
    return read[0] if computed is None else computed.cells(*read)


def in_utc(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells, where they are moments with a zone in UTC: Spark gives them in the zone of its session."""
    kind = cells.type
    return cells.cast(pa.timestamp(kind.unit, "UTC")) if pa.types.is_timestamp(kind) and kind.tz else cells


@contextmanager
def _file(storing: Storing) -> Iterator[tuple[str, Callable[[Sequence[np.ndarray]], int]]]:
    """A new file: its name, which no other attempt at the same partition has, and what writes rows and counts them."""
    if not is_shared(storing.folder, storing.token):
        raise Troubled(Trouble.NOT_SHARED)
    schema = pa.schema([(str(place), pa.from_numpy_dtype(kind)) for place, kind in enumerate(storing.types)])
    name = f"{os.urandom(16).hex()}.arrow"
    try:
        with written(storing.folder, name) as stream, pa.ipc.new_file(stream, schema) as writer:

            def write(arrays: Sequence[np.ndarray]) -> int:
                part = pa.record_batch([pa.array(array) for array in arrays], schema=schema)
                writer.write_batch(part)
                return int(part.num_rows)

            yield name, write
    except (OSError, pa.ArrowException):
        raise Troubled(Trouble.NOT_WRITTEN) from None


def _unit_keys(cells: pa.ChunkedArray, storing: Storing) -> tuple[list[bytes], np.ndarray]:
    """The keys of different units, and which of them each row has: below 0 where it has no id."""
    try:
        texts, positions = texts_of(in_utc(cells))
    except Exception:
        raise Troubled(Trouble.UNREADABLE, storing.columns.index(str(storing.unit))) from None
    keys = [hashlib.blake2b(text.encode(), key=storing.secret, digest_size=16).digest() for text in texts]
    return keys, np.asarray(positions)


def _packed(units: Sequence[bytes], arrays: Sequence[np.ndarray], storing: Storing) -> Iterator[pa.RecordBatch]:
    """The rows with their keys, in batches whose cells are counted by offsets of 32 bits."""
    kind = _row_type(storing)
    step = max(1, _PACKED // kind.itemsize)
    for start in range(0, len(units), step):
        rows = min(step, len(units) - start)
        cells = np.empty(rows, dtype=kind)
        for place, array in enumerate(arrays):
            cells[str(place)] = array[start : start + rows]
        ends = pa.py_buffer(np.arange(rows + 1, dtype=np.int32) * np.int32(kind.itemsize))
        columns = [
            pa.array(units[start : start + rows], pa.binary()),
            pa.array(np.frombuffer(os.urandom(8 * rows), dtype=np.int64)),
            pa.Array.from_buffers(pa.binary(), rows, [None, ends, pa.py_buffer(cells.tobytes())]),
            pa.array(np.zeros(rows, dtype=bool)),
        ]
        yield pa.record_batch(columns, schema=ENCODED)


def _unpacked(cells: pa.ChunkedArray, storing: Storing) -> list[np.ndarray]:
    """From cells as bytes to the arrays of `storing.keys`, but for ranks."""
    kind = _row_type(storing)
    octets = b"".join(_octets(chunk.cast(pa.large_binary()), kind.itemsize) for chunk in cells.chunks if len(chunk))
    rows = np.frombuffer(octets, dtype=kind)
    return [np.ascontiguousarray(rows[name]) for name in kind.names or ()]


def _octets(cells: pa.Array, size: int) -> memoryview:
    """The bytes of cells that have `size` each, none null."""
    start = int(np.frombuffer(cells.buffers()[1], dtype=np.int64)[cells.offset])
    return memoryview(cells.buffers()[2])[start : start + len(cells) * size]


def _row_type(storing: Storing) -> np.dtype:
    """The cells of a row, one after another, without the rank."""
    kinds = [kind for key, kind in zip(storing.keys, storing.types, strict=True) if key != RANK]
    return np.dtype([(str(place), kind) for place, kind in enumerate(kinds)])
