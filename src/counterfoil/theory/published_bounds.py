"""The bounds of Zhou et al. (2024) on the excess risk, with explicit and corrected constants.

Zhou et al., "Bounding the Excess Risk for Linear Models Trained on Marginal-Preserving, Differentially-Private,
Synthetic Data" (2024). Theorems 3.1 and 3.2 hold for models with norm2(w) <= tau, features in [-1, 1]^m, a label in
{-1, 1} and two tables of n rows whose marginals up to order d (label included) are within nu in L1, as counts. They
are stated there up to constants; the derivations are in docs/theory/excess_risk.md, sections 7 to 9. For a number
that says something use `excess_risk`, or `dimension_free` where nothing but n, d and nu is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from counterfoil.theory.bound import Bound
from counterfoil.theory.loss import LOGISTIC, Loss

_PAPER = "Zhou et al., Bounding the Excess Risk for Linear Models (2024)"


def theorem_3_1(gap: float, *, rows: int, features: int, order: int, radius: float, loss: Loss = LOGISTIC) -> Bound:
    """Theorem 3.1 for a K-Lipschitz loss: 10 K R / sqrt(d - 1) + 2 (K R + abs(phi(0))) c^(d - 1) nu / n.

    R = max(1, tau sqrt(m)) and c = (1 + 1/R) m max(1, tau). The first term is four times Popoviciu's Bernstein error
    5/4 omega(phi, 2R / sqrt(d - 1)); the paper's omega(phi, R / sqrt(d - 1)) forgets that the interval is 2R long.
    The paper's factor 3 in c is 1 + 1/R, at most 2.

    Args:
      gap: nu, in rows.
      rows: n.
      features: m.
      order: d, at least 2.
      radius: tau.
      loss: phi.

    Raises:
      ValueError: a parameter is out of range.
    """
    _check(gap, rows, order, radius)
    reach = max(1.0, radius * math.sqrt(features))
    error = 1.25 * loss.lipschitz * 2 * reach / math.sqrt(order - 1)
    return _theorem("Theorem 3.1", 4 * error, gap, rows, features, order, radius, loss)


def theorem_3_2(gap: float, *, rows: int, features: int, order: int, radius: float, loss: Loss = LOGISTIC) -> Bound:
    """Theorem 3.2 for a loss with a Lipschitz derivative (constant s): 12 s R^2 / (d - 1) + the term of Theorem 3.1.

    The error of the Bernstein polynomial is 3 s R^2 / (d - 1): for the logistic loss, with s = 1/4 and
    R = tau sqrt(m), that is 3 tau^2 m / (4 (d - 1)). The interval [-R, R] has length 2R, and shrinking it to [0, 1]
    multiplies the Lipschitz constant of the derivative by its square. Appendix A.2 has the length R and its first
    power, and so tau sqrt(m) / (d - 1), which is too small as soon as tau sqrt(m) is large.

    Arguments and errors as in `theorem_3_1`; also ValueError if the loss has a kink.
    """
    _check(gap, rows, order, radius)
    if not loss.smoothness < math.inf:
        raise ValueError(f"Theorem 3.2 needs a loss with a Lipschitz derivative. Found {loss.name}: use Theorem 3.1.")
    reach = max(1.0, radius * math.sqrt(features))
    error = 3 * loss.smoothness * reach**2 / (order - 1)
    return _theorem("Theorem 3.2", 4 * error, gap, rows, features, order, radius, loss)


def dimension_free(gap: float, *, rows: int, order: int, norm: float, loss: Loss = LOGISTIC) -> Bound:
    """Excess risk over norm1(w) <= r without m: min over N < d of 4 e_N + 2^(N + 1) K r nu / n.

    e_N = min(K r / sqrt(N), s r^2 / (2 N)) is the error of the Bernstein polynomial of degree N. Models with
    norm2(w) <= tau are covered by r = tau sqrt(m).

    Args:
      gap: nu, in rows.
      rows: n.
      order: d, at least 2.
      norm: r.
      loss: phi.

    Raises:
      ValueError: a parameter is out of range.
    """
    _check(gap, rows, order, norm)
    steepness = loss.steepness(norm)

    def terms(degree: int) -> dict[str, float]:
        error = min(steepness * norm / math.sqrt(degree), loss.smoothness * norm**2 / (2 * degree))
        return {"approximation": 4 * error, "marginals": 2.0 ** (degree + 1) * steepness * norm * gap / rows}

    best = min((terms(degree) for degree in range(1, min(order, 64))), key=lambda parts: sum(parts.values()))
    return Bound(
        terms=best,
        trivial=loss.span(norm),
        assumptions=(
            f"{loss.name} loss, models with norm1(w) <= {norm:g}, features in [-1, 1], labels -1 or 1",
            f"marginals of up to {order} attributes, label included, within {gap:g} of {rows} rows in L1",
        ),
        source="docs/theory/excess_risk.md, section 8",
    )


@dataclass(frozen=True, slots=True)
class LowerBoundParameters:
    """The hard instance of Theorem 4.1 at m features: no synthesizer fed with marginals alone beats `excess_risk`.

    For n large enough there are a convex loss, a distribution of rows in {-1, 1}^m x {-1, 1} and answers to all its
    marginals of order <= d, each right to `tolerance`, from which no algorithm makes a table such that the model
    trained on it has expected excess risk below `excess_risk`, Omega(1 / ln^3 n), with all but negligible
    probability over the n real rows. The statement is asymptotic: its last step needs n >= 800 ln^8 n, n > 1e15.

    Attributes:
      features: m.
      margin: gamma = (m/2)^(-3/5).
      log_rows: ln n = gamma^(-1/3).
      tolerance: 1/n.
      order_over_constant: d / c', where c' > 0 is an absolute constant that Dagan and Feldman do not compute.
      radius: tau = 1 / sqrt(m).
      lipschitz: of the loss: 2 + gamma/2 (printed: 2).
      strong_convexity: of the loss: gamma/4 (printed: gamma).
      excess_risk: gamma/40 (printed: gamma/16; 1/8 - 2/20 = 1/40).
      large_enough: whether n >= 800 ln^2(n) / gamma^2.
      source: the theorem.
    """

    features: int
    margin: float
    log_rows: float
    tolerance: float
    order_over_constant: float
    radius: float
    lipschitz: float
    strong_convexity: float
    excess_risk: float
    large_enough: bool
    source: str = f"{_PAPER}, Theorem 4.1 and Definition B.1; Dagan and Feldman (2020), Theorem 5"


def lower_bound_parameters(features: int) -> LowerBoundParameters:
    """Theorem 4.1's parameters (Definition B.1 with r = 5/6) for m = `features`.

    Raises:
      ValueError: `features` is not above 2e, as Definition B.1 asks.
    """
    if not features > 2 * math.e:
        raise ValueError(f"`features` must be at least 6 (above 2e). Found {features}.")
    margin = (features / 2) ** -0.6
    log_rows = margin ** (-1 / 3)
    return LowerBoundParameters(
        features=features,
        margin=margin,
        log_rows=log_rows,
        tolerance=math.exp(-log_rows),
        order_over_constant=log_rows / -math.log(margin),
        radius=1 / math.sqrt(features),
        lipschitz=2 + margin / 2,
        strong_convexity=margin / 4,
        excess_risk=margin / 40,
        large_enough=log_rows >= math.log(800) + 2 * math.log(log_rows) - 2 * math.log(margin),
    )


def _theorem(
    name: str, approximation: float, gap: float, rows: int, features: int, order: int, radius: float, loss: Loss
) -> Bound:
    """Both theorems: four times the error of the polynomial and twice the term of the marginals."""
    reach = max(1.0, radius * math.sqrt(features))
    height = loss.lipschitz * reach + abs(loss.at(0.0))
    growth = (order - 1) * math.log((1 + 1 / reach) * features * max(1.0, radius))
    marginals = 2 * height * gap / rows * (math.exp(growth) if growth < 700 else math.inf)
    terms = {"approximation": approximation, "marginals": marginals}
    return Bound(
        terms=terms,
        trivial=loss.span(radius * math.sqrt(features)),
        assumptions=(
            f"{loss.name} loss, models with norm2(w) <= {radius:g}, {features} features in [-1, 1], labels -1 or 1",
            f"marginals of up to {order} attributes, label included, within {gap:g} of {rows} rows in L1",
        ),
        source=f"{_PAPER}, {name}, with the constants of docs/theory/excess_risk.md, section 7",
    )


def _check(gap: float, rows: int, order: int, radius: float) -> None:
    if not gap >= 0:
        raise ValueError(f"`gap` must not be negative. Found {gap}.")
    if rows < 1:
        raise ValueError(f"`rows` must be at least 1. Found {rows}.")
    if order < 2:
        raise ValueError(f"`order` must be at least 2: one feature and the label. Found {order}.")
    if not 0 < radius < math.inf:
        raise ValueError(f"The norm of the models must be positive and finite. Found {radius}.")
