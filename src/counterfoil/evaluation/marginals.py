"""How far a synthetic table's marginals are from the real one's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.evaluation.marginal_distances import BesideEachOther


@dataclass(frozen=True)
class MarginalComparison:
    """The errors of a table's marginals of one order.

    The error of a marginal is the L1 distance of the two normalized marginals: 0 when they agree, 2 when they have no
    cell in common (twice the total-variation distance).

    Args:
        errors: the error of each marginal that was compared, by clique.
        total: the number of marginals of this order; on wide tables, more than were compared.
    """

    order: int
    errors: Mapping[Clique, float]
    total: int

    @property
    def mean(self) -> float:
        """The mean error."""
        return math.fsum(self.errors.values()) / len(self.errors)

    @property
    def worst(self) -> Clique:
        """The clique with the largest error."""
        return max(self.errors, key=lambda clique: self.errors[clique])

    @property
    def largest(self) -> float:
        """The largest error."""
        return self.errors[self.worst]


def compare_marginals(
    real: Mapping[str, np.ndarray],
    synthetic: Mapping[str, np.ndarray],
    domain: Domain,
    *,
    order: int,
    at_most: int = 5000,
) -> MarginalComparison:
    """The errors of the marginals of `order` columns.

    Args:
        real: integer codes [n] by attribute, n > 0.
        synthetic: integer codes [m] by attribute, m > 0.
        domain: the attributes to compare, and how many codes each has.
        order: how many columns a marginal has; at least 1.
        at_most: on wide tables, compare only so many marginals, evenly spaced among all of them.

    Raises:
        ValueError: for an empty table, or fewer columns than `order`.
    """
    for name, codes in (("real", real), ("synthetic", synthetic)):
        if _rows(codes) == 0:
            raise ValueError(f"The {name} table must have rows to be compared. Found none.")
    total = math.comb(len(domain.attributes), order)
    if order < 1 or total == 0:
        raise ValueError(f"`order` must be from 1 to the number of columns, {len(domain.attributes)}. Found {order}.")
    cliques = list(_spread(domain.attributes, order, total, at_most))
    return MarginalComparison(order, BesideEachOther.of(real, synthetic, domain.attributes).distances(cliques), total)


def _spread(attributes: Sequence[str], order: int, total: int, at_most: int) -> Iterator[Clique]:
    every = itertools.combinations(attributes, order)
    if total <= at_most:
        return every
    wanted = {round(i * (total - 1) / max(at_most - 1, 1)) for i in range(at_most)}
    return (clique for i, clique in enumerate(every) if i in wanted)


def _rows(codes: Mapping[str, np.ndarray]) -> int:
    return len(next(iter(codes.values()), ()))
