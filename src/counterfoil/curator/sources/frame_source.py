"""Frames that are already in memory: pandas, polars, pyarrow (through narwhals) and numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from counterfoil.curator.sources.source import BATCH_ROWS, SourceError, array_of, unique_names

_HERE = "The table"


class FrameSource:
    """A frame in memory.

    Args:
        column_names: of all columns.
        n_rows: how many rows there are.
        values: given a column's position, a row and a number of rows, so many values from that row on, or fewer at
            the end.
    """

    name = "memory"
    location = "memory"
    typed = True

    def __init__(self, column_names: tuple[str, ...], n_rows: int, values: Callable[[int, int, int], pa.Array]):
        self.column_names = column_names
        self._n_rows = n_rows
        self._values = values

    @staticmethod
    def of(table: Any, column_names: Sequence[str] | None = None) -> FrameSource:
        """The source for any supported frame; raises SourceError for anything else."""
        if isinstance(table, np.ndarray):
            return _of_numpy(table, column_names)
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        try:
            frame = nw.from_native(table, eager_only=True)
        except TypeError:
            raise SourceError(
                "Expected a path, a pandas, polars or pyarrow table (collected, not lazy), or a numpy array"
                f" [n, d]; found {type(table).__name__}."
            ) from None
        except nw.exceptions.DuplicateError:
            raise SourceError(f"{_HERE}: two columns have the same name. Rename one of them.") from None
        names = unique_names(frame.columns, _HERE)
        column = cache(lambda i: _arrow(frame, i))  # a conversion may copy, and look at every value
        return FrameSource(names, len(frame), lambda i, start, rows: _joined(column(i).slice(start, rows)))

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        return {name: self._values(i, 0, 0).type for i, name in enumerate(self.column_names)}

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[pa.RecordBatch]:
        chosen = {name: self.column_names.index(name) for name in columns or self.column_names[:1]}
        for start in range(skip_rows, self._n_rows, batch_rows):
            yield pa.record_batch({name: self._values(i, start, batch_rows) for name, i in chosen.items()})

    def place(self, row: int) -> str:
        return f"row {row + 1}"


def _joined(part: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(part.type):
        part = part.unify_dictionaries()
    return part.combine_chunks() if part.num_chunks != 1 else part.chunk(0)


def _arrow(frame: Any, position: int) -> pa.ChunkedArray:
    series = frame[:, position]
    try:
        array = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # Python objects of several types: the library's own message would show a value.
        array = array_of(series.to_list())
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _of_numpy(points: np.ndarray, column_names: Sequence[str] | None) -> FrameSource:
    if points.ndim != 2 or points.dtype.names is not None or points.dtype.kind not in "biufU":
        raise SourceError(
            f"A numpy array must have two dimensions [n, d] of numbers or texts; found the shape {points.shape}"
            f" of {points.dtype}."
        )
    names = [f"x{i}" for i in range(points.shape[1])] if column_names is None else list(column_names)
    if len(names) != points.shape[1]:
        raise SourceError(f"The array has {points.shape[1]} columns, but {len(names)} names were given.")
    return FrameSource(
        unique_names(names, _HERE),
        len(points),
        # A part of a column at a time: a whole one would be a second copy of it.
        lambda i, start, rows: pa.array(np.ascontiguousarray(points[start : start + rows, i])),
    )
