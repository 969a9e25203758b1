"""Losses at a net of models: what they are, that the net covers the ball, and no two records that move them by more."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.features.convex_loss import KINDS, ConvexLoss
from counterfoil.features.feature_map import UNIT as FEATURE_UNIT
from counterfoil.features.l1_lattice import lattice, lattice_size, lattice_sums, most_steps
from counterfoil.features.losses import UNIT, LossNet
from counterfoil.noise.noise import Norm
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
SCHEMA = Schema(
    (
        Real("x", -3.0, 5.0, bins=4),
        Categorical("job", ("cook", "nurse", "pilot")),
        Integer("age", 0, 60, missing=True),
        Boolean("good"),
        Real("pay", 0.0, 10.0, bins=4),
        Categorical("kind", ("a", "b")),
    )
)
CUBE = Schema((*(Real(f"x{i}", -1.0, 1.0, bins=2) for i in range(4)), Boolean("good"), Real("y", -1.0, 1.0, bins=2)))
LOSSES = st.one_of(
    st.sampled_from(["logistic", "squared", "absolute"]).map(ConvexLoss),
    st.floats(0.05, 3.0).map(lambda delta: ConvexLoss("huber", delta)),
)
ALL = [*(ConvexLoss(kind) for kind in KINDS), ConvexLoss("huber", 1.5)]


def net_of(loss, columns=("x", "job", "age"), *, schema=SCHEMA, radius=1.5, points=200, counted=False, target=None):
    goal = target or ("good" if loss.of_labels else "pay" if schema is SCHEMA else "y")
    return LossNet.of(schema, loss, goal, columns, radius=radius, points=points, counted=counted)


def records(schema, rng, n):
    """Codes and numbers of n random records, half of them at the ends of their ranges."""
    codes, numbers = {}, {}
    for column in schema.synthesized:
        codes[column.name] = rng.integers(0, column.size, n).astype(column.dtype)
        if column.is_ordered:
            low, high = np.nanmin(column.ranges[0]), np.nanmax(column.ranges[1])
            values = np.where(rng.random(n) < 0.5, rng.uniform(low, high, n), rng.choice([low, high], n))
            numbers[column.name] = np.where(column.missing & (rng.random(n) < 0.3), np.nan, values)
    return codes, numbers


@pytest.mark.parametrize(("dimensions", "steps"), [(1, 5), (2, 4), (3, 3), (4, 2), (5, 1)])
def test_the_lattice_is_all_points_of_the_ball(dimensions, steps):
    found = [k for k in itertools.product(range(-steps, steps + 1), repeat=dimensions) if np.abs(k).sum() <= steps]
    assert lattice(dimensions, steps).tolist() == list(map(list, found))
    assert lattice_size(dimensions, steps) == len(found)
    assert most_steps(dimensions, len(found)) == steps
    assert most_steps(dimensions, len(found) - 1) == steps - 1
    lows, highs = [-1] * dimensions, [steps - 1] * dimensions
    inside = [list(k) for k in found if all(-1 <= entry <= steps - 1 for entry in k)]
    assert lattice(dimensions, steps, lows, highs).tolist() == inside


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
def test_the_lattice_covers_the_ball(dimensions, steps, seed):
    """A random point of the ball is an average of near points of its orthant, by a linear program, and near to one."""
    rng, points = np.random.default_rng(seed), lattice(dimensions, steps)
    direction = rng.normal(size=dimensions)
    theta = direction / np.abs(direction).sum() * steps * rng.choice([1.0, rng.random()])
    assert np.abs(points - theta).sum(axis=1).min() <= dimensions / 2 + 1e-9
    beside = np.all((np.abs(points - theta) <= 1 + 1e-9) & (points * theta >= 0), axis=1)
    near = points[beside]
    program = linprog(
        np.zeros(len(near)), A_eq=np.vstack([near.T, np.ones(len(near))]), b_eq=[*theta, 1.0], bounds=(0, None)
    )
    assert program.status == 0


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_sums_over_the_lattice(dimensions, steps, seed):
    squares, largest = lattice_sums(dimensions, steps)
    points = lattice(dimensions, steps)
    x = np.random.default_rng(seed).uniform(-1, 1, dimensions)
    assert np.square(points @ x).sum() == pytest.approx(squares * (x @ x))
    assert np.abs(points @ x).sum() <= largest * (1 + 1e-12)
    assert np.abs(points @ np.sign(x)).sum() == pytest.approx(largest)


@settings(max_examples=300)
@given(LOSSES, st.floats(0.1, 8), st.floats(-1, 1), st.floats(-1, 1))
def test_odd_and_even_parts_stay_below_what_is_claimed(loss, radius, y, share):
    t = radius * share
    label = 1.0 if y >= 0 else -1.0

    def g(score):
        return (loss(np.array([label * score if loss.of_labels else y - score])) - at_zero)[0]

    at_zero = loss(np.array([0.0 if loss.of_labels else y]))
    odd, even = (g(t) - g(-t)) / 2, (g(t) + g(-t)) / 2
    slack = 1e-9 * (1 + radius) ** 2
    assert abs(odd) <= loss.odd * abs(t) + slack
    assert -slack <= even <= loss.even(radius) * abs(t) + slack
    assert abs(g(t)) <= loss.steepest(radius) * abs(t) + slack


@given(LOSSES, st.floats(-6, 6), st.floats(-6, 6))
def test_slopes_are_those_of_the_loss(loss, one, other):
    assume(abs(one - other) > 1e-6)
    low, high = min(one, other), max(one, other)
    ends, slopes = loss(np.array([low, high])), loss.slope(np.array([low, high]))
    chord = (ends[1] - ends[0]) / (high - low)
    assert slopes[0] - 1e-8 <= chord <= slopes[1] + 1e-8
    assert slopes[1] - slopes[0] <= loss.curvature * (high - low) + 1e-12


def by_hand(net, codes, numbers, row):
    """The functions of one record, from the definitions, with Python's own numbers."""
    x = [1.0]
    for name in net.columns:
        column = net.schema[name]
        if column.is_ordered:
            low, high = np.nanmin(column.ranges[0]), np.nanmax(column.ranges[1])
            value = numbers[name][row]
            x.append(0.0 if np.isnan(value) else 2 * (value - low) / (high - low) - 1)
            x += [float(np.isnan(value))] if column.missing else []
        else:
            x += [float(codes[name][row] == code) for code in range(1, column.size)]
    if net.loss.of_labels:
        y = 1.0 if codes[net.target][row] == 1 else -1.0
    else:
        column = net.schema[net.target]
        low, high = np.nanmin(column.ranges[0]), np.nanmax(column.ranges[1])
        y = 2 * (numbers[net.target][row] - low) / (high - low) - 1

    def loss(theta):
        t = math.fsum(a * b for a, b in zip(theta, x, strict=True))
        if net.loss.kind == "logistic":
            return math.log1p(math.exp(-y * t))
        s = abs(y - t)
        if net.loss.kind == "squared":
            return s * s
        if net.loss.kind == "absolute" or s > net.loss.delta:
            return s if net.loss.kind == "absolute" else net.loss.delta * (s - net.loss.delta / 2)
        return s * s / 2

    zero = loss([0.0] * len(x))
    values = [1.0] * net.counted + ([] if net.loss.of_labels else [zero])
    return values + [loss(net.step * k) - zero for k in net.lattice]


