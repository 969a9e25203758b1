"""How each cell found its place: as it was declared, or in some other way, which nobody should have to guess.

A code says where a cell went, and not whether it was clamped, or could not be read, on its way there. Every cell of a
column is placed in exactly one of the ways of `Placement`. A cell is *as declared* if and only if the values that its
code stands for include its own: for dates and datetimes its own in whole days or seconds, the unit of the column, and
for reals on a grid what rounds to it within 1e-9 of its size, or within a rounding of its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeGuard

import numpy as np
import pyarrow as pa

from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.schema.real_grid import ROUNDING
from counterfoil.schema.values import Values, texts_of


class Placement(IntEnum):
    """The ways in which a cell is placed.

    `BELOW` and `ABOVE`: clamped to a bound. `MOVED`: from between two points of a grid to the nearer one. `OTHER`: a
    category outside the list, counted as `other`. `MISSING`: null, NaN, empty, or a declared word, whatever code that
    gets. `UNREADABLE`: none of these, and yet no value of the column, so that it counts as missing, or has no place.
    `INFINITE`: clamped to a bound from infinitely far away.
    """

    DECLARED = 0
    BELOW = 1
    ABOVE = 2
    MOVED = 3
    OTHER = 4
    MISSING = 5
    UNREADABLE = 6
    INFINITE = 7

    @property
    def word(self) -> str:
        """The name that receipts write."""
        return self.name.lower()


PLACEMENTS: Mapping[str, Placement] = {way.word: way for way in Placement}
"""Each by its word."""


@dataclass(frozen=True, eq=False)
class PlacedCells:
    """Cells of one column, read once.

    Args:
        codes: int64 [n], -1 where a cell has no place.
        placements: uint8 [n], each a `Placement`.
        numbers: float64 [n], before they are clamped, NaN where missing; None for unordered categories.
    """

    codes: np.ndarray
    placements: np.ndarray
    numbers: np.ndarray | None


def possible_placements(column: Column) -> tuple[Placement, ...]:
    """The ways that the column's facts leave open for a cell that has a place, `DECLARED` first."""
    ways = [Placement.DECLARED]
    if isinstance(column, (Integer, Real, Instant)):
        ways += [Placement.BELOW, Placement.ABOVE]
    if _is_on_a_grid(column):
        ways.append(Placement.MOVED)
    if isinstance(column, Categorical) and column.other:
        ways += [Placement.OTHER, Placement.MISSING]
    elif column.missing:
        ways += [Placement.MISSING, Placement.UNREADABLE]
    if isinstance(column, (Integer, Real)):
        ways.append(Placement.INFINITE)
    return tuple(ways)


def place(column: Column, values: Values) -> PlacedCells:
    """Codes, placements and numbers of the cells, of which each is read by itself.

    Args:
        column: the public facts.
        values: the cells [n].

    Raises:
        TypeError, pyarrow.ArrowException: for a type that holds no single values, texts or numbers.
    """
    if isinstance(column, Categorical):
        return _place_categories(column, values)
    assert isinstance(column, NumberColumn), "columns are categories or lie on a line"
    return _place_numbers(column, values)


def placements_of(column: Column, values: Values) -> np.ndarray:
    """uint8 [n]: the `Placement` of each cell; the arguments and errors are those of `place`."""
    return place(column, values).placements


def _place_numbers(column: NumberColumn, values: Values) -> PlacedCells:
    parsed = column.parsed(values)
    codes = _with_missing(column, column.codes_of(parsed))
    lower, upper = column.bounds
    placements = np.full(len(parsed), Placement.DECLARED, dtype=np.uint8)
    if _is_on_a_grid(column):
        placements[np.isfinite(parsed) & _off_the_grid(column, parsed, _rounding(values))] = Placement.MOVED
    placements[parsed < lower] = Placement.BELOW
    placements[parsed > upper] = Placement.ABOVE
    placements[np.isinf(parsed)] = Placement.INFINITE
    missing = column.means_missing(parsed)
    placements[missing] = Placement.MISSING
    absent = np.flatnonzero(np.isnan(parsed))
    if len(absent):
        placements[absent] = _without_value(column.missing_values, taken(values, absent))
    return PlacedCells(codes, placements, np.where(missing, np.nan, parsed))


