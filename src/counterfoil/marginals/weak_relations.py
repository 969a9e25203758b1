"""How much of a correlation noise leaves, and which ones it hides; and a sentence for the receipt where that is much.

Public: all follows from noisy counts, from what was fitted to them, and from the schema. No record is read.

**Counts.** Let a pair of columns be counted in I x J cells with noise of variance v, of n records, and let phi be the
root of the sum over cells of (p_ij - p_i p_j)**2 / (p_i p_j), which is the correlation for two columns of two values
and Cramer's V times the root of min(I, J) - 1 for others. With even shares, the sum of (residual)**2 / (v) has the mean
df + phi**2 n**2 / (v I J) where only noise blurs it, and exceeds c, the 95% quantile of chi-squared with df =
(I - 1) (J - 1) degrees of freedom, about every second time where that mean is c. So the least phi that shows is

    phi = sqrt((c - df) v I J) / n.

Values that are counted together count as their group's mean. To first order in a correlation rho (Mehler's formula,
for numbers that are normal on some scale), the cell of groups i and j of shares r_i and c_j departs from n r_i c_j by
n r_i c_j rho x_i y_j, where x and y are the groups' standardized means. So the columns keep rho times the sum over
cells of (r_i x_i**2) (c_j y_j**2), which is rho R S, where R and S are the parts of both columns' variances that lie
between groups. The correlation of groups is rho sqrt(R S): the limit grows by 1 / sqrt(R S).

A count below 0 is impossible. Where m = n r_i c_j records are expected, noise of deviation s is cut off there, which
raises the count by e = s f(m / s) - m F(-m / s) on average, with the normal density f and distribution F, and the cell
is taken to keep m / (m + e) of its departure: these factors weigh (r_i x_i**2) (c_j y_j**2) each.

**A prior.** Weights that minimize (m - y)**2 / 2 s**2 + w KL(weights || product) for a noisy average y, say of a
product of two columns whose standard deviations are a and b, keep 1 / (1 + w t**2) of a correlation, with
t = s / (a b), because KL is about rho**2 / 2. With Laplace noise of scale s, |m - y| / s in place of the square, they
keep all of it up to 1 / (w t), and no more. The limit is what noise alone exceeds once in twenty times. A cell of share
q = r_i c_j, whose KL is about (p - q)**2 / 2 q, likewise keeps 1 / (1 + w v / n**2 q), in place of m / (m + e).

What is kept is a first-order bound that leaves out the choice of pairs and the bins within which numbers are drawn: of
tables with known correlations of .7, releases of 800 records and more mostly kept up to .15 less; where AIM or MST pass
a weak relation over, next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr

from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.marginals.no_relations import smallest_tables
from counterfoil.schema import Schema

UNRELATED = "Columns are unrelated in these rows: this method keeps no relation."
_BUT_FOR_RULES = "Columns are related by the schema's rules alone in these rows: this method keeps no relation."

_FALSE = 0.05
_KEPT = 0.85
"""Where at least this part of a correlation is kept, nothing is said of it."""
_LIMIT = 0.3
"""Limits up to this one, a relation of medium strength, are not worth a sentence."""
_ALL = 0.95
"""A limit beyond which none shows."""
_STRENGTH = 0.5
"""The correlation that a prior under Laplace noise is judged by."""
_MOST_NAMED = 3
_MOST_GROUPS = 10
_TINY = float(np.finfo(float).tiny)
_SAME = 1e-12


def unrelated(schema: Schema) -> str:
    """What is said of a method that keeps no relation but those that the schema's rules demand."""
    return _BUT_FOR_RULES if schema.rules else UNRELATED


