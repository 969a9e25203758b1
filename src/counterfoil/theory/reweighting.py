"""Accuracy of reweighting over a private density, from sizes to errors and from errors to sizes.

Bojkovic and Loh, "Differentially Private Synthetic Data with Private Density Estimation": Theorem II.1 (Boedihardjo,
Strohmer and Vershynin 2022), Theorems B.1, III.1 and IV.1 with their corollaries. Each is here as printed and as it can
be proved. `accuracy` has the best constants and is what to use; `residual_bound` is the one to use after the fact.
Neighbors replace one record, so that n is public. The events are those of `reweighting_lemmas`.

The proof in one place. Let a_f be the averages over n records, A_f = a_f + lambda_f the noisy ones, h the density on
the m points that the program returns, rho either the law nu of the records or their own empirical distribution.
(1) No noise exceeds t. (2) Some density h_0 on the points has averages within s of rho's. (3) The averages of the n
records are within r of nu's. (4) The averages of the k drawn rows are within u of h's. Where all hold, h_0 is within
s + r + t of the noisy averages, h at least as close, hence within s + r + 2 t of the real ones, and the rows within
s + r + 2 t + u. If rho is the empirical distribution, r drops out; if all of the domain is on the support, so does s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.theory import reweighting_lemmas as lemmas
from counterfoil.theory.bound import Bound
from counterfoil.theory.private_evolution import Parameter
from counterfoil.theory.reweighting_lemmas import (
    INDEPENDENT_RECORDS,
    PAPER,
    Averages,
    Kind,
    Reference,
    at_least_one,
    positive,
    probability,
)

REPLACE_ONE = "neighbors replace one record; n is public"
INDEPENDENT_ROWS = "rows are drawn independently from the fitted density"
OPTIMAL = "the program is solved to optimality"
INDEPENDENT_POINTS = "points are drawn independently from the reference"


@dataclass(frozen=True)
class AccuracyBound(Bound):
    """A bound on the largest error over a family of averages, which may fail.

    Attributes:
        failures: at most how probable it is that an event the bound rests on fails, by name.
    """

    failures: Mapping[str, float]

    @property
    def failure_probability(self) -> float:
        """At most the probability that the bound does not hold: the sum over the events, at most 1."""
        return min(1.0, math.fsum(self.failures.values()))

    @property
    def vacuous(self) -> bool:
        """Whether the bound says nothing: not below the largest error, or not above probability 0."""
        return not (self.value < self.trivial and self.failure_probability < 1)

    def __str__(self) -> str:
        return f"{super().__str__()}, with probability at least {1 - self.failure_probability:.4g}"


@dataclass(frozen=True)
class Sizes:
    """What a wished accuracy needs.

    Attributes:
        records: n.
        rows: k.
        points: m; None for the whole domain.
        noise: the scale on every average that n and epsilon give.
        epsilon: spent in total, the reference included.
        condition: K that `points` was computed with.
        conditions: the least n by condition; `records` is the largest, rounded up.
        bound: the error that is then guaranteed.
    """

    records: int
    rows: int
    points: int | None
    noise: float
    epsilon: float
    condition: float
    conditions: Mapping[str, float]
    bound: AccuracyBound


def n_boolean_marginals(n_attributes: int, order: int) -> int:
    """C(p, 0) + ... + C(p, d): products of up to d of p Boolean attributes, the constant among them.

    The constant's average is 1 for any data: it needs no noise, and with noise it only loosens the program.

    Raises:
        ValueError: `order` is not in 0..`n_attributes`.
    """
    if not 0 <= order <= n_attributes:
        raise ValueError(f"`order` must be in 0..{n_attributes}, the number of attributes. Found {order}.")
    return sum(math.comb(n_attributes, size) for size in range(order + 1))


def noise_scale(
    records: float,
    *,
    n_functions: int,
    epsilon: float,
    delta: float = 0.0,
    span: float = 2.0,
    joint_sensitivity: float | None = None,
) -> Parameter:
    """The noise on every average: J_1 / (n epsilon) for Laplace, J_2 / (n mu) for Gaussian noise (delta above 0).

    Formal guarantee: a replaced record moves each average by at most span / n, so that all together move by at most
    J_1 = span F over n in L1 and J_2 = span sqrt(F) over n in L2. Laplace noise of scale J_1 / (n epsilon) is
    epsilon-private; Gaussian noise is mu-Gaussian private, with mu the largest at (epsilon, delta), exactly. The paper
    fixes the scale by the accuracy and then asks whether n is large enough; here n and epsilon fix it.

    Args:
        records: n.
        n_functions: F.
        epsilon, delta: the budget of the averages alone.
        span: length of the interval that holds a function's values.
        joint_sensitivity: n times the most that a replaced record moves all averages, in L1 for Laplace and in L2 for
            Gaussian noise, if that is known to be less. Boolean marginals with values 0 and 1 have J_1 = F - 1.

    Raises:
        ValueError: a parameter is out of range.
    """
    budget = Budget(epsilon, delta)
    gaussian = budget.delta > 0
    most = positive(span=span) * (math.sqrt(n_functions) if gaussian else at_least_one(n_functions=n_functions))
    moved = most if joint_sensitivity is None else positive(joint_sensitivity=joint_sensitivity)
    value = moved / (at_least_one(records=records) * (largest_mu(budget) if gaussian else epsilon))
    return Parameter(value, (REPLACE_ONE, f"{'Gaussian' if gaussian else 'Laplace'} noise"), f"{PAPER}, Theorem II.1")


def accuracy(
    n_functions: int,
    *,
    noise: float,
    reference: Reference,
    points: int | None,
    rows: int | None,
    records: int,
    failure_probability: float,
    kind: Kind = "laplace",
    grid: float = 0.0,
    span: float = 2.0,
    against: Averages = "data",
) -> AccuracyBound:
    """The best bound known here on max_f abs(average of the synthetic rows - average `against`), by its four events.

    Terms as in the proof above: 2 t for the noise, s for the support, u for the rows, and r for the records, which is
    there once if the reference's target is the population, and once if `against` is. The support's is the least of
    Chebyshev's bound, those for clipped and for bounded weights, and 0 if all cells are likely on it. The failure
    probability is shared out among the events so that the sum is about the least.

    Args:
        n_functions: F.
        noise: scale of the independent Laplace noise on averages, or deviation of Gaussian; the largest if they differ.
        reference: what the points are drawn from.
        points: m; None if the support is the whole finite domain.
        rows: k; None if weighted points are released.
        records: n.
        failure_probability: beta, the reference's own included.
        kind, grid: of noise, as in `largest_noise`.
        span: length of the interval that holds a function's values; 1 for functions with values 0 and 1.
        against: what the synthetic averages are compared with.

    Raises:
        ValueError: a parameter is out of range, or the reference alone is wrong with `failure_probability` or more.
    """
    wrong = dict(reference.failures or {}) if points is not None else {}
    left = _left(failure_probability, wrong)
    best: tuple[float, dict[str, float], dict[str, float]] | None = None
    for target, support, fixed in _supports(n_functions, reference, points, span, left):
        costs = _costs(n_functions, noise, rows, records, kind, span, _times_records(target, against)) | support
        shares = _shared(costs, left - fixed)
        terms = {name: cost(shares[name]) for name, cost in costs.items()}
        if best is None or math.fsum(terms.values()) < best[0]:
            if fixed:
                shares["support"] = fixed
            best = math.fsum(terms.values()), {"support": 0.0} | terms, shares
    assert best is not None
    _, terms, shares = best
    if grid:
        terms["noise"] = 2 * math.ceil(terms["noise"] / 2 / grid) * grid
    order = ("noise", "support", "rows", "records")
    return AccuracyBound(
        terms={name: terms[name] for name in order if name in terms},
        trivial=span,
        assumptions=_assumptions(reference, points, rows, "records" in terms, kind),
        source=f"{PAPER}, Theorem II.1, best constants of counterfoil.theory.reweighting",
        failures={name: shares[name] for name in order if name in shares} | wrong,
    )


def residual_bound(
    residual: float,
    n_functions: int,
    *,
    noise: float,
    failure_probability: float,
    kind: Kind = "laplace",
    grid: float = 0.0,
    span: float = 2.0,
) -> AccuracyBound:
    """The error of rows, or of weighted points, that are at hand: their distance from the noisy averages, plus t.

    The residual max_f abs(average of the rows - noisy average) can be computed from what is released, so that neither
    the support nor the drawing nor the solver has to be trusted, whatever the fit. Against the data only.

    Raises:
        ValueError: a parameter is out of range.
    """
    if not residual >= 0:
        raise ValueError(f"`residual` must not be negative. Found {residual}.")
    largest = lemmas.largest_noise(
        noise, n_answers=n_functions, failure_probability=failure_probability, kind=kind, grid=grid
    )
    assumptions = (f"independent {kind.capitalize()} noise on every average",)
    terms = {"residual": residual, "noise": largest}
    return AccuracyBound(terms, span, assumptions, PAPER, {"noise": failure_probability})


def sizes(
    error: float,
    n_functions: int,
    *,
    failure_probability: float,
    reference: Reference,
    epsilon: float,
    delta: float = 0.0,
    whole_domain: bool = False,
    span: float = 2.0,
    joint_sensitivity: float | None = None,
    against: Averages = "data",
) -> Sizes:
    """n, k and m for a wished error and failure probability: the inverse of `accuracy`.

    The error and the failure probability are split evenly among the terms, and each size is the least for its own; the
    `bound` is that of `accuracy` at these sizes, which splits better, and so at most the error.

    Args:
        error: wished, below `span`.
        n_functions: F.
        failure_probability: beta, the reference's own included.
        reference: for a histogram, one whose condition holds at the number of records that comes out.
        epsilon, delta: of the averages alone.
        whole_domain: whether the support is the whole finite domain, so that no points are drawn.
        span, joint_sensitivity: as in `noise_scale`.
        against: as in `accuracy`.

    Raises:
        ValueError: a parameter is out of range.
    """
    if not 0 < error < span:
        raise ValueError(f"`error` must be in (0, {span:g}), below the largest there is. Found {error}.")
    left = _left(failure_probability, {} if whole_domain else reference.failures or {})
    kind: Kind = "gaussian" if delta > 0 else "laplace"
    at_one = noise_scale(
        1, n_functions=n_functions, epsilon=epsilon, delta=delta, span=span, joint_sensitivity=joint_sensitivity
    ).value
    found = []
    for points, parts, events, times in _points(error, n_functions, reference, left, whole_domain, span, against):
        each, share = error / parts, left / events
        quantile = lemmas.largest_noise(1.0, n_answers=n_functions, failure_probability=share, kind=kind)
        size = partial(lemmas.average_size, n_functions=n_functions, failure_probability=share, span=span)
        needed = {"noise": 2 * at_one * quantile / each}
        if times:
            needed["records"] = size(each / times)
        found.append((points, size(each), needed))
    points, rows, conditions = min(found, key=lambda option: option[0] or 0)
    records = max(1, math.ceil(max(conditions.values())))
    bound = accuracy(
        n_functions, noise=at_one / records, reference=reference, points=points, rows=rows, records=records,
        failure_probability=failure_probability, kind=kind, span=span, against=against,
    )  # fmt: skip
    return Sizes(records, rows, points, at_one / records, epsilon, reference.condition, conditions, bound)


_Cost = Callable[[float], float]


def _costs(
    n_functions: int, noise: float, rows: int | None, records: int, kind: Kind, span: float, times_records: int
) -> dict[str, _Cost]:
    """Each error but the support's, as a function of the probability that it is exceeded."""

    def largest(share: float) -> float:
        return 2 * lemmas.largest_noise(noise, n_answers=n_functions, failure_probability=share, kind=kind)

    def averages(size: int, times: int) -> _Cost:
        return lambda share: (
            times * lemmas.average_error(size, n_functions=n_functions, failure_probability=share, span=span)
        )

    costs: dict[str, _Cost] = {"noise": largest}
    if rows is not None:
        costs["rows"] = averages(rows, 1)
    if times_records:
        costs["records"] = averages(records, times_records)
    return costs


