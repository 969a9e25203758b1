"""Tables of one kind of storage whose cells are given as Python objects: `of` a list of cells, repeated by columns."""

from __future__ import annotations

import csv
import gzip
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import BATCH_ROWS, Batch, Source

Cells = Sequence[Any]


@dataclass(frozen=True)
class Storage:
    """Where cells are stored.

    Args:
        make: a table, given a folder for it and the cells of each column by name.
        base: cells of one type, as most of a column's are.
        odd: cells of any type that the storage takes.
    """

    make: Callable[[Path, dict[str, Cells]], Any]
    base: Cells
    odd: Cells

    def source(self, folder: Path, columns: dict[str, Cells]) -> Source:
        folder.mkdir(exist_ok=True)
        for old in folder.glob("t.*"):
            old.unlink()
        return open_source(self.make(folder, columns), column_names=list(columns))


@dataclass
class SmallBatches:
    """A source in smaller batches."""

    source: Source
    batch_rows: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def batches(self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0) -> Iterator[Batch]:
        return self.source.batches(columns, self.batch_rows, skip_rows=skip_rows)


# Cells

TEXTS = [
    *("a", "1", "01", " 1 ", "1.0", "1e0", "0", "-0", "0.5", "true", "False", "", "  ", "?", "99", "nan", "inf"),
    *("unknown", "2020-01-31", "20230101", "2020-01-31 12:30:00", "31/01/2020", "0.0000001", "1e-7", "é", "9" * 40),
]  # fmt: skip
INTEGERS = [0, 1, 2, 99, -1, 20230101, 2**62, None]
REALS = [0.0, -0.0, 1.0, 0.5, 2.0, 99.0, 1e-7, 0.1, 20230101.0, 20230101.5, 1e23, np.inf, -np.inf, np.nan, None]
NAIVE = [datetime(2020, 1, 31, 12, 30), datetime(2020, 1, 31), datetime(2021, 1, 1, 0, 0, 0, 500_000), None]
ZONED = [moment and moment.replace(tzinfo=UTC) for moment in NAIVE]
DAYS = [date(2020, 1, 31), date(2021, 1, 1), date(1900, 1, 1), None]
BYTES = [b"a", b"1", b"\xff", b"", None]
FLAGS = [True, False, None]
DECIMALS = [Decimal("1.50"), Decimal("0.50"), Decimal("2.00"), None]
OBJECTS = [
    *TEXTS, *INTEGERS, *REALS, *NAIVE, *ZONED, *DAYS, *BYTES, *FLAGS, *DECIMALS,
    *(2**63, -(2**63) - 1, 10**5000, Decimal("NaN"), Decimal("sNaN"), Decimal("1E+999999"), Decimal("Infinity")),
    *(np.int8(1), np.float32(0.1), np.float16(0.1), np.float64(1), np.bool_(True), np.str_("a"), np.longdouble(1)),
    *(np.datetime64("2020-01-31"), np.datetime64("2020-01-31T12:30", "ns"), np.datetime64("NaT", "s")),
    np.timedelta64(1, "s"),
    *(pd.NA, pd.NaT, pd.Timestamp("2020-01-31 12:30"), pd.Timestamp("2020-01-31 12:30:00.000000001")),
    *(pd.Timestamp("2020-01-31", tz="Europe/Paris"), datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))),
    *(time(12, 30), time(12, 30, tzinfo=UTC), timedelta(days=1), UUID(int=1), "\ud800", 1j, object(), [1], (1, 2)),
    *({"a": 1}, pd.Period("2020"), bytearray(b"a")),
]  # fmt: skip
LITE = [*TEXTS, *INTEGERS, *REALS, b"a", b"1", b"\xff", "\x00", -(2**63)]


# Tables


def _in_arrow(kind: pa.DataType) -> Callable[[Path, dict[str, Cells]], pa.Table]:
    return lambda _, columns: pa.table({name: pa.array(cells, kind) for name, cells in columns.items()})


def _dictionaries(kind: pa.DataType) -> Callable[[Path, dict[str, Cells]], pa.Table]:
    """In chunks of three rows, each with a dictionary of its own: in reverse, with an entry that no row uses."""

    def chunk(cells: Cells) -> pa.DictionaryArray:
        plain = pa.array(cells, kind)
        entries = pa.concat_arrays([plain, pa.array([cells[0]], kind)])[::-1]
        return pa.DictionaryArray.from_arrays(pa.array(range(len(cells), 0, -1), pa.int32()), entries)

    def make(_: Path, columns: dict[str, Cells]) -> pa.Table:
        return pa.table(
            {
                name: pa.chunked_array(
                    [chunk(cells[start : start + 3]) for start in range(0, len(cells), 3)],
                    pa.dictionary(pa.int32(), kind),
                )
                for name, cells in columns.items()
            }
        )

    return make


def _parquet(kind: pa.DataType) -> Callable[[Path, dict[str, Cells]], Path]:
    def make(folder: Path, columns: dict[str, Cells]) -> Path:
        parquet.write_table(_in_arrow(kind)(folder, columns), folder / "t.parquet")
        return folder / "t.parquet"

    return make


def _duckdb(kind: pa.DataType) -> Callable[[Path, dict[str, Cells]], str]:
    def make(folder: Path, columns: dict[str, Cells]) -> str:
        with duckdb.connect(str(folder / "t.db")) as opened:
            opened.register("given", _in_arrow(kind)(folder, columns))
            opened.execute("CREATE TABLE t AS SELECT * FROM given")
        return f"{folder / 't.db'}::t"

    return make


