"""Moments in a Parquet file that Spark wrote are the instants that Spark reads from it, also without Spark."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.sources.opening import open_source
from counterfoil.schema import Datetime, Schema
from counterfoil.schema.errors import UnreadableType

MOMENTS = [datetime(2024, 7, 1, 12), None, datetime(2024, 10, 27, 0, 30), datetime(2024, 10, 27, 1, 30)]
UTC = pa.table({'at "it"': pa.array(MOMENTS, pa.timestamp("us", "UTC"))})
YEAR = (datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 59, 59))
THERE = Schema((Datetime('at "it"', *YEAR, "1h", missing=True, zone="Europe/Zurich"),))


def written(path: Path, said: str) -> Path:
    """As Spark writes it: moments in 96 bits without a zone, and its own name of their type."""
    fields = [{"name": name, "type": said, "nullable": True, "metadata": {}} for name in UTC.column_names]
    row = json.dumps({"type": "struct", "fields": fields}).encode()
    table = UTC.replace_schema_metadata({b"org.apache.spark.sql.parquet.row.metadata": row})
    parquet.write_table(table, path, use_deprecated_int96_timestamps=True)
    return path


@pytest.mark.parametrize("engine", [DuckDBEngine, MemoryEngine])
def test_timestamps_of_spark_are_instants(tmp_path: Path, engine: type) -> None:
    source = open_source(written(tmp_path / "visits.parquet", "timestamp"))
    assert source.column_types == {'at "it"': pa.timestamp("us", "UTC")}
    (block,) = engine(source, THERE).blocks(UTC.column_names, UTC.column_names)
    (expected,) = MemoryEngine(open_source(UTC), THERE).blocks(UTC.column_names, UTC.column_names)
    np.testing.assert_array_equal(block.codes['at "it"'], expected.codes['at "it"'])
    np.testing.assert_array_equal(block.numbers['at "it"'], expected.numbers['at "it"'])


def test_they_ask_for_a_zone_as_they_do_of_spark_itself(tmp_path: Path) -> None:
    source = open_source(written(tmp_path / "visits.parquet", "timestamp"))
    schema = Schema((Datetime('at "it"', *YEAR, "1h", missing=True),))
    with pytest.raises(UnreadableType, match="instants with a zone"):
        next(iter(MemoryEngine(source, schema).blocks(UTC.column_names)))


@pytest.mark.parametrize("said", ["timestamp_ntz", "string", ""])
def test_moments_of_which_spark_says_no_zone_are_what_a_clock_shows(tmp_path: Path, said: str) -> None:
    source = open_source(written(tmp_path / "visits.parquet", said))
    assert source.column_types == {'at "it"': pa.timestamp("ns")}


@pytest.mark.parametrize("row", [b"", b"{", b"[]", b'{"fields": 1}', b'{"fields": [{"type": "timestamp"}]}', b"\xff"])
def test_what_is_not_as_spark_writes_it_says_nothing(tmp_path: Path, row: bytes) -> None:
    table = UTC.replace_schema_metadata({b"org.apache.spark.sql.parquet.row.metadata": row})
    parquet.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    assert open_source(tmp_path / "t.parquet").column_types == {'at "it"': pa.timestamp("ns")}
