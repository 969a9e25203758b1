"""What may be asked of the sensitive table.

A query is a frozen dataclass. Its fields are public: they may be printed, stored and repeated. What is sensitive
reaches it only as the argument `records`, behind the wall. Queries are a closed set: a new one needs a proof of its
sensitivity in its docstring and joins the conformance test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from counterfoil.curator.budget import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.marginals.coarsening import Coarsening
from counterfoil.marginals.domain import Clique


class Records(Protocol):
    """The sensitive table as queries see it: a sum over its records, never a record."""

    def marginals(self, cliques: Sequence[Clique], coarsening: Coarsening | None = None) -> list[np.ndarray]:
        """Exact counts, one int64 array shaped by the (coarsened) domain for each clique; counted once and kept."""
        ...

    def fold(
        self, partial: Callable[[Block], np.ndarray], columns: Sequence[str], numbers: Sequence[str] = ()
    ) -> np.ndarray:
        """The sum of `partial` over blocks of records, wherever they are stored."""
        ...

    def blocks(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[Block]:
        """The blocks themselves, for sums that are cheaper to keep in place."""
        ...


class CountQuery(Protocol):
    """A query whose answer is a vector of integers, or several, to which noise is added."""

    name: ClassVar[str]

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the answer in l1 norm, all parts taken together."""
        ...

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the answer in l2 norm, all parts taken together."""
        ...

    def exact(self, records: Records) -> np.ndarray:
        """int64[cells]: the noiseless answer, which never leaves the curator."""
        ...

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        ...


class SelectionQuery(Protocol):
    """A query that scores candidates, of which the best is chosen privately."""

    name: ClassVar[str]

    def score_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes any one score."""
        ...

    def exact(self, records: Records) -> np.ndarray:
        """float64[candidates]: the noiseless scores, which never leave the curator."""
        ...

    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""
        ...
