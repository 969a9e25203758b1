"""The first question of adaptive methods: all columns at once. It says how many rows there are and what is rare."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.domain.coarsening import Coarsening
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.merging import merge_column, merge_rare, refine
from counterfoil.graphical_model.warm_estimator import Fitter
from counterfoil.marginals.measure import measure
from counterfoil.noise.noise import CountNoise
from counterfoil.schema import Schema


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known once the columns are measured.

    Args:
        fitter: fitted to the columns alone, on the schema's domain.
        coarsening: rare values merged, for what is measured next.
    """

    fitter: Fitter
    coarsening: Coarsening

    @property
    def model(self) -> GraphicalModel:
        """Independent columns."""
        assert self.fitter.model is not None
        return self.fitter.model

    def coarse_fitter(self) -> Fitter:
        """A fitter on the coarse domain that knows the columns, with the number of records settled."""
        fitter = Fitter(
            self.coarsening.domain,
            self.coarsening.zeros(self.fitter.structural_zeros),
            self.model.total,
            self.fitter.entropy_weight,
        )
        fitter.fit([merge_column(self.coarsening, marginal) for marginal in self.fitter.measurements])
        return fitter

    def refine(self, coarse_model: GraphicalModel) -> GraphicalModel:
        """A model of coarse codes brought back to the schema's domain."""
        return refine(self.coarsening, coarse_model, self.model, self.fitter.structural_zeros)


def measure_columns(curator: Curator, account: Account, noise: CountNoise, *, entropy_weight: float) -> Columns:
    """Asks for all columns in one question."""
    domain = curator.domain
    total = float(curator.public_row_count()) if curator.row_count_is_public else None
    fitter = Fitter(domain, curator.schema.structural_zeros, total, entropy_weight)
    one_way = measure(account, domain, [(name,) for name in domain.attributes], noise)
    fitter.fit(one_way)
    return Columns(fitter, merge_rare(domain, one_way, ordered=_ordered(curator.schema)))


def _ordered(schema: Schema) -> dict[str, int]:
    """How many leading codes of each column are in order: its bins, but not its code for missing values."""
    return {column.name: column.n_bins for column in schema.synthesized if column.is_ordered}
