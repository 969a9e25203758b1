"""Bounds on marginals from those within them: against exact worst cases, and against all tables of a small domain."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import implied_bound
from counterfoil.graphical_model.error_bars import NONE_STATED, UNBOUNDED, ErrorBars, NoisyBound
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.implied_bound import _fraction, implied_bar

CUBE = Domain(("a", "b", "c"), (2, 2, 2))
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


def model_of(domain: Domain, shares: np.ndarray, total: float = 1000.0) -> GraphicalModel:
    with np.errstate(divide="ignore"):
        return GraphicalModel(domain, {domain.attributes: np.log(shares)}, total)


def exact_pairs(total: float = 1000.0, known: list[tuple[str, str]] = PAIRS) -> ErrorBars:
    """Bounds that say: each of these pairs is exactly the model's."""
    bound = NoisyBound(noisy_distance=-1.0, scale=1e-12, drift=0.0)
    return ErrorBars(CUBE, dict.fromkeys(known, (bound,)), total, total, 0.0)


def test_independent_columns_can_be_as_far_off_as_a_parity_and_no_farther() -> None:
    bar = implied_bar(exact_pairs(), model_of(CUBE, np.full((2, 2, 2), 1 / 8)), "abc", 0.05)
    assert bar.fraction == pytest.approx(1.0, abs=1e-4)
    assert bar.records == pytest.approx(1000.0, rel=1e-3)
    assert "a and b" in bar.source


def test_columns_that_determine_each_other_are_bounded_tightly() -> None:
    shares = np.zeros((2, 2, 2))
    shares[0, 0, 0], shares[1, 1, 1] = 0.3, 0.7
    assert implied_bar(exact_pairs(), model_of(CUBE, shares), "abc", 0.05).fraction < 1e-3


def test_one_known_pair_still_bounds_its_triple() -> None:
    shares = np.zeros((2, 2, 2))
    shares[0, 0, 0] = 1.0
    single = NoisyBound(noisy_distance=-1.0, scale=1e-12, drift=0.0)
    bars = ErrorBars(CUBE, {("a", "b"): (single,), ("c",): (single,)}, 1000.0, 1000.0, 0.0)
    assert implied_bar(bars, model_of(CUBE, shares), "abc", 0.05).fraction < 1e-3


def test_what_is_bounded_by_itself_keeps_its_bound_and_what_nothing_bounds_stays_unknown() -> None:
    model = model_of(CUBE, np.full((2, 2, 2), 1 / 8))
    bars = exact_pairs()
    assert implied_bar(bars, model, "ab", 0.05) == bars.raised(bars.bar("ab", 0.05))
    nothing = ErrorBars(CUBE, {}, 1000.0, 1000.0, 0.0)
    assert implied_bar(nothing, model, "abc", 0.05).fraction == 2.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.4))
def test_no_table_with_close_pairs_is_farther_than_the_bound(seed: int, mixed: float) -> None:
    """Real shares are drawn at random, and moved along the directions that pairs do not see as far as they can go."""
    rng = np.random.default_rng(seed)
    model_shares = rng.dirichlet(np.full(8, 0.5)).reshape(2, 2, 2)
    parity = np.array([(-1.0) ** sum(cell) for cell in itertools.product(range(2), repeat=3)]).reshape(2, 2, 2)
    blended = (1 - mixed) * model_shares + mixed * rng.dirichlet(np.ones(8)).reshape(2, 2, 2)
    for sign in (1, -1):
        room = np.where(sign * parity < 0, blended, np.inf).min()
        real = blended + sign * parity * room
        known = [(pair, float(np.abs(_pair(real, pair) - _pair(model_shares, pair)).sum())) for pair in PAIRS]
        bound = _fraction(model_of(CUBE, np.maximum(model_shares, 1e-300)), CUBE.attributes, known)
        assert np.abs(real - model_shares).sum() <= bound + 1e-6


