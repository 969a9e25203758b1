"""Columns compared as they stand: what a schema moves must show, against pandas and scipy."""

from __future__ import annotations

import datetime as dt
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from counterfoil.evaluation.comparison import compare
from counterfoil.evaluation.raw_columns import QUANTILES, in_units
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Integer, Real, Schema
from counterfoil.schema.errors import UnplacedValue
from counterfoil.schema.placement import Placement

SCHEMA = Schema(
    (
        Integer("rank", 1, 6),
        Real("pay", 0.0, 100.0, bins=20, missing=True),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 12, 31)),
        Categorical("job", ("cook", "nurse", "smith"), other=True),
        Boolean("rich"),
    )
)
N, M = 3000, 2000


def real() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    pay = rng.lognormal(4, 1, N)
    pay[:30], pay[30] = np.nan, np.inf
    return pd.DataFrame(
        {
            "rank": rng.integers(1, 11, N),
            "pay": pay,
            "day": pd.Timestamp("2020-06-01") + pd.to_timedelta(rng.integers(0, 400, N), "D"),
            "job": np.array(["cook", "nurse", "clown", "spy"])[rng.integers(0, 4, N)],
            "rich": pay > 60,
        }
    )


def synthetic() -> pd.DataFrame:
    """As good as copies get through the schema: the real rows, clamped."""
    frame = real().iloc[:M].copy()
    frame["rank"], frame["pay"] = frame["rank"].clip(1, 6), frame["pay"].clip(0, 100)
    frame["day"] = frame["day"].clip(pd.Timestamp("2020-01-01"), pd.Timestamp("2020-12-31"))
    frame["job"] = frame["job"].where(frame["job"] == "cook", "other")
    return frame


REAL, SYNTHETIC = real(), synthetic()
FOUND = compare(REAL, SYNTHETIC, SCHEMA)
COLUMNS = {column.name: column for column in FOUND.columns}


def test_what_was_clamped_shows():
    """Two fifths of the ranks lie above the bound: a comparison of codes calls the copy perfect."""
    rank = COLUMNS["rank"]
    assert rank.distance < 0.05
    assert rank.clamped == (pytest.approx(np.mean(REAL["rank"] > 6)), 0.0)
    assert rank.clamped[0] > 0.35
    assert rank.difference > 0.4
    assert COLUMNS["pay"].real[Placement.INFINITE] == 1 / N
    assert COLUMNS["pay"].missing == (30 / N, 30 / M)
    assert FOUND.numbers.wasserstein["rank"] > 0.15


@pytest.mark.parametrize("name", ["rank", "pay", "day"])
def test_statistics_are_those_of_the_values_as_they_stand(name):
    numbers = COLUMNS[name].numbers
    for side, frame in ((numbers.real, REAL), (numbers.synthetic, SYNTHETIC)):
        values = frame[name]
        if name == "day":
            values = (values - pd.Timestamp(0)).dt.days.astype(float)
        values = values[np.isfinite(values)].to_numpy(dtype=float)
        assert side.mean == pytest.approx(values.mean())
        assert side.deviation == pytest.approx(values.std())
        assert side.quantiles == pytest.approx(np.quantile(values, QUANTILES))
    one, other = (frame[name].to_numpy() for frame in (REAL, SYNTHETIC))
    if name == "day":
        one, other = ((part - np.datetime64(0, "D")) / np.timedelta64(1, "D") for part in (one, other))
    one, other = (np.asarray(part, dtype=float)[np.isfinite(np.asarray(part, dtype=float))] for part in (one, other))
    assert numbers.wasserstein == pytest.approx(wasserstein_distance(one, other))
    assert numbers.share == pytest.approx(numbers.wasserstein / numbers.width)
    assert FOUND.numbers.wasserstein[name] == numbers.share


def test_categories_never_made_and_outside_of_the_schema():
    job = COLUMNS["job"].categories
    assert job.never_made == ("nurse",)
    counts = REAL["job"].value_counts()
    assert job.outside == {name: counts[name] for name in ("clown", "spy")}
    assert COLUMNS["job"].other[0] == pytest.approx((counts["clown"] + counts["spy"]) / N)
    assert COLUMNS["rich"].numbers is None
    assert COLUMNS["rich"].categories is None


