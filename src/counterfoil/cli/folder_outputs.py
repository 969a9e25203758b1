"""The folder that `synth --out FOLDER/` leaves: checked before anything is charged, written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.outputs import Outputs, require_harmless, require_writable
from counterfoil.kept_files import KeptFile

if TYPE_CHECKING:
    from counterfoil.methods.method import SyntheticRelease
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.signature import SigningKey


@dataclass(frozen=True)
class FolderOutputs:
    """A release in a folder of its own, which is also the folder of its model.

    Args:
        folder: its place.
        form: the format of its table, "csv" or "parquet".
    """

    folder: Path
    form: str = "parquet"

    @property
    def table(self) -> Path:
        """The synthetic rows."""
        return self.folder / f"synthetic.{self.form}"

    @property
    def receipt(self) -> Path:
        """The receipt, by the name that it has in every saved folder."""
        return self.folder / "receipt.json"

    @property
    def report(self) -> Path | None:
        """The page with pictures; None where none was drawn."""
        page = self.folder / "report.html"
        return page if page.is_file() else None

    @property
    def model(self) -> Path | None:
        """The folder itself."""
        return self.folder

    @property
    def answers(self) -> Path:
        """Where answers are kept until the release is whole: people_release has people_release.answers beside it."""
        return self.folder.with_name(f"{self.folder.name}.answers")

    def require_harmless(self, kept: Iterable[KeptFile], *further: Path) -> None:
        """Refuses to replace a folder that holds what is still needed, with `force` too; reads no record.

        Args:
            kept: the files that are still needed.
            further: files that will be written beside the folder.

        Raises:
            ValueError: when a file in the folder, or one that will be written, is one of the files `kept`, a ledger, or
                another release's receipt; when a further file would lie in the folder.
        """
        from counterfoil.publishing.checksums import files_in
        from counterfoil.publishing.release_folder import is_release

        for path in further:
            if Path(os.path.realpath(self.folder)) in Path(os.path.realpath(path)).parents:
                raise ValueError(
                    f"A release takes the place of its folder, so that nothing else is kept there. Found {path}: "
                    "choose another place."
                )
        # Any other folder with files in it is refused as a whole, and not searched.
        present = [self.folder / name for name in files_in(self.folder)] if is_release(self.folder) else []
        planned = [path for path in (self.table, self.receipt) if path not in present]
        # The receipt of the release that is there goes with it, whatever the format of its table.
        table = next((path for path in present if path.stem == self.table.stem), self.table)
        require_harmless([self.folder, *present, *planned, *further], kept, table=table)

    def require_possible(self, *, force: bool) -> None:
        """Refuses what could only fail after the budget was spent.

        Raises:
            ValueError: for an unknown format, a name that is taken (a release without `force`), or a folder above it
                that is not there.
            OSError: when it can't be written there, or its disk is full.
        """
        from counterfoil.publishing.release_folder import require_replaceable_folder, table_name

        table_name(self.form)
        require_replaceable_folder(Path(os.path.realpath(self.folder)))
        if self.folder.is_dir() and any(self.folder.iterdir()) and not force:
            raise ValueError(
                f"{self.folder} holds a release already. Choose another name with --out, or replace all of it with "
                "--force."
            )
        above = Path(os.path.realpath(self.folder)).parent
        if not above.is_dir():
            raise ValueError(f"The output's folder must exist. There is no folder {above}.")
        require_writable(above)

    def write(
        self, synthesis: SyntheticRelease, key: SigningKey | None = None, *, moment: float | None = None
    ) -> Receipt:
        """Writes all of it, or nothing; returns the receipt, which names the table's file.

        Args:
            synthesis: what was made.
            key: signs the receipt; nobody signs it where None.
            moment: the time of change that all files get, in seconds since 1970; their own where None.

        Raises:
            OSError: when something can't be written.
        """
        from counterfoil.publishing.release_folder import publish
        from counterfoil.synthesis.point_synthesis import PointSynthesis
        from counterfoil.synthesis.synthesis import Synthesis

        assert isinstance(synthesis, (Synthesis, PointSynthesis)), "methods that are named make one of the two"
        return publish(synthesis, self.folder, form=self.form, key=key, moment=moment).receipt


def outputs_of(out: str | None, default: Path, form: str | None, *, keeps_model: bool) -> Outputs | FolderOutputs:
    """Where a release goes: a file beside its receipt, or a folder with everything.

    Args:
        out: as it was given: a name that ends in .csv or .parquet is a file, one that ends in a slash a folder, and so
            is an empty folder that is there.
        default: the file where nothing was given.
        form: the format of a folder's table.
        keeps_model: whether the model is kept beside a file; a folder always has it.

    Raises:
        ValueError: for a format that a file's name already says, and for the current folder.
    """
    path = default if out is None else Path(out)
    named_file = path.suffix.lower() in (".csv", ".parquet")
    ends = tuple(mark for mark in (os.sep, os.altsep) if mark)
    if out is not None and not named_file and (out.endswith(ends) or path.is_dir()):
        if path.name in ("", ".."):
            raise ValueError(
                f"A release takes the place of its folder: name one, such as people_release/. Found {out!r}."
            )
        return FolderOutputs(path, form or "parquet")
    if form is not None:
        raise ValueError(
            "`--format` is for the table of a folder, such as --out people_release/; the name of a file says its own. "
            f"Found it with {path}."
        )
    return Outputs(path, keeps_model=keeps_model)
