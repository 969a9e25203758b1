r"""The density nearest to a prior among those whose errors are within limits: the densest of many optima.

Where many densities have the smallest largest error, a linear program returns any one of them, at worst a vertex, which
keeps no more points than there are binding constraints. The one with the least KL(w || w0) subject to |A w - b| <= l
keeps all of them. By Lagrange duality its divergence is the maximum of the concave

    D(nu) = -log sum_i w0_i exp(-(A^T nu)_i)  -  b^T nu  -  l^T |nu|,

whose gradient in nu_f, for nu_f > 0, is the violation (A w(nu) - b)_f - l_f.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds
from scipy.special import rel_entr

from counterfoil.reweighting.likelihood_fit import tilted
from counterfoil.reweighting.program import Vector, WeightProgram
from counterfoil.reweighting.quasi_newton import minimize_within

_MEMORY = 20
# Nats: densities this near to the prior are the prior.
_NOTHING = 1e-6


def densest(
    program: WeightProgram, limits: Vector, inside: Vector, *, tolerance: float = 0.01, max_evaluations: int = 300
) -> Vector:
    """A density [m] within the limits, as near to the prior as the evaluations allow.

    The ascent comes from outside the limits. What it lacks in the end is made up by a part of `inside`: errors are
    convex, so that the mixture is within the limits whatever the ascent has reached.

    Args:
        program: the averages, the targets and the prior. The scales play no role.
        limits: [F], positive; the largest errors admitted.
        inside: [m], a density whose errors are below all limits.
        tolerance: relative; the ascent ends when the divergence is proved to be no more above the least.
        max_evaluations: of the dual; each takes two products with `program.values`.
    """
    ascent = _Ascent(program, limits, inside)

    minimize_within(
        ascent,
        np.zeros(2 * program.n_functions),
        Bounds(0.0, np.inf),
        done=lambda: ascent.divergence - ascent.bound <= tolerance * ascent.divergence + _NOTHING,
        memory=_MEMORY,
        max_evaluations=max_evaluations,
    )
    return ascent.best


class _Ascent:
    """-D and its gradient in the positive and negative parts of nu, and the best density within the limits so far.

    Attributes:
        best: [m], a mixture of some w(nu) and of `inside`.
        divergence: a bound on its divergence from the prior, which is convex.
        bound: what no density within the limits is below.
    """

    def __init__(self, program: WeightProgram, limits: Vector, inside: Vector) -> None:
        self.program, self.limits, self.inside = program, limits, inside
        self.prior_logs = np.log(program.prior)
        self.unit = 1 / np.sqrt(np.maximum(program.variances(), 1e-6 * limits**2))
        self.room = limits - np.abs(program.averages(inside) - program.targets)
        self.of_inside = float(rel_entr(inside, program.prior).sum())
        self.best, self.divergence, self.bound = inside, self.of_inside, 0.0

    def __call__(self, scaled: Vector) -> tuple[float, Vector]:
        """At `scaled` [2 F], the two parts each times `unit`."""
        program, limits = self.program, self.limits
        up, down = scaled.reshape(2, -1) * self.unit
        nu = up - down
        weights, log_total = tilted(self.prior_logs, -program.scores(nu))
        averages = program.averages(weights)
        residuals = averages - program.targets
        value = log_total + float(program.targets @ nu + limits @ (up + down))
        self.bound = max(self.bound, -value)
        self._offer(weights, np.abs(residuals) - limits, -float(nu @ averages) - log_total)
        return value, np.concatenate([(limits - residuals) * self.unit, (limits + residuals) * self.unit])

    def _offer(self, weights: Vector, excess: Vector, divergence: float) -> None:
        """Keeps the mixture of `weights` and the least of `inside` that is within the limits, if it is the best."""
        over = excess > 0
        share = float((excess[over] / (excess[over] + self.room[over])).max(initial=0.0))
        mixed = (1 - share) * divergence + share * self.of_inside
        if share < 1 and mixed < self.divergence:
            self.best, self.divergence = (1 - share) * weights + share * self.inside, mixed
