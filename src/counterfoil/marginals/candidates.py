"""Which marginals may be measured next: those that matter to the workload and keep the model small enough."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.layout import Layout
from counterfoil.domain.workload import DEFAULT_MAX_CELLS, Workload
from counterfoil.graphical_model.growth import Growth
from counterfoil.graphical_model.junction_tree import BYTES_PER_CELL

MOST_WITH_FOCUS = 1500
"""Of one order: with three others of 21 columns, with two of 55."""

_ROUNDING = 1e-9
"""Counting cells goes on so far (relative) past a limit in megabytes, so that rounding decides no case."""


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

    @staticmethod
    def by_gain(
        workload: Workload | int, domain: Domain, max_model_size: float, *, merged: Domain | None = None
    ) -> Candidates:
        """As `of`, but where an order of three or more is asked for, pairs weigh what they weigh by themselves.

        Larger marginals then weigh as much as the heaviest pair. In the closure of all triples a pair weighs two thirds
        of what a triple does, and little where its columns have many values, because few triples with them are small
        enough: choices became noisier by half, and passed such pairs over.
        """
        every = Candidates.of(workload, domain, max_model_size, merged=merged)
        if not isinstance(workload, int) or workload < 3:
            return every
        return Candidates.of(2, domain, max_model_size, merged=merged)._and(every.weights)

    def fits(self, model_cliques: Sequence[Clique], clique: Clique, share: float) -> bool:
        """Whether a model of `model_cliques` and `clique` takes at most `share` of the largest size.

        A clique inside one of the model's always does, because it adds nothing.
        """
        return bool(self.fitting(model_cliques, [clique], share)[0])

    def admitted(
        self, model_cliques: Sequence[Clique], share: float, *, covered: frozenset[str] = frozenset()
    ) -> tuple[Clique, ...]:
        """The candidates that fit and have an attribute outside `covered`."""
        open_ones = [clique for clique in self.weights if not covered.issuperset(clique)]
        fit = self.fitting(model_cliques, open_ones, share)
        return tuple(clique for clique, fits in zip(open_ones, fit.tolist(), strict=True) if fits)

    def among(self, cliques: Iterable[Clique]) -> Candidates:
        """Those of `cliques`, with their weights and the same limit."""
        return Candidates(self.domain, {clique: self.weights[clique] for clique in cliques}, self.max_model_size)

    def with_focus(self, focus: str, merged: Domain) -> Candidates:
        """These, and all marginals of the focus with two and with three other columns that are small enough.

        Each of the new ones weighs as much as the heaviest of these, so that the largest weight, which is the
        sensitivity of a choice, stays what it is. Where a table is so wide that those of an order are more than
        `MOST_WITH_FOCUS`, it is left out.

        Args:
            focus: the column.
            merged: the domain on which marginals are measured.
        """
        others, new = [name for name in merged.attributes if name != focus], list[Clique]()
        for order in (2, 3):
            if math.comb(len(others), order) > MOST_WITH_FOCUS:
                break
            new += (merged.canonical((focus, *names)) for names in itertools.combinations(others, order))
        return self._and([clique for clique in new if merged.size(clique) <= DEFAULT_MAX_CELLS])

    def _and(self, cliques: Iterable[Clique]) -> Candidates:
        """These and those of `cliques` that are new, each with the largest weight of these."""
        heaviest = max(self.weights.values())
        weights = dict.fromkeys(cliques, heaviest) | dict(self.weights)
        return Candidates(self.domain, weights, self.max_model_size)

    def layout(self, domain: Domain) -> Layout:
        """Where the candidates' tables on `domain` lie; the same object in every round, so that counts are kept."""
        if domain not in self._layouts:
            self._layouts[domain] = Layout.of(domain, self.weights)
        return self._layouts[domain]

    def fitting(self, model_cliques: Sequence[Clique], cliques: Sequence[Clique], share: float) -> np.ndarray:
        """bool [cliques]: which of them fit: the size is that of `junction_tree.megabytes`, the smaller of two orders.

        The order by least table decides most cases; the other one, which takes longer, is tried where it fails. A
        clique inside one of the model's fits whatever the limit.
        """
        growth, limit = Growth(self.domain, model_cliques), share * self.max_model_size
        most = limit * 1e6 / BYTES_PER_CELL * (1 + _ROUNDING)
        fit = growth.cells_with(cliques, most=most) * BYTES_PER_CELL / 1e6 <= limit
        for i in np.flatnonzero(~fit).tolist():
            fit[i] = growth.contains(self.domain.axes(cliques[i]))
        rest = np.flatnonzero(~fit)
        if rest.size:
            by_fill = growth.cells_with([cliques[i] for i in rest.tolist()], by_fill=True, most=most)
            fit[rest] = by_fill * BYTES_PER_CELL / 1e6 <= limit
        return fit
