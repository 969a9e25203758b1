"""Small sensitive tables for tests: made from codes, read by a real engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, product

import pyarrow as pa

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.domain.domain import Domain
from counterfoil.schema.integer import Integer
from counterfoil.schema.raw_cell import RawCells
from counterfoil.schema.schema import Schema

Row = tuple[int, ...]
UNIT = "unit"

ENGINES: dict[str, Callable] = {
    "memory": MemoryEngine,
    "duckdb": DuckDBEngine,
    # Without a cache every scan reads the source again.
    "duckdb_uncached": lambda *args, **keywords: DuckDBEngine(*args, cache_bytes=0, **keywords),
}


def schema_of(domain: Domain) -> Schema:
    """A schema whose codes are the values: whole numbers from 0."""
    return Schema(tuple(Integer(name, 0, size - 1) for name, size in zip(domain.attributes, domain.sizes, strict=True)))


def frame_of(domain: Domain, rows: Sequence[Row], units: Sequence[str] | None = None) -> pa.Table:
    """The table with these codes, and a column of units where they are given."""
    columns = {name: pa.array([row[i] for row in rows], pa.int64()) for i, name in enumerate(domain.attributes)}
    if units is not None:
        columns[UNIT] = pa.array(units, pa.string())
    return pa.table(columns)


def records_of(
    domain: Domain,
    rows: Sequence[Row],
    *,
    engine: str = "memory",
    units: Sequence[str] | None = None,
    privacy_unit: PrivacyUnit | None = None,
) -> ExactRecords:
    """The rows behind the wall, as queries see them."""
    bound = {} if privacy_unit is None else {"privacy_unit": privacy_unit.column, "max_rows": privacy_unit.max_rows}
    made = ENGINES[engine](open_source(frame_of(domain, rows, units)), schema_of(domain), **bound)
    made.prepare(domain.attributes)
    return ExactRecords(made, domain)


def raw_records_of(
    rows: Sequence[tuple[str | None, ...]],
    engine: str = "memory",
    *,
    units: Sequence[str] | None = None,
    max_rows: int = 2,
) -> ExactRecords:
    """Texts in columns a and b that nobody described, held by an engine; of each of `units` at most `max_rows` rows."""
    columns = {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate("ab")}
    bound = {} if units is None else {"privacy_unit": UNIT, "max_rows": max_rows}
    if units is not None:
        columns[UNIT] = pa.array(units, pa.string())
    schema = Schema(tuple(RawCells(name) for name in "ab"))
    made = ENGINES[engine](open_source(pa.table(columns)), schema, **bound)
    made.prepare(("a", "b"))
    return ExactRecords(made, schema.domain)


def all_rows(domain: Domain) -> list[Row]:
    """Every record that the domain admits."""
    return list(product(*(range(size) for size in domain.sizes)))


def all_tables(domain: Domain, largest: int) -> Iterator[tuple[Row, ...]]:
    """Every table of up to `largest` rows, their order left out."""
    for n_rows in range(largest + 1):
        yield from combinations_with_replacement(all_rows(domain), n_rows)
