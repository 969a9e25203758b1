"""The synthetic rows of a release as commands that compare take it: a file, or the folder of a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt


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
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.synthesis.saved import load_folder, require_receipts_table

    if (table := table_in(folder)) is None:
        return load_folder(folder).to_arrow()
    require_receipts_table(table, Receipt.load(folder / RECEIPT), remedy="Copy the whole folder again.")
    return str(table)


def schema_beside(release: str | Path, given: Path | None) -> Path:
    """The file of the public facts with which a release is compared: the one that is given, or that of its folder.

    Args:
        release: a table, or a folder that `synth --out FOLDER/` wrote.
        given: what `--schema` names.

    Raises:
        ValueError: where neither is there.
    """
    kept = Path(release) / "schema.toml"
    if given is None and not kept.is_file():
        raise ValueError(
            "A comparison needs the public facts about both tables. Found no `--schema`, nor a release's folder with "
            "schema.toml: give its file."
        )
    return kept if given is None else given


def table_in(folder: Path) -> Path | None:
    """The table that `synth --out FOLDER/` wrote; None where there is none, or no such folder."""
    from counterfoil.publishing.release_folder import FORMATS, table_name

    return next((path for path in (folder / table_name(form) for form in FORMATS) if path.is_file()), None)


def said_of_used(release: str | Path) -> str:
    """A sentence on the rows that a release left out; empty where it used all, or where no receipt of it is found.

    Args:
        release: the path of its table or of its folder.
    """
    from counterfoil.receipt.rows_used import rows_beside_used

    receipt = _receipt_of(Path(release))
    return "" if receipt is None else rows_beside_used(receipt.document)


def _receipt_of(path: Path) -> Receipt | None:
    """That of a folder, or the one beside a table which is a receipt of these very bytes."""
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.synthesis.folder import RECEIPT
    from counterfoil.synthesis.saved import receipt_beside, require_receipts_table

    place = path / RECEIPT if path.is_dir() else receipt_beside(path)
    if not place.is_file():
        return None
    try:
        receipt = Receipt.load(place)
        if path.is_file():
            require_receipts_table(path, receipt)
    except ValueError:
        return None
    return receipt
