r"""A primal-dual interior point for the smallest largest error: minimize t over |A w - b| <= t c and densities w.

With slacks p = t c - (A w - b) and q = t c + (A w - b), multipliers y of p and x of q, z of w >= 0 and mu of sum w = 1,
the optimum is where all of these are non-negative and

    A^T (y - x) - mu - z = 0,    c^T (y + x) = 1,    y p = x q = w z = 0 elementwise.

The dual is: maximize min_i (A^T v)_i - b^T v over c^T |v| <= 1, v = y - x. Any v in that ball bounds t from below, and
any density bounds it from above, so that the gap is certified whatever rounding does. Steps are those of Mehrotra 1992
("On the implementation of a primal-dual interior point method": predictor, corrector, one factorization for both).

With D_y = y / p, D_x = x / q and H = D_y + D_x, each step solves for dw and dv = dy - dx

    [ z/w    A^T   ] [dw]        of m x m,  z/w + A^T H A,  or of F x F,  1/H + A (w/z) A^T,
    [ A     -1/H   ] [dv]        whichever is smaller,

bordered by dt and dmu. The cost is min(F, m)^2 max(F, m) operations a step, in one symmetric product.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve

from counterfoil.reweighting.program import Values, Vector

_TO_THE_WALL = 0.995
# Where the largest error can be 0 no relative gap is ever reached: this share of the problem's unit is 0.
_ZERO = 1e-9
# Of the largest entry of a matrix which rounding has made indefinite: these are added to its diagonal in turn.
_RIDGES = (0.0, 1e-15, 1e-13, 1e-11)


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A density, a bound, and how far they were brought together.

    Args:
        weights: [m], a density.
        distance: its largest error, in units of c.
        multipliers: [F], v, with c^T |v| = 1: the functions' shares in the proof of the bound, signed as A w - b.
        bound: what no density's largest error is below.
        steps: how many there were.
        converged: whether the gap is within the tolerance.
    """

    weights: Vector
    distance: float
    multipliers: Vector
    bound: float
    steps: int
    converged: bool


def largest_error(values: Values, targets: Vector, units: Vector, weights: Vector) -> float:
    """max_f |A w - b|_f / c_f."""
    return float((np.abs(values @ weights - targets) / units).max())


def lower_bound(values: Values, targets: Vector, units: Vector, multipliers: Vector) -> tuple[float, Vector]:
    """What `multipliers` [F] prove of every density's largest error, and their multiple on the unit sphere, which
    proves it: min_i (A^T v)_i - b^T v."""
    total = float(units @ np.abs(multipliers))
    if not (np.isfinite(total) and total > 0):
        return 0.0, np.zeros_like(multipliers)
    unit = multipliers / total
    return max(0.0, float((values.T @ unit).min() - targets @ unit)), unit


def negligible(targets: Vector, units: Vector) -> float:
    """A largest error so small that it is rounding: 0 is then the smallest, as far as can be told."""
    return _ZERO * float((np.abs(targets) / units).max() + 1 / units.max())


def solve(
    values: Values, targets: Vector, units: Vector, start: Vector, *, tolerance: float = 1e-4, max_steps: int = 100
) -> InteriorPoint:
    """The density with the smallest largest error, from inside the feasible set.

    Args:
        values: A [F, m].
        targets: b [F].
        units: c [F], positive.
        start: [m], a positive density.
        tolerance: of the gap, relative to the distance.
        max_steps: at most so many factorizations.
    """
    scaled = (
        values / units[:, None]
        if isinstance(values, np.ndarray)
        else sparse.csc_array(values.multiply(1 / units[:, None]))
    )
    state, zero = _State.at(scaled, targets / units, start), negligible(targets, units)
    ones = np.ones_like(targets)
    weights, distance = start, largest_error(scaled, state.targets, ones, start)
    bound, multipliers = 0.0, np.zeros_like(targets)
    for step in range(max_steps + 1):
        density = state.w / state.w.sum()
        reached = largest_error(scaled, state.targets, ones, density)
        if reached < distance:
            weights, distance = density, reached
        proved, unit = lower_bound(scaled, state.targets, ones, state.y - state.x)
        if proved > bound or step == 0:
            bound, multipliers = proved, unit
        if distance - bound <= max(tolerance * distance, zero):
            return InteriorPoint(weights, distance, multipliers / units, bound, step, True)
        if step == max_steps:
            break
        try:
            state = state.step()
        except LinAlgError:
            break
    return InteriorPoint(weights, distance, multipliers / units, bound, step, False)


