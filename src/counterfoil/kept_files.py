"""Files that no output may take the place of: a sensitive table, its ledger, its schema.

Files are compared by their identity and not by their names, so that links, `..` and the case of letters make no
difference. A file that is not there yet is known by its folder's identity and its name.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# What SQLite and DuckDB write beside a database, and read as a part of it when it is opened the next time.
_COMPANIONS = ("-journal", "-wal", "-shm", ".wal")


SPARK = "spark+parquet://"
"""Stands before the path of a table that Spark reads."""


@dataclass(frozen=True)
class KeptFile:
    """A file that must stay as it is.

    Args:
        path: where it is, or would be.
        what: what it is, in words that follow "is".
    """

    path: Path
    what: str


def on_a_server(source: str) -> bool:
    """Whether a text is meant as the address of a table in PostgreSQL, and so of no file.

    So are the addresses of other libraries, and a path that was made of one, which folds its slashes: taken for the
    name of a file, it would be shown with its password.
    """
    return re.match(r"postgres(ql)?(\+[\w.-]+)?:/", source, re.IGNORECASE) is not None


def kept_source(source: str) -> tuple[KeptFile, ...]:
    """The files that hold a sensitive table: `file`, or for `file.db::table` the whole database; of a server none."""
    if on_a_server(source):
        return ()
    file, separator, _ = source.removeprefix(SPARK).rpartition("::")
    path = Path(file if separator else source.removeprefix(SPARK)).expanduser().absolute()
    if not separator:
        return (KeptFile(path, "the sensitive table"),)
    return _with_companions(path, "the database of the sensitive table")


def kept_ledger(path: Path) -> tuple[KeptFile, ...]:
    """A ledger with its journal."""
    return _with_companions(path.absolute(), "the ledger")


def ledger_outputs(path: Path) -> list[Path]:
    """The files that are written to create a ledger at `path`."""
    return [Path(f"{path}{suffix}") for suffix in ("", "-journal", ".creating", ".creating-journal")]


def require_apart(outputs: Iterable[Path], kept: Iterable[KeptFile]) -> None:
    """Refuses outputs that are one of the files `kept`, lie in a folder that is, or are one another.

    Raises:
        ValueError: naming the output and what it is.
    """
    held = list(kept)
    folders = [file for file in held if file.path.is_dir()]
    for output in outputs:
        for folder in folders:
            if any(same_place(parent, folder.path) for parent in Path(os.path.realpath(output)).parents):
                raise ValueError(
                    f"{output} would lie in a folder that is {folder.what}, and would be read as a part of it: choose "
                    "another folder."
                )
        for file in held:
            if same_place(output, file.path):
                raise ValueError(
                    f"An output must not overwrite anything that is still needed. {output} is {file.what}: choose "
                    "another name."
                )
        held.append(KeptFile(output, f"another file of the same output, {output.name}"))


def same_place(one: Path, other: Path) -> bool:
    """Whether two paths are one file, or would be once they are written."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return bool(_places(one) & _places(other))


def _places(path: Path) -> set[tuple[object, str]]:
    """Where a path is and where it leads: each the identity of a folder, and a name as lenient systems compare it."""
    places: set[tuple[object, str]] = set()
    for form in (path.absolute(), Path(os.path.realpath(path))):
        try:
            folder = form.parent.stat()
            known: object = (folder.st_dev, folder.st_ino)
        except OSError:
            known = str(form.parent)
        places.add((known, unicodedata.normalize("NFC", form.name).casefold()))
    return places


def _with_companions(path: Path, what: str) -> tuple[KeptFile, ...]:
    beside = (KeptFile(path.with_name(path.name + suffix), f"a part of {what}") for suffix in _COMPANIONS)
    return (KeptFile(path, what), *beside)


# What this process has released from. Paths, for the number of a file that was removed is given to another one.
_released: dict[Path, KeptFile] = {}


def keep(files: Iterable[KeptFile]) -> None:
    """Has `require_replaceable` refuse these files from now on, as long as the process lasts."""
    _released.update({file.path: file for file in files})


def require_replaceable(path: Path) -> None:
    """Refuses to write over a sensitive table that this process made a release of, or over a ledger that it opened.

    Raises:
        ValueError: naming the file and what it is.
    """
    require_apart([path], list(_released.values()))
