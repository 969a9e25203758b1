"""The label that a Parquet file carries: that its rows are synthetic, how they were made, and what that guarantees.

A receipt names its table by the SHA-256 of the file, label included, so that the label can't hold the hash of the
finished receipt. It holds that of the receipt as it was before any file was named in it and before it was signed:
`receipt_sha256`, over canonical JSON, which anyone can compute again from the receipt.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfoil.receipt.canonical import digest_of, unsigned

KEY = b"counterfoil"
"""The key of the label in the file's metadata; its value is a JSON object."""

NOT_REAL_PEOPLE = "Synthetic data: not real people."
NOT_PRIVATE = "NOT PRIVATE: the noise came from a seed. DO NOT SHARE."


def label_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the label says of the rows that a receipt is for.

    Args:
        document: the receipt, before or after its files were named in it, signed or not.
    """
    budget = document["budget"]
    return {
        "label": NOT_REAL_PEOPLE if document["private"] else f"{NOT_REAL_PEOPLE} {NOT_PRIVATE}",
        "synthetic": True,
        "private": bool(document["private"]),
        "method": document["method"]["name"],
        "epsilon": budget["epsilon"],
        "delta": budget["delta"],
        "neighboring_relation": document["neighboring_relation"],
        "privacy_unit": document["privacy_unit"],
        **{name: document[name] for name in ("schema_bought", "schema_share") if name in document},
        "program": f"Counterfoil {document['program']['counterfoil']}",
        "receipt_sha256": digest_of({**unsigned(document), "outputs": []}),
    }


def labeled_table(table: pa.Table, document: Mapping[str, Any]) -> pa.Table:
    """The same table with the label in its metadata; no value and no type changes."""
    text = json.dumps(label_of(document), allow_nan=False)
    return table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: text.encode("ascii")})


def label_in(path: Path) -> dict[str, Any] | None:
    """The label of a Parquet file; None where it has none that can be read, as those of versions before 0.6.

    Raises:
        OSError: when the file can't be read.
    """
    from pyarrow import parquet

    try:
        text = (parquet.read_metadata(path).metadata or {}).get(KEY)
        found = None if text is None else json.loads(text)
    except (pa.ArrowException, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def label_problems(document: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """What the labels of the receipt's Parquet files in `folder` say otherwise than the receipt.

    Args:
        document: the receipt.
        folder: where its files lie; those that are not there, and those without a label, are left out.
    """
    expected = label_of(document)
    for output in document["outputs"]:
        path = folder / Path(output["file"]).name
        found = label_in(path) if path.suffix == ".parquet" and path.is_file() else None
        if found is None:
            continue
        wrong = sorted(name for name in expected if found.get(name) != expected[name])
        if wrong:
            yield f"The label within {output['file']} is of another release than the receipt: it differs in {wrong[0]}."
