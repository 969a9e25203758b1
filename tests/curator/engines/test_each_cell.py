"""What a cell means, and which rows share a unit, depends on no other cell: in every storage, for every column."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.curator.engines import reader
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.units import kept_rows
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import Source, SourceError
from counterfoil.schema import Boolean, Categorical, Column, Date, Datetime, Integer, Real, Schema, UnplacedValue
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.values import texts_of
from raw_tables import ARROW_TYPES, STORAGES, Cells, SmallBatches, Storage

COLUMNS: tuple[Column, ...] = (
    Categorical("texts", ("a", "1", "01", "20230101", "2020-01-31", "true", "0.1"), other=True),
    Categorical("whole", (1, 2, 20230101), missing=True),
    Categorical("reals", (0.5, 1.0, 1e-7), other=True, missing=True, missing_values=("?", "99")),
    Categorical("moments", ("2020-01-31 12:30:00", "1", "inf", "nan"), missing=True),
    Categorical("grade", (0, 1, 2.5), ordered=True, missing=True),
    Boolean("flag", missing=True),
    Integer("count", 0, 50, missing=True, missing_values=("99",)),
    Real("real", -1, 10, bins=7, points=(0.0,), missing=True),
    Date("day", date(2020, 1, 1), date(2023, 12, 31), "1mo", missing=True),
    Date("written", date(2020, 1, 1), date(2023, 12, 31), "1mo", missing=True, format="%d/%m/%Y"),
    Datetime("moment", datetime(2020, 1, 1), datetime(2023, 12, 31), "1d", missing=True),
    Datetime("stamp", datetime(2020, 1, 1), datetime(2023, 12, 31), "1d", missing=True, format="%Y%m%d"),
    Date("day_there", date(2020, 1, 1), date(2023, 12, 31), "1mo", missing=True, zone="Asia/Tokyo"),
    Datetime("moment_there", datetime(2020, 1, 1), datetime(2023, 12, 31), "1d", missing=True, zone="Asia/Tokyo"),
)
ZONELESS = ("day", "written", "moment", "stamp")
"""Columns that refuse a storage whose type has a zone."""
SCHEMA = Schema(COLUMNS, ignore=("end",))
NAMES = SCHEMA.domain.attributes
NUMBERS = tuple(column.name for column in COLUMNS if column.is_ordered)


def codes_of(source: Source, schema: Schema = SCHEMA) -> list[tuple]:
    """The codes, then the numbers, of every row."""
    names = [name for name in schema.domain.attributes if name in source.column_names]
    numbers = [name for name in names if schema[name].is_ordered]
    rows: list[tuple] = []
    read = Schema(tuple(schema[name] for name in names), ignore=schema.ignore)
    for block in MemoryEngine(source, read).blocks(names, numbers):
        columns = [block.codes[name].tolist() for name in names]
        # The sign of a zero is lost or kept by databases as they store it, and means nothing to anybody.
        columns += [[repr(number + 0.0) for number in block.numbers[name]] for name in numbers]
        rows += zip(*columns, strict=True)
    return rows


def table(storage: Storage, folder: Path, cells: Cells) -> Source:
    """The same cells in every column."""
    zoned = any(storage is STORAGES[name] for name in STORAGES if "zoned" in name)
    return storage.source(folder, {name: cells for name in NAMES if not (zoned and name in ZONELESS)})


def writes_files(name: str) -> bool:
    return name.startswith(("t.csv", "parquet", "duckdb", "sqlite"))


@pytest.mark.parametrize("name", STORAGES)
def test_a_table_is_read_as_its_cells_are_one_by_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also across batches; and one odd cell among cells of one type changes no other's code."""
    storage = STORAGES[name]
    chooser = random.Random(20261121)
    alone = alone_in(plainest(name))
    assert storage.odd is STORAGES[plainest(name)].odd
    assert len(set(alone)) > 1
    for odd in chooser.sample(range(len(alone)), min(len(alone), 3)):
        assert only(codes_of(table(storage, tmp_path / "one", [storage.odd[odd]]))) == alone[odd]
    base = [only(codes_of(table(storage, tmp_path / "one", [cell]))) for cell in storage.base]
    for batch_rows in (3, 131_072):
        monkeypatch.setattr(reader, "BATCH_ROWS", batch_rows)
        order = chooser.sample(range(len(alone)), len(alone))
        assert codes_of(table(storage, tmp_path, [storage.odd[i] for i in order])) == [alone[i] for i in order]
        for odd in chooser.sample(range(len(alone)), 2 if writes_files(name) else min(len(alone), 4)):
            place = chooser.randrange(7)
            cells = [storage.base[i % len(storage.base)] for i in range(6)]
            expected = [base[i % len(base)] for i in range(6)]
            cells.insert(place, storage.odd[odd])
            expected.insert(place, alone[odd])
            assert codes_of(table(storage, tmp_path, cells)) == expected