@pytest.mark.parametrize("loss", ALL, ids=lambda loss: f"{loss.kind} {loss.delta}")
@pytest.mark.parametrize("counted", [False, True])
def test_sums_are_those_of_the_losses(loss, counted):
    net, n = net_of(loss, counted=counted), 12
    codes, numbers = records(SCHEMA, np.random.default_rng(0), n)
    sums, expected = (
        net.sums(n, codes, numbers),
        np.sum([by_hand(net, codes, numbers, row) for row in range(n)], axis=0),
    )
    assert len(sums) == len(net.names) == len(net.slopes) == net.describe()["functions"] + counted
    # Features and targets are rounded to 4096ths, and a loss has a slope of at most 5 here.
    assert np.abs(net.offsets + net.slopes * sums - expected).max() <= n * (5 * 2.5 / (2 * FEATURE_UNIT) + 1 / UNIT)
    assert np.array_equal(net.matrix(n, codes, numbers).sum(axis=1), sums)


@pytest.mark.parametrize("loss", ALL, ids=lambda loss: f"{loss.kind} {loss.delta}")
def test_what_a_record_adds_does_not_depend_on_its_place(loss):
    net, n = net_of(loss), 40
    codes, numbers = records(SCHEMA, np.random.default_rng(1), n)
    whole, order = net.matrix(n, codes, numbers).toarray(), np.random.default_rng(2).permutation(n)
    moved = net.matrix(
        n, {name: of[order] for name, of in codes.items()}, {name: of[order] for name, of in numbers.items()}
    )
    assert np.array_equal(moved.toarray(), whole[:, order])
    alone = [
        net.sums(1, {k: v[i : i + 1] for k, v in codes.items()}, {k: v[i : i + 1] for k, v in numbers.items()})
        for i in range(n)
    ]
    assert np.array_equal(np.array(alone).T, whole)


