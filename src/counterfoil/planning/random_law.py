"""A random law of records for a schema: skewed columns, independent or related along a tree with a few triangles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from counterfoil.schema import Schema
from counterfoil.schema.column import Column

_SPIKED = 0.35
"""How many columns have one value that most records share, as amounts that are mostly zero."""

_TRIANGLES = 0.25
"""How many columns follow their grandparent in the tree too, and the product of both."""

_SAME = 1e-3
"""A column whose scores deviate by less says nothing about others: nearly every record has one value."""


@dataclass(frozen=True, eq=False)
class Link:
    """How a column follows earlier ones: by the weighted sum of their normal scores and noise, of variance 1 in all.

    Args:
        parents: one column, or two of which the second is the parent of the first.
        weights: of the score of each, and for two parents of the product of both scores; their squares sum to less
            than 1.
    """

    parents: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class RandomLaw:
    """A law of records: column by column in an order of its own, each given at most two earlier ones.

    So it is a graphical model whose cliques are pairs and triangles. The share of each value is about the one in
    `shares`: exactly for a column without parents, nearly for the others, whose sum of scores is only about normal.

    Args:
        order: the attributes, parents first.
        shares: float64 [size] for each attribute, which sum to 1.
        links: for each attribute that has parents.
        possible: for each attribute with impossible cells beside an earlier one, that one and bool [its size, size]:
            which cells are possible. Shares are those among the possible ones.
    """

    order: tuple[str, ...]
    shares: Mapping[str, np.ndarray]
    links: Mapping[str, Link]
    possible: Mapping[str, tuple[str, np.ndarray]]

    @classmethod
    def drawn(cls, schema: Schema, rng: np.random.Generator, *, related: bool) -> RandomLaw:
        """A random law for the schema's columns, without the cells that rules on one column or two exclude.

        Where a column has impossible cells beside several earlier ones, only those beside one of them are excluded.
        """
        shares = {column.name: _shares(column, schema, rng) for column in schema.synthesized}
        names = schema.domain.attributes
        order = tuple(names[i] for i in rng.permutation(len(names)))
        links: dict[str, Link] = {}
        for place in range(1, len(order) if related else 0):
            parent = order[int(rng.integers(place))]
            above = links[parent].parents[:1] if parent in links and rng.random() < _TRIANGLES else ()
            signs = rng.choice([-1.0, 1.0], 1 + 2 * len(above))
            sizes = rng.uniform(0.4, 0.95, 1) if not above else rng.uniform(0.3, 0.55, 3)
            links[order[place]] = Link((parent, *above), tuple((signs * sizes).tolist()))
        return cls(order, shares, links, _possible(schema, order))

    def draw(self, rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Codes [rows] of each attribute."""
        codes: dict[str, np.ndarray] = {}
        for name in self.order:
            if (link := self.links.get(name)) is None:
                uniform = rng.random(rows)
            else:
                uniform = ndtr(self._latent(link, codes, rng.standard_normal(rows)))
            codes[name] = self._at_quantiles(name, uniform, codes)
        return {name: codes[name] for name in self.shares}

    def _at_quantiles(self, name: str, uniform: np.ndarray, codes: Mapping[str, np.ndarray]) -> np.ndarray:
        """int64 [rows]: the code at each quantile, of the shares that are possible beside the earlier column."""
        if name not in self.possible:
            return at_quantiles(self.shares[name], uniform)
        other, cells = self.possible[name]
        found = np.zeros(len(uniform), dtype=np.int64)
        order = np.argsort(codes[other], kind="stable")
        beside, starts = np.unique(codes[other][order], return_index=True)
        for code, rows in zip(beside, np.split(order, starts[1:]), strict=True):
            found[rows] = at_quantiles(_within(self.shares[name], cells[code]), uniform[rows])
        return found

    def _latent(self, link: Link, codes: Mapping[str, np.ndarray], noise: np.ndarray) -> np.ndarray:
        """float64 [rows]: about normal, with variance about 1."""
        scores = [normal_scores(self.shares[parent])[codes[parent]] for parent in link.parents]
        terms = [*scores, scores[0] * scores[1]] if len(scores) == 2 else scores
        weights = np.array(link.weights)
        total = np.sqrt(1 - np.square(weights).sum()) * noise
        for weight, term in zip(weights, terms, strict=True):
            total += weight * term
        return total


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


def _shares(column: Column, schema: Schema, rng: np.random.Generator) -> np.ndarray:
    """float64 [size]: ordered values have a rough hill, others fall by rank as a power; a few are missing.

    The ranges are such that (sum of square roots of shares)**2, the number of values that a column has in effect, is on
    average about the same power of its size as in the public tables of `benchmarks/schemas`: .75, and .79 there.
    """
    n = column.n_bins
    if column.is_ordered:
        place = (np.arange(n) + 0.5) / n
        left, right = rng.uniform(1.0, 8.0, 2)
        weights = place ** (left - 1) * (1 - place) ** (right - 1) * np.exp(0.3 * rng.standard_normal(n))
    else:
        weights = rng.permutation(np.arange(1.0, n + 1) ** -rng.uniform(0.7, 2.5))
    weights /= weights.sum()
    if rng.random() < _SPIKED and n > 1:
        spike = rng.uniform(0.6, 0.95)
        weights *= 1 - spike
        weights[rng.integers(n)] += spike
    if column.missing:
        absent = rng.uniform(0.0, 0.1)
        weights = np.append(weights * (1 - absent), absent)
    impossible = schema.structural_zeros.get((column.name,))
    return weights / weights.sum() if impossible is None else _within(weights / weights.sum(), ~impossible)


def _within(shares: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """float64 [size]: the shares of possible codes, which sum to 1; as they are where nothing is possible."""
    if not possible.any():
        return shares
    kept = np.where(possible, shares, 0.0)
    return kept / kept.sum() if kept.any() else possible / possible.sum()


def _possible(schema: Schema, order: tuple[str, ...]) -> dict[str, tuple[str, np.ndarray]]:
    """For each attribute with impossible cells beside an earlier one of `order`: that one, and the possible cells."""
    found: dict[str, tuple[str, np.ndarray]] = {}
    for clique, impossible in schema.structural_zeros.items():
        if len(clique) == 2:
            earlier, later = sorted(clique, key=order.index)
            found.setdefault(later, (earlier, ~impossible if clique == (earlier, later) else ~impossible.T))
    return found
