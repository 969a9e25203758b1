"""Whether hidden classes of the records explain how a wide table's columns go together, and a model that starts there.

All pairs of columns are counted in blocks, in two queries. Classes are fitted to the first; the second, whose noise is
another, says without bias how much of all relations they explain, and how much as many single pairs do as rounds would
measure. Where classes are far ahead, all pairs are counted once more, with most of their budget, and the model begins
with the classes; where they are a little ahead, it is asked once more; else rounds go on as if nothing had been asked.
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
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.classed_model import CLASS, with_class
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.hidden_classes import class_shares, energies, pair_of
from counterfoil.graphical_model.junction_tree import megabytes
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.measure import measure
from counterfoil.marginals.one_way import OneWay
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.marginals.scores import error_in_blocks

FEWEST_COLUMNS = 25
"""With fewer columns, rounds measure most of what goes together."""

SHARE, LOOK = 0.3, 0.08
"""Of what marginals may cost: for all pairs, and of this what is spent before classes are known to help; or twice that,
where they may."""

AHEAD = 0.15
"""Of all relations, by which classes must explain more than single pairs do."""

_LEFT = 0.5
"""Of what the pairs leave: where they are most of all pairs, no classes can be far ahead, and may yet leave little."""

_HIDDEN = 0.9
"""Of the records: where noise of the first counts is expected to move more of them in a pair, nothing can show."""

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
        watch: counts the time of what reads no record: how long a count takes must not decide how rounds end.
    """
    blocks, domain = one_way.blocks(), one_way.coarsening.fine
    pairs = list(combinations(domain.attributes, 2))
    rules = list(one_way.estimator.structural_zeros)
    if len(domain.attributes) < FEWEST_COLUMNS or not _fits(domain, blocks, rules, classes, max_size):
        return Start(estimator, 0.0)
    look = _Look(account, one_way, blocks, estimator.count([]), pairs, watch)
    if look.hides_all(mu_squared * LOOK / 2):
        return Start(estimator, 0.0)
    counted, tested, spent = look.count(mu_squared * LOOK / 2), look.count(mu_squared * LOOK / 2), LOOK
    ahead = look.ahead(counted, tested, classes, rivals)
    counted = look.combined(counted, tested)
    if 0 <= ahead < AHEAD:
        tested, spent = look.count(mu_squared * LOOK), 2 * LOOK
        ahead = look.ahead(counted, tested, classes, rivals)
        counted = look.combined(counted, tested)
    if ahead < AHEAD:
        return Start(estimator, spent * mu_squared, counted)
    counted = look.combined(counted, look.count((SHARE - spent) * mu_squared))
    with watch.working():
        shares = class_shares(look.columns, counted, look.total, classes)
    return Start(_classed(estimator, one_way, blocks, shares, classes), SHARE * mu_squared, counted)


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
    def independent(self) -> dict[Clique, np.ndarray]:
        """The counts of all pairs, were columns independent."""
        positive = {one.clique[0]: np.maximum(one.counts, _LEAST_COUNT) for one in self.columns}
        share = {name: counts / counts.sum() for name, counts in positive.items()}
        return {(one, other): self.total * np.outer(share[one], share[other]) for one, other in self.pairs}

    def hides_all(self, mu_squared: float) -> bool:
        """Whether noise at that cost is expected to move so many records in a pair that nothing can show."""
        query = MarginalCounts(self.one_way.coarsening.fine, tuple(self.pairs))
        deviation = self.account.deviation(query, self.account.noise(mu_squared))
        errors = [error_in_blocks(pair, table, deviation, self.blocks) for pair, table in self.independent.items()]
        return float(np.mean(errors)) > _HIDDEN * self.total

    def count(self, mu_squared: float) -> Sequence[NoisyMarginal]:
        """All pairs in blocks, at that cost."""
        noise, domain = self.account.noise(mu_squared), self.one_way.coarsening.fine
        return measure(self.account, domain, self.pairs, noise, coarsening=self.blocks.coarsening)

    def combined(self, *counted: Sequence[NoisyMarginal]) -> Sequence[NoisyMarginal]:
        """What all of `counted` say together."""
        return combine(self.blocks.coarsening.domain, chain.from_iterable(counted))

    def ahead(
        self, counted: Sequence[NoisyMarginal], tested: Sequence[NoisyMarginal], classes: int, rivals: int
    ) -> float:
        """By which part of all relations classes explain more than the `rivals` strongest pairs.

        It is inf where they leave less than half of what the pairs leave, and -inf where no relation shows.
        Both are found by what was `counted`, and seen in what was `tested`, whose noise is another.
        """
        with self.watch.working():
            shares = class_shares(self.columns, counted, self.total, classes)
            of_all = energies(tested, self.independent)
            left = energies(tested, {pair: pair_of(shares, pair, self.total) for pair in self.pairs})
            strongest = np.argsort(-energies(counted, self.independent))[:rivals]
        if of_all.sum() <= 0:
            return -math.inf
        of_pairs = of_all[strongest].sum()
        if left.sum() <= _LEFT * (of_all.sum() - of_pairs):
            return math.inf
        return float(1 - (left.sum() + of_pairs) / of_all.sum())


def _fits(domain: Domain, blocks: RankBlocks, rules: Sequence[Clique], classes: int, max_size: float) -> bool:
    """Whether neither the model nor the fit of the classes becomes too large.

    Columns that a rule joins get the class beside them, in one table: classes may take a part of what rules leave.
    """
    if sum(blocks.coarsening.domain.sizes) ** 2 / 2 > _MOST_CELLS:
        return False
    of_rules = megabytes(domain, rules)
    with_classes = megabytes(with_class(domain, classes), [*rules, *((name, CLASS) for name in domain.attributes)])
    return with_classes - of_rules <= _OF_MODEL * (max_size - of_rules)


def _classed(
    estimator: WarmEstimator, one_way: OneWay, blocks: RankBlocks, shares: Mapping[str, np.ndarray], classes: int
) -> WarmEstimator:
    """An estimator that is fitted to the columns and to what each class has of them, as if that had been measured."""
    coarse, columns = one_way.coarsening.domain, one_way.merged()
    total = estimator.count([])
    measured = list[NoisyMarginal]()
    for one in columns:
        (name,) = one.clique
        block = blocks.block.get(name, np.arange(coarse[name]))
        counts = np.maximum(one.counts, _LEAST_COUNT)
        within = counts / np.bincount(block, counts)[block]
        table = total / classes * shares[name][block] * within[:, None]
        measured.append(NoisyMarginal((name, CLASS), table, one.scale))
    classed = replace(estimator, domain=with_class(coarse, classes), measurements=(), model=None)
    classed.fit([*columns, *measured])
    return classed
