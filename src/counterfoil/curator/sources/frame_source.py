"""Frames that are already in memory: pandas, polars, pyarrow (through narwhals) and numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.memory_state import MemoryState, memory_of_array, memory_of_column
from counterfoil.curator.sources.source import BATCH_ROWS, MixedBatch, unique_names
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.values import Values

_HERE = "The table"
_MAKE_TABLES = (
    ("polars", "collect"),
    ("duckdb", "to_arrow_table"),
    ("pyarrow", "read_all"),
    ("pyarrow", "to_table"),
    ("polars", "to_frame"),
    ("pandas", "to_frame"),
)
"""Methods of a library's objects that are no tables yet, and return one that is read here."""
Part = Callable[[int, int], Values]
_WHOLE = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
"""By types of texts that lie in pieces, those in which they lie one after another."""


class FrameSource:
    """A frame in memory.

    Args:
        column_names: of all columns.
        n_rows: how many rows there are.
        part: given a column's position, what reads it: from a row on, so many values, or fewer at the end.
        objects: the columns whose cells are Python objects, of which no type is known.
        state: of the memory of all columns, where they lie in one array.
    """

    name = "memory"
    location = "memory"
    typed = True

    def __init__(
        self,
        column_names: tuple[str, ...],
        n_rows: int,
        part: Callable[[int], Part],
        objects: frozenset[str] = frozenset(),
        state: MemoryState | None = None,
    ):
        self.column_names, self.objects = column_names, objects
        self._n_rows = n_rows
        self._part = cache(part)  # a conversion may copy
        self._state = state

    @staticmethod
    def of(table: Any, column_names: Sequence[str] | None = None) -> FrameSource:
        """The source for any supported frame; raises SourceError for anything else."""
        if isinstance(table, np.ndarray):
            return _of_numpy(table, column_names)
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        import narwhals as nw  # on first use, for most commands read no frame

        try:
            frame = nw.from_native(table, eager_only=True)
        except TypeError:
            raise SourceError(
                "Expected a path, a pandas, polars or pyarrow table (collected, not lazy), or a numpy array"
                f" [n, d]; found {type(table).__name__}{_remedy(table)}."
            ) from None
        except nw.exceptions.DuplicateError:
            unique_names([*_names_of(table)], _HERE)
            raise SourceError(f"{_HERE}: two columns have the same name. Rename one of them.") from None
        if frame.implementation.is_pandas():
            # From pandas 3 on, this is the frame as it is now, whatever is written into it between two passes.
            frame = nw.from_native(frame.to_native().copy(deep=False), eager_only=True)
        levels = _named_levels(frame)
        names = unique_names([*(name for name, _ in levels), *frame.columns], _HERE)

        def series(i: int) -> Any:
            return levels[i][1]() if i < len(levels) else frame[:, i - len(levels)]

        objects = frozenset(name for i, name in enumerate(names) if _has_no_type(series(i)))
        return FrameSource(names, len(frame), lambda i: _part_of(series(i), names[i]), objects)

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        return {name: self._part(i)(0, 0).type for i, name in enumerate(self.column_names)}

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[MixedBatch]:
        parts = {name: self._part(self.column_names.index(name)) for name in columns or self.column_names[:1]}
        states = self._states  # of all columns, as they are when the first ones are read
        for start in range(skip_rows, self._n_rows, batch_rows):
            rows = min(batch_rows, self._n_rows - start)
            yield MixedBatch(rows, {name: part(start, rows) for name, part in parts.items()})
        # Each pass ends so, before anything that follows from it is an answer.
        for state in dict.fromkeys(states[name] for name in parts):
            state.require_unchanged()

    @cached_property
    def _states(self) -> Mapping[str, MemoryState]:
        """What the memory of each column holds."""

        def memory(i: int) -> Iterator[memoryview]:
            with suppress(SourceError):  # of a type that can't be read, and so is not
                yield from memory_of_column(self._part(i), self._n_rows)

        return {name: self._state or MemoryState(partial(memory, i)) for i, name in enumerate(self.column_names)}

    def place(self, row: int) -> str:
        return f"row {row + 1}"


def _remedy(table: Any) -> str:
    """What makes a table in memory of an object that only leads to one; empty where nothing is known to."""
    library = type(table).__module__.partition(".")[0].lstrip("_")
    known = [name for owner, name in _MAKE_TABLES if owner == library and callable(getattr(type(table), name, None))]
    return f": give what its `{known[0]}()` returns" if known else ""


def _names_of(table: Any) -> Sequence[Any]:
    """Of the columns of a frame that has two of one name."""
    return table.column_names if isinstance(table, pa.Table) else list(table.columns)


def _named_levels(frame: Any) -> list[tuple[str, Callable[[], Any]]]:
    """The name of each level of a pandas index that is a column, as `reset_index` makes it, and what reads it.

    One without a name is most often a number of the row, and could not be declared; one with the name of a column is
    that column (`set_index(drop=False)`).
    """
    import narwhals as nw

    if not frame.implementation.is_pandas_like():
        return []
    index, columns = frame.to_native().index, {*map(str, frame.columns)}
    pandas = frame.implementation.to_native_namespace()

    def level(i: int) -> Callable[[], Any]:
        return lambda: nw.from_native(_cells_of_level(index, i, pandas), series_only=True)

    named = [(i, str(name)) for i, name in enumerate(index.names) if name is not None]
    return [(name, level(i)) for i, name in named if name not in columns]