def unrelated_but(schema: Schema, together: Iterable[Collection[str]]) -> tuple[str, ...]:
    """What is said where only some columns are related, by what was bought; nothing where all are.

    Args:
        schema: of the columns.
        together: columns that something was bought of together; those that share a column with others are related too.
    """
    groups: list[set[str]] = []
    for names in together:
        joined = set(names)
        for group in [one for one in groups if one & joined]:
            joined |= group
            groups.remove(group)
        groups.append(joined)
    several = sorted(sorted(group) for group in groups if len(group) > 1)
    columns = {column.name for column in schema.synthesized}
    if len(columns) < 2 or any(set(group) >= columns for group in several):
        return ()
    if not several:
        return (unrelated(schema),)
    named = "; ".join(" with ".join(group) for group in several[:_MOST_GROUPS])
    more = f"; and {len(several) - _MOST_GROUPS} more groups" if len(several) > _MOST_GROUPS else ""
    rules = " but for the schema's rules" if schema.rules else ""
    return (
        f"Columns are related in these rows only by what was bought of them together: {named}{more}. All others are "
        f"unrelated{rules}.",
    )


@dataclass(frozen=True)
class Blurred:
    """What noise leaves of the relation of a pair.

    Args:
        pair: of columns.
        kept: the part of a correlation that the rows can be expected to have.
        limit: the least correlation that stands out.
    """

    pair: Clique
    kept: float
    limit: float


@dataclass(frozen=True, eq=False)
class Groups:
    """The values of a column that are counted together.

    Args:
        part: of the column's variance that lies between groups.
        shares: float64 [groups]: of the records, as released.
        weights: float64 [groups], of sum 1: of the variance between groups.
        constant: whether the column has one value alone, and so no relation.
    """

    part: float
    shares: np.ndarray
    weights: np.ndarray
    constant: bool = False


def weak_relations(pairs: Sequence[Blurred], *, columns: int | None = None, related: bool = False) -> tuple[str, ...]:
    """A sentence where the median pair keeps little of a correlation, or hides one of medium strength; else none.

    Args:
        pairs: what noise leaves of each.
        columns: how many there are, where others of their pairs may not have been counted: the sentence says nothing of
            these, and then says so.
        related: whether the rows start from a reference with relations of its own, which noise here can't weaken.
    """
    if not pairs:
        return ()
    kept, limit = (float(np.median([getattr(one, name) for one in pairs])) for name in ("kept", "limit"))
    if (kept >= _KEPT or related) and limit <= _LIMIT:
        return ()
    worst = sorted(pairs, key=lambda one: (one.kept / (1 + one.limit), one.pair))
    weak = [one for one in worst if (one.kept < _KEPT and not related) or one.limit > _LIMIT]
    named = ", ".join("-".join(one.pair) for one in weak[:_MOST_NAMED])
    more = f" and {len(weak) - _MOST_NAMED:,} more" if len(weak) > _MOST_NAMED else ""
    if related:
        hidden = f"correlations weaker than about {limit:.1f}" if limit < _ALL else "all correlations"
        return (
            f"Noise hides {hidden} from what was bought of pairs: these rows have those of their reference, which may "
            f"be weaker than the table's: {named}{more}.",
        )
    said = []
    if limit > _LIMIT:
        hidden = f"weaker than about {limit:.1f} can't" if limit < _ALL else "can't"
        said.append(f"Correlations {hidden} be distinguished from noise at this budget")
    if kept < _KEPT:
        said.append(
            f"{'those that show are' if said else 'Correlations are'} likely weaker in these rows than in the table"
        )
    sentence = f"{', and '.join(said)}: {named}{more}."
    if columns is not None and len(pairs) < math.comb(columns, 2):
        return (f"Of the pairs that were counted, {sentence[0].lower()}{sentence[1:]}",)
    return (sentence,)


