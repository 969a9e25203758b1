"""Private reference densities of tables of codes: where the support of a reweighting is drawn from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.filter import PureFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.geometry.euclidean import Box
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine
from counterfoil.marginals.foreseen_total import Planned
from counterfoil.marginals.measure import measure
from counterfoil.marginals.one_way import OneWay, measure_one_way
from counterfoil.schema import Real, Schema
from counterfoil.synthesis.progress import Progress
from counterfoil.synthesis.resampling import systematic

MERGED_SHARE = 0.45
"""The share of the budget that a product takes where rare values are merged: marginals have fewer cells then."""

Draw = Callable[[int, np.random.Generator], np.ndarray]
"""Takes m, gives m draws: codes [m, attributes], or points [m, d]."""


@dataclass(frozen=True, eq=False)
class Density:
    """A reference density that was estimated, or that needed no estimate.

    Args:
        draw: gives draws from it.
        measured: noisy marginals that it was made from, which say something about the weights too.
        columns: of a product, the density of each column, float64 [codes].
        merged: of a product whose rare values are merged, all that was measured of its columns; `measured` is then on
            the coarse domain, and so are the marginals that are asked for.
        total: the number of records as it implies it; None where it does not.
        total_error: about the standard deviation of `total`; 0 where that is public.
        parameters: what is to stand on the receipt about it.
        warnings: public sentences.
    """

    draw: Draw
    measured: tuple[NoisyMarginal, ...] = ()
    columns: tuple[np.ndarray, ...] = ()
    merged: OneWay | None = None
    total: float | None = None
    total_error: float = 0.0
    parameters: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def coarsening(self) -> Coarsening | None:
        """The values that marginals count together; None where each has a cell."""
        return None if self.merged is None else self.merged.coarsening


@dataclass(frozen=True, eq=False)
class Asking:
    """What a reference may ask with.

    Args:
        curator: the records, behind the wall.
        account: the account of the release.
        cost: what it may spend, in the unit of the account's filter.
        progress: what is said meanwhile.
        merging: whether rare values are merged, because marginals will be asked for.
        rows: how many rows the user asks for; None where the number of records says how many.
        later: the marginals that will be asked for beside it.
    """

    curator: Curator
    account: FilterAccount
    cost: float
    progress: Progress
    merging: bool = False
    rows: int | None = None
    later: Sequence[Planned] = ()

    @property
    def pure(self) -> bool:
        """Whether epsilons add up: noise is Laplace."""
        return isinstance(self.account.rule, PureFilter)


class Reference(ABC):
    """A reference density. A frozen dataclass, whose fields are its public parameters.

    Attributes:
        name: as `--reference` and receipts call it.
    """

    name: ClassVar[str]

    def gives_points(self, schema: Schema) -> bool:
        """Whether draws are points of a box rather than codes."""
        return False

    def share_of(self, schema: Schema) -> float:
        """The share of the budget that it takes by default; 0 where it costs nothing."""
        return 0.0

    @abstractmethod
    def require_possible(self, curator: Curator) -> None:
        """Refuses a table that it can't be a density of, before anything is charged.

        Raises:
            ValueError: with what to change.
        """

    def cliques(self, curator: Curator) -> tuple[Clique, ...]:
        """The marginals that it measures, in one query with all that it may spend; none for most."""
        return ()

    def total_deviation(self, asking: Asking) -> float | None:
        """About the standard deviation of `Density.total`; None where that is None. Nothing is asked."""
        return None

    @abstractmethod
    def estimate(self, asking: Asking) -> Density:
        """Asks what it needs, and returns the density."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The public parameters, in a form that fits on a receipt."""


