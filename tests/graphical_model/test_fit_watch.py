"""A watch ends a fit with the best model so far, whose gap is certified."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.fit_watch import FitWatch
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.outcome import Status
from counterfoil.graphical_model.warm_estimator import WarmEstimator

DOMAIN = Domain(("a", "b", "c"), (4, 5, 3))
SCALE = 3.0


def measurements() -> list[NoisyMarginal]:
    rng = np.random.default_rng(5)
    table = rng.gamma(0.3, 40, (4, 5, 3))
    return [
        NoisyMarginal(clique, table.sum(axis) + rng.normal(0, SCALE, shape), SCALE)
        for clique, axis, shape in ((("a", "b"), 2, (4, 5)), (("b", "c"), 0, (5, 3)), (("a", "c"), 1, (4, 3)))
    ]


class Until(FitWatch):
    """Ends each fit after so many evaluations."""

    def __init__(self, most: int) -> None:
        self.most, self.gaps, self.heard = most, [], []

    def begins(self, goal: float) -> None:
        self.heard.append(("begins", goal))

    def may_go_on(self, evaluations: int, relative_gap: float) -> bool:
        self.gaps.append(relative_gap)
        return evaluations < self.most

    def ends(self, evaluations: int, *, stopped: bool) -> None:
        self.heard.append((evaluations, stopped))


@pytest.mark.parametrize("most", [1, 2, 5, 9])
def test_the_gap_of_a_fit_that_is_ended_bounds_how_far_its_marginals_are_from_the_best(most):
    """Oracle: the same fit to the last digits, whose marginals are within sqrt(2 gap) deviations of the noise."""
    best = estimate(DOMAIN, measurements(), total=200.0, relative_gap=1e-12)
    watch = Until(most)
    ended = estimate(DOMAIN, measurements(), total=200.0, relative_gap=1e-12, watch=watch)
    assert ended.outcome.status is Status.TIME
    assert ended.outcome.relative_gap == min(watch.gaps)
    assert watch.heard == [("begins", 1e-12), (ended.outcome.evaluations, True)]
    apart = sum(
        float(np.sum((ended.model.marginal(one.clique) - best.model.marginal(one.clique)) ** 2)) / (2 * SCALE**2)
        for one in measurements()
    )
    assert 0 < apart <= ended.outcome.gap * (1 + 1e-6)
    (sentence,) = ended.outcome.warnings()
    assert "The time limit ended the fit" in sentence
    assert ended.outcome.to_json()["status"] == "time"


def test_it_ends_where_it_is_told_and_asks_before_each_step():
    watch = Until(7)
    ended = estimate(DOMAIN, measurements(), total=200.0, relative_gap=1e-12, watch=watch)
    assert 7 <= ended.outcome.evaluations < 7 + 30
    assert watch.gaps == sorted(watch.gaps, reverse=True), "the smallest so far"


def test_a_watch_that_lets_it_go_on_changes_nothing():
    alone = estimate(DOMAIN, measurements(), total=200.0)
    watched = estimate(DOMAIN, measurements(), total=200.0, watch=(watch := Until(10**6)))
    assert watched.outcome == alone.outcome
    assert watch.heard[-1] == (alone.outcome.evaluations, False)
    for clique in (("a", "b"), ("b", "c")):
        assert watched.model.marginal(clique).tobytes() == alone.model.marginal(clique).tobytes()


def test_an_estimator_has_each_of_its_fits_watched():
    estimator = WarmEstimator(DOMAIN, {}, None, watch=(watch := Until(1)))
    estimator.fit(measurements()[:1], relative_gap=1e-9)
    estimator.fit(measurements()[1:], relative_gap=1e-9)
    assert watch.heard == [("begins", 1e-9), (1, True), ("begins", 1e-9), (1, True)]