def assert_no_two_move_by_more(net, codes, numbers, n):
    columns = net.matrix(n, codes, numbers).toarray().T
    apart = np.abs(columns[:, None, :] - columns[None, :, :]).reshape(n * n, -1)
    for relation, moved in ((ADD, np.abs(columns)), (REPLACE, apart)):
        assert moved.sum(axis=1).max() <= net.l1_sensitivity(relation)
        assert np.sqrt((moved**2).sum(axis=1)).max() <= net.l2_sensitivity(relation)


@settings(max_examples=60, deadline=None)
@given(
    LOSSES,
    st.lists(st.sampled_from(["x", "job", "age", "kind"]), min_size=1, max_size=3, unique=True),
    st.floats(0.01, 8),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_no_two_records_move_losses_by_more(loss, columns, radius, counted, seed):
    net, n = net_of(loss, columns, radius=radius, points=150, counted=counted), 40
    assert_no_two_move_by_more(net, *records(SCHEMA, np.random.default_rng(seed), n), n)


@pytest.mark.parametrize("loss", ALL[1:], ids=lambda loss: f"{loss.kind} {loss.delta}")
def test_no_two_records_move_losses_by_more_where_bounds_are_hardly_apart(loss):
    """What scales numbers of such a column is beyond floating point, and times a number at the bound no number."""
    width = 1e-306
    schema = Schema((Real("y", 0.0, width, bins=2), Real("x", 0.0, width, bins=2)))
    net = LossNet.of(schema, loss, "y", ["x"], points=100, counted=True)
    numbers = {name: width * np.array([0.0, 0.25, 0.5, 1.0]) for name in ("y", "x")}
    assert np.array_equal(net.targets({}, numbers), [-1, -0.5, 0, 1])
    assert_no_two_move_by_more(net, {}, numbers, 4)


@pytest.mark.parametrize("radius", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: f"{loss.kind} {loss.delta}")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_corners_and_the_middles_of_edges_of_the_cube(d, loss, radius):
    """All pairs of records with entries in {-1, 0, 1}: the worst ones for the linear part are among them."""
    net = net_of(loss, [f"x{i}" for i in range(d)], schema=CUBE, radius=radius, points=150)
    points = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=d + 1)))
    numbers = {f"x{i}": points[:, i] for i in range(d)} | {"y": points[:, -1]}
    assert_no_two_move_by_more(net, {"good": (points[:, -1] > 0).astype(np.uint8)}, numbers, len(points))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_opposite_corners_nearly_attain_the_claim_of_the_logistic_loss(d):
    """Labels 1 and -1 at one corner of the cube; the l2 norm of the bound that each loss has alone is far larger."""
    net = net_of(ConvexLoss("logistic"), [f"x{i}" for i in range(d)], schema=CUBE, radius=1.0, points=150)
    numbers = {f"x{i}": np.ones(2) for i in range(d)}
    one, other = net.matrix(2, {"good": np.array([0, 1], dtype=np.uint8)}, numbers).toarray().T
    attained, claimed = np.linalg.norm(one - other), net.l2_sensitivity(REPLACE)
    assert 0.97 < attained / claimed <= 1
    alone = np.linalg.norm(np.abs(net.lattice).sum(axis=1) * net.step) * UNIT
    assert d == 1 or claimed < 0.9 * alone


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("loss", ALL, ids=lambda loss: f"{loss.kind} {loss.delta}")
def test_a_receipt_restates_the_sensitivities(loss, counted):
    query = FunctionAverages(net_of(loss, counted=counted))
    for relation, moved in ((ADD, 1), (REPLACE, 2)):
        for norm, of in ((Norm.L1, query.l1_sensitivity), (Norm.L2, query.l2_sensitivity)):
            assert query.restated_sensitivity(query.describe(), moved, norm) == of(relation)
    assert LossNet.described(query.describe(), SCHEMA) == query.family


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"functions": 3}, "not those of a net of losses"),
        ({"unit": 7}, "not those of a net of losses"),
        ({"columns": []}, "not those of a net of losses"),
        ({"radius": 1e9}, "out of bounds"),
        ({"steps": 10**9}, "at most 20,000 points"),
        ({"loss": "hinge"}, "`loss` must be"),
        ({"counted": 1}, "true or false"),
    ],
)
def test_a_receipt_with_other_parameters_is_refused(change, sentence):
    query = FunctionAverages(net_of(ConvexLoss("squared")))
    with pytest.raises(ValueError, match=sentence):
        query.restated_sensitivity({**query.describe(), **change}, 2, Norm.L2)


