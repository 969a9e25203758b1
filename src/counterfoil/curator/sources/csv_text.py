"""A CSV file without DuckDB: its header, how it divides into records, and the line of a record."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.source import unique_names
from counterfoil.curator.sources.text_encoding import (
    BROKEN_GZIP,
    encoding_of,
    no_text,
    open_text,
    utf_8_blocks,
)
from counterfoil.schema.encoding import UTF_8

DELIMITERS = ",;\t|"
_LONGEST = 2**22
"""Letters of a cell; DuckDB reads 2 MB. Behind a quote that is not closed, no more of a file is kept in memory."""
_FEW = 2**18
"""Bytes of a file that are looked at without Numba: Python takes less than a tenth of a second for them, and importing
Numba and the loop .4."""
_FEED, _RETURN, _QUOTE, _SPACE = b'\n\r" '
_START, _CELL, _SPACED, _PLAIN, _QUOTED, _CLOSED = range(6)
"""Where a text is: at the beginning of a line, or of another cell, or one space behind that, in a cell without quotes,
in one with quotes, and behind a quote in it, which closes it unless another one follows."""


@dataclass(frozen=True)
class CSVHeader:
    """The column names, the delimiter (of comma, semicolon, tab and bar the one that the header uses most), and the
    encoding of the file. There are no names where the file is in another encoding, and none was to be shown."""

    names: tuple[str, ...]
    delimiter: str
    encoding: str = UTF_8


def read_header(path: Path, declared: Collection[str] | None = (), stated: str = UTF_8) -> CSVHeader:
    """Read the first record and nothing else.

    A quote in the header that is not closed makes records part of a name, up to the next quote. So the name of a column
    breaks its line only where it is declared, and is known without the file.

    Args:
        path: of the file.
        declared: the names that may have line breaks; None where all may, because no name is shown.
        stated: the encoding, where the first bytes do not say it.

    Raises SourceError for a file that is empty, not text, or whose columns have no or equal names, or one that breaks
    its line and is not declared; of such a name nothing is said.
    """
    encoding = encoding_of(path, stated)
    try:
        # The reader looks ahead of the header: bytes that are no text further down are reported later.
        with open_text(path, encoding, strict=False) as stream:
            line = stream.readline()
            delimiter = _delimiter(line)
            if declared is None and _is_no_text(line):
                # In the bytes of Japanese and Chinese letters may be those of separators: it can't be divided.
                return CSVHeader((), delimiter, encoding)
            stream.seek(0)
            read: list[str] = []
            names = next(csv.reader(_noted(stream, read), delimiter=delimiter, strict=True), [])
    except BROKEN_GZIP:
        raise SourceError(f"{path.name}: the file is not a complete gzip file.") from None
    except csv.Error:
        raise SourceError(f"{path.name}: the header is not a line of CSV: check its quotes.") from None
    if declared is not None:
        _require_text("".join(read), path.name, encoding)
    if not names:
        raise SourceError(f"{path.name} has no header: its first line must name the columns.")
    if len({line[len(line.rstrip("\r\n")) :] for line in read} - {""}) > 1:
        # DuckDB would take the table for one without rows.
        raise SourceError(
            f"{path.name}: the name of a column breaks its line in another way than the lines of the file end. Rename "
            "the column."
        )
    stripped = [name.strip() for name in names]
    _require_names_to_the_end(stripped, path.name)
    for place, name in enumerate(stripped, 1):
        if declared is not None and name not in declared and ("\n" in name or "\r" in name):
            raise SourceError(
                f"{path.name}: the name of column {place} goes over several lines, as it does where a quote in the "
                "header is not closed and records are taken for a name. Close the quote; where the name is meant, "
                "rename the column, or declare it in the schema with its line breaks."
            )
    return CSVHeader(unique_names(stripped, path.name), delimiter, encoding)


def _require_text(header: str, where: str, encoding: str) -> None:
    """Refuses a header that is no text of the encoding, and one with zero bytes, which are half of the letters of
    UTF-16: without its mark at the beginning, or in UTF-32."""
    if "\0" in header:
        raise SourceError(f"{where}: the text is UTF-16 without its first mark, or no text. Save it as UTF-8.")
    if _is_no_text(header):
        raise no_text(where, encoding)


def _is_no_text(read: str) -> bool:
    """Whether bytes that are no text of the encoding are among what `open_text` made of them."""
    return any("\udc80" <= letter <= "\udcff" for letter in read)


def _require_names_to_the_end(names: Sequence[str], where: str) -> None:
    """Says what to do about first lines that spreadsheets write, and that leave columns without names."""
    if names == ["sep=", ""]:
        raise SourceError(
            f"{where}: the first line tells spreadsheets the separator. Remove it: the next one has names."
        )
    if len(names) > 2 and names[0] and not any(names[1:]):
        raise SourceError(
            f"{where}: of {len(names)} columns only the first one has a name. Where a title stands above the line of "
            "names, remove it; else give every column a name."
        )
    if len(names) > 1 and not names[-1] and all(names[:-1]):
        raise SourceError(
            f"{where}: column {len(names)} has no name, the last one. Give it a name, or remove the separator at the "
            "end of every line."
        )


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

    A quote opens a cell where it is the cell's first letter, or the second behind a space, as DuckDB has it. Within an
    open cell it closes the cell or is one of two, and in any other cell it is a letter. What ends a line outside of an
    open cell ends a record. Where a text is no CSV, these are numbers without a meaning: DuckDB reads every cell
    strictly, and refuses it.

    Raises SourceError for a file that can't be read or is not in its encoding, or a gzip file that is cut short or
    damaged: DuckDB before 2.0 reads one that was cut short as a shorter table, and no release of it compares the
    checksum.
    """
    seen, before = [0] * 5, 0
    try:
        for block in utf_8_blocks(path, header.encoding):
            before += len(block)
            seen = _seen(block, ord(header.delimiter), seen, interpreted=before <= _FEW)
    except BROKEN_GZIP:
        raise SourceError(
            f"{path.name}: the file is not a complete gzip file: it was cut short or damaged. Copy it again."
        ) from None
    except OSError as error:
        raise SourceError(f"The file {path} can't be read ({error.strerror}).") from None
    state, _, ended, blank, breaks = seen
    # A blank line is a record only where there is a single column, and the last record may end without its line.
    records = ended + (state != _START) + (blank if len(header.names) == 1 else 0)
    return CSVLayout(max(records - 1, 0), bool(breaks))