def _pair(shares: np.ndarray, pair: tuple[str, str]) -> np.ndarray:
    return shares.sum(axis=next(axis for axis, name in enumerate("abc") if name not in pair))


def test_users_are_shown_no_pair_below_its_columns() -> None:
    quiet, loud = NoisyBound(10.0, 5.0, 0.0), NoisyBound(90.0, 5.0, 0.0)
    bars = ErrorBars(CUBE, {("a",): (loud, loud), ("a", "b"): (quiet, quiet), ("b",): (quiet,)}, 1000.0, 1000.0, 0.0)
    model = model_of(CUBE, np.full((2, 2, 2), 1 / 8))
    alone = implied_bar(bars, model, "a", 0.05)
    assert alone == bars.bar("a", 0.05)
    assert bars.bar("ab", 0.05).fraction < alone.fraction == implied_bar(bars, model, "ab", 0.05).fraction


def test_pairs_that_were_counted_too_coarsely_are_named_rather_than_said_not_to_be_there() -> None:
    model = model_of(CUBE, np.full((2, 2, 2), 1 / 8))
    vague = NoisyBound(noisy_distance=5000.0, scale=1.0, drift=0.0)
    bars = ErrorBars(CUBE, dict.fromkeys(PAIRS, (vague,)), 1000.0, 1000.0, 0.0)
    bar = implied_bar(bars, model, "abc", 0.05)
    assert bar.fraction == 2.0
    assert bar.source == "the bounds on a and b; a and c; b and c, which leave any difference possible"
    others = ErrorBars(CUBE, {("a",): (vague,)}, 1000.0, 1000.0, 0.0)
    assert others.bar("b", 0.05).source == UNBOUNDED
    assert implied_bar(ErrorBars(CUBE, {}, 1000.0, 1000.0, 0.0), model, "abc", 0.05).source == NONE_STATED


def test_the_number_of_records_is_as_unsure_as_its_noise_is() -> None:
    normal = replace(exact_pairs(), total_error=3.0)
    laplace = replace(normal, laplace=True)
    for beta in (0.05, 1e-3, 1e-6):
        assert normal.counting_error(beta) == pytest.approx(3 * math.sqrt(2 * math.log(2 / beta)))
        exact = 3 * math.log(1 / beta) / math.sqrt(2)
        assert exact <= laplace.counting_error(beta) <= 2.5 * exact, "two-sided tail of one Laplace variable"
    assert exact_pairs().counting_error(1e-6) == 0
    model = model_of(CUBE, np.full((2, 2, 2), 1 / 8))
    bars = [implied_bar(one, model, CUBE.attributes, 1e-6) for one in (normal, laplace)]
    assert bars[0].records < bars[1].records


def test_a_triple_with_too_many_cells_for_a_program_is_bounded_by_its_pairs_too() -> None:
    domain = Domain(("a", "b", "c"), (30, 30, 30))
    shares = np.full((30, 30, 30), 0.02 / 27_000)
    shares[0, 0, 0] += 0.98
    bound = NoisyBound(noisy_distance=-1.0, scale=1e-12, drift=0.0)
    bars = ErrorBars(domain, dict.fromkeys(PAIRS, (bound,)), 1000.0, 1000.0, 0.0)
    bar = implied_bar(bars, model_of(domain, shares), "abc", 0.05)
    assert bar.fraction < 0.1
    assert "a and b" in bar.source


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.3))
@settings(max_examples=30, deadline=None)
def test_the_bound_from_one_pair_after_the_other_is_never_below_the_program(seed: int, error: float) -> None:
    model = model_of(CUBE, np.random.default_rng(seed).dirichlet(np.full(8, 0.5)).reshape(2, 2, 2) + 1e-12)
    known = [(pair, error) for pair in PAIRS]
    by_program = _fraction(model, CUBE.attributes, known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implied_bound, "MOST_CELLS", 0)
        assert _fraction(model, CUBE.attributes, known) >= by_program - 1e-5
