"""Sections by what is in a release: columns, pairs, points, and what it can and cannot be used for."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil import Schema, synthesize
from counterfoil.pictures.column_bars import is_drawable
from counterfoil.report.beyond_bounds import beyond_bounds
from counterfoil.report.column_view import column_views
from counterfoil.report.columns import columns
from counterfoil.report.pairs import pairs
from counterfoil.report.points import points
from counterfoil.report.relations import noise_tests
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.words import limits, uses
from counterfoil.schema import Boolean, Categorical, Date, Integer, Real
from counterfoil.schema.column import Column
from counterfoil.synthesis.bars import bars_of

TOML = """
name = "visits"

[columns.id]
kind = "identifier"
replace = "uuid"

[columns.day]
kind = "date"
lower = 2020-01-01
upper = 2023-12-31
resolution = "1mo"
missing = true

[columns.cost]
kind = "real"
lower = 0.0
upper = 100.0
bins = 10

[columns.gain]
kind = "integer"
lower = 0
upper = 99999
edges = [0, 1, 50, 100, 200, 500, 1000, 2000, 10000, 99999]

[columns.ward]
kind = "categorical"
values = [VALUES]

[columns.sick]
kind = "boolean"
""".replace("VALUES", ", ".join(f'"w{number}"' for number in range(30)))


def visits(rows: int = 1500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    sick = rng.random(rows) < 0.4
    ward = np.minimum(rng.geometric(0.15, rows) - 1, 29)
    return pd.DataFrame(
        {
            "id": [str(number) for number in range(rows)],
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1400, rows), "D"),
            "cost": np.where(sick, rng.uniform(50, 100, rows), rng.uniform(0, 50, rows)),
            "gain": np.where(rng.random(rows) < 0.9, 0, rng.integers(0, 99999, rows)),
            "ward": [f"w{number}" for number in ward],
            "sick": sick,
        }
    )


@pytest.fixture(scope="module")
def facts() -> ReleaseFacts:
    made = synthesize(visits(), Schema.from_toml(TOML), epsilon=1.0, method="mst", seed=1)
    return ReleaseFacts.of(made)


def test_each_column_has_the_picture_of_its_kind(facts):
    views = {view.column.name: view for view in column_views(facts)}
    assert list(views) == ["day", "cost", "gain", "ward", "sick"]
    assert views["day"].bars.temporal
    assert views["day"].bars.ends is not None
    assert len(views["day"].bars.shares) == 48
    assert views["cost"].bars.ends is not None
    assert views["cost"].bars.ends.tolist() == [[10.0 * k for k in range(10)], [10.0 * k for k in range(1, 11)]]
    assert views["gain"].bars.ends is None, "these bins can't be drawn to scale"
    assert views["gain"].bars.labels[:2] == ("0", "1..49")
    assert views["ward"].bars.labels[-1] == "10 others"
    assert len(views["ward"].bars.labels) == 21
    assert np.all(np.diff(views["ward"].bars.shares[:-1]) <= 0)
    for view in views.values():
        missing = 0 if view.missing is None or view.bars.ends is None else view.missing
        assert view.bars.shares.sum() == pytest.approx(1 - missing)
        codes = facts.codes[view.column.name]
        assert view.shares == pytest.approx(np.bincount(codes, minlength=view.column.size) / len(codes))
        assert view.off_by == pytest.approx(facts.kept.error_bars.bar([view.column.name], 0.05).fraction / 2)


def test_error_bars_reach_where_the_real_shares_are(facts):
    """At two standard errors an interval holds its share with probability about 95%: of 94 bars at least 75 do, but for
    a probability below 1e-6 (were they independent)."""
    real = visits()
    held = count = 0
    for view in column_views(facts):
        codes = view.column.encode(pa_of(real[view.column.name]))
        shares = np.bincount(codes, minlength=view.column.size) / len(codes)
        for place, codes_of_bar in enumerate(view.bars.sets):
            if np.isfinite(view.bars.lower[place]):
                share = float(shares[codes_of_bar].sum())
                count += 1
                held += view.bars.lower[place] <= share <= view.bars.upper[place]
    assert count >= 80
    assert held >= 0.8 * count


def pa_of(values: pd.Series):
    import pyarrow as pa

    array = pa.chunked_array([pa.array(values)])
    return array.cast(pa.date32()) if pa.types.is_timestamp(array.type) else array


def test_the_section_of_columns_says_what_lines_are(facts):
    section = columns(facts)
    assert section is not None
    assert len(section.figures) == 5
    assert "two standard errors" in section.lead
    assert section.paragraphs == ("Made anew, without any relation to real ones: id.",)
    by_title = {figure.title: figure for figure in section.figures}
    assert "Missing: " in by_title["day"].caption
    assert "drawn to scale" in by_title["gain"].caption
    table = by_title["sick"].table
    assert table is not None
    assert table.header == ("value", "share", "real share by noisy counts")
    assert [row[0] for row in table.rows] == ["false", "true"]


def test_bars_at_bounds_are_said_to_hold_what_lies_beyond(facts):
    captions = {figure.title: figure.caption for figure in columns(facts).figures}
    assert "The first bar also holds values below 0, and the last bar those above 100." in captions["cost"]
    assert (
        "The first bar also holds values below 2020-01-01, and the last bar those above 2023-12-31." in captions["day"]
    )
    assert "The first bar also holds values below 0, and the last bar those above 99,999." in captions["gain"]
    assert not any("also holds" in captions[name] for name in ("ward", "sick"))


@pytest.mark.parametrize(
    ("column", "main", "apart"),
    [
        (
            Integer("n", 0, 5, missing=True),
            "The first bar also holds values below 0, and the bar 5 those above 5.",
            None,
        ),
        (
            Integer("n", -20000, 200000),
            "The first bar also holds values below -20,000, and the last bar those above 200,000.",
            None,
        ),
        (
            Integer("born", 1920, 2010),
            "The first bar also holds values below 1920, and the last bar those above 2010.",
            None,
        ),
        (
            Integer("wave", 1984, 1988),
            "The first bar also holds values below 1984, and the last bar those above 1988.",
            None,
        ),
        (Integer("n", 3, 3), "The bar also holds values below 3 and above 3.", None),
        (
            Real("x", 0.0, 1.5, decimals=1, points=(0.0, 1.5), bins=2),
            "",
            "The first bar also holds values below 0, and the last bar those above 1.5.",
        ),
        (Boolean("b"), "", None),
        (Categorical("c", (1, 2, 3), ordered=True), "", None),
    ],
    ids=lambda given: given.kind if isinstance(given, Column) else "",
)
def test_the_bars_that_hold_the_bounds_are_named(column, main, apart):
    bars, single = bars_of(column, np.full(column.size, 1 / column.size))
    assert beyond_bounds(column, bars) == main
    assert (None if single is None else beyond_bounds(column, single)) == apart


def test_what_noise_does_on_average_stands_beside_the_bound_where_that_is_much_more():
    made = synthesize(visits(), Schema.from_toml(TOML), epsilon=0.2, method="mst", seed=1)
    told = ReleaseFacts.of(made)
    bounds = {view.column.name: view.off_by for view in column_views(told)}
    (said,) = [point for point in uses(told).points if "on average over the noise" in point]
    assert bounds["sick"] is not None
    assert bounds["sick"] > 0.1
    sure = "what is sure of sick, with probability 95%, is only that at most"
    assert f"That is an average: {sure} {bounds['sick']:.1%} of the real records are elsewhere" in said


def test_pairs_say_what_was_counted_and_how_far_off_they_are(facts):
    section = pairs(facts)
    assert section is not None
    assert [figure.title for figure in section.figures] == ["Strength of each relation", "How far each pair may be off"]
    assert "the model that the rows were drawn from" in section.lead
    alone = pairs(ReleaseFacts(facts.rows, facts.receipt, facts.schema))
    assert alone is not None
    assert len(alone.figures) == 1
    assert "--keep-model" in alone.paragraphs[0]


def test_uses_and_limits_follow_from_the_numbers(facts):
    tests = {one.pair: one for one in noise_tests(facts)}
    said, unsaid = " ".join(uses(facts).points), " ".join(limits(facts).points)
    for pair, test in tests.items():
        name = " and ".join(pair)
        assert (name in said) == test.exceeds_noise
        assert (name in unsaid) == (not test.exceeds_noise)
    assert tests["cost", "sick"].exceeds_noise
    for view in column_views(facts):
        assert view.noisy is not None
        assert view.off_by is not None
        if min(view.noisy.moved, view.off_by) > 0.1:
            assert f"how the values of {view.column.name} are spread" in unsaid
        elif view.noisy.moved <= 0.1 and view.noisy.lost.any():
            assert f"{view.noisy.lost.sum()} of {len(view.noisy.lost)} of {view.column.name}" in unsaid
    assert "no row stands for anyone" in unsaid
    assert "counterfoil infer computes them" in uses(facts).paragraphs[0]


def test_a_column_is_not_called_lost_of_which_few_records_are_elsewhere():
    """A report said of an age both that noise moves 85.5% of the records, and that at most 7.3% are elsewhere."""
    age = Integer("age", lower=0, upper=260)
    table = pd.DataFrame({"age": np.random.default_rng(1).binomial(130, 0.5, 6000), "sick": np.arange(6000) % 2 == 0})
    made = synthesize(table, Schema([age, Boolean("sick")]), epsilon=0.5, seed=1)
    facts = ReleaseFacts.of(made)
    (view,) = (view for view in column_views(facts) if view.column.name == "age")
    assert view.noisy is not None
    assert view.off_by is not None
    assert view.noisy.moved > 0.3
    assert view.off_by < 0.1
    told = "how the values of age are spread: at most"
    assert told in " ".join(uses(facts).points)
    assert "of age are spread" not in " ".join(limits(facts).points)


def test_warnings_of_the_receipt_are_alarms(facts):
    document = facts.receipt.to_json()
    document["warnings"] = ["Delta is large."]
    warned = ReleaseFacts(facts.rows, type(facts.receipt)(document), facts.schema)
    assert limits(warned).alarms == ("Delta is large.",)


def test_a_table_without_coordinates_has_no_map(facts):
    assert points(facts) is None


COORDINATES = """
name = "places"

