"""The files that a release leaves: checked before anything is charged, written all or none."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.files import give_time, moved
from counterfoil.kept_files import KeptFile, kept_ledger, kept_source, require_apart
from counterfoil.scratch.scratch_folder import BEFORE, HIDDEN, scratch_folder

if TYPE_CHECKING:
    from counterfoil.methods.method import SyntheticRelease
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.signature import SigningKey


@dataclass(frozen=True)
class Outputs:
    """Where the synthetic table and its receipt go, and its model where that is kept.

    Args:
        table: a .csv or .parquet file.
        keeps_model: whether the model is kept, from which the release can be asked again.
    """

    table: Path
    keeps_model: bool = False

    @property
    def receipt(self) -> Path:
        """Beside the table: synthetic.parquet has synthetic.receipt.json."""
        return self.table.with_name(f"{self.table.stem}.receipt.json")

    @property
    def model(self) -> Path | None:
        """The folder of the model where it is kept: synthetic.parquet has synthetic.release beside it."""
        from counterfoil.synthesis.saved import kept_beside

        return kept_beside(self.table) if self.keeps_model else None

    @property
    def answers(self) -> Path:
        """Where answers are kept until the release is whole: synthetic.parquet has synthetic.answers."""
        return self.table.with_name(f"{self.table.stem}.answers")

    def require_harmless(self, kept: Iterable[KeptFile], *further: Path) -> None:
        """Refuses to overwrite what is still needed, whatever its name and with `force` too; reads no record.

        Args:
            kept: the files that are still needed.
            further: files that will be written beside those of the release.

        Raises:
            ValueError: when the table or its receipt is one of the files `kept`, a ledger, or another release's
                receipt.
        """
        require_harmless([self.table, self.receipt, *further], kept, table=self.table)

    def require_possible(self, *, force: bool) -> None:
        """Refuses what could only fail after the budget was spent.

        Raises:
            ValueError: for an unknown suffix, files that are there (without `force`), a folder that is not.
            OSError: when the folder can't be written, or its disk is full.
        """
        from counterfoil.synthesis.table import check_suffix

        check_suffix(self.table)
        require_free([self.table, self.receipt], force=force)
        if self.model is not None and self.model.exists():
            raise ValueError(f"{self.model} is there already. Choose another name with --out, or move it away.")

    def write(
        self, synthesis: SyntheticRelease, key: SigningKey | None = None, *, moment: float | None = None
    ) -> Receipt:
        """Writes all of it, or nothing; returns the receipt, which names the table's file.

        Everything is made in a folder of its own beside its places, and moved when it is whole.

        Args:
            synthesis: what was made.
            key: signs the receipt; nobody signs it where None.
            moment: the time of change that all files get, in seconds since 1970; their own where None.

        Raises:
            OSError: when something can't be written.
        """
        folder = self.table.parent
        with scratch_folder(folder, prefix=HIDDEN) as made, ExitStack() as undo:
            draft = Outputs(made / self.table.name, self.keeps_model)
            synthesis.write(draft.table)
            receipt = synthesis.receipt.with_output(draft.table, rows=synthesis.rows)
            receipt = receipt if key is None else receipt.signed(key)
            receipt.save(draft.receipt)
            if draft.model is not None and self.model is not None:
                _save_model(synthesis, receipt, draft.model)
            if moment is not None:
                for path in (draft.table, draft.receipt, *([] if draft.model is None else [draft.model])):
                    give_time(path, moment)
            if draft.model is not None and self.model is not None:
                undo.callback(shutil.rmtree, self.model, ignore_errors=True)
                os.rename(draft.model, self.model)
            if self.receipt.exists():
                before = made / BEFORE
                shutil.copy2(self.receipt, before)
                undo.callback(os.replace, before, self.receipt)
            else:
                undo.callback(self.receipt.unlink, missing_ok=True)
            moved(draft.receipt, self.receipt)
            moved(draft.table, self.table)
            undo.pop_all()
        return receipt


def is_in_place(path: Path, receipt: Receipt) -> bool:
    """Whether the receipt at `path` is this one, whoever signed it and whatever files were named in it since.

    Args:
        path: where the receipt of a release goes; its other files are whole, or none is there.
        receipt: as the release had it when it was made.
    """
    from counterfoil.receipt.canonical import digest_of, unsigned
    from counterfoil.receipt.receipt import Receipt

    try:
        there = Receipt.load(path)
    except (OSError, ValueError):
        return False
    one, other = (digest_of({**unsigned(found.document), "outputs": []}) for found in (there, receipt))
    return one == other


def _save_model(synthesis: SyntheticRelease, receipt: Receipt, folder: Path) -> None:
    """Writes the release with its model to `folder`, with the receipt that the table has."""
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

    assert isinstance(synthesis, (Synthesis, PointSynthesis)), "methods that are named make one of the two"
    replace(synthesis, receipt=receipt).save(folder)


def inputs(source: str | None = None, *, ledger: Path | None = None, schema: Path | None = None) -> list[KeptFile]:
    """The files that a command was given, which no output may overwrite."""
    kept = [] if source is None else [*kept_source(source)]
    kept += [] if ledger is None else [*kept_ledger(ledger)]
    return kept + ([] if schema is None else [KeptFile(schema, "the schema")])


def table_of(receipt: Receipt, output: Path) -> list[KeptFile]:
    """What `output` would destroy, if it is the table that a release was made of: a receipt knows the name alone."""
    name = Path(str(receipt.document.get("source") or "").partition("::")[0]).name
    if not name or not output.exists():
        return []
    return [KeptFile(output.with_name(name), "named like the sensitive table that the release was made of")]


def require_harmless(
    outputs: Sequence[Path], kept: Iterable[KeptFile], *, table: Path | None = None, own: Path | None = None
) -> None:
    """Refuses outputs that would destroy what is still needed.

    Args:
        outputs: what will be written.
        kept: what is still needed.
        table: the one whose own receipt may be replaced.
        own: a receipt that may be replaced, as what it vouches for is.

    Raises:
        ValueError: when an output is one of the files `kept` or of the other outputs, a ledger, or another release's
            receipt.
    """
    require_apart(outputs, kept)
    for path in outputs:
        if _is_ledger(path):
            raise ValueError(f"An output must not overwrite a ledger, for it alone knows what was spent. Found {path}.")
        described = _described_by(path)
        if path != own and described is not None and (table is None or set(described) - {table.name}):
            found = f"that of {', '.join(described)}" if described else "one"
            raise ValueError(
                f"An output must not overwrite the receipt of another release. Found {found} in {path}: choose another "
                "name, or move it away."
            )


def _is_ledger(path: Path) -> bool:
    from counterfoil.ledger.diagnosis import APPLICATION_ID

    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def _described_by(path: Path) -> list[str] | None:
    """The names of the files that a receipt at `path` is for; None where there is no receipt.

    No more is asked of it than its format: one that no longer holds is a record of its release still.
    """
    if not path.is_file():
        return None
    with path.open("rb") as file:
        if file.read(1) != b"{":
            return None
        file.seek(0)
        try:
            document = json.load(file)
        except (ValueError, RecursionError):  # too deep to be a receipt
            return None
    if document.get("format") != "counterfoil.receipt":
        return None
    described = document.get("outputs")
    named = described if isinstance(described, list) else []
    return [str(output.get("file")) for output in named if isinstance(output, dict)]


def require_free(paths: Sequence[Path], *, force: bool) -> None:
    """Checks that files can be written at `paths`.

    Raises:
        ValueError: when one is there (without `force`) or is a folder, or its folder is not there.
        OSError: when a folder can't be written, or its disk is full.
    """
    for path in paths:
        if path.is_dir():
            raise ValueError(f"The output must be a file. Found the folder {path}.")
        if path.exists() and not force:
            raise ValueError(f"{path} is there already. Choose another name with --out, or overwrite it with --force.")
        if not path.parent.is_dir():
            raise ValueError(f"The output's folder must exist. There is no folder {path.parent}.")
    for folder in dict.fromkeys(path.parent for path in paths):
        require_writable(folder)


def require_writable(folder: Path) -> None:
    """Checks that files can be made in `folder`, with one that is gone at once.

    Raises:
        OSError: of the folder, when it can't be written, or its disk is full.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0" * 4096)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None
