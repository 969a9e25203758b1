"""Blocks of neighboring codes, within which the choice of marginals does not look.

A fit believes smooth relations of ordered columns more than rough ones (`graphical_model.trust`). What it mends in a
pair of numbers is therefore how their ranks go together, not the error of each cell: that is mostly the records' own
scatter and the noise, and hides the other. Compared in blocks of ranks, a pair's error is what measuring it mends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique

BLOCKS = 8
"""Of an ordered column: as many as it has waves that a fit believes by themselves."""


@dataclass(frozen=True, eq=False)
class RankBlocks:
    """Public: from noisy counts and the schema.

    Args:
        coarsening: of the records' codes to blocks.
        block: by column whose codes were put in blocks, int64 [codes]: the block of each code that is measured.
    """

    coarsening: Coarsening
    block: Mapping[str, np.ndarray]

    def counts(self, clique: Clique, table: np.ndarray) -> np.ndarray:
        """The counts of `table`, [measured codes of the columns of `clique`], in blocks."""
        for axis, name in enumerate(clique):
            if name in self.block:
                table = np.add.reduceat(table, _starts(self.block[name]), axis=axis)
        return table

    def root_cells(self, clique: Clique) -> np.ndarray:
        """The square root of how many measured cells each cell has, in a shape that the counts in blocks extend."""
        roots = np.ones((1,) * len(clique))
        for axis, name in enumerate(clique):
            if name in self.block:
                shape = [-1 if other == axis else 1 for other in range(len(clique))]
                roots = roots * np.sqrt(np.bincount(self.block[name])).reshape(shape)
        return roots


def single_codes(coarsening: Coarsening) -> RankBlocks:
    """Each measured code by itself."""
    return RankBlocks(coarsening, {})


def rank_blocks(
    coarsening: Coarsening, counts: Mapping[str, np.ndarray], ordered: Mapping[str, int], most: int = BLOCKS
) -> RankBlocks:
    """About `most` blocks of equally many records in each ordered column. Post-processing.

    Args:
        coarsening: the codes that are measured.
        counts: float64 [measured codes] by column: noisy, not negative.
        ordered: by column, how many of its leading measured codes are in order; the others stay by themselves.
        most: the most blocks; columns of no more codes in order have no blocks.
    """
    block = {name: _of_ranks(counts[name], leading, most) for name, leading in ordered.items() if leading > most}
    codes = {name: block[name][fine] if name in block else fine for name, fine in coarsening.codes.items()}
    return RankBlocks(Coarsening(coarsening.fine, codes), block)


def _of_ranks(counts: np.ndarray, leading: int, most: int) -> np.ndarray:
    """int64 [codes]: the block of each."""
    until = np.cumsum(counts[:leading])
    if until[-1] <= 0:
        until = np.arange(1.0, leading + 1)
    middle = until - np.diff(until, prepend=0.0) / 2
    block = np.minimum((most * middle / until[-1]).astype(np.int64), most - 1)
    rest = np.arange(len(counts) - leading)
    return np.unique(np.concatenate([block, most + rest]), return_inverse=True)[1].astype(np.int64)


def _starts(block: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.diff(block, prepend=-1))
