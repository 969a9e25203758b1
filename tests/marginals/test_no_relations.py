"""What is said where no relation between columns can be distinguished from noise, and what would help."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import counterfoil
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.no_relations import Plan, epsilon_to_tell, independence, no_relations, with_others
from counterfoil.schema import Categorical, Schema

NAMES = ("a", "b", "c", "d", "e", "f")
PLAN = Plan(GaussianFilter(), Budget(1.0, 1e-6), deviation=30.0)


def halves(rng: np.random.Generator, n: int, strength: float, scale: float) -> np.ndarray:
    """Noisy counts [2, 2] of two columns of even halves."""
    shares = (1 + strength * np.array([1, -1, -1, 1])) / 4
    return (rng.multinomial(n, shares) + rng.normal(0, scale, 4)).reshape(2, 2)


def pair(names: tuple[str, str], counts: np.ndarray, scale: float) -> NoisyMarginal:
    return NoisyMarginal(names, counts, scale)


@pytest.mark.parametrize(
    ("records", "shape", "deviation"),
    [(400, (2, 2), 20.0), (5000, (8, 8), 60.0), (2000, (20, 3), 45.0), (300, (5, 5), 5.0), (400, (2, 2), 153.0)],
    ids=str,
)
def test_independent_columns_of_uneven_shares_are_seldom_told(records, shape, deviation):
    """At most 5% of 1,000 tables at 5%, and 5 standard deviations: wrong with probability below 1e-6. Fixed seeds."""
    rng, below = np.random.default_rng(7), 0
    for _ in range(1000):
        shares = np.outer(*(rng.dirichlet(np.ones(size)) for size in shape))
        counts = rng.multinomial(records, shares.ravel()).reshape(shape) + rng.normal(0, deviation, shape)
        below += independence(counts, deviation**2) < 0.05
    assert below <= 50 + 5 * np.sqrt(1000 * 0.05 * 0.95)


@pytest.mark.parametrize(
    ("records", "shape", "deviation"), [(2000, (2, 20), 15.0), (2000, (6, 8), 15.0), (300, (3, 6), 3.0)], ids=str
)
def test_laplace_noise_tells_no_more_relations_than_normal_noise(records, shape, deviation):
    """2,000 tables: of the p-values of independent columns 5% are expected below .05, and 1% at most below .005,
    and 3 to 4% without the excess. More than 150 and 48 have probability below 1e-6 without the fixed seed."""
    rng, below = np.random.default_rng(11), np.zeros(4)
    for _ in range(2000):
        shares = np.outer(*(rng.dirichlet(np.ones(size)) for size in shape))
        noise = rng.laplace(0, deviation / math.sqrt(2), shape)
        counts = rng.multinomial(records, shares.ravel()).reshape(shape) + noise
        with_excess, without = (independence(counts, deviation**2, excess) for excess in (3.0, 0.0))
        below += [with_excess < 0.05, with_excess < 0.005, without < 0.05, without < 0.005]
    assert below[0] <= 150
    assert below[1] <= 48
    assert below[3] > 48, "the twin that takes Laplace noise for normal noise is caught"


@pytest.mark.parametrize("shape", [(2, 2), (4, 3)])
def test_unrelated_columns_are_rarely_called_related(shape):
    """4,000 tables of which .01 are expected below .01. Were it .015, more than 100 would have probability 7e-7
    without the fixed seed; the sum of weighted terms is only nearly chi-squared."""
    rng = np.random.default_rng(0)
    shares = np.outer(*(rng.dirichlet(np.full(size, 5.0)) for size in shape))
    below = 0
    for _ in range(4000):
        counts = rng.multinomial(500, shares.ravel()).reshape(shape) + rng.normal(0, 10, shape)
        below += independence(counts, 100.0) < 0.01
    assert below <= 100


def test_a_pair_that_is_related_is_told():
    rng = np.random.default_rng(1)
    assert independence(halves(rng, 1000, 0.5, 10.0), 100.0) < 1e-6


def test_nothing_is_said_where_relations_stand_out():
    rng = np.random.default_rng(2)
    pairs = [
        pair((one, other), halves(rng, 1000, 0.6, 10.0), 10.0)
        for one, other in zip(NAMES[::2], NAMES[1::2], strict=True)
    ]
    columns = [NoisyMarginal((name,), np.array([500.0, 500.0]), 10.0) for name in NAMES]
    assert no_relations(NAMES, [*columns, *pairs], 1000.0, PLAN) == ()
    assert no_relations(NAMES[:1], columns[:1], 1000.0, PLAN) == ()


def test_that_no_pair_was_counted_or_none_stands_out_is_said():
    (none,) = no_relations(NAMES, [], 1000.0, PLAN)
    assert none.startswith("No pair of columns (none was worth its noise, so that none was counted) shows a relation")
    rng = np.random.default_rng(3)
    noise = [pair((one, other), halves(rng, 1000, 0.0, 30.0), 30.0) for one, other in pairwise(NAMES)]
    (said,) = no_relations(NAMES, noise, 300.0, PLAN)
    assert said.startswith("No pair of columns (of 5 counted together) shows a relation that could be distinguished ")
    assert "Fewer columns, or `--focus COLUMN` for the relations of one column, would help" in said
    related = pair(("a", "b"), halves(rng, 1000, 0.6, 10.0), 10.0)
    (few,) = no_relations(NAMES, [*noise, related], 1000.0, PLAN)
    assert few.startswith(
        "Only 1 relation between columns could be distinguished from noise (a with b): the other 4 of 6 columns"
    )


def test_a_larger_table_tells_its_pairs():
    """A relation that a table of three columns holds is found within it, by its sums."""
    rng = np.random.default_rng(4)
    counts = np.stack([halves(rng, 1000, 0.6, 0.0) / 2] * 2, axis=2) + rng.normal(0, 5, (2, 2, 2))
    assert no_relations(("a", "b", "c"), [NoisyMarginal(("a", "b", "c"), counts, 5.0)], 1000.0, PLAN) == ()


@pytest.mark.parametrize("n", [300, 1000, 10_000])
def test_at_the_epsilon_that_is_named_relations_of_medium_strength_are_told(n):
    """84% in expectation, by a normal approximation; fewer than 70% of 1,000 would have a probability below 1e-20."""
    pairs = 20
    epsilon = epsilon_to_tell(pairs, float(n), PLAN)
    assert epsilon is not None
    rule = PLAN.rule
    scale = PLAN.deviation * math.sqrt(rule.divisible(PLAN.budget) / rule.divisible(Budget(epsilon, 1e-6)))
    rng = np.random.default_rng(5)
    told = [independence(halves(rng, n, 0.3, scale), scale**2) < 0.05 / pairs for _ in range(1000)]
    assert 0.7 <= np.mean(told) <= 0.95


def test_no_epsilon_is_named_where_none_would_do():
    assert epsilon_to_tell(20, 100.0, PLAN) is None
    (said,) = no_relations(NAMES, [], 50.0, PLAN)
    assert said.endswith("and more rows; no epsilon up to 100 would do alone.")
    (weaker,) = no_relations(NAMES, [], 1e6, PLAN)
    assert "This budget is enough for relations of medium strength" in weaker


@pytest.mark.parametrize("method", ["aim", "mst"])
def test_a_release_warns_where_its_budget_is_too_small_for_its_relations(method):
    rng = np.random.default_rng(6)
    first = rng.integers(0, 2, 400)
    cells = {name: np.where(rng.random(400) < 0.1, 1 - first, first).astype(str) for name in NAMES}
    schema = Schema(tuple(Categorical(name, ("0", "1")) for name in NAMES))

    def warned(epsilon: float) -> bool:
        made = counterfoil.synthesize(pa.table(cells), schema, epsilon=epsilon, delta=1e-6, method=method, seed=0)
        return any("could be distinguished from noise" in line for line in made.receipt.document["warnings"])

    assert warned(0.1)
    assert not warned(5.0)


def test_the_largest_of_many_differences_by_chance_is_not_called_a_relation():
    """The one pair of twelve columns that was measured is the most related of all, by chance: at 5% of one pair alone
    nearly each of 400 tables would name it, and 5% do when all 66 count, 44 at most but for a probability of 5e-7."""
    rng, named = np.random.default_rng(3), 0
    columns = tuple("abcdefghijkl")
    for _ in range(400):
        tables = [halves(rng, 1000, 0.0, 5.0) for _ in range(math.comb(len(columns), 2))]
        worst = min(tables, key=lambda counts: independence(counts, 25.0))
        (said,) = no_relations(columns, [pair(("a", "b"), worst, 5.0)], 1000.0, PLAN)
        named += said.startswith("Only")
    assert 0 < named <= 44


def test_a_look_at_all_pairs_does_not_stand_for_what_was_measured_well():
    """Ten values of each column, of which the look counts two blocks, with noise as large as the table."""
    rng = np.random.default_rng(3)
    measured = [pair(("a", "b"), 1000.0 * np.eye(10) + rng.normal(0, 5, (10, 10)), 5.0)]
    look = [pair(names, rng.normal(2500, 1000, (2, 2)), 1000.0) for names in (("a", "b"), ("b", "c"), ("a", "c"))]
    assert not no_relations(("a", "b"), with_others(measured, look), 10_000.0, PLAN)
    assert [one.clique for one in with_others(measured, look)] == [("a", "b"), ("b", "c"), ("a", "c")]
