"""What Spark wrote beside the columns of a Parquet file: which moments without a zone are instants.

By default Spark stores its timestamps, which are instants, as INT96, a type that says nothing of zones. Read as what a
clock shows, they would be off by its distance from UTC, and other values than those that Spark reads from the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa
from pyarrow import types

_WRITTEN = b"org.apache.spark.sql.parquet.row.metadata"
INSTANT = pa.timestamp("us", "UTC")


def instants_of_spark(stored: pa.Schema) -> frozenset[str]:
    """The columns of a file's schema that hold instants, as Spark, who wrote it, says, and their types do not."""
    said = _types_of(stored.metadata or {})
    return frozenset(
        column.name
        for column in stored
        if types.is_timestamp(column.type) and column.type.tz is None and said.get(column.name) == "timestamp"
    )


def _types_of(metadata: Mapping[bytes, bytes]) -> dict[str, object]:
    """By column, the type by Spark's name, such as `timestamp_ntz`; nothing where Spark did not write the file."""
    try:
        fields = json.loads(metadata[_WRITTEN])["fields"]
        return {field["name"]: field["type"] for field in fields}
    except (KeyError, TypeError, ValueError):
        return {}
