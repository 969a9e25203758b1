"""Real numbers every `step`: cells, drawn values, what lies between, and what can't be declared."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.geometry.decoding import steps, values
from counterfoil.schema import Integer, Real, Schema
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.partial import read_partial
from counterfoil.schema.placement import Placement, place, possible_placements
from counterfoil.schema.placement_words import ColumnWords

GRIDS = [
    pytest.param({"lower": 0.0, "upper": 20.0, "step": 0.5}, 41, id="each"),
    pytest.param({"lower": 0.0, "upper": 20.0, "step": 0.5, "resolution": 0.5}, 41, id="resolution-of-one"),
    pytest.param({"lower": 0.0, "upper": 20.0, "step": 0.5, "resolution": 3.0}, 7, id="resolution"),
    pytest.param({"lower": 0.0, "upper": 20.0, "step": 0.5, "bins": 4, "points": (0.0, 7.5)}, 7, id="points"),
    pytest.param({"lower": 0.0, "upper": 20.0, "step": 0.5, "edges": (0.0, 4.75, 20.0)}, 2, id="edges"),
    pytest.param({"lower": -1.5, "upper": 10.0, "step": 0.1}, 116, id="tenths"),
    pytest.param({"lower": 0.25, "upper": 10.25, "step": 0.5}, 21, id="off-zero"),
    pytest.param({"lower": 0.0, "upper": 1e6, "step": 0.05}, 98, id="prices"),
    pytest.param({"lower": -100.0, "upper": 1e5, "step": 25.0, "missing": True}, 99, id="both-sides"),
    pytest.param({"lower": 0.0, "upper": 100.0, "step": 0.25, "scale": "log"}, 98, id="log"),
]


@pytest.mark.parametrize(("facts", "codes"), GRIDS)
def test_drawn_values_lie_on_the_grid_and_in_their_cell(facts, codes):
    column = Real("x", **facts)
    assert column.n_bins == codes
    rng = np.random.default_rng(0)
    drawn = np.repeat(np.arange(codes), 50)
    counts = rng.integers(0, 100, column.size).astype(float)
    for made in (column.decode(drawn, rng), column.decode(drawn, rng, counts=counts)):
        assert (column.encode(made) == drawn).all()
        step, lower = Fraction(str(column.step)), Fraction(str(column.lower))
        numbers = made.to_pylist()
        assert all((Fraction(str(number)) - lower) % step == 0 for number in numbers)
        assert column.lower <= min(numbers)
        assert max(numbers) <= column.upper


@pytest.mark.parametrize(("facts", "codes"), GRIDS)
def test_each_number_counts_as_the_nearest_of_the_grid(facts, codes):
    column = Real("x", **facts)
    numbers = np.random.default_rng(1).uniform(column.lower, column.upper, 500)
    step, lower = Fraction(str(column.step)), Fraction(str(column.lower))
    nearest = [
        float(lower + step * ((Fraction(number) - lower) / step + Fraction(1, 2)).__floor__())
        for number in numbers.tolist()
    ]
    assert (column.rounded(numbers) == nearest).all()
    assert (column.encode(pa.array(numbers)) == column.encode(pa.array(nearest))).all()
    assert (place(column, pa.array(nearest)).placements == Placement.DECLARED).all()


def test_what_lies_between_is_moved_and_roundings_are_not():
    column = Real("x", 0.0, 20.0, step=0.1)
    cells = [0.1 + 0.2, 0.3, 0.35, 0.31, float(np.float32(0.3)), -1.0, 20.04, None]
    ways = place(Real("x", 0.0, 20.0, step=0.1, missing=True), pa.array(cells)).placements
    moved, declared = Placement.MOVED, Placement.DECLARED
    assert ways.tolist() == [declared, declared, moved, moved, moved, Placement.BELOW, Placement.ABOVE, 5]
    assert column.encode(pa.array([0.35, 0.31])).tolist() == [4, 3]  # half-way: the upper


def test_cells_are_those_of_whole_numbers():
    """Halves are counted as twice as many whole numbers are, on either scale."""
    for lower, upper in ((0, 40), (0, 50_000), (-300, 7000)):
        halves, whole = Real("x", lower / 2, upper / 2, step=0.5), Integer("x", lower, upper)
        assert halves.n_bins == whole.n_bins
        assert (np.array(halves.ranges) * 2 == np.array(whole.ranges)).all()
        assert np.allclose(halves.spans / halves.spans.sum(), whole.spans / whole.spans.sum())
        counts = np.random.default_rng(2).integers(0, 50, whole.size).astype(float)
        assert np.allclose(halves.drawn_means(counts) * 2, whole.drawn_means(counts))


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {"upper": 20.3},
            "`step` must lead from `lower` to `upper`; found 0.5, which leads from 0 to 20 and then beyond",
        ),
        ({"decimals": 0}, "`decimals` must hold the numbers of `step`, which have 1 digit after the point; found 0"),
        ({"step": 0.25, "decimals": 1}, "which have 2 digits after the point; found 1. Give `decimals = 2`"),
        ({"lower": 0.125, "upper": 20.125, "decimals": 2}, "which have 3 digits after the point; found 2"),
        ({"resolution": 0.1}, "`resolution` must be at least `step`; found 0.1 and 0.5"),
        ({"points": (0.2,)}, "`points` must be on the grid of `step`; found 0.2"),
        ({"edges": (0.0, 0.1, 0.2, 20.0)}, "every bin must hold a number on the grid of `step`"),
        ({"bins": 42}, "`bins` must be at most the 41 numbers on the grid of `step`; found 42"),
        ({"upper": 1e300}, "numbers near the bounds don't tell steps of 0.5"),
        ({"step": -1.0}, "`step` must be positive and finite; found -1"),
        ({"step": float("nan")}, "`step` must be positive and finite; found nan"),
        ({"edges": (0.0, float("nan"), 20.0)}, "`edges` must increase"),
        ({"resolution": 0.5, "upper": 1e7}, "a column must have at most 1,000,000 codes"),
    ],
)
def test_what_can_not_be_declared(facts, sentence):
    with pytest.raises(SchemaError) as raised:
        Real("x", **({"lower": 0.0, "upper": 20.0, "step": 0.5} | facts))
    assert sentence in str(raised.value)
    assert str(raised.value).startswith("Column 'x' (real): ")


def test_a_schema_states_it_and_says_it_again():
    text = '[columns.rooms]\nkind = "real"\nlower = 0\nupper = 20\nstep = 0.5\n'
    schema = Schema.from_toml(text)
    assert schema["rooms"].n_bins == 41
    assert Schema.from_toml(schema.to_toml())["rooms"] == schema["rooms"]
    with pytest.raises(SchemaError, match="`step` must be above 0"):
        Schema.from_toml(text.replace("0.5", "0"))


@pytest.mark.parametrize("facts", [{}, {"bins": 4, "points": (7.5,)}, {"upper": 1e6}, {"missing": True}])
def test_decimals_of_a_step_are_its_notation_alone(facts):
    """As prices are written: 23.50."""
    plain = Real("x", **({"lower": 0.0, "upper": 50.0, "step": 0.5} | facts))
    column = replace(plain, decimals=2)
    assert column.n_bins == plain.n_bins
    codes = np.arange(column.n_bins).repeat(5)
    drawn = column.decode(codes, np.random.default_rng(0))
    assert drawn == plain.decode(codes, np.random.default_rng(0))
    numbers = np.random.default_rng(1).uniform(*column.bounds, 100)
    assert (column.rounded(numbers) == plain.rounded(numbers)).all()
    one, other = (place(kind, pa.array(numbers)) for kind in (column, plain))
    assert (one.codes == other.codes).all()
    assert (one.placements == other.placements).all()
    assert all(text[-3:] in (".00", ".50") for text in column.written(drawn).to_pylist())
    assert Schema.from_toml(Schema((column,)).to_toml())["x"] == column


def test_numbers_of_a_step_are_written_with_its_decimals():
    assert Real("x", 0.0, 50.0, step=0.5, decimals=2).written(pa.array([23.5, 11.0])).to_pylist() == ["23.50", "11.00"]
    assert Real("x", 0.0, 50.0, step=5.0, decimals=0).written(pa.array([25.0])).to_pylist() == ["25"]


def test_points_of_a_box_come_back_on_the_grid():
    column = Real("x", 0.0, 20.0, step=0.5)
    assert steps(column) == 40
    assert values(column, np.array([-3.0, 0.24, 0.25, 19.9, 25.0])).to_pylist() == [0.0, 0.0, 0.5, 20.0, 20.0]
    assert steps(Real("x", 0.0, 20.0)) == 0


def test_what_is_moved_has_words():
    column = Real("x", 0.0, 20.0, step=0.5)
    assert Placement.MOVED in possible_placements(column)
    assert Placement.MOVED not in possible_placements(Real("x", 0.0, 20.0))
    remedy = ColumnWords.of(column).remedy(Placement.MOVED)
    assert remedy == "give more `decimals` or a finer `step`, or leave these out"


def test_it_goes_with_bounds():
    with pytest.raises(SchemaError, match="`step` goes with `lower`"):
        read_partial('[columns.x]\nkind = "real"\nstep = 0.5\n', ["x"])
