"""Counts of a model that are computed when they are asked for."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import counterfoil as cf
from counterfoil.domain.coarsening import identity
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.fit_watch import FitWatch
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals import aim_batched, scores
from counterfoil.marginals.estimates import Estimates
from counterfoil.marginals.rank_blocks import single_codes
from counterfoil.marginals.scores import scores_of
from counterfoil.schema import Categorical

NAMES = ("a", "b", "c", "d", "e")
PAIRS = list(itertools.combinations(NAMES, 2))


class Watch(FitWatch):
    def __init__(self) -> None:
        self.times = 0

    @contextmanager
    def working(self):
        self.times += 1
        yield


def chain() -> GraphicalModel:
    rng = np.random.default_rng(3)
    cliques = list(itertools.pairwise(NAMES))
    return GraphicalModel(
        Domain(NAMES, (3, 2, 4, 2, 3)),
        {c: rng.normal(size=(3, 2, 4, 2, 3)[i : i + 2]) for i, c in enumerate(cliques)},
        100.0,
    )


@pytest.fixture
def asked(monkeypatch):
    """The marginals that any model was asked for, one list for each time."""
    calls: list[list[tuple[str, ...]]] = []
    marginals = GraphicalModel.marginals

    def asking(self, cliques):
        calls.append(list(cliques))
        return marginals(self, calls[-1])

    monkeypatch.setattr(GraphicalModel, "marginals", asking)
    return calls


def test_each_is_computed_once_and_only_if_asked_for(asked):
    watch = Watch()
    estimates = Estimates(chain(), PAIRS, watch)
    assert (list(estimates), len(estimates), asked) == (PAIRS, 10, [])
    estimates.together(PAIRS[:3])
    estimates.together(PAIRS[1:5])
    table = estimates[PAIRS[0]]
    assert asked == [PAIRS[:3], PAIRS[3:5]]
    np.testing.assert_array_equal(table, chain().marginals(PAIRS[:3])[PAIRS[0]])
    np.testing.assert_allclose(estimates[PAIRS[9]], chain().marginal(PAIRS[9]), rtol=1e-12)
    assert watch.times == 3
    with pytest.raises(KeyError):
        estimates["a", "z"]


@pytest.mark.parametrize("many", [1, 1000])
def test_scores_are_those_of_estimates_that_were_computed_before(asked, monkeypatch, many):
    """One by one, where only the candidates at hand are computed, and thousands at once, where all are."""
    monkeypatch.setattr(scores, "MANY_CANDIDATES", many)
    model, weights = chain(), {pair: 1.0 + i for i, pair in enumerate(PAIRS)}
    blocks = single_codes(identity(model.domain))
    places = np.array([1, 4, 6])
    before = scores_of(model.marginals(PAIRS), weights, 3.0, blocks).among(places)
    asked.clear()
    found = scores_of(Estimates(model, PAIRS), weights, 3.0, blocks).among(places)
    np.testing.assert_allclose(found.penalties, before.penalties, rtol=1e-12)
    assert asked == [PAIRS if many == 1 else [PAIRS[i] for i in places]]


def test_a_run_at_its_size_limit_chooses_as_if_all_candidates_were_computed(asked, monkeypatch):
    """And computes only those that fit."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 4, 2000)
    values = ("0", "1", "2", "3")
    columns = {f"x{i}": np.where(rng.random(2000) < 0.7, (hidden + i) % 4, rng.integers(0, 4, 2000)) for i in range(9)}
    table = pd.DataFrame({name: column.astype(str) for name, column in columns.items()})
    schema = cf.Schema(tuple(Categorical(name, values) for name in columns))

    def run() -> tuple[list[object], np.ndarray]:
        with cf.Curator(table, schema, budget=cf.Budget(8.0, 1e-9), seed=4) as curator:
            made = cf.AIM(max_model_size=0.004).synthesize(curator)
            return [charge.to_json() for charge in curator.charges()], made.to_pandas().to_numpy()

    lazy, computed = run(), {len(cliques) for cliques in asked}
    monkeypatch.setattr(aim_batched, "Estimates", lambda model, cliques, watch: model.marginals(cliques))
    eager = run()
    assert lazy[0] == eager[0]
    np.testing.assert_array_equal(lazy[1], eager[1])
    assert any(9 < size < 45 for size in computed), "of 9 columns and 36 pairs"
