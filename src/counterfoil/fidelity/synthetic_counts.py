"""Counts and numbers of the synthetic rows, for comparison with the real ones. Nothing here is sensitive."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from counterfoil.domain.domain import Clique
from counterfoil.domain.workload import Workload
from counterfoil.schema import Schema

_LARGEST_MARGINAL = 100_000
MOST_CELLS = 5_000_000


def compared_cliques(schema: Schema, order: int) -> tuple[Clique, ...]:
    """The marginals of `order` columns that are compared: those with at most 100,000 cells, the smallest first, as
    long as they have no more than 5 million in all."""
    domain = schema.domain
    if order > len(domain.attributes):
        return ()
    workload = Workload.of_order(domain, order, max_cells=max(_LARGEST_MARGINAL, *domain.sizes))
    smallest = sorted(workload.weights, key=domain.size)
    cells = np.cumsum([domain.size(clique) for clique in smallest])
    kept = set(smallest[: max(int((cells <= MOST_CELLS).sum()), 1)])
    return tuple(clique for clique in workload.weights if clique in kept)


def compares_all_pairs(schema: Schema) -> bool:
    """Whether each pair of columns is among those that are compared, as certificates from marginals need."""
    pairs = [clique for clique in compared_cliques(schema, 2) if len(clique) == 2]
    return len(pairs) == math.comb(len(schema.domain.attributes), 2)


def count(codes: Mapping[str, np.ndarray], shape: tuple[int, ...], clique: Clique) -> np.ndarray:
    """int64, of that shape: how many synthetic rows are in each cell of the clique."""
    cells = np.zeros(len(codes[clique[0]]), dtype=np.int64)
    for name, size in zip(clique, shape, strict=True):
        cells = cells * size + codes[name]
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape).astype(np.int64)


def numbers_of(schema: Schema, table: pa.Table) -> dict[str, np.ndarray]:
    """float64 [n] for each ordered column of a synthetic table."""
    return {
        column.name: column.numbers(table.column(column.name)) for column in schema.synthesized if column.is_ordered
    }
