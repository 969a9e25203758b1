"""What synthesizers of points return: rows, the weighted points behind them, and the receipt."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa

from counterfoil.accounting.row_counts import count_warnings, records_counted
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.files import write_text
from counterfoil.geometry.space import Space
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.text import terms_of
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.plain_arrays import array_of
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.folder import ReleaseFolder, load_parquet
from counterfoil.synthesis.kept import kept_of_points, require_kept
from counterfoil.synthesis.marginal_table import MarginalTable, labeled, names_in
from counterfoil.synthesis.point_rows import Draw, draw_rows
from counterfoil.synthesis.row_memory import require_rows_fit
from counterfoil.synthesis.shortfall import shortfall
from counterfoil.synthesis.table import as_pandas, as_polars, in_order, with_identifiers, write_table
from counterfoil.synthesis.unit_rows import unrelated_rows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from counterfoil.synthesis.picture import Picture

_ROWS, _SUPPORT, _POINTS = "rows.parquet", "support.parquet", "points.npz"
_SCHEMA, _RECEIPT = "schema.toml", "receipt.json"
POINTS_FORMAT = "counterfoil.points"
_FOLDER = ReleaseFolder(POINTS_FORMAT, 1, (_ROWS, _SUPPORT, _POINTS, _SCHEMA, _RECEIPT))


@dataclass(frozen=True, eq=False)
class PointSynthesis:
    """Synthetic rows, and the probability measure that they were drawn from. Everything in it may be shared.

    Args:
        schema: the public facts that the rows follow.
        table: the rows, identifiers made anew.
        support: the values of the m points that the measure sits on, one row each, without identifiers.
        points: float64 [m, k], the same in coordinates whose distance is the space's.
        weights: float64 [m], their probabilities: weighted points say more than as many rows drawn from them.
        receipt: what it cost.
    """

    schema: Schema
    table: pa.Table
    support: pa.Table
    points: np.ndarray
    weights: np.ndarray
    receipt: Receipt

    @property
    def rows(self) -> int:
        """How many rows the synthetic table has."""
        return self.table.num_rows

    @property
    def column_names(self) -> list[str]:
        """The columns of the synthetic table, in their order."""
        return list(self.table.column_names)

    def __repr__(self) -> str:
        return (
            f"PointSynthesis({self.rows:,} rows of {len(self.column_names)} columns, {terms_of(self.receipt.document)})"
        )

    def _repr_html_(self) -> str:
        from counterfoil.synthesis.notebook import release_html

        return release_html(self)

    def to_arrow(self) -> pa.Table:
        """The synthetic rows with values as in the schema."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The synthetic rows as a pandas table, as `Synthesis.to_pandas` has it; needs pandas."""
        return as_pandas(self.table, self.schema)

    def to_polars(self) -> pl.DataFrame:
        """The synthetic rows as a polars table, as `Synthesis.to_polars` has it; needs polars."""
        return as_polars(self.table, self.schema)

    def to_numpy(self) -> np.ndarray:
        """float64 [rows, columns] of the synthetic rows, where every column holds numbers."""
        return np.stack([self.table.column(name).to_numpy() for name in self.table.column_names], axis=1).astype(float)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all; a .csv file in the schema's notation."""
        write_table(self.table, os.fspath(path), self.schema, self.receipt.document)

    def write_points(self, path: str | os.PathLike[str]) -> None:
        """Writes the weighted points to a .csv or .parquet file, with a last column `weight`.

        Raises:
            ValueError: where the schema has a column of that name.
        """
        if "weight" in self.support.column_names:
            raise ValueError("The schema has a column `weight`: take `support` and `weights` from Python instead.")
        write_table(self.support.append_column("weight", array_of(self.weights)), str(Path(path)), self.schema)

    def sample(self, rows: int, where: Mapping[str, Any] | str | None = None, *, seed: int | None = None) -> pa.Table:
        """Rows drawn from the weighted points; with `where`, from those that meet it.

        Args:
            rows: how many.
            where: as `Synthesis.sample` has it; points are values, so that none is made to meet it.
            seed: makes the draw repeatable; it protects nobody, because the points may be shared.

        Raises:
            ValueError: for an unknown column, a value that it can't have, or a condition that no point meets.
        """
        require_rows_fit(rows, len(self.schema.domain.attributes))
        condition, rng = Condition.of(self.schema, where), np.random.default_rng(seed)
        weights = np.where(condition.among(self.support), self.weights, 0.0)
        if not weights.sum() > 0:
            raise ValueError(f"`where` must be met by some of the {len(weights):,} points. Found {where!r}.")
        chosen = rng.choice(len(weights), rows, p=weights / weights.sum())
        table = with_identifiers(self.schema, self.support.take(array_of(chosen)), rng)
        return in_order(table, self.table.column_names)

    def marginal(self, attributes: str | Iterable[str]) -> MarginalTable:
        """The measure's expected counts among `rows` rows for each combination of codes of `attributes`."""
        names = names_in(self.schema, attributes)
        domain = self.schema.domain.shape(names)
        codes = [self.schema[name].encode(self.support.column(name)).astype(np.int64) for name in names]
        cells = np.ravel_multi_index(codes, domain)
        counts = np.bincount(cells, weights=self.weights * self.rows, minlength=math.prod(domain)).reshape(domain)
        return labeled(self.schema, names, counts)

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
        """Writes everything to `folder`, which must not exist yet: rows, weighted points, schema and receipt.

        Raises:
            ValueError: when `folder` exists.
            OSError: when it can't be written.
        """
        with _FOLDER.writing(folder) as draft:
            write_table(self.table, draft / _ROWS)
            write_table(self.support, draft / _SUPPORT)
            np.savez(draft / _POINTS, allow_pickle=False, points=self.points, weights=self.weights)
            write_text(draft / _SCHEMA, self.schema.to_toml())
            self.receipt.save(draft / _RECEIPT)

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> PointSynthesis:
        """What `save` wrote.

        Raises:
            ValueError: for a folder that is incomplete, damaged, or of another format.
            OSError: when a file can't be read.
        """
        source = Path(folder)
        _FOLDER.require_whole(source)
        try:
            with np.load(source / _POINTS, allow_pickle=False) as stored:
                points, weights = stored["points"], stored["weights"]
            synthesis = PointSynthesis(
                Schema.from_release(source / _SCHEMA),
                load_parquet(source / _ROWS),
                load_parquet(source / _SUPPORT),
                points,
                weights,
                Receipt.load(source / _RECEIPT),
            )
            synthesis._require_consistent()
        except (ValueError, TypeError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"The synthesis {str(source)!r} can't be read: {error}") from error
        _FOLDER.require_receipt(source, synthesis.receipt, rows=synthesis.rows)
        kept = kept_of_points(synthesis.points, synthesis.weights, synthesis.support)
        require_kept(source, synthesis.receipt, kept)
        return synthesis

    def _require_consistent(self) -> None:
        """Refuses parts of different releases: a file may be whole and not belong here."""
        columns = [column.name for column in self.schema.synthesized]
        if self.support.column_names != columns or not set(columns) <= set(self.table.column_names):
            raise ValueError("its rows and its schema have other columns")
        m = self.support.num_rows
        if self.points.ndim != 2 or self.points.shape[0] != m or self.weights.shape != (m,):
            raise ValueError("its points and its weights differ in number")
        if not (np.isfinite(self.points).all() and (self.weights >= 0).all() and abs(self.weights.sum() - 1) < 1e-6):
            raise ValueError("its points must be finite, and its weights probabilities")


