"""A purchase of dates that are written as whole numbers, such as 20240131."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema, buy_schema, check_without_privacy, synthesize
from stored_tables import source_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 6000
BUDGET = {"epsilon": 3.0}


def stays() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    admitted = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, ROWS), unit="D")
    discharged = admitted + pd.to_timedelta(rng.geometric(0.2, ROWS), unit="D")
    table = pd.DataFrame({"ward": rng.integers(0, 4, ROWS)})
    table["admitted"] = admitted.strftime("%Y%m%d").astype(int)
    table["discharged"] = discharged.strftime("%Y%m%d").astype(int)
    return table


@pytest.mark.parametrize("kind", ["csv", "parquet", "sqlite", "frame"])
def test_they_are_dates_of_which_none_comes_before_its_admission(kind: str, tmp_path: Path) -> None:
    """Noise shows a far year in 3 of 1,600 purchases; in three of three with probability below 1e-6."""
    source = source_of(stays(), kind, tmp_path)
    for _ in range(3):
        schema, _receipt = buy_schema(source, **BUDGET)
        assert (schema["admitted"].kind, schema["admitted"].format) == ("date", "%Y%m%d")
        lower, upper = schema["admitted"].lower, schema["admitted"].upper
        assert (lower.month, lower.day, upper.month, upper.day) == (1, 1, 12, 31)
        if near := date(2010, 1, 1) < lower < date(2020, 1, 1) and date(2023, 1, 1) < upper < date(2033, 1, 1):
            break
    assert near
    assert schema["admitted_to_discharged"].between == ("admitted", "discharged")
    rows = synthesize(source, schema, epsilon=3.0, method="independent", seed=1).to_pandas()
    lasted = (pd.to_datetime(rows.discharged) - pd.to_datetime(rows.admitted)).dt.days
    assert lasted.min() >= 0
    assert abs(lasted.mean() - 5) < 1.5


def test_missing_ones_leave_them_dates_where_pandas_wrote_points(tmp_path: Path) -> None:
    table = stays()
    table.loc[np.arange(0, ROWS, 10), "discharged"] = np.nan
    source = source_of(table, "csv", tmp_path)
    assert ".0" in source.read_text()
    schema, _ = buy_schema(source, **BUDGET)
    rows = synthesize(source, schema, epsilon=3.0, method="independent", seed=1).to_pandas()
    assert 0.05 < rows.discharged.isna().mean() < 0.2


def test_numbers_of_members_that_begin_with_a_year_stay_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"member": rng.integers(2015, 2024, ROWS) * 10_000 + rng.integers(0, 10_000, ROWS)})
    table["half"] = np.where(rng.random(ROWS) < 0.5, 20_240_131, rng.integers(17_000_000, 40_000_000, ROWS))
    schema, _ = buy_schema(source_of(table, "csv", tmp_path), **BUDGET)
    for name in table:
        assert schema[name].kind == "integer"
        assert schema[name].lower <= 20_150_000
        assert schema[name].upper >= 20_240_131


def test_what_a_person_states_stays(tmp_path: Path) -> None:
    source = source_of(stays(), "csv", tmp_path)
    stated = '[columns.admitted]\nkind = "integer"\n'
    schema, _ = buy_schema(source, stated=stated, **BUDGET)
    assert schema["admitted"].kind == "integer"
    assert schema["admitted"].lower <= 20_190_101 < 20_230_101 <= schema["admitted"].upper
    assert schema["discharged"].kind == "date"


def test_a_check_says_what_whole_numbers_are() -> None:
    text = '[columns.admitted]\nkind = "integer"\nlower = 20190101\nupper = 20231231\n'
    table = stays()[["admitted"]]
    (note,) = check_without_privacy(table, Schema.from_toml(text)).notes
    assert (note.kind, note.count) == ("days", ROWS)
    assert 'format = "%Y%m%d"' in note.text
    table.loc[0, "admitted"] = 20_190_230
    assert "days" not in {one.kind for one in check_without_privacy(table, Schema.from_toml(text)).notes}
