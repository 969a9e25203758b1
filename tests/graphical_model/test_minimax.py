"""The closest table, by brute force and by linear programming, each against the other and against a plain search."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model.minimax import (
    MOST_TABLES,
    closest_table,
    closest_weights,
    largest_distance,
    require_enumerable,
    require_few_tables,
)
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.methods.direct import Direct, Estimator
from counterfoil.theory.direct import measured_gap, n_marginals, sigma
from sensitive_tables import frame_of, schema_of

PAIR = Domain(("a", "b"), (2, 3))
BITS = Domain(("a", "b", "c"), (2, 2, 2))


def noisy(domain: Domain, rows: list, order: int, scale: float, rng: np.random.Generator) -> list[NoisyMarginal]:
    found = []
    for clique in Workload.up_to_order(domain, order).weights:
        counts = np.zeros(domain.shape(clique))
        for row in rows:
            counts[tuple(row[axis] for axis in domain.axes(clique))] += 1
        found.append(NoisyMarginal(clique, counts + scale * rng.normal(size=counts.shape), scale))
    return found


def distance(domain: Domain, rows: tuple, measurements: list[NoisyMarginal]) -> float:
    """The largest L1 distance of a table, row by row."""
    largest = 0.0
    for measured in measurements:
        left = measured.counts.copy()
        for row in rows:
            left[tuple(row[axis] for axis in domain.axes(measured.clique))] -= 1
        largest = max(largest, float(np.abs(left).sum()))
    return largest


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([PAIR, BITS]), st.integers(1, 2))
def test_no_table_is_closer_and_weights_are_never_farther(seed, n, domain, order):
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*map(range, domain.sizes)))
    rows = [cells[i] for i in rng.integers(0, len(cells), n)]
    measurements = noisy(domain, rows, order, 1.3, rng)
    table = closest_table(domain, measurements, rows=n, zeros={})
    tried = min(distance(domain, other, measurements) for other in itertools.combinations_with_replacement(cells, n))
    assert largest_distance(table, measurements) == pytest.approx(tried, abs=1e-6)
    weights = closest_weights(domain, measurements, total=float(n), zeros={})
    assert largest_distance(weights, measurements) <= tried + 1e-6
    assert weights.total == pytest.approx(n)
    # Weak duality by another route: no mixture of tables does better than the weights.
    mixture = rng.dirichlet(np.full(len(cells), 0.3), size=200) * n
    for one in mixture:
        spread = max(
            np.abs(
                measured.counts
                - one.reshape(domain.sizes).sum(
                    axis=tuple(i for i in range(len(domain.sizes)) if i not in domain.axes(measured.clique))
                )
            ).sum()
            for measured in measurements
        )
        assert largest_distance(weights, measurements) <= spread + 1e-6


def test_without_noise_the_table_comes_back():
    rows = [(0, 1, 1), (1, 1, 0), (1, 1, 0), (0, 0, 1)]
    measurements = noisy(BITS, rows, 3, 0.0 + 1e-12, np.random.default_rng(0))
    for model in (
        closest_table(BITS, measurements, rows=4, zeros={}),
        closest_weights(BITS, measurements, total=4.0, zeros={}),
    ):
        assert model.marginal("abc") == pytest.approx(measurements[-1].counts, abs=1e-6)


def test_impossible_cells_stay_empty():
    zeros = {("a", "b"): np.array([[True, False, False], [False, False, True]])}
    measurements = noisy(PAIR, [(0, 0), (0, 0), (1, 2), (1, 2)], 2, 0.1, np.random.default_rng(0))
    for model in (
        closest_table(PAIR, measurements, rows=4, zeros=zeros),
        closest_weights(PAIR, measurements, total=4.0, zeros=zeros),
    ):
        assert model.marginal("ab")[zeros["a", "b"]].sum() == 0
        assert model.total == pytest.approx(4)


def test_every_table_is_tried_once():
    """With one measurement per cell and enormous spread, each of the 56 tables is closest to itself."""
    for counts in itertools.product(range(4), repeat=6):
        if sum(counts) == 3:
            target = NoisyMarginal(("a", "b"), np.array(counts, dtype=float).reshape(2, 3), 1.0)
            assert closest_table(PAIR, [target], rows=3, zeros={}).marginal("ab") == pytest.approx(target.counts)


def test_what_is_too_large_is_refused():
    with pytest.raises(ValueError, match=r"20,000 cells, too many to list them \(10,000 at most\)"):
        require_enumerable(Domain(("a", "b"), (200, 100)))
    require_few_tables(BITS, 8, {})
    with pytest.raises(ValueError, match=r"too many tables of as many rows on 8 cells to try each") as refused:
        require_few_tables(BITS, 50, {})
    assert "50" not in str(refused.value).replace(f"{MOST_TABLES:,}", ""), "how many rows there are may be private"


# Gen_{d, sigma}, from a table to a release


ROWS = [(0, 0, 0), (0, 1, 1), (1, 1, 1), (1, 1, 1), (0, 0, 1), (1, 0, 0)]


def gen(estimator: str, budget: Budget, seed: int | None, order: int = 2, relation: str = "replace_one"):
    with Curator(frame_of(BITS, ROWS), schema_of(BITS), budget=budget, relation=relation, seed=seed) as curator:
        return Direct(Workload.up_to_order(BITS, order), estimator=estimator).synthesize(curator)


def test_the_noise_is_that_of_the_exact_number_of_marginals():
    budget = Budget(1.0, 1e-5)
    made = gen("brute_force", budget, None)
    (charge,) = made.receipt.document["charges"]
    assert charge["sensitivity"] == pytest.approx(math.sqrt(2 * n_marginals(3, 2)))
    # Discrete noise has 2.25 in variance above what is charged for; the rest is rounding towards privacy.
    expected = math.hypot(sigma(3, 2, epsilon=1.0, delta=1e-5), 1.5)
    assert charge["noise"]["scale"] == pytest.approx(expected, rel=1e-5)
    assert made.receipt.verify().holds


@pytest.mark.parametrize("estimator", ["brute_force", "minimax"])
def test_a_large_budget_gives_every_marginal_back(estimator):
    made = gen(estimator, Budget(1e5), seed=1)
    for clique in Workload.up_to_order(BITS, 2).weights:
        exact = np.zeros(BITS.shape(clique))
        for row in ROWS:
            exact[tuple(row[axis] for axis in BITS.axes(clique))] += 1
        assert made.marginal(clique) == pytest.approx(exact, abs=1e-3)
    assert made.rows == len(ROWS)


@pytest.mark.parametrize("estimator", ["brute_force", "minimax"])
def test_the_gap_that_was_known_beforehand_holds(estimator):
    """Lemma 3.4. False alarm: failures are at most Binomial(runs, 0.05); the limit is its 1e-7 quantile."""
    runs, failures, tight = 40, 0, 0.0
    for seed in range(runs):
        made = gen(estimator, Budget(2.0, 0.01), seed=seed)
        stated = made.receipt.document["method"]["parameters"]["gap"]
        found = 0.0
        for clique in Workload.up_to_order(BITS, 2).weights:
            exact = np.zeros(BITS.shape(clique))
            for row in ROWS:
                exact[tuple(row[axis] for axis in BITS.axes(clique))] += 1
            found = max(found, float(np.abs(made.marginal(clique) - exact).sum()))
        failures += found > stated["records"]
        tight = max(tight, found / stated["records"])
    assert failures <= binom.isf(1e-7, runs, 0.05)
    assert tight > 0.1
    cells = [math.prod(BITS.shape(clique)) for clique in Workload.up_to_order(BITS, 2).weights]
    scale = made.receipt.document["charges"][0]["noise"]["scale"]
    assert stated["records"] == measured_gap(cells, noise=scale, failure_probability=0.05, rows=6).value


def test_error_bars_of_the_closest_table_hold():
    """Each of 30 releases, three pairs each at once. False alarm as above."""
    failures = 0
    for seed in range(30):
        made = gen("minimax", Budget(1.0, 0.01), seed=seed)
        for clique in itertools.combinations("abc", 2):
            exact = np.zeros((2, 2))
            for row in ROWS:
                exact[tuple(row["abc".index(name)] for name in clique)] += 1
            failures += np.abs(made.marginal(clique) - exact).sum() > made.error_bar(clique, 0.05).records
    assert failures <= binom.isf(1e-7, 90, 0.05)


def test_the_number_of_rows_is_private_under_add_or_remove():
    made = gen("minimax", Budget(1.0, 1e-5), seed=3, relation="add_or_remove_one")
    assert "gap" not in made.receipt.document["method"]["parameters"]
    with pytest.raises(ValueError, match="n must be public"):
        gen("brute_force", Budget(1.0, 1e-5), seed=3, relation="add_or_remove_one")


def test_estimators_are_named():
    assert Direct(2, estimator="minimax").estimator is Estimator.MINIMAX
    with pytest.raises(ValueError, match="guess"):
        Direct(2, estimator="guess")


def test_all_orders_up_to_one():
    assert len(Workload.up_to_order(BITS, 3).weights) == n_marginals(3, 3)
    for order in (0, 4, 1.5):
        with pytest.raises(ValueError, match="`order` must be 1 to 3"):
            Workload.up_to_order(BITS, order)
