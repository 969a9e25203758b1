"""How well anyone could tell whether a person was in: the trade-off curve of a guarantee.

Whoever sees a release and guesses between two neighboring tables errs in two ways: a *false alarm* takes the second
table to be there when it is the first, a *miss* the other way round. A curve f is a guarantee where every guess with a
share a of false alarms has at least a share f(a) of misses (Dong, Roth and Su 2022, Definition 2.1). Pure chance has
f(a) = 1 - a, which nobody can be kept from.

Two kinds of curves are used, and the largest of several curves that each hold holds too:

- mu-Gaussian: f(a) = Phi(Phi^-1(1 - a) - mu), the exact curve of one Gaussian mechanism (ibid., equation 6).
- (epsilon, delta): f(a) = max(0, 1 - delta - e**epsilon a, e**-epsilon (1 - delta - a)) (Wasserman and Zhou 2010,
  Theorem 2.4; Kairouz, Oh and Viswanath 2015, Theorem 2.1).

A release with the curve f may come after an answer that is (e, d)-private, and depend on it. Take a test that has a
false alarms. Were the first step that of the other table, it would have at most e**e a + d, and then, by f, at least
f(e**e a + d) misses once the second step is that of the other table, too. Or the second step first: as f is convex, the
test hits at most 1 - f(a) then, and at most e**e (1 - f(a)) + d in all. The larger of the two bounds is taken.

Sampled noise is within a factor e**s of the noise that is proved about, up to a probability t, where s and t are what
every budget holds back (`EPSILON_SLACK`, `DELTA_SLACK`). With a false alarms here there are at most e**s a + t there;
with b misses there, at least 1 - e**s (1 - b) - t here. So the curve is lowered to 1 - t - e**s (1 - f(e**s a + t)).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.accounting.budget import DELTA_SLACK, EPSILON_SLACK, Budget
from counterfoil.accounting.composition import Composition
from counterfoil.accounting.event import PrivacyEvent
from counterfoil.accounting.filter import Filter, GaussianFilter

_PAIRS = 16
"""How many further deltas a rule is asked for its epsilon at."""

_LARGEST_DELTA = 0.25
_ROUNDING = 1e-12


@dataclass(frozen=True)
class TradeOff:
    """A guarantee as a curve of errors.

    Args:
        mu: all of it is mu-Gaussian; infinite where that is not known.
        pairs: epsilons and deltas, each of which holds.
        slack: the delta that is held back for sampled noise.
        before: the guarantee of what was answered before, such as a schema that was bought, of the same neighbors.
    """

    mu: float
    pairs: tuple[tuple[float, float], ...]
    slack: float = 0.0
    before: Budget | None = None

    def misses(self, false_alarms: np.ndarray) -> np.ndarray:
        """float64 [n]: at least this share is missed, at each share of false alarms in [0, 1], rounded down."""
        alarms = np.asarray(false_alarms, dtype=float)
        if self.before is None:
            return self._misses(alarms)
        growth, delta = math.exp(min(self.before.epsilon, 700.0)), self.before.delta
        first = 1 - delta - growth * (1 - self._misses(alarms))
        second = self._misses(np.minimum(growth * alarms + delta, 1.0))
        return np.clip(np.maximum(first, second) - _ROUNDING, 0.0, 1.0)

    def _misses(self, false_alarms: np.ndarray) -> np.ndarray:
        from scipy.special import ndtr, ndtri

        grown = math.exp(EPSILON_SLACK) if self.slack else 1.0
        alarms = np.minimum(grown * false_alarms + self.slack, 1.0)
        least = np.zeros(len(alarms))
        if math.isfinite(self.mu):
            least = ndtr(ndtri(1 - alarms) - self.mu) - _ROUNDING
        for epsilon, delta in self.pairs:
            growth = math.exp(min(epsilon, 700.0))
            lines = np.maximum(1 - delta - growth * alarms, (1 - delta - alarms) / growth) - _ROUNDING
            least = np.maximum(least, lines)
        return np.clip(1 - self.slack - grown * (1 - least), 0.0, 1.0)

    def found(self, false_alarms: float) -> float:
        """At most this share of those who are in is found by a guess with that share of false alarms."""
        return 1.0 - float(self.misses(np.array([false_alarms]))[0])


def trade_off(rule: Composition, budget: Budget, plan: Sequence[PrivacyEvent] | None = None) -> TradeOff:
    """The curve of everything that a release may answer within its budget.

    It rests on what was fixed before the first answer alone: the budget, and the noise where all of it was planned.
    What turned out to be spent under a filter bounds nothing (see `ledger`).

    Args:
        rule: how costs add up.
        budget: the guarantee of the release.
        plan: the events of all noises where they were fixed in advance, else None.
    """
    if budget.delta == 0 or rule.delta(budget) == 0:
        return TradeOff(math.inf, ((budget.epsilon, 0.0),))
    slack = budget.delta * DELTA_SLACK
    mu, pairs = math.inf, [(budget.epsilon, budget.delta)]
    deltas = np.geomspace(budget.delta, _LARGEST_DELTA, _PAIRS)[1:] if budget.delta < _LARGEST_DELTA else ()
    if isinstance(rule, GaussianFilter):
        mu = math.sqrt(rule.capacity(budget)) * (1 + _ROUNDING)
    elif isinstance(rule, Filter):
        capacity = rule.capacity(budget)
        pairs += [(rule.epsilon_of(capacity, float(delta)), float(delta)) for delta in deltas]
    elif plan:
        mu = math.sqrt(math.fsum(event.mu**2 for event in plan)) * (1 + _ROUNDING)
        # Convolutions take a while each: every fourth delta is asked for.
        pairs += [(rule.epsilon(plan, float(delta)), float(delta)) for delta in deltas[::4]]
    return TradeOff(mu, tuple(pair for pair in pairs if math.isfinite(pair[0])), slack)
