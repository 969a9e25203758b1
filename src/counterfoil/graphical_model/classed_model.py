"""A graphical model in which each record also has a class that nobody sees: its last attribute."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import CLASS, Clique, Domain
from counterfoil.graphical_model import graphical_model
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.table_model import TableModel


def with_class(domain: Domain, classes: int) -> Domain:
    """`domain` and the class."""
    if CLASS in domain.attributes:
        raise ValueError(f"No column may be named {CLASS!r}.")
    return Domain((*domain.attributes, CLASS), (*domain.sizes, classes))


def coarsening_with_class(coarsening: Coarsening, classes: int) -> Coarsening:
    """`coarsening`, and each class by itself."""
    return Coarsening(with_class(coarsening.fine, classes), {**coarsening.codes, CLASS: np.arange(classes)})


def seen(cliques: Iterable[Clique]) -> list[Clique]:
    """Those of `cliques` that are of columns alone."""
    return [clique for clique in cliques if CLASS not in clique]


@dataclass(frozen=True, eq=False)
class ClassedModel:
    """The columns of a model with a hidden class; see `TableModel`.

    Args:
        model: on a domain whose last attribute is the class.
    """

    model: GraphicalModel

    @cached_property
    def domain(self) -> Domain:
        """The columns, without the class."""
        return Domain(self.model.domain.attributes[:-1], self.model.domain.sizes[:-1])

    @property
    def total(self) -> float:
        """The number of records."""
        return self.model.total

    @property
    def cliques(self) -> list[Clique]:
        """The columns that one of the model's potentials joins."""
        return seen(self.model.potentials)

    def marginal(self, clique: Iterable[str]) -> np.ndarray:
        """Expected counts on `clique`, one axis for each attribute in the given order."""
        return self.model.marginal(clique)

    def marginals(self, cliques: Iterable[Iterable[str]]) -> dict[Clique, np.ndarray]:
        """Expected counts on each of `cliques`."""
        return self.model.marginals(cliques)

    def sample(
        self, n: int, rng: np.random.Generator, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> np.ndarray:
        """int32 [n, attributes]: rows of codes, in random order; with `where`, from the conditional distribution."""
        return _without_class(self.model.sample(n, rng, where=where))

    def sampler(
        self, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> Callable[[int, np.random.Generator], np.ndarray]:
        """What draws rows as `sample` does, any number of times and on any thread."""
        draw = self.model.sampler(where=where)
        return lambda n, rng: _without_class(draw(n, rng))

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of all that it says; a model that was saved and loaded has the same."""
        return self.model.digest

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model, with its class, to one .npz file without pickles."""
        self.model.save(path)


def columns_of(model: GraphicalModel) -> GraphicalModel | ClassedModel:
    """`model` itself, or without its class where it has one."""
    return ClassedModel(model) if model.domain.attributes[-1:] == (CLASS,) else model


def cliques_of(model: TableModel) -> list[Clique]:
    """The columns that one potential joins, where the model has potentials."""
    if isinstance(model, ClassedModel):
        return model.cliques
    return list(model.potentials) if isinstance(model, GraphicalModel) else []


def load(path: str | os.PathLike[str]) -> GraphicalModel | ClassedModel:
    """Reads what `GraphicalModel.save` or `ClassedModel.save` wrote.

    Raises:
        ValueError: for a file that is damaged, holds pickled objects, or has another format or version.
    """
    return columns_of(graphical_model.load(path))


def _without_class(codes: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(codes[:, :-1])
