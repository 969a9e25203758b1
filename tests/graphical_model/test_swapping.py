"""Exchanges between drawn rows: what they keep, what they mend, and what they leave random."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import junction_tree, swapping
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.swapping import Swapping

CHAIN = (("a", "b"), ("b", "c"), ("c", "d"))
SHAPES = (CHAIN, (("a", "b"), ("c", "d")), (("a", "b", "c"), ("c", "d")), (("a",), ("b",)), (("a", "b", "c", "d"),))


def model_of(cliques: Any, seed: int, sizes: tuple[int, ...] = (3, 4, 2, 5), zeros: float = 0.0) -> GraphicalModel:
    """With random potentials, a share of them impossible but for the first code of each column."""
    rng = np.random.default_rng(seed)
    domain = Domain(("a", "b", "c", "d"), sizes)
    potentials = {}
    for clique in cliques:
        table = rng.normal(0, 1, domain.shape(clique))
        barred = rng.random(table.shape) < zeros
        barred[(0,) * table.ndim] = False
        for axis in range(table.ndim):
            np.moveaxis(barred, axis, 0)[0] = False
        potentials[clique] = np.where(barred, -np.inf, table)
    return GraphicalModel(domain, potentials, 100.0)


def drawn(model: GraphicalModel, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows before and after exchanges."""
    model.__dict__["_swapping"] = None
    before = model.sample(n, np.random.default_rng(seed))
    del model.__dict__["_swapping"]
    return before, model.sample(n, np.random.default_rng(seed))


def counted(rows: np.ndarray, axes: tuple[int, ...], sizes: tuple[int, ...]) -> np.ndarray:
    table = np.zeros([sizes[axis] for axis in axes], dtype=np.int64)
    np.add.at(table, tuple(rows[:, axis] for axis in axes), 1)
    return table


def off(model: GraphicalModel, rows: np.ndarray) -> float:
    """What exchanges lessen: the sum over pairs that no clique of the tree holds."""
    domain, total = model.domain, 0.0
    for pair in itertools.combinations(domain.attributes, 2):
        if any(set(pair) <= set(clique) for clique in model.tree.cliques):
            continue
        wanted = model.marginal(pair) * (len(rows) / model.total)
        apart = np.abs(counted(rows, domain.axes(pair), domain.sizes) - wanted)
        total += float(apart[wanted >= 1].sum())
    return total


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.sampled_from([1, 2, 40, 700]), st.sampled_from([0.0, 0.5]))
def test_counts_of_cliques_stay_and_pairs_across_come_nearer(cliques, seed, n, zeros) -> None:
    model = model_of(cliques, seed, zeros=zeros)
    before, after = drawn(model, n, seed)
    sizes = model.domain.sizes
    for clique in model.tree.cliques:
        axes = model.domain.axes(clique)
        np.testing.assert_array_equal(counted(before, axes, sizes), counted(after, axes, sizes))
    assert off(model, after) <= off(model, before) + 1e-6
    joint = model.marginal(model.domain.attributes)
    assert (joint[tuple(after.T)] > 0).all(), "what comes out is possible"
    assert after.dtype == before.dtype == np.int32
    assert after.flags.f_contiguous
    # Together the rows are as probable as before.
    logs = [float(np.log(joint[tuple(rows.T)]).sum()) for rows in (before, after)]
    assert logs[0] == pytest.approx(logs[1])


def test_pairs_across_are_mended_by_much() -> None:
    model = model_of(CHAIN, 4)
    gains = [off(model, after) / off(model, before) for before, after in (drawn(model, 3000, s) for s in range(5))]
    assert max(gains) < 0.5


def test_rare_cells_stay_as_full_as_the_model_says() -> None:
    """Of 400 draws of 200 rows, cells of pairs across that expect less than one row have their number on average.

    The mean of 400 counts of mean m has a deviation of at most sqrt(m (1 + m) / 400); with 6 of them for each of fewer
    than 60 cells, a false alarm has a probability below 1e-6.
    """
    model = model_of((("a", "b"), ("b", "c")), 7, sizes=(8, 2, 8, 2))
    rng, n, draws = np.random.default_rng(0), 200, 400
    wanted = model.marginal(("a", "c")) * (n / model.total)
    total = sum(counted(model.sample(n, rng), (0, 2), model.domain.sizes) for _ in range(draws))
    rare = wanted < 1
    assert 5 < rare.sum() < 60
    assert (np.abs(total / draws - wanted)[rare] < 6 * np.sqrt(wanted * (1 + wanted) / draws)[rare] + 0.05).all()


def test_the_same_seed_gives_the_same_rows() -> None:
    model = model_of(CHAIN, 4)
    one, other = (model.sample(500, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["_MOST_PAIRS", "_MOST_CELLS", "_MOST_TREE_CELLS", "_MOST_OF_PAIR"])
def test_models_for_which_it_takes_too_long_are_drawn_as_they_were(name, monkeypatch) -> None:
    monkeypatch.setattr(swapping, name, 0)
    model = model_of(CHAIN, 4)
    assert Swapping.of(model.domain, model.tree, model.marginals) is None
    before, after = drawn(model, 300, 0)
    np.testing.assert_array_equal(before, after)


def test_work_is_bounded(monkeypatch) -> None:
    model = model_of(CHAIN, 4)
    before, after = drawn(model, 3000, 0)
    monkeypatch.setattr(swapping, "_WORK", 3000 * 8)
    fewer = drawn(model, 3000, 0)[1]
    assert off(model, after) < off(model, fewer) < off(model, before)
    monkeypatch.setattr(swapping, "_WORK", 100)
    np.testing.assert_array_equal(drawn(model, 3000, 0)[1], before)
    monkeypatch.setattr(swapping, "_WORK", 10**9)
    monkeypatch.setattr("counterfoil.graphical_model.graphical_model.MOST_ROWS", 2999)
    np.testing.assert_array_equal(drawn(model, 3000, 0)[1], before)


def test_rows_under_a_condition_and_independent_ones_are_not_touched() -> None:
    model = model_of(CHAIN, 4)
    for options in ({"where": {"a": 1}}, {"independent": True}):
        given_rows = model.sample(300, np.random.default_rng(0), **options)
        model.__dict__["_swapping"] = None
        np.testing.assert_array_equal(model.sample(300, np.random.default_rng(0), **options), given_rows)
        del model.__dict__["_swapping"]


def test_of_many_columns_only_so_many_pairs_are_looked_at_as_decide(monkeypatch):
    """A thousand columns have half a million pairs, and a model of so many has no time for exchanges anyway."""
    looked = []

    def counted(*args):
        for one in itertools.combinations(*args):
            looked.append(one)
            yield one

    monkeypatch.setattr(swapping, "combinations", counted)
    domain = Domain(tuple(f"c{i}" for i in range(400)), (2,) * 400)
    tree = junction_tree.build(domain, [(name,) for name in domain.attributes])
    assert swapping.Swapping.of(domain, tree, lambda _: pytest.fail("nothing has to be computed")) is None
    assert len(looked) == swapping._MOST_PAIRS + 1