def _seen(block: bytes, delimiter: int, before: Sequence[int], *, interpreted: bool) -> list[int]:
    """What `_walk` has seen behind the block, of what it had seen `before`, by Python alone or by machine code."""
    if interpreted:
        seen = list(before)
        _walk.interpreted(block, delimiter, seen)
        return seen
    array = np.array(before, dtype=np.int64)
    _walk(np.frombuffer(block, dtype=np.uint8), delimiter, array)
    return array.tolist()


@compiled
def _walk(block: np.ndarray, delimiter: int, seen: np.ndarray) -> None:  # pragma: no cover - compiled
    """Sees the next bytes of a text.

    Args:
        block: uint8 [n], or bytes.
        delimiter: the byte between two cells.
        seen: int64 [5], or a list, changed: where the text is, the byte before, how many lines with something in them
            ended, how many blank ones, and whether a line ended within a quoted cell.
    """
    state, last = seen[0], seen[1]
    for byte in block:
        ends = byte in (_FEED, _RETURN)
        if state == _QUOTED:
            if byte == _QUOTE:
                state = _CLOSED
            elif ends:
                seen[4] = 1
        elif state == _CLOSED and byte == _QUOTE:
            state = _QUOTED
        elif ends:
            if not (byte == _FEED and last == _RETURN):
                seen[3 if state == _START else 2] += 1
            state = _START
        elif byte == delimiter:
            state = _CELL
        elif byte == _QUOTE and state in (_START, _CELL, _SPACED):
            state = _QUOTED
        elif byte == _SPACE and state in (_START, _CELL):
            state = _SPACED
        else:
            state = _PLAIN
        last = byte
    seen[0], seen[1] = state, last


def line_at_fault(path: Path, header: CSVHeader) -> int | None:
    """The line, from 1, on which the first record begins that is none: with a quote that is misplaced or not closed, or
    another number of fields than the header. None where the file is CSV from end to end, be its bytes text or not."""
    longest = csv.field_size_limit(_LONGEST)
    line, width = 1, len(header.names)
    try:
        with open_text(path, header.encoding, strict=False) as stream:
            reader = csv.reader(stream, delimiter=header.delimiter, strict=True)
            next(reader)
            line = reader.line_num + 1
            for cells in reader:
                if cells and len(cells) != width:
                    return line
                line = reader.line_num + 1
            return None
    except (csv.Error, OSError, *BROKEN_GZIP):
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
        with open_text(path, header.encoding) as stream:
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
    except (csv.Error, OSError, UnicodeDecodeError, *BROKEN_GZIP):
        return found
    return found
