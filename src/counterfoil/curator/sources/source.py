"""Where sensitive rows come from: a file, a table of a database file, or a frame already in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

BATCH_ROWS = 131_072


class SourceError(ValueError):
    """A table that can't be read; the sentence holds no value of a record."""


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

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[pa.RecordBatch]:
        """The rows after the first `skip_rows`: exactly `batch_rows` in each batch but the last.

        A column's type may differ between batches where the storage has none (SQLite).
        Raises SourceError when the rows can't be read or have changed since the source was opened.
        """
        ...

    def place(self, row: int) -> str:
        """Words for where a row (counted from 0) stands, such as "line 18 of people.csv"."""
        ...


def unique_names(names: Sequence[object], where: str) -> tuple[str, ...]:
    """The names as texts; raises SourceError when one is empty or repeated."""
    texts = tuple(str(name) for name in names)
    for position, text in enumerate(texts, 1):
        if not text.strip():
            raise SourceError(f"{where}: column {position} has no name. Give every column a name.")
        if text in texts[: position - 1]:
            raise SourceError(f"{where}: two columns are called {text!r}. Rename one of them.")
    return texts


def array_of(values: Sequence[object]) -> pa.Array:
    """Python values as one array; as texts where they are of several types."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if _is_nothing(value) else _text(value) for value in values], type=pa.string())


def _is_nothing(value: object) -> bool:
    return value is None or value != value


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
