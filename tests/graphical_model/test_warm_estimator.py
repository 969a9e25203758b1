"""The model that is refitted as measurements come in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import warm_estimator as fitting
from counterfoil.graphical_model.entropy_weight import entropy_weight_for
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator

PAIR = Domain(("a", "b"), (2, 3))
A = NoisyMarginal(("a",), np.array([600.0, 400.0]), 2.0)
B = NoisyMarginal(("b",), np.array([100.0, 300.0, 590.0]), 2.0)
AB = NoisyMarginal(("a", "b"), np.array([[90.0, 200.0, 310.0], [10.0, 100.0, 290.0]]), 2.0)


def test_refitting_is_fitting_everything_at_once():
    estimator = WarmEstimator(PAIR, {}, None)
    estimator.fit([A, B])
    again = estimator.fit([AB], relative_gap=1e-8)
    total = estimator.counted
    weight = entropy_weight_for(total, [A, B, AB])
    once = estimate(PAIR, [A, B, AB], total=total, entropy_weight=weight, relative_gap=1e-8).model
    assert again.marginal(("a", "b")) == pytest.approx(once.marginal(("a", "b")), abs=0.05)
    assert estimator.model is again


def test_repeated_marginals_are_one():
    estimator = WarmEstimator(PAIR, {}, None)
    estimator.fit([A, A, B])
    assert sorted(marginal.clique for marginal in estimator.measurements) == [("a",), ("b",)]
    assert estimator.measurements[0].scale == pytest.approx(2 / np.sqrt(2))


def test_the_number_of_records_is_estimated_or_public():
    estimator = WarmEstimator(PAIR, {}, None)
    model = estimator.fit([A, B])
    # 1000 with variance 2 * 4 and 990 with variance 3 * 4.
    assert estimator.counted == model.total == pytest.approx((1000 / 8 + 990 / 12) / (1 / 8 + 1 / 12))
    assert estimator.total_error == pytest.approx((1 / 8 + 1 / 12) ** -0.5)
    public = WarmEstimator(PAIR, {}, 1003.0)
    assert public.fit([A, B]).total == public.counted == 1003.0
    assert public.total_error == 0.0


@pytest.mark.parametrize("public", [None, 0.0])
def test_a_model_has_at_least_one_record(public):
    estimator = WarmEstimator(PAIR, {}, public)
    assert estimator.fit([NoisyMarginal(("a",), np.array([-5.0, 2.0]), 3.0)]).total == 1.0
    assert estimator.counted == pytest.approx(-3.0 if public is None else 0.0)


@pytest.mark.parametrize(("total", "weight"), [(1e6, 100.0), (10_000.0, 50.0), (400.0, 10.0), (1.0, 1.0)])
def test_the_entropy_weighs_less_on_small_tables(monkeypatch, total, weight):
    seen = []
    monkeypatch.setattr(
        fitting, "estimate", lambda *args, **keywords: seen.append(keywords) or estimate(*args, **keywords)
    )
    noisy = replace(A, scale=1e6)
    WarmEstimator(PAIR, {}, total).fit([noisy])
    WarmEstimator(PAIR, {}, total, entropy_weight=3.0).fit([noisy])
    assert [one["entropy_weight"] for one in seen] == [weight, 3.0]


def test_each_fit_starts_from_the_last(monkeypatch):
    seen = []
    monkeypatch.setattr(
        fitting,
        "estimate",
        lambda *args, **keywords: seen.append(keywords["warm_start"]) or estimate(*args, **keywords),
    )
    estimator = WarmEstimator(PAIR, {}, None)
    first = estimator.fit([A])
    estimator.fit([AB])
    assert seen[0] is None
    assert seen[1] is first


def test_zeros_are_kept_and_count_for_the_size():
    zeros = {("a", "b"): np.array([[False, True, False], [False, False, False]])}
    estimator = WarmEstimator(PAIR, zeros, None)
    assert estimator.fit([A, B]).marginal(("a", "b"))[0, 1] == 0
    assert estimator.cliques == [("a",), ("b",), ("a", "b")]
