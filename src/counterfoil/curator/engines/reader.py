"""From a source's values to blocks of codes: what all engines share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
import pyarrow as pa

from counterfoil.curator.engines.engine import Block
from counterfoil.curator.engines.tally import Tallied, Wanted, tally
from counterfoil.curator.engines.units import kept_rows, unit_sizes
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.computed_source import with_computed
from counterfoil.curator.sources.source import BATCH_ROWS, Batch, Source, unreadable, value_of
from counterfoil.noise.randomness import Randomness, SystemRandomness
from counterfoil.schema.column import Column
from counterfoil.schema.errors import UnplacedValue, did_you_mean
from counterfoil.schema.header import are_values, hint_of_names, may_be_a_record
from counterfoil.schema.placement import placements_of, taken
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import Values
from counterfoil.threads import in_order

R = TypeVar("R")
_MOST_NAMED = 8


def _codes(column: Column, values: Values) -> np.ndarray:
    return column.encode(values)


def _numbers(column: Column, values: Values) -> np.ndarray:
    return column.numbers(values)


def _both(column: Column, values: Values) -> tuple[np.ndarray, np.ndarray]:
    return column.encode_with_numbers(values)


class BlockReader:
    """Reads a source through a schema: checks the columns, encodes, and bounds the privacy units.

    Raises SourceError when the table's columns are not those that the schema declares or ignores, ValueError
    when only one of `privacy_unit` and `max_rows` is given.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        *,
        privacy_unit: str | None = None,
        max_rows: int | None = None,
        randomness: Randomness | None = None,
        show_values: bool = False,
    ):
        schema.require_confirmed()
        if (privacy_unit is None) != (max_rows is None):
            raise ValueError("Give `privacy_unit` and `max_rows` together: a unit is bounded to so many rows.")
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"`max_rows` must be at least 1. Found {max_rows}.")
        self.schema = schema
        self._source = with_computed(source, schema)
        self._unit = privacy_unit
        self._max_rows = max_rows
        self._randomness = randomness or SystemRandomness()
        self._show_values = show_values
        self._n_rows: int | None = None
        self._check_columns()

    def blocks(
        self,
        columns: Sequence[str],
        numbers: Sequence[str] = (),
        placements: Sequence[str] = (),
        *,
        skip_blocks: int = 0,
    ) -> Iterator[Block]:
        """The rows in order, in blocks made of `BATCH_ROWS` of the source's, after the first `skip_blocks`.

        An empty table is one empty block.
        """
        wanted = list(dict.fromkeys([*columns, *numbers, *placements]))
        start = row = skip_blocks * BATCH_ROWS
        encode = partial(self._encoded, columns=columns, numbers=numbers, placements=placements)
        for block in in_order(encode, self._batches(wanted, start)):
            yield block if self._unit is None else self._bounded(block, row)
            row += block.rows
        if row == start and skip_blocks and (self._n_rows is None or self._n_rows <= start):
            return
        if self._n_rows is not None and row != self._n_rows:
            raise self._changed()
        self._n_rows = row
        if row == 0:
            codes = {name: np.empty(0, dtype=self.schema[name].dtype) for name in columns}
            ways = {name: np.empty(0, dtype=np.uint8) for name in placements}
            yield Block(0, codes, {name: np.empty(0) for name in numbers}, ways)

    def _batches(self, wanted: Sequence[str], start: int) -> Iterator[tuple[Batch, int]]:
        """The source's batches after the first `start` rows, each with the number of its first row."""
        row = start
        for batch in self._source.batches(wanted, BATCH_ROWS, skip_rows=start):
            # Later scans, and the choice of rows to keep, count rows by whole blocks.
            if batch.num_rows > BATCH_ROWS or row % BATCH_ROWS:
                raise SourceError(f"{self._source.name} was not read in whole blocks: rows of it may be missing.")
            yield batch, row
            row += batch.num_rows

    def _encoded(
        self,
        numbered: tuple[Batch, int],
        columns: Sequence[str],
        numbers: Sequence[str],
        placements: Sequence[str],
    ) -> Block:
        batch, row = numbered
        codes: dict[str, np.ndarray] = {}
        values: dict[str, np.ndarray] = {}
        for name in columns:
            if name in numbers:
                codes[name], values[name] = self._read(batch, row, name, _both)
            else:
                codes[name] = self._read(batch, row, name, _codes)
        for name in numbers:
            if name not in values:
                values[name] = self._read(batch, row, name, _numbers)
        return Block(batch.num_rows, codes, values, {name: self._placements(batch, name) for name in placements})

    def _bounded(self, block: Block, row: int) -> Block:
        """The rows that their units keep, of a block that begins with `row`.

        Everything is encoded before rows are left out, so that a refusal doesn't depend on a random choice.
        """
        packed, n_rows = self._kept
        if row + block.rows > n_rows:
            raise self._changed()
        kept = np.unpackbits(packed[row // 8 :], count=block.rows).astype(bool)
        return Block(
            int(kept.sum()),
            {name: array[kept] for name, array in block.codes.items()},
            {name: array[kept] for name, array in block.numbers.items()},
            {name: array[kept] for name, array in block.placements.items()},
        )

    def _placements(self, batch: Batch, name: str) -> np.ndarray:
        values = batch.column(name)
        try:
            return placements_of(self.schema[name], values)
        except (TypeError, pa.ArrowException, UnicodeError) as error:
            raise unreadable(name, self._source.name, values.type, error) from None

    def cells(self, columns: Sequence[str]) -> Iterator[Mapping[str, Values]]:
        """The kept rows in order, as the source stores their cells, in parts."""
        row = 0
        for batch in self._source.batches(columns, BATCH_ROWS):
            values = {name: batch.column(name) for name in columns}
            if self._unit is not None:
                packed, n_rows = self._kept
                if row + batch.num_rows > n_rows:
                    raise self._changed()
                kept = np.flatnonzero(np.unpackbits(packed[row // 8 :], count=batch.num_rows))
                values = {name: taken(cells, kept) for name, cells in values.items()}
            row += batch.num_rows
            yield values
        if self._n_rows is not None and row != self._n_rows:
            raise self._changed()
        self._n_rows = row

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        """Each text of the kept rows once, with its count (`tally.tally`)."""
        yield from tally(self.cells(columns), columns, wanted, self._source.name)

    def unit_sizes(self, most: int) -> np.ndarray | None:
        """int64 [most]: how many privacy units keep at least 1, 2, ..., `most` rows; None without a privacy unit.

        Raises:
            ValueError: where units keep other numbers of rows at most.
        """
        if self._unit is None:
            return None
        if most != self._max_rows:
            raise ValueError(f"Units keep at most {self._max_rows} rows. Found a query about {most}: ask about all.")
        sizes, n_rows = unit_sizes(self._source, self._unit, most)
        if self._n_rows is not None and self._n_rows != n_rows:
            raise self._changed()
        return sizes

    @cached_property
    def _kept(self) -> tuple[np.ndarray, int]:
        assert self._unit is not None
        assert self._max_rows is not None
        packed, n_rows = kept_rows(self._source, self._unit, self._max_rows, self._randomness)
        if self._n_rows is not None and self._n_rows != n_rows:
            raise self._changed()
        self._n_rows = n_rows
        return packed, n_rows

    def _changed(self) -> SourceError:
        return SourceError(f"{self._source.name} has changed since it was first read. Start again.")

    def _read(self, batch: Batch, first_row: int, name: str, understand: Callable[[Column, Values], R]) -> R:
        column, values = self.schema[name], batch.column(name)
        try:
            return understand(column, values)
        except UnplacedValue as error:
            row = first_row + error.row
            shown = repr(value_of(values, error.row)) if self._show_values else ""
            raise error.located(row, self._source.place(row), shown) from None
        except (TypeError, pa.ArrowException, UnicodeError) as error:
            raise unreadable(name, self._source.name, values.type, error) from None

    def _check_columns(self) -> None:
        present = self._source.column_names
        for column in self.schema.synthesized:
            if column.name not in present:
                raise SourceError(
                    f"{self._source.name} has no column {column.name!r}, which the schema declares."
                    + hint_of_names(column.name, present)
                )
        declared = {column.name for column in self.schema.columns} | {*self.schema.ignore}
        if excess := [name for name in present if name not in declared and name != self._unit]:
            raise SourceError(_not_declared(excess, self._source, declared - {*present}))
        if self._unit is not None and self._unit not in present:
            raise SourceError(
                f"{self._source.name} has no column {self._unit!r} to be the privacy unit."
                + hint_of_names(self._unit, present)
            )


def _not_declared(excess: Sequence[str], source: Source, absent: Collection[str]) -> str:
    """The sentence for columns that no schema names; for the first of them where names may be a record's."""
    if len(excess) == 1 or are_values(source.column_names) or may_be_a_record(source.column_names):
        hint = did_you_mean(excess[0], absent)
        return f"Column {excess[0]!r} of {source.name} is not in the schema. Declare it, or add it to `ignore`.{hint}"
    more = len(excess) - _MOST_NAMED
    named = ", ".join(map(repr, excess[:_MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")
    return f"Columns {named} of {source.name} are not in the schema. Declare them, or add them to `ignore`."