def test_the_document_has_everything_and_names_only_where_they_are_asked_for():
    plain, named = (json.dumps(FOUND.to_json(values=values), allow_nan=False) for values in (False, True))
    assert "clown" not in plain
    assert "clown" in named
    (rank,) = (column for column in json.loads(plain)["columns"] if column["column"] == "rank")
    assert rank["placed"]["real"]["above"] > 0.35
    assert set(rank["numbers"]["real"]["quantiles"]) == {"0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"}


def test_a_copy_differs_in_nothing():
    copy = compare(REAL, REAL, SCHEMA)
    for column in copy.columns:
        assert column.distance == 0
        assert column.real == column.synthetic
        if column.numbers is not None:
            assert column.numbers.wasserstein == 0
            assert column.numbers.real == column.numbers.synthetic
        if column.categories is not None:
            assert column.categories.never_made == ()


def test_a_column_without_a_number_on_one_side_has_no_distance():
    empty = SYNTHETIC.assign(pay=np.nan)
    column = {one.name: one for one in compare(REAL, empty, SCHEMA).columns}["pay"]
    assert math.isnan(column.numbers.wasserstein)
    assert column.numbers.synthetic is None
    assert column.difference > 1
    json.dumps(compare(REAL, empty, SCHEMA).to_json(), allow_nan=False)


def test_a_value_without_a_place_is_refused_with_its_row():
    broken = REAL.astype({"rank": object})
    broken.loc[7, "rank"] = "seven"
    with pytest.raises(UnplacedValue, match="'rank', row 8") as caught:
        compare(broken, SYNTHETIC, SCHEMA)
    assert "seven" not in str(caught.value)


def test_ignored_columns_are_not_seen_by_models():
    """`pay` tells the target outright; without it, and with nothing else that does, models guess."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"rich": rng.random(600) < 0.5})
    frame["leak"] = frame["rich"].astype(int)
    frame["noise"] = rng.integers(0, 3, 600)
    schema = Schema((Boolean("rich"), Integer("leak", 0, 1), Integer("noise", 0, 2)))
    with_it, without = (
        compare(frame, frame, schema, target="rich", ignore=ignore).model.models["decision tree"].real.accuracy
        for ignore in ((), ("leak",))
    )
    assert with_it == 1.0
    assert without < 0.7
    for ignore, message in (
        (("leek",), "Did you mean 'leak'"),
        (("rich",), "must not name the target"),
    ):
        with pytest.raises(ValueError, match=message):
            compare(frame, frame, schema, target="rich", ignore=ignore)
    with pytest.raises(ValueError, match="goes with `target`"):
        compare(frame, frame, schema, ignore=("leak",))


def test_targets_of_several_values_are_scored_as_before():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"job": rng.integers(0, 3, 400), "x": rng.integers(0, 2, 400)})
    frame["x"] = (frame["x"] + frame["job"]) % 3
    schema = Schema((Integer("job", 0, 2), Integer("x", 0, 2)))
    scores = compare(frame, frame, schema, target="job").model.models["gradient boosting"].real
    assert 0.4 < scores.accuracy < 0.7
    assert scores.auc > 0.6


def test_numbers_are_shown_in_the_unit_of_the_column():
    day = Date("d", dt.date(2020, 1, 1), dt.date(2020, 1, 2))
    second = Datetime("d", dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2), bins=1)
    assert in_units(day, 18_262.4) == "2020-01-01"
    assert in_units(second, 18_262.0 * 86_400 + 61) == "2020-01-01 00:01:01"
    assert in_units(day, 1e12) == "1e+12"
    assert in_units(Real("x", 0.0, 1.0, bins=1), 0.123456789) == "0.123457"
    assert in_units(day, float("nan")) == "-"


def test_moments_are_shown_as_a_clock_in_their_zone_shows_them():
    """Half an hour after midnight in Zurich is still the day before in UTC."""
    ends = dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31)
    column = Datetime("at", *ends, resolution="1d", zone="Europe/Zurich")
    cells = pd.DataFrame({"at": ["2024-01-15 00:30:00"] * 3})
    (found,) = compare(cells, cells, Schema((column,))).columns
    assert in_units(column, found.numbers.real.mean) == "2024-01-15 00:30:00"
