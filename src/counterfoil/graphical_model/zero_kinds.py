"""Keeping apart, where rare values are merged, what structural zeros treat differently.

Where a coarse code holds values with which another value is possible and others with which it is not, the model of
coarse codes knows only that some are. When it is brought back to the schema's values, the impossible cells are taken
out, and their records go to the possible ones: what the noisy counts said of the other column is then wrong, by as many
records as the coarse code has there. With `kept_apart`, a coarse cell is possible as a whole or not at all.
Post-processing, and public: zeros come from the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal

FEW_KINDS, MOST_KINDS = 48, 128
"""So many kinds of values are kept apart in any case, and no more in any: pairs would be too large. A column with more
than it may have is merged as if there were no zeros. Dates have about 100 codes where nobody says how many."""

_WORTH = 0.3
"""Of the noise in a row of a pair, what the records of a kind must exceed to be worth it."""


def kinds_apart(records: float, deviation: float) -> int:
    """How many kinds of values of a column may be kept apart.

    Each of k kinds has 1/k of the records in the mean. Their sum over the k cells that it has in a pair with another
    column of k kinds has the noise of sqrt(k) deviations, above a part of which these records must be.

    Args:
        records: about how many there are.
        deviation: of the noise of the counts of the column.
    """
    worth = (max(records, 1.0) / (_WORTH * deviation)) ** (2 / 3)
    return int(min(max(worth, FEW_KINDS), MOST_KINDS))


def kept_apart(
    coarsening: Coarsening, zeros: Mapping[Clique, np.ndarray], measured: Sequence[NoisyMarginal], records: float
) -> Coarsening:
    """A coarsening that merges the same values, but none of different kinds; the order of coarse codes is kept.

    Args:
        coarsening: of any values.
        zeros: by clique, bool tables on the fine domain that are True where no record can be.
        measured: the noisy counts of each column.
        records: about how many there are.
    """
    most = {one.clique[0]: kinds_apart(records, one.scale) for one in measured}
    kinds = {name: of for name, of in zero_kinds(coarsening.fine, zeros).items() if of.max() < most[name]}
    if not kinds:
        return coarsening
    codes = {
        name: _ranks(merged, kinds[name]) if name in kinds else merged for name, merged in coarsening.codes.items()
    }
    return Coarsening(coarsening.fine, codes)


def zero_kinds(domain: Domain, zeros: Mapping[Clique, np.ndarray]) -> dict[str, np.ndarray]:
    """By attribute, int64 [size]: equal for two codes where every table of `zeros` bars the same cells with both.

    Attributes that no table has are left out.
    """
    kinds: dict[str, np.ndarray] = {}
    for clique, impossible in zeros.items():
        for axis, name in enumerate(clique):
            rows = np.moveaxis(impossible, axis, 0).reshape(domain[name], -1)
            _, own = np.unique(np.packbits(rows, axis=1), axis=0, return_inverse=True)
            before = kinds.get(name, np.zeros(domain[name], dtype=np.int64))
            kinds[name] = _ranks(before, own.reshape(-1).astype(np.int64))
    return kinds


def _ranks(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """int64 [n]: the place of each pair of codes among all that there are, in the order of `first`."""
    ranks = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)[1]
    return np.asarray(ranks.reshape(-1), dtype=np.int64)
