"""A release at a path: a saved folder of either kind, or a table as `synth` wrote it, whose receipt lies beside it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from counterfoil.files import sha256_differs, sha256_of
from counterfoil.receipt.beside import output_problems
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.stated_encoding import encoding_of_receipt
from counterfoil.receipt.wording import drawn_later
from counterfoil.synthesis.folder import INDEX, RECEIPT, load_csv, load_parquet
from counterfoil.synthesis.point_synthesis import POINTS_FORMAT, PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis


def load_folder(folder: Path) -> Synthesis | PointSynthesis:
    """The release that was saved to a folder, rows of codes or points.

    Raises:
        ValueError: for a folder that is incomplete, damaged, or of another format.
        OSError: when a file can't be read.
    """
    index = folder / INDEX
    points = index.is_file() and f'"{POINTS_FORMAT}"' in index.read_text(encoding="utf-8", errors="replace")
    return PointSynthesis.load(folder) if points else Synthesis.load(folder)


def load_kept(path: Path) -> Synthesis | PointSynthesis:
    """The release with its model: a saved folder, or what `synth --keep-model` wrote beside the table at `path`.

    Raises:
        ValueError: where no model was kept, or the folder is of another release, incomplete or damaged.
        OSError: when a file can't be read.
    """
    if path.is_dir():
        return load_folder(path)
    if not path.is_file():
        raise ValueError(f"There is no release at {path}: name the folder of a saved one, or a table beside it.")
    kept = kept_beside(path)
    if not kept.is_dir() and receipt_beside(path).name == RECEIPT and (path.parent / INDEX).is_file():
        kept = path.parent  # a table in the folder of its release
    if not kept.is_dir() and _drawn_later(receipt_beside(path)):
        # No run of synth made these rows, so that none could keep a model beside them.
        raise ValueError(
            f"{path} holds rows that were drawn from a release whose model was kept, with no model beside them. Name "
            "that release: the table that `synth --keep-model` wrote, or the folder of its model."
        )
    if not kept.is_dir():
        raise ValueError(
            f"The model of {path} was not kept: there is no folder {kept}. Make the release with --keep-model, or name "
            "the folder of a saved one."
        )
    release = load_folder(kept)
    table = receipt_beside(path)
    if table.is_file() and (other := other_release(Receipt.load(table), release.receipt)):
        raise ValueError(f"{kept} is of another release than {path}: their receipts have other {other}.")
    return release


def other_release(one: Receipt, other: Receipt) -> str:
    """What shows that two receipts are of different releases; empty where nothing does."""
    for section in ("charges", "created", "kept"):
        if one.document.get(section) != other.document.get(section):
            return {"charges": "charges", "created": "times", "kept": "models"}[section]
    return ""


def _drawn_later(receipt: Path) -> bool:
    """Whether a receipt says that its rows were drawn from a kept model, after its release."""
    if not receipt.is_file():
        return False
    return drawn_later(Receipt.load(receipt).document)


def kept_beside(table: Path) -> Path:
    """The folder of the model that belongs to a table: people.synthetic.parquet has people.synthetic.release."""
    return table.with_name(f"{table.stem}.release")


def load_table(path: Path, receipt: Receipt, *, remedy: str = "") -> pa.Table:
    """The synthetic rows in a .parquet or .csv file that `synth` wrote.

    Args:
        path: of the file.
        receipt: what says which file it is.
        remedy: a sentence for whoever gives another one.

    Raises:
        ValueError: for a table that is not its receipt's, or a file that can't be read as one.
        OSError: when it can't be read.
    """
    require_receipts_table(path, receipt, remedy=remedy)
    try:
        return (
            load_parquet(path) if path.suffix == ".parquet" else load_csv(path, encoding_of_receipt(receipt.document))
        )
    except (ValueError, pa.ArrowException) as error:
        raise ValueError(f"{path} can't be read as a table that synth wrote: {type(error).__name__}.") from None


def require_receipts_table(path: Path, receipt: Receipt, *, remedy: str = "") -> None:
    """Refuses a table that its receipt was not made for.

    Args:
        path: of the table.
        receipt: what says which file it is.
        remedy: a sentence for whoever gives another one.

    Raises:
        ValueError: where the SHA-256 differs.
        OSError: when the table can't be read.
    """
    known = {output["sha256"] for output in receipt.document["outputs"]}
    if sha256_of(path) not in known:
        differs = f"{path} is not the table that its receipt was made for: {sha256_differs(path, *known)}"
        raise ValueError(f"{differs} {remedy}".rstrip())


def changed_table(path: Path) -> Path | None:
    """A table that its receipt was not made for, where a kept model is asked by it or by the folder that it lies in.

    None where there is none. The model has a folder of its own, whose files are compared as it is opened, and says
    what it said before; who changed the table may expect otherwise.

    Args:
        path: of the table, or of the folder of a release.

    Raises:
        ValueError: for a receipt that is none.
        OSError: when a file can't be read.
    """
    place = path / RECEIPT if path.is_dir() else receipt_beside(path)
    if not place.is_file():
        return None
    outputs = Receipt.load(place).document["outputs"]
    tables = [path / Path(output["file"]).name for output in outputs] if path.is_dir() else [path]
    sums = {output["sha256"] for output in outputs}  # a table may have another name now
    return next((one for one in tables if one.is_file() and sha256_of(one) not in sums), None)


def require_own_table(folder: Path, receipt: Receipt) -> None:
    """Refuses the folder of a release whose table was changed: what is said of the release would not be of that one.

    Args:
        folder: of the release; a table need not be in it.
        receipt: of the release.

    Raises:
        ValueError: where a table in it is not the receipt's.
    """
    for problem in output_problems(receipt.document, folder):
        raise ValueError(f"{folder}: {problem} Copy the whole folder again.")


def receipt_beside(table: Path) -> Path:
    """The receipt that `synth` writes beside a table: people.synthetic.parquet has people.synthetic.receipt.json.

    A table in the folder of its release has the folder's.
    """
    named, of_folder = table.with_name(f"{table.stem}.receipt.json"), table.with_name(RECEIPT)
    return of_folder if not named.exists() and of_folder.is_file() else named
