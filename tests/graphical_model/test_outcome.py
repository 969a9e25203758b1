"""How a fit ended is kept, stands on the receipt, and is a warning where the goal was missed."""

from __future__ import annotations

import functools
import json
import math

import numpy as np
import pytest
import scipy.optimize

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import minimax, warm_estimator
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.outcome import FitOutcome, Status
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.weak_relations import UNRELATED
from counterfoil.methods.aim import AIM
from counterfoil.methods.direct import Direct
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from small_releases import released

TRIPLE = Domain(("a", "b", "c"), (3, 4, 2))
ROWS = [(i % 3, (i % 3) + (i % 5 == 0), (i // 3) % 2) for i in range(300)]
PAIR = NoisyMarginal(("a", "b"), np.arange(12.0).reshape(3, 4), 1.0)
METHODS = {
    "aim": AIM(rounds=2),
    "aim gaussian": AIM(variant="gaussian", rounds=2),
    "aim published": AIM(variant="published"),
    "mst": MST(),
    "direct": Direct(2),
    "independent": Independent(),
}


def cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_estimator, "estimate", functools.partial(estimate, max_evaluations=1))


@pytest.mark.parametrize("name", METHODS)
def test_a_receipt_says_how_the_fits_ended(name):
    made = released(METHODS[name], TRIPLE, ROWS)
    document = made.receipt.document
    fits = document["method"]["parameters"]["fits"]
    assert fits
    for fit in fits:
        assert fit["status"] == "converged"
        assert 0 <= fit["relative_gap"] <= fit["goal"]
    said = [one for one in document["warnings"] if not one.startswith("Of the pairs that were counted, correlations")]
    assert said == ([UNRELATED] if name == "independent" else [])
    assert made.receipt.verify().holds


@pytest.mark.parametrize("name", [name for name in METHODS if name != "independent"])
def test_a_fit_that_is_cut_short_is_a_warning_with_a_remedy(name, monkeypatch):
    """Independent columns are the fit's starting point, and so never cut short."""
    cut_short(monkeypatch)
    made = released(METHODS[name], TRIPLE, ROWS)
    (*_, last) = made.receipt.document["method"]["parameters"]["fits"]
    assert last["status"] == "evaluations"
    assert last["relative_gap"] > last["goal"]
    (*_, warning) = made.receipt.document["warnings"]
    assert "limit of evaluations was reached" in warning
    assert "fewer bins" in warning
    assert f"{last['relative_gap']:.2g}" in warning
    assert "WARNINGS" in made.receipt.text()
    assert "limit of evaluations" in " ".join(made.receipt.text().split())
    assert made.receipt.verify().holds


def test_where_nothing_is_fitted_nothing_is_said():
    made = released(Direct(1, estimator="minimax"), TRIPLE, ROWS)
    assert "fits" not in made.receipt.document["method"]["parameters"]


def test_the_outcome_is_that_of_the_last_fit():
    estimator = WarmEstimator(TRIPLE, {}, 300.0)
    assert estimator.outcomes == ()
    estimator.fit([PAIR], relative_gap=0.5)
    estimator.fit([PAIR], relative_gap=1e-6)
    (outcome,) = estimator.outcomes
    assert outcome.status is Status.CONVERGED
    assert outcome.goal == 1e-6


@pytest.mark.parametrize("status", Status)
def test_a_receipt_can_hold_every_outcome(status):
    """A receipt refuses infinities, which a bound may be."""
    outcome = FitOutcome(status, gap=math.inf, relative_gap=math.nan, goal=1e-3, evaluations=7)
    assert json.loads(json.dumps(outcome.to_json(), allow_nan=False)) == {
        "status": status.name.lower(),
        "goal": 1e-3,
        "evaluations": 7,
    }
    assert len(outcome.warnings()) == (status is not Status.CONVERGED)


def test_the_deviations_that_the_warning_states_are_a_bound():
    """Against the converged fit: the misfit is quadratic, so that a gap bounds how far marginals are off."""
    counts = np.array([[120.0, 3.0, 40.0, 7.0], [5.0, 90.0, 2.0, 60.0], [33.0, 8.0, 77.0, 1.0]])
    measured = [NoisyMarginal(("a", "b"), counts, 2.0), NoisyMarginal(("b", "c"), counts.reshape(4, 3)[:, :2], 1.0)]
    rough = estimate(TRIPLE, measured, total=400.0, entropy_weight=5.0, relative_gap=1e-12, max_evaluations=4)
    best = estimate(TRIPLE, measured, total=400.0, entropy_weight=5.0, relative_gap=1e-10)
    assert rough.outcome.status is Status.EVALUATIONS
    assert best.outcome.status is Status.CONVERGED
    apart = math.sqrt(
        sum(
            float(np.square((rough.model.marginal(m.clique) - best.model.marginal(m.clique)) / m.scale).sum())
            for m in measured
        )
    )
    stated = math.sqrt(2 * rough.outcome.gap)
    assert 0 < apart <= stated
    assert f"up to {stated:.3g} deviations" in rough.outcome.warnings()[0]


def test_a_linear_program_that_one_solver_leaves_is_given_to_another(monkeypatch):
    """The limit of no step at all stands for a solver that fails."""
    whole = minimax.closest_weights(TRIPLE, [PAIR], total=66.0, zeros={})
    original, used = scipy.optimize.linprog, []

    def failing(*, method, **program):
        used.append(method)
        return original(method=method, **program, options={"maxiter": 0} if method in fail else {})

    monkeypatch.setattr(scipy.optimize, "linprog", failing)
    fail = {"highs"}
    again = minimax.closest_weights(TRIPLE, [PAIR], total=66.0, zeros={})
    assert used == ["highs", "highs-ipm"]
    assert minimax.largest_distance(again, [PAIR]) == pytest.approx(minimax.largest_distance(whole, [PAIR]), abs=1e-5)
    fail = {"highs", "highs-ipm"}
    with pytest.raises(RuntimeError, match=r"not solved: .*limit.* Use the estimator private_pgm"):
        minimax.closest_weights(TRIPLE, [PAIR], total=66.0, zeros={})
