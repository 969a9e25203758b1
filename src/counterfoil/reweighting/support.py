"""Public records whose weights are fitted: draws from a reference density, as codes and as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from scipy import sparse
from scipy.special import logsumexp

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique
from counterfoil.features.function_family import FunctionFamily
from counterfoil.geometry.space import Space
from counterfoil.reweighting.refinement import ColumnFamily, flat_cells
from counterfoil.schema import Schema
from counterfoil.schema.rules import rows_that_hold
from counterfoil.synthesis.table import encode

_MOST_TRIES = 50
"""Rounds of draws from a reference that hardly ever meets the rules."""

_REPETITIONS = 20

_LEAST_PRIOR = 1e-12
"""Weights under the reference below which a point is left out."""

_DRAWS = 16
"""Values drawn within the bins of each record of codes, over which functions of values are averaged."""


@dataclass(frozen=True, eq=False)
class Support:
    """m distinct records, and the weights that the reference gives them.

    Args:
        schema: the public facts.
        codes: int32 [m, attributes], in the domain's order.
        prior: float64 [m], positive, of sum 1.
        values: tables of m rows with the records' values: several where codes stand for bins, over which functions
            are averaged. Empty where no function of values is asked.
    """

    schema: Schema
    codes: np.ndarray
    prior: np.ndarray
    values: tuple[pa.Table, ...]

    @property
    def size(self) -> int:
        """m."""
        return len(self.prior)

    def indicators(self, clique: Clique, coarsening: Coarsening) -> np.ndarray:
        """int64 [m]: the flat index of the cell of a marginal, on the coarse domain, that each record lies in."""
        return flat_cells(coarsening, clique, self.codes)

    def matrix(self, family: FunctionFamily) -> sparse.csc_array:
        """float64 [K, m]: the value of each function at each record, in the functions' own whole numbers."""
        codes = {name: self._by_name[name] for name in family.codes}
        total = family.matrix(self.size, codes, self._numbers(self.values[0], family))
        for table in self.values[1:]:  # one after the other: of losses at a net no number is 0
            total = total + family.matrix(self.size, codes, self._numbers(table, family))
        return sparse.csc_array(total / len(self.values))

    @cached_property
    def _by_name(self) -> Mapping[str, np.ndarray]:
        return dict(zip(self.schema.domain.attributes, self.codes.T, strict=True))

    def _numbers(self, table: pa.Table, family: FunctionFamily) -> dict[str, np.ndarray]:
        return {name: self.schema[name].numbers(table.column(name)) for name in family.numbers}


def support_of_codes(
    schema: Schema, draw: Callable[[int, np.random.Generator], np.ndarray], m: int, rng: np.random.Generator
) -> Support:
    """The support of about `m` draws of codes: those that the rules bar are left out and drawn again, equal ones are
    merged.

    Raises:
        ValueError: where hardly any draw meets the rules.
    """
    parts = [draw(m, rng)]
    parts[0] = parts[0][_possible(schema, parts[0])]
    for _ in range(_MOST_TRIES):
        if 2 * sum(map(len, parts)) >= m:
            break
        more = draw(m, rng)
        parts.append(more[_possible(schema, more)])
    codes = np.concatenate(parts)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    if len(distinct):
        codes, table = distinct.astype(np.int32), _decoded(schema, distinct, rng)
        good = rows_that_hold(schema.row_rules, table)
        codes, counts, table = codes[good], counts[good], table.filter(pa.array(good))
    if not len(codes):
        raise ValueError(
            "None of the records that were drawn from the reference met the schema's rules: draw a larger `support`, "
            "or use another reference."
        )
    draws = _DRAWS if _has_bins(schema) else 1
    tables = (table, *(_decoded(schema, codes, rng) for _ in range(draws - 1)))
    return Support(schema, codes, counts / counts.sum(), tables)


def with_draws(
    support: Support, family: ColumnFamily, rounds: Sequence[tuple[np.ndarray, np.ndarray]], m: int
) -> Support:
    """The support of the draws of `support`, which are `m`, and those of `rounds`, with the reference as prior.

    Args:
        support: the first draws, from the reference, and its prior.
        family: the densities of the rounds.
        rounds: for each, the codes [draws, attributes] and the potentials of the density that they were drawn from.
        m: how many draws the support was made of.
    """
    schema, parts, counts = support.schema, [support.codes], [support.prior * m]
    for codes, _ in rounds:
        kept = _allowed(schema, codes)
        parts.append(kept)
        counts.append(np.ones(len(kept)))
    distinct, places = np.unique(np.concatenate(parts), axis=0, return_inverse=True)
    of_each = np.bincount(places.ravel(), weights=np.concatenate(counts))
    exponents = np.stack([np.zeros(len(distinct)), *(family.exponents(distinct, of) for _, of in rounds)])
    prior = balanced(of_each, exponents, np.array([m, *(len(part) for part in parts[1:])], dtype=np.float64))
    kept = prior > _LEAST_PRIOR
    return Support(schema, distinct[kept].astype(np.int32), prior[kept] / prior[kept].sum(), ())


def balanced(counts: np.ndarray, exponents: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """The weights [m] under which draws from several densities are a sample of the first: each point's count over the
    density of the mixture of all, over the first's.

    The densities are p_j proportional to p_0 exp(exponents[j]); their normalizers are those that the weights imply,
    found by repeating (the multistate Bennett acceptance ratio of Shirts and Chodera 2008).

    Args:
        counts: [m], how often each point was drawn, by whatever density.
        exponents: [densities, m]; zeros for the first.
        draws: [densities], how many draws each made.
    """
    logs, normalizers = np.log(counts), np.zeros(len(draws))
    with np.errstate(divide="ignore"):  # a round of which no draw is left counts for nothing
        shares = np.log(draws)[:, None]
    for _ in range(_REPETITIONS):
        weights = logs - logsumexp(shares + exponents - normalizers[:, None], axis=0)
        weights -= logsumexp(weights)
        normalizers = logsumexp(weights + exponents, axis=1)
    return np.exp(weights)


def support_of_points(schema: Schema, space: Space, points: np.ndarray, rng: np.random.Generator) -> Support:
    """The support of `points` [m, d] of a space, each with the same weight; rules are met when rows are drawn."""
    table = space.table(points, schema, rng)
    codes = encode(schema, table)
    stacked = np.column_stack([codes[name] for name in schema.domain.attributes]).astype(np.int32)
    return Support(schema, stacked, np.full(len(points), 1 / len(points)), (table,))


def _possible(schema: Schema, codes: np.ndarray) -> np.ndarray:
    possible = np.ones(len(codes), dtype=bool)
    for clique, impossible in schema.structural_zeros.items():
        possible &= ~impossible[tuple(codes[:, axis] for axis in schema.domain.axes(clique))]
    return possible


def _allowed(schema: Schema, codes: np.ndarray) -> np.ndarray:
    """Those of `codes` [draws, attributes] that no rule bars, each by values drawn within its bins."""
    codes = codes[_possible(schema, codes)]
    if not schema.row_rules:
        return codes
    rng = np.random.default_rng(0)  # whether a value within a bin meets a rule is drawn again with the rows
    return codes[rows_that_hold(schema.row_rules, _decoded(schema, codes, rng))]


def _has_bins(schema: Schema) -> bool:
    return any(column.is_ordered and bool((column.ranges[0] < column.ranges[1]).any()) for column in schema.synthesized)


def _decoded(schema: Schema, codes: np.ndarray, rng: np.random.Generator) -> pa.Table:
    columns = zip(schema.synthesized, codes.T, strict=True)
    return pa.table({column.name: column.decode(of, rng) for column, of in columns})
