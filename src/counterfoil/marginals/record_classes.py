"""Whether hidden classes of the records explain how a wide table's columns go together, and a model that starts there.

All pairs of columns are counted in blocks, in two queries. Classes are fitted to the first; the second, whose noise is
another, says without bias how much of all relations they explain, and how much as many single pairs do as rounds would
measure. Where classes are far ahead, all pairs are counted once more, with most of their budget, and the model begins
with the classes; where that is not clear, it is asked once more; else rounds go on as if nothing had been asked.

How much the first two queries cost follows from the noise. Of a symmetric matrix of N codes whose cells have the
standard deviation s, a direction with the eigenvalue l stands out of the noise where l exceeds s sqrt(N) (Baik, Ben
Arous, Péché 2005). A strong one is taken for public: a part of what the columns, as they were measured, allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import CLASS, Clique, Domain
from counterfoil.graphical_model.classed_model import with_class
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.hidden_classes import class_shares, energies, pair_of
from counterfoil.graphical_model.junction_tree import megabytes
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.measure import measure
from counterfoil.marginals.one_way import OneWay
from counterfoil.marginals.rank_blocks import RankBlocks

FEWEST_COLUMNS = 20
"""With fewer columns, rounds measure most of what goes together."""

SHARE = 0.3
"""Of what marginals may cost: for all pairs, where classes explain them."""

LEAST_LOOK, MOST_LOOK = 0.02, 0.08
"""Of the same: what is spent before classes are known to help; or twice that, where it is not clear."""

AHEAD = 0.05
"""Of all relations, by which classes must explain more than single pairs do."""

_LEFT = 0.5
"""Of what the pairs leave: where they are most of all pairs, no classes can be far ahead, and may yet leave little."""

_STRONGEST = 0.016
"""Half of the squared eigenvalue of a strong direction through all pairs, as a part of the product of what their
columns concentrate: of fifteen wide tables the strongest had .0003 to .026 (`benchmarks.wide_tables --strongest`)."""

_CLEAR, _HIDDEN = 5.0, 2.5
"""How many times that eigenvalue stands above the noise: where half of a look need not show more, and where noise hides
in all that may be spent on pairs what classes could explain."""

_SEEN = 3.0
"""Standard deviations of its noise, by which what classes explain must exceed nothing."""

_OF_MODEL = 1 / 8
"""Of what rules leave of the model's largest size, which the tables of columns and classes may take besides."""

_LEAST_COUNT = 0.5
"""Of a code, in records: noisy counts may be below zero."""

_MOST_CELLS = 1 << 19
"""Of all pairs, which the fit of the classes goes through four hundred times: up to seven seconds a fit, of three."""


@dataclass(frozen=True, eq=False)
class Start:
    """What rounds start from.

    Args:
        estimator: with or without classes.
        cost: of all that was asked (mu squared).
        pairs: noisy counts of all pairs in blocks; none where nothing was asked.
    """

    estimator: WarmEstimator
    cost: float
    pairs: Sequence[NoisyMarginal] = ()


def start_with_classes(
    account: FilterAccount,
    one_way: OneWay,
    estimator: WarmEstimator,
    mu_squared: float,
    *,
    classes: int,
    rivals: int,
    max_size: float,
    focus: str | None = None,
    watch: FitWatch = UNWATCHED,
) -> Start:
    """The estimator with a hidden class, if that explains more than `rivals` single pairs.

    Args:
        account: what is charged.
        one_way: the measured columns.
        estimator: fitted to the columns.
        mu_squared: what all marginals may cost.
        classes: how many.
        rivals: how many pairs rounds would measure.
        max_size: the most megabytes that the model may take.
        focus: a column that its pairs with the other ones predict. It is left out of the classes: were it in them,
            columns that say the same of it would count as independent evidence within each class.
        watch: may end the fits of the classes, and counts the time of what reads no record: how long a count takes
            must not decide how rounds end.
    """
    blocks, domain = one_way.blocks(), one_way.coarsening.fine
    pairs = list(combinations(domain.attributes, 2))
    rules = list(one_way.estimator.structural_zeros)
    of_focus = [] if focus is None else [(name, focus) for name in domain.attributes if name != focus]
    classed = [(name, CLASS) for name in domain.attributes if name != focus]
    small = _fits(domain, blocks, rules, [*of_focus, *classed], classes, max_size)
    if len(domain.attributes) < FEWEST_COLUMNS or not small:
        return Start(estimator, 0.0)
    look = _Look(account, one_way, blocks, estimator.count([]), pairs, watch)
    if look.visibility(mu_squared * SHARE) < _HIDDEN:
        return Start(estimator, 0.0)
    spent = look.share(mu_squared)
    counted, tested = look.count(mu_squared * spent / 2), look.count(mu_squared * spent / 2)
    seen = look.compared(counted, tested, classes, rivals)
    counted = look.combined(counted, tested)
    if seen.is_unclear:
        tested, spent = look.count(mu_squared * spent), 2 * spent
        seen = look.compared(counted, tested, classes, rivals)
        counted = look.combined(counted, tested)
    if not seen.is_ahead:
        return Start(estimator, spent * mu_squared, counted)
    counted = look.combined(counted, look.count((SHARE - spent) * mu_squared))
    shares = class_shares(look.columns, counted, look.total, classes, watch)
    within = {name: share for name, share in shares.items() if name != focus}
    return Start(_classed(estimator, one_way, blocks, within, classes), SHARE * mu_squared, counted)


