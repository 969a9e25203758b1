"""Where sensitive rows come from: a file, a table of a database file, or a frame already in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.domain.domain import CLASS
from counterfoil.schema.header import are_values, may_be_a_record
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.spelling import is_duration
from counterfoil.schema.values import Values

BATCH_ROWS = 131_072


class Batch(Protocol):
    """Some rows of a few columns: a `pyarrow.RecordBatch`, a `TableBatch`, or a `MixedBatch`."""

    @property
    def num_rows(self) -> int: ...

    def column(self, i: int | str) -> Values:
        """The cells of one column, by its place or its name."""
        ...


@dataclass(frozen=True, eq=False)
class TableBatch:
    """Rows of a table in chunks, each column of which is joined when it is asked for.

    A thousand columns of texts that are joined at once fill new memory, which takes longer than to encode them; one
    after another they use the same.
    """

    rows: pa.Table

    @property
    def num_rows(self) -> int:
        return int(self.rows.num_rows)

    def column(self, i: int | str) -> pa.Array:
        cells = self.rows.column(i)
        try:
            joined = cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks()
        except pa.ArrowException:
            joined = cells
        if isinstance(joined, pa.ChunkedArray):  # one array can't hold them
            name = i if isinstance(i, str) else self.rows.column_names[i]
            raise SourceError(
                f"Column {name!r} has more text than one batch of rows can hold. Shorten its texts, or "
                "leave it out: `ignore` in the schema."
            )
        return joined

    def whole(self) -> pa.RecordBatch:
        """The same rows with all columns joined."""
        names = self.rows.column_names
        return pa.RecordBatch.from_arrays([self.column(i) for i in range(len(names))], schema=self.rows.schema)


@dataclass(frozen=True, eq=False)
class MixedBatch:
    """Rows of which some columns have cells of any types."""

    num_rows: int
    columns: Mapping[str, Values]

    def column(self, i: int | str) -> Values:
        return self.columns[i if isinstance(i, str) else list(self.columns)[i]]


def value_of(cells: Values, row: int) -> object:
    """One cell as a Python object; the text of a moment before or after those that Python knows."""
    if isinstance(cells, MixedCells):
        return cells.cells[row]
    try:
        return cells[row].as_py()
    except (OverflowError, ValueError):
        return cells[row].cast(pa.string()).as_py()


class Source(Protocol):
    """Rows in a fixed order, to be read any number of times, columns chosen each time.

    name: what the steward calls it, such as "people.csv"; location: the absolute path, or "memory".
    column_names: in order.
    """

    name: str
    location: str
    column_names: tuple[str, ...]

    @property
    def typed(self) -> bool:
        """Whether the storage itself has types; a CSV file has none."""
        ...

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        """The storage's type of each column."""
        ...

    def batches(self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0) -> Iterator[Batch]:
        """The rows after the first `skip_rows`: exactly `batch_rows` in each batch but the last.

        A column has one Arrow type in all batches, which the storage declares; or `MixedCells`, where the storage
        has none, each of which keeps its own. Neither is ever inferred from the values.
        Raises SourceError when the rows can't be read or have changed since the source was opened.
        """
        ...

    def place(self, row: int) -> str:
        """Words for where a row (counted from 0) stands, such as "line 18 of people.csv"."""
        ...


def unique_names(names: Sequence[object], where: str) -> tuple[str, ...]:
    """The names as texts; raises SourceError when one is empty, repeated, or that of hidden classes of records."""
    texts = tuple(str(name) for name in names)
    for position, text in enumerate(texts, 1):
        if not text.strip():
            index = " R and pandas write an index of rows first: leave it out (row.names = FALSE, index = False)."
            raise SourceError(
                f"{where}: column {position} has no name. Give every column a name.{index * (position == 1)}"
            )
        if text == CLASS:
            raise SourceError(f"{where}: column {position} has the name of hidden classes, {text!r}. Rename it.")
        if text in texts[: position - 1]:
            if are_values(texts) or may_be_a_record(texts):  # the first record, perhaps: its values are not shown
                raise SourceError(
                    f"{where}: two columns have one name, and many are named by numbers or dates. Where there is no "
                    "line of names, add it."
                )
            raise SourceError(f"{where}: two columns are called {text!r}. Rename one of them.")
    return texts


def unreadable(column: str, where: str, kind: pa.DataType, error: Exception) -> SourceError:
    """What to say of a column whose type can't be read: a TypeError is about nested values."""
    if isinstance(error, TypeError):
        return SourceError(
            f"Column {column!r} of {where} has the type {kind}; expected single values,"
            " not lists or structures. Unnest it, or add it to `ignore`."
        )
    number = " to a number, such as its seconds" if is_duration(kind) else ""
    words = " (lengths of time)" if is_duration(kind) else ""
    return SourceError(
        f"Column {column!r} of {where} has the type {kind}{words}, which can't be read as text"
        f" or numbers. Convert it{number}, or add it to `ignore`."
    )
