"""Cells of a storage without types: each is read by its own Python type, whatever stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import cache, cached_property
from types import NoneType
from typing import Any, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa

from counterfoil.schema.spelling import spell_decimal, spell_integer

Group: TypeAlias = tuple[np.ndarray, pa.Array]
_Convert: TypeAlias = Callable[[list[Any]], pa.Array]


@dataclass(frozen=True, eq=False)
class MixedCells:
    """Python objects, such as the cells of a SQLite table or of a column of dtype `object`.

    Nothing is inferred from several cells: a cell's group follows from its own type (and size, for integers), and
    the array of a group holds each of its cells by itself. So anything computed value by value from the groups is a
    function of each cell alone.
    """

    cells: Sequence[Any]

    @property
    def type(self) -> pa.DataType:
        """What a draft of a schema makes of them: a column of cells of any type is one of texts."""
        return pa.string()

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Positions [m] and typed values [m]: each cell in at most one group. Null and NaN are missing.

        Cells in no group have a type that no kind of column describes.
        """
        if {*map(type, self.cells)} <= {str, NoneType}:
            everywhere = np.arange(len(self.cells))
            return ((everywhere, _texts(self.cells)),)
        return tuple(self._by_kind())

    @cached_property
    def strangers(self) -> np.ndarray:
        """Positions of the cells in no group."""
        grouped = np.zeros(len(self), dtype=bool)
        for positions, _ in self.groups:
            grouped[positions] = True
        return np.flatnonzero(~grouped)

    def _by_kind(self) -> Iterator[Group]:
        kinds = np.fromiter(map(_number_of_kind, map(type, self.cells)), dtype=np.int8, count=len(self))
        objects = np.fromiter(self.cells, dtype=object, count=len(self))
        for kind in np.unique(kinds[kinds >= 0]):
            positions = np.flatnonzero(kinds == kind)
            for chosen, array in _KINDS[kind][1](objects[positions].tolist()):
                yield positions[chosen], array


