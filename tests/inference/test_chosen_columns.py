"""Intervals about columns that were counted together because of what the records looked like."""

import math

import numpy as np
from scipy.stats import binom

from counterfoil.inference import mean, proportion
from counterfoil.inference.chosen_columns import chosen_among
from counterfoil.inference.pooled_marginal import pooled_marginals
from counterfoil.schema import Integer, Schema
from noisy_tables import GAUSSIAN, evidence_of, noisy_marginal

COLUMNS = 10
PAIRS = math.comb(COLUMNS, 2)
SCHEMA = Schema(tuple(Integer(f"x{number}", 0, 1) for number in range(COLUMNS)))
SAID = f"which of {PAIRS} pairs of columns it counted"
MANY, TRIALS, SHARE = 20_000, 400, 0.3


def says(found):
    return any(SAID in sentence for one in found for sentence in one.basis)


def test_shares_and_means_of_chosen_pairs_say_so():
    rng = np.random.default_rng(1)
    column = noisy_marginal(rng, ("x0",), np.array([600, 400]), GAUSSIAN, 3.0, 1)
    pair = noisy_marginal(rng, ("x0", "x1"), np.array([[300, 300], [200, 200]]), GAUSSIAN, 3.0, 3)
    for first_look, chosen in ((2, True), (3, False), (None, False)):
        release = evidence_of(SCHEMA, [column, pair], records=1000, first_look=first_look)
        assert says(proportion(release, "x0 == 1 and x1 == 1")) == chosen
        assert says(proportion(release, "x0 == 1", by="x1")) == chosen
        assert says(mean(release, "x0", by="x1")) == chosen
        assert not says(proportion(release, "x0 == 1"))
    (pooled,) = pooled_marginals(evidence_of(SCHEMA, [pair], records=1000, first_look=1).answers, ("x0", "x1"))
    assert chosen_among(evidence_of(SCHEMA, [pair], records=1000, first_look=1).answers, pooled) == PAIRS


def test_the_pair_that_looks_most_related_needs_as_small_a_probability_to_fail_as_is_said():
    """Of 45 independent pairs the one furthest from independence: 95% intervals hold in far fewer cases.

    Each assertion fails with probability at most 1e-6.
    """
    rng, held = np.random.default_rng(2), {0.95: 0, 1 - 0.05 / PAIRS: 0}
    truth = np.outer([1 - SHARE, SHARE], [1 - SHARE, SHARE])
    for _ in range(TRIALS):
        tables = rng.multinomial(MANY, truth.ravel(), size=PAIRS).reshape(PAIRS, 2, 2)
        expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True) / MANY
        worst = int(np.abs(tables - expected).sum(axis=(1, 2)).argmax())
        pair = noisy_marginal(rng, ("x0", "x1"), tables[worst], GAUSSIAN, 3.0, 3)
        release = evidence_of(SCHEMA, [pair], records=MANY, first_look=2)
        for level in held:
            (found,) = proportion(release, "x0 == 1 and x1 == 1", level=level)
            held[level] += found.lower <= SHARE**2 <= found.upper
    assert held[0.95] < binom.ppf(1e-6, TRIALS, 0.95)
    assert held[1 - 0.05 / PAIRS] >= binom.ppf(1e-6, TRIALS, 0.95)
