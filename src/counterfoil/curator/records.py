"""The sensitive records behind the wall: an engine, and the exact counts that were already computed from it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from counterfoil.curator.batches import GroupedRecords
from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.parts import Part, random_parts
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.counting import count_marginals, count_stacked
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.layout import Layout, StackedCounts
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.randomness import Randomness, SystemRandomness

_MANY_CLIQUES = 64
"""From so many on they are counted together, which is quicker."""


class ExactRecords:
    """Answers exactly; held by the curator alone.

    Exact marginals are kept up to `cache_bytes`, because an adaptive method asks for the same ones in every round and
    the table may have to be read from disk each time.
    """

    def __init__(
        self, engine: Engine, domain: Domain, *, cache_bytes: int = 256 * 2**20, randomness: Randomness | None = None
    ) -> None:
        self._engine = engine
        self._domain = domain
        self._cache_bytes = cache_bytes
        self._randomness = SystemRandomness() if randomness is None else randomness
        self._kept: OrderedDict[tuple[Coarsening | None, Clique], np.ndarray] = OrderedDict()
        self._kept_bytes = 0
        self._grouped: tuple[TrainingFeatures, GroupedRecords] | None = None
        self._counted: tuple[Layout, Coarsening | None, np.ndarray] | None = None
        self._compared: tuple[StackedCounts, Coarsening | None, np.ndarray] | None = None

    def require_texts(self) -> None:
        """Refuses an engine that can't count texts; nothing is read.

        Raises:
            ValueError: for such an engine.
        """
        self._engine.tally((), Wanted(0))  # one that can reads nothing before the first count is taken

    def require_blocks(self) -> None:
        """Refuses an engine whose records do not come to this process; nothing is read.

        Raises:
            ValueError: for such an engine.
        """
        self._engine.blocks(())  # an engine that can gives them later, one by one

    def marginals(self, cliques: Sequence[Clique], coarsening: Coarsening | None = None) -> list[np.ndarray]:
        missing = [clique for clique in cliques if (coarsening, clique) not in self._kept]
        counted = self._count(missing, coarsening) if missing else {}
        answer = [counted[c] if c in counted else self._kept[coarsening, c] for c in cliques]
        self._keep([(coarsening, clique) for clique in cliques], answer)
        return answer

    def distances(self, estimate: StackedCounts, coarsening: Coarsening | None = None) -> np.ndarray:
        """int64 [cliques]: the L1 distance of the exact counts of each clique from `estimate`.

        Those of the last estimate, which cannot have changed, and the counts of the last layout are kept.

        Raises:
            ValueError: for an estimate on another domain than that of the (coarsened) records.
        """
        domain = coarsening.domain if coarsening else self._domain
        if estimate.layout.domain != domain:
            raise ValueError("The estimate must be on the domain of the records that it is compared with.")
        known = self._compared  # what another thread may put in its place is of another question
        if known is None or known[0] is not estimate or known[1] is not coarsening:
            counts = self._stacked(estimate.layout, coarsening)
            known = estimate, coarsening, estimate.layout.sums(np.abs(counts - estimate.values))
            self._compared = known
        return known[2]

    def fold(
        self, partial: Callable[[Block], np.ndarray], columns: Sequence[str], numbers: Sequence[str] = ()
    ) -> np.ndarray:
        return self._engine.fold(partial, columns, numbers)

    def fold_placements(self, partial: Callable[[Block], np.ndarray], columns: Sequence[str]) -> np.ndarray:
        return self._engine.fold(partial, (), (), placements=columns)

    def unit_sizes(self, most: int) -> np.ndarray:
        return self._engine.unit_sizes(most)

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        yield from self._engine.tally(columns, wanted)

    def grouped(self, features: TrainingFeatures) -> GroupedRecords:
        """All records as a model reads them, in memory; read once for the same features."""
        known = self._grouped
        if known is None or known[0] != features:
            blocks = self._engine.blocks(features.codes, features.numbers)
            known = self._grouped = features, GroupedRecords(features, blocks)
        return known[1]

    def parts(self, features: TrainingFeatures, count: int) -> Iterator[Part]:
        blocks = self._engine.blocks(features.codes, features.numbers)
        return random_parts(features, blocks, count, self._randomness)

    def _stacked(self, layout: Layout, coarsening: Coarsening | None) -> np.ndarray:
        """int64 [cells of all]: the exact counts."""
        known = self._counted
        if known is not None and known[0] is layout and known[1] is coarsening:
            return known[2]
        known = self._counted = None  # before others are counted: two of them may not fit in memory
        columns = [layout.domain.attributes[axis] for axis in np.unique(layout.members).tolist()]
        count = partial(_count_stacked_block, columns=columns, layout=layout, coarsening=coarsening)
        counts = self._engine.accumulate(count, int(layout.starts[-1]), columns)
        if counts.nbytes <= self._cache_bytes:
            self._counted = layout, coarsening, counts
        return counts

    def _count(self, cliques: list[Clique], coarsening: Coarsening | None) -> dict[Clique, np.ndarray]:
        needed = {attribute for clique in cliques for attribute in clique}
        columns = [attribute for attribute in self._domain.attributes if attribute in needed]
        domain = coarsening.domain if coarsening else self._domain
        count = partial(_count_block, cliques=cliques, columns=columns, domain=domain, coarsening=coarsening)
        whole = self._engine.accumulate(count, sum(map(domain.size, cliques)), columns)
        # Copied, because each is kept for a time of its own.
        totals = [part.copy() for part in _parts(whole, cliques, domain)]
        for total in totals:
            total.setflags(write=False)  # they are kept, and shared by all queries
        return dict(zip(cliques, totals, strict=True))

    def _keep(self, keys: Sequence[tuple[Coarsening | None, Clique]], answer: Sequence[np.ndarray]) -> None:
        for key, counts in zip(keys, answer, strict=True):
            self._kept_bytes += 0 if key in self._kept else counts.nbytes
            self._kept[key] = counts
            self._kept.move_to_end(key)
        while self._kept_bytes > self._cache_bytes:
            _, dropped = self._kept.popitem(last=False)
            self._kept_bytes -= dropped.nbytes


def _count_block(
    block: Block,
    total: np.ndarray,
    *,
    cliques: list[Clique],
    columns: list[str],
    domain: Domain,
    coarsening: Coarsening | None,
) -> None:
    """Adds the counts of one block to `total`, int64 [cells of all cliques], where they lie one after another."""
    # Codes are merged before they are counted: a table of the fine cells may not fit in memory.
    codes = coarsening.merge_codes(block.codes, columns) if coarsening else block.codes
    if len(cliques) >= _MANY_CLIQUES and all(cliques):
        count_stacked(codes, block.rows, Layout.of(domain, cliques), total)
        return
    count_marginals(codes, block.rows, cliques, domain, into=_parts(total, cliques, domain))


def _count_stacked_block(
    block: Block, total: np.ndarray, *, columns: list[str], layout: Layout, coarsening: Coarsening | None
) -> None:
    """Adds the counts of one block to `total`, int64 [cells of all]."""
    codes = coarsening.merge_codes(block.codes, columns) if coarsening else block.codes
    count_stacked(codes, block.rows, layout, total)


def _parts(counts: np.ndarray, cliques: list[Clique], domain: Domain) -> list[np.ndarray]:
    """Views of `counts`, one for each clique, shaped by the domain."""
    views = np.split(counts, np.cumsum([domain.size(clique) for clique in cliques])[:-1])
    return [view.reshape(domain.shape(clique)) for view, clique in zip(views, cliques, strict=True)]
