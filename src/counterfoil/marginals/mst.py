"""MST: the best tree of pairs. Quick, and good where dependence is mostly between pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.accounting import GaussianFilter, bounded_range_of_mu
from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.noise import ExponentialSelection, GaussianNoise
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.error_bars import measured_bounds
from counterfoil.marginals.fitting import ENTROPY_WEIGHT, Fitter
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.marginals.measure import gaussian_noise, measure
from counterfoil.marginals.release import Progress, quiet, release
from counterfoil.synthesis import Synthesis

_LAST_GAP = 2e-3


@dataclass(frozen=True)
class MST:
    """Every column, then a maximum spanning tree of pairs, each measured once; Private-PGM joins them.

    All noise is fixed in advance (a plan), so that the exact Gaussian trade-off applies to the whole. Rare values are
    not merged as in the source: the regularized fit does what merging was for (see `docs/decisions.md`).

    Args:
        columns: share of the budget (of mu squared) for the columns.
        choosing: share for choosing the tree; the rest measures its pairs.
        max_model_size: the most megabytes that a pair may take.

    Source: McKenna, Miklau and Sheldon 2021, "Winning the NIST contest" (arXiv 2108.04978), with a third for each.
    """

    columns: float = 1 / 3
    choosing: float = 1 / 3
    max_model_size: float = 80.0

    def __post_init__(self) -> None:
        if not (self.columns > 0 and self.choosing > 0 and self.columns + self.choosing < 1):
            raise ValueError(
                "`columns` and `choosing` must be positive and leave something of 1. "
                f"Found {self.columns} and {self.choosing}."
            )

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> Synthesis:
        """A synthesis within `curator.budget`, whose delta must be positive; see `AIM.synthesize`."""
        domain = curator.domain
        columns, choices, pairs = self._noises(curator.budget, len(domain.attributes))
        account = curator.plan([columns, *choices, *pairs], GaussianFilter())
        public_total = float(curator.public_row_count()) if curator.row_count_is_public else None
        fitter = Fitter(domain, curator.schema.structural_zeros, public_total, ENTROPY_WEIGHT)
        progress("measuring columns", 0.0)
        model = fitter.fit(measure(account, domain, [(name,) for name in domain.attributes], columns))
        tree: list[Clique] = []
        if choices:
            progress("choosing pairs", self.columns)
            tree = self._choose_tree(account, domain, model, choices)
        if tree:
            progress("measuring pairs", self.columns + self.choosing)
            model = fitter.fit(measure(account, domain, tree, pairs[0]), relative_gap=_LAST_GAP)
        return release(
            curator,
            model,
            method="mst",
            parameters={"columns": self.columns, "choosing": self.choosing, "pairs": [list(pair) for pair in tree]},
            bounds=measured_bounds(fitter.measurements, model.marginals([m.clique for m in fitter.measurements])),
            total_error=fitter.total_error,
            rows=rows,
        )

    def _noises(
        self, budget: Budget, n_columns: int
    ) -> tuple[GaussianNoise, list[ExponentialSelection], list[GaussianNoise]]:
        """The plan: one question for all columns, one choice for each edge, one question for all pairs."""
        capacity = GaussianFilter().capacity(budget) * (1 - 1e-9)
        if n_columns == 1:
            return gaussian_noise(capacity), [], []
        mu = math.sqrt(self.choosing * capacity / (n_columns - 1))
        choice = ExponentialSelection(bounded_range_of_mu(mu))
        pairs = gaussian_noise((1 - self.columns - self.choosing) * capacity)
        return gaussian_noise(self.columns * capacity), [choice] * (n_columns - 1), [pairs]

    def _choose_tree(
        self, account: Account, domain: Domain, model: GraphicalModel, choices: Sequence[ExponentialSelection]
    ) -> list[Clique]:
        """Kruskal's tree with a private choice of each edge: the pair that independence gets most wrong.

        Pairs above `max_model_size` are left out, so that the tree may end as a forest.
        """
        largest = self.max_model_size * 1e6 / 8
        pairs = [pair for pair in combinations(domain.attributes, 2) if domain.size(pair) <= largest]
        estimates = {pair: np.rint(table).astype(np.int64) for pair, table in model.marginals(pairs).items()}
        component = {name: {name} for name in domain.attributes}
        tree: list[Clique] = []
        for choice in choices:
            joining = tuple(pair for pair in pairs if component[pair[0]] is not component[pair[1]])
            if not joining:
                break
            query = WorstApproximatedMarginal(
                joining,
                tuple(estimates[pair] for pair in joining),
                weights=np.ones(len(joining)),
                penalties=np.zeros(len(joining)),
            )
            one, other = joining[account.choose(query, choice)]
            tree.append((one, other))
            component[one] |= component[other]
            for name in component[other]:
                component[name] = component[one]
        return tree
