"""A workload: the marginals that the synthetic table should preserve, and how much each matters."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from counterfoil.domain.domain import Clique, Domain

DEFAULT_MAX_CELLS = 10_000

# Sums of weights times numbers of columns then stay far inside the range that weights of scores may have.
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-50, 1e50


def require_workload(given: object) -> None:
    """Raises ValueError for what names no marginals: neither an order nor a `Workload`."""
    order = isinstance(given, int) and not isinstance(given, bool) and given >= 1
    if not order and not isinstance(given, Workload):
        raise ValueError(
            f"`workload` must be a whole number of at least 1, or a `Workload`. Found {given!r}: give 2 for all pairs "
            'of columns, or the sets that matter, such as Workload({("age", "sex"): 1.0}).'
        )


@dataclass(frozen=True)
class Workload:
    """Marginals to keep, with positive weights.

    Args:
        weights: importance of each clique; larger matters more.
        skipped: cliques of the wanted order that have too many cells to be kept directly.

    Raises:
        ValueError: for a workload or clique that is empty, or a weight that is not between 1e-50 and 1e50.
    """

    weights: Mapping[Clique, float]
    skipped: tuple[Clique, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ValueError(f"A workload maps tuples of column names to weights. Found {self.weights!r}.")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))
        if not self.weights:
            raise ValueError("A workload must name at least one set of attributes. Found none.")
        for clique, weight in self.weights.items():
            if not isinstance(clique, tuple) or not clique:
                raise ValueError(f"A workload maps tuples of column names to weights. Found {clique!r}.")
            if not _SMALLEST_WEIGHT <= weight <= _LARGEST_WEIGHT:
                raise ValueError(
                    f"A weight must lie between {_SMALLEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}. Found {weight!r} for "
                    f"{'+'.join(clique)}."
                )

    @classmethod
    def of_order(cls, domain: Domain, order: int, *, max_cells: int = DEFAULT_MAX_CELLS) -> Workload:
        """Every marginal of `order` attributes with at most `max_cells` cells, all with weight 1.

        Where no marginal of that order is small enough, or the table has fewer columns, the order below is taken.

        Raises:
            ValueError: when `order` is not 1, 2, 3 or more, or every single column exceeds `max_cells`.
        """
        if not isinstance(order, int) or order < 1:
            raise ValueError(f"The order of a workload must be a whole number of at least 1. Found {order!r}.")
        for size in range(min(order, len(domain.attributes)), 0, -1):
            cliques = list(itertools.combinations(domain.attributes, size))
            kept = [clique for clique in cliques if domain.size(clique) <= max_cells]
            if kept:
                skipped = tuple(clique for clique in cliques if domain.size(clique) > max_cells)
                return cls(dict.fromkeys(kept, 1.0), skipped)
        smallest = min(domain.attributes, key=lambda name: domain[name])
        raise ValueError(
            f"Every column has more than {max_cells} values (column {smallest!r} has the fewest, {domain[smallest]}): "
            "give columns fewer bins or categories in the schema."
        )

    @staticmethod
    def surely_within(domain: Domain, order: int, *, max_cells: int = DEFAULT_MAX_CELLS) -> Clique:
        """Columns of which any `order` have at most `max_cells` cells, hence all of them in `of_order`."""
        order = min(order, len(domain.attributes))
        return tuple(name for name in domain.attributes if domain[name] ** order <= max_cells)

    @classmethod
    def up_to_order(cls, domain: Domain, order: int) -> Workload:
        """Every marginal of 1 to `order` attributes, whatever its size, all with weight 1.

        Raises:
            ValueError: when `order` is not between 1 and the number of attributes.
        """
        if not isinstance(order, int) or not 1 <= order <= len(domain.attributes):
            raise ValueError(f"`order` must be 1 to {len(domain.attributes)}, the number of columns. Found {order!r}.")
        sizes = range(1, order + 1)
        cliques = (clique for size in sizes for clique in itertools.combinations(domain.attributes, size))
        return cls(dict.fromkeys(cliques, 1.0))

    @classmethod
    def from_toml(cls, path: str | Path, domain: Domain) -> Workload:
        """Reads `[[cliques]]` tables, each with `attributes = [...]` and an optional `weight`.

        Raises:
            ValueError: for a file that can't be read or says something else, naming the entry.
        """
        try:
            document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ValueError(f"The workload {str(path)!r} can't be read as TOML: {error}.") from error
        entries = document.get("cliques")
        if not isinstance(entries, list) or set(document) != {"cliques"}:
            raise ValueError(f"The workload {str(path)!r} must hold [[cliques]] tables and nothing else.")
        weights: dict[Clique, float] = {}
        for number, entry in enumerate(entries, 1):
            names = entry.get("attributes") if isinstance(entry, dict) else None
            if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
                raise ValueError(f"Entry {number} of {str(path)!r} must have `attributes`, a list of column names.")
            unknown = set(entry) - {"attributes", "weight"}
            if unknown:
                raise ValueError(f"Entry {number} of {str(path)!r} has an unknown key {min(unknown)!r}.")
            try:
                clique = domain.canonical(names)
            except ValueError as error:
                raise ValueError(f"Entry {number} of {str(path)!r}: {error}") from None
            weight = entry.get("weight", 1.0)
            if not isinstance(weight, (int, float)) or isinstance(weight, bool):
                raise ValueError(f"Entry {number} of {str(path)!r}: `weight` must be a number. Found {weight!r}.")
            weights[clique] = weights.get(clique, 0.0) + float(weight)
        return cls(weights)

    def candidates(self, domain: Domain) -> dict[Clique, float]:
        """What AIM may measure: every nonempty subset r of a workload clique, with w_r = sum_s c_s abs(r & s).

        Source: McKenna et al. 2022, section 4.1.
        """
        weights: dict[Clique, float] = {}
        for clique in self.weights:
            for size in range(1, len(clique) + 1):
                for subset in itertools.combinations(clique, size):
                    weights.setdefault(domain.canonical(subset), 0.0)
        around: dict[str, dict[Clique, float]] = {}
        for clique, weight in self.weights.items():
            for name in set(clique):
                around.setdefault(name, {})[clique] = weight
        totals = {name: math.fsum(sets.values()) for name, sets in around.items()}
        # Of whole numbers below 2**53 every sum is exact, in whatever order: as where all weights are 1.
        exact = all(weight.is_integer() for weight in self.weights.values()) and sum(totals.values()) < 2**53
        for subset in weights:
            if exact:
                weights[subset] = sum(totals[name] for name in subset)
            else:
                members = frozenset(subset)
                met = {clique: weight for name in subset for clique, weight in around[name].items()}
                weights[subset] = math.fsum(
                    weight * len(members.intersection(clique)) for clique, weight in met.items()
                )
        return weights
