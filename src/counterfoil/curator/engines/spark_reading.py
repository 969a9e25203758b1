"""What executors read of Parquet files themselves, in place of rows that Spark passes on.

This module runs in the executors' Python: it imports no PySpark.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import pyarrow as pa

from counterfoil.curator.engines.spark_trouble import Trouble, Troubled
from counterfoil.curator.sources.file_source import stamp
from counterfoil.curator.sources.source import BATCH_ROWS
from counterfoil.curator.sources.spark_files import SparkFile, opened

_TEXTS = pa.dictionary(pa.int32(), pa.string())
"""Texts are read with their dictionaries, as Parquet stores them: each different one is then understood once."""

_BUFFER = 1 << 20
"""Bytes of each column that are held at a time, however large a group of rows is."""


@dataclass(frozen=True)
class Part:
    """Some groups of rows of a file.

    Args:
        file: with all of its groups.
        groups: the places of those that are meant.
    """

    file: SparkFile
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reading:
    """Which files executors read.

    Args:
        tasks: the parts that each task reads; each group of rows is in one part of one task.
        types: by column, in order, the type in which its cells are wanted.
    """

    tasks: Sequence[Sequence[Part]]
    types: Mapping[str, pa.DataType]


def dealt(files: Iterable[SparkFile], count: int) -> list[list[Part]]:
    """The groups of all files in order, divided among at most `count` tasks, in each about as many rows."""
    groups = [(file, place, rows) for file in files for place, rows in enumerate(file.groups) if rows]
    total = sum(rows for *_, rows in groups)
    before, tasks = 0, defaultdict(list)
    for file, place, rows in groups:
        tasks[(2 * before + rows) * count // (2 * total)].append((file, place))
        before += rows
    return [
        [Part(file, tuple(place for _, place in same)) for file, same in groupby(task, key=itemgetter(0))]
        for task in tasks.values()
    ]


def rows_of(batches: Iterable[pa.RecordBatch], reading: Reading | None) -> Iterator[pa.RecordBatch]:
    """The rows that `batches` hold; or that the tasks read whose numbers they hold, where there is a reading.

    Texts that are read here are dictionaries.

    Raises:
        Troubled: where a file has changed since it was listed, or is not read to the end.
    """
    for batch in batches:
        if reading is None:
            yield batch
            continue
        for task in batch.column(0).to_pylist():
            for part in reading.tasks[task]:
                yield from _rows_of_part(part, reading.types)


def _rows_of_part(part: Part, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    missing, trouble = sum(part.file.groups[place] for place in part.groups), Trouble.NONE
    try:
        if stamp(part.file.path) == part.file.stamp:
            for batch in _read(part, types):
                missing -= batch.num_rows
                yield batch
    except (OSError, pa.ArrowException, ValueError):  # it may quote a record
        trouble = Trouble.LEFT_TO_SPARK
    if stamp(part.file.path) != part.file.stamp:
        raise Troubled(Trouble.CHANGED)
    if missing or trouble:
        raise Troubled(Trouble.LEFT_TO_SPARK)


def _read(part: Part, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
    path = part.file.path
    with opened(path) as plain:
        wanted = {name for name in plain.schema_arrow.names if name in types}
    texts = [name for name in wanted if types[name] == pa.string()]
    # Sums of pages are checked as Spark's file system checks those of its own files: a damaged file is refused.
    with opened(
        path, read_dictionary=texts, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True
    ) as file:
        for batch in file.iter_batches(BATCH_ROWS, row_groups=list(part.groups), columns=[*wanted], use_threads=False):
            rows = batch.num_rows
            cells = [
                _cells(batch.column(name), kind)
                if name in wanted
                else _constant(part.file.folders.get(name), kind, rows)
                for name, kind in types.items()
            ]
            yield pa.RecordBatch.from_arrays(cells, names=list(types))


def _cells(cells: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The same cells in the type that is wanted; texts as dictionaries."""
    if wanted != pa.string():
        return cells if cells.type == wanted else cells.cast(wanted)
    if cells.type == _TEXTS:
        return cells
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(cells.indices.cast(pa.int32()), cells.dictionary.cast(pa.string()))


def _constant(value: str | None, wanted: pa.DataType, rows: int) -> pa.Array:
    """What the name of a folder says, or nothing, in each row."""
    if wanted != pa.string():
        return pa.nulls(rows, wanted)
    return _cells(pa.nulls(rows, wanted) if value is None else pa.repeat(pa.scalar(value, wanted), rows), wanted)
