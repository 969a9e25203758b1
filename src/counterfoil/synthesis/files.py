"""A synthesis as a folder: rows, model, schema, error bars and receipt, each in a format of its own."""

from __future__ import annotations

import json
import os
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from counterfoil.files import write_text
from counterfoil.graphical_model import classed_model
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.json_text import json_file
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.wording import FROM_TOTAL
from counterfoil.schema import Schema
from counterfoil.synthesis import row_parts, weighted_records
from counterfoil.synthesis.error_bars_json import bars_from_json, bars_to_json
from counterfoil.synthesis.folder import ArrowFile, ReleaseFolder, load_arrow
from counterfoil.synthesis.kept import kept_of_model, require_kept
from counterfoil.synthesis.row_parts import RowParts
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.table import encode

_ROWS, _MODEL, _SCHEMA = "rows.arrow", "model.npz", "schema.toml"
_ERROR_BARS, _RECEIPT = "error_bars.json", "receipt.json"
_FOLDER = ReleaseFolder("counterfoil.synthesis", 1, (_ROWS, _MODEL, _SCHEMA, _ERROR_BARS, _RECEIPT))


def save_parts(
    folder: str | os.PathLike[str],
    schema: Schema,
    rows: Rows | RowParts | SavedRows,
    model: TableModel,
    bars: ErrorBars,
    receipt: Receipt,
) -> None:
    """Writes the parts of a `Synthesis` to a new folder, whole or not at all. Codes follow from the rows.

    Raises:
        ValueError: when `folder` exists.
        OSError: when it can't be written.
    """
    with _FOLDER.writing(folder) as draft:
        parts = rows.tables()
        first = next(parts)
        with pa.ipc.new_file(str(draft / _ROWS), first.schema, options=_options(rows)) as writer:
            for table in chain([first], parts):
                writer.write_table(table)
        model.save(draft / _MODEL)
        (draft / _MODEL).chmod((draft / _ROWS).stat().st_mode)  # temporary files are made for their owner alone
        write_text(draft / _SCHEMA, schema.to_toml())
        write_text(draft / _ERROR_BARS, json.dumps(bars_to_json(bars), allow_nan=False))
        receipt.save(draft / _RECEIPT)


def _options(rows: Rows | RowParts | SavedRows) -> pa.ipc.IpcWriteOptions:
    """Many rows are compressed, to some fifth; few are not, and are read sooner."""
    return pa.ipc.IpcWriteOptions(compression=None if isinstance(rows, Rows) else "zstd")


def load_parts(
    folder: str | os.PathLike[str],
) -> tuple[Schema, Rows | SavedRows, TableModel, ErrorBars, Receipt]:
    """What `save_parts` wrote to `folder`: the parts of a `Synthesis`, in its order.

    More than `row_parts.PART_ROWS` rows stay in their file, and are looked at when they are asked for.

    Raises:
        ValueError: for a folder that is incomplete, damaged, or of another format.
        OSError: when a file can't be read.
    """
    source = Path(folder)
    _FOLDER.require_whole(source)
    try:
        schema = Schema.from_release(source / _SCHEMA)
        file = ArrowFile.of(source / _ROWS)
        many = file.row_count() > row_parts.PART_ROWS
        rows = SavedRows.of(file, schema) if many else _held(schema, source / _ROWS)
        weighted = weighted_records.is_saved(source / _MODEL)
        model: TableModel = (weighted_records if weighted else classed_model).load(source / _MODEL)
        if model.domain != schema.domain:
            raise ValueError("its model and its schema have other columns")
        bars = bars_from_json(json_file(source / _ERROR_BARS, "error bars"), schema.domain)
        receipt = Receipt.load(source / _RECEIPT)
        _require_total(model.total, receipt)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"The synthesis {str(source)!r} can't be read: {error}") from error
    _FOLDER.require_receipt(source, receipt, rows=rows.count)
    require_kept(source, receipt, kept_of_model(model, bars))
    return schema, rows, model, bars, receipt


def _held(schema: Schema, path: Path) -> Rows:
    """The rows in memory.

    Raises:
        ValueError: for a file that holds anything but rows of the schema.
        OSError: when it can't be read.
    """
    table = load_arrow(path)
    codes = encode(schema, table)
    return Rows(np.column_stack([codes[name] for name in schema.domain.attributes]).astype(np.int32), table)


def _require_total(total: float, receipt: Receipt) -> None:
    """Refuses a model of another number of records than the receipt states, where one row was drawn for each."""
    rows = receipt.document["rows"]
    if rows["how"] in FROM_TOTAL and not abs(max(round(total), 1) - rows["drawn"]) <= 1:
        raise ValueError(f"its receipt states {rows['drawn']:,} rows, and its model counts {total:,.6g} records")
