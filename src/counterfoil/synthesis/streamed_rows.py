"""Rows that go to a file as they are drawn: what they take, refused before a budget is spent where it isn't there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from counterfoil.synthesis.row_memory import require_memory, require_row_count
from counterfoil.synthesis.row_parts import held_bytes


def require_streamed_rows_fit(
    rows: int | None, columns: int, path: str | os.PathLike[str], *, kept: bool = False
) -> None:
    """Checks a number of rows that are written to one file, part by part, or to two.

    Args:
        rows: how many; None where the noisy counts say how many.
        columns: how many columns they have.
        path: of the file, .csv or .parquet.
        kept: whether a saved release on the same disk has the rows too.

    Raises:
        ValueError: for a number that is not a whole one of at least 1, for more rows than memory could hold the places
            of, or a file that the disk could not hold however well it is compressed.
    """
    require_row_count(rows)
    if rows is None:
        return
    require_memory(rows, held_bytes(rows, columns))
    # A cell of CSV takes one byte at least, which ends it; of Parquet, and in a saved release, hardly ever less than a
    # bit.
    least = rows * columns if Path(path).suffix.lower() == ".csv" else rows * columns // 8
    least += rows * columns // 8 if kept else 0
    folder = next(above for above in Path(os.path.realpath(path)).parents if above.is_dir())
    free = shutil.disk_usage(folder).free
    if least > free:
        size, unit = (2**30, "GB") if least >= 2**30 else (2**20, "MB")
        raise ValueError(
            f"`rows` of {rows:,} would need at least {-(-least // size):,} {unit} on disk, of which "
            f"{free // size:,} are free. Draw fewer rows, or name a file on a larger disk."
        )
