"""The fit of weights that a method asks for, and what its receipt says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from counterfoil.graphical_model.outcome import FitOutcome
from counterfoil.reweighting.highs_interior_point import highs
from counterfoil.reweighting.likelihood_fit import fit_likelihood
from counterfoil.reweighting.minimax_fit import DENSE_SIZE, fit_minimax
from counterfoil.reweighting.program import WeightProgram

_NAMED = 10
"""Functions that a receipt names."""


class Fit(StrEnum):
    """How weights follow from noisy averages.

    `LIKELIHOOD`: the likeliest density, held near the reference by a multiple of the divergence from it.
    `MINIMAX`: the smallest largest error (Bojkovic and Loh, Algorithm 1), and of such densities the nearest one to the
        reference.
    """

    LIKELIHOOD = "likelihood"
    MINIMAX = "minimax"


@dataclass(frozen=True, eq=False)
class Weighting:
    """Fitted weights, and what is to be said about them.

    Args:
        weights: float64 [m], of sum 1.
        outcome: how the fit ended.
        diagnostics: for the receipt: the fit, what is certified, and which functions decide it.
        potentials: float64 [F]: what the likelihood's exponent adds for each function at a point, -nu / weight; None
            for the minimax fit.
        prior_weight: nats; what the divergence was multiplied by; None for the minimax fit.
    """

    weights: np.ndarray
    outcome: FitOutcome
    diagnostics: dict[str, Any]
    potentials: np.ndarray | None = None
    prior_weight: float | None = None

    def warnings(self) -> list[str]:
        """What whoever uses the release should know."""
        if not self.outcome.warnings():
            return []
        return [
            "The weights are not as close to the noisy answers as they could be: the fit ended before its gap closed "
            f"(it is {self.diagnostics['gap']:.3g}). What is private stays so: fitting reads no record."
        ]


def require_solver(fit: Fit, *, functions: int, points: int) -> None:
    """Refuses a fit that needs a solver which is not installed, before anything is charged.

    Args:
        fit: which fit.
        functions: how many averages it will have, at most.
        points: how many support points, at most.

    Raises:
        ValueError: which says what to install.
    """
    if fit is Fit.MINIMAX and min(functions, points) > DENSE_SIZE:
        highs()


def weigh(
    program: WeightProgram,
    names: Sequence[str],
    fit: Fit,
    prior_weight: float | None,
    *,
    start: np.ndarray | None = None,
) -> Weighting:
    """Fits the weights of `program` by `fit`.

    Args:
        program: the answers and the support.
        names: of the functions, in its order.
        fit: which fit.
        prior_weight: nats; for the likelihood, what the divergence from the reference is multiplied by.
        start: float64 [F]: for the likelihood, potentials to start from.

    Raises:
        ValueError: where the program needs a solver that is not installed.
    """
    if fit is Fit.LIKELIHOOD:
        begin = None if start is None or prior_weight is None else -start * prior_weight
        likely = fit_likelihood(program, weight=prior_weight, start=begin)
        # A multiplier in units of its noise: how far the fit is from the answer, in standard deviations.
        strengths = likely.multipliers * program.scales
        said: dict[str, Any] = {"prior_weight": likely.weight, "objective": likely.primal, "gap": likely.outcome.gap}
        weights, outcome, weight = likely.weights, likely.outcome, likely.weight
        potentials = -likely.multipliers / weight
    else:
        least, weight, potentials = fit_minimax(program), None, None
        strengths = np.zeros(program.n_functions)
        strengths[least.binding] = least.multipliers
        said = {"largest_error": least.distance, "at_least": least.bound, "gap": least.outcome.gap}
        said["unreached"] = len(least.unreached)
        weights, outcome = least.weights, least.outcome
    said["effective_points"] = float(1 / np.square(weights).sum())
    said["binding"] = _strongest(strengths, names)
    sizes = {"fit": fit.value, "points": len(weights), "functions": len(names)}
    return Weighting(weights, outcome, {**sizes, **said}, potentials, weight)


def _strongest(strengths: np.ndarray, names: Sequence[str]) -> list[dict[str, Any]]:
    """The functions that pull the weights most; a positive multiplier is an average above its noisy answer."""
    order = np.argsort(-np.abs(strengths), kind="stable")[:_NAMED]
    return [{"function": names[f], "multiplier": float(strengths[f])} for f in order if strengths[f]]
