"""What any linear model can lose by being trained on the synthetic rows: the certificate.

Setting: rows (x, y) with m features scaled to [-1, 1] and a label y in {-1, 1}; models w with norm1(w) <= r; risk
L(w, D) = mean over D of phi(<w, x> y). An intercept is one more feature that is constantly 1, and its weight counts
in the norm. For a polynomial P of degree k on [-r, r] with low <= phi - P <= high,

    abs(L(w, real) - L(w, synthetic)) <= (high - low) + sum_{j=1..k} abs(a_j) r^j gap_j        for every such w,

where gap_j bounds what the two tables disagree on at order j: by moments (`uniform_deviation_from_moments`) or by
marginals (`uniform_deviation_from_marginals`). high - low is at most 2 E_k. The excess risk of a model trained on
the synthetic rows is at most twice that (`excess_risk`). Proofs: docs/theory/excess_risk.md, sections 2 to 6.

Nothing here reads data. Gaps that come from noise hold with some probability; so does then the certificate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from counterfoil.theory.bound import Bound
from counterfoil.theory.loss import LOGISTIC, Loss
from counterfoil.theory.polynomials import PolynomialApproximation, bernstein, chebyshev, minimax, tailored

# A difference of two means of a quantity in [-1, 1], and the L1 distance of two distributions, are at most this.
_LARGEST_GAP = 2.0
_ITERATIONS = (1, 4, 16)


@dataclass(frozen=True)
class UniformDeviation(Bound):
    """A bound on abs(L(w, real) - L(w, synthetic)) for every w with norm1(w) <= norm, and the polynomial behind it."""

    norm: float
    polynomial: PolynomialApproximation


def uniform_deviation_from_moments(
    gaps: Mapping[int, float], norm: float, *, loss: Loss = LOGISTIC
) -> UniformDeviation:
    """Bound the difference of risks by the differences of a few moments.

    Since y^2 = 1, the label enters only the moments of odd order: order 1 are the E[x_u y], order 2 the E[x_u x_v],
    order 3 the E[x_u x_v x_w y]. With a constant feature, order 2 covers the means of the features and order 1 the
    mean of the label.

    Args:
      gaps: for each order 1..k, the largest absolute difference between real and synthetic over all moments of this
        order, repeated features included (order 2 includes the squares). No gap exceeds 2, so infinity stands for one
        that is not known; at odd orders above 1 that costs nothing with the logistic loss, whose odd part is -t/2.
      norm: r.
      loss: phi.

    Returns:
      The smallest bound over the five families of polynomials of degree 1..k.

    Raises:
      ValueError: the orders are not 1..k, a gap is negative or NaN, or `norm` is not positive.
    """
    orders = _checked_gaps(gaps)
    polynomial = _best_polynomial(orders, norm, loss)
    return UniformDeviation(
        terms={"approximation": polynomial.spread, "moments": polynomial.weighted_sum(orders)},
        trivial=loss.span(norm),
        assumptions=(
            *_setting(norm, loss),
            f"no moment of order 1 to {polynomial.degree} differs by more than its gap",
        ),
        source="docs/theory/excess_risk.md, sections 2 and 4",
        norm=norm,
        polynomial=polynomial,
    )


def uniform_deviation_from_marginals(
    gaps: Mapping[int, float] | float,
    norm: float,
    *,
    loss: Loss = LOGISTIC,
    max_degree: int | None = None,
    resolution: float = 0.0,
) -> UniformDeviation:
    """Bound the difference of risks by the L1 distances of marginals.

    A moment of order j is the mean of a function with values in [-1, 1] of the j features' marginal (joined with the
    label if j is odd), so it moves by at most the L1 distance of the two normalised marginals.

    The bound holds for more than linear models: for every additive score sum_a f_a(x_a) over the attributes with
    sum_a max abs(f_a) <= norm. With one indicator per category, the norm of an attribute is its largest weight.

    Args:
      gaps: nu/n: for each order j in 1..k, the largest L1 distance between the normalised real and synthetic
        marginals of at most j features, joined with the label if j is odd (joining it at even j as well can only
        enlarge the gap). One number stands for every order up to `max_degree`.
      norm: r.
      loss: phi.
      max_degree: the order that one number covers; left out otherwise.
      resolution: how far, in scaled units, a real and a synthetic value in one cell of a marginal may lie apart: for
        bins of width b, b if synthetic values are drawn anywhere in the bin and b/2 if they sit at its middle. Zero
        if cells are single values; otherwise the bound is for linear models only.

    Returns:
      The smallest bound over the five families of polynomials of degree 1..k.

    Raises:
      ValueError: the orders are not 1..k, a gap is negative or NaN, `norm` is not positive, `resolution` is negative,
        or `max_degree` is missing beside one number or given beside a mapping.
    """
    orders = _checked_gaps(_spread_out(gaps, max_degree))
    if not 0 <= resolution < math.inf:
        raise ValueError(f"`resolution` must be finite and not negative. Found {resolution}.")
    polynomial = _best_polynomial(orders, norm, loss)
    terms = {"approximation": polynomial.spread, "marginals": polynomial.weighted_sum(orders)}
    assumptions = [
        *_setting(norm, loss),
        f"no marginal of up to {polynomial.degree} features with the label differs by more than its gap in L1",
    ]
    if resolution > 0:
        terms["bins"] = loss.steepness(norm) * norm * resolution
        assumptions.append(f"values in one bin count as {resolution:g} apart at most, in scaled units")
    return UniformDeviation(
        terms=terms,
        trivial=loss.span(norm),
        assumptions=tuple(assumptions),
        source="docs/theory/excess_risk.md, sections 2, 3 and 5",
        norm=norm,
        polynomial=polynomial,
    )


def excess_risk(deviation: UniformDeviation, *, training_gap: float = 0.0) -> Bound:
    """Bound L(w_s, real) - min over norm1(w) <= r of L(w, real), for w_s trained on the synthetic rows.

    Twice the uniform deviation: once to carry w_s from the real to the synthetic rows, where it is at least as good
    as the best real model up to `training_gap`, and once to carry that model back.

    Args:
      deviation: the uniform deviation over the models considered.
      training_gap: how far the risk of w_s on the synthetic rows may be above the smallest; zero for a minimiser.

    Raises:
      ValueError: `training_gap` is negative or NaN.
    """
    if not training_gap >= 0:
        raise ValueError(f"`training_gap` must not be negative. Found {training_gap}.")
    terms = {f"2 x {name}": 2 * value for name, value in deviation.terms.items()}
    if training_gap > 0:
        terms["training"] = training_gap
    return Bound(
        terms=terms,
        trivial=deviation.trivial,
        assumptions=(*deviation.assumptions, "the model minimizes the synthetic risk up to the training gap"),
        source="docs/theory/excess_risk.md, section 1",
    )


def _setting(norm: float, loss: Loss) -> tuple[str, ...]:
    return (
        "features are scaled to [-1, 1] and the label is -1 or 1, in the real and in the synthetic rows",
        f"{loss.name} loss, models with norm1(w) <= {norm:g}",
    )


def _spread_out(gaps: Mapping[int, float] | float, max_degree: int | None) -> Mapping[int, float]:
    if isinstance(gaps, Mapping):
        if max_degree is not None:
            raise ValueError("`max_degree` goes with one number for all orders. Found a mapping: leave it out.")
        return gaps
    if max_degree is None or max_degree < 1:
        raise ValueError(f"One number for all orders needs `max_degree` of at least 1. Found {max_degree}.")
    return dict.fromkeys(range(1, max_degree + 1), gaps)


def _checked_gaps(gaps: Mapping[int, float]) -> tuple[float, ...]:
    if not gaps or set(gaps) != set(range(1, len(gaps) + 1)):
        raise ValueError(f"Gaps must be given for every order from 1 upwards. Found orders {sorted(gaps)}.")
    for order, gap in gaps.items():
        if not gap >= 0:
            raise ValueError(f"A gap must not be negative. Found {gap} at order {order}.")
    return tuple(min(float(gaps[order]), _LARGEST_GAP) for order in sorted(gaps))


@functools.lru_cache(maxsize=256)
def _best_polynomial(gaps: tuple[float, ...], norm: float, loss: Loss) -> PolynomialApproximation:
    if not 0 < norm < math.inf:
        raise ValueError(f"`norm` must be positive and finite. Found {norm}.")
    candidates = [tailored(loss, norm, gaps)]
    for degree in range(1, len(gaps) + 1):
        candidates += _families(loss, degree, norm)
    return min(candidates, key=lambda polynomial: polynomial.spread + polynomial.weighted_sum(gaps))


@functools.lru_cache(maxsize=256)
def _families(loss: Loss, degree: int, radius: float) -> tuple[PolynomialApproximation, ...]:
    iterates = (bernstein(loss, degree, radius, iterations=iterations) for iterations in _ITERATIONS)
    return (chebyshev(loss, degree, radius), minimax(loss, degree, radius), *iterates)