def require_space(curator: Curator, space: Space) -> None:
    """Raises ValueError where the points of `space` are no rows of the curator's schema: before anything is charged."""
    known = curator.domain.attributes
    for name in (*space.columns, *space.numbers):
        if name not in known:
            raise ValueError(
                f"A space may only have columns that the schema synthesizes. Found {name!r}.{did_you_mean(name, known)}"
            )
    rng = np.random.default_rng()
    space.table(space.random(1, rng), curator.schema, rng)


def release_points(
    curator: Curator,
    space: Space,
    *,
    measure: tuple[np.ndarray, np.ndarray],
    draw: Draw,
    describe: tuple[str, Mapping[str, Any]],
    total: float,
    rows: int | None,
    counted: tuple[float, float] | None = None,
    warnings: Sequence[str] = (),
) -> PointSynthesis:
    """The last step of a synthesizer of points.

    Args:
        curator: after its last question.
        space: where the points live.
        measure: points [m, ...] and weights [m].
        draw: gives rows as points.
        describe: the method's name and its public parameters.
        total: about how many records there are, which is how many rows are drawn where `rows` is None.
        rows: how many rows to draw.
        counted: the number of records as it was counted, and its standard deviation; `total` and 0 where None.
        warnings: public sentences.

    Raises:
        ValueError: when no row that is drawn meets the schema's rules.
    """
    counted = (total, 0.0) if counted is None else counted
    n = max(round(total), 1) if rows is None else rows
    rng = curator.randomness.generator()
    points, weights = measure
    table = draw_rows(curator.schema, space, draw, n, rng)
    method, parameters = describe
    drawn = table.num_rows
    support, places, shares = space.table(points, curator.schema, rng), space.embed(points), weights / weights.sum()
    receipt = Receipt.from_curator(
        curator,
        method=method,
        parameters=parameters,
        rows=drawn,
        rows_requested=rows is not None,
        rows_short=drawn < n,
        kept=kept_of_points(places, shares, support),
        warnings=[
            *warnings,
            *shortfall(curator.schema, drawn=drawn, requested=n),
            *count_warnings(*counted, rows),
            *budget_warnings(curator.budget, records_counted(*counted)),
            *unrelated_rows(curator.neighbors, curator.schema),
        ],
    )
    return PointSynthesis(
        curator.schema,
        in_order(with_identifiers(curator.schema, table, rng), curator.column_names),
        support,
        places,
        shares,
        receipt,
    )
