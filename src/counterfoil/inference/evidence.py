"""What a release says about the real table: its rows, and the noisy answers on its receipt."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.receipt.answers import RecordedAnswers, read_answers
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.wording import condition_of
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.saved import load_folder, load_table, receipt_beside, require_own_table
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import encode


@dataclass(frozen=True, eq=False)
class Evidence:
    """A release as inference sees it: public rows and a public receipt, nothing sensitive.

    Args:
        table: the synthetic rows.
        receipt: their receipt, with the noisy answers.
        answers: those answers.
    """

    table: pa.Table
    receipt: Receipt
    answers: RecordedAnswers

    @classmethod
    def of(cls, release: Any, *, receipt: str | os.PathLike[str] | None = None) -> Evidence:
        """The evidence of a release.

        Args:
            release: a `Synthesis` or a `PointSynthesis`; the path of a saved one; or of a table as `synth` wrote it.
            receipt: the path of the table's receipt; beside the table, with its name, where None.

        Raises:
            ValueError: for anything else, a table that is not its receipt's, or a receipt without answers.
            OSError: when a file can't be read.
        """
        if isinstance(release, Evidence):
            return release
        if isinstance(release, (Synthesis, PointSynthesis)):
            return cls(release.to_arrow(), release.receipt, read_answers(release.receipt.document))
        if not isinstance(release, str | os.PathLike):
            raise ValueError(
                "Inference needs a release with its receipt: a `Synthesis` or a `PointSynthesis`, or the path of its "
                f"table or folder. Found {type(release).__name__}: give one of these."
            )
        path = Path(release)
        if path.is_dir():
            saved = load_folder(path)
            require_own_table(path, saved.receipt)
            return cls.of(saved)
        if not path.exists():
            raise ValueError(f"There is no release {str(path)!r}: give a table that synth wrote, or a saved folder.")
        if receipt is None and not receipt_beside(path).exists():
            raise ValueError(
                f"No receipt lies beside {path} ({receipt_beside(path).name}): give it by `--receipt` (`receipt` in "
                "Python), or give a table that synth wrote."
            )
        document = Receipt.load(receipt_beside(path) if receipt is None else Path(receipt))
        table = load_table(path, document, remedy="Inference rests on the rows as they were released; give those.")
        return cls(table, document, read_answers(document.document))

    @property
    def schema(self) -> Schema:
        """The public facts."""
        return self.answers.schema

    @property
    def conditional(self) -> str | None:
        """The condition under which the rows were drawn, so that they are not like the real records; None for none."""
        return condition_of(self.receipt.document)

    @cached_property
    def codes(self) -> dict[str, np.ndarray]:
        """The codes [rows] of each synthesized column of the synthetic rows."""
        return encode(self.schema, self.table)
