"""What rows can be drawn from, and marginals taken of: a graphical model, or weighted records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np

from counterfoil.domain.domain import Clique, Domain


class TableModel(Protocol):
    """A distribution over a finite domain, scaled to `total` records."""

    @property
    def domain(self) -> Domain:
        """The attributes, and how many codes each has."""
        ...

    @property
    def total(self) -> float:
        """The number of records."""
        ...

    def marginal(self, clique: Iterable[str]) -> np.ndarray:
        """Expected counts on `clique`, one axis for each attribute in the given order."""
        ...

    def marginals(self, cliques: Iterable[Iterable[str]]) -> dict[Clique, np.ndarray]:
        """Expected counts on each of `cliques`."""
        ...

    def sample(
        self, n: int, rng: np.random.Generator, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> np.ndarray:
        """int32 [n, attributes]: rows of codes, in random order; with `where`, from the conditional distribution.

        Raises:
            ValueError: for codes outside the domain, and for a condition of probability zero.
        """
        ...

    def sampler(
        self, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> Callable[[int, np.random.Generator], np.ndarray]:
        """What draws rows as `sample` does, any number of times and on any thread.

        Raises:
            ValueError: at once or when rows are drawn, as `sample` does.
        """
        ...

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of all that it says; a model that was saved and loaded has the same."""
        ...

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one .npz file without pickles."""
        ...
