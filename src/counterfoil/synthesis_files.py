"""A synthesis as a folder: rows, model, schema, error bars and receipt, each in a format of its own.

The rows are synthetic and public: this is the one module outside the curator that reads a table back, and it reads
nothing but what `save_synthesis` wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.drawing import Rows
from counterfoil.files import sha256_of, write_text
from counterfoil.marginals import graphical_model
from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.error_bars import Bound, ErrorBars, MeasuredBound, PassedOverBound, ToldBound
from counterfoil.report.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis import Synthesis
from counterfoil.table import encode

FORMAT = "counterfoil.synthesis"
FORMAT_VERSION = 1

_INDEX = "synthesis.json"
_ROWS, _MODEL, _SCHEMA = "rows.arrow", "model.npz", "schema.toml"
_ERROR_BARS, _RECEIPT = "error_bars.json", "receipt.json"
_FILES = (_ROWS, _MODEL, _SCHEMA, _ERROR_BARS, _RECEIPT)

_BOUNDS = {"measured": MeasuredBound, "told": ToldBound, "passed_over": PassedOverBound}


def save_synthesis(synthesis: Synthesis, folder: str | os.PathLike[str]) -> None:
    """Writes `synthesis` to a new folder, whole or not at all: to a hidden one beside it, which is then renamed.

    An index holds the format's version and the SHA-256 of each file. Codes are left out: they follow from the rows.

    Raises:
        ValueError: when `folder` exists.
        OSError: when it can't be written.
    """
    target = Path(folder)
    if target.exists():
        raise ValueError(f"A synthesis is saved to a new folder. Found {str(target)!r}: remove it, or choose another.")
    draft = target.parent / f".{target.name}.{uuid.uuid4().hex}.part"
    draft.mkdir()
    try:
        table = synthesis.to_arrow()
        with pa.ipc.new_file(str(draft / _ROWS), table.schema) as writer:
            writer.write_table(table)
        synthesis.model.save(draft / _MODEL)
        (draft / _MODEL).chmod((draft / _ROWS).stat().st_mode)  # temporary files are made for their owner alone
        write_text(draft / _SCHEMA, synthesis.schema.to_toml())
        write_text(draft / _ERROR_BARS, json.dumps(_bars_to_json(synthesis.error_bars), allow_nan=False))
        synthesis.receipt.save(draft / _RECEIPT)
        files = {name: sha256_of(draft / name) for name in _FILES}
        index = {"format": FORMAT, "format_version": FORMAT_VERSION, "files": files}
        write_text(draft / _INDEX, json.dumps(index, indent=2) + "\n")
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def load_synthesis(folder: str | os.PathLike[str]) -> Synthesis:
    """What `save_synthesis` wrote to `folder`.

    Raises:
        ValueError: for a folder that is incomplete, damaged, or of another format.
        OSError: when a file can't be read.
    """
    source = Path(folder)
    _require_whole(source)
    try:
        schema = Schema.from_toml(source / _SCHEMA)
        with pa.ipc.open_file(str(source / _ROWS)) as reader:
            table = reader.read_all()
        codes = encode(schema, table)
        rows = np.column_stack([codes[name] for name in schema.domain.attributes]).astype(np.int32)
        model = graphical_model.load(source / _MODEL)
        if model.domain != schema.domain:
            raise ValueError("its model and its schema have other columns")
        bars = _bars_from_json(json.loads((source / _ERROR_BARS).read_text(encoding="utf-8")), schema.domain)
        receipt = Receipt.load(source / _RECEIPT)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"The synthesis {str(source)!r} can't be read: {error}") from error
    return Synthesis(schema, Rows(rows, table), model, bars, receipt)


def _require_whole(source: Path) -> None:
    """Refuses a folder whose index is not ours, or whose files are not those that the index names."""
    index = _index(source)
    version = index.get("format_version")
    if version != FORMAT_VERSION:
        raise ValueError(
            f"The synthesis {str(source)!r} must have format version {FORMAT_VERSION}. Found {version!r}: "
            "read it with the release of Counterfoil that wrote it."
        )
    recorded = index.get("files")
    for name in _FILES:
        if not (source / name).is_file():
            raise ValueError(f"The synthesis {str(source)!r} is incomplete: {name} is missing. Copy the whole folder.")
        if not isinstance(recorded, dict) or recorded.get(name) != sha256_of(source / name):
            raise ValueError(f"The synthesis {str(source)!r} is damaged: {name} is not what was saved. Copy it again.")


def _index(source: Path) -> dict[str, Any]:
    path = source / _INDEX
    if not path.is_file():
        raise ValueError(f"A saved synthesis is a folder with {_INDEX} in it. Found none in {str(source)!r}.")
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        index = None
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise ValueError(f"The synthesis {str(source)!r} is damaged: {_INDEX} is not what was saved. Copy it again.")
    return index


def _bars_to_json(bars: ErrorBars) -> dict[str, Any]:
    kinds = {kind: name for name, kind in _BOUNDS.items()}
    return {
        "total": bars.total,
        "counted": bars.counted,
        "total_error": bars.total_error,
        "bounds": [
            {"attributes": list(clique), "kind": kinds[type(bound)], **asdict(bound)}
            for clique, bounds in bars.bounds.items()
            for bound in bounds
        ],
    }


def _bars_from_json(document: dict[str, Any], domain: Domain) -> ErrorBars:
    bounds: dict[Clique, tuple[Bound, ...]] = {}
    for record in document["bounds"]:
        parameters = dict(record)
        clique = domain.canonical(parameters.pop("attributes"))
        bound: Bound = _BOUNDS[parameters.pop("kind")](**parameters)
        bounds[clique] = (*bounds.get(clique, ()), bound)
    return ErrorBars(domain, bounds, document["total"], document["counted"], document["total_error"])
