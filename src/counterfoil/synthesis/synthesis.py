"""What a synthesizer returns: rows, the model they were drawn from, and the receipt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.error_bars import ErrorBar, ErrorBars
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.synthesis.files import load_parts, save_parts
from counterfoil.synthesis.row_sampling import Rows, draw
from counterfoil.synthesis.shortfall import shortfall
from counterfoil.synthesis.table import write_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, eq=False)
class Synthesis:
    """A synthetic table with its model and its receipt. Everything in it may be shared.

    Args:
        schema: the public facts that the table follows.
        drawn: the synthetic rows.
        model: the distribution that they were drawn from.
        error_bars: how far the model can be from the real table.
        receipt: what it cost.
    """

    schema: Schema
    drawn: Rows
    model: TableModel
    error_bars: ErrorBars
    receipt: Receipt

    @property
    def rows(self) -> int:
        """How many rows the synthetic table has."""
        return self.drawn.table.num_rows

    @property
    def codes(self) -> dict[str, np.ndarray]:
        """The integer codes [rows] of each synthesized column."""
        return dict(zip(self.schema.domain.attributes, self.drawn.codes.T, strict=True))

    def to_arrow(self) -> pa.Table:
        """The synthetic rows with values as in the schema."""
        return self.drawn.table

    def to_pandas(self) -> pd.DataFrame:
        """The synthetic rows as a pandas table; needs pandas."""
        return self.drawn.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The synthetic rows as a polars table; needs polars."""
        import polars

        frame = polars.from_arrow(self.drawn.table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all."""
        write_table(self.drawn.table, os.fspath(path))

    def sample(self, rows: int, where: Mapping[str, Any] | None = None, *, seed: int | None = None) -> pa.Table:
        """Fresh rows from the model; with `where`, from its exact conditional distribution.

        Args:
            rows: how many.
            where: for some columns, the value that they must have, or a list of values of which one. Values that the
                schema gives the same code count as one: those of a bin, and those beyond a bound with the bound.
            seed: makes the draw repeatable; it protects nobody, because the model may be shared.

        Raises:
            ValueError: for an unknown column, a value that it can't have, a condition of probability 0, or when too few
                rows that are drawn meet the schema's rules.
        """
        evidence = {name: self._codes_of(name, value) for name, value in (where or {}).items()}
        rng = np.random.default_rng(seed)
        table = draw(self.model, self.schema, rows, rng, where=evidence or None).table
        for sentence in shortfall(self.schema, drawn=table.num_rows, requested=rows):
            raise ValueError(sentence)
        return table

    def marginal(self, attributes: Iterable[str]) -> np.ndarray:
        """The model's counts for `attributes`, in the schema's order, shaped by their numbers of codes."""
        return self.model.marginal(self.schema.domain.canonical(attributes))

    def error_bar(self, attributes: Iterable[str], beta: float = 0.05) -> ErrorBar:
        """A bound on how far `marginal(attributes)` is from the real table's, with probability 1 - beta."""
        return self.error_bars.bar(attributes, beta)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes everything to `folder`, which must not exist yet: rows, model, schema, error bars and receipt."""
        save_parts(folder, self.schema, self.drawn, self.model, self.error_bars, self.receipt)

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Synthesis:
        """What `save` wrote.

        Raises:
            ValueError: for a folder that is incomplete, damaged, or of another format.
        """
        return Synthesis(*load_parts(folder))

    def _codes_of(self, name: str, value: Any) -> list[int]:
        attributes = self.schema.domain.attributes
        if name not in attributes:
            raise ValueError(f"`where` must name synthesized columns. Found {name!r}.{did_you_mean(name, attributes)}")
        column = self.schema[name]
        values = list(value) if isinstance(value, (list, tuple, set, frozenset, range)) else [value]
        return sorted({int(code) for code in column.encode(MixedCells(values))})