def _csv(name: str) -> Callable[[Path, dict[str, Cells]], Path]:
    def make(folder: Path, columns: dict[str, Cells]) -> Path:
        path = folder / name
        with gzip.open(path, "wt", newline="") if name.endswith("gz") else path.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow([*columns, "end"])
            writer.writerows((*row, ".") for row in zip(*columns.values(), strict=True))
        return path

    return make


def _sqlite(folder: Path, columns: dict[str, Cells]) -> str:
    with closing(sqlite3.connect(folder / "t.sqlite")) as opened, opened:
        opened.execute(f"CREATE TABLE t ({', '.join(columns)})")
        opened.executemany(
            f"INSERT INTO t VALUES ({', '.join('?' * len(columns))})", zip(*columns.values(), strict=True)
        )
    opened.close()
    return f"{folder / 't.sqlite'}::t"


def _pandas(dtype: Any) -> Callable[[Path, dict[str, Cells]], pd.DataFrame]:
    return lambda _, columns: pd.DataFrame({name: pd.Series(cells, dtype=dtype) for name, cells in columns.items()})


def _numpy(dtype: Any) -> Callable[[Path, dict[str, Cells]], np.ndarray]:
    return lambda _, columns: np.array([*columns.values()], dtype=dtype).T


def _polars_objects(_: Path, columns: dict[str, Cells]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(cells, dtype=pl.Object) for name, cells in columns.items()})


def _categories_of(entries: Cells) -> Any:
    present = [entry for entry in entries if not pd.isna(entry)]
    return pd.CategoricalDtype(list(dict.fromkeys(present)))


ARROW_TYPES: dict[str, tuple[pa.DataType, Cells]] = {
    "texts": (pa.string(), TEXTS),
    "integers": (pa.int64(), INTEGERS),
    "reals": (pa.float64(), REALS),
    "narrow reals": (pa.float32(), REALS),
    "flags": (pa.bool_(), FLAGS),
    "days": (pa.date32(), DAYS),
    "moments": (pa.timestamp("us"), NAIVE),
    "zoned": (pa.timestamp("ms", "Asia/Tokyo"), ZONED),
    "decimals": (pa.decimal128(10, 3), DECIMALS),
    "bytes": (pa.binary(), BYTES),
}
_UNTYPED_BASE: dict[str, Cells] = {
    "texts": ["1", "01", "a"],
    "integers": [1, 2, 20230101],
    "reals": [20230101.0, 0.5, 1.0],
    "flags": [True, False],
    "moments": NAIVE[:2],
    "days": DAYS[:2],
}


def _storages() -> dict[str, Storage]:
    found = {name: Storage(_csv(name), ["1", "2"], TEXTS) for name in ("t.csv", "t.csv.gz")}
    for name, (kind, cells) in ARROW_TYPES.items():
        makers = {"arrow": _in_arrow, "dictionary": _dictionaries, "parquet": _parquet, "duckdb": _duckdb}
        found |= {f"{where} {name}": Storage(make(kind), cells[:2], cells) for where, make in makers.items()}
        found[f"polars {name}"] = Storage(
            lambda _, c, kind=kind: pl.from_arrow(_in_arrow(kind)(_, c)), cells[:2], cells
        )
    for name, base in _UNTYPED_BASE.items():
        found[f"pandas objects, {name}"] = Storage(_pandas(object), base, OBJECTS)
        found[f"polars objects, {name}"] = Storage(_polars_objects, base, OBJECTS)
        if name in ("texts", "integers", "reals"):
            found[f"sqlite, {name}"] = Storage(_sqlite, base, LITE)
    mixed = [1, "01", "a", True, 20230101.0, None, DAYS[0]]
    return (
        found
        | {
            "pandas Int64": Storage(_pandas("Int64"), INTEGERS[:2], INTEGERS),
            "pandas Float64": Storage(_pandas("Float64"), REALS[:2], REALS),
            "pandas boolean": Storage(_pandas("boolean"), FLAGS[:2], FLAGS),
            "pandas string": Storage(_pandas("string"), TEXTS[:2], TEXTS),
            "pandas string, python": Storage(_pandas(pd.StringDtype("python")), TEXTS[:2], [*TEXTS, "\ud800"]),
            "pandas float": Storage(_pandas("float64"), REALS[:2], REALS),
            "pandas datetime": Storage(_pandas("datetime64[us]"), NAIVE[:2], NAIVE),
            "pandas zoned": Storage(_pandas("datetime64[us, Europe/Paris]"), ZONED[:2], ZONED),
            "pandas categories": Storage(_pandas(_categories_of(REALS)), REALS[:2], REALS),
            "pandas mixed categories": Storage(_pandas(_categories_of(mixed)), mixed[:2], mixed),
            "numpy reals": Storage(_numpy(np.float64), REALS[:2], REALS),
            "numpy texts": Storage(_numpy("U40"), TEXTS[:2], [*TEXTS, "\ud800"]),
            "numpy flags": Storage(_numpy(bool), FLAGS[:2], FLAGS[:2]),
            "polars categories": Storage(
                lambda _, c: pl.DataFrame({name: pl.Series(cells, dtype=pl.Categorical) for name, cells in c.items()}),
                TEXTS[:2],
                TEXTS,
            ),
        }
        | _of_newer_libraries()
    )


def _of_newer_libraries() -> dict[str, Storage]:
    if not hasattr(pl, "Int128"):
        return {}
    return {
        "polars wide integers": Storage(
            lambda _, c: pl.DataFrame({name: pl.Series(cells, dtype=pl.Int128) for name, cells in c.items()}),
            INTEGERS[:2],
            [*INTEGERS, 2**100],
        )
    }


STORAGES = _storages()