def plainest(name: str) -> str:
    """The quickest storage of those that take the same cells, each of which must mean the same in all of them."""
    kind, _, cells = name.partition(" ")
    if name in OBJECTS or kind == "sqlite,":  # the base does not show in a table of one odd cell
        return next(other for other in STORAGES if other.partition(",")[0] == name.partition(",")[0])
    if cells in ARROW_TYPES and kind in ("dictionary", "parquet", "duckdb", "polars"):
        return f"arrow {cells}"
    return name.removesuffix(".gz")


@cache
def alone_in(name: str) -> list[tuple]:
    """Of each odd cell in a table of its own."""
    storage = STORAGES[name]
    with TemporaryDirectory() as folder:
        return [only(codes_of(table(storage, Path(folder), [cell]))) for cell in storage.odd]


OBJECTS = [name for name in STORAGES if "objects" in name]
UNTYPED = [name for name in STORAGES if name in OBJECTS or "sqlite" in name]


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(OBJECTS),
    data=st.data(),
    batch_rows=st.integers(1, 5),
)
def test_any_objects_are_read_one_by_one(name: str, data: st.DataObject, batch_rows: int) -> None:
    storage = STORAGES[name]
    alone = alone_in(plainest(name))
    cells = data.draw(st.lists(st.integers(0, len(alone) - 1), min_size=1, max_size=12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BATCH_ROWS", batch_rows)
        found = codes_of(in_memory(storage, [storage.odd[i] for i in cells]))
    assert found == [alone[i] for i in cells]


def only(rows: list[tuple]) -> tuple:
    (row,) = rows
    return row


def in_memory(storage: Storage, cells: Cells) -> Source:
    return open_source(storage.make(Path(), dict.fromkeys(NAMES, cells)))


@pytest.mark.parametrize("name", UNTYPED)
def test_a_cell_without_a_place_is_refused_where_it_stands(name: str, tmp_path: Path) -> None:
    storage = STORAGES[name]
    schema = Schema((Integer("count", 0, 100), *SCHEMA.synthesized[1:2]))
    odd = b"a" if "sqlite" in name else [1]
    cells = [1, 2.0, "3", odd, None]
    source = storage.source(tmp_path, {"count": cells, "whole": [1] * 5})
    with pytest.raises(UnplacedValue, match=r"Column 'count', row 4.*: the value is missing or not a number") as caught:
        codes_of(source, schema)
    assert caught.value.row == 3
    with pytest.raises(UnplacedValue) as caught:
        MemoryEngine(source, schema, show_values=True).prepare(["count"])
    assert repr(odd) in str(caught.value)


# Units


class Priorities:
    """Given priorities, in the order of the rows."""

    private, source = False, "given"

    def __init__(self, priorities: np.ndarray) -> None:
        self._left = priorities

    def words(self, size: int) -> np.ndarray:
        drawn, self._left = self._left[:size], self._left[size:]
        return drawn


def kept_of(source: Source, priorities: np.ndarray, max_rows: int, batch_rows: int) -> np.ndarray:
    packed, _ = kept_rows(SmallBatches(source, batch_rows), source.column_names[0], max_rows, Priorities(priorities))
    return np.unpackbits(packed, count=len(priorities)).astype(bool)


def kept_alone(keys: list[str], priorities: np.ndarray, max_rows: int) -> list[bool]:
    """By going through the rows one by one: an empty key is no id."""
    return [
        not keys[i] or sum(key == keys[i] and priorities[j] < priorities[i] for j, key in enumerate(keys)) < max_rows
        for i in range(len(keys))
    ]


@pytest.mark.parametrize("name", STORAGES)
def test_rows_share_a_unit_when_their_ids_alone_say_so(name: str, tmp_path: Path) -> None:
    """Ids of all types together, and one odd one among ids of one type, in batches of several sizes."""
    storage = STORAGES[name]
    chooser = random.Random(20261121)

    odd = [cell for cell in storage.odd if not is_stranger(cell)]
    pool = [*chooser.sample(odd, min(len(odd), 4 if writes_files(name) else 60)), *storage.base]
    plain = STORAGES[plainest(name)]
    keys = [key_alone(plain.source(tmp_path / "one", {"unit": [cell]})) for cell in pool]
    assert key_alone(storage.source(tmp_path / "one", {"unit": pool[:1]})) == keys[0]
    tables = [chooser.choices(range(len(pool)), k=60)]
    for number in range(2):
        same = chooser.choices(range(len(pool) - len(storage.base), len(pool)), k=11)
        tables.append([*same[: 4 * number], number, *same[4 * number :]])
    for rows in tables:
        priorities = np.array(chooser.sample(range(10**6), len(rows)), dtype=np.uint64)
        source = storage.source(tmp_path, {"unit": [pool[row] for row in rows]})
        kept = kept_of(source, priorities, 2, chooser.choice([3, 7]))
        assert kept.tolist() == kept_alone([keys[row] for row in rows], priorities, 2)


def is_stranger(cell: object) -> bool:
    """Whether no kind of column describes the cell's type."""
    return len(MixedCells([cell]).strangers) > 0


@pytest.mark.parametrize(
    "odd", [(1, 2), [3], {"a": 1}, object(), timedelta(days=1)], ids=lambda odd: type(odd).__name__
)
def test_ids_that_have_no_text_are_refused(odd: object) -> None:
    """Were they taken for none, somebody with many rows would be protected as many people."""
    frame = pd.DataFrame({"unit": pd.Series(["ann", odd, "bob"], dtype=object)})
    with pytest.raises(SourceError, match="no texts, numbers or dates"):
        kept_of(FrameSource.of(frame), np.arange(3, dtype=np.uint64), 1, 3)


def key_alone(source: Source) -> str:
    """The id of the only row, empty where it has none."""
    (batch,) = source.batches(["unit"])
    texts, (position,) = texts_of(batch.column(0))
    return texts[position] if position >= 0 else ""


def test_a_rows_unit_is_the_same_in_all_batches_and_types(tmp_path: Path) -> None:
    ids = [1, 1.0, "1", 2.0, 2, b"2", None, "", None, 20230101.0, "20230101", 20230101]
    for name in ("sqlite, reals", "pandas objects, texts"):
        source = STORAGES[name].source(tmp_path, {"unit": ids})
        for batch_rows in (1, 3, 100):
            kept = kept_of(source, np.arange(12, dtype=np.uint64), 1, batch_rows)
            assert np.flatnonzero(kept).tolist() == [0, 3, 6, 7, 8, 9]


# The cases in which one record changed the meaning of all others


def counts(column: Column, source: Source) -> list[int]:
    codes = [row[0] for row in codes_of(source, Schema((column,)))]
    return np.bincount(codes, minlength=column.size).tolist()


CASES: dict[str, tuple[str, Column, Cells, Cells]] = {
    "whole reals": (
        "sqlite, reals",
        Date("v", date(2023, 1, 1), date(2024, 12, 31), "1y", missing=True),
        [20230101.0] * 540 + [20240101.0] * 460,
        ["unknown"],
    ),
    "flags": (
        "pandas objects, flags",
        Categorical("v", ("true", "false"), missing=True),
        [True, False] * 500,
        ["unknown"],
    ),
    "moments": (
        "pandas objects, moments",
        Categorical("v", ("2020-01-31 12:30:00",), missing=True),
        [datetime(2020, 1, 31, 12, 30)] * 400 + [datetime(2021, 1, 1)] * 600,
        [date(2020, 1, 1)],
    ),
    "days with a format": (
        "pandas objects, days",
        Date("v", date(2020, 1, 1), date(2021, 12, 31), "1y", missing=True, format="%d/%m/%Y"),
        [date(2020, 5, 1)] * 502 + [date(2021, 5, 1)] * 498,
        ["1/2/2020"],
    ),
    "leading zeros": (
        "sqlite, texts",
        Categorical("v", ("1", "01", "2"), missing=True),
        [1.0] * 600 + [2.0] * 400,
        ["01"],
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("first", [True, False])
def test_one_record_moves_one_count_by_one(case: str, first: bool, tmp_path: Path) -> None:
    name, column, cells, odd = CASES[case]
    storage = STORAGES[name]
    one = counts(column, storage.source(tmp_path, {"v": cells}))
    other = counts(column, storage.source(tmp_path, {"v": [*odd, *cells] if first else [*cells, *odd]}))
    assert sum(count > 0 for count in one) > 1
    assert np.abs(np.subtract(one, other)).sum() == 1


def test_one_record_changes_no_other_persons_rows(tmp_path: Path) -> None:
    ids = [*range(2500), *map(float, range(2500))]
    frames = [pd.DataFrame({"unit": pd.Series(cells, dtype=object)}) for cells in (ids, [*ids, "unknown"])]
    for frame, expected in zip(frames, (2500, 2501), strict=True):
        kept = kept_of(open_source(frame), np.arange(len(frame), dtype=np.uint64), 1, 131_072)
        assert kept.sum() == expected
    reals = [float(i % 5000) for i in range(10_000)]
    for more, expected in ([], 5000), (["unknown"], 5001):
        source = STORAGES["sqlite, reals"].source(tmp_path, {"unit": [*reals, *more]})
        assert kept_of(source, np.arange(len(reals) + len(more), dtype=np.uint64), 1, 5000).sum() == expected