def _cells_of_level(index: Any, i: int, pandas: Any) -> Any:
    """The cells of a level of a pandas index as a series of the level's own type.

    `to_series` guesses the type of objects from all of them, and `get_level_values` makes reals of integers, and
    objects of truths, where one is missing: one record would decide the type of all.
    """
    if not isinstance(index, pandas.MultiIndex):
        return pandas.Series(index.array, dtype=index.dtype)
    level = index.levels[i]
    if isinstance(level.dtype, np.dtype) and level.dtype.kind in "iub":
        level = level.astype(_may_be_missing(level.dtype))
    return pandas.Series(level.array.take(index.codes[i], allow_fill=True), dtype=level.dtype)


def _may_be_missing(kind: np.dtype) -> str:
    """The type of pandas for the same values and missing ones."""
    return "boolean" if kind.kind == "b" else f"{'U' if kind.kind == 'u' else ''}Int{8 * kind.itemsize}"


def _part_of(series: Any, name: str) -> Part:
    """How a column is read follows from its type alone; Arrow would guess a type for objects from their values."""
    native = series.to_native()
    if isinstance(native, pa.ChunkedArray):
        return _plain(native)
    if _holds_objects(series):
        if series.implementation.is_polars():  # polars 1.0 gave other cells for slices of a column of objects
            cells = series.to_list()
            return lambda start, rows: MixedCells(cells[start : start + rows])
        return lambda start, rows: MixedCells(series[start : start + rows].to_list())
    try:
        return _plain(series.to_arrow())
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # The library's own message may show a value.
        raise SourceError(
            f"Column {name!r} of the table has the type {native.dtype}, which can't be read as text or numbers."
            " Convert it, or drop it from the table."
        ) from None


def _plain(cells: pa.Array | pa.ChunkedArray) -> Part:
    """Parts of a column, in a type that can be converted: Arrow's short decimals and runs of one value can't be.

    Nor can views be taken from, as is done of some cells alone: whether it is would show what cells hold.
    """
    kind = cells.type
    if (whole := _WHOLE.get(kind)) is not None:
        return lambda start, rows: cells.slice(start, rows).cast(whole)
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return lambda start, rows: cells.slice(start, rows).cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_run_end_encoded(kind):
        return lambda start, rows: pc.run_end_decode(cells.slice(start, rows))
    return cells.slice


def _holds_objects(series: Any) -> bool:
    """Whether the column has no type but that of each cell, or one that Arrow lacks."""
    if series.implementation.is_polars():
        return str(series.to_native().dtype) in ("Object", "Int128", "UInt128")
    if not series.implementation.is_pandas_like():
        return False
    kind = series.to_native().dtype
    # What pandas calls `string` or `str` holds Python's own texts in one of its storages: any, even broken ones.
    values = getattr(getattr(kind, "categories", None), "dtype", kind)
    return str(values) == "object" or getattr(values, "storage", "") == "python"


def _has_no_type(series: Any) -> bool:
    """Whether each cell has a type of its own: by the column's own type, and not by what is in the cells."""
    return str(getattr(series.to_native(), "dtype", "")).lower() == "object"


def _of_numpy(points: np.ndarray, column_names: Sequence[str] | None) -> FrameSource:
    if isinstance(points, np.ma.MaskedArray):  # what stands under the mask would be read as if it were there
        raise SourceError("A numpy array must have no mask. Found one: fill it, as with points.filled(numpy.nan).")
    if points.ndim != 2 or points.dtype.names is not None or points.dtype.kind not in "biufU":
        raise SourceError(
            f"A numpy array must have two dimensions [n, d] of numbers or texts; found the shape {points.shape}"
            f" of {points.dtype}."
        )
    names = [f"x{i}" for i in range(points.shape[1])] if column_names is None else list(column_names)
    if len(names) != points.shape[1]:
        raise SourceError(f"The array has {points.shape[1]} columns, but {len(names)} names were given.")
    named = unique_names(names, _HERE)
    state = MemoryState(partial(memory_of_array, points))
    return FrameSource(named, len(points), lambda i: _part_of_numpy(points[:, i]), state=state)


def _part_of_numpy(numbers: np.ndarray) -> Part:
    if numbers.dtype.kind == "U" or numbers.dtype.itemsize > np.dtype(np.float64).itemsize:
        # Texts that may be broken, and reals wider than Arrow has.
        return lambda start, rows: MixedCells(numbers[start : start + rows].tolist())
    # A part of a column at a time: a whole one would be a second copy of it. Arrow knows this machine's order of bytes.
    own = numbers.dtype.newbyteorder("=")
    return lambda start, rows: pa.array(np.ascontiguousarray(numbers[start : start + rows], dtype=own))