def _texts(cells: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(cells, type=pa.large_string())
    except UnicodeEncodeError:  # half of a pair that UTF-16 writes for one letter: no text can hold it, but bytes can
        return pa.array([None if cell is None else _raw(cell) for cell in cells], type=pa.large_binary())


def _raw(text: str) -> bytes:
    """The UTF-8 of a text, two halves of a pair joined, each other half by itself."""
    # By the letters alone: `str` of an enumeration's member is its name.
    pairs = str.encode(text, "utf-16", "surrogatepass")
    return pairs.decode("utf-16", "surrogatepass").encode("utf-8", "surrogatepass")


def _everywhere(convert: _Convert) -> Callable[[list[Any]], Iterator[Group]]:
    """A kind whose cells make one array."""

    def group(cells: list[Any]) -> Iterator[Group]:
        yield np.arange(len(cells)), convert(cells)

    return group


def _split(cells: list[Any], key: Callable[[Any], Any], converters: Mapping[Any, _Convert]) -> Iterator[Group]:
    """A kind whose cells make an array for each key; a cell whose key is not among them is in none."""
    keys = [key(cell) for cell in cells]
    for wanted, convert in converters.items():
        positions = [position for position, each in enumerate(keys) if each == wanted]
        if positions:
            yield np.array(positions), convert([cells[position] for position in positions])


def _integers(cells: list[Any]) -> Iterator[Group]:
    yield from _split(
        [int(cell) for cell in cells],
        lambda number: -(2**63) <= number < 2**63,
        {
            True: lambda numbers: pa.array(numbers, pa.int64()),
            False: lambda numbers: _texts([*map(spell_integer, numbers)]),
        },
    )


def _datetimes(cells: list[datetime]) -> Iterator[Group]:
    """Four groups: with a zone or without, and with nanoseconds or without, since nanoseconds don't fit all years."""
    yield from _split(
        cells,
        lambda cell: (cell.utcoffset() is not None, bool(getattr(cell, "nanosecond", 0))),
        {
            (False, False): lambda chosen: pa.array([_bare(cell) for cell in chosen], pa.timestamp("us")),
            (True, False): lambda chosen: pa.array(chosen, pa.timestamp("us", "UTC")),
            (False, True): lambda chosen: _nanoseconds([cell.value for cell in chosen]),
            (True, True): lambda chosen: _nanoseconds([cell.value for cell in chosen], "UTC"),
        },
    )


def _bare(moment: datetime) -> datetime:
    return moment if moment.tzinfo is None else moment.replace(tzinfo=None)


def _nanoseconds(ticks: list[int], zone: str | None = None) -> pa.Array:
    return pa.array(ticks, pa.int64()).cast(pa.timestamp("ns", zone))


def _numpy_datetimes(cells: list[np.datetime64]) -> Iterator[Group]:
    """Each as the datetime or the date that numpy converts it to; nanoseconds and far years it converts to numbers."""
    pairs = [(cell.item(), np.datetime_data(cell.dtype)) for cell in cells]
    yield from _split(
        pairs,
        lambda pair: ("ns", 1) if isinstance(pair[0], int) and pair[1] == ("ns", 1) else type(pair[0]),
        {
            NoneType: lambda chosen: pa.nulls(len(chosen)),
            date: lambda chosen: pa.array([item for item, _ in chosen], pa.date32()),
            datetime: lambda chosen: pa.array([item for item, _ in chosen], pa.timestamp("us")),
            ("ns", 1): lambda chosen: _nanoseconds([item for item, _ in chosen]),
        },
    )


def _times(cells: list[time]) -> Iterator[Group]:
    yield from _split(cells, lambda cell: cell.tzinfo is None, {True: lambda chosen: pa.array(chosen, pa.time64("us"))})


def _reals(width: type[np.floating]) -> Callable[[list[Any]], Iterator[Group]]:
    return _everywhere(lambda cells: pa.array(np.array(cells, dtype=width)))


# A cell is of the first kind whose types include its own type. The order matters: booleans are integers and datetimes
# are dates to Python; to numpy, durations are integers.
_KINDS: tuple[tuple[tuple[type, ...], Callable[[list[Any]], Iterator[Group]]], ...] = (
    ((NoneType,), _everywhere(lambda cells: pa.nulls(len(cells)))),
    ((str,), _everywhere(_texts)),
    ((bool, np.bool_), _everywhere(lambda cells: pa.array([bool(cell) for cell in cells], pa.bool_()))),
    ((np.timedelta64,), lambda cells: iter(())),
    ((int, np.integer), _integers),
    ((np.float16,), _reals(np.float16)),
    ((np.float32,), _reals(np.float32)),
    ((float, np.floating), _reals(np.float64)),
    ((Decimal,), _everywhere(lambda cells: _texts([*map(spell_decimal, cells)]))),
    ((bytes, bytearray), _everywhere(lambda cells: pa.array([bytes(cell) for cell in cells], pa.large_binary()))),
    ((np.datetime64,), _numpy_datetimes),
    ((datetime,), _datetimes),
    ((date,), _everywhere(lambda cells: pa.array(cells, pa.date32()))),
    ((time,), _times),
    ((UUID,), _everywhere(lambda cells: _texts([*map(str, cells)]))),
)


@cache
def _number_of_kind(kind: type) -> int:
    """The place of a type among the kinds, -1 for one that no kind of column describes."""
    if _is_null_kind(kind):
        kind = NoneType
    return next((number for number, (types, _) in enumerate(_KINDS) if issubclass(kind, types)), -1)


def is_null(cell: Any) -> bool:
    """Whether a cell is None, or what pandas has in its place."""
    return _is_null_kind(type(cell))


def _is_null_kind(kind: type) -> bool:
    return kind is NoneType or (kind.__name__ in ("NaTType", "NAType") and kind.__module__.startswith("pandas."))
