"""Which marginals may be measured next: those that matter to the workload and keep the model small enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.layout import Layout
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.growth import Growth
from counterfoil.graphical_model.junction_tree import BYTES_PER_CELL


@dataclass(frozen=True)
class Candidates:
    """Marginals with their weights, and the most megabytes that a model of some of them may take.

    Args:
        domain: the domain of the released model, whose size is limited also while rare values are merged.
        weights: the weight of each candidate.
        max_model_size: the limit in megabytes.

    Source: McKenna et al. 2022, Algorithm 2, lines 10 and 11.
    """

    domain: Domain
    weights: Mapping[Clique, float]
    max_model_size: float
    _layouts: dict[Domain, Layout] = field(default_factory=dict, init=False, repr=False, compare=False)

    @staticmethod
    def of(
        workload: Workload | int, domain: Domain, max_model_size: float, *, merged: Domain | None = None
    ) -> Candidates:
        """The closure of `workload`, or of all marginals of that order that are small enough.

        Args:
            workload: marginals, or an order.
            domain: the domain of the released model.
            max_model_size: the limit in megabytes.
            merged: the domain on which marginals are measured, where it differs.
        """
        if isinstance(workload, int):
            workload = Workload.of_order(merged or domain, workload)
        return Candidates(domain, workload.candidates(domain), max_model_size)

    def fits(self, model_cliques: Sequence[Clique], clique: Clique, share: float) -> bool:
        """Whether a model of `model_cliques` and `clique` takes at most `share` of the largest size.

        A clique inside one of the model's always does, because it adds nothing.
        """
        return bool(self._fit(model_cliques, [clique], share)[0])

    def admitted(
        self, model_cliques: Sequence[Clique], share: float, *, covered: frozenset[str] = frozenset()
    ) -> tuple[Clique, ...]:
        """The candidates that fit and have an attribute outside `covered`."""
        open_ones = [clique for clique in self.weights if not covered.issuperset(clique)]
        fit = self._fit(model_cliques, open_ones, share)
        return tuple(clique for clique, fits in zip(open_ones, fit.tolist(), strict=True) if fits)

    def layout(self, domain: Domain) -> Layout:
        """Where the candidates' tables on `domain` lie; the same object in every round, so that counts are kept."""
        if domain not in self._layouts:
            self._layouts[domain] = Layout.of(domain, self.weights)
        return self._layouts[domain]

    def _fit(self, model_cliques: Sequence[Clique], cliques: Sequence[Clique], share: float) -> np.ndarray:
        """bool [cliques]: which of them fit: the size is that of `junction_tree.megabytes`, the smaller of two orders.

        The order by least table decides most cases, and is quick for thousands; the other is tried where it fails, but
        not where the clique alone is too large.
        """
        growth, limit = Growth(self.domain, model_cliques), share * self.max_model_size
        fit = growth.cells_with(cliques) * BYTES_PER_CELL / 1e6 <= limit
        for i in np.flatnonzero(~fit).tolist():
            clique = cliques[i]
            if growth.contains(self.domain.axes(clique)):
                fit[i] = True
            elif self.domain.size(clique) * BYTES_PER_CELL / 1e6 <= limit:
                fit[i] = junction_tree.megabytes(self.domain, [*model_cliques, clique]) <= limit
        return fit