def _left(failure_probability: float, wrong: Mapping[str, float]) -> float:
    """What the reference leaves of the failure probability."""
    left = probability(failure_probability) - math.fsum(wrong.values())
    if not left > 0:
        raise ValueError(
            f"`failure_probability` must exceed the reference's own, {math.fsum(wrong.values()):g}. Found "
            f"{failure_probability}: build the reference with a smaller one."
        )
    return left


def _supports(
    n_functions: int, reference: Reference, points: int | None, span: float, left: float
) -> list[tuple[Averages, dict[str, _Cost], float]]:
    """The ways to bound the support's error: the target it holds for, its cost, and a fixed failure probability."""
    if points is None:
        return [("data", {}, 0.0)]
    size, half, condition, most = points, span / 2, reference.condition, reference.ratio

    def variance(share: float) -> float:
        return half * lemmas.variance_error(
            size, n_functions=n_functions, condition=condition, failure_probability=share
        )

    def clipping(share: float) -> float:
        return half * lemmas.clipping_error(
            size, n_functions=n_functions, condition=condition, failure_probability=share
        )

    def bounded(share: float) -> float:
        return half * lemmas.ratio_error(
            size, n_functions=n_functions, condition=condition, ratio=most, failure_probability=share
        )

    costs: list[_Cost] = [variance, clipping, *([bounded] if most < math.inf else [])]
    ways: list[tuple[Averages, dict[str, _Cost], float]] = [
        (reference.target, {"support": cost}, 0.0) for cost in costs
    ]
    if reference.cells is not None:
        missed = lemmas.coverage_failure(size, cells=reference.cells, lightest=reference.lightest)
        if missed < left:
            ways.append(("data", {}, missed))
    return ways


