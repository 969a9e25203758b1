"""Whose records a generator's gradient protects: X, which is moved, Z, or both. An optimizer against the claims."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="gradients need torch")

from counterfoil.accounting.neighbors import NeighboringRelation  # noqa: E402
from counterfoil.curator.batches import Batch  # noqa: E402
from counterfoil.curator.queries.generator_gradient import GeneratorGradient  # noqa: E402
from counterfoil.curator.queries.gradient import PublicDraws  # noqa: E402
from counterfoil.networks.network import Network  # noqa: E402
from counterfoil.networks.penalized_gradient import LossTerm  # noqa: E402
from gradient_batches import answer, batch_of, features_of, replaced, starts_of, table_of  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

M, L = 0.5, 0.25
REPLACE = NeighboringRelation.REPLACE_ONE
SIZES = [(1, 1), (3, 2), (1, 4)]
ROWS = np.array([[0.01, 1.0], [0.01, -1.0], [-0.01, 1.0], [-0.01, -1.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
"""At either end or in the middle, with Jacobians that point along either input."""


def query_of(sizes: tuple[int, int], protects: str, *, turned: bool = False) -> GeneratorGradient:
    """g(x) = W x in the plane, with the sizes of X and of Z; `turned`: Z is the first group."""
    network = Network.wrap(torch.nn.Linear(2, 2, bias=False), inputs=2)
    term = LossTerm("sliced_wasserstein", (0, 2), 1.0, 4 * M**2)
    if protects == "both":
        batches = sizes[::-1] if turned else sizes
        facts = {"protects": "both", "sides": (1, 0) if turned else (0, 1)}
        return GeneratorGradient(
            network, features_of(2, inputs=2, targets=False), table_of(batches), batches, term, M, L, **facts
        )
    own = (sizes[0 if protects == "X" else 1],)
    features = features_of(1, inputs=2, targets=False)
    return GeneratorGradient(network, features, table_of(own), own, term, M, L, protects=protects)


PARAMETERS = np.array([100.0, 0.0, 0.0, 0.0])
"""g(x) is (100 x_0, 0): beyond the ball for |x_0| = .01 already, where the Jacobian points along x_1."""


def answered(query: GeneratorGradient, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The gradient, and the distance, in their own units."""
    directions = np.array([[1.0, 0.0]])
    if query.protects == "both":
        rows = np.concatenate([x, z] if query.sides == (0, 1) else [z, x])
        batch = Batch(rows, np.zeros(len(rows), np.int64), np.empty((len(rows), 0)), starts_of(query.batch_sizes))
        draws = PublicDraws(directions)
    elif query.protects == "X":
        batch, draws = batch_of(x, np.zeros(len(x)), (len(x),)), PublicDraws(directions, points=z)
    else:
        batch, draws = batch_of(z, np.zeros(len(z)), (len(z),)), PublicDraws(directions, x)
    found = answer(query, batch, PARAMETERS, draws)
    return np.append(found[:-1] * query.unit, found[-1] * query.loss_unit)


def most_found(query: GeneratorGradient, side: str, sizes: tuple[int, int], wanted: float) -> float:
    """What an ascent finds that the gradient moves where one record of `side` is replaced, all else its choice.

    It starts again from other rows, four times at most, until it ended above `wanted`.
    """
    rng, best = np.random.default_rng(3), 0.0

    def change(rows: np.ndarray) -> float:
        x, z, new = rows[: sizes[0]], rows[sizes[0] : -1], rows[-1]
        changed = {"X": x, "Z": z}[side].copy()
        changed[0] = new
        before = answered(query, x, z)
        after = answered(query, changed, z) if side == "X" else answered(query, x, changed)
        return float(np.linalg.norm((after - before)[:-1]))

    for _ in range(4):
        rows = rng.uniform(-1, 1, (sum(sizes) + 1, 2))
        found, before = change(rows), -1.0
        while found > before:
            before = found
            for at in rng.permutation(len(rows)):
                tried = np.tile(rows, (len(ROWS) + 1, 1, 1))
                tried[:, at] = [*ROWS, rng.uniform(-1, 1, 2)]
                moved = [change(each) for each in tried]
                rows, found = max([(rows, found), *zip(tried, moved, strict=True)], key=lambda pair: pair[1])
        best = max(best, found)
        if best > wanted:
            break
    return best


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(("protects", "side"), [("X", "X"), ("Z", "Z"), ("both", "X"), ("both", "Z")])
def test_an_optimizer_attains_what_each_side_may_move_and_no_more(sizes, protects, side):
    query = query_of(sizes, protects, turned=sum(sizes) % 2 == 1)
    stated = {"X": 8 * M * L / sizes[0], "Z": 4 * M * L / sizes[1]}
    claim = max(stated.values()) if protects == "both" else stated[side]
    assert query.gradient_change == pytest.approx(claim, rel=1e-15)
    found = most_found(query, side, sizes, 0.99 * stated[side])
    assert 0.99 * stated[side] <= found <= stated[side] * (1 + 1e-5)


