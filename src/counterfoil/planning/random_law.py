"""A random law of records for a schema: hidden kinds of records, and within each a tree of related columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from counterfoil.planning.random_shares import Skew, random_shares, within
from counterfoil.schema import Schema
from counterfoil.schema.column import Column

_SAME = 1e-3
"""A column whose scores deviate by less says nothing about others: nearly every record has one value."""

_MOST_TILTED = 20.0
"""Of the logarithm of odds: beyond, a rare value would be all of a kind, which its share forbids anyhow."""

_LEADS = 1.5
"""How much more than any other a column follows the kind that models predict: it is named as it can be predicted."""

_ROUNDS = 200
"""Of scaling the rows and the columns of a table to their sums, at most; where they are far from even it takes some."""

_NEAR = 1e-6
"""A share that is off by less is not seen in a million records."""


@dataclass(frozen=True)
class Relations:
    """How strongly the columns of a law are related.

    Args:
        kinds: how many hidden kinds of records there are. Each column follows the kind, so all pairs are related, which
            no tree of pairs holds: this is what makes real tables harder than trees.
        tilt: how far a kind moves the log odds of a column's values at most, in deviations.
        least, most: the correlation of a column with its parent in the tree, within each kind.
        leads: whether a column that models predict is the root of the tree and follows the kind more than any other;
            it is a leaf that is like the others if not.
    """

    kinds: int
    tilt: float
    least: float
    most: float
    leads: bool


@dataclass(frozen=True)
class Link:
    """A column's latent normal is that of an earlier column times the correlation, and noise, of variance 1 in all."""

    parent: str
    correlation: float


