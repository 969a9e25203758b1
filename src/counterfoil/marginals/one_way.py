"""The first questions of adaptive methods: all one-way marginals, which tell how many rows there are, what is rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.answer_log import LostAnswer
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import CLASS, Clique, Domain
from counterfoil.graphical_model.classed_model import coarsening_with_class, with_class
from counterfoil.graphical_model.doubtful_tails import without_doubtful_tails
from counterfoil.graphical_model.fit_watch import UNWATCHED, FitWatch
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.merging import (
    DEVIATIONS,
    merge_column,
    merge_rare,
    merge_runs,
    refine,
    shares_within,
)
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.precautions import join_hidden
from counterfoil.graphical_model.runs import Runs
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.graphical_model.zero_kinds import kept_apart
from counterfoil.marginals.column_sums import ColumnSum, part_of, settle
from counterfoil.marginals.crowded_cells import crowded_cells
from counterfoil.marginals.foreseen_total import Planned, require_total
from counterfoil.marginals.heaps import heaps
from counterfoil.marginals.hidden_categories import hidden_categories
from counterfoil.marginals.hidden_flags import hidden_flags
from counterfoil.marginals.measure import measure
from counterfoil.marginals.merged_bounds import merged_bounds
from counterfoil.marginals.piled_bounds import piled_bounds
from counterfoil.marginals.rank_blocks import RankBlocks, rank_blocks
from counterfoil.marginals.repeated_measurement import NO_MORE, More, has_long, measured_repeatedly
from counterfoil.marginals.smoothed_columns import has_each_number, runs_of_columns, smoothed_columns
from counterfoil.marginals.unreliable import NumberColumn, hidden_sides, near_noise, unreliable_means
from counterfoil.marginals.weak_relations import Groups, groups_of
from counterfoil.marginals.zeros_alone import zeros_alone
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import CountNoise
from counterfoil.schema import Categorical, Column, Schema
from counterfoil.schema.precautions import bounds_by_precaution, by_precaution


@dataclass(frozen=True, eq=False)
class OneWay:
    """The measured one-way marginals: their model, and the values that they show to be rare.

    Args:
        estimator: fitted to the one-way marginals alone, on the schema's domain.
        coarsening: merges rare values in later queries.
        ordered: how many leading codes of each column are in order.
        smoothed: the counts of columns of numbers, smoothed where they do not stand out from the noise.
        warnings: public sentences for the receipt on what the noise hides.
        sums: of columns of numbers whose means the counts left in doubt.
        posterior: by column, float64 [codes]: posterior means of the counts of values that are listed by precaution and
            do not show, NaN for all others.
    """

    estimator: WarmEstimator
    coarsening: Coarsening
    ordered: Mapping[str, int]
    smoothed: Mapping[str, Smoothed] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    sums: Mapping[str, ColumnSum] = field(default_factory=dict)
    posterior: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def model(self) -> GraphicalModel:
        """The model in which columns are independent."""
        assert self.estimator.model is not None
        return self.estimator.model

    def coarse_estimator(self) -> WarmEstimator:
        """An estimator on the coarse domain, fitted to the one-way marginals, with a fixed number of records."""
        estimator = WarmEstimator(
            self.coarsening.domain,
            self.coarsening.zeros(self.estimator.structural_zeros),
            self.model.total,
            self.estimator.entropy_weight,
            shrinks=self.estimator.entropy_weight is None,
            ordered=self.coarsening.leading(self.ordered),
            watch=self.estimator.watch,
        )
        estimator.fit(self.merged())
        return estimator

    def released(self, coarse: Domain) -> Domain:
        """The domain of a released model, from that of the coarse one, which may have a hidden class."""
        return with_class(self.coarsening.fine, coarse[CLASS]) if CLASS in coarse.attributes else self.coarsening.fine

    def blocks(self) -> RankBlocks:
        """Blocks of the coarse codes of ordered columns, of about equally many records."""
        coarse = {one.clique[0]: np.maximum(one.counts, 0.0) for one in self.merged()}
        return rank_blocks(self.coarsening, coarse, self.coarsening.leading(self.ordered))

    def merged(self) -> list[NoisyMarginal]:
        """The noisy counts of the coarse codes of each column."""
        return [
            merge_column(self.coarsening, self._smooth(one), self.model.total) for one in self.estimator.measurements
        ]

    def by_themselves(self) -> dict[str, np.ndarray]:
        """By column of numbers whose counts were smoothed, float64 [codes]: these counts, before any fit.

        Columns with a noisy sum of their numbers are left out: it says more of their means.
        """
        return {
            one.clique[0]: self._smooth(one).counts
            for one in self.estimator.measurements
            if one.clique[0] in self.smoothed and one.clique[0] not in self.sums
        }

    def within(self) -> dict[str, np.ndarray]:
        """By column, float64 [codes]: the share of each code within its coarse one."""
        return shares_within(self.coarsening, self.model, self.smoothed, self.posterior)

    def groups(self, schema: Schema, refined: GraphicalModel) -> dict[str, Groups]:
        """By column, the values that later queries count together, with the shares of the `refined` model."""
        shares = {name: refined.marginal((name,)) for name in self.estimator.domain.attributes}
        return groups_of(schema, self.coarsening, shares)

    def _smooth(self, marginal: NoisyMarginal) -> NoisyMarginal:
        (name,) = marginal.clique
        counts = marginal.counts
        if name in self.smoothed:
            first = self.smoothed[name].counts
            counts = np.append(first, counts[len(first) :])
        if name in self.posterior:
            counts = np.where(np.isnan(self.posterior[name]), counts, self.posterior[name])
        return replace(marginal, counts=counts)

    def refine(self, coarse_model: GraphicalModel) -> GraphicalModel:
        """A model of coarse codes brought back to the schema's domain."""
        zeros, coarsening, columns = self.estimator.structural_zeros, self.coarsening, self.model
        if CLASS in coarse_model.domain.attributes:
            coarsening = coarsening_with_class(coarsening, coarse_model.domain[CLASS])
            columns = GraphicalModel(coarsening.fine, columns.potentials, columns.total)
        refined = refine(coarsening, coarse_model, columns, zeros, self.smoothed, self.posterior)
        return settle(refined, self.smoothed, self.sums)


