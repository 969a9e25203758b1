"""What a release keeps besides its rows, identified by the SHA-256 of what it says.

The receipt has these digests, so that a signature or a ledger vouches for the model too; whoever loads a folder
compares them. They are of values and not of files, whose bytes may change when a loaded release is saved again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from counterfoil.files import sha256_of_values
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.canonical import digest_of
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis.csv_writing import write_csv
from counterfoil.synthesis.error_bars_json import bars_to_json

_OTHER = {
    "model": "another model",
    "error_bars": "other error bars",
    "points": "other points",
    "support": "other points",
}


def kept_of_model(model: TableModel, bars: ErrorBars) -> dict[str, str]:
    """The digests of what rows are drawn from, and of how far it may be from the real table."""
    return {"model": model.digest, "error_bars": digest_of(bars_to_json(bars))}


def kept_of_points(points: np.ndarray, weights: np.ndarray, support: pa.Table) -> dict[str, str]:
    """The digests of weighted points and of their values."""
    lines = _Hashed()
    write_csv(support, {}, lines)
    return {
        "points": sha256_of_values({}, {"points": points, "weights": weights}),
        "support": lines.digest.hexdigest(),
    }


def require_kept(source: Path, receipt: Receipt, found: Mapping[str, str]) -> None:
    """Refuses a folder that keeps something else than its receipt was made with; older receipts do not say.

    Args:
        source: the folder.
        receipt: in it.
        found: the digests of what the folder keeps.

    Raises:
        ValueError: which names what differs.
    """
    for name, digest in receipt.document.get("kept", found).items():
        if found.get(name) != digest:
            other = _OTHER.get(name, "other parts")
            raise ValueError(
                f"The synthesis {str(source)!r} is damaged: its receipt was made with {other}. Copy it again."
            )


class _Hashed:
    """Takes the bytes of a file that nobody writes."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes, /) -> None:
        self.digest.update(data)
