"""Tables on many cliques that lie one after another in one array, so that thousands are computed with at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.domain.coarsening import frozen
from counterfoil.domain.domain import Clique, Domain


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the tables of some cliques lie.

    Args:
        domain: the attributes, whose names are plain texts.
        members: int64 [attributes of all cliques]: positions in the domain, clique after clique.
        begins: int64 [cliques + 1]: where each clique's members begin; each has at least one.
    """

    domain: Domain
    members: np.ndarray
    begins: np.ndarray

    def __post_init__(self) -> None:
        for field in ("members", "begins"):
            object.__setattr__(self, field, frozen(getattr(self, field)))
        known = type(self.domain) is Domain and all(type(name) is str for name in self.domain.attributes)
        count = len(self.domain.attributes)
        if not (known and self.members.min(initial=0) >= 0 and self.members.max(initial=-1) < count):
            raise ValueError("The members of a layout must be positions in a domain whose names are texts.")
        if self.begins[0] != 0 or self.begins[-1] != len(self.members) or not (np.diff(self.begins) > 0).all():
            raise ValueError("Each clique of a layout must have at least one attribute.")

    @staticmethod
    def of(domain: Domain, cliques: Iterable[Clique]) -> Layout:
        """The tables of `cliques`, in their order."""
        axes = [domain.axes(clique) for clique in cliques]
        members = np.array([axis for clique in axes for axis in clique], dtype=np.int64)
        return Layout(domain, members, np.cumsum([0, *map(len, axes)]))

    def __len__(self) -> int:
        """How many tables there are."""
        return len(self.begins) - 1

    def brought_parts(self) -> Sequence[object]:
        """Nothing runs a user's code: texts and numbers, as was checked."""
        return ()

    @cached_property
    def starts(self) -> np.ndarray:
        """int64 [cliques + 1]: where each clique's cells begin."""
        sizes = np.array(self.domain.sizes, dtype=np.int64)[self.members]
        cells = np.multiply.reduceat(sizes, self.begins[:-1]) if len(self) else sizes
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(cells)])

    def stack(self, tables: Mapping[Clique, np.ndarray], cliques: Sequence[Clique]) -> np.ndarray:
        """[cells of all]: the tables of `cliques`, which are those of the layout.

        Raises:
            ValueError: for tables of other shapes.
        """
        for clique in cliques:
            if tables[clique].shape != self.domain.shape(clique):
                raise ValueError(f"The table of {clique!r} must have the shape {self.domain.shape(clique)}.")
        return np.concatenate([tables[clique].ravel() for clique in cliques])

    def sums(self, cells: np.ndarray) -> np.ndarray:
        """[cliques]: the sum over each table of `cells` [cells of all]."""
        return np.add.reduceat(cells, self.starts[:-1])


@dataclass(frozen=True, eq=False)
class StackedCounts:
    """Whole numbers of records on the cliques of a layout. A copy that nobody can change after it was checked.

    Args:
        layout: the cliques.
        values: int64 [cells of all].
    """

    layout: Layout
    values: np.ndarray

    def __post_init__(self) -> None:
        if type(self.layout) is not Layout or self.values.shape != (int(self.layout.starts[-1]),):
            raise ValueError("Stacked counts must have one number for each cell of their layout.")
        object.__setattr__(self, "values", frozen(self.values))

    @cached_property
    def largest_total(self) -> float:
        """The most records that one clique's table counts in all, whatever their signs."""
        return float(self.layout.sums(np.abs(self.values, dtype=np.float64)).max(initial=0.0))

    def brought_parts(self) -> Sequence[object]:
        """Nothing runs a user's code: numbers, as was checked."""
        return ()
