"""All columns counted two to four times, because most cells of a column of many hold fewer records than the noise.

A first measurement shows which neighbors stand out only together, and the next one measures the sums of these. A single
code that stands out, and each category, is measured each time, as exactly together as once with all of the budget where
columns share it equally; the last measurement gives more to columns of which noise hides more (`column_weights`). The
sum of k cells has a deviation smaller by up to sqrt(k / 2) than that of k noisy counts.

Where noise hides much of the columns at first, it also hides which neighbors stand out. All cells are then counted once
more, at the cost of the last measurement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine, estimate_total
from counterfoil.graphical_model.runs import MANY, Runs, joined_again, joined_for_another
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.column_sums import MOST_SHARE, ColumnSum, SumBuyer, part_of
from counterfoil.marginals.column_weights import column_weights
from counterfoil.marginals.measure import measure
from counterfoil.marginals.scores import expected_error
from counterfoil.marginals.smoothed_columns import runs_of_columns, smoothed_columns
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import CountNoise
from counterfoil.schema import Schema

_LAST = 0.5
"""The part of the budget for the last measurement, with what is bought beside it."""
_FIRST_OF_THREE = 0.2
"""The part for the first where there are three: enough for the single cells that many records share."""
LONG = 64
"""A column of numbers with more codes is measured repeatedly also by itself, and the numbers may be added up."""
_ONCE_MORE = 0.2
"""The most that the first measurement gets besides, where noise hides the columns; the last one gets that much less."""
_LITTLE_NOISE, _MUCH_NOISE, _MOST_NOISE = 0.01, 0.1, 0.3
"""Expected errors of columns (L1, of 2), by their mean: from the first on they get more of the budget (`More`)."""
_HALF_HIDDEN = math.sqrt(_LITTLE_NOISE * _MUCH_NOISE)
"""From this mean error on they are counted once more at first, and with all of `_ONCE_MORE` from `_MUCH_NOISE` on."""


@dataclass(frozen=True)
class More:
    """What columns may get besides, as a part of their share, the more the more of them noise hides.

    Args:
        much: where the mean error is `_MUCH_NOISE`.
        most: where it is `_MOST_NOISE`, or larger.
    """

    much: float = 0.0
    most: float = 0.0

    def where(self, error: float) -> float:
        """The part where columns are this far off (L1, of 2), linear in its logarithm between the three places."""
        places = np.log([_LITTLE_NOISE, _MUCH_NOISE, _MOST_NOISE])
        return float(np.interp(math.log(error), places, [0.0, self.much, self.most]))


NO_MORE = More()


def measured_repeatedly(
    account: Account,
    schema: Schema,
    columns: Sequence[Clique],
    noise: GaussianNoise,
    spans: Mapping[str, np.ndarray],
    public: float | None,
    *,
    more: More,
    by_need: bool,
) -> tuple[list[NoisyMarginal], dict[str, Runs], dict[str, Smoothed], dict[str, ColumnSum]]:
    """All columns counted repeatedly, and the numbers of those added up whose means the counts leave in doubt.

    Twice, or three times where a column has `runs.MANY` cells: of a thousand, not even a hundredth of them together
    stands out at first, so that the second measurement counts such parts, and the third what it finds of them. And once
    more, before anything is joined, where the noise hides much (`More`).

    Args:
        account: what is charged.
        schema: of the columns.
        columns: each as a marginal.
        noise: of one query for all of the budget.
        spans: by column of numbers, the widths of its cells.
        public: the number of records where it is public.
        more, by_need: see `one_way.measure_one_way`.

    Returns:
        the noisy counts, and by column of numbers its runs, its smoothed counts and what is known of its sum.
    """
    domain, before = schema.domain, 1 - _LAST
    thrice = any(len(widths) >= MANY for widths in spans.values())
    first = _FIRST_OF_THREE if thrice else before
    marginals = measure(account, domain, columns, part_of(noise, first))
    if again := _once_more(error_by_noise(marginals, first, public)):
        marginals = [*combine(domain, [*marginals, *measure(account, domain, columns, part_of(noise, again))])]
    runs, buyer = runs_of_columns(schema, marginals, spans), SumBuyer(schema, account, noise)
    if thrice:
        second = part_of(noise, before - _FIRST_OF_THREE)
        marginals, runs = measured_again(account, domain, second, marginals, runs, by_need=by_need)
        runs = {name: joined_for_another(found) for name, found in runs.items()}
    # A last measurement of as much noise halves the variances.
    wanted = buyer.wishes(smoothed_columns(schema, runs, marginals, public), better=0.5) if has_long(spans) else {}
    share = min(sum(wanted.values()), MOST_SHARE)
    last = _LAST - again - share + more.where(error_by_noise(marginals, before + again, public))
    marginals, runs = measured_again(account, domain, part_of(noise, last), marginals, runs, by_need=by_need)
    smoothed = smoothed_columns(schema, runs, marginals, public)
    sums = buyer.ask({name: smoothed[name] for name in wanted}, share)
    moved = {name: one.followed_by(smoothed[name]) for name, one in sums.items()}
    known = {name: one.with_counts(smoothed[name], moved[name]) for name, one in sums.items()}
    return marginals, runs, smoothed | moved, known


def has_long(spans: Mapping[str, np.ndarray]) -> bool:
    """Whether some column of numbers has so many codes that few records share each."""
    return any(len(widths) > LONG for widths in spans.values())


def _once_more(error: float) -> float:
    """The part of the budget for counting all codes once more, where columns are this far off (L1, of 2)."""
    return float(np.interp(math.log(error), np.log([_HALF_HIDDEN, _MUCH_NOISE]), [0.0, _ONCE_MORE]))


def error_by_noise(marginals: Sequence[NoisyMarginal], part: float, public: float | None) -> float:
    """How far off the columns would be by the noise of their whole budget: L1 of normalized counts, the mean; above 0.

    Args:
        marginals: noisy counts of columns.
        part: of that budget, which they had.
        public: the number of records where it is public.
    """
    total = max(estimate_total(marginals)[0] if public is None else public, 1.0)
    errors = [expected_error(one.counts, one.scale * math.sqrt(part)) for one in marginals]
    return max(float(np.mean(errors)), 1.0) / total


def measured_again(
    account: Account,
    domain: Domain,
    noise: CountNoise,
    marginals: Sequence[NoisyMarginal],
    runs: Mapping[str, Runs],
    *,
    by_need: bool,
) -> tuple[list[NoisyMarginal], dict[str, Runs]]:
    """All measurements together: noisy counts of all codes whose sums are those of the runs, and the runs.

    Args:
        account: what is charged.
        domain: of the columns.
        noise: of the new measurement.
        marginals: what was measured of all codes before.
        runs: by column of numbers, whose sums are measured now.
        by_need: see `one_way.measure_one_way`.
    """
    codes = {name: np.arange(domain[name]) for name in domain.attributes}
    for name, found in runs.items():
        cells = len(found.of_cell)
        codes[name] = np.append(found.of_cell, len(found.totals) + np.arange(domain[name] - cells))
    coarsening = Coarsening(domain, codes)
    columns = [one.clique for one in marginals]
    deviation = account.deviation(MarginalCounts(domain, tuple(columns)), noise)
    weights = column_weights(marginals, coarsening, deviation) if by_need else ()
    again = measure(account, domain, columns, noise, coarsening=coarsening, weights=weights)
    together, better = [], {}
    for before, after in zip(marginals, again, strict=True):
        name, noisier = before.clique[0], (after.scale / before.scale) ** 2
        code = coarsening.codes[name]
        sums, cells_of = np.bincount(code, before.counts), np.bincount(code)
        averaged = sums + (after.counts - sums) / (1 + noisier)
        if name in runs:
            measured = runs[name].with_more(after.counts[: len(runs[name].totals)], after.scale)
            averaged[: len(measured.totals)] = measured.totals
            better[name] = joined_again(measured)
        counts = before.counts + ((averaged - sums) / cells_of)[code]
        together.append(replace(before, counts=counts, scale=before.scale / math.sqrt(1 + 1 / noisier)))
    return together, better
