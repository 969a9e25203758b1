"""Rows that can be had only once, kept for later passes in a file without a name."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock

import pyarrow as pa


class ScratchRows:
    """Rows on disk, in their order. The file never has a name that anybody could open, and ends with the process.

    Args:
        schema: of the rows.
        batches: the rows, as many in each batch but the last, none of them empty.

    Raises:
        OSError: when the disk is full.
    """

    def __init__(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]):
        self._file = tempfile.TemporaryFile(prefix="counterfoil-")  # noqa: SIM115 - closed below
        weakref.finalize(self, self._file.close)
        self._names = schema.names
        self._lock = Lock()
        self._batch_rows = 1
        options = pa.ipc.IpcWriteOptions(compression="lz4" if pa.Codec.is_available("lz4") else None)
        with pa.ipc.new_file(pa.PythonFile(self._file, "w"), schema, options=options) as writer:
            for batch in batches:
                self._batch_rows = max(self._batch_rows, batch.num_rows)
                writer.write_batch(batch)
        self._file.flush()

    def batches(self, columns: Sequence[str], skip_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows after the first `skip_rows`, with these columns; any number of readers at once."""
        places = sorted(self._names.index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=places, use_threads=False)
        with self._lock:
            reader = pa.ipc.open_file(pa.PythonFile(self._file, "r"), options=options)
        first, skipped = divmod(skip_rows, self._batch_rows)
        for position in range(first, reader.num_record_batches):
            with self._lock:  # all readers move the one position of the file
                batch = reader.get_batch(position)
            rows = batch.slice(skipped).select(list(columns))
            skipped = 0
            if rows.num_rows:
                yield rows