def _is_on_a_grid(column: Column) -> TypeGuard[Integer | Real]:
    return isinstance(column, Integer) or (isinstance(column, Real) and column.is_on_a_grid)


def _off_the_grid(column: Integer | Real, parsed: np.ndarray, rounding: float) -> np.ndarray:
    within = np.where(np.isnan(parsed), column.lower, np.clip(parsed, *column.bounds))
    if isinstance(column, Real):
        return column.strays(within, rounding)
    # In whole numbers: a difference of reals would round what is next to a point of the grid.
    whole = np.floor(within)
    return (within != whole) | ((whole.astype(np.int64) - column.lower) % column.step != 0)


def _rounding(values: Values) -> float:
    """The part of a number that its storage rounds: reals of 32 and 16 bits hold no 0.1."""
    if not isinstance(values, MixedCells):
        if pa.types.is_float32(values.type):
            return 2.0**-23
        if pa.types.is_float16(values.type):
            return 2.0**-10
    return ROUNDING


def _place_categories(column: Categorical, values: Values) -> PlacedCells:
    codes = _with_missing(column, column.codes_of(values))
    placements = np.full(len(codes), Placement.DECLARED, dtype=np.uint8)
    rest = np.flatnonzero((codes < 0) | (codes >= column.n_bins - column.other))
    if len(rest):
        stranger = Placement.OTHER if column.other else Placement.UNREADABLE
        placements[rest] = _without_category(column, taken(values, rest), stranger)
    ranks = None
    if column.is_ordered:
        ranks = np.append(column.ranges[0][: column.n_bins], np.nan)[np.where(codes < 0, column.n_bins, codes)]
    return PlacedCells(codes, placements, ranks)


def _with_missing(column: Column, codes: np.ndarray) -> np.ndarray:
    return np.where(codes < 0, column.n_bins, codes) if column.missing else codes


def _without_value(words: tuple[str, ...], cells: Values) -> np.ndarray:
    """Placements of cells that hold no number: missing as such, or unreadable."""
    texts, positions = texts_of(cells)
    known = np.array([text in words for text in texts] + [True], dtype=bool)  # the last one for empty cells
    return _missing_where(known[positions], cells, Placement.UNREADABLE)


def _without_category(column: Categorical, cells: Values, stranger: Placement) -> np.ndarray:
    """Placements of cells that hold none of the categories."""
    texts, positions = texts_of(cells)
    known = np.array([column.means_missing(text) for text in texts] + [True], dtype=bool)
    return _missing_where(known[positions], cells, stranger)


def _missing_where(missing: np.ndarray, cells: Values, otherwise: Placement) -> np.ndarray:
    placements = np.where(missing, Placement.MISSING, otherwise).astype(np.uint8)
    if isinstance(cells, MixedCells):  # objects that have no texts are not missing
        placements[cells.strangers] = otherwise
    return placements


def taken(values: Values, rows: np.ndarray) -> Values:
    """The cells at `rows` (increasing), of the same types."""
    if isinstance(values, MixedCells):
        return MixedCells([values.cells[row] for row in rows.tolist()])
    if isinstance(values, pa.ChunkedArray):
        # Chunk by chunk: Arrow can't join all dictionaries, such as those with nulls.
        ends = np.cumsum([len(chunk) for chunk in values.chunks])
        parts = np.split(rows, np.searchsorted(rows, ends[:-1])) if len(ends) else []
        starts = [0, *ends[:-1].tolist()]
        chunks = [
            chunk.take(array_of(part - start)) for chunk, part, start in zip(values.chunks, parts, starts, strict=True)
        ]
        return pa.chunked_array(chunks, type=values.type)
    return values.take(array_of(rows))