@dataclass(frozen=True, eq=False)
class _Move:
    """A direction, by the names of `_State`."""

    w: Vector
    t: float
    mu: float
    p: Vector
    q: Vector
    y: Vector
    x: Vector
    z: Vector


@dataclass(frozen=True, eq=False)
class _State:
    """An iterate: w, z [m] and p, q, y, x [F] are positive. c is 1."""

    values: Values
    targets: Vector
    w: Vector
    t: float
    mu: float
    p: Vector
    q: Vector
    y: Vector
    x: Vector
    z: Vector

    @staticmethod
    def at(values: Values, targets: Vector, weights: Vector) -> _State:
        """A primal feasible start, all multipliers alike."""
        residuals = values @ weights - targets
        unit = float(np.abs(targets).max() + np.abs(residuals).max()) or 1.0
        t = 1.1 * float(np.abs(residuals).max()) + 1e-3 * unit
        each = np.full(len(targets), 0.5 / len(targets))
        mu = -0.1 * unit
        z = np.full(len(weights), -mu)
        return _State(values, targets, weights, t, mu, t - residuals, t + residuals, each, each, z)

    def step(self) -> _State:
        """One predictor, one corrector."""
        newton = _Newton(self)
        first = newton.solve(-self.p * self.y, -self.q * self.x, -self.w * self.z)
        ahead, behind = self._lengths(first, 1.0)
        mean, count = self._complementarity(), 2 * len(self.p) + len(self.w)
        after = self._moved(first, ahead, behind)._complementarity()
        center = (after / mean) ** 3 * mean / count
        move = newton.solve(
            center - self.p * self.y - first.p * first.y,
            center - self.q * self.x - first.q * first.x,
            center - self.w * self.z - first.w * first.z,
        )
        return self._moved(move, *self._lengths(move, _TO_THE_WALL))

    def _complementarity(self) -> float:
        return float(self.p @ self.y + self.q @ self.x + self.w @ self.z)

    def _lengths(self, move: _Move, share: float) -> tuple[float, float]:
        """How far the primal and the dual variables may go, a `share` of the way to their first zero."""
        primal = _room((self.w, move.w), (self.p, move.p), (self.q, move.q))
        dual = _room((self.z, move.z), (self.y, move.y), (self.x, move.x))
        return min(1.0, share * primal), min(1.0, share * dual)

    def _moved(self, move: _Move, primal: float, dual: float) -> _State:
        return replace(
            self,
            w=self.w + primal * move.w,
            t=self.t + primal * move.t,
            p=self.p + primal * move.p,
            q=self.q + primal * move.q,
            mu=self.mu + dual * move.mu,
            y=self.y + dual * move.y,
            x=self.x + dual * move.x,
            z=self.z + dual * move.z,
        )


def _room(*pairs: tuple[Vector, Vector]) -> float:
    lengths = [float((-x[dx < 0] / dx[dx < 0]).min(initial=np.inf)) for x, dx in pairs]
    return min(lengths)