def measure_one_way(
    curator: Curator,
    account: Account,
    noise: CountNoise,
    *,
    more: More = NO_MORE,
    by_need: bool = True,
    entropy_weight: float | None = None,
    rows: int | None = None,
    later: Sequence[Planned] = (),
    watch: FitWatch = UNWATCHED,
) -> OneWay:
    """All one-way marginals, in one query, or with Gaussian noise in two or three and sums of numbers.

    Half of the budget or less measures all codes. Then neighboring numbers are joined until they stand out
    (`runs.runs_of`), and the rest measures the sums of these runs, more exactly where noise leaves more in doubt
    (`repeated_measurement`, `column_weights`). Where this will leave means of columns in doubt, up to `MOST_SHARE` of
    the budget goes to the sums of their numbers (`column_sums`).

    Args:
        curator: the table.
        account: what is charged: what one query with `noise` costs.
        noise: of one query; where there are several, each has Gaussian noise that is larger, as its part is smaller.
        more: what may be charged besides, as a part of what `noise` costs: the more of it the more that noise hides of
            the columns, because every marginal that is measured later contains their errors. Only for Gaussian noise.
        by_need: whether the last query measures columns more exactly that noise leaves more in doubt; else equally.
        entropy_weight: of the fit, in records; None for what suits the noise.
        rows: how many rows the user asks for; None where the noisy counts say how many.
        later: marginals that will be measured too, which tell the number of records as well.
        watch: hears how fits go on, and may end them.

    Raises:
        ValueError: before anything is charged, where the number of records would be noise and `rows` is not given.
    """
    domain, schema = curator.domain, curator.schema
    total = float(curator.public_row_count()) if curator.row_count_is_public else None
    estimator = WarmEstimator(domain, schema.structural_zeros, total, entropy_weight, wanted=rows, watch=watch)
    columns: list[Clique] = [(name,) for name in domain.attributes]
    # Where the number of records would be noise, so are all counts: columns have all that they may, in equal parts.
    most = part_of(noise, 1 + more.most) if more.most and isinstance(noise, GaussianNoise) else noise
    require_total(curator, account, [(columns, most), *later], rows)
    spans = _spans(schema)
    if isinstance(noise, GaussianNoise) and (has_long(spans) or (by_need and len(columns) > 1)):
        marginals, runs, smoothed, sums = measured_repeatedly(
            account, schema, columns, noise, spans, total, more=more, by_need=by_need
        )
    else:
        marginals = measure(account, domain, columns, noise)
        runs = runs_of_columns(schema, marginals, spans)
        smoothed, sums = smoothed_columns(schema, runs, marginals, total), {}
    estimator.fit(marginals)
    warnings = _warnings(schema, marginals, runs, smoothed, estimator.counted, sums)
    if schema.bought is not None:
        smoothed = _without_doubtful_tails(schema, marginals, smoothed)
    merged = merge_rare(domain, marginals, ordered=_ordered(schema), groups=_groups(schema), smoothed=smoothed)
    posterior = dict[str, np.ndarray]()
    if schema.bought is not None:
        merged, posterior = _without_precautions(schema, marginals, merged)
    merged = kept_apart(merged, schema.structural_zeros, marginals, estimator.counted)
    return OneWay(estimator, merged, _ordered(schema), smoothed, warnings, sums, posterior)