@dataclass(frozen=True, eq=False)
class RandomLaw:
    """A law of records: a kind, even among all, and for each column a quantile of its shares within that kind.

    The quantiles are those of normals that are related along a tree. So each value has its share in `shares` exactly,
    but where cells are impossible.

    Args:
        order: the attributes, parents first.
        shares: float64 [size] for each attribute, which sum to 1.
        by_kind: float64 [kinds, size] for each attribute: the shares within each kind, of which `shares` is the mean.
        links: for each attribute that has a parent.
        possible: for each attribute with impossible cells beside an earlier one, that one and bool [its size, size]:
            which cells are possible. Shares are those among the possible ones.
    """

    order: tuple[str, ...]
    shares: Mapping[str, np.ndarray]
    by_kind: Mapping[str, np.ndarray]
    links: Mapping[str, Link]
    possible: Mapping[str, tuple[str, np.ndarray]]

    @classmethod
    def drawn(
        cls,
        schema: Schema,
        rng: np.random.Generator,
        *,
        skew: Skew,
        relations: Relations,
        target: str | None = None,
    ) -> RandomLaw:
        """A random law for the schema's columns, without the cells that rules on one column or two exclude.

        Where a column has impossible cells beside several earlier ones, only those beside one of them are excluded.
        """
        shares = random_shares(schema, rng, skew, target=target)
        names = schema.domain.attributes
        order = [names[i] for i in rng.permutation(len(names))]
        if target is not None:
            order.remove(target)
            order.insert(0 if relations.leads else len(order), target)
        links = {}
        for place in range(1, len(order)):
            correlation = rng.choice([-1.0, 1.0]) * rng.uniform(relations.least, relations.most)
            links[order[place]] = Link(order[int(rng.integers(place))], float(correlation))
        by_kind = {}
        for column in schema.synthesized:
            follows = _LEADS if relations.leads and column.name == target else rng.random()
            by_kind[column.name] = _by_kind(column, shares[column.name], relations, follows, rng)
        return cls(tuple(order), shares, by_kind, links, _possible(schema, tuple(order)))

    def draw(self, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Codes [rows] of each attribute."""
        codes: dict[str, np.ndarray] = {}
        latent: dict[str, np.ndarray] = {}
        kinds = rng.integers(len(next(iter(self.by_kind.values()))), size=rows)
        for name in self.order:
            latent[name] = rng.standard_normal(rows)
            if (link := self.links.get(name)) is not None:
                latent[name] *= np.sqrt(1 - link.correlation**2)
                latent[name] += link.correlation * latent[link.parent]
            codes[name] = self._at_quantiles(name, ndtr(latent[name]), kinds, codes)
        return {name: codes[name] for name in self.shares}

    def _at_quantiles(
        self, name: str, uniform: np.ndarray, kinds: np.ndarray, codes: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """int64 [rows]: the code at each quantile, of the shares of the kind that are possible beside the other."""
        by_kind = self.by_kind[name]
        if name not in self.possible:
            return _by_group(kinds, uniform, lambda kind: by_kind[kind])
        other, cells = self.possible[name]
        groups = kinds * len(cells) + codes[other]
        return _by_group(groups, uniform, lambda group: within(by_kind[group // len(cells)], cells[group % len(cells)]))


def _by_group(groups: np.ndarray, uniform: np.ndarray, shares_of: Callable[[int], np.ndarray]) -> np.ndarray:
    """int64 [n]: the code at each quantile, of the shares of its group."""
    found = np.zeros(len(uniform), dtype=np.int64)
    order = np.argsort(groups, kind="stable")
    present, starts = np.unique(groups[order], return_index=True)
    for group, rows in zip(present, np.split(order, starts[1:]), strict=True):
        found[rows] = at_quantiles(shares_of(group), uniform[rows])
    return found


def at_quantiles(shares: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """int64 [n]: the code of which the cumulative share first exceeds each of `uniform` [n]."""
    # The last code with a share takes what rounding leaves beyond it.
    last = int(np.flatnonzero(shares)[-1])
    return np.minimum(np.searchsorted(np.cumsum(shares), uniform, side="right"), last)


def normal_scores(shares: np.ndarray) -> np.ndarray:
    """float64 [size]: the normal quantile in the middle of each code's share.

    They are shifted and scaled to mean 0 and variance 1 under `shares`; all 0 where one code has nearly every record.
    """
    middle = np.cumsum(shares) - shares / 2
    scores = ndtri(np.clip(middle, 1e-12, 1 - 1e-12))
    scores = scores - shares @ scores
    deviation = float(np.sqrt(shares @ np.square(scores)))
    return scores / deviation if deviation > _SAME else np.zeros_like(scores)


def _by_kind(
    column: Column, shares: np.ndarray, relations: Relations, follows: float, rng: np.random.Generator
) -> np.ndarray:
    """float64 [kinds, size]: ordered values are moved up or down by a kind, each other value by itself."""
    kinds = relations.kinds
    if column.is_ordered:
        tilts = np.outer(rng.standard_normal(kinds), normal_scores(shares))
    else:
        tilts = rng.standard_normal((kinds, len(shares)))
    odds = np.clip(relations.tilt * follows * tilts, -_MOST_TILTED, _MOST_TILTED)
    return scaled(np.exp(odds) * shares, shares)


def scaled(table: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """float64 [kinds, size]: times factors by row and by column; rows then sum to 1, and their mean is `shares`."""
    table = table / table.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        mean = table.mean(axis=0)
        if np.abs(mean - shares).max() < _NEAR:
            break
        table = table * np.divide(shares, mean, out=np.zeros_like(shares), where=mean > 0)
        table = table / table.sum(axis=1, keepdims=True)
    return table


def _possible(schema: Schema, order: tuple[str, ...]) -> dict[str, tuple[str, np.ndarray]]:
    """For each attribute with impossible cells beside an earlier one of `order`: that one, and the possible cells."""
    found: dict[str, tuple[str, np.ndarray]] = {}
    for clique, impossible in schema.structural_zeros.items():
        if len(clique) == 2:
            earlier, later = sorted(clique, key=order.index)
            found.setdefault(later, (earlier, ~impossible if clique == (earlier, later) else ~impossible.T))
    return found
