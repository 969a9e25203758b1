"""Grids and points that numbers lie on and the schema does not state: the line that would."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.evaluation.grid_notes import GridCounts
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema import Integer, Real, Schema
from counterfoil.schema.placement import Placement, place

RNG = np.random.default_rng(0)
UNIFORM = RNG.random(500) * 20
HALVES = np.where(np.arange(500) < 190, 0.0, np.round(UNIFORM * 2) / 2)
ZEROS = np.where(np.arange(500) < 190, 0.0, UNIFORM)


def lines(cells, *, values: bool = False, **facts) -> list[str]:
    report = check_without_privacy(pa.table({"x": cells}), Schema((Real("x", **facts),)), values=values)
    return [note.text for note in report.notes if note.kind in ("grid", "points")]


@pytest.mark.parametrize(
    ("cells", "facts", "line"),
    [
        pytest.param(HALVES, {"resolution": 0.5}, "write `step = 0.5`.", id="halves-in-bins"),
        pytest.param(HALVES, {}, "write `step = 0.5`.", id="halves"),
        pytest.param(HALVES, {"upper": 20.3}, "write `step = 0.5` and `upper = 20.5`.", id="bound-off-the-grid"),
        pytest.param(HALVES, {"decimals": 2}, "write `step = 0.5`.", id="beyond-decimals"),
        pytest.param(HALVES / 2, {"decimals": 1}, "write `step = 0.25` and `decimals = 2`.", id="more-decimals"),
        pytest.param(
            HALVES,
            {"edges": (0.0, 0.1, 0.2, 20.0)},
            "write `step = 0.5` in place of `edges`.",
            id="edges-off-the-grid",
        ),
        pytest.param(np.round(UNIFORM * 4) / 4, {}, "write `step = 0.25`.", id="quarters"),
        pytest.param(np.round(UNIFORM, 1), {}, "write `decimals = 1`.", id="tenths"),
        pytest.param(np.round(UNIFORM, 1), {"decimals": 2}, "write `decimals = 1`.", id="tenths-beyond-decimals"),
        pytest.param(
            np.round(UNIFORM), {}, "are whole, and many drawn ones would not: write `decimals = 0`.", id="whole"
        ),
        pytest.param(np.round(UNIFORM) * 5, {"upper": 100.0}, "write `step = 5`.", id="fives"),
        pytest.param(np.round(UNIFORM * 1e3, -2), {"upper": 2e4}, "write `step = 100`.", id="hundreds"),
    ],
)
def test_a_grid_is_noted_with_the_line_to_write(cells, facts, line):
    (text,) = lines(cells, **({"lower": 0.0, "upper": 20.0} | facts))
    assert text.endswith(line)


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        pytest.param(UNIFORM, {}, id="no-grid"),
        pytest.param(np.round(UNIFORM, 3), {}, id="as-fine-as-drawn"),
        pytest.param(HALVES, {"step": 0.5}, id="stated"),
        pytest.param(np.round(UNIFORM, 1), {"decimals": 1}, id="decimals-stated"),
        pytest.param(ZEROS, {}, id="zero-is-a-bound"),
        pytest.param(ZEROS, {"bins": 10, "points": (0.0,)}, id="point-stated"),
        pytest.param(np.array([0.0, 0.5, 1.0]), {}, id="too-few"),
        pytest.param(np.array([0.0] * 97 + [0.5, 5.0, 0.5]), {}, id="too-few-that-differ"),
    ],
)
def test_nothing_is_noted_where_drawn_numbers_are_like_that(cells, facts):
    assert not lines(cells, **({"lower": 0.0, "upper": 20.0} | facts))


def written(numbers, digits: int) -> list[str]:
    return [f"{number:.{digits}f}" for number in numbers]


@pytest.mark.parametrize(
    ("cells", "facts", "line"),
    [
        pytest.param(written(HALVES, 2), {"decimals": 2}, "write `step = 0.5`.", id="declared"),
        pytest.param(written(HALVES, 2), {}, "write `step = 0.5` and `decimals = 2`.", id="not-declared"),
        pytest.param(written(HALVES, 2), {"step": 0.5}, "drawn ones would not be: write `decimals = 2`.", id="lost"),
        pytest.param(
            written(HALVES, 1),
            {"step": 0.5},
            "are written with 1 digit after the point, and drawn ones would not be: write `decimals = 1`.",
            id="one",
        ),
        pytest.param(written(np.round(UNIFORM, 1), 2), {}, "write `step = 0.1` and `decimals = 2`.", id="tenths"),
        pytest.param(written(np.round(UNIFORM, 1), 1), {}, "write `decimals = 1`.", id="tenths-as-tenths"),
        pytest.param([f"{number:g}" for number in HALVES], {}, "write `step = 0.5`.", id="of-any-length"),
    ],
)
def test_digits_that_are_written_stay(cells, facts, line):
    """A schema with the line writes cells as they were."""
    facts = {"lower": 0.0, "upper": 20.0} | facts
    (text,) = lines(cells, **facts)
    assert text.endswith(line)
    said = re.findall(r"`(\w+) = ([\d.]+)`", text)
    column = Real("x", **(facts | {key: float(number) if key == "step" else int(number) for key, number in said}))
    drawn = column.decode(column.encode(pa.array(cells)), np.random.default_rng(1))
    digits = {len(text.partition(".")[2]) for text in column.written(drawn).to_pylist()}
    assert digits == {len(text.partition(".")[2]) for text in cells}
    assert not lines(cells, **{key: getattr(column, key) for key in ("lower", "upper", "step", "decimals")})


FIVES = RNG.integers(0, 2000, 500) * 5


@pytest.mark.parametrize(
    ("cells", "facts", "said"),
    [
        pytest.param(FIVES, {}, "write `step = 5`.", id="fives"),
        pytest.param(
            FIVES, {"lower": -3, "upper": 9_998}, "`step = 5` and `lower = -5` and `upper = 10000`.", id="off"
        ),
        pytest.param(FIVES, {"upper": 9_999, "bins": 4_000}, "`upper = 10000` in place of `bins`.", id="too-many-bins"),
        pytest.param(
            FIVES,
            {"upper": 9_998, "missing": True, "missing_values": ("9999", "10000")},
            "write `step = 5` and `upper = 9995`.",
            id="upper-is-missing",
        ),
        pytest.param(FIVES * 20, {"upper": 200_000, "step": 5}, "write `step = 100`.", id="coarser"),
        pytest.param(FIVES // 5 * 7, {"upper": 14_000}, "", id="sevens"),
        pytest.param(FIVES, {"step": 5}, "", id="stated"),
        pytest.param(FIVES // 5, {}, "", id="whole"),
        pytest.param(FIVES // 60 * 5, {"upper": 999}, "", id="a-code-each"),
    ],
)
def test_whole_numbers_on_a_grid_are_noted_with_the_line_to_write(cells, facts, said):
    facts = {"lower": 0, "upper": 10_000} | facts
    texts = integer_lines(cells, **facts)
    assert len(texts) == bool(said)
    assert all(text.endswith(said) and "multiples of" in text for text in texts)
    changed = {key: int(number) for key, number in re.findall(r"`(\w+) = (-?\d+)`", "".join(texts))}
    gone = {"bins": 0} if "in place of" in said else {}
    column = Integer("x", **(facts | changed | gone))
    assert not integer_lines(cells, **(facts | changed | gone))
    drawn = column.decode(column.encode(pa.array(cells)), np.random.default_rng(0)).to_numpy()
    assert (drawn % column.step == 0).all()
    assert (place(column, pa.array(cells)).placements == Placement.DECLARED).all()


def integer_lines(cells, **facts) -> list[str]:
    report = check_without_privacy(pa.table({"x": cells}), Schema((Integer("x", **facts),)))
    return [note.text for note in report.notes if note.kind in ("grid", "points")]


def test_points_that_many_records_hold_are_named_where_they_are_public():
    assert lines(ZEROS, lower=0.0, upper=20.0, bins=10) == [
        "38% of its numbers are exactly 0, which shares a bin with others: write `points = [0]`."
    ]
    often = np.where(np.arange(500) < 190, 3.217, UNIFORM)
    report = check_without_privacy(pa.table({"x": often}), Schema((Real("x", 0.0, 20.0),)))
    (note,) = report.notes
    assert note.text.startswith("38% of its numbers are one number that shares a bin with others: list what the public")
    assert "3.217" not in str(report.to_json())
    shown = check_without_privacy(pa.table({"x": often}), Schema((Real("x", 0.0, 20.0),)), values=True)
    assert shown.notes[0].values == (("3.217", 190),)


PLACES = np.repeat([1067, 4103, 10115, 20095, 80331, 99084], [1800, 1200, 1200, 600, 600, 600])
SPREAD = np.random.default_rng(9).integers(0, 100_000, 2000)
CODES = 'where they are codes, declare kind = "categorical" with their `values`; otherwise '
LISTED = "list what the public knows to be frequent in `points` (--show-values names them)."


@pytest.mark.parametrize(
    ("cells", "facts", "said"),
    [
        pytest.param(
            PLACES,
            {},
            f"100% of its numbers are one of 6 numbers that share bins with others: {CODES}{LISTED}",
            id="few",
        ),
        pytest.param(
            np.repeat(np.arange(1, 61) * 1627 + 5, 20),
            {},
            f"100% of its numbers are one of 60 numbers that share bins with others: {CODES}{LISTED}",
            id="none-of-them-often",
        ),
        pytest.param(
            np.append(SPREAD, np.full(2000, 20_095)),
            {},
            f"50% of its numbers are one number that shares a bin with others: {LISTED}",
            id="a-heap",
        ),
        pytest.param(
            np.append(SPREAD, np.full(2000, 20_095)),
            {"digits": 5},
            f"50% of its numbers are one number that shares a bin with others: {CODES}{LISTED}",
            id="a-heap-of-codes",
        ),
        pytest.param(
            np.append(SPREAD, np.full(2000, 0)),
            {"bins": 10},
            "50% of its numbers are exactly 0, which shares a bin with others: write `points = [0]`.",
            id="public-in-bins",
        ),
        pytest.param(
            np.append(SPREAD * 10, np.full(2000, 1_234_567)),
            {"upper": 1_234_567, "bins": 10},
            "50% of its numbers are exactly 1234567, which shares a bin with others: write `points = [1234567]`.",
            id="a-long-bound",
        ),
    ],
)
def test_whole_numbers_that_many_records_hold_are_noted(cells, facts, said):
    (text,) = integer_lines(cells, **({"lower": 0, "upper": 99_999} | facts))
    assert text.endswith(said)


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        pytest.param(PLACES, {"points": tuple(np.unique(PLACES).tolist())}, id="points"),
        pytest.param(PLACES // 100, {"upper": 999}, id="a-code-for-each"),
        pytest.param(SPREAD, {}, id="no-heap"),
        pytest.param(SPREAD, {"digits": 5}, id="many-codes"),
        pytest.param(np.random.default_rng(1).poisson(3, 2000), {}, id="counts"),
    ],
)
def test_whole_numbers_that_come_back_are_not_noted(cells, facts):
    assert not integer_lines(cells, **({"lower": 0, "upper": 99_999} | facts))


def test_few_counts_in_a_wide_bin_are_no_codes():
    (text,) = integer_lines(np.random.default_rng(1).poisson(3, 2000), lower=0, upper=99_999, bins=10)
    assert text.endswith(f"share bins with others: {LISTED}")


def test_codes_are_named_where_values_are_asked_for():
    shown = check_without_privacy(pa.table({"x": PLACES}), Schema((Integer("x", 0, 99_999),)), values=True)
    (note,) = (note for note in shown.notes if note.kind == "points")
    assert note.values[0] == ("1067", 1800)
    assert {int(text) for text, _ in note.values} == {*PLACES.tolist()}


def test_what_is_seen_does_not_depend_on_batches():
    """Many different numbers: counts of single ones are kept for a thousand, and at most a thousandth too small."""
    cells = np.random.default_rng(3).permutation(
        np.append(np.random.default_rng(4).random(40_000), np.full(8000, 0.25))
    )
    seen = GridCounts(Real("x", 0.0, 1.0))
    for part in np.array_split(cells, 16):
        seen.add(part)
    (note,) = seen.notes()
    assert note.kind == "points"
    assert 8000 - len(cells) / 1000 <= note.count <= 8000


def test_round_amounts_are_noted_together_where_each_holds_few():
    """A third of the amounts are whole thousands, and none of these holds a twentieth: they came back in .4%."""
    rng = np.random.default_rng(5)
    amounts = np.round(np.exp(rng.normal(9, 1.2, 20_000)), 2)
    round_ones = np.where(rng.random(20_000) < 0.35, np.round(amounts, -3), amounts)
    facts = {"lower": 0.0, "upper": 1e7, "decimals": 2}
    (text,) = lines(round_ones, **facts)
    share, numbers = re.match(r"([\d.]+)% of its numbers are one of (\d+) numbers that share bins", text).groups()
    assert 20 < float(share) < 35
    assert 20 < int(numbers) <= 32
    assert "list what the public knows" in text
    assert lines(amounts, **facts) == []


@pytest.mark.parametrize(("few", "step"), [(1, False), (40, True)])
def test_one_number_of_more_digits_makes_no_grid(few, step):
    rng = np.random.default_rng(0)
    measures = np.array([float(f"{number:.3g}") for number in rng.lognormal(0.5, 0.5, 4000) if number > 1])
    finer = np.round(np.append(0.9732, rng.integers(1, 4999, few - 1) * 0.0002), 4)
    found = lines(np.append(measures, finer), lower=0.0, upper=30.0, decimals=4)
    assert any("step = 0.0002" in line for line in found) == step
    heap = lines(np.append(measures, [0.9732] * 40), lower=0.0, upper=30.0, decimals=4)
    assert not any("step" in line for line in heap), "one number that many records have is one"


def test_digits_that_few_numbers_have_are_digits_of_the_column():
    measures = np.append(np.round(UNIFORM + 1, 2), 0.9732)
    (line,) = lines(measures, lower=0.0, upper=30.0, decimals=6)
    assert line.endswith("write `decimals = 4`.")


def test_seconds_between_moments_that_are_stored_to_the_minute_are_whole_minutes():
    """A step of 20 seconds was advised, the coarsest decimal one: rows of a copy would have 40 of them."""
    schema = Schema.from_toml(
        '[columns.pickup]\nkind = "datetime"\nlower = 2024-01-01T00:00:00\nupper = 2024-03-31T23:59:59\n'
        'resolution = "1d"\n[columns.ride]\nkind = "integer"\nbetween = ["pickup", "dropoff"]\nlower = 0\n'
        "upper = 7200\n"
        '[[derived]]\nname = "dropoff"\nkind = "datetime"\nexpression = "pickup + ride"\n'
    )
    first = np.datetime64("2024-01-01T10:00:00") + np.arange(200) * np.timedelta64(61, "s")
    last = first + (np.arange(200) % 37 * 60).astype("timedelta64[s]")
    report = check_without_privacy(pa.table({"pickup": first, "dropoff": last}), schema)
    [note] = [note.text for note in report.notes if note.column == "ride"]
    assert "write `step = 60`" in note