def test_spellings():
    net = LossNet.spelled("losses:logistic:good~x,job", SCHEMA, counted=True)
    assert (net.loss, net.target, net.columns) == (ConvexLoss("logistic"), "good", ("x", "job"))
    assert (net.radius, net.dimensions, net.counted) == (1.0, 4, True)
    assert net.features == ("1", "x", "job = nurse", "job = pilot")
    net = LossNet.spelled("losses:huber=0.1:pay~x:0.5:1000", SCHEMA, counted=False)
    assert (net.loss.delta, net.radius) == (0.1, 0.5)
    assert lattice_size(2, net.steps) <= 1000 < lattice_size(2, net.steps + 1)
    assert LossNet.spelled("losses:huber:pay~x", SCHEMA, counted=False).loss.delta == 0.25


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("losses:logistic:good", "asked for by losses:LOSS:TARGET~COLUMN"),
        ("losses:hinge:good~x", "`loss` must be logistic, squared, absolute or huber. Found 'hinge'"),
        ("losses:squared=2:pay~x", "`delta` goes with the loss huber"),
        ("losses:huber=0:pay~x", "must be positive and finite. Found 0.0"),
        ("losses:huber=a:pay~x", "The `delta` of .* must be a number. Found 'a'"),
        ("losses:logistic:job~x", "needs a target of two values, never missing. Found 'job', .* of 3 codes"),
        ("losses:logistic:pay~x", "needs a target of two values"),
        ("losses:squared:job~x", "needs a target of numbers between two bounds"),
        ("losses:squared:age~x", "that may be missing"),
        ("losses:logistic:good~xx", "Found 'xx'. Did you mean 'x'?"),
        ("losses:logistic:good~x,x", "must be distinct"),
        ("losses:logistic:good~good", "not the target"),
        ("losses:logistic:good~x:0", "`radius` must be a number from 0.001 to 100.* Found 0.0"),
        ("losses:logistic:good~x:-1", "Found -1.0"),
        ("losses:logistic:good~x:nan", "Found nan"),
        ("losses:logistic:good~x:1:0", "`points` must be a whole number from 1 to 20,000. Found 0"),
        ("losses:logistic:good~x:1:2.5", "Found 2.5"),
        (
            "losses:logistic:good~x,job,age,kind,pay:1:100",
            "The model has 8 weights, so that a net of 2 steps .* has 145 points. Found `points` 100: .* moments:2",
        ),
    ],
)
def test_what_is_asked_wrongly_is_told(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        LossNet.spelled(text, SCHEMA, counted=False)


def test_steps_and_models_of_one_weight_are_refused():
    one = Schema((Categorical("only", ("a",)), Boolean("good")))
    with pytest.raises(ValueError, match="only always has the same value"):
        LossNet(one, ConvexLoss("logistic"), "good", ("only",), 1.0, 2, False)
    with pytest.raises(ValueError, match=r"`steps` must be a whole number of at least 2\. Found 1"):
        LossNet(SCHEMA, ConvexLoss("logistic"), "good", ("x",), 1.0, 1, False)
    with pytest.raises(ValueError, match="at most 20,000 points"):
        LossNet(SCHEMA, ConvexLoss("logistic"), "good", ("x", "job"), 1.0, 40, False)
