"""The first query of adaptive methods: all one-way marginals. It estimates how many rows there are and what is rare."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.domain.coarsening import Coarsening
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.merging import merge_column, merge_rare, refine
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.marginals.measure import measure
from counterfoil.noise.noise import CountNoise
from counterfoil.schema import Schema


@dataclass(frozen=True, eq=False)
class OneWay:
    """The measured one-way marginals: their model, and the values that they show to be rare.

    Args:
        estimator: fitted to the one-way marginals alone, on the schema's domain.
        coarsening: merges rare values in later queries.
    """

    estimator: WarmEstimator
    coarsening: Coarsening

    @property
    def model(self) -> GraphicalModel:
        """The model in which columns are independent."""
        assert self.estimator.model is not None
        return self.estimator.model

    def coarse_estimator(self) -> WarmEstimator:
        """An estimator on the coarse domain, fitted to the one-way marginals, with a fixed number of records."""
        estimator = WarmEstimator(
            self.coarsening.domain,
            self.coarsening.zeros(self.estimator.structural_zeros),
            self.model.total,
            self.estimator.entropy_weight,
        )
        estimator.fit([merge_column(self.coarsening, marginal) for marginal in self.estimator.measurements])
        return estimator

    def refine(self, coarse_model: GraphicalModel) -> GraphicalModel:
        """A model of coarse codes brought back to the schema's domain."""
        return refine(self.coarsening, coarse_model, self.model, self.estimator.structural_zeros)


def measure_one_way(curator: Curator, account: Account, noise: CountNoise, *, entropy_weight: float) -> OneWay:
    """All one-way marginals in one query."""
    domain = curator.domain
    total = float(curator.public_row_count()) if curator.row_count_is_public else None
    estimator = WarmEstimator(domain, curator.schema.structural_zeros, total, entropy_weight)
    marginals = measure(account, domain, [(name,) for name in domain.attributes], noise)
    estimator.fit(marginals)
    return OneWay(estimator, merge_rare(domain, marginals, ordered=_ordered(curator.schema)))


def _ordered(schema: Schema) -> dict[str, int]:
    """How many leading codes of each column are in order: its bins, but not its code for missing values."""
    return {column.name: column.n_bins for column in schema.synthesized if column.is_ordered}
