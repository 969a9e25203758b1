"""A table as its steward may look at it, NOT PRIVATE: every cell with its place, none refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.curator.engines.reader import BlockReader
from counterfoil.curator.engines.units import ids_of
from counterfoil.curator.errors import SourceError
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.curator.silence import silent
from counterfoil.curator.sources.computed_source import with_computed
from counterfoil.curator.sources.csv_text import lines_of_records
from counterfoil.curator.sources.file_source import FileSource
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import BATCH_ROWS, Batch, Source, unreadable
from counterfoil.curator.sources.spark_source import is_spark_frame
from counterfoil.kept_files import SPARK
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.ledger.refusals import noting_refusals
from counterfoil.schema import Schema
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_match import Match, followed, matched
from counterfoil.schema.placement import PlacedCells, place, taken
from counterfoil.schema.values import Values, texts_of
from counterfoil.schema.white_space import white_space_of


@dataclass(frozen=True, eq=False)
class RawBatch:
    """Some rows of a table.

    Args:
        first_row: where they begin, from 0.
        rows: how many there are.
        cells: by column, those that could be read.
        problems: by column, why one could not be read: its type, whatever its values.
        derived: by derived column that the table has too: where its cells are not what is derived, or are written in
            another way.
        typed: whether the storage tells an empty text from a null, and blanks from what parts cells, as CSV does not.
        ids: of privacy units, where one was named: texts, of which some may be equal, and which of them each row has,
            -1 for a row without an id.
    """

    first_row: int
    rows: int
    cells: Mapping[str, PlacedCells]
    problems: Mapping[str, str]
    derived: Mapping[str, Match]
    _values: Mapping[str, Values]
    typed: bool
    ids: tuple[Sequence[str], np.ndarray] = ((), np.empty(0, dtype=np.int64))

    def tally(self, name: str) -> Counter[str]:
        """The texts of a column's cells with their counts, empty cells left out."""
        texts, positions = texts_of(self._values[name])
        counts = np.bincount(positions[positions >= 0], minlength=len(texts)).tolist()
        found: Counter[str] = Counter()
        for text, count in zip(texts, counts, strict=True):
            found[text] += count
        return +found

    def holds_texts(self, name: str) -> bool:
        """Whether the storage has a notation of its own for a column's cells: text, or cells of any types."""
        kind = self._values[name].type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))

    def white_space(self, name: str) -> np.ndarray:
        """int64 [n]: the `WhiteSpace` of each cell of a column; nothing where the storage has no types."""
        values = self._values[name]
        return white_space_of(values) if self.typed else np.zeros(len(values), dtype=np.int64)

    def texts(self, name: str, rows: np.ndarray) -> list[str]:
        """The texts of some cells of a column, empty where a cell has none."""
        texts, positions = texts_of(taken(self._values[name], rows))
        return ["" if position < 0 else texts[position] for position in positions.tolist()]