@pytest.mark.parametrize("protects", ["X", "Z", "both"])
@pytest.mark.parametrize("sizes", SIZES)
def test_the_distance_moves_by_as_much_as_is_claimed(sizes, protects):
    """All points of both sides at one end, and one goes to the other."""
    query = query_of(sizes, protects)
    x, z = (np.tile([1.0, 0.0], (size, 1)) for size in sizes)
    for side, rows in (("X", x), ("Z", z)):
        other = rows.copy()
        other[0] = [-1.0, 0.0]
        after = answered(query, other, z) if side == "X" else answered(query, x, other)
        moved = abs(after - answered(query, x, z))[-1]
        if protects in (side, "both"):
            # (2 M)^2 times the share of the point, and no more than is claimed for the smaller side.
            assert moved == pytest.approx(4 * M**2 / len(rows), rel=1e-6)
            assert moved <= query.loss_change * (1 + 1e-6)
    smaller = min(sizes) if protects == "both" else sizes["XZ".index(protects)]
    assert query.loss_change == pytest.approx(4 * M**2 / smaller, rel=1e-15)


def test_a_record_of_each_side_at_once_moves_nearly_the_sum():
    """What no neighbor does: (12 - 8 / n) M L / n, which is why a person may have one row on one side alone."""
    n = 40
    query = query_of((n, n), "both")
    # J^T e_1 of x = (.01, s) is L s: the record that stays last of all turns its own.
    x, z = np.tile([0.01, 1.0], (n, 1)), np.tile([-1.0, 0.0], (n, 1))
    other_x, other_z = x.copy(), z.copy()
    other_x[0], other_z[0] = [0.01, -1.0], [1.0, 0.0]
    moved = np.linalg.norm((answered(query, other_x, other_z) - answered(query, x, z))[:-1])
    assert moved == pytest.approx((12 - 8 / n) * M * L / n, rel=1e-3)
    assert moved > 1.4 * query.gradient_change


def test_records_of_neither_side_are_not_in_a_batch():
    query = query_of((2, 3), "both")
    features = features_of(3, inputs=2, targets=False)
    with pytest.raises(ValueError, match="the two groups that have records as `sides`"):
        dataclasses.replace(query, features=features, group_sizes=(6, 9, 4), batch_sizes=(2, 3, 1))
    apart = dataclasses.replace(query, features=features, group_sizes=(6, 9, 4), batch_sizes=(2, 3, 0))
    assert apart.gradient_change == query.gradient_change
    assert apart.describe()["sides"] == [0, 1]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"protects": "Y"}, "protects"),
        ({"protects": "both"}, "two groups"),
        ({"sides": (0, 1)}, "two groups"),
        ({"sides": [0, 1], "protects": "both"}, "`sides` must be a tuple"),
    ],
)
def test_sides_that_do_not_fit_are_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        dataclasses.replace(query_of((2, 3), "X"), **changes)


@pytest.mark.parametrize(("protects", "says"), [("X", "takes their 2 inputs"), ("Z", "each of the 2 inputs")])
def test_networks_of_other_shapes_are_refused(protects, says):
    network = Network.wrap(torch.nn.Linear(3, 3), inputs=3)
    with pytest.raises(ValueError, match=says):
        dataclasses.replace(query_of((2, 3), protects), network=network)


def test_what_is_told_of_a_generator_of_public_draws_is_what_it_was():
    """Receipts from before there was a choice hold: their charges name no side."""
    told = query_of((2, 3), "Z").describe()
    assert not {"protects", "sides"} & told.keys()
    restated = GeneratorGradient.restated_sensitivity(told, 2.0, None)
    assert restated == query_of((2, 3), "Z").l2_sensitivity(REPLACE)


def test_a_record_that_overflows_is_silent():
    """It stays in the middle of the ball, and has no Jacobian; others have what they had."""
    query = query_of((3, 2), "X")
    x, z = np.array([[1.0, 0.0], [-1.0, 1.0], [0.2, 0.3]]), np.zeros((2, 2))
    batch = batch_of(x, [0, 0, 0], (3,))
    draws = PublicDraws(np.array([[1.0, 0.0]]), points=z)
    middle = replaced(batch, 2, [0.0, 0.0], 0)
    for odd in (np.inf, np.nan):
        found = answer(query, replaced(batch, 2, [odd, 0.0], 0), PARAMETERS, draws)
        assert np.array_equal(found, answer(query, middle, PARAMETERS, draws))
