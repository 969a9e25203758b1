"""The noisy answers that weights are fitted to: marginals, and averages of functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from counterfoil.accounting.row_counts import rows_to_fit
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Clique, Domain
from counterfoil.features.function_family import FunctionFamily
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine, estimate_total
from counterfoil.noise.answer import Answer
from counterfoil.reweighting.program import WeightProgram
from counterfoil.reweighting.support import Support


@dataclass(frozen=True, eq=False)
class NoisyAverages:
    """Noisy sums of the functions of a family.

    Args:
        family: the functions.
        answer: their noisy sums over records.
    """

    family: FunctionFamily
    answer: Answer

    @classmethod
    def of(cls, query: FunctionAverages, answer: Answer) -> NoisyAverages:
        """The averages that `answer` gives of the functions that `query` asked for."""
        return cls(query.family, answer)

    @property
    def counted(self) -> tuple[float, float] | None:
        """The number of records and its standard error, where the family counts them."""
        if not self.family.counted:
            return None
        slope = float(self.family.slopes[0])
        return float(self.answer.values[0]) * slope, self.answer.deviation * slope


@dataclass(frozen=True, eq=False)
class NoisyAnswers:
    """All noisy answers of a release, with one kind of noise.

    Args:
        marginals: noisy marginals.
        averages: noisy averages of functions.
        laplace: whether the noise is Laplace; else Gaussian.
        known_total: the number of records where it is public, or known from elsewhere.
        known_error: the standard deviation of `known_total`; 0 where it is public.
        wanted: how many rows will be drawn, which stands for a number of records that the noise drowns; None where the
            number of records says how many.
        coarsening: the values that `marginals` count together; None where each has a cell.
    """

    marginals: tuple[NoisyMarginal, ...]
    averages: tuple[NoisyAverages, ...]
    laplace: bool
    known_total: float | None
    known_error: float = 0.0
    wanted: int | None = None
    coarsening: Coarsening | None = None

    def total(self) -> tuple[float, float]:
        """The number of records, at least 1, and its standard error: 0 where it is known."""
        estimate, error = self.counted()
        return rows_to_fit(estimate, error, self.wanted), error

    def counted(self) -> tuple[float, float]:
        """The number of records as the answers give it, which may be negative, and its standard error."""
        if self.known_total is not None:
            return self.known_total, self.known_error
        estimates = [averages.counted for averages in self.averages]
        if self.marginals:
            estimates.append(estimate_total(self.marginals))
        found = [(value, error**-2) for value, error in filter(None, estimates)]
        precision = sum(weight for _, weight in found)
        return sum(value * weight for value, weight in found) / precision, precision**-0.5

    def cliques(self, domain: Domain) -> tuple[Clique, ...]:
        """The marginals in the order of the functions of `program`, which come before the averages'."""
        return tuple(marginal.clique for marginal in combine(self._merged(domain).domain, self.marginals))

    def of_single_codes(self) -> tuple[NoisyMarginal, ...]:
        """The marginals of which no codes of any column are counted together."""
        if self.coarsening is None:
            return tuple(self.marginals)
        apart = {name for name, of in self.coarsening.codes.items() if np.array_equal(of, np.arange(len(of)))}
        return tuple(one for one in self.marginals if apart.issuperset(one.clique))

    def program(self, support: Support) -> tuple[WeightProgram, tuple[str, ...]]:
        """What the weights of `support` are fitted to, and the names of the functions in its order."""
        total, _ = self.total()
        values, targets, scales, names = [], [], [], []
        merged = self._merged(support.schema.domain)
        for marginal in combine(merged.domain, self.marginals):
            cells, size = support.indicators(marginal.clique, merged), marginal.counts.size
            ones = (np.ones(support.size), (cells, np.arange(support.size)))
            values.append(sparse.csc_array(ones, shape=(size, support.size)))
            targets.append(marginal.counts.ravel() / total)
            scales.append(np.full(size, marginal.scale / total / (math.sqrt(2) if self.laplace else 1.0)))
            names += _cell_names(support, marginal, merged)
        for averages in self.averages:
            family, answer = averages.family, averages.answer
            kept = slice(1 if averages.counted is not None else 0, None)
            slopes = family.slopes[kept]
            values.append(sparse.csc_array(sparse.diags_array(slopes) @ support.matrix(family)[kept]))
            targets.append(answer.values[kept] * slopes / total)
            scales.append((answer.scale if self.laplace else answer.deviation) * slopes / total)
            names += family.names[kept]
        program = WeightProgram(
            sparse.vstack(values, format="csc"),
            np.concatenate(targets),
            np.concatenate(scales),
            support.prior,
            laplace=self.laplace,
        )
        return program, tuple(names)

    def _merged(self, domain: Domain) -> Coarsening:
        return identity(domain) if self.coarsening is None else self.coarsening


def _cell_names(support: Support, marginal: NoisyMarginal, merged: Coarsening) -> list[str]:
    labels = [_group_names(support.schema[name].labels, merged.codes[name]) for name in marginal.clique]
    cells = np.ndindex(*marginal.counts.shape)
    return [
        ", ".join(f"{name} = {of[code]}" for name, of, code in zip(marginal.clique, labels, cell, strict=True))
        for cell in cells
    ]


def _group_names(labels: Sequence[str], groups: np.ndarray) -> list[str]:
    """A name for each group of values that are counted together: its first value, and how many others there are."""
    names = []
    for group in range(int(groups.max()) + 1):
        first, *others = np.flatnonzero(groups == group).tolist()
        more = f" and {len(others)} other{'s' if len(others) > 1 else ''}" if others else ""
        names.append(f"{labels[first]}{more}")
    return names
