"""A CSV file without DuckDB: its header, how it divides into records, and the line of a record."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.source import unique_names

DELIMITERS = ",;\t|"
_LONGEST = 2**22
"""Letters of a cell; DuckDB reads 2 MB. Behind a quote that is not closed, no more of a file is kept in memory."""
_BLOCK = 2**18
_FEED, _RETURN, _QUOTE = b'\n\r"'
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


@dataclass(frozen=True)
class CSVHeader:
    """The column names, and the delimiter: of comma, semicolon, tab and bar the one that the header uses most."""

    names: tuple[str, ...]
    delimiter: str


def _open(path: Path, errors: str = "strict") -> TextIO:
    if path.name.lower().endswith(".gz"):
        return io.TextIOWrapper(gzip.GzipFile(path), encoding="utf-8-sig", errors=errors, newline="")
    return path.open(encoding="utf-8-sig", errors=errors, newline="")


def read_header(path: Path, declared: Collection[str] | None = ()) -> CSVHeader:
    """Read the first record and nothing else.

    A quote in the header that is not closed makes records part of a name, up to the next quote. So the name of a column
    breaks its line only where it is declared, and is known without the file.

    Args:
        path: of the file.
        declared: the names that may have line breaks; None where all may, because no name is shown.

    Raises SourceError for a file that is empty, not text, or whose columns have no or equal names, or one that breaks
    its line and is not declared; of such a name nothing is said.
    """
    try:
        # The reader looks ahead of the header: bytes that are no text further down are DuckDB's to report.
        with _open(path, "surrogateescape") as stream:
            line = stream.readline()
            delimiter = _delimiter(line)
            stream.seek(0)
            read: list[str] = []
            names = next(csv.reader(_noted(stream, read), delimiter=delimiter, strict=True), [])
    except _BROKEN_GZIP:
        raise SourceError(f"{path.name}: the file is not a complete gzip file.") from None
    except csv.Error:
        raise SourceError(f"{path.name}: the header is not a line of CSV: check its quotes.") from None
    if any("\udc80" <= letter <= "\udcff" for name in names for letter in name):
        raise SourceError(f"{path.name}: the text is not UTF-8; save the file as UTF-8.")
    if not names:
        raise SourceError(f"{path.name} has no header: its first line must name the columns.")
    if len({line[len(line.rstrip("\r\n")) :] for line in read} - {""}) > 1:
        # DuckDB would take the table for one without rows.
        raise SourceError(
            f"{path.name}: the name of a column breaks its line in another way than the lines of the file end. Rename "
            "the column."
        )
    stripped = [name.strip() for name in names]
    for place, name in enumerate(stripped, 1):
        if declared is not None and name not in declared and ("\n" in name or "\r" in name):
            raise SourceError(
                f"{path.name}: the name of column {place} goes over several lines, as it does where a quote in the "
                "header is not closed and records are taken for a name. Close the quote; where the name is meant, "
                "rename the column, or declare it in the schema with its line breaks."
            )
    return CSVHeader(unique_names(stripped, path.name), delimiter)


def _noted(lines: Iterable[str], read: list[str]) -> Iterator[str]:
    """The lines, each of which is put into `read` as it is taken."""
    for line in lines:
        read.append(line)
        yield line


@dataclass(frozen=True)
class CSVLayout:
    """How a text divides into records.

    Args:
        records: how many there are, the header not counted.
        breaks_lines: whether a quoted cell goes over several lines, so that a line may be a part of a record.
    """

    records: int
    breaks_lines: bool


def layout_of(path: Path, header: CSVHeader) -> CSVLayout:
    """Reads the bytes of a file to their end; a gzip file is thereby compared with its length and its checksum.

    In CSV a quote opens a cell, closes it, or is one of two within it. So a byte lies within a quoted cell if and only
    if the quotes before it are odd in number, and what ends a line outside of one ends a record. Where a text is no
    CSV, these are numbers without a meaning: DuckDB reads every cell strictly, and refuses it.

    Raises SourceError for a file that can't be read, or a gzip file that is cut short or damaged: DuckDB before 2.0
    reads one that was cut short as a shorter table, and no release of it compares the checksum.
    """
    gzipped = path.name.lower().endswith(".gz")
    lines = _Lines(blank_lines_count=len(header.names) == 1)
    try:
        with gzip.open(path) if gzipped else path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                lines.take_in(np.frombuffer(block, dtype=np.uint8))
    except _BROKEN_GZIP:
        raise SourceError(
            f"{path.name}: the file is not a complete gzip file: it was cut short or damaged. Copy it again."
        ) from None
    except OSError as error:
        raise SourceError(f"The file {path} can't be read ({error.strerror}).") from None
    return CSVLayout(max(lines.records + lines.is_open - 1, 0), lines.breaks)


class _Lines:
    """What was seen of a text so far.

    Args:
        blank_lines_count: whether a blank line is a record, as where there is a single column.

    Attributes:
        records: how many have ended, the header's among them.
        breaks: whether a line ended within a quoted cell.
    """

    def __init__(self, *, blank_lines_count: bool) -> None:
        self._blank_lines_count = blank_lines_count
        self._inside, self._last, self._last_ends = 0, 0, True
        self.records, self.breaks = 0, False

    @property
    def is_open(self) -> bool:
        """Whether a record began that has not ended."""
        return not self._last_ends

    def take_in(self, block: np.ndarray) -> None:
        """Sees the next bytes, uint8 [n], n >= 1."""
        ends = np.flatnonzero((block == _FEED) | (block == _RETURN))
        quotes = (block == _QUOTE).view(np.uint8)
        # Before the first end, between two, and after the last; numbers of 8 bits keep whether a sum is odd.
        odd = np.add.reduceat(quotes, np.concatenate(([0], ends))) & 1
        within = np.bitwise_xor.accumulate(odd) ^ self._inside
        self._inside = int(within[-1])
        broken = within[:-1] == 1
        self.breaks = self.breaks or bool(broken.any())
        ends = ends[~broken]
        # A blank line ends where the one before it did, and the second byte of a line's end ends nothing.
        ended = np.diff(ends, prepend=-1 if self._last_ends else -2) == 1
        if self._blank_lines_count:
            ended &= (block[ends] == _FEED) & (np.where(ends > 0, block[ends - 1], self._last) == _RETURN)
        self.records += int(np.count_nonzero(~ended))
        self._last, self._last_ends = int(block[-1]), len(ends) > 0 and int(ends[-1]) == len(block) - 1


def line_at_fault(path: Path, header: CSVHeader) -> int | None:
    """The line, from 1, on which the first record begins that is none: with a quote that is misplaced or not closed, or
    another number of fields than the header. None where the file is CSV from end to end; bytes that are no text are
    DuckDB's to report."""
    longest = csv.field_size_limit(_LONGEST)
    line, width = 1, len(header.names)
    try:
        with _open(path, "surrogateescape") as stream:
            reader = csv.reader(stream, delimiter=header.delimiter, strict=True)
            next(reader)
            line = reader.line_num + 1
            for cells in reader:
                if cells and len(cells) != width:
                    return line
                line = reader.line_num + 1
            return None
    except (csv.Error, OSError, *_BROKEN_GZIP):
        return line
    finally:
        csv.field_size_limit(longest)


def _delimiter(line: str) -> str:
    outside = "".join(line.split('"')[::2])
    return max(DELIMITERS, key=outside.count)


def line_of_record(path: Path, header: CSVHeader, record: int) -> int | None:
    """The line, from 1, on which a record (from 0, the header not counted) begins; None if it can't be determined."""
    return lines_of_records(path, header, [record]).get(record)


def lines_of_records(path: Path, header: CSVHeader, records: Iterable[int]) -> dict[int, int]:
    """The same for several records, in one pass; those that can't be determined are left out."""
    wanted, found = set(records), dict[int, int]()
    try:
        with _open(path) as stream:
            reader = csv.reader(stream, delimiter=header.delimiter)
            next(reader)
            before, seen = reader.line_num, -1
            for cells in reader:
                # A blank line is a record only where there is a single column.
                seen += bool(cells) or len(header.names) == 1
                if seen in wanted and seen not in found:
                    found[seen] = before + 1
                if len(found) == len(wanted):
                    break
                before = reader.line_num
    except (csv.Error, OSError, UnicodeDecodeError, *_BROKEN_GZIP):
        return found
    return found
