"""Exchanges between drawn rows: what they keep, what they mend, and what they leave random."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import swapping
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
    """What changes lessen: squares over the roots of what is expected, rare cells of a table as one, four times."""
    domain, total = model.domain, 0.0
    alone = {(name,) for name in domain.attributes}
    for clique in {*alone, *itertools.combinations(domain.attributes, 2), *model.potentials}:
        wanted = model.marginal(clique) * (len(rows) / model.total)
        apart, rare = counted(rows, domain.axes(clique), domain.sizes) - wanted, wanted < 1
        total += float((apart**2 / np.sqrt(np.maximum(wanted, 1.0)))[~rare].sum())
        if wanted[rare].sum() >= 1:
            total += 4 * float(apart[rare].sum()) ** 2 / math.sqrt(wanted[rare].sum())
    return total


def columns_off(model: GraphicalModel, rows: np.ndarray) -> float:
    """The sum over columns of the L1 distance from the model's counts."""
    wanted = [model.marginal((name,)) * (len(rows) / model.total) for name in model.domain.attributes]
    return sum(float(np.abs(counted(rows, (axis,), model.domain.sizes) - one).sum()) for axis, one in enumerate(wanted))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6), st.sampled_from([1, 2, 40, 700]), st.sampled_from([0.0, 0.5]))
def test_columns_and_pairs_come_nearer(cliques, seed, n, zeros) -> None:
    model = model_of(cliques, seed, zeros=zeros)
    before, after = drawn(model, n, seed)
    assert off(model, after) <= off(model, before) + 1e-6
    joint = model.marginal(model.domain.attributes)
    assert (joint[tuple(after.T)] > 0).all(), "what comes out is possible"
    assert after.dtype == before.dtype == np.int32
    assert after.flags.f_contiguous


@pytest.mark.parametrize(("cliques", "most"), [(CHAIN, 0.3), ((("a", "b", "c"), ("b", "c", "d")), 0.5)])
def test_pairs_are_mended_by_much(cliques, most) -> None:
    """Those across cliques, and those within a clique of which most cells expect less than one row."""
    model = model_of(cliques, 4, sizes=(7, 8, 7, 8))
    gains = [off(model, after) / off(model, before) for before, after in (drawn(model, 3000, s) for s in range(5))]
    assert max(gains) < most


def test_columns_are_mended_to_rounding() -> None:
    """Values are drawn given those of other columns, in many groups, and what is rounded in each adds up."""
    model = model_of((("a", "b", "c"), ("b", "c", "d")), 4, sizes=(12, 12, 12, 12))
    made = [drawn(model, 3000, seed) for seed in range(5)]
    codes = sum(model.domain.sizes)
    assert min(columns_off(model, before) for before, _ in made) > 2 * codes
    assert max(columns_off(model, after) for _, after in made) < 0.4 * codes  # rounding alone is about .25


def test_rows_stay_as_probable_as_the_model_has_them() -> None:
    """The mean logarithm of their probabilities over 100 draws of 500 rows is that of the model.

    Its standard error was .0011, and six of them are allowed: a false alarm has a probability below 1e-8. Exchanges
    that look at counts alone are .012 off.
    """
    model = model_of((("a", "b", "c"), ("b", "c", "d")), 5, sizes=(4, 4, 4, 4))
    law = model.marginal(model.domain.attributes) / model.total
    mean = float((law * np.log(law)).sum())

    def apart() -> float:
        draws = [model.sample(500, np.random.default_rng(seed)) for seed in range(100)]
        return abs(float(np.mean([np.log(law[tuple(rows.T)]).mean() for rows in draws])) - mean)

    assert apart() < 0.0066
    known = model._swapping
    blind = replace(known, tables=replace(known.tables, potentials=np.zeros_like(known.tables.potentials)))
    model.__dict__["_swapping"] = blind
    assert apart() > 0.009


def test_what_three_columns_have_together_stays() -> None:
    """Of a parity, no pair tells: exchanges that look at pairs alone break it in half of the rows that they touch."""
    parity = np.indices((2, 2, 2)).sum(axis=0) % 2
    model = GraphicalModel(
        Domain(("a", "b", "c", "d"), (2, 2, 2, 9)),
        {("a", "b", "c"): -40.0 * parity, ("c", "d"): np.random.default_rng(1).normal(size=(2, 9))},
        100.0,
    )
    before, after = drawn(model, 2000, 0)
    assert (before != after).any()
    assert not (after[:, :3].sum(axis=1) % 2).any()


def test_rare_cells_stay_as_full_as_the_model_says() -> None:
    """Of 400 draws of 200 rows, cells of pairs that expect less than one row have their number on average.

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


def test_rare_cells_together_stay_as_full_as_the_model_says(monkeypatch) -> None:
    """They do not take in the rows of which other cells have too many, as cells that count for nothing would (4%)."""
    rng, n = np.random.default_rng(3), 600
    domain = Domain(("a", "b", "c", "d"), (20, 20, 20, 20))
    model = GraphicalModel(domain, {clique: rng.normal(0, 1, (20, 20)) for clique in CHAIN}, 100.0)
    pairs = list(itertools.combinations(range(4), 2))
    wanted = {on: model.marginal([domain.attributes[i] for i in on]) * (n / model.total) for on in pairs}
    rare = {on: table < 1 for on, table in wanted.items()}

    def too_many() -> float:
        found = 0.0
        for seed in range(10):
            rows = model.sample(n, np.random.default_rng(seed))
            found += sum(counted(rows, on, domain.sizes)[rare[on]].sum() for on in pairs)
        return found / 10 / sum(float(table[rare[on]].sum()) for on, table in wanted.items()) - 1

    assert abs(too_many()) < 0.01  # the standard error is .0005
    counting = swapping._Tables.counting

    def careless(self, rows):
        known = counting(self, rows)
        return replace(known, weights=np.where(np.arange(len(known.weights)) < len(self.starts), 0.0, known.weights))

    monkeypatch.setattr(swapping._Tables, "counting", careless)
    assert too_many() > 0.02


@pytest.mark.parametrize("name", ["_MOST_PAIRS", "_MOST_CELLS", "_MOST_OF_TABLE"])
def test_models_for_which_it_takes_too_long_are_drawn_as_they_were(name, monkeypatch) -> None:
    monkeypatch.setattr(swapping, name, 0)
    model = model_of(CHAIN, 4)
    assert Swapping.of(model.domain, model.potentials, model.marginals) is None
    before, after = drawn(model, 300, 0)
    np.testing.assert_array_equal(before, after)


def test_work_is_bounded(monkeypatch) -> None:
    model = model_of(CHAIN, 4)
    before, after = drawn(model, 3000, 0)
    tables = sum(map(len, model._swapping.tables.of_axis))
    monkeypatch.setattr(swapping, "_WORK", 3000 * tables // 4)
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
    assert swapping.Swapping.of(domain, {}, lambda _: pytest.fail("nothing has to be computed")) is None
    assert len(looked) == swapping._MOST_PAIRS + 1