def blurred_counts(
    measured: Sequence[NoisyMarginal], total: float, groups: Mapping[str, Groups], prior_weight: float | None = None
) -> list[Blurred]:
    """What noise leaves of each pair that was counted, but those of a column with a single value.

    Args:
        measured: noisy counts, also of single columns.
        total: the number of records, as noise leaves it.
        groups: by column, the values that are counted together.
        prior_weight: of the divergence from independent columns; None for a fit to the counts alone.
    """
    found = []
    for pair, (shape, variance) in smallest_tables(measured).items():
        ones, others = (groups[name] for name in pair)
        if ones.constant or others.constant:
            continue
        between = ones.part * others.part
        if min(shape) < 2 or between <= 0:
            found.append(Blurred(pair, 0.0, math.inf))
            continue
        expected = total * ones.shares[:, None] * others.shares
        if prior_weight is None:
            cells = expected / np.maximum(expected + _excess(expected, math.sqrt(variance)), _TINY)
        else:
            cells = expected / np.maximum(expected + prior_weight * variance / total, _TINY)
        freedom = math.prod(size - 1 for size in shape)
        needed = float(chdtri(freedom, _FALSE)) - freedom
        limit = math.sqrt(needed * variance * math.prod(shape) / between) / total
        found.append(Blurred(pair, between * float(ones.weights @ cells @ others.weights), limit))
    return found


def _excess(expected: np.ndarray, deviation: float) -> np.ndarray:
    """By how much noise of the `deviation` raises expected counts, on average, where none may be below 0."""
    if deviation <= 0:
        return np.zeros_like(expected)
    ratio = expected / deviation
    return deviation * (np.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi) - ratio * ndtr(-ratio))


def blurred_average(pair: Clique, error: float, prior_weight: float, *, laplace: bool) -> Blurred:
    """What noise leaves of a pair whose products were averaged.

    Args:
        pair: of columns.
        error: of the noisy average, in units of both columns' standard deviations: that of Gaussian noise, or the scale
            of Laplace noise.
        prior_weight: of the divergence from independent columns; 0 without one.
        laplace: whether the noise is Laplace.
    """
    if laplace:
        most = 1 / (prior_weight * error) if prior_weight * error > 0 else math.inf
        return Blurred(pair, min(1.0, most / _STRENGTH), -math.log(_FALSE) * error)
    return Blurred(pair, 1 / (1 + prior_weight * error**2), 1.96 * error)


def groups_of(schema: Schema, coarsening: Coarsening, shares: Mapping[str, np.ndarray]) -> dict[str, Groups]:
    """By column, what is known of the groups of a coarsening.

    Numbers count by the middles of their bins; of other values, each by an indicator.

    Args:
        schema: of the columns.
        coarsening: what is counted together.
        shares: by column, float64 [codes]: the released share of each value.
    """
    return {
        column.name: _groups(np.maximum(shares[column.name], 0.0), coarsening.codes[column.name], column.centers)
        for column in schema.synthesized
    }


def groups_of_model(schema: Schema, model: TableModel) -> dict[str, Groups]:
    """By column, each value by itself, with the shares of the `model`."""
    shares = {name: model.marginal((name,)) for name in model.domain.attributes}
    return groups_of(schema, identity(model.domain), shares)


def _groups(shares: np.ndarray, codes: np.ndarray, centers: np.ndarray) -> Groups:
    if len(codes) == 1:
        return Groups(1.0, np.ones(1), np.ones(1), constant=True)
    shares = shares / max(float(shares.sum()), _TINY)
    sums = np.bincount(codes, shares)
    known = np.isfinite(centers)
    if known.sum() > 1:
        own, values = np.where(known, shares, 0.0), np.where(known, centers, 0.0)
        middle = float(own @ values) / max(float(own.sum()), _TINY)
        numbers = np.bincount(codes, own)
        means = np.bincount(codes, own * (values - middle)) / np.maximum(numbers, _TINY)
        spread, whole = np.asarray(numbers * means**2, dtype=float), float(own @ (values - middle) ** 2)
        between = float(spread.sum())
    else:
        squares: np.ndarray = np.bincount(codes, shares**2)
        spread, whole = sums * (1 - sums), 1 - float(squares.sum())
        between = whole - float((sums - squares / np.maximum(sums, _TINY)).sum())
    if whole < _SAME or spread.sum() < _SAME * whole:
        return Groups(0.0 if whole >= _SAME else 1.0, sums, np.full(len(sums), 1 / len(sums)))
    return Groups(min(max(between / whole, 0.0), 1.0), sums, spread / spread.sum())
