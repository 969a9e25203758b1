"""Spaces: metric, projections, variations, and the contraction that convergence rests on."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.evolution.contraction import estimate_contraction
from counterfoil.geometry.euclidean import Ball, Box, point_schema
from counterfoil.geometry.space import scales
from counterfoil.geometry.table_space import TableSpace
from counterfoil.schema import Boolean, Categorical, Date, Integer, Real, Schema
from counterfoil.theory.private_evolution import contraction

SCHEMA = Schema(
    (
        Real("height", lower=0.0, upper=2.0, bins=8),
        Integer("age", 18, 98, step=2, missing=True),
        Categorical("size", ("s", "m", "l"), ordered=True),
        Categorical("color", ("red", "blue"), other=True),
        Boolean("member"),
        Date("since", lower=dt.date(2000, 1, 1), upper=dt.date(2010, 1, 1), resolution="1y"),
    )
)
TABLE = TableSpace(SCHEMA)
PLANE = ("x", "y")
BODIES = [
    Ball(PLANE, radius=2.0, center=(1.0, -1.0)),
    Box(PLANE, (-1.0, 0.0), (1.0, 5.0)),
    Ball(tuple("abcdefgh")),
    Box(("x",), (3.0,), (4.0,)),
]
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("body", BODIES)
def test_projection_is_the_nearest_point(body):
    rng = np.random.default_rng(0)
    outside = 4 * rng.standard_normal((200, body.dimension))
    nearest = body.project(outside)
    assert np.allclose(body.project(nearest), nearest)
    inside = body.random(300, rng)
    assert np.allclose(body.project(inside), inside, atol=1e-12)
    gaps = np.linalg.norm(outside[:, None] - inside[None], axis=2).min(axis=1)
    assert (np.linalg.norm(outside - nearest, axis=1) <= gaps + 1e-9).all()
    far = np.linalg.norm(inside[:, None] - inside[None], axis=2).max()
    assert far <= body.diameter * (1 + 1e-12)


def test_random_points_of_a_ball_are_uniform():
    """The share within half of the radius is 2**-d; 20000 draws, deviation at most 0.0036, five of them 1e-6."""
    for d in (1, 2, 3):
        ball = Ball(tuple(f"x{i}" for i in range(d)), radius=3.0, center=(1.0,) * d)
        radii = np.linalg.norm(ball.random(20_000, np.random.default_rng(d)) - 1.0, axis=1)
        assert abs((radii < 1.5).mean() - 2.0**-d) < 0.018


@pytest.mark.parametrize("body", BODIES)
def test_variations_are_inside_and_start_with_the_point_itself(body):
    rng = np.random.default_rng(1)
    points = body.random(5, rng)
    varied = body.variations(points, resolution=body.diameter / 8, progress=0.0, rng=rng)
    assert varied.shape == (7, 5, body.dimension)
    assert np.array_equal(varied[0], points)
    assert np.allclose(body.project(varied), varied)


@pytest.mark.parametrize("dimension", [1, 2, 8])
def test_lemma_d1_contraction_holds_and_the_papers_scale_falls_short_of_what_ours_reaches(dimension):
    """E min |z - z2| <= (1 - gamma) |z1 - z2| + alpha by 4000 simulations a distance; five standard errors allowed."""
    rng = np.random.default_rng(dimension)
    names = tuple(f"x{i}" for i in range(dimension))
    space, alpha = Ball(names, radius=50.0), 0.5
    gamma = contraction(dimension).value
    for distance in (0.6, 1.5, 6.0, 40.0):
        start = np.zeros((4000, dimension))
        target = np.eye(1, dimension)[0] * distance
        varied = space.variations(start, resolution=alpha, progress=0.0, rng=rng)
        nearest = np.linalg.norm(varied - target, axis=2).min(axis=0)
        assert nearest.mean() - 5 * nearest.std() / 4000**0.5 <= (1 - gamma) * distance + alpha
        assert nearest.mean() < (1 - gamma) * distance, "alpha is not even needed here"


def test_scales_have_the_bracket_outside_of_the_root():
    found = scales(2, diameter=2.0, resolution=0.25)
    spread = (2**0.5 + np.log(2)) ** 2 + np.log(2)
    assert found == pytest.approx(0.25 * 2.0 ** np.arange(3) / (np.pi**0.5 * spread))
    with pytest.raises(ValueError, match="positive"):
        scales(2, diameter=2.0, resolution=0.0)


@pytest.mark.parametrize("space", [BODIES[0], BODIES[1], BODIES[2]])
def test_the_estimated_contraction_is_at_least_the_proven_one(space):
    found = estimate_contraction(space, resolution=space.diameter / 32, rng=np.random.default_rng(0))
    assert found.applies
    assert found.gamma >= contraction(space.dimension).value
    assert found.variations == 11


def test_an_interface_that_forgets_the_point_or_never_comes_nearer_is_told_apart():
    class Forgetful(Box):
        def variations(self, points, *, resolution, progress, rng):
            return super().variations(points, resolution=resolution, progress=progress, rng=rng)[1:]

    class Still(Box):
        def variations(self, points, *, resolution, progress, rng):
            return np.repeat(points[None], 3, axis=0)

    for kind in (Forgetful, Still):
        space = kind(PLANE, (0.0, 0.0), (1.0, 1.0))
        assert not estimate_contraction(space, resolution=0.1, rng=np.random.default_rng(0)).applies


# Tables


def distance(one: dict, other: dict) -> float:
    """The definition, for two rows of `SCHEMA`."""

    def number(a, b, span):
        if (a is None) != (b is None):
            middle = ((b if a is None else a) - 18) / 80 - 0.5
            return (middle**2 + 0.75) ** 0.5
        return 0.0 if a is None else abs(a - b) / span

    days = (dt.date(2010, 1, 1) - dt.date(2000, 1, 1)).days
    ranks = {"s": 0, "m": 1, "l": 2}
    parts = [
        number(one["height"], other["height"], 2.0),
        number(one["age"], other["age"], 80),
        abs(ranks[one["size"]] - ranks[other["size"]]) / 2,
        float(one["color"] != other["color"]),
        float(one["member"] != other["member"]),
        abs((one["since"] - other["since"]).days) / days,
    ]
    return sum(part**2 for part in parts) ** 0.5


ROWS = st.fixed_dictionaries(
    {
        "height": st.floats(0, 2),
        "age": st.one_of(st.none(), st.integers(9, 49).map(lambda half: 2 * half)),
        "size": st.sampled_from("sml"),
        "color": st.sampled_from(["red", "blue", "other"]),
        "member": st.booleans(),
        "since": st.dates(dt.date(2000, 1, 1), dt.date(2010, 1, 1)),
    }
)


def located(space: TableSpace, table: pa.Table) -> np.ndarray:
    codes = {name: space.schema[name].encode(table.column(name)) for name in space.columns}
    numbers = {name: space.schema[name].numbers(table.column(name)) for name in space.numbers}
    return space.locate(codes, numbers)


@given(ROWS, ROWS)
def test_distances_of_rows_are_those_of_the_definition(one, other):
    a, b = located(TABLE, pa.Table.from_pylist([one, other], schema=pa.schema(types())))
    assert np.linalg.norm(a - b) == pytest.approx(distance(one, other), abs=1e-9)
    assert np.linalg.norm(a - b) <= TABLE.diameter * (1 + 1e-9)


def types():
    return [(column.name, column.arrow_type) for column in SCHEMA.columns]


@given(seeds)
def test_points_of_a_table_decode_to_rows_that_lie_where_they_were(seed):
    rng = np.random.default_rng(seed)
    points = TABLE.random(20, rng)
    varied = TABLE.variations(points, resolution=0.2, progress=0.5, rng=rng)
    assert np.array_equal(varied[0], points, equal_nan=True)
    everything = varied.reshape(-1, varied.shape[2])
    table = TABLE.table(everything, SCHEMA, rng)
    assert table.column_names == [column.name for column in SCHEMA.columns]
    assert np.allclose(located(TABLE, table), TABLE.embed(everything), atol=1e-9)


def test_variations_of_rows_come_nearer_and_later_ones_move_less():
    rng = np.random.default_rng(3)
    assert estimate_contraction(TABLE, resolution=0.2, rng=rng).applies
    points = TABLE.random(400, rng)

    def moved(progress):
        varied = TABLE.variations(points, resolution=0.2, progress=progress, rng=rng)[1:, :, 3]
        return (varied != points[:, 3]).mean()

    assert moved(0.0) > 2 * moved(0.75) > 0


def test_weights_stretch_columns():
    heavy = TableSpace(SCHEMA, {"color": 5.0})
    assert heavy.diameter == pytest.approx((25 + 5) ** 0.5)
    row = {"height": 1.0, "age": 20, "size": "s", "color": "red", "member": True, "since": dt.date(2001, 1, 1)}
    a, b = located(heavy, pa.Table.from_pylist([row, row | {"color": "blue"}], schema=pa.schema(types())))
    assert np.linalg.norm(a - b) == pytest.approx(5.0)
    with pytest.raises(ValueError, match="synthesized columns"):
        TableSpace(SCHEMA, {"colour": 1.0})
    with pytest.raises(ValueError, match="positive"):
        TableSpace(SCHEMA, {"color": 0.0})


def test_bounds_that_make_no_body_are_refused():
    for lower, upper in [((0.0,), (0.0,)), ((0.0, 1.0), (1.0,)), ((np.nan,), (1.0,))]:
        with pytest.raises(ValueError, match="`lower`"):
            Box(("x",), lower, upper)
    with pytest.raises(ValueError, match="`radius`"):
        Ball(("x",), radius=0.0)
    with pytest.raises(ValueError, match="`center`"):
        Ball(("x",), center=(0.0, 0.0))
    with pytest.raises(ValueError, match="never missing"):
        Box.of(SCHEMA)
    assert Box.of(point_schema([0, -1], [1, 1])) == Box(("x0", "x1"), (0.0, -1.0), (1.0, 1.0))


def test_missing_coordinates_are_refused_where_there_is_no_place_for_them():
    with pytest.raises(ValueError, match="missing coordinates"):
        BODIES[1].locate({}, {"x": np.array([0.0]), "y": np.array([np.nan])})


def test_points_have_the_decimals_that_are_declared():
    schema = Schema((Real("fee", 0.0, 100.0, decimals=2), Real("free", 0.0, 1.0)))
    rng = np.random.default_rng(3)
    for space in (Box.of(schema), TableSpace(schema)):
        fees = space.table(space.random(200, rng), schema, rng).column("fee").to_numpy()
        assert (np.round(fees, 2) == fees).all()
        assert ((fees >= 0) & (fees <= 100)).all()