class RawTable:
    """A sensitive table that is read through a schema without privacy. Made by `read_without_privacy`."""

    def __init__(self, source: Source, schema: Schema, ledger: Ledger | None, unit: str = "") -> None:
        # Refuses columns that are not those of the schema, or of the unit.
        BlockReader(source, schema, privacy_unit=unit or None, max_rows=1 if unit else None)
        self.schema = schema
        self.name = source.name
        self._source = source
        self._ledger = ledger
        self._unit = unit
        columns = {column.name: column for column in schema.synthesized}
        self.held = tuple(column for column in schema.derived if column.name in source.column_names)
        """The derived columns that the table has too."""
        self._followed = {
            column.name: {name: columns[name] for name in followed(column, columns)} for column in self.held
        }

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        """The types of the columns in storage, where it has any; they say nothing about records."""
        return self._source.column_types if self._source.typed else {}

    def batches(self, *, derived: bool = False) -> Iterator[RawBatch]:
        """All rows in order; none for a table without rows.

        Args:
            derived: whether to read the derived columns that the table has too, to compare them.

        Raises:
            ValueError: for a table that can't be read; the ledger notes it.
        """
        held = self.held if derived else ()
        names = (*self.schema.domain.attributes, *(column.name for column in held))
        names += (self._unit,) if self._unit and self._unit not in names else ()
        row, parts = 0, with_computed(self._source, self.schema).batches(names, BATCH_ROWS)
        while (part := self._next(parts)) is not None:
            yield self._read(part, row, held)
            row += part.num_rows

    def refuse(self, name: str, row: int) -> None:
        """Refuses the table because of a cell, in `row` from 0, that has no place; the ledger notes it.

        Raises:
            UnplacedValue: always.
        """
        with self._noting():
            raise self.schema[name].unplaced(row).located(row, self._source.place(row))

    def numbered(self, rows: Sequence[int]) -> tuple[str, dict[int, int]]:
        """What to call rows (from 0), "line" or "row", and the number of each for whoever looks into the table."""
        source = self._source
        if isinstance(source, FileSource) and source.header is not None:
            lines = lines_of_records(source.path, source.header, rows)
            if len(lines) == len(set(rows)):
                return "line", lines
        return "row", {row: row + 1 for row in rows}

    def _read(self, part: Batch, row: int, held: Sequence[Derived]) -> RawBatch:
        cells: dict[str, PlacedCells] = {}
        problems: dict[str, str] = {}
        with self._noting(), silent():
            values = {column.name: part.column(column.name) for column in self.schema.synthesized}
        with silent():
            for column in self.schema.synthesized:
                name = column.name
                try:
                    cells[name] = place(column, values[name])
                except (TypeError, pa.ArrowException, UnicodeError) as error:
                    problems[name] = str(unreadable(name, self.name, values[name].type, error))
                except ValueError as error:
                    problems[name] = str(error)
            matches = {column.name: self._matched(column, part, cells, problems) for column in held}
        found = {name: match for name, match in matches.items() if match is not None}
        values |= {column.name: part.column(column.name) for column in held}
        ids = (self._ids(part),) if self._unit else ()
        return RawBatch(row, part.num_rows, cells, problems, found, values, self._source.typed, *ids)

    def _ids(self, part: Batch) -> tuple[Sequence[str], np.ndarray]:
        with self._noting():
            return ids_of(part.column(self._unit), self._unit, self.name)

    def _matched(
        self, column: Derived, part: Batch, cells: Mapping[str, PlacedCells], problems: dict[str, str]
    ) -> Match | None:
        """Where a derived column that the table has is not what is derived; None where that can't be told."""
        name, about = column.name, self._followed[column.name]
        if any(other not in cells for other in about):
            return None
        with self._noting():
            values = part.column(name)
        try:
            return matched(column, about, cells, values, unsaid=self._said_by_words(name, values))
        except (TypeError, pa.ArrowException, UnicodeError) as error:
            problems[name] = str(unreadable(name, self.name, values.type, error))
            return None

    def _said_by_words(self, name: str, values: Values) -> np.ndarray:
        """bool [n]: which cells hold a word by which what lies `between` them and others is missing."""
        said = np.zeros(len(values), dtype=bool)
        for one in self.schema.between.values():
            for end in (one.first, one.last):
                if end.name == name:
                    said |= one.holds_word(end, values)
        return said

    def _next(self, parts: Iterator[Batch]) -> Batch | None:
        with self._noting(), silent():
            return next(parts, None)

    def _noting(self) -> AbstractContextManager[None]:
        return nullcontext() if self._ledger is None else noting_refusals(self._ledger)


def read_without_privacy(
    source: Any, schema: Schema | str | Path, *, reason: str, ledger: Ledger | None = None, unit: str = ""
) -> RawTable:
    """The table itself, for its steward's own eyes: exact, and not to be shared.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: the public facts about the table, or the path of the TOML file that states them.
        reason: what for, in words; the ledger keeps it for good.
        ledger: where the look is recorded, as infinite epsilon; nowhere when None.
        unit: a column to be read as it stands beside those of the schema, whose values are privacy units; or nothing.

    Raises:
        ValueError: for a table that is not there, is in Spark, or has other columns than the schema; a ledger of
            another table.
    """
    _require_not_in_spark(source)
    facts = schema_for(source, schema, unit=unit)
    facts.require_confirmed()
    opened = open_source(source, declared=(*facts.declared, unit), encoding=facts.encoding)
    table = RawTable(opened, facts, ledger, unit)
    if ledger is not None:
        ledger.require_source(SourceIdentity(name=opened.name, location=opened.location))
        ledger.record_reveal(reason)
    return table


def _require_not_in_spark(source: Any) -> None:
    """Refuses what only Spark's executors read, before Spark is started: its rows do not come to this process."""
    if is_spark_frame(source) or (isinstance(source, str) and source.startswith(SPARK)):
        raise SourceError(
            "What is not private, such as `check` and `evaluate`, is not done in Spark, whose rows do not come to this "
            "process: give the table, or a part of it, as a file or a frame."
        )
