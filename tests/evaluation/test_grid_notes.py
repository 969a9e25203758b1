"""Grids and points that numbers lie on and the schema does not state: the line that would."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.evaluation.grid_notes import GridCounts
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema import Real, Schema

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
        pytest.param(HALVES, {"decimals": 2}, "write `step = 0.5` in place of `decimals`.", id="beyond-decimals"),
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
