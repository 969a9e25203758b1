"""Classes of records that explain how all columns go together: a mixture of products, fitted to noisy pairs.

Where a few things that nobody measured move many columns at once, each pair has a little of a relation. No model of a
few pairs has them all, and a model of all pairs is too large. Within a class columns are independent, and classes
differ; so a pair of columns (i, j) has the counts

    total * sum over classes k of share(k) * P_i(. | k) P_j(. | k)'.

Thousands of pairs that are each mostly noise determine these few tables well. What a pair has besides is left to be
measured by itself.

The fit is by weighted least squares, so that noisy counts below zero need not be cut off, which would bias them. Each
class's logarithm of the odds against the whole column has a normal prior with variance 1: where noise hides all
relations, classes come out alike.

Source: latent class analysis (Lazarsfeld and Henry 1968), here of the tables of pairs alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.threads import on_one_thread

Table = NDArray[np.float64]

_MOST_ITERATIONS = 400
_GOAL = 1e-9
"""What a watch hears of as the goal: the search has no certified gap."""
_START = 0.3
"""The standard deviation of the logarithms that the search starts from: classes that are all alike are a saddle."""

_LEAST_COUNT = 0.5
"""Of a code, in records: noisy counts may be below zero."""


def class_shares(
    columns: Sequence[NoisyMarginal],
    pairs: Sequence[NoisyMarginal],
    total: float,
    classes: int,
    watch: FitWatch = UNWATCHED,
) -> dict[str, Table]:
    """float64 [codes, classes] by column: how probable each code is in each of `classes` equally large classes.

    Post-processing; the same answers give the same classes.

    Args:
        columns: noisy counts of each column.
        pairs: noisy counts of pairs of these columns, in their codes.
        total: the number of records.
        classes: how many.
        watch: may end the fit, which then has what it found so far.
    """
    problem = _Problem.of(columns, pairs, total)
    start = np.random.default_rng(0).normal(0.0, _START, (len(problem.column), classes))
    from scipy.optimize import minimize  # loads much; before threads are limited, so that SciPy's are as well

    shares = problem.shares(_least(problem, start, minimize, watch))
    names = [one.clique[0] for one in columns]
    return dict(zip(names, np.split(shares, problem.starts[1:-1]), strict=True))


@on_one_thread
def _least(problem: _Problem, start: Table, minimize: Callable[..., Any], watch: FitWatch) -> Table:
    """Where the search ends that begins at `start`, or where the watch ends it."""
    steps, stopped = 0, False

    def step(_: object) -> None:
        nonlocal steps, stopped
        steps += 1
        if not watch.may_go_on(steps, math.inf):
            stopped = True
            raise StopIteration

    watch.begins(_GOAL)
    found = minimize(
        lambda x: problem.value_and_gradient(x.reshape(start.shape)),
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=step,
        options={"maxiter": _MOST_ITERATIONS},
    )
    watch.ends(steps, stopped=stopped)
    return np.asarray(found.x.reshape(start.shape))


def pair_of(shares: Mapping[str, Table], pair: tuple[str, ...], total: float) -> Table:
    """The counts that the classes expect of a pair of columns."""
    one, other = (shares[name] for name in pair)
    return np.asarray(total / one.shape[1] * one @ other.T)


def energies(pairs: Sequence[NoisyMarginal], expected: Mapping[Clique, Table]) -> Table:
    """[pairs]: how far (squared, in records) the records are from what is `expected`; without bias, so also below 0.

    Unbiased where what is expected does not depend on the noise of `pairs`.
    """
    return np.array(
        [((one.counts - expected[one.clique]) ** 2).sum() - one.counts.size * one.scale**2 for one in pairs]
    )


@dataclass(frozen=True, eq=False)
class _Problem:
    """The codes of all columns lie one after another.

    Args:
        starts: int64 [columns + 1]: where each column's codes begin.
        column: int64 [codes]: whose code it is.
        whole: float64 [codes]: the share of each in its column.
        counts: float64 [codes, codes]: noisy, symmetric; 0 where nothing was counted.
        precision: float64 [codes, codes]: one over the variance of the noise; 0 where nothing was counted.
        of_columns: float64 [codes]: the precision of a count of the column.
        total: the number of records.
    """

    starts: NDArray[np.int64]
    column: NDArray[np.int64]
    whole: Table
    counts: Table
    precision: Table
    of_columns: Table
    total: float

    @staticmethod
    def of(columns: Sequence[NoisyMarginal], pairs: Sequence[NoisyMarginal], total: float) -> _Problem:
        sizes = {one.clique[0]: one.counts.size for one in columns}
        starts = np.cumsum([0, *sizes.values()])
        begin = dict(zip(sizes, starts[:-1].tolist(), strict=True))
        counts, precision = np.zeros((starts[-1], starts[-1])), np.zeros((starts[-1], starts[-1]))
        for pair in pairs:
            one, other = pair.clique
            rows, others = (slice(begin[name], begin[name] + sizes[name]) for name in (one, other))
            counts[rows, others], counts[others, rows] = pair.counts, pair.counts.T
            precision[rows, others] = precision[others, rows] = 1 / pair.scale**2
        positive = [np.maximum(one.counts, _LEAST_COUNT) for one in columns]
        return _Problem(
            starts,
            np.repeat(np.arange(len(sizes)), list(sizes.values())),
            np.concatenate([one / one.sum() for one in positive]),
            counts,
            precision,
            np.repeat([1 / one.scale**2 for one in columns], list(sizes.values())),
            total,
        )

    def shares(self, logs: Table) -> Table:
        """[codes, classes]: the probabilities in each class, whose odds against the whole column are exp(`logs`)."""
        peaks = np.maximum.reduceat(logs, self.starts[:-1])
        odds = self.whole[:, None] * np.exp(logs - peaks[self.column])
        return np.asarray(odds / self._sums(odds)[self.column])

    def value_and_gradient(self, logs: Table) -> tuple[float, Any]:
        """Half of all weighted squares, each pair once, and the prior's; and its gradient, as a vector."""
        shares, each = self.shares(logs), self.total / logs.shape[1]
        above = each * shares @ shares.T - self.counts
        weighted = self.precision * above
        of_columns = each * shares.sum(axis=1) - self.total * self.whole
        pull = self.of_columns * of_columns
        value = float((weighted * above).sum() / 4 + (pull @ of_columns) / 2 + (logs**2).sum() / 2)
        by_share = each * (weighted @ shares + pull[:, None])
        inside = shares * (by_share - self._sums(shares * by_share)[self.column])
        return value, (inside + logs).ravel()

    def _sums(self, table: Table) -> Table:
        return np.asarray(np.add.reduceat(table, self.starts[:-1]))