@dataclass(frozen=True, eq=False)
class _Look:
    """All pairs in blocks, and what is expected of them.

    Args:
        account: what is charged.
        one_way: the measured columns.
        blocks: the values that are counted together.
        total: the number of records.
        pairs: all of them.
        watch: see `start_with_classes`.
    """

    account: FilterAccount
    one_way: OneWay
    blocks: RankBlocks
    total: float
    pairs: Sequence[Clique]
    watch: FitWatch

    @cached_property
    def columns(self) -> list[NoisyMarginal]:
        """The noisy counts of blocks; their scale is kept that of one code, as a fit keeps it."""
        merged, blocks = self.one_way.merged(), self.blocks
        return [NoisyMarginal(one.clique, blocks.counts(one.clique, one.counts), one.scale) for one in merged]

    @cached_property
    def _positive(self) -> dict[str, np.ndarray]:
        return {one.clique[0]: np.maximum(one.counts, _LEAST_COUNT) for one in self.columns}

    @cached_property
    def independent(self) -> dict[Clique, np.ndarray]:
        """The counts of all pairs, were columns independent."""
        share = {name: counts / counts.sum() for name, counts in self._positive.items()}
        return {(one, other): self.total * np.outer(share[one], share[other]) for one, other in self.pairs}

    def visibility(self, mu_squared: float) -> float:
        """How many times above the noise of all pairs at that cost a table's strongest direction is expected."""
        query = MarginalCounts(self.one_way.coarsening.fine, tuple(self.pairs))
        deviation = self.account.deviation(query, self.account.noise(mu_squared))
        return self._strongest / (deviation * math.sqrt(sum(one.counts.size for one in self.columns)))

    def share(self, mu_squared: float) -> float:
        """The part of `mu_squared` for a look, of which half shows clearly what is expected, within limits."""
        needed = 2 * SHARE * (_CLEAR / self.visibility(mu_squared * SHARE)) ** 2
        return min(max(needed, LEAST_LOOK), MOST_LOOK)

    @property
    def _strongest(self) -> float:
        """The eigenvalue of the strongest direction that is expected of all pairs, in records."""
        concentrated = [float((counts / counts.sum()) @ (counts / counts.sum())) for counts in self._positive.values()]
        of_pairs = (sum(concentrated) ** 2 - sum(one**2 for one in concentrated)) / 2
        return self.total * math.sqrt(2 * _STRONGEST * of_pairs)

    def count(self, mu_squared: float) -> Sequence[NoisyMarginal]:
        """All pairs in blocks, at that cost."""
        noise, domain = self.account.noise(mu_squared), self.one_way.coarsening.fine
        return measure(self.account, domain, self.pairs, noise, coarsening=self.blocks.coarsening)

    def combined(self, *counted: Sequence[NoisyMarginal]) -> Sequence[NoisyMarginal]:
        """What all of `counted` say together."""
        return combine(self.blocks.coarsening.domain, chain.from_iterable(counted))

    def compared(
        self, counted: Sequence[NoisyMarginal], tested: Sequence[NoisyMarginal], classes: int, rivals: int
    ) -> _Compared:
        """How much of all relations classes explain, that are fitted to what was `counted`, and the `rivals` pairs.

        What classes explain is seen in what was `tested`, whose noise is another. Which pairs are the strongest is seen
        in the one, and how strong they are in the other, both ways. All relations are seen in both together.
        """
        shares = class_shares(self.columns, counted, self.total, classes, self.watch)
        with self.watch.working():
            expected = {pair: pair_of(shares, pair, self.total) for pair in self.pairs}
            first, second = energies(counted, self.independent), energies(tested, self.independent)
            together = self.combined(counted, tested)
            by_second, by_first = np.argsort(-second)[:rivals], np.argsort(-first)[:rivals]
            of_pairs = (first[by_second].sum() + second[by_first].sum()) / 2
            of_classes = (second - energies(tested, expected)).sum()
            moved = sum(((expected[pair] - self.independent[pair]) ** 2).sum() for pair in self.pairs)
            squares = 4 * moved * tested[0].scale ** 2
            return _Compared(
                float(of_classes),
                float(of_pairs),
                max(float(energies(together, self.independent).sum()), float(of_classes)),
                math.sqrt(squares),
                _deviation([together[i] for i in by_first.tolist()], of_pairs),
                _deviation(together, 0.0),
            )


