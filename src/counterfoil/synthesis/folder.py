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
from typing import Any

import pyarrow as pa

from counterfoil.files import sha256_of, write_text

INDEX = "synthesis.json"

_READERS = {
    "counterfoil.synthesis": "Synthesis.load",
    "counterfoil.points": "PointSynthesis.load",
    "counterfoil.model": "load of the model's class in counterfoil.training",
    "counterfoil.pate": "PATEClassifier.load",
}


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

    def _index(self, source: Path) -> dict[str, Any]:
        path = source / INDEX
        if not path.is_file():
            raise ValueError(f"A saved {self.what} is a folder with {INDEX} in it. Found none in {str(source)!r}.")
        try:
            index = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            index = None
        if not isinstance(index, dict) or index.get("format") not in list(_READERS):
            raise ValueError(
                f"The {self.what} {str(source)!r} is damaged: {INDEX} is not what was saved. Copy it again."
            )
        if index["format"] != self.format:
            reader = _READERS[index["format"]]
            raise ValueError(f"The {self.what} {str(source)!r} is of another kind: read it with `{reader}`.")
        return index


def load_arrow(path: Path) -> pa.Table:
    """The table in a file of Arrow's own format; raises ValueError for any other file."""
    with pa.ipc.open_file(str(path)) as reader:
        return reader.read_all()


def load_parquet(path: Path) -> pa.Table:
    """The table in a Parquet file; raises ValueError for any other file."""
    from pyarrow import parquet

    return parquet.read_table(path, partitioning=None)


def load_csv(path: Path) -> pa.Table:
    """The table in a CSV file that `synth` wrote, its cells as texts; raises ValueError for any other file."""
    from pyarrow import csv

    with path.open("rb") as stream:
        names = csv.open_csv(stream).schema.names
    as_texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True)
    return csv.read_csv(path, convert_options=as_texts)
