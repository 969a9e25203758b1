"""A folder of files that is written whole or not at all, and refused where a file was changed since.

Its files are synthetic and public: this is the one module outside the curator that reads a table back, and it reads
only tables that it wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from counterfoil.files import sha256_of, write_text
from counterfoil.json_text import json_file
from counterfoil.schema.encoding import UTF_8, codec_of

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt

INDEX = "synthesis.json"
SCHEMA, RECEIPT = "schema.toml", "receipt.json"

_KINDS = {
    "counterfoil.synthesis": "a table: read it with `Synthesis.load`",
    "counterfoil.points": "a table of points: read it with `PointSynthesis.load`",
    "counterfoil.model": "a model: apply it with `counterfoil predict`, or read it with the `load` of its class",
    "counterfoil.pate": "a model: apply it with `counterfoil predict`, or read it with `PATEClassifier.load`",
}

_BLOCK, _LARGEST_BLOCK = 2**20, 2**31 - 1
"""Bytes that Arrow reads at a time by default, and at most."""


@dataclass(frozen=True)
class ReleaseFolder:
    """One kind of folder: an index holds the format, its version and the SHA-256 of each file.

    Args:
        format: what the index calls it.
        version: of the format.
        files: what is in it, besides the index.
        what: what sentences call it.
    """

    format: str
    version: int
    files: tuple[str, ...]
    what: str = "synthesis"

    @staticmethod
    def of_index(index: dict[str, Any], source: Path) -> ReleaseFolder:
        """The kind of a folder whose index names its files itself.

        Args:
            index: as `index_of` reads it.
            source: the folder, for sentences.

        Raises:
            ValueError: for an index without a receipt or a schema, or with files that lie elsewhere.
        """
        names = index.get("files")
        if not isinstance(names, dict) or not {SCHEMA, RECEIPT} <= names.keys() or any(map(os.path.dirname, names)):
            raise ValueError(f"The release {str(source)!r} is damaged: {INDEX} is not what was saved. Copy it again.")
        return ReleaseFolder(index["format"], 1, tuple(names), "release")

    @contextmanager
    def writing(self, folder: str | os.PathLike[str]) -> Iterator[Path]:
        """A hidden folder beside `folder` to write the files to, which is renamed once all are there.

        Raises:
            ValueError: when `folder` exists.
            OSError: when it can't be written.
        """
        target = Path(folder)
        if target.exists():
            raise ValueError(
                f"A {self.what} is saved to a new folder. Found {str(target)!r}: remove it, or choose another."
            )
        draft = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
        draft.mkdir()
        try:
            yield draft
            files = {name: sha256_of(draft / name) for name in self.files}
            index = {"format": self.format, "format_version": self.version, "files": files}
            write_text(draft / INDEX, json.dumps(index, indent=2) + "\n")
            draft.rename(target)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise

    def require_whole(self, source: Path) -> None:
        """Refuses a folder whose index is not ours, or whose files are not those that the index names.

        Raises:
            ValueError: which says what is missing, changed or of another kind.
            OSError: when a file can't be read.
        """
        index = self._index(source)
        version = index.get("format_version")
        if version != self.version:
            raise ValueError(
                f"The {self.what} {str(source)!r} must have format version {self.version}. Found {version!r}: "
                "read it with the release of Counterfoil that wrote it."
            )
        recorded = index.get("files")
        for name in self.files:
            if not (source / name).is_file():
                raise ValueError(
                    f"The {self.what} {str(source)!r} is incomplete: {name} is missing. Copy the whole folder."
                )
            if not isinstance(recorded, dict) or recorded.get(name) != sha256_of(source / name):
                raise ValueError(
                    f"The {self.what} {str(source)!r} is damaged: {name} is not what was saved. Copy it again."
                )

    def require_receipt(self, source: Path, receipt: Receipt, *, rows: int = 0) -> None:
        """Refuses a folder whose files are whole and are not those that its receipt is of.

        An index can be written anew by anyone: what ties the files to one another is the receipt.

        Args:
            source: the folder.
            receipt: in it.
            rows: how many rows are in it.

        Raises:
            ValueError: for another schema or another number of rows than the receipt states.
        """
        document = receipt.document
        if sha256_of(source / SCHEMA) != document["schema_sha256"]:
            raise ValueError(
                f"The {self.what} {str(source)!r} is damaged: its receipt is for another schema than {SCHEMA}. Copy it "
                "again."
            )
        if rows != document["rows"]["drawn"]:
            raise ValueError(
                f"The {self.what} {str(source)!r} is damaged: its receipt states {document['rows']['drawn']:,} rows, "
                f"and it has {rows:,}. Copy it again."
            )

    def _index(self, source: Path) -> dict[str, Any]:
        index = index_of(source, self.what)
        if index["format"] != self.format:
            raise ValueError(f"The {self.what} {str(source)!r} is of another kind. Found {_KINDS[index['format']]}.")
        return index


def index_of(source: Path, what: str = "release") -> dict[str, Any]:
    """The index of a saved folder of any kind.

    Raises:
        ValueError: for a folder without one, or whose index no version wrote.
    """
    path = source / INDEX
    if not path.is_file():
        homes = (source.parent, source.with_name(f"{source.stem}.release")) if source.is_file() else ()
        found = next((f": give {str(home)!r}" for home in homes if (home / INDEX).is_file()), "")
        found = f"Found none in {str(source)!r}{found}."
        raise ValueError(f"A saved {what} is a folder with {INDEX} in it. {found}")
    try:
        index = json_file(path, "an index")
    except ValueError:
        index = None
    if not isinstance(index, dict) or index.get("format") not in list(_KINDS):
        raise ValueError(f"The {what} {str(source)!r} is damaged: {INDEX} is not what was saved. Copy it again.")
    return index


def folder_of(path: Path) -> Path | None:
    """The saved folder that a receipt at `path` is a part of, or that `path` itself is; None for other receipts."""
    folder = path if path.is_dir() else path.parent
    apart = not path.is_dir() and path.name != RECEIPT
    return None if apart or not (folder / INDEX).is_file() else folder


def save_receipt(source: Path, receipt: Receipt) -> None:
    """Gives a saved folder its receipt anew, as after it was signed, and the index the receipt's hash; both or neither.

    Raises:
        ValueError: for a folder whose index names no receipt.
        OSError: when a file can't be written; the folder is then as it was.
    """
    index, place = index_of(source), source / RECEIPT
    if not isinstance(index.get("files"), dict) or RECEIPT not in index["files"]:
        raise ValueError(f"The release {str(source)!r} is damaged: {INDEX} names no {RECEIPT}. Copy it again.")
    before = place.read_text(encoding="utf-8")
    receipt.save(place)
    try:
        index["files"][RECEIPT] = sha256_of(place)
        write_text(source / INDEX, json.dumps(index, indent=2) + "\n")
    except BaseException:
        write_text(place, before)
        raise


def load_arrow(path: Path) -> pa.Table:
    """The table in a file of Arrow's own format; raises ValueError for any other file."""
    with pa.ipc.open_file(str(path)) as reader:
        return reader.read_all()


