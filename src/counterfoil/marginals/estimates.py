"""What a model says of marginals, computed when it is asked for.

A model that is near its largest size leaves few candidates that fit, most of them inside one of its cliques, where a
marginal is a sum. What it says of the others takes far longer, and no choice depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.graphical_model import GraphicalModel


class Estimates(Mapping[Clique, np.ndarray]):
    """The model's counts for some marginals, in their order. Post-processing.

    Args:
        model: fitted.
        cliques: the marginals.
        watch: counts the time that the model takes.
    """

    def __init__(self, model: GraphicalModel, cliques: Iterable[Clique], watch: FitWatch = UNWATCHED) -> None:
        self._model = model
        self._known: dict[Clique, np.ndarray | None] = dict.fromkeys(cliques)
        self._watch = watch

    def together(self, cliques: Iterable[Clique]) -> None:
        """Computes those of `cliques` that were not asked for before, which takes less time than one by one."""
        if missing := [clique for clique in cliques if self._known[clique] is None]:
            with self._watch.working():
                self._known.update(self._model.marginals(missing))

    def __getitem__(self, clique: Clique) -> np.ndarray:
        self.together([clique])
        table = self._known[clique]
        assert table is not None
        return table

    def __iter__(self) -> Iterator[Clique]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def computed_together(estimates: Mapping[Clique, np.ndarray], cliques: Iterable[Clique]) -> None:
    """Tells estimates that are computed when they are asked for which of them will be."""
    if isinstance(estimates, Estimates):
        estimates.together(cliques)
