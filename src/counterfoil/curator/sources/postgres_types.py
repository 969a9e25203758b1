"""How each type of PostgreSQL is read: what the server is asked for, and the Arrow type in which cells arrive.

Numbers, texts, bytes, dates and timestamps come as they are stored. What Arrow has no type for comes as
the text by which PostgreSQL shows it. Where the driver would change a value in silence, the server is asked otherwise:

* `numeric` with a precision of up to 76 digits comes as decimals of that precision and scale; without one, or wider, as
  the canonical text of each number (`1.50` is "1.5"), for no Arrow type holds all of them. NaN is null, which counts as
  missing like every NaN.
* `money`, which the driver hands over as a number of cents, comes as the text of its amount.
* `oid`, which would become negative beyond 2**31, comes as a number of 64 bits.
* Dates and timestamps after the year 9999, `infinity` among them, come as the first day of the year 10000; those before
  the year 1, `-infinity` among them, as the day before that year: beyond every bound that a schema can state, as
  infinite numbers are. The driver would give an `infinity` as a moment in the past.
* `char(n)` comes without the blanks that fill it up.
* Times of day come as texts such as `12:34:56.5`, for Arrow's own times end before `24:00:00`.

What a type is cast to may be redefined by its owner, even by a function that gives another text in each pass. So a
text is asked of the type's output function, wherever no cast to `text` is PostgreSQL's own, or `citext`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

_AS_TEXT = ("xml", "cidr", "text", "varchar", "bpchar", "name", "char", "citext")
_BY_OUTPUT = ("uuid", "json", "jsonb", "macaddr", "macaddr8", "bit", "varbit", "timetz")
_AS_STORED: Mapping[str, pa.DataType] = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bytea": pa.binary(),
}
_MOMENTS: Mapping[str, tuple[pa.DataType, str]] = {
    "date": (pa.date32(), ""),
    "timestamp": (pa.timestamp("us"), ""),
    "timestamptz": (pa.timestamp("us", "UTC"), " 00:00:00+00"),
}
_UNBOUNDED = pa.decimal256(76, 38)
_MOST_DIGITS = 76


@dataclass(frozen=True)
class StoredColumn:
    """A column as the catalog describes it.

    Args:
        name: as it is called.
        kind: the name of its type, of the type under its domain, if that is one.
        sort: "b" for a plain type, "e" for an enumeration, others for what has parts.
        nested: whether it is an array.
        built_in: whether the type is PostgreSQL's own.
        modifier: of the type, -1 where it has none.
        shown: the type as PostgreSQL writes it.
        readable: whether the role may read the column.
    """

    name: str
    kind: str
    sort: str
    nested: bool
    built_in: bool
    modifier: int
    shown: str
    readable: bool


@dataclass(frozen=True)
class Reading:
    """How a column is read.

    Args:
        ask: what the server computes, with {0} for the column.
        arrives: the type in which the driver hands it over.
        cells: the type of the cells.
        declared: what the storage declares, for the draft of a schema.
    """

    ask: str
    arrives: pa.DataType
    cells: pa.DataType
    declared: pa.DataType


def reading_of(column: StoredColumn) -> Reading | None:
    """How a column is read; None where its cells are no single values, or have no agreed text."""
    kind = column.kind
    if column.nested or column.sort not in "be" or (column.sort == "b" and not column.built_in and kind != "citext"):
        return None
    if column.sort == "e":
        # Beside a null, a domain is taken for the type under it, which `enum_out` needs.
        return _same(_output("enum", "COALESCE({0}, NULL)"), pa.string())
    if kind in _BY_OUTPUT:
        return _same(_output(kind, "{0}"), pa.string())
    if kind in _AS_TEXT:
        return _same("{0}::pg_catalog.text", pa.string())
    if kind == "time":
        clock = "pg_catalog.to_char({0}::pg_catalog.time::pg_catalog.interval, 'HH24:MI:SS.US')"
        return Reading(
            f"pg_catalog.rtrim(pg_catalog.rtrim({clock}, '0'), '.')", pa.string(), pa.string(), pa.time64("us")
        )
    if kind in _AS_STORED:
        return _same(f"{{0}}::pg_catalog.{kind}", _AS_STORED[kind])
    if kind in _MOMENTS:
        return _moment(kind)
    if kind == "numeric":
        return _numeric(column.modifier)
    if kind == "money":
        return Reading(_canonical("{0}::pg_catalog.numeric"), pa.string(), pa.string(), _UNBOUNDED)
    if kind == "inet":  # a cast would add /32 to the address of a single host
        return _same("pg_catalog.abbrev({0}::pg_catalog.inet)", pa.string())
    return _same("{0}::pg_catalog.int8", pa.int64()) if kind == "oid" else None


def declared_type(column: StoredColumn) -> pa.DataType:
    """What the draft of a schema is told: of a type that can't be read, that its values are no single ones."""
    reading = reading_of(column)
    if reading is not None:
        return reading.declared
    return pa.month_day_nano_interval() if column.kind == "interval" else pa.list_(pa.null())


def why_unreadable(column: StoredColumn, where: str) -> str:
    """The sentence for a column that is asked for and has no `Reading`."""
    remedy = "Cast it in a view, or leave it out there, or add it to `ignore`."
    if column.kind == "interval" and not column.nested:
        remedy = "Read it through a view as a number, such as EXTRACT(epoch FROM ...), or add it to `ignore`."
    return (
        f"Column {column.name!r} of {where} has the type {column.shown}; expected single values that are numbers, "
        f"texts, dates or times of day. {remedy}"
    )


def _same(ask: str, kind: pa.DataType) -> Reading:
    return Reading(ask, kind, kind, kind)


def _output(kind: str, value: str) -> str:
    return f"pg_catalog.textin(pg_catalog.{kind}_out({value}))"


def _moment(kind: str) -> Reading:
    cells, clock = _MOMENTS[kind]
    first, far = (f"pg_catalog.{kind} '{day}{clock}'" for day in ("0001-01-01", "10000-01-01"))
    before = f"pg_catalog.{kind} '0001-12-31{clock} BC'"
    ask = (
        f"CASE WHEN {{0}} OPERATOR(pg_catalog.>=) {far} THEN {far}"
        f" WHEN {{0}} OPERATOR(pg_catalog.<) {first} THEN {before} ELSE {{0}}::pg_catalog.{kind} END"
    )
    return _same(ask, cells)


def _canonical(number: str) -> str:
    """The text of a number without trailing zeros; null for NaN, and infinities as `schema.spelling` writes them."""
    text = _output("numeric", f"pg_catalog.trim_scale({number})")
    return f"NULLIF(pg_catalog.replace({text}, 'Infinity', 'inf'), 'NaN')"


def _numeric(modifier: int) -> Reading:
    if modifier >= 4:
        precision, scale = _digits(modifier)
        if precision <= _MOST_DIGITS:
            make = pa.decimal128 if precision <= 38 else pa.decimal256
            cells = make(precision, scale)
            return Reading(f"NULLIF({_output('numeric', '{0}')}, 'NaN')", pa.string(), cells, cells)
    return Reading(_canonical("{0}::pg_catalog.numeric"), pa.string(), pa.string(), _UNBOUNDED)


def _digits(modifier: int) -> tuple[int, int]:
    """Precision and scale, both as Arrow counts them: neither a negative scale nor one above the precision."""
    packed = modifier - 4
    precision, scale = packed >> 16, ((packed & 0x7FF) ^ 1024) - 1024
    if scale < 0:
        return precision - scale, 0
    return max(precision, scale), scale
