"""Whether noisy counts show a relation between columns at all; and a sentence for the receipt where hardly any do.

Public: all follows from noisy counts and from the plan. No record is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc, chdtri

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import Filter
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.measure import marginal_deviation

_FALSE = 0.05
"""Of the relations that are called real, at most this share are noise, in expectation (Benjamini and Hochberg 1995)."""
_FEW = 0.5
"""Fewer columns than this share with a relation that is called real are worth a warning."""
_CLEAR = 0.2
"""The largest noise of a sum of counts, as a part of it, with which a relation is tested."""
_TINY = float(np.finfo(float).tiny)
_STRENGTH = 0.3
"""Cramer's V of a relation that a budget is judged by, between two columns of even halves."""
_MOST_EPSILON = 100.0
_MOST_NAMED = 3


def independence(counts: np.ndarray, variance: float, excess: float = 0.0) -> float:
    """The p-value of independence of two columns, by noisy counts [I, J] whose noise has `variance` v in each cell.

    With shares r and c of rows and columns and the sum n, the statistic is the sum of (counts - n r c)**2 / ((r + a)
    (c + a)), where n a**2 = v, so that both sampling and noise weigh about 1 in each cell. Were the columns
    independent, the residuals would be A1 (counts - n r c) A2' to first order, with A1 = 1 - r 1' and A2 = 1 - c 1', of
    covariance n (A1 diag(r) A1') x (A2 diag(c) A2') + v (A1 A1') x (A2 A2'). The first two moments of the statistic
    follow, and it is taken as a multiple of a chi-squared variable with these (Satterthwaite 1946). It costs no
    simulation; `infer chi2` simulates. Where the noise of the sum is more than `_CLEAR` of it, shares say nothing, and
    the p-value is 1.

    The square of Laplace noise varies more than that of normal noise: with the fourth cumulant k v**2 the statistic
    has k v**2 times the sum of squares of the diagonal of (A1' A1) x (A2' A2) more variance, A1 and A2 with their
    weights. Without it, 4% of the p-values of independent columns were below .005.

    Args:
        counts: float64 [I, J].
        variance: v.
        excess: k, the kurtosis of the noise in a cell beyond that of the normal law, 3 for Laplace noise.
    """
    total = max(float(counts.sum()), 1.0)
    rows, columns = (_shares(counts.sum(axis=axis)) for axis in (1, 0))
    added = math.sqrt(variance / total)
    weights = (rows + added)[:, None] * (columns + added)
    statistic = float(((counts - total * rows[:, None] * columns) ** 2 / np.maximum(weights, _TINY)).sum())
    if math.sqrt(counts.size * variance) > _CLEAR * total:
        return 1.0
    (drawn1, noise1, fourth1), (drawn2, noise2, fourth2) = (_covariances(shares, added) for shares in (rows, columns))
    parts = (total, drawn1, drawn2), (variance, noise1, noise2)
    mean = sum(scale * float(np.trace(one) * np.trace(other)) for scale, one, other in parts)
    half_variance = sum(
        scale * another * _dot(one, first) * _dot(other, second)
        for scale, one, other in parts
        for another, first, second in parts
    )
    half_variance += excess * variance**2 * fourth1 * fourth2 / 2
    return float(chdtrc(mean**2 / half_variance, statistic * mean / half_variance)) if half_variance > 0 else 1.0


def _shares(sums: np.ndarray) -> np.ndarray:
    sums = np.maximum(sums, 0.0)
    return np.asarray(sums / max(float(sums.sum()), _TINY))


def _covariances(shares: np.ndarray, added: float) -> tuple[np.ndarray, np.ndarray, float]:
    """A diag(shares) A', A A', and the sum of squares of the diagonal of A' A, with A = 1 - shares 1' whose rows are
    divided by the roots of the weights."""
    centered = (np.eye(len(shares)) - shares[:, None]) / np.sqrt(np.maximum(shares + added, _TINY))[:, None]
    fourth = float(((centered**2).sum(axis=0) ** 2).sum())
    return (centered * shares) @ centered.T, centered @ centered.T, fourth


def _dot(one: np.ndarray, other: np.ndarray) -> float:
    """The trace of the product of two symmetric matrices."""
    return float((one * other).sum())


@dataclass(frozen=True)
class Plan:
    """What a release could have measured, whatever its answers were.

    Args:
        rule: how costs add up.
        budget: of the release.
        deviation: of the noise in a cell of one pair, in records, where as many pairs as join all columns share half
            of the budget.
        focused: whether the pairs of one column had most of it already.
    """

    rule: Filter
    budget: Budget
    deviation: float
    focused: bool = False


def plan_of(curator: Curator, account: FilterAccount, rule: Filter, *, focused: bool = False) -> Plan:
    """The plan of a release, from its budget and its neighbors alone."""
    pairs = max(len(curator.domain.attributes) - 1, 1)
    deviation = marginal_deviation(account, curator.domain, account.divisible / (2 * pairs))
    return Plan(rule, curator.budget, deviation, focused)


def no_relations(
    columns: Sequence[str], measured: Sequence[NoisyMarginal], total: float, plan: Plan
) -> tuple[str, ...]:
    """A sentence where fewer than half of the columns have a relation that noise does not explain; else none.

    Args:
        columns: all of them.
        measured: the noisy counts, also of single columns.
        total: the number of records, as noise leaves it.
        plan: what the budget was spent on.
    """
    if len(columns) < 2:
        return ()
    tested = sorted(_tests(measured))
    real = real_pairs(tested, math.comb(len(columns), 2))
    related = {name for pair in real for name in pair}
    if len(related) >= _FEW * len(columns):
        return ()
    return (f"{_found(columns, real, len(tested), len(related))} {_help(columns, total, plan)}",)


