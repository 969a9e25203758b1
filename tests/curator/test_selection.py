"""Scores in floating point move by no more than the noise allows for: compared with exact fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.noise.scores import LARGEST_GAIN, LARGEST_PENALTY, gains_of
from counterfoil.noise.selection import ExponentialSelection

MOVED = {NeighboringRelation.ADD_OR_REMOVE_ONE: 1, NeighboringRelation.REPLACE_ONE: 2}


@dataclass(frozen=True)
class Errors:
    """Records whose marginals are as far from estimates of 0 as is wanted."""

    errors: tuple[int, ...]

    def marginals(self, cliques, coarsening=None) -> list[np.ndarray]:
        return [np.array([error, 0]) for error in self.errors]


def scores(weights, penalties, gains, errors) -> np.ndarray:
    cliques = tuple((f"a{i}",) for i in range(len(weights)))
    estimates = (np.zeros(2, dtype=np.int64),) * len(weights)
    of_gains = () if gains is None else np.array(gains).T.copy()
    query = WorstApproximatedMarginal(cliques, estimates, np.array(weights), np.array(penalties), None, *of_gains)
    return query.exact(Errors(tuple(errors)))  # type: ignore[arg-type]


def allowed(weights, relation, epsilon) -> Fraction:
    """The largest move of a score that Gumbel noise of the scale that is drawn hides at `epsilon`."""
    sensitivity = max(weights) * MOVED[relation]
    return Fraction(ExponentialSelection(epsilon).scale(sensitivity)) * Fraction(epsilon) / 2


def largest_move(weights, penalties, gains, errors, move) -> Fraction:
    """Exactly how far apart the floating-point scores of neighbors are, by candidate; the largest."""
    before = scores(weights, penalties, gains, errors)
    after = scores(weights, penalties, gains, [max(0, error + move) for error in errors])
    return max(abs(Fraction(one) - Fraction(other)) for one, other in zip(before, after, strict=True))


weights = st.one_of(
    st.floats(1e-3, 1e3),
    st.floats(5e-324, 1e100),
    st.sampled_from([5e-324, 2.0**-1022, 1e-100, 1 / 3, math.pi, math.nextafter(1, 2), 1e100]),
)
penalties = st.one_of(
    st.floats(0, LARGEST_PENALTY),
    st.sampled_from([0.0, 5e-324, 0.5, 1 / 3, 1e9 + 1 / 3, math.nextafter(LARGEST_PENALTY, 0), float(LARGEST_PENALTY)]),
)
of_gains = st.floats(0, LARGEST_GAIN) | st.sampled_from([0.0, 5e-324, 0.5, 1e8 + 1 / 3, float(LARGEST_GAIN)])
errors = st.one_of(st.integers(0, LARGEST_PENALTY + 10), st.integers(LARGEST_PENALTY - 5, LARGEST_PENALTY + 5))


@given(
    st.lists(st.tuples(weights, penalties, errors, st.tuples(of_gains, of_gains, of_gains)), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from(list(MOVED)),
    st.sampled_from([-1, 1]),
    st.floats(1e-6, 20),
)
@example(
    [(1 / 3, 1 / 3, LARGEST_PENALTY, (0.0, 0.0, 0.0)), (5e-324, 0.5, 1, (0.0, 0.0, 0.0))],
    False,
    NeighboringRelation.ADD_OR_REMOVE_ONE,
    -1,
    0.1,
)
@example(
    [(1e-100, 0.5, 1, (0.0, 0.0, 0.0)), (5e-324, 0.5, 2, (0.0, 0.0, 0.0))],
    False,
    NeighboringRelation.REPLACE_ONE,
    1,
    1.0,
)
@example([(1e100, LARGEST_PENALTY - 0.3, 3, (0.0, 0.0, 0.0))], False, NeighboringRelation.REPLACE_ONE, 1, 1.0)
@example([(1.0, 2e9, 4 * 10**8 - 1, (1e8 + 1 / 3, 7.3, 1e8 / 3))], True, NeighboringRelation.ADD_OR_REMOVE_ONE, 1, 1.0)
def test_neighbors_scores_differ_by_no_more_than_the_noise_hides(candidates, with_gains, relation, sign, epsilon):
    drawn, offsets, found, gains = (list(column) for column in zip(*candidates, strict=True))
    if max(drawn) < 1e-100:
        drawn.append(1.0)
        offsets.append(0.0)
        found.append(0)
        gains.append((0.0, 0.0, 0.0))
    move = largest_move(drawn, offsets, gains if with_gains else None, found, sign * MOVED[relation])
    assert move <= allowed(drawn, relation, epsilon)


@given(st.integers(0, LARGEST_GAIN), of_gains)
@example(LARGEST_GAIN, float(LARGEST_GAIN))
@example(0, 0.0)
def test_a_gain_is_rounded_as_little_as_the_noise_allows_for(error, noise):
    """The second half of the derivation at `_SCORE_ROUNDING`, against forty more digits."""
    getcontext().prec = 60
    e, q = Decimal(error), Decimal(noise)
    exact = e - e * q / (e * e + q * q).sqrt() if error or noise else Decimal(0)
    found = float(gains_of(np.array([float(error)]), np.array([noise]))[0])
    assert abs(Decimal(found) - exact) <= 6 * Decimal(2) ** -53 * e
    assert max(error - noise, 0.0) - 1e-6 <= found <= error


def test_a_gain_is_what_a_posterior_mean_takes_off_an_error():
    """Deviations with the variance v and noise with the variance s leave v s / (v + s): simulated, 2 million cells.

    Mean absolute values then have standard errors of about .0005; .005 is ten of them.
    """
    rng = np.random.default_rng(3)
    for spread in (0.5, 1.0, 3.0):
        cells = rng.normal(0, spread, 2_000_000)
        measured = cells + rng.normal(0, 1, len(cells))
        left = np.abs(cells - measured * spread**2 / (spread**2 + 1)).mean()
        error, noise = (math.sqrt(2 / math.pi) * deviation for deviation in (spread, 1.0))
        assert error - gains_of(np.array([error]), np.array([noise]))[0] == pytest.approx(left, abs=0.005)


def test_the_worst_of_many_comes_near_what_is_proved():
    """Random scores at the bound are off by an eighth of what is allowed, and never by more than 8.9e-7."""
    rng = np.random.default_rng(0)
    worst = Fraction(0)
    for _ in range(200):
        drawn, offsets = rng.uniform(0.5, 1, 20), rng.uniform(0, 1, 20)
        found = rng.integers(LARGEST_PENALTY - 1000, LARGEST_PENALTY, 20).tolist()
        drawn[0] = 1.0
        before, after = (
            scores(drawn, offsets, None, found),
            scores(drawn, offsets, None, [error + 1 for error in found]),
        )
        exact = (Fraction(w) for w in drawn)
        off = (abs(Fraction(b) - Fraction(a) - w) for a, b, w in zip(before, after, exact, strict=True))
        worst = max(worst, *off)
    assert 1.2e-7 < worst < 8.9e-7


def test_beyond_the_bound_rounding_would_show():
    """What the bound is for: a penalty of 1e16 was accepted, and one record moved the score by twice its claim."""
    assert (2 - 1e16) - (1 - 1e16) == 2.0
    with pytest.raises(ValueError, match="scores are rounded too much beyond"):
        scores([1.0], [1e16], None, [0])


def test_errors_of_tables_beyond_a_billion_records_count_as_the_largest():
    assert scores([2.0], [5.0], None, [10**12]).tolist() == [2.0 * (LARGEST_PENALTY - 5)]
