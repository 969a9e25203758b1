"""What AIM measures before it chooses anything: all columns, a look for hidden classes, and the pairs of a focus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import DEFAULT_MAX_CELLS, Workload
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.aim_asked import Asked
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.measure import measure
from counterfoil.marginals.one_way import OneWay, left_for_pairs, left_without_lost, measure_one_way
from counterfoil.marginals.record_classes import FEWEST_COLUMNS, SHARE, Start, start_with_classes
from counterfoil.marginals.repeated_measurement import NO_MORE, More
from counterfoil.marginals.rounds_allowed import rounds_allowed

OF_ROUNDS = 0.8
"""Where rounds end, as a share of the work: for the progress alone."""

MORE_FOR_COLUMNS = More(much=0.5, most=0.875)
"""What columns may get besides, as a part of their share, where noise hides them; not with a focus, whose pairs tell of
all columns."""


@dataclass(frozen=True, eq=False)
class Begun:
    """What rounds start from.

    Args:
        one_way: the measured columns.
        candidates: what rounds choose from.
        workload: the marginals to keep.
        estimator: fitted to what was measured.
        left: what all rounds may measure (mu squared).
        of_focus: the pairs of the focus that were measured.
        in_blocks: noisy counts of all pairs in blocks, where classes were looked for.
    """

    one_way: OneWay
    candidates: Candidates
    workload: Sequence[Clique]
    estimator: WarmEstimator
    left: float
    of_focus: Sequence[Clique] = ()
    in_blocks: Sequence[NoisyMarginal] = ()


def begin(asked: Asked, account: FilterAccount) -> Begun:
    """Measures all columns, asks whether there are hidden classes, and measures the pairs of the focus."""
    shares, capacity, before = asked.shares, account.divisible, account.spent
    begun = _with_columns(asked, account)
    planned, of_focus = (1 - shares.choosing - shares.error_bars) * capacity, shares.focus * capacity
    begun, lost = replace(begun, left=left_for_pairs(account, before, planned)), account.lost
    start = _start(asked, account, begun, begun.left - of_focus)
    left, lost = left_without_lost(account, lost, begun.left - start.cost), account.lost
    candidates = replace(begun.candidates, domain=begun.one_way.released(start.estimator.domain))
    begun = replace(begun, candidates=candidates, estimator=start.estimator, left=left, in_blocks=start.pairs)
    if asked.focus is None:
        return begun
    coarsening = begun.one_way.coarsening
    if pairs := _pairs_with_focus(asked, asked.focus, coarsening.domain, begun):
        measured = OF_ROUNDS * (1 - (left - of_focus) / capacity)
        asked.pace.step("measuring pairs with the focus", OF_ROUNDS * (1 - left / capacity), measured)
        counted = measure(account, asked.curator.domain, pairs, account.noise(of_focus), coarsening=coarsening)
        begun.estimator.fit(counted)
        return replace(begun, left=left_without_lost(account, lost, left - of_focus), of_focus=pairs)
    return begun


def _with_columns(asked: Asked, account: FilterAccount) -> Begun:
    asked.pace.step("measuring columns", 0.0)
    one_way = measure_one_way(
        asked.curator,
        account,
        account.noise(asked.shares.columns * account.divisible),
        more=MORE_FOR_COLUMNS if asked.focus is None else NO_MORE,
        by_need=asked.focus is None,
        entropy_weight=asked.entropy_weight,
        rows=asked.rows,
        watch=asked.pace,
    )
    merged = one_way.coarsening.domain
    candidates = Candidates.by_gain(asked.workload, asked.curator.domain, asked.max_model_size, merged=merged)
    workload = tuple(candidates.weights)
    if asked.focus is not None:
        candidates = candidates.with_focus(asked.focus, merged)
    return Begun(one_way, candidates, workload, one_way.coarse_estimator(), left=0.0)


def _start(asked: Asked, account: FilterAccount, begun: Begun, mu_squared: float) -> Start:
    """Classes of the records, where they explain more than the pairs that rounds would measure for `mu_squared`."""
    columns = len(asked.curator.domain.attributes)
    named = asked.classes >= 2 and _names_most_pairs(asked.workload, columns)
    if columns < FEWEST_COLUMNS or not named or mu_squared <= 0:
        return Start(begun.estimator, 0.0)
    rounds = rounds_allowed(asked, account, begun.candidates, begun.estimator.fit([]), mu_squared)
    before, share = OF_ROUNDS * (1 - begun.left / account.divisible), SHARE * mu_squared / account.divisible
    asked.pace.step("looking for classes of records", before, before + OF_ROUNDS * share)
    return start_with_classes(
        account,
        begun.one_way,
        begun.estimator,
        mu_squared,
        classes=asked.classes,
        rivals=max(rounds * asked.choice.size, columns - 1),
        max_size=asked.max_model_size,
        focus=asked.focus,
        watch=asked.pace,
    )


def _names_most_pairs(workload: Workload | int, columns: int) -> bool:
    """Whether half of all pairs of columns are to be kept: classes hold relations of all of them alike."""
    if isinstance(workload, int):
        return workload > 1
    named = {frozenset(pair) for clique in workload.weights for pair in combinations(clique, 2)}
    return 4 * len(named) >= columns * (columns - 1)


def _pairs_with_focus(asked: Asked, focus: str, coarse: Domain, begun: Begun) -> list[Clique]:
    """The pairs of the focus that are small enough, and that together keep the model within its size."""
    pairs: list[Clique] = []
    measured = [*asked.curator.schema.structural_zeros, *begun.estimator.cliques]
    for name in coarse.attributes:
        pair = coarse.canonical({name, focus})
        small = name != focus and coarse.size(pair) <= DEFAULT_MAX_CELLS
        if small and begun.candidates.fits([*measured, *pairs], pair, 1.0):
            pairs.append(pair)
    return pairs