def _without_doubtful_tails(
    schema: Schema, marginals: Sequence[NoisyMarginal], smoothed: Mapping[str, Smoothed]
) -> dict[str, Smoothed]:
    """The smoothed counts of columns, where bounds that may be too wide leave no records in tails that do not show."""
    found = dict(smoothed)
    for one in marginals:
        (name,) = one.clique
        if name in smoothed and has_each_number(schema[name]):
            bins = len(smoothed[name].counts)
            doubtful = bounds_by_precaution(schema[name], schema.bought)
            found[name] = without_doubtful_tails(smoothed[name], one.counts[:bins], one.scale, doubtful)
    return found


def _without_precautions(
    schema: Schema, marginals: Sequence[NoisyMarginal], merged: Coarsening
) -> tuple[Coarsening, dict[str, np.ndarray]]:
    """Values in no order that do not show, such as missing ones, joined with others, and what is believed of them."""
    ordered, codes, posterior = _ordered(schema), dict(merged.codes), {}
    for one in marginals:
        (name,) = one.clique
        listed = by_precaution(schema[name], schema.bought)
        listed[: ordered.get(name, 0)] = False
        codes[name], posterior[name] = join_hidden(codes[name], one.counts, listed, one.scale, DEVIATIONS)
    return Coarsening(merged.fine, codes), posterior


def left_for_pairs(account: FilterAccount, before: float, planned: float) -> float:
    """What columns have left of a part of the budget that measures both them and what follows (mu squared).

    Args:
        account: that they were measured with.
        before: what had been spent.
        planned: the part.

    Raises:
        LostAnswer: where nothing is left, as an answer that an earlier run lost was paid for again.
    """
    left = planned - (account.spent - before)
    if left <= 0:
        raise LostAnswer(
            "An answer about columns that was charged was lost when an earlier run ended. It was paid for again, and "
            "nothing is left to measure relations: this release can't be finished. Begin another one."
        )
    return left


def left_without_lost(account: FilterAccount, lost: float, left: float) -> float:
    """What is left of a part of the budget once the answers are paid for that were lost meanwhile (mu squared).

    Args:
        account: that is charged.
        lost: what it had lost before (`FilterAccount.lost`).
        left: what was left then, without what was measured since.

    Raises:
        LostAnswer: where nothing is left, so that no further question is charged in vain.
    """
    again = account.lost - lost
    if again > 0 and left - again <= 0:
        raise LostAnswer(
            "An answer about relations that was charged was lost when an earlier run ended. It was paid for again, and "
            "too little is left for the rest: this release can't be finished. Begin another one."
        )
    return left - again


def smooth_columns(
    schema: Schema, estimator: WarmEstimator, model: GraphicalModel
) -> tuple[GraphicalModel, Mapping[str, np.ndarray]]:
    """The fitted model of independent columns, with columns of numbers smoothed where noise hides them, and the counts
    of these as no rule has bent them (`OneWay.by_themselves`).

    Places that a bought schema has by precaution hold what is believed of their counts.

    Args:
        schema: of the columns.
        estimator: fitted to one-way marginals alone.
        model: of the fit.
    """
    domain = estimator.domain
    marginals = estimator.measurements
    runs = runs_of_columns(schema, marginals, _spans(schema))
    if not runs and schema.bought is None:
        return model, {}
    smoothed = smoothed_columns(schema, runs, marginals, estimator.public_total)
    codes = {name: np.arange(domain[name]) for name in domain.attributes}
    for name, found in smoothed.items():
        merged = merge_runs(found, domain[name])
        codes[name] = np.append(merged, merged.max() + 1 + np.arange(domain[name] - len(merged)))
    coarsening, posterior = Coarsening(domain, codes), dict[str, np.ndarray]()
    if schema.bought is not None:
        smoothed = _without_doubtful_tails(schema, marginals, smoothed)
        coarsening, posterior = _without_precautions(schema, marginals, coarsening)
    coarsening = kept_apart(coarsening, estimator.structural_zeros, marginals, estimator.counted)
    one_way = OneWay(estimator, coarsening, _ordered(schema), smoothed, posterior=posterior)
    return one_way.refine(one_way.coarse_estimator().fit([])), one_way.by_themselves()


