"""A source with the columns that a schema computes from others: `between` two dates (`schema.between`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.source import BATCH_ROWS, Batch, Source, unreadable
from counterfoil.schema.between import CELLS, Between
from counterfoil.schema.header import hint_of_names
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import Values

_UNREADABLE = (TypeError, pa.ArrowException, UnicodeError)


def with_computed(source: Source, schema: Schema) -> Source:
    """The source itself where the schema computes nothing, else one that has the computed columns too.

    A column that the table has under such a name is never read: the schema says what it means.

    Raises:
        SourceError: where the table lacks a column that another one is computed from.
    """
    for column in schema.between.values():
        for name in column.inputs:
            if name not in source.column_names:
                raise SourceError(
                    f"{source.name} has no column {name!r}, from which {column.column.name!r} is computed."
                    + hint_of_names(name, source.column_names)
                )
    return ComputedSource(source, schema.between) if schema.between else source


class ComputedSource:
    """The rows of a source, whose records have some cells more."""

    def __init__(self, source: Source, computed: Mapping[str, Between]):
        self._source = source
        self._computed = computed
        self.name, self.location = source.name, source.location
        self.column_names = tuple(dict.fromkeys((*source.column_names, *computed)))

    @property
    def typed(self) -> bool:
        """Whether the storage itself has types."""
        return self._source.typed

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        """The storage's type of each column; of a computed one, that of its cells."""
        return {**self._source.column_types, **dict.fromkeys(self._computed, CELLS)}

    def batches(self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0) -> Iterator[Batch]:
        """As those of the source."""
        computed = [self._computed[name] for name in columns if name in self._computed]
        plain = [name for name in columns if name not in self._computed]
        names = dict.fromkeys([*plain, *(name for column in computed for name in column.inputs)])
        for batch in self._source.batches([*names], batch_rows, skip_rows=skip_rows):
            yield _ComputedBatch(batch, tuple(columns), self._computed, self.name)

    def place(self, row: int) -> str:
        """Words for where a row stands."""
        return self._source.place(row)


@dataclass(frozen=True, eq=False)
class _ComputedBatch:
    """Rows of the source, whose computed cells are made when they are asked for, once for each time.

    Args:
        rows: as the source has them.
        names: of the columns that were asked for.
        computed: the computed columns by name.
        source: what it is called.
    """

    rows: Batch
    names: tuple[str, ...]
    computed: Mapping[str, Between]
    source: str

    @property
    def num_rows(self) -> int:
        return self.rows.num_rows

    def column(self, i: int | str) -> Values:
        name = i if isinstance(i, str) else self.names[i]
        computed = self.computed.get(name)
        if computed is None:
            return self.rows.column(name)
        cells = [self.rows.column(name) for name in computed.inputs]
        try:
            return computed.cells(*cells)
        except _UNREADABLE as error:
            end, kind = _at_fault(computed, cells)
            raise unreadable(end, self.source, kind, error) from None


def _at_fault(computed: Between, cells: Sequence[Values]) -> tuple[str, pa.DataType]:
    """Which of the two dates can't be read, and what type the storage has for it."""
    for end, values in zip((computed.first, computed.last), cells, strict=True):
        try:
            end.numbers(values)
        except _UNREADABLE:
            return end.name, values.type
    return computed.last.name, cells[-1].type