def with_others(measured: Sequence[NoisyMarginal], pairs: Sequence[NoisyMarginal]) -> list[NoisyMarginal]:
    """`measured`, and those of `pairs` that it does not hold: a look at all pairs has few blocks and much noise, and
    must not stand for what was measured well since."""
    known = {pair for one in measured for pair in combinations(one.clique, 2)}
    return [*measured, *(one for one in pairs if one.clique not in known)]


def _tests(measured: Sequence[NoisyMarginal]) -> Iterator[tuple[float, Clique]]:
    """(p-value, pair) of each pair that was counted together, by the smallest table that holds it."""
    for pair, one in _smallest(measured).items():
        places = tuple(i for i, name in enumerate(one.clique) if name not in pair)
        counts = one.counts.sum(axis=places)
        if min(counts.shape) > 1:
            summed = one.counts.size // counts.size
            yield independence(counts, summed * one.scale**2), pair


def smallest_tables(measured: Sequence[NoisyMarginal]) -> dict[Clique, tuple[tuple[int, int], float]]:
    """By pair that was counted together, the shape of its counts, and the variance of noise in each of them."""
    found = {}
    for pair, one in _smallest(measured).items():
        sizes = dict(zip(one.clique, one.counts.shape, strict=True))
        shape = sizes[pair[0]], sizes[pair[1]]
        found[pair] = shape, one.scale**2 * one.counts.size / (shape[0] * shape[1])
    return found


def _smallest(measured: Sequence[NoisyMarginal]) -> dict[Clique, NoisyMarginal]:
    found: dict[Clique, NoisyMarginal] = {}
    for one in measured:
        for pair in combinations(one.clique, 2):
            known = found.get(pair)
            if known is None or (one.counts.size, one.scale) < (known.counts.size, known.scale):
                found[pair] = one
    return found


def real_pairs(tested: Sequence[tuple[float, Clique]], candidates: int) -> list[Clique]:
    """The pairs whose relation is more than noise, of those sorted by their p-values.

    All `candidates` count as tested: pairs are measured because they look related in these records, also by chance.
    """
    below = [rank for rank, (p_value, _) in enumerate(tested, 1) if p_value <= _FALSE * rank / candidates]
    return [pair for _, pair in tested[: max(below, default=0)]]


def _found(columns: Sequence[str], real: Sequence[Clique], tested: int, related: int) -> str:
    if not real:
        counted = f"of {tested:,} counted together" if tested else "none was worth its noise, so that none was counted"
        return (
            f"No pair of columns ({counted}) shows a relation that could be distinguished from noise: the columns of "
            f"the copy are as good as independent{', or related as noise alone relates them' if tested else ''}."
        )
    named = "; ".join(f"{one} with {other}" for one, other in real[:_MOST_NAMED])
    more = f"; and {len(real) - _MOST_NAMED:,} more" if len(real) > _MOST_NAMED else ""
    relations = "relation" if len(real) == 1 else "relations"
    return (
        f"Only {len(real):,} {relations} between columns could be distinguished from noise ({named}{more}): the other "
        f"{len(columns) - related:,} of {len(columns):,} columns of the copy are as good as independent, or related as "
        "noise alone relates them."
    )


def _help(columns: Sequence[str], total: float, plan: Plan) -> str:
    """What would show more, with the epsilon that the plan needs."""
    focus = "" if plan.focused else ", or `--focus COLUMN` for the relations of one column,"
    fewer = f"Fewer columns{focus} would help"
    epsilon = epsilon_to_tell(len(columns) - 1, total, plan)
    if epsilon is None:
        return f"{fewer}, and more rows; no epsilon up to {_MOST_EPSILON:g} would do alone."
    if epsilon <= plan.budget.epsilon:
        return (
            f"This budget is enough for relations of medium strength (Cramer's V of {_STRENGTH:g}) between columns "
            "that halve the rows: what relations there are may be weaker, or among few rows."
        )
    return f"{fewer}, and so would epsilon {epsilon:g}, for relations of medium strength (Cramer's V of {_STRENGTH:g})."


def epsilon_to_tell(pairs: int, total: float, plan: Plan) -> float | None:
    """The epsilon, rounded up to two digits, at which relations of medium strength would stand out from noise.

    So many pairs share half of the budget.

    Two columns of even halves with n records and Cramer's V have counts n (1 +- V) / 4, so that the statistic of
    `independence` has one degree of freedom and the noncentrality V**2 n**2 / (n + 4 v). It must exceed what one test
    of `pairs` needs by one standard deviation. None where noise is not what hides them, or too much would be needed.
    """
    needed = (math.sqrt(float(chdtri(1, _FALSE / pairs))) + 1) ** 2
    variance = ((_STRENGTH * total) ** 2 / needed - total) / 4
    if variance <= 0:
        return None
    times = plan.deviation**2 / variance
    here = plan.rule.divisible(plan.budget)

    def enough(epsilon: float) -> bool:
        return plan.rule.divisible(Budget(epsilon, plan.budget.delta)) >= times * here

    if not enough(_MOST_EPSILON):
        return None
    low, high = 1e-6, _MOST_EPSILON
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    digits = math.floor(math.log10(high)) - 1
    return math.ceil(high / 10**digits - 1e-9) * 10.0**digits
