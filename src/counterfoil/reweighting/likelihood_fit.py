r"""The density on a public support that is likeliest given noisy averages, held near a prior density.

Over densities w on the support, with residuals r = A w - b, it minimizes

    sum_f g_f(r_f)  +  weight * KL(w || w0),     g_f(r) = r^2 / 2 s_f^2 (Gaussian),  |r| / s_f (Laplace):

minus the log-likelihood of the noise, up to a constant, and a multiple of the divergence from the prior, in nats. By
Lagrange duality (Fenchel; g* is s_f^2 nu_f^2 / 2 for Gaussian noise, and 0 where |nu_f| <= 1 / s_f for Laplace noise)
its minimum is the maximum of the concave

    D(nu) = -weight * log sum_i w0_i exp(-(A^T nu)_i / weight)  -  b^T nu  -  sum_f g_f*(nu_f).

The densities w(nu)_i proportional to w0_i exp(-(A^T nu)_i / weight) have weight * KL = -nu^T A w - weight * log Z, so
that D has the gradient A w(nu) - b - (g*)'(nu), and with r = A w(nu) - b the duality gap of (w(nu), nu) is exactly

    sum_f  g_f(r_f) + g_f*(nu_f) - nu_f r_f   =   sum_f (r_f - s_f^2 nu_f)^2 / 2 s_f^2   for Gaussian noise.

The gap bounds two distances from the minimizer w*. The objective less its first-order expansion at w* is at least
weight * KL(w || w*), and for Gaussian noise also the squared distance of the averages, and the first-order term is not
negative, whence

    sum_f ((A (w - w*))_f / s_f)^2 / 2  +  weight * KL(w || w*)  <=  gap.

So a fit ends when gap <= tolerance * weight, which is to say KL(w || w*) <= tolerance: by Pinsker's inequality no
average of a function with values in [0, 1] is then more than sqrt(tolerance / 2) from that of w*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds

from counterfoil.graphical_model.outcome import FitOutcome, Status
from counterfoil.reweighting.program import Vector, WeightProgram
from counterfoil.reweighting.quasi_newton import minimize_within
from counterfoil.threads import on_one_thread

_MEMORY = 10
# Widths of the box of a multiplier that its unit may be: fewer cost steps, many more cost digits (measured).
_MOST_BOXES = 100.0


@dataclass(frozen=True, eq=False)
class LikelihoodFit:
    """A density on the support, and how close to the best it is.

    Args:
        weights: [m], of sum 1, all positive but for underflow.
        multipliers: [F], nu. With them w(nu) extends to any point x of the domain, in proportion to
            reference(x) exp(-sum_f nu_f f(x) / weight).
        weight: nats; what the divergence from the prior was multiplied by.
        primal: the objective at `weights`, functions that no point reaches included.
        dual: a lower bound on the objective of every density.
        outcome: why the fit ended; its gap is `primal - dual`, its goal `tolerance * weight / primal`.
    """

    weights: Vector
    multipliers: Vector
    weight: float
    primal: float
    dual: float
    outcome: FitOutcome


def default_weight(program: WeightProgram, *, divergence: float = 1.0) -> float:
    r"""The weight under which a bound on the fit's expected error is least, for data that are so far from the prior.

    Let the data have the density w*, z_f / s_f be the score of f's noise, of mean 0 and Fisher information 1 / s_f^2,
    c_i = (A_fi - (A w0)_f) / s_f, u = A (w - w*) / s and kappa = KL(w* || w0). With z in deviations, Gaussian noise
    gives w* an objective above that of the fit w by weight * (kappa - KL(w || w0)) + z^T u - |u|^2 / 2, and by strong
    convexity (above) the difference is at least |u|^2 / 2. So

        |u|^2  <=  z^T c (w - w*)  +  weight * (kappa - KL(w || w0)).

    By the variational formula of Donsker and Varadhan, z^T c w - weight * KL(w || w0) is at most weight * log sum_i
    w0_i exp(z^T c_i / weight), whose mean is by Jensen's inequality at most weight * log sum_i w0_i exp(|c_i|^2 /
    2 weight^2); and z^T c w* has mean 0. Hence

        E |u|^2  <=  weight * (kappa + log sum_i w0_i exp(|c_i|^2 / 2 weight^2)).

    Where all |c_i|^2 are near their mean V = sum_f Var_w0(f) / s_f^2, as for indicators of many small cells, that is
    weight * kappa + V / (2 weight), which is least, sqrt(2 kappa V), at weight = sqrt(V / (2 kappa)).

    Where functions are few and noise is small, another bound is better: z^T u is at most (|z|^2 + |u|^2) / 2, so that
    E |u|^2 <= F + 2 weight * kappa, which is 1.5 F at weight = F / (4 kappa). The first bound is looser: where the two
    cross, its weight still loses .4 F and the other .7 F, and at sqrt(2 kappa V) = 2.5 F they lose .6 F and .8 F
    (20 indicators of random subsets). So the second weight is taken only beyond.

    Args:
        program: its scales and its prior decide.
        divergence: kappa, in nats. It is not known; errors depend on it weakly (a factor of 2 in the weight, of 4 in
            kappa, costs a few percent).
    """
    if not (math.isfinite(divergence) and divergence > 0):
        raise ValueError(f"`divergence` must be a positive finite number of nats. Found {divergence}.")
    information = float((program.variances() / program.scales**2).sum())
    functions = int((program.variances() > 0).sum())
    if 2.5 * functions < math.sqrt(2 * divergence * information):
        return functions / (4 * divergence)
    # No function tells points apart: the prior is the fit under every weight.
    return math.sqrt(information / (2 * divergence)) or 1.0


@on_one_thread
def fit_likelihood(
    program: WeightProgram,
    *,
    weight: float | None = None,
    tolerance: float = 1e-4,
    max_evaluations: int = 2000,
    start: Vector | None = None,
) -> LikelihoodFit:
    """The density that minimizes minus the log-likelihood plus `weight` times the divergence from the prior.

    Args:
        program: the averages and the support.
        weight: nats; `default_weight` where it is None. The prior counts as much as a table of so many of its draws.
        tolerance: nats; the fit ends when KL(w || w*) is proved to be no more, w* being the best density.
        max_evaluations: of the dual; each takes two products with `program.values`.
        start: [F], multipliers to start from, such as those of a fit on another support.

    Raises:
        ValueError: for parameters that are not positive, and a `start` of another shape.
    """
    weight = default_weight(program) if weight is None else weight
    for name, value in (("weight", weight), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"`{name}` must be positive and finite. Found {value}.")
    if max_evaluations < 1:
        raise ValueError(f"`max_evaluations` must be at least 1. Found {max_evaluations}.")
    multipliers = _of_constants(program)
    if start is not None and np.shape(start) != multipliers.shape:
        raise ValueError(f"`start` must have shape {multipliers.shape}, as `targets`. Found {np.shape(start)}.")
    reached = program.reached()
    constant = float((-program.targets * multipliers - _conjugate(program, multipliers))[~reached].sum())
    if not reached.any():
        outcome = FitOutcome(Status.CONVERGED, 0.0, 0.0, tolerance, 0)
        return LikelihoodFit(program.prior, multipliers, weight, constant, constant, outcome)
    dual = _Dual(program.restricted(reached), weight)
    status = _maximize(dual, None if start is None else start[reached], tolerance * weight, max_evaluations)
    best = dual.best
    multipliers[reached] = best.multipliers
    primal = constant + best.dual + best.gap
    outcome = FitOutcome(
        status,
        gap=best.gap,
        relative_gap=best.gap / max(primal, best.gap, math.ulp(0.0)),
        goal=tolerance * weight / max(primal, tolerance * weight),
        evaluations=dual.evaluations,
    )
    return LikelihoodFit(best.weights, multipliers, weight, primal, constant + best.dual, outcome)


def tilted(prior_logs: Vector, exponents: Vector) -> tuple[Vector, float]:
    """The density in proportion to exp(prior_logs + exponents) [m], and the logarithm of what it was divided by."""
    logs = prior_logs + exponents
    highest = float(logs.max())
    weights = np.exp(logs - highest)
    total = float(weights.sum())
    return weights / total, highest + math.log(total)


def _conjugate(program: WeightProgram, multipliers: Vector) -> Vector:
    """g_f*(nu_f) [F]."""
    return np.where(program.laplace, 0.0, 0.5 * (program.scales * multipliers) ** 2)


def _of_constants(program: WeightProgram) -> Vector:
    """The best multipliers [F] of functions that are 0 on the support, whose residuals are -b."""
    gaussian = -program.targets / program.scales**2
    return np.where(program.laplace, -np.sign(program.targets) / program.scales, gaussian)


@dataclass(frozen=True, eq=False)
class _Point:
    """The dual at some multipliers, and the density that they give."""

    multipliers: Vector
    weights: Vector
    dual: float
    gap: float


class _Dual:
    """-D / weight and its gradient in variables whose curvature is about 1 at the prior, and the best point so far.

    The curvature of -D in nu_f at nu = 0 is s_f^2 (Gaussian noise only) plus Var_w0(f) / weight. It is 0 for functions
    with Laplace noise that are constant on the support: there the box of nu_f sets the unit.
    """

    best: _Point

    def __init__(self, program: WeightProgram, weight: float) -> None:
        self.program, self.weight, self.evaluations = program, weight, 0
        self.prior_logs = np.log(program.prior)
        curvature = np.where(program.laplace, 0.0, program.scales**2) + program.variances() / weight
        most = np.where(program.laplace, _MOST_BOXES / program.scales, np.inf)
        self.unit = np.minimum(np.sqrt(weight / np.maximum(curvature, 1e-300)), most)

    def __call__(self, scaled: Vector) -> tuple[float, Vector]:
        """At multipliers `scaled` [F] times `unit`."""
        program, multipliers = self.program, scaled * self.unit
        self.evaluations += 1
        weights, log_total = tilted(self.prior_logs, program.scores(multipliers) / -self.weight)
        residuals = program.averages(weights) - program.targets
        dual = -self.weight * log_total - float(program.targets @ multipliers + _conjugate(program, multipliers).sum())
        gradient = residuals - np.where(program.laplace, 0.0, program.scales**2 * multipliers)
        gap = float(self._gaps(residuals, multipliers).sum())
        if self.evaluations == 1 or gap < self.best.gap:
            self.best = _Point(multipliers, weights, dual, gap)
        return -dual / self.weight, gradient * self.unit / -self.weight

    def _gaps(self, residuals: Vector, multipliers: Vector) -> Vector:
        scales = self.program.scales
        gaussian = 0.5 * (residuals / scales - scales * multipliers) ** 2
        laplace = np.maximum(np.abs(residuals) / scales - multipliers * residuals, 0.0)
        return np.where(self.program.laplace, laplace, gaussian)


def _maximize(dual: _Dual, start: Vector | None, goal: float, max_evaluations: int) -> Status:
    """Ascends until the gap is at most `goal`, and says why it ended."""
    program = dual.program
    limits = np.where(program.laplace, 1 / program.scales, np.inf) / dual.unit
    first = np.zeros(program.n_functions) if start is None else np.clip(start / dual.unit, -limits, limits)

    minimize_within(
        dual,
        first,
        Bounds(-limits, limits) if program.laplace.any() else None,
        done=lambda: dual.best.gap <= goal,
        memory=_MEMORY,
        max_evaluations=max_evaluations,
    )
    if dual.best.gap <= goal:
        return Status.CONVERGED
    return Status.EVALUATIONS if dual.evaluations >= max_evaluations else Status.PRECISION
