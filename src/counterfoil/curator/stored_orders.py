"""What is said before a release of a table whose storage has an order that copies will lose; no record is read."""

from __future__ import annotations

import os
from typing import Any

from counterfoil.curator.source_facts import columns_of
from counterfoil.curator.sources.spark_source import is_spark_frame
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.schema import Schema
from counterfoil.schema.stored_otherwise import lost_orders, said_of_orders

_PARQUET = ".parquet"


def orders_lost(source: Any, schema: Schema) -> str:
    """A sentence on ordered categories of a frame or a Parquet file; empty where none are lost.

    Other storages have none. Nothing is opened where the schema has no categories without an order.
    """
    if not any(isinstance(column, Categorical) and not column.ordered for column in schema.synthesized):
        return ""
    if is_spark_frame(source) or (isinstance(source, (str, os.PathLike)) and not _is_parquet(os.fspath(source))):
        return ""
    return said_of_orders(lost_orders(schema, columns_of(source, schema.declared).types))


def _is_parquet(path: str) -> bool:
    """Whether it is a file of this machine: Spark reads texts without an order, and takes seconds to start."""
    return path.lower().endswith(_PARQUET) and "://" not in path