@dataclass(frozen=True)
class _Compared:
    """What is seen of relations: squared, in records.

    Args:
        classes: what they explain.
        pairs: what the strongest pairs are.
        whole: of all pairs.
        of_classes: the standard deviation of the noise in `classes`.
        of_pairs: and in `pairs`.
        of_whole: and in `whole`.
    """

    classes: float
    pairs: float
    whole: float
    of_classes: float
    of_pairs: float
    of_whole: float

    @property
    def is_ahead(self) -> bool:
        """Whether classes explain far more than the pairs, or leave less than half of what the pairs leave."""
        if self.classes <= _SEEN * self.of_classes:
            return False
        left = self.whole - self.pairs
        nearly_all = left > 2 * self.of_whole and self.whole - self.classes <= _LEFT * left
        return nearly_all or self.classes - max(self.pairs, 0.0) - self.of_pairs >= AHEAD * self.whole

    @property
    def is_unclear(self) -> bool:
        """Whether classes are seen to explain something, and may be ahead by what more counts would show."""
        if self.is_ahead or self.classes <= _SEEN * self.of_classes:
            return False
        return self.classes - self.pairs + self.of_pairs >= 0


def _deviation(pairs: Sequence[NoisyMarginal], energy: float) -> float:
    """The standard deviation of the sum of their `energies`, which is about `energy`."""
    cells, variance = sum(one.counts.size for one in pairs), pairs[0].scale ** 2
    return math.sqrt(2 * cells * variance**2 + 4 * variance * max(energy, 0.0))


def _fits(
    domain: Domain,
    blocks: RankBlocks,
    rules: Sequence[Clique],
    joined: Sequence[Clique],
    classes: int,
    max_size: float,
) -> bool:
    """Whether neither the model nor the fit of the classes becomes too large.

    Columns that a rule joins get the class beside them, in one table: classes may take a part of what rules leave. So
    do the pairs of a focus. `joined` are the pairs of columns with the class, and those of the focus.
    """
    if sum(blocks.coarsening.domain.sizes) ** 2 / 2 > _MOST_CELLS:
        return False
    of_rules = megabytes(domain, rules)
    with_classes = megabytes(with_class(domain, classes), [*rules, *joined])
    return with_classes - of_rules <= _OF_MODEL * (max_size - of_rules)


def _classed(
    estimator: WarmEstimator, one_way: OneWay, blocks: RankBlocks, shares: Mapping[str, np.ndarray], classes: int
) -> WarmEstimator:
    """An estimator that is fitted to the columns and to what each class has of those in `shares`, as if measured."""
    coarse, columns = one_way.coarsening.domain, one_way.merged()
    total = estimator.count([])
    measured = list[NoisyMarginal]()
    for one in columns:
        (name,) = one.clique
        if name not in shares:
            continue
        block = blocks.block.get(name, np.arange(coarse[name]))
        counts = np.maximum(one.counts, _LEAST_COUNT)
        within = counts / np.bincount(block, counts)[block]
        table = total / classes * shares[name][block] * within[:, None]
        measured.append(NoisyMarginal((name, CLASS), table, one.scale))
    classed = replace(estimator, domain=with_class(coarse, classes), measurements=(), model=None)
    classed.fit([*columns, *measured])
    return classed