@dataclass(frozen=True, eq=False)
class ArrowFile:
    """A table in a file of Arrow's own format, read part by part; it stays open, so that nobody can replace it."""

    file: pa.NativeFile

    @staticmethod
    def of(path: Path) -> ArrowFile:
        """The file at `path`; raises OSError where there is none."""
        return ArrowFile(pa.OSFile(str(path)))

    @property
    def schema(self) -> pa.Schema:
        """Columns and their types; raises ValueError for any other file."""
        return pa.ipc.open_file(self.file).schema

    def row_count(self) -> int:
        """How many rows there are; of their cells only those of the first column are read."""
        reader = pa.ipc.open_file(self.file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        return sum(reader.get_batch(place).num_rows for place in range(reader.num_record_batches))

    def parts(self) -> Iterator[pa.Table]:
        """The rows, some at a time."""
        reader = pa.ipc.open_file(self.file)
        for place in range(reader.num_record_batches):
            yield pa.Table.from_batches([reader.get_batch(place)])


def load_parquet(path: Path) -> pa.Table:
    """The table in a Parquet file; raises ValueError for any other file."""
    from pyarrow import parquet

    return parquet.read_table(path, partitioning=None)


def parquet_parts(path: Path) -> Iterator[pa.Table]:
    """The table that `load_parquet` gives, some rows at a time; raises ValueError for any other file."""
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches():
            yield pa.Table.from_batches([batch])


def load_csv(path: Path, encoding: str = UTF_8) -> pa.Table:
    """The table in a CSV file that `synth` wrote, its cells as texts; raises ValueError for any other file."""
    from pyarrow import csv

    with path.open("rb") as stream:
        header = stream.readline()
        while header.count(b'"') % 2 and (more := stream.readline()):
            header += more
    # Names that hold a sign that may separate cells stand between quotes.
    delimiter = ";" if any(b";" in part for part in header.split(b'"')[::2]) else ","
    parsing = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    reading = csv.ReadOptions(encoding=codec_of(encoding))
    with path.open("rb") as stream:
        names = csv.open_csv(stream, reading, parsing).schema.names
    # Only an empty cell is null: a category may read NA.
    types = dict.fromkeys(names, pa.string())
    as_texts = csv.ConvertOptions(column_types=types, strings_can_be_null=True, null_values=[""])
    reading.block_size = _block_bytes(path)
    return csv.read_csv(path, reading, parsing, as_texts)


def _block_bytes(path: Path) -> int:
    """How much of a CSV file that `synth` wrote Arrow is to read at a time: all of it where a cell has a carriage
    return, for Arrow drops the line feed behind one where a block begins with it."""
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            if b"\r" in block:
                # A byte of another encoding is three of UTF-8 at most.
                return min(3 * path.stat().st_size + 1, _LARGEST_BLOCK)
    return _BLOCK