class _Newton:
    """Newton's equations at one iterate, factorized once.

    Sums of multipliers are taken by formulas in which nothing cancels: with g = D_y - D_x,
    dy + dx = (g dv + 2 (D_x e_y + D_y e_x) - 4 D_y D_x dt) / H, where e are the right-hand sides of `solve`.
    """

    def __init__(self, state: _State) -> None:
        self.state = s = state
        residuals = s.values @ s.w - s.targets
        self.of_p, self.of_q, self.of_sum = residuals + s.p - s.t, s.q - residuals - s.t, float(s.w.sum()) - 1
        self.of_y = float((s.y + s.x).sum()) - 1
        self.of_z = s.values.T @ (s.y - s.x) - s.mu - s.z
        self.d_y, self.d_x = s.y / s.p, s.x / s.q
        self.h, self.g = self.d_y + self.d_x, self.d_y - self.d_x
        self.inner = _factorized(s.values, s.z / s.w, self.h)
        # Columns of the border: what dt = 1 and dmu = 1 do.
        self.by_t = self.inner(np.zeros_like(s.w), self.g / self.h)
        self.by_mu = self.inner(np.ones_like(s.w), np.zeros_like(s.p))

    def solve(self, to_p: Vector, to_q: Vector, to_z: Vector) -> _Move:
        """The direction in which p dy + y dp = to_p, q dx + x dq = to_q and w dz + z dw = to_z."""
        s, h, g = self.state, self.h, self.g
        e_y, e_x = (to_p + s.y * self.of_p) / s.p, (to_q + s.x * self.of_q) / s.q
        dw, dv = self.inner(to_z / s.w - self.of_z, -(e_y - e_x) / h)
        sums = 2 * (self.d_x * e_y + self.d_y * e_x) / h
        border = np.array(
            [
                [g / h @ self.by_t[1] - (4 * self.d_y * self.d_x / h).sum(), g / h @ self.by_mu[1]],
                [self.by_t[0].sum(), self.by_mu[0].sum()],
            ]
        )
        right = np.array([-self.of_y - (g / h @ dv + sums.sum()), -self.of_sum - dw.sum()])
        dt, dmu = np.linalg.solve(border, right)
        dw, dv = dw + dt * self.by_t[0] + dmu * self.by_mu[0], dv + dt * self.by_t[1] + dmu * self.by_mu[1]
        moved = s.values @ dw
        # The smaller of dy and dx directly, the larger from it: the other way round would lose digits.
        small_y, small_x = self.d_y * (moved - dt) + e_y, -self.d_x * (moved + dt) + e_x
        upper = self.d_y > self.d_x
        dy, dx = np.where(upper, dv + small_x, small_y), np.where(upper, small_x, small_y - dv)
        dp = np.where(upper, (to_p - s.p * dy) / s.y, dt - moved - self.of_p)
        dq = np.where(upper, dt + moved - self.of_q, (to_q - s.q * dx) / s.x)
        return _Move(dw, float(dt), float(dmu), dp, dq, dy, dx, (to_z - s.z * dw) / s.w)


def _factorized(values: Values, stiffness: Vector, h: Vector) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Solves stiffness dw + A^T dv = one [m], A dw - dv / h = other [F], by Cholesky's method."""
    functions, points = values.shape
    if points <= functions:
        of_points = _cholesky(values.T, h, stiffness)

        def by_points(one: Vector, other: Vector) -> tuple[Vector, Vector]:
            dw = of_points(one + values.T @ (h * other))
            return dw, h * (values @ dw - other)

        return by_points
    of_functions = _cholesky(values, 1 / stiffness, 1 / h)

    def by_functions(one: Vector, other: Vector) -> tuple[Vector, Vector]:
        dv = of_functions(values @ (one / stiffness) - other)
        return (one - values.T @ dv) / stiffness, dv

    return by_functions


def _cholesky(values: Values, weights: Vector, diagonal: Vector) -> Callable[[Vector], Vector]:
    """Solves (values diag(weights) values^T + diag(diagonal)) x = right.

    Raises:
        LinAlgError: where rounding has left no factor.
    """
    for ridge in _RIDGES:
        if isinstance(values, np.ndarray):
            square = blas.dsyrk(1.0, (values * np.sqrt(weights)).T, trans=1)  # the upper triangle
        else:
            square = np.asfortranarray((values.multiply(weights) @ values.T).toarray())
        places = np.diag_indices_from(square)
        square[places] += diagonal + ridge * square[places].max()
        try:
            factor = cho_factor(square, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return lambda right: cho_solve(factor, right, check_finite=False)
    raise LinAlgError("The normal equations have no Cholesky factor.")
