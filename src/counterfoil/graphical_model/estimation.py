r"""The maximum-entropy model that fits noisy marginals, with a certificate of how close the fit is.

For N records and noisy marginals y_c of deviation sigma_c, the model minimizes over all distributions p

    sum_c ||N M_c p - y_c||^2 / (2 sigma_c^2)  -  weight * H(p)

(minus log-likelihood plus a multiple of the entropy, in nats). Split into interactions (see `interactions`),
the first term is sum_A w_A ||N m_A(p) - y_A||^2 / 2 plus a constant, w_A = sum of 1 / (sigma_c^2 |c \ A|) over the
cliques c that contain A. Its Lagrange dual is over p proportional to exp(sum_A psi_A), and divided by `weight` reads

    D(psi) = <psi, y / N> - log Z(psi) - sum_A kappa_A ||psi_A||^2 / 2,     kappa_A = weight / (N^2 w_A),

smooth and strongly concave, with gradient g_A = y_A / N - m_A(p_psi) - kappa_A psi_A. Inserting p_psi into the primal
and subtracting gives the duality gap of psi exactly: weight * sum_A ||g_A||^2 / (2 kappa_A). It bounds how far p_psi
is from the minimum, and since the misfit is quadratic, also the distance of its marginals from the best ones:
sum_c ||N M_c(p_psi - p*)||^2 / (2 sigma_c^2) <= gap.

A reference measure r, at most 1, may take the place of the uniform one: H(p) + E_p log r that of H(p), and p is
proportional to r exp(sum_A psi_A). Structural zeros are where r is 0.

Where asked to, the fit believes interactions as far as they are larger than their noise: w_A is then smaller than what
was measured says (`trust`), in all of the above, and may be another number in the smooth directions of an interaction
than in the rough ones (`ridge`): kappa_A ||psi_A||^2 is then a sum over both, and ||g_A||^2 / kappa_A too.

Private-PGM is due to McKenna, Sheldon and Miklau, "Graphical-model based estimation and inference for differential
privacy" (2019), where the entropy has no weight of its own and mirror descent takes a fixed number of steps.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.interactions import Interactions, Vector
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine, estimate_total
from counterfoil.graphical_model.outcome import FitOutcome, Status
from counterfoil.graphical_model.program_search import cheap_program
from counterfoil.graphical_model.repeated_propagation import RepeatedPropagation
from counterfoil.graphical_model.ridge import Ridge, SmoothRidge
from counterfoil.graphical_model.trust import Trust, trust
from counterfoil.threads import on_one_thread

# Steps that say how the gradient bends. Of large models 20 took 5 to 25% fewer evaluations than 10, and 40 no fewer.
_MEMORY = 20
# The curvature of a cell is its probability, which moves by more than the ridge on the way to the answer: assuming
# more than there is at first costs nothing, less costs steps (measured: a factor of 10 halves the evaluations).
_RIDGE_MARGIN = 10.0
# Values closer than this (relative) are equal but for rounding; so many such steps in a row end the fit.
_ROUNDING = 1e-13
_IDLE_STEPS = 20


@dataclass(frozen=True)
class Estimate:
    """A fitted model, and how close it is: `outcome.gap` (nats) is a certified bound on its distance from the best
    objective.

    `outcome.relative_gap` is the gap divided by the objective counted from zero: misfit to the consistent part of the
    marginals plus `entropy_weight` times (log of the domain's size - entropy).
    """

    model: GraphicalModel
    outcome: FitOutcome


@on_one_thread
def estimate(
    domain: Domain,
    measurements: Sequence[NoisyMarginal],
    *,
    total: float | None = None,
    structural_zeros: Mapping[Clique, NDArray[np.bool_]] | None = None,
    entropy_weight: float = 100.0,
    shrinks: bool = False,
    ordered: Mapping[str, int] | None = None,
    reference: Mapping[Clique, Vector] | None = None,
    warm_start: GraphicalModel | None = None,
    relative_gap: float = 1e-3,
    max_evaluations: int = 1000,
    watch: FitWatch = UNWATCHED,
) -> Estimate:
    """Fit a graphical model to noisy marginals of any cliques and scales.

    `total` is the number of records N, by default estimated from the marginals (at least 1).
    `structural_zeros` maps cliques to tables that are True where no record can be. `entropy_weight` is in nats:
    the weight of one record's log-likelihood is 1. `shrinks` says whether interactions that are hardly larger than
    their noise are believed less (`trust`), and `ordered` maps attributes to how many of their leading codes are in
    order. `reference` maps cliques to tables of logarithms, finite and at most 0,
    that add up to that of the reference measure. `warm_start` is any model over the same domain; a close one saves
    most of the work. The fit ends when the duality gap is at most `relative_gap` times the objective, or when `watch`
    ends it: the model is then the best so far, with its certified gap.

    Raises ValueError for no measurements, shapes that don't match the domain, parameters out of range, and
    zeros that leave nothing possible.
    """
    for name, value in (("entropy_weight", entropy_weight), ("relative_gap", relative_gap)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"`{name}` must be positive and finite. Found {value}.")
    if max_evaluations < 1:
        raise ValueError(f"`max_evaluations` must be at least 1. Found {max_evaluations}.")
    measured = combine(domain, measurements)
    if not any(marginal.clique for marginal in measured):
        raise ValueError("The fit needs a noisy marginal of at least one attribute. Found none.")
    if total is None:
        total = max(1.0, estimate_total(measured)[0])
    if not (math.isfinite(total) and total > 0):
        raise ValueError(f"`total` must be a positive finite number of records. Found {total}.")
    watch.begins(relative_gap)
    fixed = _fixed_potentials(domain, structural_zeros or {}, reference or {})
    dual = _Dual(
        domain, measured, fixed, total=total, entropy_weight=entropy_weight, ordered=ordered or {}, shrinks=shrinks
    )
    start = dual.independent() if warm_start is None else dual.interactions.of_potentials(warm_start.potentials)
    if warm_start is not None and reference:  # what the reference adds is in the model's potentials already
        start -= dual.interactions.of_potentials(fixed)
    point, status = _maximize(dual, start, watch, relative_gap=relative_gap, max_evaluations=max_evaluations)
    model = GraphicalModel(domain, dual.potentials(point.psi), total)
    watch.ends(dual.evaluations, stopped=status is Status.TIME)
    outcome = FitOutcome(
        status,
        gap=entropy_weight * point.gap,
        relative_gap=point.gap / point.objective,
        goal=relative_gap,
        evaluations=dual.evaluations,
    )
    return Estimate(model, outcome)


def _fixed_potentials(
    domain: Domain, zeros: Mapping[Clique, NDArray[np.bool_]], reference: Mapping[Clique, Vector]
) -> dict[Clique, Vector]:
    """The logarithm of the reference measure, -inf where no record can be."""
    potentials: dict[Clique, Vector] = {}
    for clique, table in reference.items():
        names = domain.canonical(clique)
        if table.shape != domain.shape(clique) or not (np.isfinite(table) & (table <= 0)).all():
            raise ValueError(f"The reference of {clique} must have finite logarithms, at most 0. Found others.")
        potentials[names] = potentials.get(names, 0.0) + table.transpose([clique.index(name) for name in names])
    for clique, barred in zeros.items():
        table = np.asarray(barred)
        if table.dtype != np.bool_ or table.shape != domain.shape(clique):
            raise ValueError(
                f"The structural zeros of {clique} must be booleans of shape {domain.shape(clique)}. "
                f"Found {table.dtype} of shape {table.shape}."
            )
        names = domain.canonical(clique)
        table = table.transpose([clique.index(name) for name in names])
        potentials[names] = np.where(table, -np.inf, potentials.get(names, 0.0))
    return potentials


@dataclass(frozen=True)
class _Point:
    """The dual at psi, all divided by the entropy's weight; `value` and `gradient` are of -D, to be minimized.

    `marginals` are the model's, on the maximal subsets.
    """

    psi: Vector
    value: float
    gradient: Vector
    gap: float
    objective: float
    marginals: Sequence[Vector]


class _Dual:
    """-D, its gradient and the duality gap, for given marginals."""

    def __init__(
        self,
        domain: Domain,
        measured: Sequence[NoisyMarginal],
        fixed: Mapping[Clique, Vector],
        *,
        total: float,
        entropy_weight: float,
        ordered: Mapping[str, int],
        shrinks: bool,
    ) -> None:
        self.domain = domain
        self.interactions = x = Interactions(domain, [marginal.clique for marginal in measured])
        weights = np.zeros(len(x.subsets))
        observed = np.zeros(x.starts[-1])
        for marginal in measured:
            for i, table in x.of_table(marginal.clique, marginal.counts).items():
                weight = math.prod(x.shapes[i]) / (marginal.counts.size * marginal.scale**2)
                weights[i] += weight
                x.table(observed, i)[...] += weight * table
        self.observed = observed / x.per_cell(weights * total)
        believed = Trust(np.ones(len(weights)), {})
        if shrinks:
            believed = trust(x, self.observed, weights, self.margins(), total, entropy_weight, ordered)
        kappas = entropy_weight / (total**2 * weights)
        rough = kappas / believed.factors
        smooth = {i: SmoothRidge(part, kappas[i] / f, float(rough[i])) for i, (part, f) in believed.smooth.items()}
        self.ridge = Ridge(x, x.per_cell(rough), smooth)
        self.evaluations = 0
        self._log_domain = math.fsum(math.log(size) for size in domain.sizes)
        self._fixed = dict(fixed)
        cliques = [x.subsets[i] for i in x.maximal] + list(fixed)
        covered = {name for clique in cliques for name in clique}
        lone = [(name,) for name in domain.attributes if name not in covered]
        self._constants = [*fixed.values(), *(np.zeros(domain.shape(clique)) for clique in lone)]
        tree = junction_tree.build(domain, cliques)
        axes = [domain.axes(clique) for clique in cliques + lone]
        program = cheap_program(domain.sizes, axes, domain.axes(tree.elimination_order))
        self._propagation = RepeatedPropagation(program)

    def margins(self) -> dict[str, Vector]:
        """One-way distributions that the measurements suggest, none of them zero."""
        x = self.interactions
        margins = {}
        for i, part in enumerate(x.subsets):
            if len(part) == 1:
                size = x.shapes[i][0]
                p = np.maximum(x.table(self.observed, i) + 1.0 / size, 1e-4 / size)
                margins[part[0]] = p / p.sum()
        return margins

    def independent(self) -> Vector:
        """The interactions of the product of `margins`."""
        return self.interactions.of_potentials({(name,): np.log(p) for name, p in self.margins().items()})

    def potentials(self, psi: Vector) -> dict[Clique, Vector]:
        """Log potentials of the model, the reference included."""
        x = self.interactions
        potentials = {x.subsets[i]: table for i, table in zip(x.maximal, x.potentials(psi), strict=True)}
        for clique, fixed in self._fixed.items():
            potentials[clique] = potentials[clique] + fixed if clique in potentials else fixed
        return potentials

    def __call__(self, psi: Vector) -> _Point:
        self.evaluations += 1
        x = self.interactions
        log_z, marginals = self._propagation.marginals([*x.potentials(psi), *self._constants])
        fitted = x.from_marginals(marginals[: len(x.maximal)])
        residual = self.observed - fitted
        shrunk, gap, misfit = self.ridge.terms(psi, residual)
        gradient = shrunk - residual
        value = log_z - float(psi @ self.observed) + 0.5 * float(psi @ shrunk)
        # log|domain| - H(p) - E_p log r = log|domain| - log Z + <psi, fitted>: never negative, as r is at most 1.
        divergence = self._log_domain - log_z + float(psi @ fitted)
        objective = max(0.5 * misfit + divergence, 1e-300)
        return _Point(psi, value, gradient, 0.5 * gap, objective, marginals[: len(x.maximal)])


class _InverseCurvature:
    """L-BFGS's two-loop recursion around a preconditioner P (Nocedal and Wright, algorithm 7.4).

    P is linear, so P y and P q of the recursion are sums of P g already at hand: one application a step.
    """

    def __init__(self, precondition: Callable[[Vector], Vector]) -> None:
        self._precondition = precondition
        self._pairs: deque[tuple[Vector, Vector, Vector, float]] = deque(maxlen=_MEMORY)
        self._scale = 1.0
        self._last: tuple[_Point, Vector] | None = None

    def times_gradient(self, point: _Point) -> Vector:
        """The approximate inverse curvature at `point` times the gradient there; learns from the last point."""
        smooth = self._precondition(point.gradient)
        if self._last is not None:
            last, last_smooth = self._last
            s, y, smooth_y = point.psi - last.psi, point.gradient - last.gradient, smooth - last_smooth
            curvature = float(s @ y)
            if curvature > 0.0:
                self._pairs.append((s, y, smooth_y, curvature))
                self._scale = curvature / float(y @ smooth_y)
        self._last = point, smooth
        q, result, projections = point.gradient.copy(), smooth.copy(), []
        for s, y, smooth_y, curvature in reversed(self._pairs):
            a = float(s @ q) / curvature
            q -= a * y
            result -= a * smooth_y
            projections.append(a)
        result *= self._scale
        for (s, y, _, curvature), a in zip(self._pairs, reversed(projections), strict=True):
            result += (a - float(y @ result) / curvature) * s
        return result


def _maximize(
    dual: _Dual, start: Vector, watch: FitWatch, *, relative_gap: float, max_evaluations: int
) -> tuple[_Point, Status]:
    """Preconditioned L-BFGS on -D until the gap is certified; returns the point with the smallest gap."""
    point = best = dual(start)
    ridge = _RIDGE_MARGIN * dual.ridge.per_cell()
    inverse = _InverseCurvature(dual.interactions.preconditioner(dual.margins(), point.marginals, ridge))
    idle = 0
    while best.gap > relative_gap * best.objective:
        if idle == _IDLE_STEPS:
            return best, Status.PRECISION
        if dual.evaluations >= max_evaluations:
            return best, Status.EVALUATIONS
        if not watch.may_go_on(dual.evaluations, best.gap / best.objective):
            return best, Status.TIME
        direction = -inverse.times_gradient(point)
        reached = _search(dual, point, direction, max_evaluations)
        if reached is None:
            return best, Status.EVALUATIONS if dual.evaluations >= max_evaluations else Status.PRECISION
        idle = idle + 1 if point.value - reached.value <= _ROUNDING * abs(point.value) else 0
        point = reached
        if point.gap < best.gap:
            best = point
    return best, Status.CONVERGED


def _search(dual: _Dual, point: _Point, direction: Vector, max_evaluations: int) -> _Point | None:
    """A step along `direction` that satisfies the weak Wolfe conditions (bisection with a secant guess)."""
    slope = float(point.gradient @ direction)
    step, lowest, highest = 1.0, 0.0, math.inf
    slack = _ROUNDING * abs(point.value)
    descent = None
    for _ in range(30):
        if dual.evaluations >= max_evaluations:
            break
        trial = dual(point.psi + step * direction)
        slope_there = float(trial.gradient @ direction)
        if trial.value > point.value + 1e-4 * step * slope + slack:
            highest = step
            guess = step * slope / (slope - slope_there) if slope_there > slope else 0.0
            step = min(max(guess, lowest + 0.1 * (highest - lowest)), lowest + 0.5 * (highest - lowest))
        elif slope_there < 0.9 * slope:
            descent, lowest = trial, step
            step = 2.0 * step if math.isinf(highest) else 0.5 * (lowest + highest)
        else:
            return trial
    return descent
