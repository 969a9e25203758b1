"""A purchase of times of day: they lie within one day, so that no bounds have to be bought."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from counterfoil import buy_schema, synthesize
from counterfoil.curator.queries.column_places import PLACES
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.votes import Votes
from counterfoil.schema.discovered import DiscoveredColumn
from counterfoil.schema.raw_cell import CODES
from stored_tables import source_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 6000
BUDGET = {"epsilon": 20.0}


def seconds() -> np.ndarray:
    return (np.random.default_rng(4).normal(14 * 3600, 9000, ROWS) % 86_400).astype(int)


def moments() -> list[time]:
    return [time(one // 3600, one // 60 % 60, one % 60) for one in seconds()]


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "sqlite", "frame"])
def test_they_are_moments_of_one_day_and_come_back_as_times(kind: str, tmp_path: Path) -> None:
    """All of them were left out: as texts they are too various."""
    table = pd.DataFrame({"seen": moments(), "arm": [row % 2 for row in range(ROWS)]})
    if kind == "sqlite":
        table["seen"] = table["seen"].astype(str)
    source = source_of(table, kind, tmp_path)
    schema, _ = buy_schema(source, **BUDGET)
    seen = schema["seen"]
    assert (seen.kind, seen.format) == ("datetime", "%H:%M:%S")
    assert (seen.lower, seen.upper) == (datetime(1900, 1, 1), datetime(1900, 1, 1, 23, 59, 59))
    rows = synthesize(source, schema, epsilon=5.0, method="independent", seed=1).to_pandas()
    drawn = pd.to_timedelta(rows["seen"].astype(str).str[-8:]).dt.total_seconds()
    assert abs(drawn.mean() - seconds().mean()) < 900


def test_a_frequent_time_with_a_fraction_is_one_where_the_storage_has_a_type_for_times() -> None:
    """23:59:59.999, for the end of a day, was a word for a missing cell."""
    cells = [time(23, 59, 59, 999_000) if row % 20 == 0 else one for row, one in enumerate(moments())]
    table = pa.table({"seen": pa.array(cells, pa.time64("us")), "arm": [row % 2 for row in range(ROWS)]})
    schema, _ = buy_schema(table, **BUDGET)
    assert (schema["seen"].kind, schema["seen"].missing_values) == ("datetime", ())


@pytest.mark.parametrize(
    ("notation", "spelled"), [("%H:%M", "{:%H:%M}"), ("%I:%M %p", "{:%I:%M %p}"), ("%H:%M:%S", "{:%H:%M:%S}")]
)
def test_each_notation_is_found_with_the_words_beside_it(notation: str, spelled: str, tmp_path: Path) -> None:
    cells = [spelled.format(one) for one in moments()]
    cells[::20] = ["unknown"] * len(cells[::20])
    pd.DataFrame({"seen": cells, "arm": [row % 2 for row in range(ROWS)]}).to_csv(tmp_path / "t.csv", index=False)
    schema, _ = buy_schema(tmp_path / "t.csv", **BUDGET)
    assert (schema["seen"].kind, schema["seen"].format) == ("datetime", notation)
    assert schema["seen"].missing_values == ("unknown",)
    assert schema["seen"].missing


def test_few_times_stay_categories_which_keep_them_as_they_are(tmp_path: Path) -> None:
    shifts = np.random.default_rng(5).choice(["06:00", "14:00", "22:00"], ROWS)
    pd.DataFrame({"shift": shifts, "arm": [row % 2 for row in range(ROWS)]}).to_csv(tmp_path / "t.csv", index=False)
    schema, _ = buy_schema(tmp_path / "t.csv", **BUDGET)
    assert set(schema["shift"].values) == {"06:00", "14:00", "22:00"}


def votes(**cells: int) -> Votes:
    counts = np.zeros(PLACES)
    for name, count in cells.items():
        counts[CODES[{"plain": "%H:%M", "seconds": "%H:%M:%S"}.get(name, name)]] = count
    return Votes(counts, 10.0, 5.0)


@pytest.mark.parametrize(
    ("cells", "clock", "texts"),
    [
        ({"plain": 950, "text": 60}, "%H:%M", 1010),
        ({"plain": 950, "missing": 3000}, "%H:%M", 950),
        ({"plain": 800, "text": 200}, "", 1000),
        ({"plain": 500, "seconds": 500}, "", 1000),
        ({"plain": 40, "text": 20}, "", 20),
    ],
)
def test_a_column_is_one_of_times_where_nearly_all_cells_are_written_alike(
    cells: dict[str, int], clock: str, texts: int
) -> None:
    """Else, and where the noise may be all there is, they are texts among others."""
    found = votes(**cells).with_clocks()
    assert (found.clock, found.of("text")) == (clock, texts)
    assert found.kind() == "text"


def test_what_its_user_stated_stands() -> None:
    column = DiscoveredColumn(
        name="seen",
        kind="text",
        votes={"text": 1000},
        lower=None,
        upper=None,
        tails=(0.0, 0.0),
        categories=(("08:00", 100), ("unknown", 80)),
        records=1000,
        missing=0,
        edges=(),
        deviation=5.0,
        clock="%H:%M",
        clock_read=(0.91, 0.01),
    )
    facts = bought_column(column).facts
    assert (facts["kind"][0], facts["missing_values"][0]) == ("datetime", ["unknown"])
    assert "about 91% (89% to 93%) of the cells that are not missing are times of day" in facts["kind"][1]
    assert "missing_values" not in bought_column(column, stated={"missing_values": ["unknown"]}).facts
    assert bought_column(column, stated={"kind": "categorical"}).facts == {}, "too various to be listed"
    stored = replace(column, clock="", clock_read=(0.0, 0.0))
    assert bought_column(stored, storage=pa.time64("us")).facts["kind"] == ("datetime", "the type in storage")
    assert not bought_column(stored).facts, "texts of a file"
