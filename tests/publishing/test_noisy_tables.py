"""The noisy tables are the counts on the receipt, averaged by their precisions, with the errors of their noise."""

from __future__ import annotations

import csv
import datetime as dt
import io
import itertools
import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.publishing import noisy_tables as module
from counterfoil.publishing.noisy_tables import COUNTS, ONE_WAY, PAIRS, alike, noisy_tables
from counterfoil.receipt.answers import RecordedAnswers, RecordedMarginal
from counterfoil.schema import Boolean, Categorical, Date, Integer, Real, Schema
from counterfoil.schema.column import Column
from noisy_tables import GAUSSIAN, LAPLACE

SCHEMA = Schema(
    (
        Categorical("a", ("=x()", "a|b")),
        Categorical("b", ("line\nbreak", "<b>", 'say "hi"')),
        Integer("c", 0, 3),
    )
)
CLIQUES = [("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")]


def marginal(clique: tuple[str, ...], charge: int, scale: float, rng: np.random.Generator) -> RecordedMarginal:
    counts = rng.integers(-20, 200, SCHEMA.domain.shape(clique))
    return RecordedMarginal(clique, counts, {}, "discrete_gaussian", scale, charge)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@settings(max_examples=80, derandomize=True)
@given(data=st.data())
def test_each_count_is_the_average_with_the_smallest_variance(data: st.DataObject) -> None:
    """Against a least-squares fit of each cell by itself: a sum of m cells has m times their variance."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    chosen = data.draw(st.lists(st.sampled_from(CLIQUES), min_size=1, max_size=5))
    marginals = tuple(marginal(clique, 1 + place, 1.0 + place, rng) for place, clique in enumerate(chosen))
    made = noisy_tables(RecordedAnswers(SCHEMA, marginals, ()))
    told = {}
    for path, keys in ((ONE_WAY, ("column",)), (PAIRS, ("column_1", "column_2"))):
        for row in rows_of(made.texts.get(path, "x\n")):
            values = [row[key.replace("column", "value")] for key in keys]
            told[tuple(row[key] for key in keys), tuple(values)] = [float(row[name]) for name in COUNTS[:3]]
    expected = {}
    for wanted in CLIQUES[:-1]:
        holding = [one for one in marginals if set(wanted) <= set(one.clique)]
        if not holding:
            continue
        for cell in np.ndindex(SCHEMA.domain.shape(wanted)):
            sums, variances = [], []
            for one in holding:
                where = tuple(cell[wanted.index(name)] if name in wanted else slice(None) for name in one.clique)
                part = np.atleast_1d(one.counts[where])
                sums.append(part.sum())
                variances.append(part.size * one.scale**2)
            precision = sum(1 / variance for variance in variances)
            mean = sum(total / variance for total, variance in zip(sums, variances, strict=True)) / precision
            labels = tuple(SCHEMA[name].labels[code] for name, code in zip(wanted, cell, strict=True))
            step = max(1 / variance for variance in variances) / precision
            expected[wanted, labels] = [mean, precision**-0.5, 1.959964 * precision**-0.5 + step / 2]
    assert told.keys() == expected.keys()
    for key, figures in expected.items():
        assert told[key] == pytest.approx(figures, abs=2e-3), key


def test_laplace_noise_has_wider_tails_than_its_deviation_says() -> None:
    one = RecordedMarginal(("a",), np.array([5, -3]), {}, "discrete_laplace", 2.0, 1)
    row = rows_of(noisy_tables(RecordedAnswers(SCHEMA, (one,), ())).texts[ONE_WAY])[1]
    assert row["noisy_count"] == "-3"
    assert float(row["standard_error"]) == pytest.approx(2 * math.sqrt(2), abs=1e-3)
    assert float(row["half_width_95"]) == pytest.approx(2 * math.log(20) + 0.5, abs=1e-2)


@pytest.mark.parametrize("kind", [GAUSSIAN, LAPLACE])
@pytest.mark.parametrize("scales", [(1.5,), (2.4,), (1.5, 1.5), (1.5, 2.4), (7.0, 1.6)])
def test_whole_numbers_of_noise_lie_within_the_half_width_with_its_probability(
    kind: str, scales: Sequence[float]
) -> None:
    """Exactly, by their laws. The quantile of continuous noise in place of it holds .904 at a scale of 1.5."""
    told = [RecordedMarginal(("a",), np.array([0, 0]), {}, kind, scale, 1) for scale in scales]
    half = float(rows_of(noisy_tables(RecordedAnswers(SCHEMA, tuple(told), ())).texts[ONE_WAY])[0]["half_width_95"])
    weights = np.array([scale**-2.0 for scale in scales])
    values, chances = np.zeros(1), np.ones(1)
    for scale, weight in zip(scales, weights / weights.sum(), strict=True):
        noise = np.arange(-80, 81)
        law = np.exp(-(noise**2) / (2 * scale**2)) if kind == GAUSSIAN else np.exp(-np.abs(noise) / scale)
        values = np.add.outer(values, weight * noise).ravel()
        chances = np.multiply.outer(chances, law / law.sum()).ravel()
    assert 0.95 <= chances[np.abs(values) <= half].sum() < 0.985


def test_codes_that_were_counted_in_groups_are_named_together() -> None:
    grouped = RecordedMarginal(("c",), np.array([7, 9]), {"c": np.array([0, 0, 1, 1])}, "discrete_gaussian", 1.0, 2)
    whole = RecordedMarginal(("c",), np.array([1, 2, 3, 4]), {}, "discrete_gaussian", 1.0, 1)
    rows = rows_of(noisy_tables(RecordedAnswers(SCHEMA, (whole, grouped), ())).texts[ONE_WAY])
    assert [row["value"] for row in rows] == ["0", "1", "2", "3", "0 | 1", "2 | 3"]
    assert [row["table"] for row in rows] == ["1"] * 4 + ["2"] * 2
    assert [row["charges"] for row in rows] == ["1"] * 4 + ["2"] * 2


def test_a_large_group_of_numbers_shows_where_it_ends() -> None:
    """It was cut off after twenty labels, so that whoever adds up amounts did not know the upper end of the cell."""
    schema = Schema((Integer("c", 0, 49, missing=True),))
    groups = {"c": np.array([0] * 30 + list(range(1, 21)) + [0])}
    answered = RecordedMarginal(("c",), np.arange(21), groups, "discrete_gaussian", 1.0, 1)
    answers = RecordedAnswers(schema, (answered,), ())
    label = rows_of(noisy_tables(answers).texts[ONE_WAY])[0]["value"].split(" | ")
    assert label == [*map(str, range(18)), "and 11 more", "29", "missing"]
    former = rows_of(noisy_tables(answers, former=True).texts[ONE_WAY])[0]["value"].split(" | ")
    assert former == [*map(str, range(20)), "and 11 more"]


def test_values_are_quoted_and_never_changed() -> None:
    rng = np.random.default_rng(1)
    made = noisy_tables(RecordedAnswers(SCHEMA, (marginal(("a", "b"), 1, 3.0, rng),), ()))
    values = {(row["value_1"], row["value_2"]) for row in rows_of(made.texts[PAIRS])}
    assert values == {(one, other) for one in SCHEMA["a"].labels for other in SCHEMA["b"].labels}


@pytest.mark.parametrize(
    "column",
    [
        Integer("c", 0, 3, missing=True),
        Integer("c", 0, 99, bins=10),
        Integer("c", 0, 1),
        Real("c", 40.0, 62.0, decimals=2),
        Real("c", 0.0, 1.0, bins=4),
        Real("c", 0.0, 1.0, edges=(0.0, 0.2, 1.0), missing=True),
        Date("c", dt.date(1950, 1, 1), dt.date(2010, 12, 31)),
    ],
    ids=lambda column: f"{column.kind}-{column.size}",
)
def test_the_cells_that_hold_clamped_values_say_so(column: Column) -> None:
    """Against the codes of values far beyond the bounds."""
    far = ("0001-01-02", "9998-12-31") if isinstance(column, Date) else ("-1e9", "1e9")
    below, above = column.encode(pa.array(far)).tolist()
    schema = Schema((column, Categorical("d", ("x", "y"))))
    counts = np.arange(2 * column.size).reshape(column.size, 2)
    one = RecordedMarginal(("c", "d"), counts, {}, "discrete_gaussian", 1.0, 1)
    made = noisy_tables(RecordedAnswers(schema, (one,), ()))
    rows = [row for row in rows_of(made.texts[ONE_WAY]) if row["column"] == "c"]
    said = {below: "and below", above: "and above"}
    assert [row["beyond"] for row in rows] == [said.get(code, "") for code in range(column.size)]
    pairs = rows_of(made.texts[PAIRS])
    assert [row["beyond_1"] for row in pairs] == [said.get(code // 2, "") for code in range(2 * column.size)]
    assert {row["beyond_2"] for row in pairs} == {""}


@pytest.mark.parametrize(
    "column",
    [Boolean("c"), Boolean("c", true="yes", false="no", missing=True), Categorical("c", (1, 2, 3), ordered=True)],
    ids=lambda column: f"{column.kind}-{column.size}",
)
def test_columns_without_bounds_hold_nothing_beyond_them(column: Column) -> None:
    schema = Schema((column, Categorical("d", ("x", "y"))))
    counts = np.arange(2 * column.size).reshape(column.size, 2)
    one = RecordedMarginal(("c", "d"), counts, {}, "discrete_gaussian", 1.0, 1)
    made = noisy_tables(RecordedAnswers(schema, (one,), ()))
    assert {row["beyond"] for row in rows_of(made.texts[ONE_WAY])} == {""}
    assert {(row["beyond_1"], row["beyond_2"]) for row in rows_of(made.texts[PAIRS])} == {("", "")}


def test_a_group_that_holds_both_bounds_says_so() -> None:
    one = RecordedMarginal(("c",), np.array([7]), {"c": np.array([0, 0, 0, 0])}, "discrete_gaussian", 1.0, 2)
    assert [row["beyond"] for row in rows_of(noisy_tables(RecordedAnswers(SCHEMA, (one,), ())).texts[ONE_WAY])] == [
        "and all others"
    ]


def test_tables_are_made_as_versions_before_wrote_them() -> None:
    """Ranges of numbers with `decimals` had other labels, and nothing said what lies beyond the bounds."""
    price = Real("price", 0.0, 100.0, decimals=2, missing=True)
    schema = Schema((Categorical("a", ("x", "y")), price))
    counts = np.arange(2 * price.size).reshape(2, price.size)
    answers = RecordedAnswers(schema, (RecordedMarginal(("a", "price"), counts, {}, "discrete_gaussian", 1.0, 1),), ())
    made, former = noisy_tables(answers).texts, noisy_tables(answers, former=True).texts
    for path in (ONE_WAY, PAIRS):
        now, before = rows_of(made[path]), rows_of(former[path])
        assert {*now[0]} - {*before[0]} == {key for key in now[0] if key.startswith("beyond")} != set()
        same = [name for name in COUNTS if name != "half_width_95"]
        assert [[row[name] for name in same] for row in now] == [[row[name] for name in same] for row in before]
        wider = [float(one[COUNTS[2]]) - float(other[COUNTS[2]]) for one, other in zip(now, before, strict=True)]
        assert all(0 < by <= 0.501 for by in wider)
    values = [row["value"] for row in rows_of(former[ONE_WAY]) if row["column"] == "price"]
    assert values[:3] == ["0", "[0, 1.04)", "[1.04, 2.08)"], "as 0.12.0 wrote it"
    assert values[-2:] == ["100", "missing"]


ROW = "1,a,=x(),{},{},{},{}\n"


@pytest.mark.parametrize(
    ("after", "same"),
    [
        (ROW.format("12.346", "3.000", "5.880", "1 2"), True),
        (ROW.format("12.445", "3.000", "5.880", "1 2"), False),
        (ROW.format("12.345", "2.000", "5.880", "1 2"), False),
        (ROW.format("12.345", "3.000", "4.880", "1 2"), False),
        (ROW.format("12.345", "3.000", "5.880", "1 3"), False),
        (ROW.format("-12.345", "3.000", "5.880", "1 2"), False),
        (ROW.format("nan", "3.000", "5.880", "1 2"), False),
        (ROW.format("12.345", "3.000", "5.880", "1 2").replace("=x()", "=y()"), False),
        (ROW.format("12.345", "3.000", "5.880", "1 2") * 2, False),
        ("", False),
    ],
)
def test_tables_are_compared_but_for_rounding(after: str, same: bool) -> None:
    before = ROW.format("12.345", "3.000", "5.880", "1 2")
    assert alike(f"table\n{before}", f"table\n{after}") is same
    assert alike(f"table\n{after}", f"table\n{before}") is same


def test_pairs_of_a_look_at_all_of_them_give_way_to_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Schema(tuple(Boolean(f"c{i}") for i in range(26)))
    look = [
        RecordedMarginal(pair, np.zeros((2, 2), dtype=np.int64), {}, "discrete_gaussian", 9.0, 1)
        for pair in itertools.combinations(wide.domain.attributes, 2)
    ]
    last = RecordedMarginal(("c24", "c25"), np.ones((2, 2), dtype=np.int64), {}, "discrete_gaussian", 1.0, 2)
    monkeypatch.setattr(module, "MOST_ROWS", 8)
    made = noisy_tables(RecordedAnswers(wide, (*look, last), (), (), None))
    assert made.pairs == (("c0", "c1"), ("c24", "c25"))
    assert made.left_out == 323
