"""Synthetic rows by the million, drawn part by part: what is held at once does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from counterfoil.domain.counting import count_stacked
from counterfoil.domain.layout import Layout
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.schema import Schema
from counterfoil.schema.derived import Derived
from counterfoil.scratch.kept_arrays import ArrayKeeper, KeptArray
from counterfoil.synthesis.row_memory import require_memory
from counterfoil.synthesis.row_sampling import RowMaker, Rows, draw
from counterfoil.synthesis.table import in_order as columns_in_order
from counterfoil.synthesis.table import with_identifiers
from counterfoil.threads import in_order, thread_count

PART_ROWS = 2**20
"""Rows that are drawn, and rounded, together."""

SLICE_ROWS = 2**18
"""Rows that are given values together, and so a group of rows in a Parquet file."""

_IN_MEMORY = 256 * 2**20
"""Bytes of codes that are kept in memory; further ones are kept in a file without a name."""

_WORDS = 4

_OF_ARRAY = 512
"""Bytes that Python takes to know where the codes of one column of one slice are kept."""

_CELLS_OF_SEVERAL = 2**22
"""Counts, of 8 bytes, up to which each thread has an array of its own."""

_TO_A_FILE = "Write them to a file, which takes some of them at a time, or draw fewer rows."


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows, which follow from two seeds alone.

    Args:
        asked: how many rows were to be drawn.
        before: how many rows come before them.
        rows: how many there are: fewer where rules can't be met.
        seeds: uint32 [2, words]: of the codes, and of the values.
        kept: the codes by slice and column; None where there was no room for them.
    """

    asked: int
    before: int
    rows: int
    seeds: np.ndarray
    kept: tuple[tuple[KeptArray, ...], ...] | None

    def for_codes(self) -> np.random.Generator:
        """The generator of the codes, as it begins."""
        return np.random.default_rng(self.seeds[0].tolist())

    def for_values(self, start: int) -> np.random.Generator:
        """The generator of the values of the rows from `start` on, as it begins."""
        return np.random.default_rng([*self.seeds[1].tolist(), start])


@dataclass(frozen=True, eq=False)
class RowParts:
    """Synthetic rows whose codes are kept as bits, and whose values are computed each time that they are asked for.

    Each part is the same on any number of threads, and whenever it is computed: where there is room its codes are
    kept, else they are drawn again.

    Args:
        maker: draws rows and gives them values.
        parts: at least one.
        names: the order of the table's columns; that of the schema where there are none.
    """

    maker: RowMaker
    parts: tuple[Part, ...]
    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(part.rows for part in self.parts)

    @property
    def column_names(self) -> list[str]:
        """Those of the table."""
        return list(self.arrow_schema.names)

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns of the table and their types."""
        schema, rng = self.maker.schema, np.random.default_rng(0)
        none = self.maker.values(np.empty((0, len(schema.synthesized)), dtype=np.int32), rng)
        return columns_in_order(with_identifiers(schema, none, rng), self.names).schema

    def ordered(self, names: Sequence[str]) -> RowParts:
        """The same rows, the table's columns in the order of `names`; others follow the one before them."""
        return replace(self, names=tuple(names))

    def tables(self, *, coded: bool = False) -> Iterator[pa.Table]:
        """The values, some rows at a time; texts as dictionaries, where they may be `coded` and nothing reads them."""
        # Values that meet rules are those with which the rows were chosen, all of a part together.
        step = PART_ROWS if self.maker.schema.row_rules else SLICE_ROWS
        slices = ((part, start) for part in self.parts for start in range(0, max(part.rows, 1), step))
        derives = any(isinstance(column, Derived) for column in self.maker.schema.columns)
        yield from in_order(partial(self._table, coded=coded and not derives), slices)

    def counts(self, layout: Layout) -> np.ndarray:
        """int64 [cells of all]: how many rows are in each cell of the layout's cliques."""
        total = np.zeros(int(layout.starts[-1]), dtype=np.int64)
        if len(total) > _CELLS_OF_SEVERAL:
            for part in self.parts:
                _count(self.maker, layout, part, total)
            return total
        for counted in in_order(partial(_counts, self.maker, layout), self.parts):
            total += counted
        return total

    def code_parts(self) -> Iterator[np.ndarray]:
        """The codes, part by part: int32 [rows of the part, attributes]."""
        yield from in_order(partial(_codes, self.maker), self.parts)

    @cached_property
    def codes(self) -> np.ndarray:
        """All codes in memory: int32 [rows, attributes].

        Raises:
            ValueError: where there is not so much memory.
        """
        require_memory(self.count, 4 * self.count * len(self.maker.schema.synthesized), _TO_A_FILE)
        codes = np.empty((self.count, len(self.maker.schema.synthesized)), dtype=np.int32, order="F")
        for part, own in zip(self.parts, self.code_parts(), strict=True):
            codes[part.before : part.before + part.rows] = own
        return codes

    @cached_property
    def table(self) -> pa.Table:
        """All values in memory.

        Raises:
            ValueError: where there is not so much memory.
        """
        # A value takes 8 bytes, or the 4 of where a text begins and some letters.
        require_memory(self.count, 8 * self.count * len(self.maker.schema.synthesized), _TO_A_FILE)
        return pa.concat_tables(self.tables())

    def _table(self, numbered: tuple[Part, int], *, coded: bool) -> pa.Table:
        (part, start), maker = numbered, self.maker
        rng = part.for_values(start)
        if maker.schema.row_rules:
            values = maker.draw(part.asked, part.for_codes())[1]
        else:
            give = maker.coded_values if coded else maker.values
            values = give(_slice_of_codes(maker, part, start), rng)
        return columns_in_order(with_identifiers(maker.schema, values, rng, before=part.before + start), self.names)


