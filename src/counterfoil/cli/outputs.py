"""The files that a release leaves: checked before anything is charged, written all or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil.methods.method import SyntheticRelease
    from counterfoil.receipt.receipt import Receipt


@dataclass(frozen=True)
class Outputs:
    """Where the synthetic table and its receipt go.

    Args:
        table: a .csv or .parquet file.
    """

    table: Path

    @property
    def receipt(self) -> Path:
        """Beside the table: synthetic.parquet has synthetic.receipt.json."""
        return self.table.with_name(f"{self.table.stem}.receipt.json")

    def require_possible(self, *, force: bool) -> None:
        """Refuses what could only fail after the budget was spent.

        Raises:
            ValueError: for an unknown suffix, files that are there (without `force`), a folder that is not.
            OSError: when the folder can't be written, or its disk is full.
        """
        from counterfoil.synthesis.table import check_suffix

        check_suffix(self.table)
        require_free([self.table, self.receipt], force=force)

    def write(self, synthesis: SyntheticRelease) -> Receipt:
        """Writes both files, or neither; returns the receipt, which names the table's file.

        Both are made in a folder of their own beside their places, and moved when both are whole.

        Raises:
            OSError: when they can't be written.
        """
        folder = self.table.parent
        with tempfile.TemporaryDirectory(dir=folder, prefix=".counterfoil-") as made, ExitStack() as undo:
            draft = Outputs(Path(made) / self.table.name)
            synthesis.write(draft.table)
            receipt = synthesis.receipt.with_output(draft.table, rows=synthesis.rows)
            receipt.save(draft.receipt)
            os.replace(draft.receipt, self.receipt)
            undo.callback(self.receipt.unlink, missing_ok=True)
            os.replace(draft.table, self.table)
            undo.pop_all()
        return receipt


def require_free(paths: Sequence[Path], *, force: bool) -> None:
    """Checks that files can be written at `paths`.

    Raises:
        ValueError: when one is there (without `force`) or is a folder, or its folder is not there.
        OSError: when the folder can't be written, or its disk is full.
    """
    for path in paths:
        if path.is_dir():
            raise ValueError(f"The output must be a file. Found the folder {path}.")
        if path.exists() and not force:
            raise ValueError(f"{path} is there already. Choose another name with --out, or overwrite it with --force.")
        if not path.parent.is_dir():
            raise ValueError(f"The output's folder must exist. There is no folder {path.parent}.")
    with tempfile.TemporaryFile(dir=paths[0].parent) as probe:
        probe.write(b"\0" * 4096)
        probe.flush()
        os.fsync(probe.fileno())
