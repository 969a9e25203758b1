"""A table that follows its schema, read whole and once: codes, placements, and numbers before they are clamped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.curator.raw_reading import RawTable, read_without_privacy
from counterfoil.evaluation.broken_facts import BrokenFact, BrokenFacts
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.placement import Placement


@dataclass(frozen=True, eq=False)
class WholeTable:
    """The columns of a table; NOT PRIVATE where the table is not.

    Args:
        schema: the public facts about them.
        rows: how many there are.
        codes: by column, integers [rows].
        placements: by column, uint8 [rows].
        numbers: by ordered column, float64 [rows] before they are clamped, NaN where missing.
        strangers: by column of categories, those outside its list with their counts.
        facts: the rules and lists of zeros, with the records that break them; rows count from 0.
    """

    schema: Schema
    rows: int
    codes: Mapping[str, np.ndarray]
    placements: Mapping[str, np.ndarray]
    numbers: Mapping[str, np.ndarray]
    strangers: Mapping[str, Counter[str]]
    facts: tuple[BrokenFact, ...]


def read_whole(source: Any, schema: Schema, *, reason: str, ledger: Ledger | None = None) -> WholeTable:
    """Reads all columns of a table, which `ledger` records for good where it is given.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: the public facts about the table.
        reason: what for, in words.
        ledger: of the table, if it is a sensitive one.

    Raises:
        UnplacedValue: for the first cell that has no place.
        ValueError: for a table that can't be read, or that has other columns than the schema.
    """
    return _whole(read_without_privacy(source, schema, reason=reason, ledger=ledger))


def _whole(table: RawTable) -> WholeTable:
    columns = table.schema.synthesized
    codes: dict[str, list[np.ndarray]] = {column.name: [] for column in columns}
    placements: dict[str, list[np.ndarray]] = {column.name: [] for column in columns}
    numbers: dict[str, list[np.ndarray]] = {column.name: [] for column in columns if column.is_ordered}
    listed = [column.name for column in columns if isinstance(column, Categorical)]
    strangers: dict[str, Counter[str]] = {name: Counter() for name in listed}
    rows, facts = 0, BrokenFacts(table.schema)
    for batch in table.batches():
        for problem in batch.problems.values():
            raise SchemaError(problem)
        for column in columns:
            name, cells = column.name, batch.cells[column.name]
            if len(cells.codes) and cells.codes.min() < 0:
                table.refuse(name, rows + int(np.argmax(cells.codes < 0)))
            codes[name].append(cells.codes.astype(column.dtype))
            placements[name].append(cells.placements)
            if name in numbers and cells.numbers is not None:
                numbers[name].append(cells.numbers)
            if name in strangers:
                outside = np.isin(cells.placements, (Placement.OTHER, Placement.UNREADABLE))
                if outside.any():
                    strangers[name].update(batch.texts(name, np.flatnonzero(outside)))
        facts.add(batch)
        rows += batch.rows
    found = (_joined(codes), _joined(placements), _joined(numbers))
    return WholeTable(table.schema, rows, *found, strangers, facts.found)


def _joined(parts: Mapping[str, list[np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.concatenate(some) if some else np.empty(0) for name, some in parts.items()}