def _points(
    error: float,
    n_functions: int,
    reference: Reference,
    left: float,
    whole_domain: bool,
    span: float,
    against: Averages,
) -> list[tuple[int | None, int, int, int]]:
    """The ways to choose m: into how many parts the error and `left` are split, and how often the records' comes."""
    plain = _times_records("data", against)
    terms = 3 if plain else 2
    if whole_domain:
        return [(None, terms, terms, plain)]
    times = _times_records(reference.target, against)
    parts = 4 if times else 3
    each, share, condition = 2 / span * error / parts, left / parts, reference.condition
    fewest = min(
        lemmas.variance_points(each, n_functions=n_functions, condition=condition, failure_probability=share),
        lemmas.clipping_points(each, n_functions=n_functions, condition=condition, failure_probability=share),
    )
    if reference.ratio < math.inf:
        bounded = lemmas.ratio_points(
            each, n_functions=n_functions, condition=condition, ratio=reference.ratio, failure_probability=share
        )
        fewest = min(fewest, bounded)
    ways: list[tuple[int | None, int, int, int]] = [(fewest, parts, parts, times)]
    if reference.cells is not None:
        share = left / (terms + 1)
        covering = lemmas.coverage_points(cells=reference.cells, lightest=reference.lightest, failure_probability=share)
        ways.append((covering, terms, terms + 1, plain))
    return ways


