"""A synthesis as a folder: rows, model, schema, error bars and receipt, each in a format of its own."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.domain.domain import Clique, Domain
from counterfoil.files import write_text
from counterfoil.graphical_model import graphical_model
from counterfoil.graphical_model.error_bars import ErrorBars, MarginalBound, MeasuredBound, NoisyBound, PassedOverBound
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.json_text import json_file
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.wording import FROM_TOTAL
from counterfoil.schema import Schema
from counterfoil.synthesis import row_parts, weighted_records
from counterfoil.synthesis.folder import ArrowFile, ReleaseFolder, load_arrow
from counterfoil.synthesis.row_parts import RowParts
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.table import encode

_ROWS, _MODEL, _SCHEMA = "rows.arrow", "model.npz", "schema.toml"
_ERROR_BARS, _RECEIPT = "error_bars.json", "receipt.json"
_FOLDER = ReleaseFolder("counterfoil.synthesis", 1, (_ROWS, _MODEL, _SCHEMA, _ERROR_BARS, _RECEIPT))

_BOUNDS = {"measured": MeasuredBound, "told": NoisyBound, "passed_over": PassedOverBound}
_RENAMED = {"noisy_distance": "told", "told": "noisy_distance"}
"""From the fields of a bound to the keys of the file, and back, where they differ."""


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
        write_text(draft / _ERROR_BARS, json.dumps(_bars_to_json(bars), allow_nan=False))
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
        model: TableModel = (weighted_records if weighted else graphical_model).load(source / _MODEL)
        if model.domain != schema.domain:
            raise ValueError("its model and its schema have other columns")
        bars = _bars_from_json(json_file(source / _ERROR_BARS, "error bars"), schema.domain)
        receipt = Receipt.load(source / _RECEIPT)
        _require_total(model.total, receipt)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"The synthesis {str(source)!r} can't be read: {error}") from error
    _FOLDER.require_receipt(source, receipt, rows=rows.count)
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


def _bars_to_json(bars: ErrorBars) -> dict[str, Any]:
    kinds = {kind: name for name, kind in _BOUNDS.items()}
    return {
        "total": bars.total,
        "counted": bars.counted,
        "total_error": bars.total_error,
        "bounds": [
            {"attributes": list(clique), "kind": kinds[type(bound)], **_keyed(bound)}
            for clique, bounds in bars.bounds.items()
            for bound in bounds
        ],
    }


def _keyed(bound: MarginalBound) -> dict[str, float]:
    return {_RENAMED.get(name, name): value for name, value in asdict(bound).items()}


def _bars_from_json(document: dict[str, Any], domain: Domain) -> ErrorBars:
    bounds: dict[Clique, tuple[MarginalBound, ...]] = {}
    for record in document["bounds"]:
        parameters = {_RENAMED.get(key, key): value for key, value in record.items()}
        clique = domain.canonical(parameters.pop("attributes"))
        bound: MarginalBound = _BOUNDS[parameters.pop("kind")](**parameters)
        bounds[clique] = (*bounds.get(clique, ()), bound)
    return ErrorBars(domain, bounds, document["total"], document["counted"], document["total_error"])
