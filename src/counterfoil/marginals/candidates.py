"""Which marginals may be measured next: those that matter to the workload and keep the model small enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree


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
        members = set(clique)
        if any(members <= set(other) for other in model_cliques):
            return True
        return junction_tree.megabytes(self.domain, [*model_cliques, clique]) <= share * self.max_model_size

    def admitted(
        self, model_cliques: Sequence[Clique], share: float, *, covered: frozenset[str] = frozenset()
    ) -> tuple[Clique, ...]:
        """The candidates that fit and have an attribute outside `covered`."""
        return tuple(
            clique
            for clique in self.weights
            if not covered.issuperset(clique) and self.fits(model_cliques, clique, share)
        )
