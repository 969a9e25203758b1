"""MST: a maximum spanning tree of pairs. It is fast, and accurate where dependence is mostly between pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

from counterfoil.accounting.event import bounded_range_of_mu
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals.measure import marginal_deviation, measure_by_size
from counterfoil.marginals.no_relations import no_relations, plan_of
from counterfoil.marginals.noisy_errors import noisy_bounds
from counterfoil.marginals.one_way import left_for_pairs, left_without_lost, measure_one_way
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.marginals.repeated_measurement import NO_MORE, More
from counterfoil.marginals.scores import scores_of
from counterfoil.marginals.spanning_tree import choose_tree
from counterfoil.marginals.weak_relations import blurred_counts, weak_relations
from counterfoil.marginals.width import require_width
from counterfoil.methods.method import Method
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.release import Fitted, check_rows, release
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit

_LAST_GAP = 2e-3

MORE_FOR_COLUMNS = More(much=0.3, most=0.3)
"""What columns may get of the pairs' budget, as a part of their share, where noise hides them."""


@dataclass(frozen=True)
class MST(Method):
    """Every column, then a maximum spanning tree of pairs, each measured once; Private-PGM joins them.

    As in the source, rare values are merged before pairs are measured, and the tree is chosen by the exponential
    mechanism on the error of the independent model. What differs from the source: the exact Gaussian trade-off, other
    shares than thirds, scores less the error that measuring a pair would leave, and more budget for larger pairs.

    Args:
        columns: share of the budget (of mu squared) for the columns; where noise hides them they get up to 30% more,
            of what would measure pairs.
        choosing: share for choosing the tree; the rest measures its pairs.
        error_bars: share for the errors of the final model, in all columns and pairs.
        max_model_size: the most megabytes that a pair may take.

    Source: McKenna, Miklau and Sheldon 2021, "Winning the NIST contest" (arXiv 2108.04978).
    """

    columns: float = 0.5
    choosing: float = 0.05
    max_model_size: float = 80.0
    error_bars: float = 0.02

    def __post_init__(self) -> None:
        if not (min(self.columns, self.choosing, self.error_bars) > 0 and self._pairs > 0):
            raise ValueError(
                "`columns`, `choosing` and `error_bars` must be positive and leave something of 1. "
                f"Found {self.columns}, {self.choosing} and {self.error_bars}."
            )

    @property
    def _pairs(self) -> float:
        """The share for measuring pairs."""
        return 1 - self.columns - self.choosing - self.error_bars

    @property
    def takes_time_limit(self) -> bool:
        """Its fits end when a limit is near."""
        return True

    def synthesize(
        self,
        curator: Curator,
        *,
        rows: int | None = None,
        progress: Progress = quiet,
        time_limit: TimeLimit | float | None = None,
    ) -> Synthesis:
        """A synthesis within `curator.budget`, whose delta must be positive; see `AIM.synthesize`."""
        check_rows(rows)
        pace = Pace(curator, progress, time_limit)
        columns = len(curator.domain.attributes)
        require_width("mst", curator.domain, 2, choices=columns - 1, rounds=2)
        account = curator.filter(GaussianFilter())
        capacity = account.divisible
        pace.step("measuring columns", 0.0)
        alone = columns == 1
        noise = account.noise((1 - self.error_bars if alone else self.columns) * capacity)
        before, more = account.spent, NO_MORE if alone else MORE_FOR_COLUMNS
        one_way = measure_one_way(curator, account, noise, more=more, rows=rows, watch=pace)
        left = 0.0 if alone else left_for_pairs(account, before, (self.columns + self._pairs) * capacity)
        estimator = one_way.coarse_estimator()
        model = estimator.fit([])
        pace.step("choosing pairs", self.columns)
        lost = account.lost
        tree = self._choose_tree(account, one_way.blocks(), model, capacity, left)
        left = left_without_lost(account, lost, left)
        if tree:
            pace.step("measuring pairs", self.columns + self.choosing, 1 - self.error_bars)
            measured = measure_by_size(account, one_way.coarsening, model.marginals(tree), left)
            pace.last_fit()
            model = estimator.fit(measured, relative_gap=_LAST_GAP)
        pace.step("measuring error bars", 1 - self.error_bars)
        refined = one_way.refine(model)
        every = [*((name,) for name in curator.domain.attributes), *combinations(curator.domain.attributes, 2)]
        bounds = noisy_bounds(account, refined, every, self.error_bars * capacity)
        unrelated = no_relations(
            curator.domain.attributes, estimator.measurements, model.total, plan_of(curator, account, GaussianFilter())
        )
        if not unrelated:
            groups = one_way.groups(curator.schema, refined)
            unrelated = weak_relations(
                blurred_counts(estimator.measurements, model.total, groups), columns=len(curator.schema.synthesized)
            )
        counted, total_error = one_way.estimator.counted, one_way.estimator.total_error
        error_bars = ErrorBars(curator.domain, bounds, refined.total, counted, total_error)
        return release(
            curator,
            Fitted(
                refined,
                error_bars,
                (*one_way.estimator.outcomes, *estimator.outcomes),
                (*one_way.warnings, *unrelated),
                one_way.by_themselves(),
            ),
            method="mst",
            parameters={
                "columns": self.columns,
                "choosing": self.choosing,
                "max_model_size": self.max_model_size,
                "error_bars": self.error_bars,
                "pairs": [list(pair) for pair in tree],
                **pace.facts(),
            },
            rows=rows,
        )

    def _choose_tree(
        self, account: FilterAccount, blocks: RankBlocks, model: GraphicalModel, capacity: float, left: float
    ) -> list[Clique]:
        """Kruskal's tree with a private choice of each edge: the pair most worth measuring among those that join.

        Pairs above `max_model_size` are left out, so that the tree may end as a forest.
        """
        domain = blocks.coarsening.fine
        edges = len(domain.attributes) - 1
        if edges == 0:
            return []
        choice = ExponentialSelection(bounded_range_of_mu(math.sqrt(self.choosing * capacity / edges)))
        deviation = marginal_deviation(account, domain, left / edges)
        pairs = [p for p in combinations(domain.attributes, 2) if domain.size(p) * 8e-6 <= self.max_model_size]
        estimates = model.marginals(pairs)
        scores = scores_of(estimates, dict.fromkeys(pairs, 1.0), deviation, blocks)
        return choose_tree(
            domain, pairs, lambda joining: int(joining[account.choose(scores.among(joining), choice).index])
        )