@dataclass(frozen=True)
class Uniform(Reference):
    """All records of the domain alike, or all points of the box of the bounds. It costs nothing.

    Source: Boedihardjo, Strohmer and Vershynin 2022, whose reference it is.
    """

    name: ClassVar[str] = "uniform"

    def gives_points(self, schema: Schema) -> bool:
        return is_continuous(schema)

    def require_possible(self, curator: Curator) -> None:
        """Every domain has a uniform density."""

    def estimate(self, asking: Asking) -> Density:
        if self.gives_points(asking.curator.schema):
            return Density(Box.of(asking.curator.schema).random)
        sizes = asking.curator.domain.sizes
        return Density(lambda m, rng: np.column_stack([_evenly(np.ones(size), m, rng) for size in sizes]))

    def describe(self) -> dict[str, Any]:
        return {"reference": self.name}


@dataclass(frozen=True)
class Product(Reference):
    """Independent columns with noisy marginals: the reference for tables of many columns.

    Where marginals are asked for beside it, columns of many numbers are smoothed and rare values merged as in MST and
    AIM (`measure_one_way`), which takes more of the budget and leaves fewer cells to the marginals.
    """

    name: ClassVar[str] = "product"

    def share_of(self, schema: Schema) -> float:
        return 0.2

    def require_possible(self, curator: Curator) -> None:
        """Every table has columns."""

    def cliques(self, curator: Curator) -> tuple[Clique, ...]:
        return tuple((name,) for name in curator.domain.attributes)

    def estimate(self, asking: Asking) -> Density:
        noise = asking.account.noise(asking.cost)
        if asking.merging:
            one_way = measure_one_way(asking.curator, asking.account, noise, rows=asking.rows, later=asking.later)
            return product_of(tuple(measured := one_way.merged()), measured, one_way)
        measured = measure(asking.account, asking.curator.domain, self.cliques(asking.curator), noise)
        return product_of(tuple(measured), measured)

    def describe(self) -> dict[str, Any]:
        return {"reference": self.name}


def product_of(
    measured: tuple[NoisyMarginal, ...], known: Sequence[NoisyMarginal], merged: OneWay | None = None
) -> Density:
    """The product density of the columns of `measured`, by all that is `known` of them: their own counts and the sums
    of marginals that hold them, averaged with the inverse of their variances.

    Args:
        measured: the columns.
        known: marginals that hold them.
        merged: of columns with merged values, whose counts are on the coarse domain: how a group's values share it.
    """
    columns, within = [], {} if merged is None else merged.within()
    for column in measured:
        (name,) = column.clique
        sums = [marginal.of_column(name) for marginal in known if name in marginal.clique]
        (joined,) = combine(Domain((name,), column.counts.shape), sums)
        density = nearest_density(joined.counts)
        columns.append(density if merged is None else density[merged.coarsening.codes[name]] * within[name])

    def draw(m: int, rng: np.random.Generator) -> np.ndarray:
        return np.column_stack([_evenly(density, m, rng) for density in columns])

    warnings = () if merged is None else merged.warnings
    return Density(draw, measured, tuple(columns), merged, warnings=warnings)


def nearest_density(counts: np.ndarray) -> np.ndarray:
    """The nearest density in Euclidean distance to noisy counts [k], each divided by their sum; uniform without one.

    It is the likeliest one where noise is Gaussian and alike in all cells.
    """
    total = counts.sum()
    if not total > 0:
        return np.full(len(counts), 1 / len(counts))
    shares = counts / total
    falling = np.sort(shares)[::-1]
    excess = np.cumsum(falling) - 1
    kept = int(np.flatnonzero(falling * np.arange(1, len(shares) + 1) > excess)[-1])
    return np.maximum(shares - excess[kept] / (kept + 1), 0.0)


def is_continuous(schema: Schema) -> bool:
    """Whether all columns hold real numbers that are never missing, so that records are points of a box."""
    return all(isinstance(column, Real) and not column.missing for column in schema.synthesized)


def _evenly(density: np.ndarray, m: int, rng: np.random.Generator) -> np.ndarray:
    """int64 [m]: codes in random order, each as often as `density` says, up to one."""
    return rng.permutation(systematic(density, m, rng)).astype(np.int64)
