"""The synthetic rows of a release as commands that compare take it: a file, or the folder of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def rows_of(release: str | Path) -> Any:
    """What `compare` reads: in the folder of a release its table, or the rows that were saved; else `release` itself.

    Args:
        release: a table, or a folder that `synth --out FOLDER/` or `--keep-model` wrote.

    Raises:
        ValueError: for a folder whose table is not its receipt's, or that is incomplete or damaged.
        OSError: when a file can't be read.
    """
    from counterfoil.synthesis.folder import INDEX, RECEIPT

    folder = Path(release)
    if not (folder / INDEX).is_file():
        return str(release)
    from counterfoil.publishing.release_folder import FORMATS, table_name
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.synthesis.saved import load_folder, require_receipts_table

    table = next((path for path in (folder / table_name(form) for form in FORMATS) if path.is_file()), None)
    if table is None:
        return load_folder(folder).to_arrow()
    require_receipts_table(table, Receipt.load(folder / RECEIPT), remedy="Copy the whole folder again.")
    return str(table)