[columns.longitude]
kind = "real"
lower = -125
upper = -114
resolution = 0.5

[columns.latitude]
kind = "real"
lower = 32
upper = 42
resolution = 0.5
"""


@pytest.fixture(scope="module")
def places() -> ReleaseFacts:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"longitude": rng.normal(-120, 1, 800), "latitude": rng.normal(37, 1, 800)})
    made = synthesize(table, Schema.from_toml(COORDINATES), epsilon=2.0, method="measure-tree", seed=1)
    return ReleaseFacts.of(made)


def test_weighted_points_are_a_map(places):
    section = points(places)
    assert section is not None
    assert f"{len(places.kept.weights):,} weighted points" in section.lead
    assert "A map" in section.figures[0].caption


def test_points_have_columns_and_no_claims_about_counts(places):
    section = columns(places)
    assert section is not None
    assert "weighted points" in section.lead
    assert "no error bars" in section.lead
    view = column_views(places)[0]
    codes = view.column.encode(places.kept.support.column("longitude"))
    assert view.shares == pytest.approx(np.bincount(codes, places.kept.weights, view.column.size))
    related = pairs(places)
    assert related is not None
    assert "records no counts of pairs" in related.lead
    assert "assumption" not in " ".join(limits(places).points)
    assert "records no noisy counts" in uses(places).paragraphs[0]


def test_texts_with_decimal_commas_are_a_map(places):
    texts = pa.table(
        {
            name: [f"{one:.4f}".replace(".", ",") for one in places.rows[name].to_pylist()]
            for name in ("longitude", "latitude")
        }
    )
    comma = Schema.from_toml('decimal_char = ","\n' + COORDINATES)
    expected = points(ReleaseFacts(places.rows, places.receipt))
    for schema in (None, comma):
        section = points(ReleaseFacts(texts, places.receipt, schema))
        assert section is not None
        assert section.lead == expected.lead


def test_rows_of_coordinates_are_a_map_without_their_points(places):
    alone = ReleaseFacts(places.rows, places.receipt)
    section = points(alone)
    assert section is not None
    assert f"{alone.count:,} synthetic rows" in section.lead
    assert not columns(alone).figures
    assert "Columns are not drawn" in columns(alone).lead, "nothing says what its columns are"
    assert pairs(alone) is None


@given(st.integers(1001, 40_000), st.integers(0, 400), st.lists(st.integers(0, 1000), max_size=3, unique=True))
def test_dates_are_drawn_to_scale_whatever_days_are_bins_of_their_own(days: int, start: int, own: list[int]) -> None:
    """The first and the last day are, and decades of fortnights were drawn as rows whose labels were cut off."""
    first = date(1990, 1, 1) + timedelta(days=start)
    column = Date("day", first, first + timedelta(days=days), points=tuple(first + timedelta(days=one) for one in own))
    column = column.in_full()
    shares = np.random.default_rng(days).random(column.size)
    bars, apart = bars_of(column, shares)
    assert apart is None
    assert bars.ends is not None
    lefts, rights = bars.ends
    assert is_drawable(lefts, rights)
    assert (lefts[1:] == rights[:-1]).all()
    assert sorted(np.concatenate(bars.sets).tolist()) == list(range(column.size))
    np.testing.assert_allclose(bars.shares, [shares[codes].sum() for codes in bars.sets])
