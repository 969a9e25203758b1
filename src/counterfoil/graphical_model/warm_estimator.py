"""A model that is refitted as measurements come in, each time from where it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfoil.accounting.row_counts import rows_to_fit
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.empty_cells import with_empty_cells
from counterfoil.graphical_model.entropy_weight import entropy_weight_for
from counterfoil.graphical_model.estimation import estimate
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine, estimate_total
from counterfoil.graphical_model.outcome import FitOutcome

_WIDE = 20_000
"""Codes from which on a column is fitted more closely."""
_MOST_MOVED = 0.05
"""Of the records, that the end of such a fit may put into other codes."""


@dataclass
class WarmEstimator:
    """Private-PGM that keeps its measurements and its last model. Post-processing.

    Args:
        domain: the attributes.
        structural_zeros: cells that no record can be in.
        public_total: the number of records where it is public; None where it is estimated from the measurements.
        entropy_weight: the weight of the entropy, in records (see `estimation`); None for what suits the measurements
            (see `entropy_weight`).
        wanted: how many rows will be drawn, which stands for a number of records that the noise drowns; None where the
            number of records says how many.
        shrinks: whether interactions that are hardly larger than their noise are believed less (see `trust`), and cells
            that are most likely empty are taken for that (see `empty_cells`).
        watch: hears how each fit goes on, and may end it.

    After a fit, `counted` is the number of records, as it is or as measured, `total_error` its standard error, and
    `outcome` says how the fit ended.
    """

    domain: Domain
    structural_zeros: Mapping[Clique, np.ndarray]
    public_total: float | None
    entropy_weight: float | None = None
    measurements: tuple[NoisyMarginal, ...] = ()
    model: GraphicalModel | None = None
    outcome: FitOutcome | None = None
    counted: float = 0.0
    total_error: float = 0.0
    wanted: int | None = None
    shrinks: bool = False
    ordered: Mapping[str, int] = field(default_factory=dict)
    watch: FitWatch = UNWATCHED

    @property
    def outcomes(self) -> tuple[FitOutcome, ...]:
        """How the last fit ended; empty before the first."""
        return () if self.outcome is None else (self.outcome,)

    @property
    def cliques(self) -> list[Clique]:
        """The cliques that the model's size depends on: measured ones, and those of the zeros."""
        return [marginal.clique for marginal in self.measurements] + list(self.structural_zeros)

    def fit(self, new: Sequence[NoisyMarginal], *, relative_gap: float = 1e-2) -> GraphicalModel:
        """The model of all measurements so far and `new`."""
        total = self.count(new)
        measured, reference = with_empty_cells(self.measurements, total) if self.shrinks else (self.measurements, {})
        fit = estimate(
            self.domain,
            measured,
            reference=reference,
            total=total,
            structural_zeros=self.structural_zeros,
            entropy_weight=self.entropy_weight or entropy_weight_for(total, self.measurements),
            shrinks=self.shrinks,
            ordered=self.ordered,
            warm_start=self.model,
            relative_gap=min(relative_gap, self._gap_of_wide_columns(total)),
            watch=self.watch,
        )
        self.model, self.outcome = fit.model, fit.outcome
        return fit.model

    def _gap_of_wide_columns(self, total: float) -> float:
        """The relative gap at which a model of independent columns may be off by few records; 1 where none is wide.

        The gap bounds all cells together: marginals lie within sqrt(2 gap) deviations of the best ones (`estimation`).
        The objective is about half of a nat for each cell, whatever the records. So where a column has a hundred
        thousand codes, a hundredth of it allows for hundreds of records in one code. The fit costs little.
        """
        sizes = [self.domain.size(one.clique) for one in self.measurements if len(one.clique) == 1]
        if len(sizes) < len(self.measurements) or max(sizes, default=0) <= _WIDE:
            return 1.0
        deviations = _MOST_MOVED * total / max(one.scale for one in self.measurements)
        return deviations**2 / sum(sizes)

    def count(self, new: Sequence[NoisyMarginal]) -> float:
        """The number of records, at least 1, once `new` is known too: public, or the weighted mean of noisy sums.

        Where that mean is all noise (`row_counts.rows_to_fit`), it is `wanted`, if that is given.
        """
        self.measurements = combine(self.domain, [*self.measurements, *new])
        if self.public_total is None:
            self.counted, self.total_error = estimate_total(self.measurements)
        else:
            self.counted = self.public_total
        return rows_to_fit(self.counted, self.total_error, self.wanted)