def one_way_warnings(schema: Schema, estimator: WarmEstimator) -> tuple[str, ...]:
    """Public sentences for the receipt on what the noise of columns hides that were measured alone or with others.

    Args:
        schema: of the columns.
        estimator: fitted to marginals that name every column.
    """
    return counted_warnings(schema, estimator.measurements, estimator.public_total, estimator.counted)


def counted_warnings(
    schema: Schema, marginals: Sequence[NoisyMarginal], public: float | None, total: float
) -> tuple[str, ...]:
    """Public sentences for the receipt on what noise hides of the columns that marginals count.

    Args:
        schema: of the columns, and perhaps of others.
        marginals: noisy counts.
        public: the number of records where it is public.
        total: the number of records, as noise leaves it.
    """
    columns = columns_within(marginals)
    runs, smoothed = smoothed_counts(schema, columns, public)
    return _warnings(schema, columns, runs, smoothed, total, {})


def smoothed_counts(
    schema: Schema, columns: Sequence[NoisyMarginal], public: float | None
) -> tuple[dict[str, Runs], dict[str, Smoothed]]:
    """The runs of those of `columns` that hold numbers, and their counts smoothed where noise hides them.

    Args:
        schema: of the columns, and perhaps of others.
        columns: the noisy counts of each.
        public: the number of records where it is public.
    """
    spans = _spans(schema)
    runs = runs_of_columns(schema, columns, spans)
    return runs, smoothed_columns(schema, runs, columns, public)


def columns_within(marginals: Sequence[NoisyMarginal]) -> list[NoisyMarginal]:
    """The counts of each column, summed from the marginal that says most about it."""
    best: dict[str, NoisyMarginal] = {}
    for one in marginals:
        for name in one.clique:
            column = one.of_column(name)
            if name not in best or column.scale < best[name].scale:
                best[name] = column
    return list(best.values())


def _warnings(
    schema: Schema,
    marginals: Sequence[NoisyMarginal],
    runs: Mapping[str, Runs],
    smoothed: Mapping[str, Smoothed],
    total: float,
    sums: Mapping[str, ColumnSum],
) -> tuple[str, ...]:
    columns = [
        NumberColumn(one, runs[name], smoothed[name], _places(schema[name], smoothed[name].counts), sums.get(name))
        for one in marginals
        if (name := one.clique[0]) in runs
    ]
    # The noise of a table is that of its columns in the mean: some of them may be lost all the same.
    unreliable = (*near_noise(marginals, runs, total), *unreliable_means(columns, total))
    categories = [one for one in marginals if one.clique[0] not in runs]
    hidden = [
        *hidden_categories(categories, total, _groups(schema).keys()),
        *hidden_flags(schema, categories, total),
    ]
    crowded = [*crowded_cells(schema, marginals, smoothed), *heaps(schema, columns)]
    bounds = [*piled_bounds(schema, columns), *merged_bounds(schema, columns), *zeros_alone(schema, columns)]
    return (*unreliable, *crowded, *hidden_sides(columns, total), *bounds, *hidden)


def _places(column: Column, counts: np.ndarray) -> np.ndarray:
    """float64 [bins]: the number in the middle of each cell, counted from the mean where nothing is at 0."""
    centers = column.centers[: len(counts)]
    if column.has_zero:
        return centers
    return np.asarray(centers - float(counts @ centers) / max(float(counts.sum()), 1.0))


def _groups(schema: Schema) -> dict[str, np.ndarray]:
    """The group of each code, for columns whose categories have groups."""
    return {
        column.name: column.group_codes
        for column in schema.synthesized
        if isinstance(column, Categorical) and column.groups
    }


def _ordered(schema: Schema) -> dict[str, int]:
    """How many leading codes of each column are in order: its bins, but not its code for missing values."""
    return {column.name: column.n_bins for column in schema.synthesized if column.is_ordered}


def _spans(schema: Schema) -> dict[str, np.ndarray]:
    """The widths of the cells of each column of numbers."""
    return {column.name: column.spans for column in schema.synthesized if column.spans is not None}