def _times_records(target: Averages, against: Averages) -> int:
    """How often r comes: from the target to the data, and from there to what the rows are compared with."""
    return (target == "population") + (against == "population")


def _shared(costs: Mapping[str, _Cost], failure: float) -> dict[str, float]:
    """Shares of a failure probability that make the sum of costs about the least.

    At the least sum all derivatives are equal, that is, a share is proportional to the derivative of its cost by the
    logarithm of the share, which hardly varies: a fixed point, damped. Any shares give a valid bound.
    """
    shares = dict.fromkeys(costs, failure / len(costs))
    best, least = shares, math.inf
    for _ in range(40):
        values = {name: cost(shares[name]) for name, cost in costs.items()}
        total = math.fsum(values.values())
        if not total < math.inf:
            break
        if total < least:
            best, least = shares, total
        pulls = {name: math.sqrt(shares[name] * (cost(0.99 * shares[name]) - values[name]) + 1e-300)
                 for name, cost in costs.items()}  # fmt: skip
        whole = math.fsum(pulls.values())
        shares = {name: failure * max(pull / whole, 1e-9) * (1 - 1e-8) for name, pull in pulls.items()}
    return dict(best)


def _assumptions(
    reference: Reference, points: int | None, rows: int | None, sampled: bool, kind: Kind
) -> tuple[str, ...]:
    rests = [REPLACE_ONE, f"independent {kind.capitalize()} noise on every average", OPTIMAL]
    rests += [INDEPENDENT_ROWS] if rows is not None else ["weighted points are released"]
    rests += [INDEPENDENT_RECORDS] if sampled else []
    rests += ["the support is the whole domain"] if points is None else [INDEPENDENT_POINTS, *reference.assumptions]
    return tuple(dict.fromkeys(rests))


def whole(value: float) -> int:
    """The least whole number of at least 1 that is no less than `value`."""
    return max(1, math.ceil(value))
