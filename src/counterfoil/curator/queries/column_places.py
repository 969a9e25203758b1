"""What the cells of columns are of which nothing is known, and where their numbers lie: one place for each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.schema.compact_dates import are_days
from counterfoil.schema.open_numbers import OpenCells, as_read
from counterfoil.schema.raw_cell import CLASSES, CODES, PADDED, RawCells, unit_places, without_unit
from counterfoil.schema.schema import Schema
from counterfoil.schema.unit import KNOWN
from counterfoil.schema.value_grid import CELLS, REACH, WHOLE_PLACES, places_of
from counterfoil.schema.zero_padding import WIDTHS

GRIDS = ("integer", "tenths", "hundredths", "real")
"""The classes of numbers, each of which has a grid of its own, in this order."""

PLACES = len(CLASSES) + len(GRIDS) * CELLS
"""Of one column: a place for each class, and a grid for each class of numbers, whose own places stay empty, but for
`DAYS`."""

DAYS = CODES["integer"]
"""The place of integers that read as days, such as 20240131 (`compact_dates.are_days`): they are on no grid."""

PADDED_LINE = WHOLE_PLACES[(WHOLE_PLACES >= REACH) & (places_of(np.array([10.0 ** WIDTHS[-2]]))[0] >= WHOLE_PLACES)]
"""The places of the grid where numbers with leading zeros can be, whatever their digits, ascending."""

PADDED_PLACES = len(WIDTHS) * len(PADDED_LINE)
"""Behind those: for each number of digits, a line of these places for the numbers that have so many with leading zeros,
whose classes' own places stay empty."""

NUMBERED = PLACES + PADDED_PLACES
"""All places of one column whose unit is not looked for."""

UNIT_PLACES = len(KNOWN) * len(GRIDS) * CELLS
"""Behind those, of a column whose unit is looked for: the same grids for the numbers with each unit."""


