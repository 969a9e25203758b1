"""All pairs of attributes of a graphical model at once, along its junction tree.

One pair after another, each marginal is a small elimination of its own. Together they need one matrix product for each
clique of the tree: for a clique that adds attributes N to a separator S, and any attribute x that was reached before,
P(x, N) = sum over S of P(x, S) P(N | S), because S separates N from x (Koller and Friedman, section 10.3.3). What is
kept is P of all pairs of attributes and separators, a symmetric matrix that grows clique by clique.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.junction_tree import JunctionTree

MOST_COLUMNS = 5_000
"""The largest such matrix takes 200 MB."""


@dataclass(frozen=True)
class _Component:
    """A connected part of the tree: its cliques, parents first, and how many columns its matrix has."""

    cliques: tuple[int, ...]
    columns: int


def components(tree: JunctionTree) -> list[_Component]:
    """The parts of the tree that no separator joins."""
    roots: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    for i in reversed(range(len(tree.cliques))):
        roots[i] = i if tree.parents[i] < 0 else roots[tree.parents[i]]
        members.setdefault(roots[i], []).append(i)
    return [_Component(tuple(own), _columns(tree, own)) for own in members.values()]


def _columns(tree: JunctionTree, cliques: Sequence[int]) -> int:
    names = {name for i in cliques for name in tree.cliques[i]}
    wide = {tree.separators[i] for i in cliques if len(tree.separators[i]) > 1}
    return sum(map(tree.domain.size, wide)) + sum(tree.domain[name] for name in names)


def fits(tree: JunctionTree, most: int) -> bool:
    """Whether the matrix of every component has at most so many columns."""
    return all(component.columns <= most for component in components(tree))


def pair_probabilities(
    tree: JunctionTree, tables: Mapping[Clique, np.ndarray], pairs: Sequence[Clique]
) -> dict[Clique, np.ndarray]:
    """The distribution of each of `pairs`, with the axes in the pair's own order.

    Args:
        tree: the junction tree of the model, which `fits`.
        tables: the distribution of each clique of the tree.
        pairs: of two different attributes.
    """
    home: dict[str, _Matrix] = {}
    for component in components(tree):
        matrix = _matrix(tree, tables, component)
        home.update((name, matrix) for (name, *more) in matrix.places if not more)
    margins = {name: matrix.margin(name) for name, matrix in home.items()}
    return {
        (one, other): home[one].block((one,), (other,))
        if home[one] is home[other]
        else np.multiply.outer(margins[one], margins[other])
        for one, other in pairs
    }


@dataclass
class _Matrix:
    """P of each two of the attributes and separators that were placed: each has some rows, and the same columns."""

    values: np.ndarray
    places: dict[Clique, slice] = field(default_factory=dict)
    used: int = 0

    def place(self, clique: _CliqueTable, separator: Clique) -> None:
        """Adds the sets of a clique: what was placed before it is joined to them by its separator."""
        before, first = self.used, len(self.places)
        for names in clique.sets:
            if names in self.places:
                continue
            here = slice(self.used, self.used + clique.size(names))
            if separator:
                share = clique.given(separator, names)
                self._fill(slice(0, before), here, self.values[:before, self.places[separator]] @ share)
            for other in list(self.places)[first:]:
                self._fill(self.places[other], here, clique.joint(other, names))
            self.places[names], self.used = here, here.stop
            self._fill(here, here, clique.joint(names, names))

    def _fill(self, rows: slice, columns: slice, values: np.ndarray) -> None:
        self.values[rows, columns] = values
        self.values[columns, rows] = values.T

    def block(self, one: Clique, other: Clique) -> np.ndarray:
        """The joint distribution of two that were placed."""
        return self.values[self.places[one], self.places[other]]

    def margin(self, name: str) -> np.ndarray:
        """The distribution of an attribute."""
        return self.block((name,), (name,)).diagonal().copy()


@dataclass(frozen=True, eq=False)
class _CliqueTable:
    """The distribution of a clique, and the sets of its attributes that are placed: each alone, and separators."""

    names: Clique
    table: np.ndarray
    sets: tuple[Clique, ...]

    def size(self, names: Clique) -> int:
        """How many cells the table of `names` has."""
        return math.prod(size for name, size in zip(self.names, self.table.shape, strict=True) if name in names)

    def joint(self, one: Clique, other: Clique) -> np.ndarray:
        """[cells of one, cells of other]: their joint distribution."""
        n = self.size(other)
        place = self._cells(one) * n + self._cells(other)
        return np.bincount(place, self.table.ravel(), self.size(one) * n).reshape(-1, n)

    def given(self, separator: Clique, names: Clique) -> np.ndarray:
        """[cells of the separator, cells of names]: P(names | separator), 0 where the separator is impossible."""
        joint = self.joint(separator, names)
        mass = joint.sum(axis=1, keepdims=True)
        return np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)

    def _cells(self, names: Clique) -> np.ndarray:
        """[cells of the clique]: in which cell of `names` each is."""
        shape = tuple(size if name in names else 1 for name, size in zip(self.names, self.table.shape, strict=True))
        return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), self.table.shape).ravel()


def _matrix(tree: JunctionTree, tables: Mapping[Clique, np.ndarray], component: _Component) -> _Matrix:
    matrix = _Matrix(np.empty((component.columns, component.columns)))
    wide: dict[int, list[Clique]] = {}
    for i in component.cliques:
        if len(tree.separators[i]) > 1:
            wide.setdefault(tree.parents[i], []).append(tree.separators[i])
    for i in component.cliques:
        names = tree.cliques[i]
        sets = dict.fromkeys([*((name,) for name in names), *wide.get(i, ())])
        matrix.place(_CliqueTable(names, tables[names], tuple(sets)), tree.separators[i])
    return matrix
