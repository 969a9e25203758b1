"""Many candidates scored at once: the scores are those of candidates one by one, and what is wrong is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from counterfoil.curator.queries.worst_of_many import WorstOfManyMarginals
from counterfoil.curator.records import ExactRecords
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.domain.layout import Layout, StackedCounts
from counterfoil.marginals import scores
from counterfoil.marginals.rank_blocks import rank_blocks, single_codes
from counterfoil.marginals.scores import scores_of
from counterfoil.noise.scores import LARGEST_PENALTY
from sensitive_tables import records_of

DOMAIN = Domain(("a", "b", "c", "d"), (2, 3, 9, 4))
RNG = np.random.default_rng(0)
ROWS = [tuple(int(RNG.integers(0, size)) for size in DOMAIN.sizes) for _ in range(150)]
CLIQUES = [(name,) for name in DOMAIN.attributes] + list(itertools.combinations(DOMAIN.attributes, 2))
MERGED = Coarsening(DOMAIN, {name: np.arange(DOMAIN[name]) // 2 for name in DOMAIN.attributes})


@pytest.mark.parametrize(
    ("measured", "blocks"),
    [
        (DOMAIN, single_codes(identity(DOMAIN))),
        (MERGED.domain, single_codes(MERGED)),
        (DOMAIN, rank_blocks(identity(DOMAIN), {"c": np.ones(9)}, {"c": 8}, most=3)),
    ],
    ids=["fine", "merged", "in blocks"],
)
def test_scores_together_are_those_one_by_one(measured, blocks, monkeypatch):
    rng = np.random.default_rng(1)
    estimates = {clique: rng.uniform(0, 40, measured.shape(clique)) for clique in CLIQUES}
    weights = {clique: float(rng.uniform(0.1, 5)) for clique in CLIQUES}
    records = records_of(DOMAIN, ROWS)
    few = scores_of(estimates, weights, 3.0, blocks)
    monkeypatch.setattr(scores, "MANY_CANDIDATES", 1)
    many = scores_of(estimates, weights, 3.0, blocks)
    for places in (np.arange(len(CLIQUES)), np.array([0, 3, 7])):
        one, together = few.among(places), many.among(places)
        assert isinstance(together, WorstOfManyMarginals)
        np.testing.assert_allclose(together.exact(records), one.exact(records), rtol=1e-12)
        assert together.describe() == one.describe()


def test_errors_are_computed_once_for_all_choices_and_counts_for_all_rounds(monkeypatch):
    records = records_of(DOMAIN, ROWS)
    scans = []
    accumulate = records._engine.accumulate
    monkeypatch.setattr(records._engine, "accumulate", lambda *a: scans.append(a) or accumulate(*a))
    layout = Layout.of(DOMAIN, CLIQUES)
    size = int(layout.starts[-1])
    first, second = (StackedCounts(layout, np.full(size, value)) for value in (0, 2))
    assert records.distances(first).tolist() == [150] * len(CLIQUES)
    assert records.distances(first) is records.distances(first)
    expected = [int(np.abs(counts - 2).sum()) for counts in records_of(DOMAIN, ROWS).marginals(CLIQUES)]
    assert records.distances(second).tolist() == expected
    assert len(scans) == 1
    records.distances(StackedCounts(Layout.of(DOMAIN, CLIQUES), np.zeros(size, dtype=np.int64)))
    assert len(scans) == 2, "another layout may be of other cliques"


def test_counts_that_do_not_fit_are_counted_again():
    records = records_of(DOMAIN, ROWS)
    small = ExactRecords(records._engine, DOMAIN, cache_bytes=8)
    layout = Layout.of(DOMAIN, CLIQUES)
    estimate = StackedCounts(layout, np.zeros(int(layout.starts[-1]), dtype=np.int64))
    assert small.distances(estimate).tolist() == records.distances(estimate).tolist()
    assert small._counted is None


def test_an_estimate_on_another_domain_is_refused():
    layout = Layout.of(MERGED.domain, CLIQUES)
    estimate = StackedCounts(layout, np.zeros(int(layout.starts[-1]), dtype=np.int64))
    with pytest.raises(ValueError, match="on the domain of the records"):
        records_of(DOMAIN, ROWS).distances(estimate)


def test_what_would_break_the_sensitivity_is_refused():
    layout = Layout.of(DOMAIN, CLIQUES[:2])
    estimate, ones, both = StackedCounts(layout, np.zeros(5, dtype=np.int64)), np.ones(2), np.arange(2)
    assert WorstOfManyMarginals(estimate, ones, ones, both).describe() == {"candidates": 2, "largest_weight": 1.0}
    for weights, penalties, among in (
        (np.ones(3), ones, both),
        (ones, np.ones(1), both),
        (ones, np.array([0.0, LARGEST_PENALTY + 1.0]), both),
        (np.array([1.0, np.inf]), ones, both),
        (np.array([1.0, -1.0]), ones, both),
        (ones.astype(np.float32), ones, both),
        (ones, ones, both[:0]),
        (ones, ones, np.array([0, 2])),
        (ones, ones, np.array([-1, 0])),
        (ones, ones, np.array([1, 0])),
        (ones, ones, np.array([0, 0])),
        (ones, ones, both.astype(np.float64)),
    ):
        with pytest.raises(ValueError):
            WorstOfManyMarginals(estimate, weights, penalties, among)
    with pytest.raises(ValueError, match="10\\*\\*9"):
        WorstOfManyMarginals(StackedCounts(layout, np.full(5, 2**40)), ones, ones, both)
    with pytest.raises(ValueError, match="nobody can change"):
        WorstOfManyMarginals(np.zeros(5, dtype=np.int64), ones, ones, both)  # type: ignore[arg-type]


def test_a_weight_that_is_not_chosen_from_costs_nothing():
    layout = Layout.of(DOMAIN, CLIQUES[:2])
    estimate = StackedCounts(layout, np.zeros(5, dtype=np.int64))
    query = WorstOfManyMarginals(estimate, np.array([7.0, 2.0]), np.ones(2), np.array([1]))
    assert query.describe() == {"candidates": 1, "largest_weight": 2.0}


def test_an_estimate_cannot_be_changed_once_its_errors_are_kept():
    values = np.zeros(5, dtype=np.int64)
    estimate = StackedCounts(Layout.of(DOMAIN, CLIQUES[:2]), values)
    values[:] = 9
    assert not estimate.values.any()
    with pytest.raises(ValueError, match="read-only"):
        estimate.values[0] = 1
