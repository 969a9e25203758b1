"""What a report is made from: a release as it was shared, and nothing of the real table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from counterfoil.domain.layout import Layout
from counterfoil.inference.pooled_marginal import CountedTogether
from counterfoil.receipt.answers import RecordedAnswers, read_answers
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.row_parts import RowParts
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.saved import (
    kept_beside,
    load_folder,
    load_kept,
    load_table,
    receipt_beside,
    require_own_table,
    require_receipts_table,
)
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import encode

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class ReleaseFacts:
    """A release as a section of a report sees it: public rows, a public receipt, and what was kept beside them.

    Args:
        rows: the synthetic rows; those of a CSV file are texts. Where they are too many to hold, what reads them.
        receipt: what they cost.
        schema: the public facts, where the receipt or the kept model has them.
        kept: the release with its model or its weighted points and its error bars, where it was kept.
        ledger: the ledger of the real table, where one was given; it stays the caller's to close.
        name: of the file or the folder; empty for a release in memory.
    """

    rows: pa.Table | RowParts | SavedRows
    receipt: Receipt
    schema: Schema | None = None
    kept: Synthesis | PointSynthesis | None = None
    ledger: Ledger | None = None
    name: str = ""
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, release: Synthesis | PointSynthesis, *, ledger: Ledger | None = None) -> ReleaseFacts:
        """The facts of a release in memory."""
        return cls(_rows(release), release.receipt, release.schema, release, ledger)

    @classmethod
    def read(cls, path: Path, *, receipt: Path | None = None, ledger: Ledger | None = None) -> ReleaseFacts:
        """The facts of a release at `path`.

        Args:
            path: a table as `synth` wrote it, or a folder that a release was saved to.
            receipt: the table's receipt; the one beside it where None.
            ledger: the ledger of the real table.

        Raises:
            ValueError: for anything else, a table that is not its receipt's, or a folder that is damaged.
            OSError: when a file can't be read.
        """
        if path.is_dir():
            if receipt is not None:
                raise ValueError(
                    f"A saved folder has its receipt in it. Found the folder {path} with `--receipt`: leave it out."
                )
            saved = load_folder(path)
            require_own_table(path, saved.receipt)
            return cls(_rows(saved), saved.receipt, saved.schema, saved, ledger, path.name)
        if not path.is_file():
            raise ValueError(f"There is no release at {path}: name a table that synth wrote, or a saved folder.")
        beside = receipt_beside(path)
        if receipt is None and not beside.is_file():
            raise ValueError(
                f"A report needs the receipt of its release. No {beside.name} lies beside {path}: give it by "
                "`--receipt`."
            )
        document = Receipt.load(beside if receipt is None else receipt)
        kept, remedy = _kept(path, document), "A report is about the rows as they were released; give those."
        if isinstance(kept, Synthesis) and not isinstance(kept.drawn, Rows):
            require_receipts_table(path, document, remedy=remedy)
            rows = kept.drawn
        else:
            rows = load_table(path, document, remedy=remedy)
        return cls(rows, document, _schema(document, kept), kept, ledger, path.name)

    @cached_property
    def answers(self) -> RecordedAnswers | None:
        """The noisy answers on the receipt; None where it records none.

        Raises:
            ValueError: for answers that do not fit the charges or the schema.
        """
        return read_answers(self.receipt.document) if "answers" in self.receipt.document else None

    @cached_property
    def counted(self) -> CountedTogether | None:
        """The noisy tables on the receipt, under their columns; None where it records no answers.

        Raises:
            ValueError: for answers that do not fit the charges or the schema.
        """
        return None if self.answers is None else CountedTogether(self.answers)

    @cached_property
    def codes(self) -> dict[str, np.ndarray]:
        """The codes [rows] of each synthesized column; empty where no schema is known.

        Raises:
            ValueError: for rows that are not the schema's.
        """
        if isinstance(self.kept, Synthesis):
            return self.kept.codes
        return {} if self.schema is None else encode(self.schema, self.some_rows)

    @cached_property
    def shares(self) -> dict[str, np.ndarray]:
        """The share of the rows that has each code, float64 [codes], of each synthesized column.

        Raises:
            ValueError: for rows that are not the schema's.
        """
        assert self.schema is not None, "there are no codes without a schema"
        domain = self.schema.domain
        if isinstance(self.kept, Synthesis):
            layout = Layout.of(domain, [(name,) for name in domain.attributes])
            counted = np.split(self.kept.drawn.counts(layout), layout.starts[1:-1])
        else:
            counted = [np.bincount(self.codes[name], minlength=domain[name]) for name in domain.attributes]
        return {name: of / max(self.count, 1) for name, of in zip(domain.attributes, counted, strict=True)}

    @property
    def column_names(self) -> list[str]:
        """The columns of the rows, in their order."""
        return list(self.rows.column_names)

    @cached_property
    def some_rows(self) -> pa.Table:
        """All rows, or the first part of those that are too many to hold; rows are in random order."""
        return self.rows if isinstance(self.rows, pa.Table) else next(self.rows.tables())

    def once(self, compute: Callable[[ReleaseFacts], Made]) -> Made:
        """`compute(self)`, computed the first time that any section asks for it."""
        if compute not in self._made:
            self._made[compute] = compute(self)
        made: Made = self._made[compute]
        return made

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.rows.num_rows if isinstance(self.rows, pa.Table) else self.rows.count


def _rows(release: Synthesis | PointSynthesis) -> pa.Table | RowParts | SavedRows:
    """The rows of a release, in memory where they are there already."""
    if isinstance(release, PointSynthesis) or isinstance(release.drawn, Rows):
        return release.to_arrow()
    return release.drawn


def _kept(path: Path, receipt: Receipt) -> Synthesis | PointSynthesis | None:
    """What was kept beside a table, where it is of the same release."""
    folder = kept_beside(path)
    if not folder.is_dir():
        return None
    if receipt_beside(path).is_file():
        return load_kept(path)
    kept = load_folder(folder)
    return kept if kept.receipt.document["charges"] == receipt.document["charges"] else None


def _schema(receipt: Receipt, kept: Synthesis | PointSynthesis | None) -> Schema | None:
    if kept is not None:
        return kept.schema
    section = receipt.document.get("answers")
    return None if section is None else read_answers(receipt.document).schema
