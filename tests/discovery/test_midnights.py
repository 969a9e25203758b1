"""A purchase of days that are stored as moments at midnight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil import buy_schema, synthesize
from stored_tables import source_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 6000
BUDGET = {"epsilon": 3.0}


def stays() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    admitted = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 1500, ROWS), unit="D")
    lasted = pd.to_timedelta(rng.geometric(0.2, ROWS), unit="D")
    return pd.DataFrame({"ward": rng.integers(0, 4, ROWS), "admitted": admitted, "discharged": admitted + lasted})


def with_times(rows: slice) -> pd.DataFrame:
    table = stays()
    table.loc[table.index[rows], "admitted"] += pd.Timedelta(minutes=601)
    return table


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "sqlite", "frame"])
def test_they_are_dates_and_stays_last_days(kind: str, tmp_path: Path) -> None:
    source = source_of(stays(), kind, tmp_path)
    schema, _ = buy_schema(source, **BUDGET)
    assert (schema["admitted"].kind, schema["admitted"].format) == ("date", "")
    assert 2009 < schema["admitted"].lower.year < 2020
    assert 2022 < schema["admitted"].upper.year < 2033
    assert schema["admitted_to_discharged"].between == ("admitted", "discharged")
    rows = synthesize(source, schema, epsilon=3.0, method="independent", seed=1).to_pandas()
    lasted = (pd.to_datetime(rows.discharged) - pd.to_datetime(rows.admitted)).dt.days
    assert lasted.min() >= 0
    assert abs(lasted.mean() - 5) < 1.5


def test_few_times_of_day_are_left_out_and_none_of_their_dates_is_missing() -> None:
    table = with_times(slice(0, ROWS // 20))
    schema, _ = buy_schema(table, **BUDGET)
    assert schema["admitted"].kind == "date"
    made = synthesize(table, schema, epsilon=3.0, method="independent", seed=1).to_pandas()
    assert made.admitted.isna().mean() < 0.02


@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_moments_of_which_many_have_times_stay_moments(kind: str, tmp_path: Path) -> None:
    schema, _ = buy_schema(source_of(with_times(slice(0, ROWS // 3)), kind, tmp_path), **BUDGET)
    assert schema["admitted"].kind == "datetime"
    assert schema["discharged"].kind == "date"


def test_instants_are_no_midnights() -> None:
    table = stays()[["ward", "admitted"]]
    table["admitted"] = table.admitted.dt.tz_localize("UTC")
    schema, _ = buy_schema(table, **BUDGET)
    assert (schema["admitted"].kind, schema["admitted"].zone) == ("datetime", "UTC")


def test_what_a_person_states_stays(tmp_path: Path) -> None:
    stated = '[columns.admitted]\nkind = "datetime"\n[columns.discharged]\nkind = "date"\n'
    schema, _ = buy_schema(source_of(stays(), "csv", tmp_path), stated=stated, **BUDGET)
    assert schema["admitted"].kind == "datetime"
    assert 2022 < schema["admitted"].upper.year < 2033
    assert schema["discharged"].kind == "date"


def test_a_date_that_is_stated_reads_the_days_of_moments() -> None:
    stated = '[columns.admitted]\nkind = "date"\n'
    schema, _ = buy_schema(with_times(slice(None)), stated=stated, **BUDGET)
    assert schema["admitted"].kind == "date"
    assert 2009 < schema["admitted"].lower.year < 2020
    assert 2022 < schema["admitted"].upper.year < 2033
