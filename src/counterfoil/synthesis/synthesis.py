"""What a synthesizer returns: rows, the model they were drawn from, and the receipt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from counterfoil.graphical_model.error_bars import ErrorBar, ErrorBars
from counterfoil.graphical_model.implied_bound import implied_bar
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.text import terms_of
from counterfoil.schema import Schema
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.conditional_rows import draw_by_codes, draw_where
from counterfoil.synthesis.files import load_parts, save_parts
from counterfoil.synthesis.marginal_table import MarginalTable, labeled, names_in
from counterfoil.synthesis.row_memory import require_rows_fit
from counterfoil.synthesis.row_parts import RowParts
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.streamed_rows import require_streamed_rows_fit
from counterfoil.synthesis.table import as_pandas, as_polars, in_order, write_parts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from counterfoil.synthesis.picture import Picture


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
    drawn: Rows | RowParts | SavedRows
    model: TableModel
    error_bars: ErrorBars
    receipt: Receipt

    @property
    def rows(self) -> int:
        """How many rows the synthetic table has."""
        return self.drawn.count

    @property
    def column_names(self) -> list[str]:
        """The columns of the synthetic table, in their order."""
        return self.drawn.column_names

    @property
    def codes(self) -> dict[str, np.ndarray]:
        """The integer codes [rows] of each synthesized column."""
        return dict(zip(self.schema.domain.attributes, self.drawn.codes.T, strict=True))

    def __repr__(self) -> str:
        return f"Synthesis({self.rows:,} rows of {len(self.column_names)} columns, {terms_of(self.receipt.document)})"

    def _repr_html_(self) -> str:
        from counterfoil.synthesis.notebook import release_html

        return release_html(self)

    def to_arrow(self) -> pa.Table:
        """The synthetic rows with values as in the schema."""
        return self.drawn.table

    def to_pandas(self) -> pd.DataFrame:
        """The synthetic rows as a pandas table; needs pandas.

        Whole numbers and truths that may be missing are `Int64` and `boolean`, dates `datetime64[ms]`, and ordered
        texts ordered categories.
        """
        return as_pandas(self.drawn.table, self.schema)

    def to_polars(self) -> pl.DataFrame:
        """The synthetic rows as a polars table, with ordered texts as an `Enum`; needs polars."""
        return as_polars(self.drawn.table, self.schema)

    def to_spark(self, session: Any, rows: int | None = None, *, seed: int | None = None) -> Any:
        """Fresh rows from the model as a Spark DataFrame, drawn by the executors; needs PySpark there and here.

        The number of rows is exact. A partition that is computed again has the same rows. Nothing is drawn before the
        frame is used, so that a model which hardly ever meets the schema's rules fails then.

        Args:
            session: the SparkSession.
            rows: how many; as many as this table has where None.
            seed: makes the draw repeatable, whatever the cluster; it protects nobody, because the model may be shared.

        Raises:
            ValueError: for a number of rows that is not a whole one of at least 1.
        """
        from counterfoil.synthesis.spark_rows import draw_in_spark

        wanted = self.rows if rows is None else rows
        # Of each executor's memory a part is enough, however many rows there are.
        require_rows_fit(min(wanted, 1) if isinstance(wanted, int) else wanted, len(self.schema.domain.attributes))
        return draw_in_spark(session, self.model, self.schema, self.drawn.arrow_schema, wanted, seed)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all; a .csv file in the schema's notation."""
        tables = self.drawn.tables(coded=_is_parquet(path))
        write_parts(tables, os.fspath(path), self.schema, self.receipt.document)

    def sample(self, rows: int, where: Mapping[str, Any] | str | None = None, *, seed: int | None = None) -> pa.Table:
        """Fresh rows from the model; with `where`, from its conditional distribution.

        Args:
            rows: how many.
            where: a condition as in rules, such as "sex == 'F' and age >= 60"; or, for some columns, the value that
                they must have, or a list of values of which one. Within a code that stands for several numbers the
                model knows nothing: rows get the very number, or one of those in the list, each equally likely, and
                the code is as likely as the share of its numbers that is in the list makes it.
            seed: makes the draw repeatable; it protects nobody, because the model may be shared.

        Raises:
            ValueError: for an unknown column, a value that it can't have, a condition of probability 0, or when too few
                rows that are drawn meet the condition and the schema's rules.
        """
        require_rows_fit(rows, len(self.schema.domain.attributes))
        condition = Condition.of(self.schema, where)
        table = draw_where(self.model, self.schema, rows, condition, np.random.default_rng(seed))
        return in_order(table, self.drawn.column_names)

    def write_sample(
        self,
        path: str | os.PathLike[str],
        rows: int,
        where: Mapping[str, Any] | str | None = None,
        *,
        seed: int | None = None,
        receipt: Receipt | None = None,
    ) -> None:
        """Writes the rows that `sample` gives to a .csv or .parquet file, whole or not at all.

        They are written as they are drawn, so that memory need not hold all of them, except where `where` is an
        expression or asks for numbers within codes: these rows are drawn again until they meet it.

        Args:
            path: of the file.
            rows: how many, as `sample` has it.
            where: which rows, as `sample` has it.
            seed: as `sample` has it.
            receipt: what the metadata of a Parquet file say of the rows; nothing where None.

        Raises:
            ValueError: as `sample` does, and where the disk could not hold so many rows.
            OSError: where the file can't be written.
        """
        condition, columns = Condition.of(self.schema, where), len(self.schema.domain.attributes)
        if condition.is_of_codes:
            require_streamed_rows_fit(rows, columns, path)
        else:
            require_rows_fit(rows, columns)
        rng, names = np.random.default_rng(seed), self.drawn.column_names
        if condition.is_of_codes:
            tables = (
                draw_by_codes(self.model, self.schema, rows, condition, rng)
                .ordered(names)
                .tables(coded=_is_parquet(path))
            )
        else:
            tables = iter([in_order(draw_where(self.model, self.schema, rows, condition, rng), names)])
        write_parts(tables, os.fspath(path), self.schema, None if receipt is None else receipt.document)

    def marginal(self, attributes: str | Iterable[str]) -> MarginalTable:
        """The model's expected counts for each combination of values of `attributes`, with labels, in that order."""
        names = names_in(self.schema, attributes)
        return labeled(self.schema, names, self.model.marginal(names))

    def error_bar(self, attributes: str | Iterable[str], beta: float = 0.05) -> ErrorBar:
        """A bound on how far `marginal(attributes)` is from the real table's, with probability 1 - beta.

        Where nothing that was released bounds it by itself, the bounds on the marginals within it are used.
        """
        return implied_bar(self.error_bars, self.model, names_in(self.schema, attributes), beta)

    def plot(self, columns: str | Sequence[str] | None = None) -> Picture:
        """Pictures of the columns, for a notebook or to `save`; needs the extra `report`.

        Args:
            columns: one or several; the first 24 where None.

        Raises:
            ValueError: for an unknown column.
            ModuleNotFoundError: without the extra `report`.
        """
        from counterfoil.synthesis.plotting import plot

        return plot(self, columns)

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


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".parquet")