@shipped
@dataclass(frozen=True)
class ColumnPlaces(CountQuery):
    """How many cells of each column are of each class, numbers of each class at each place of a public grid.

    Formal guarantee: a cell has exactly one class, and a number one place on the grid (`schema.value_grid`): the answer
    for a column has a count for each class without numbers, one for each place of each class with them, and one for
    integers that read as days, which have no place on the grid instead. Numbers with leading zeros are a class for each
    number of digits, with a line of places each. Which one a cell adds to depends on nothing but the cell
    (`schema.raw_cell`, `schema.compact_dates`, `schema.zero_padding`), so a record adds 1 to exactly one count of each
    of the d columns. Adding or removing it moves d counts by 1: l1 sensitivity d, l2 sensitivity sqrt(d). Replacing it
    moves, in each column, 1 from one count to another, or nothing: at most 2 d counts by 1 each, so l1 sensitivity 2 d
    and l2 sensitivity sqrt(2 d). Both are attained by records whose cells all have other classes.

    Where units are looked for, what was the class of texts is divided further: a text that is a number with a unit of
    a public list beside it has its place on the grid of that unit and that class of numbers, and is no text. Which
    unit that is, if any, follows from the cell alone (`unit.unit_of`), so that a cell still has exactly one place, and
    all of the above holds as it stands, however many units there are.

    Args:
        columns: those that are asked about; none twice.
        sign: with which the cells of those columns are read whose decimal sign was open (`schema.open_numbers`), where
            one's was; what a cell is then follows from the cell and this public sign.
        with_units: those of the columns whose unit is looked for.
    """

    name: ClassVar[str] = "column_places"
    question: ClassVar[str] = (
        "how many cells of each column are missing, numbers in coarse public intervals, dates, booleans or texts, "
        "with noise"
    )

    columns: tuple[str, ...]
    sign: str | None = None
    with_units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError("`columns` must hold at least one column, and none twice.")

    def require_fits(self, schema: Schema) -> None:
        require_read(schema, self.columns, self.sign)
        looked = {column.name for column in schema.synthesized if isinstance(column, RawCells) and column.units}
        if set(self.with_units) != looked.intersection(self.columns):
            raise ValueError("`with_units` must hold those of `columns` whose units are looked for, and no other.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return len(self.columns) * (1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._counts, self.columns, self.columns)

    def split(self, answer: np.ndarray) -> dict[str, np.ndarray]:
        """An answer by column, as int64 [NUMBERED], or [NUMBERED + UNIT_PLACES] where its unit is looked for."""
        ends = np.cumsum([self._size(name) for name in self.columns])[:-1]
        return dict(zip(self.columns, np.split(answer, ends), strict=True))

    def _size(self, name: str) -> int:
        return NUMBERED + (UNIT_PLACES if name in self.with_units else 0)

    def describe(self) -> dict[str, Any]:
        said: dict[str, Any] = {"columns": list(self.columns)} | ({} if self.sign is None else {"sign": self.sign})
        return said | ({"units": list(self.with_units)} if self.with_units else {})

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        l1 = len(parameters["columns"]) * moved
        return l1 if norm is Norm.L1 else math.sqrt(l1)

    def _counts(self, block: Block) -> np.ndarray:
        parts = [
            np.bincount(place_of_cells(*cells_read(block, name, self.sign)), minlength=self._size(name))
            for name in self.columns
        ]
        return np.concatenate(parts).astype(np.int64)


def place_of_cells(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """int64 [n]: the one place, below `NUMBERED`, of each cell with this code and this number; above with a unit."""
    units, plain = unit_places(codes.astype(np.int64)), without_unit(codes.astype(np.int64))
    places = plain.copy()
    for grid, name in enumerate(GRIDS):
        of_kind = plain == CODES[name]
        first = np.where(units < 0, len(CLASSES), NUMBERED + units * len(GRIDS) * CELLS)[of_kind]
        places[of_kind] = first + grid * CELLS + places_of(numbers[of_kind])
    plain_integers = np.flatnonzero((plain == CODES["integer"]) & (units < 0))
    places[plain_integers[are_days(numbers[plain_integers])]] = DAYS
    lines = plain - PADDED[WIDTHS[0]]
    padded = np.flatnonzero((lines >= 0) & (lines < len(WIDTHS)))
    along = np.searchsorted(PADDED_LINE, places_of(numbers[padded]))
    places[padded] = PLACES + lines[padded] * len(PADDED_LINE) + along
    return places


def cells_read(block: Block, name: str, sign: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The codes [n] and numbers [n] of a column's cells, read with a decimal sign where that was open."""
    codes, numbers = block.codes[name], block.numbers[name]
    return (codes, numbers) if sign is None else as_read(codes, numbers, sign)


def require_raw(schema: Schema, columns: tuple[str, ...]) -> None:
    """Refuses columns that are not read as they stand: their codes would be of other things.

    Raises:
        ValueError: naming the column.
    """
    raw = {column.name for column in schema.synthesized if isinstance(column, RawCells)}
    for name in columns:
        if name not in raw:
            raise ValueError(f"`columns` must be columns that are read without a schema. Found {name!r}.")


def require_read(schema: Schema, columns: tuple[str, ...], sign: str | None) -> None:
    """Refuses columns whose decimal sign is open where none is given to read them with, and a sign that reads none.

    Raises:
        ValueError: naming the column.
    """
    require_raw(schema, columns)
    opened = open_among(schema, columns)
    if opened and sign is None:
        raise ValueError(f"The decimal sign of each of `columns` must be known. Found that of {opened[0]!r} open.")
    if sign is not None and not opened:
        raise ValueError(f"The decimal sign of one of `columns` must be open. Found that of {columns[0]!r} known.")


def open_among(schema: Schema, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Those of these columns whose decimal sign is open."""
    opened = {column.name for column in schema.synthesized if isinstance(column, OpenCells)}
    return tuple(name for name in columns if name in opened)
