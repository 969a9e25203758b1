"""Audits of neighbors that differ in one *raw* record: in every storage, the odd cells come as they are stored.

Where cells are read each by itself, the coded tables differ in one record too, so that exact counts differ by at most
the sensitivity that is billed, and noise of that scale hides it. A twin that infers one type over a batch, as Arrow
does for a list of objects, moves thousands of counts and must be caught by the same audit.

False alarms: the exact part has none; each audit of a sound reader fails by chance with probability at most 1e-6, and
its seed is fixed. The twin's outcomes on the two tables are hundreds of noise scales apart, so that it escapes with
probability below 1e-6: 5000 runs then show an epsilon of at least 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit_tools import epsilon_lower_bound
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.source import BATCH_ROWS, Source
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.schema import Categorical, Column, Date, Schema
from counterfoil.schema.mixed_cells import MixedCells
from raw_tables import STORAGES, Cells

EPSILONS = [1.0, 4.0]
RUNS = 5000
ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
# By storage: a column, cells that make most of it, and the odd one.
TYPED_ODD: dict[str, tuple[Column, Cells, Any]] = {
    "texts": (Categorical("v", ("1", "01"), missing=True), ["1", "01"], "unknown"),
    "reals": (Date("v", date(2023, 1, 1), date(2024, 12, 31), "1y", missing=True), [20230101.0, 20240101.0], 0.5),
}
DAYS = Date("v", date(2020, 1, 1), date(2021, 12, 31), "1y", missing=True, format="%d/%m/%Y")
MOMENTS = Categorical("v", ("2020-01-31 12:30:00",), missing=True)
UNTYPED: dict[str, tuple[Column, Cells, Any]] = {
    "sqlite, reals": (TYPED_ODD["reals"][0], TYPED_ODD["reals"][1], "unknown"),
    "sqlite, texts": (Categorical("v", ("1", "01", "2"), missing=True), [1.0, 2.0], "01"),
    "pandas objects, flags": (Categorical("v", ("true", "false"), missing=True), [True, False], "unknown"),
    "polars objects, flags": (Categorical("v", ("true", "false"), missing=True), [True, False], "unknown"),
    "pandas objects, moments": (MOMENTS, [datetime(2020, 1, 31, 12, 30)], date(2020, 1, 1)),
    "pandas objects, days": (DAYS, [date(2020, 5, 1), date(2021, 5, 1)], "1/2/2021"),
}
KINDS = (["texts"], ["reals"])
CASES = UNTYPED | {
    name: TYPED_ODD["reals" if "reals" in name or "float" in name else "texts"]
    for name in STORAGES
    if name in ("t.csv", "t.csv.gz", "pandas string", "pandas float")
    or (
        name.split()[0] in ("arrow", "dictionary", "parquet", "duckdb", "polars", "numpy") and name.split()[1:] in KINDS
    )
}


@dataclass
class Inferring:
    """The twin: one type for the cells of a batch, or texts where Arrow finds none."""

    source: Source

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[pa.RecordBatch]:
        for batch in self.source.batches(columns, batch_rows, skip_rows=skip_rows):
            yield pa.record_batch({name: inferred(batch.column(name)) for name in columns})


def inferred(cells: object) -> pa.Array:
    assert isinstance(cells, MixedCells)
    try:
        return pa.array(cells.cells, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells.cells], pa.string())


def neighbors_of(case: str, relation: NeighboringRelation) -> tuple[Column, list[Any], list[Any]]:
    """A thousand rows, without the odd one or with another in its place, and with it: first, where all see it."""
    column, cells, odd = CASES[case]
    common = [cells[i % len(cells)] for i in range(1000)]
    return column, ([] if relation is ADD else [cells[0]]) + common, [odd, *common]


def exact_counts(
    case: str, cells: Cells, column: Column, folder: Path, twin: bool, bound: PrivacyUnit | None
) -> np.ndarray:
    schema = Schema((column,), ignore=("end",))
    source = STORAGES[case].source(folder, {"v": cells})
    unit = {} if bound is None else {"privacy_unit": bound.column, "max_rows": bound.max_rows}
    engine = (DuckDBEngine if source.location != "memory" else MemoryEngine)(
        Inferring(source) if twin else source, schema, **unit, randomness=SeededRandomness(1)
    )
    return MarginalCounts(schema.domain, (("v",),)).exact(ExactRecords(engine, schema.domain))


def shown_epsilon(one: np.ndarray, other: np.ndarray, epsilon: float, sensitivity: float) -> float:
    """A lower bound on the epsilon of Laplace noise that is billed at this one."""
    randomness = SeededRandomness(20261121)
    answers = [LaplaceNoise(epsilon).add(np.tile(exact, (RUNS, 1)), sensitivity, randomness) for exact in (one, other)]
    evidence = [(np.abs(answer - one) - np.abs(answer - other)).sum(axis=1) for answer in answers]
    return epsilon_lower_bound(evidence[0].astype(float), evidence[1].astype(float), 0.0)


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("case", CASES)
def test_one_raw_record_is_hidden_and_an_inferred_type_is_caught(
    case: str, relation: NeighboringRelation, tmp_path: Path
) -> None:
    column, before, after = neighbors_of(case, relation)
    sensitivity = MarginalCounts(Schema((column,)).domain, (("v",),)).l1_sensitivity(relation)
    one, other = (exact_counts(case, cells, column, tmp_path, False, None) for cells in (before, after))
    assert 0 < np.abs(one - other).sum() <= sensitivity
    for epsilon in EPSILONS:
        assert shown_epsilon(one, other, epsilon, sensitivity) <= epsilon
    if case in UNTYPED:
        one, other = (exact_counts(case, cells, column, tmp_path, True, None) for cells in (before, after))
        assert np.abs(one - other).sum() >= 500
        for epsilon in EPSILONS:
            assert shown_epsilon(one, other, epsilon, sensitivity) > epsilon


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("case", ["sqlite, reals", "pandas objects, integers", "polars objects, integers"])
def test_one_raw_id_is_hidden_and_an_inferred_type_is_caught(
    case: str, relation: NeighboringRelation, tmp_path: Path
) -> None:
    """Each of 500 people has a row under a whole number and one under the same number as a real; one row is kept."""
    bound = PrivacyUnit("v", 1)
    column = Categorical("w", (1,), missing=True)
    common = [*range(500), *map(float, range(500))]
    tables = [0.0, *common] if relation is not ADD else common, ["unknown", *common]
    sensitivity = Neighbors(relation, bound).sensitivity(
        MarginalCounts(Schema((column,)).domain, (("w",),)).l1_sensitivity, relation
    )

    def counts(ids: Cells, twin: bool) -> np.ndarray:
        schema = Schema((column,))
        source = STORAGES[case].source(tmp_path, {"v": ids, "w": [1] * len(ids)})
        read = Inferring(source) if twin else source
        engine = DuckDBEngine(read, schema, privacy_unit="v", max_rows=1, randomness=SeededRandomness(1))
        return MarginalCounts(schema.domain, (("w",),)).exact(ExactRecords(engine, schema.domain))

    one, other = (counts(ids, False) for ids in tables)
    assert np.abs(one - other).sum() <= sensitivity
    for epsilon in EPSILONS:
        assert shown_epsilon(one, other, epsilon, sensitivity) <= epsilon
    one, other = (counts(ids, True) for ids in tables)
    assert np.abs(one - other).sum() > 400
    for epsilon in EPSILONS:
        assert shown_epsilon(one, other, epsilon, sensitivity) > epsilon