def held_bytes(rows: int, columns: int) -> int:
    """About how much memory rows take at most that are drawn by `draw_parts` and written table by table.

    Args:
        rows: how many.
        columns: how many columns they have.
    """
    parts, slices = -(-rows // PART_ROWS), -(-PART_ROWS // SLICE_ROWS)
    # A code and a value of each cell of a few parts, codes as far as they are kept in memory, and where others are.
    drawn = 16 * min(rows, (thread_count() + 1) * PART_ROWS) * columns
    places = parts * (slices * columns + slices) * _OF_ARRAY if parts > 1 else 0
    return drawn + min(rows * columns, _IN_MEMORY) + places


def draw_parts(
    model: TableModel,
    schema: Schema,
    n: int,
    rng: np.random.Generator,
    *,
    where: Mapping[str, list[int]] | None = None,
) -> Rows | RowParts:
    """`n` rows as `row_sampling.draw` draws them: up to `PART_ROWS` in memory, more in parts.

    Each part is `PART_ROWS` rows but the last, and is rounded by itself: its marginals hold as closely as integers can,
    and the expected count of every cell is that of the model (but for what `swapping` mends in a last part of few
    rows). The roundings of k parts are independent, so that a count of all rows errs by some sqrt(k) times what a count
    of one part does: for 1e8 rows ten times, where independent rows would err by the square root of the count itself.

    Raises:
        ValueError: when `where` has probability zero.
    """
    if n <= PART_ROWS:
        return draw(model, schema, n, rng, where=where)
    maker = RowMaker.of(model, schema, where)
    befores = range(0, n, PART_ROWS)
    seeds = rng.integers(0, 2**32, (len(befores), 2, _WORDS), dtype=np.uint32)
    asked = [Part(min(PART_ROWS, n - before), before, 0, own, None) for before, own in zip(befores, seeds, strict=True)]
    keeper, parts, done = ArrayKeeper(_IN_MEMORY), list[Part](), 0
    for part, codes in zip(asked, in_order(partial(_codes, maker), asked), strict=True):
        parts.append(replace(part, before=done, rows=len(codes), kept=_kept(keeper, schema, codes)))
        done += len(codes)
    if keeper.disk_is_full:
        parts = [part if _in_memory(part) else replace(part, kept=None) for part in parts]
    return RowParts(maker, tuple(parts))


def _codes(maker: RowMaker, part: Part) -> np.ndarray:
    """int32 [rows of the part, attributes]."""
    if part.kept is None:
        rng = part.for_codes()
        return maker.draw(part.asked, rng)[0] if maker.schema.row_rules else maker.sample(part.asked, rng)
    return np.concatenate([_loaded(columns) for columns in part.kept])


def _counts(maker: RowMaker, layout: Layout, part: Part) -> np.ndarray:
    """int64 [cells of all]: of the rows of one part."""
    total = np.zeros(int(layout.starts[-1]), dtype=np.int64)
    _count(maker, layout, part, total)
    return total


def _count(maker: RowMaker, layout: Layout, part: Part, total: np.ndarray) -> None:
    """Adds the counts of one part to `total`, a slice at a time where its codes are kept."""
    names = layout.domain.attributes
    if part.kept is None:
        codes = _codes(maker, part)
        count_stacked(dict(zip(names, codes.T, strict=True)), len(codes), layout, total)
        return
    used = [(name, axis) for axis, name in enumerate(names) if axis in layout.members]
    for columns in part.kept:
        count_stacked({name: columns[axis].load() for name, axis in used}, columns[0].rows, layout, total)


def _slice_of_codes(maker: RowMaker, part: Part, start: int) -> np.ndarray:
    if part.kept is None:
        return _codes(maker, part)[start : start + SLICE_ROWS]
    return _loaded(part.kept[start // SLICE_ROWS])


def _loaded(columns: Sequence[KeptArray]) -> np.ndarray:
    codes = np.empty((columns[0].rows, len(columns)), dtype=np.int32, order="F")
    for axis, column in enumerate(columns):
        codes[:, axis] = column.load()
    return codes


def _kept(keeper: ArrayKeeper, schema: Schema, codes: np.ndarray) -> tuple[tuple[KeptArray, ...], ...] | None:
    slices = []
    for start in range(0, max(len(codes), 1), SLICE_ROWS):
        columns = zip(schema.synthesized, codes[start : start + SLICE_ROWS].T, strict=True)
        arrays = [keeper.keep(own.astype(column.dtype), column.size) for column, own in columns]
        slices.append(tuple(array for array in arrays if array is not None))
        if len(slices[-1]) < len(arrays):
            return None
    return tuple(slices)


def _in_memory(part: Part) -> bool:
    return part.kept is not None and all(array.scratch is None for columns in part.kept for array in columns)
