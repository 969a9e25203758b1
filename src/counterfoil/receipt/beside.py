"""The files of a release beside its receipt, as far as they can be compared without reading a value of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.files import sha256_differs, sha256_of

_BLOCK = 1 << 22
_QUOTE, _NEWLINE = ord('"'), ord("\n")


def output_problems(document: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """What is wrong with the outputs that lie in `folder`; those that are not there are left out."""
    for output in document["outputs"]:
        path = folder / Path(output["file"]).name
        if not path.is_file():
            continue
        if sha256_of(path) != output["sha256"]:
            differs = sha256_differs(path, output["sha256"])
            yield f"{output['file']} is not the file that the receipt was made for: {differs}"
            continue
        rows = rows_of(path)
        if rows is not None and rows != output["rows"]:
            yield f"{output['file']} has {rows:,} rows. The receipt states {output['rows']:,}."


def rows_of(path: Path) -> int | None:
    """How many rows a table that `synth` wrote has; None for a file that is neither CSV nor Parquet."""
    if path.suffix == ".parquet":
        from pyarrow import parquet

        try:
            return int(parquet.read_metadata(path).num_rows)
        except (pa.ArrowException, ValueError):
            return None
    return _rows_of_csv(path) if path.suffix == ".csv" else None


def _rows_of_csv(path: Path) -> int:
    """Lines but the first, not counting those within quotes: a quote that is doubled opens and closes again."""
    lines, quoted, ended = 0, 0, True
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            marks = np.frombuffer(block, dtype=np.uint8)
            inside = (np.cumsum(marks == _QUOTE) + quoted) % 2
            lines += int(((marks == _NEWLINE) & (inside == 0)).sum())
            quoted, ended = int(inside[-1]), bool(marks[-1] == _NEWLINE)
    return max(lines + (not ended) - 1, 0)
