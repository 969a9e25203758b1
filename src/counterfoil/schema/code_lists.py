"""Public lists in files beside a schema: code lists, code books and lookup tables. Never a table of records."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from counterfoil.kept_files import KeptFile, same_place
from counterfoil.schema.errors import SchemaError, did_you_mean

Value = str | int | float


@dataclass
class CodeLists:
    """The files that a schema names, read relative to the folder of the schema's own file.

    Args:
        folder: where that is; None for a schema that is text, which can't name files.
        sensitive: the files of the table that the schema is for, where that is known; a list that is one of them is
            refused before it is read, so that no sentence on its contents is given.
        read: the absolute paths of the files that were read.
    """

    folder: Path | None
    sensitive: Sequence[KeptFile] = ()
    read: list[str] = field(default_factory=list)

    def values(self, place: str, name: str, *, column: str = "", keys: Sequence[str] = ()) -> list[Value]:
        """The categories in a file: cells of a CSV column as they stand, items of a JSON list, keys of a JSON object.

        Args:
            place: the column of the schema, for sentences.
            name: the file.
            column: of a CSV file; the first one where it is empty.
            keys: of a JSON file: the way from the top to the list or the object.

        Raises:
            SchemaError: when the file can't be read as such a list.
        """
        path = self._path(place, name)
        if path.suffix.lower() == ".json":
            if column:
                raise SchemaError(f"{place}`column` is for CSV files; {name} is JSON: give `key`.")
            return _listed(place, name, _within(place, name, _json(place, path), keys))
        if keys:
            raise SchemaError(f"{place}`key` is for JSON files; {name} is read as CSV: give `column`.")
        header, rows = _csv(place, path)
        cells = _cells(place, name, header, rows, [column or header[0]])
        return _distinct(place, name, [value for (value,) in cells])

    def groups(self, place: str, name: str) -> dict[str, list[Value]]:
        """The values of each group: CSV columns `value` and `group`, or a JSON object from group to list of values.

        Raises:
            SchemaError: when the file can't be read as such groups.
        """
        path = self._path(place, name)
        if path.suffix.lower() == ".json":
            document = _json(place, path)
            if not isinstance(document, dict) or not all(isinstance(items, list) for items in document.values()):
                raise SchemaError(f"{place}{name} must hold an object from each group to the list of its values.")
            return {group: _listed(place, name, items) for group, items in document.items()}
        header, rows = _csv(place, path)
        made: dict[str, list[Value]] = {}
        for value, group in _cells(place, name, header, rows, ["value", "group"]):
            made.setdefault(group, []).append(value)
        return made

    def table(self, place: str, name: str, columns: Sequence[str]) -> list[list[str]]:
        """The cells of `columns` in each row of a CSV file, as texts; the last column may be empty.

        Raises:
            SchemaError: when the file has no such columns.
        """
        path = self._path(place, name)
        header, rows = _csv(place, path)
        return _cells(place, name, header, rows, columns, may_be_empty=columns[-1:])

    def _path(self, place: str, name: str) -> Path:
        if self.folder is None:
            raise SchemaError(
                f"{place}a schema that is text can't name files. Found {name!r}: save the schema beside that file and "
                "give its path."
            )
        path = (self.folder / Path(name).expanduser()).absolute()
        require_public(path, self.sensitive)
        self.read.append(str(path))
        return path


def require_public(path: Path, sensitive: Sequence[KeptFile]) -> None:
    """Refuses a list that is the sensitive table, whatever is in it.

    Args:
        path: of the list.
        sensitive: the files of the table.

    Raises:
        SchemaError: which names the list.
    """
    if any(same_place(path, kept.path) for kept in sensitive):
        raise SchemaError(
            f"A list that a schema takes from a file must be public. Found {path.name!r}, which is the sensitive "
            "table: what is taken from it would be released without any noise."
        )


def _text(place: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SchemaError(f"{place}{path.name} is not UTF-8 text.") from None
    except OSError as error:
        raise SchemaError(f"{place}the file {str(path)!r} can't be read ({error.strerror}).") from None


def _json(place: str, path: Path) -> Any:
    try:
        return json.loads(_text(place, path), object_pairs_hook=_once)
    except _Twice:
        raise SchemaError(
            f"{place}{path.name} must have each key of an object once. Found one of them twice."
        ) from None
    except SchemaError:
        raise
    except (ValueError, RecursionError):
        raise SchemaError(f"{place}{path.name} is not JSON text that can be read as a list or an object.") from None


class _Twice(Exception):
    """A key that stands twice in one object."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _Twice
        made[key] = value
    return made


def _within(place: str, name: str, document: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        if not isinstance(document, dict) or key not in document:
            known = document if isinstance(document, dict) else ()
            raise SchemaError(f"{place}{name} has no `key` {'.'.join(keys)!r}.{did_you_mean(key, known)}")
        document = document[key]
    return document


def _listed(place: str, name: str, found: Any) -> list[Value]:
    """Items of a list, or the codes of an object from code to label."""
    if isinstance(found, dict) and not any(isinstance(label, dict | list) for label in found.values()):
        return [key.strip() for key in found]
    plain = isinstance(found, list) and all(isinstance(item, Value) and not isinstance(item, bool) for item in found)
    if not plain:
        hint = did_you_mean("", found) if isinstance(found, dict) else ""
        raise SchemaError(
            f"{place}{name} must hold a list of texts or numbers, or an object from code to label, where `key` leads."
            + hint
        )
    return _distinct(place, name, [item.strip() if isinstance(item, str) else item for item in found])


def _distinct(place: str, name: str, values: list[Value]) -> list[Value]:
    """The list itself. What is repeated is not shown: the file may be another one than was meant."""
    seen: set[str] = set()
    for position, value in enumerate(values, 1):
        if str(value) in seen:
            raise SchemaError(f"{place}{name} must list each value once. Value {position} of it is repeated.")
        seen.add(str(value))
    return values


def _csv(place: str, path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and each row with the line that it ends in; blank lines are left out."""
    text = _text(place, path)
    first = text.partition("\n")[0]
    separator = next((sign for sign in ",;\t" if sign in first), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except csv.Error:
        raise SchemaError(f"{place}{path.name} is not CSV: line {reader.line_num} can't be read.") from None
    if not rows:
        raise SchemaError(f"{place}{path.name} must have a header with the names of its columns. Found none.")
    return rows[0][1], rows[1:]


def _cells(
    place: str,
    name: str,
    header: list[str],
    rows: Iterable[tuple[int, list[str]]],
    columns: Sequence[str],
    *,
    may_be_empty: Sequence[str] = (),
) -> list[list[str]]:
    for column in columns:
        if header.count(column) != 1:
            found = "two" if column in header else "none"
            hint = did_you_mean(column, header)
            raise SchemaError(f"{place}{name} must have one column {column!r}. Found {found}.{hint}")
    at = [header.index(column) for column in columns]
    made = []
    for line, row in rows:
        if len(row) != len(header):
            raise SchemaError(
                f"{place}line {line} of {name} must have {len(header)} cells, as its header. Found {len(row)}."
            )
        cells = [row[i] for i in at]
        empty = [column for column, cell in zip(columns, cells, strict=True) if not cell and column not in may_be_empty]
        if empty:
            raise SchemaError(f"{place}line {line} of {name} must have a value in column {empty[0]!r}. Found none.")
        made.append(cells)
    return made
