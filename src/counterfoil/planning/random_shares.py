"""Random shares of the values of columns, within what their schema declares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_MOST_MISSING = 0.1
"""The largest share of missing values, where a column may have some."""


@dataclass(frozen=True)
class Skew:
    """How uneven the values of a law's columns are.

    Args:
        spiked: how many columns have one value that most records share.
        spike: the least and the largest share of such a value.
        falling: how many columns of numbers from 0 on fall from there, as counts of what few people have; they have no
            other spike.
        fall: the power of such a fall.
        reach: over how many values it takes to fall, as a power of their number: at 0 the second value has a small part
            of the first one's share already, as counts do; at 1 the last one has a good part of it, as amounts whose
            largest bound is close to what is paid.
        hill: other ordered values have a hill, a beta law whose two parameters are between 1 and this.
        rough: hills and falls are off by factors, whose logarithms deviate by between 0 and this: ages by little,
            hours and amounts, which people round, by much.
        power: other values fall by rank as a power between these.
        target: the same for the column that models predict, where one is named. It has no spike: where nearly all
            records have one value, a model that always says so is right.
    """

    spiked: float
    spike: tuple[float, float]
    falling: float
    fall: tuple[float, float]
    reach: tuple[float, float]
    hill: float
    rough: float
    power: tuple[float, float]
    target: tuple[float, float]


def random_shares(
    schema: Schema, rng: np.random.Generator, skew: Skew, *, target: str | None = None
) -> dict[str, np.ndarray]:
    """float64 [size] for each synthesized column: shares that sum to 1, none for impossible values."""
    columns = schema.synthesized
    chosen = chosen_ones(np.array([skew.falling if _is_amount(column) else skew.spiked for column in columns]), rng)
    found = {}
    for column, one in zip(columns, chosen.tolist(), strict=True):
        if column.name == target:
            shares = _by_rank(column.n_bins, skew.target, rng)
        elif one and _is_amount(column):
            shares = _falling(column.n_bins, skew, rng)
        else:
            shares = _spiked(_plain(column, skew, rng), skew, rng) if one else _plain(column, skew, rng)
        found[column.name] = _allowed(column, shares, schema, rng)
    return found


def chosen_ones(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """bool [n]: each with its chance, and as many as their sum to within one.

    Drawn one by one, two laws of a few columns would differ by more than the two kinds of laws that a plan compares.
    """
    order = rng.permutation(len(chances))
    passed = np.floor(np.cumsum(chances[order]) + rng.random())
    chosen = np.zeros(len(chances), dtype=bool)
    chosen[order] = np.diff(passed, prepend=0.0) > 0
    return chosen


def within(shares: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """float64 [size]: the shares of possible codes, which sum to 1; as they are where nothing is possible."""
    if not possible.any():
        return shares
    kept = np.where(possible, shares, 0.0)
    return kept / kept.sum() if kept.any() else possible / possible.sum()


def _is_amount(column: Column) -> bool:
    """Whether its values are numbers from 0 on, of more than two bins."""
    return isinstance(column, (Integer, Real)) and column.lower == 0 and column.n_bins > 2


def _plain(column: Column, skew: Skew, rng: np.random.Generator) -> np.ndarray:
    n = column.n_bins
    if not column.is_ordered:
        return _by_rank(n, skew.power, rng)
    place = (np.arange(n) + 0.5) / n
    left, right = rng.uniform(1.0, skew.hill, 2)
    return _summing_to_one(place ** (left - 1) * (1 - place) ** (right - 1) * _roughness(n, skew, rng))


def _by_rank(n: int, power: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    return _summing_to_one(rng.permutation(np.arange(1.0, n + 1) ** -rng.uniform(*power)))


def _falling(n: int, skew: Skew, rng: np.random.Generator) -> np.ndarray:
    reach = n ** rng.uniform(*skew.reach)
    return _summing_to_one((1 + np.arange(n) / reach) ** -rng.uniform(*skew.fall) * _roughness(n, skew, rng))


def _roughness(n: int, skew: Skew, rng: np.random.Generator) -> np.ndarray:
    return np.exp(rng.uniform(0.0, skew.rough) * rng.standard_normal(n))


def _spiked(shares: np.ndarray, skew: Skew, rng: np.random.Generator) -> np.ndarray:
    spike = rng.uniform(*skew.spike)
    raised = shares * (1 - spike)
    raised[rng.integers(len(shares))] += spike
    return raised


def _allowed(column: Column, shares: np.ndarray, schema: Schema, rng: np.random.Generator) -> np.ndarray:
    """float64 [size]: with a share for missing values, and none for impossible ones."""
    if column.missing:
        absent = rng.uniform(0.0, _MOST_MISSING)
        shares = np.append(shares * (1 - absent), absent)
    impossible = schema.structural_zeros.get((column.name,))
    return shares if impossible is None else within(shares, ~impossible)


def _summing_to_one(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()
