"""Weights on draws from a private density that reproduce noisy averages of the records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.accounting.row_counts import require_countable
from counterfoil.brought import brought_within
from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.coarsening import identity
from counterfoil.domain.domain import Clique
from counterfoil.features.moments import Moments
from counterfoil.geometry.euclidean import Box
from counterfoil.graphical_model.error_bars import ErrorBars, MarginalBound, measured_bounds
from counterfoil.graphical_model.noisy_marginal import estimate_total
from counterfoil.marginals.foreseen_total import Planned, total_deviation
from counterfoil.marginals.measure import measure
from counterfoil.marginals.noisy_errors import noisy_bounds
from counterfoil.marginals.weak_relations import blurred_counts, groups_of, unrelated, unrelated_but, weak_relations
from counterfoil.methods.method import Method
from counterfoil.reweighting.blurred_moments import blurred_moments
from counterfoil.reweighting.choosing import ReferenceWish, reference_of
from counterfoil.reweighting.column_doubts import column_doubts, left_even
from counterfoil.reweighting.fitting import Fit, Weighting, require_solver, weigh
from counterfoil.reweighting.noisy_answers import NoisyAnswers, NoisyAverages
from counterfoil.reweighting.queries import (
    AskedQuery,
    Wish,
    described,
    every_marginal,
    fewest_marginals,
    functions_in,
    left_out,
    query_of,
    require_named,
    small_enough,
)
from counterfoil.reweighting.reference import MERGED_SHARE, Asking, Density, Product, Reference, Uniform, product_of
from counterfoil.reweighting.refinement import ColumnFamily
from counterfoil.reweighting.support import Support, support_of_codes, support_of_points, with_draws
from counterfoil.schema import Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.release import Fitted, check_rows, release
from counterfoil.synthesis.resampling import independent, systematic
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.weighted_records import WeightedRecords

MOST_SUPPORT = 5_000_000
LEAST_SHARE = 0.001
ERROR_BARS = 0.02
"""The share of the budget that measures how far off the release is, where rare values are merged."""
MOST_ENTRIES = 80_000_000
"""Of the table of a fit: 12 bytes each."""


@dataclass(frozen=True)
class Reweighting(Method):
    """Draws from a private reference density, weighted so that noisy averages of functions are met.

    A part of the budget estimates the reference, the rest buys the averages, all in one query with the joint
    sensitivity of the family. Fitting weights costs nothing. Tables whose columns are all real numbers become points of
    a box, with pure privacy whatever the delta; others become rows of codes, with Gaussian noise, or Laplace noise
    where delta is 0.

    Args:
        reference: a reference density, `product`, `uniform`, `histogram`, `bernstein` or `tree`, or the path of another
            release; the tree for points and the product for codes where None.
        queries: what is averaged: `marginals:K`, `moments:K`, `losses:...`, a TOML file, a `Workload`, a family of
            functions, or functions of your own as (name, function, lower, upper); `marginals:2` for codes and
            `moments:2` for points where None.
        fit: `likelihood` or `minimax`.
        support: how many records are drawn from the reference, equal ones merged.
        share: the share of the budget for the reference; its own default where None.
        prior_weight: nats; how strongly the likelihood's weights are held near the reference; derived where None.
        refinements: for marginals over a product, how often points are drawn where the fitted weights are and added to
            the support; fewer where the fit would take more than a gigabyte.
        independent_rows: whether rows are independent draws, as in the paper; else each record is drawn as often as
            its weight says, up to one.
        keep_rare: for marginals over a product, whether each value has a cell, however rare; else values that the noisy
            columns show to be rare are counted together, as in MST and AIM, and errors are smaller. None to keep them
            in marginals that are named one by one, and not in `marginals:K`.

    Source: Boedihardjo, Strohmer and Vershynin 2022; Bojkovic and Loh, Algorithm 1. Theirs is `fit="minimax"` with
    `independent_rows=True`; corrections are in `docs/corrections.md`.

    Raises:
        ValueError: for parameters of another kind.
    """

    holds_rows: ClassVar[bool] = True  # those of points are, and only the schema says whether there are any

    reference: ReferenceWish = None
    queries: Wish | None = None
    fit: Fit = Fit.LIKELIHOOD
    support: int = 20_000
    share: float | None = None
    prior_weight: float | None = None
    refinements: int = 3
    independent_rows: bool = False
    keep_rare: bool | None = None

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "fit", Fit(self.fit))
        except ValueError:
            raise ValueError(f"`fit` must be {' or '.join(Fit)}. Found {self.fit!r}.") from None
        require_named(self.queries)
        whole = isinstance(self.support, int) and not isinstance(self.support, bool)
        if not whole or not 1 <= self.support <= MOST_SUPPORT:
            raise ValueError(f"`support` must be a whole number from 1 to {MOST_SUPPORT:,}. Found {self.support!r}.")
        if not isinstance(self.refinements, int) or self.refinements < 0:
            raise ValueError(f"`refinements` must be a whole number of at least 0. Found {self.refinements!r}.")
        number = isinstance(self.share, (int, float)) and not isinstance(self.share, bool)
        if self.share is not None and not (number and LEAST_SHARE <= self.share <= 1 - LEAST_SHARE):
            raise ValueError(f"`share` must lie between {LEAST_SHARE} and {1 - LEAST_SHARE}. Found {self.share!r}.")
        if not (self.keep_rare is None or isinstance(self.keep_rare, bool)):
            raise ValueError(f"`keep_rare` must be True, False or None. Found {self.keep_rare!r}.")
        if self.prior_weight is not None and not 0 < self.prior_weight < np.inf:
            raise ValueError(f"`prior_weight` must be positive and finite. Found {self.prior_weight!r}.")

    def synthesize(
        self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet
    ) -> Synthesis | PointSynthesis:
        """A `Synthesis` of codes, or a `PointSynthesis` of points, within `curator.budget`.

        Raises:
            ValueError: before anything is charged, for a reference or queries that this table can't have.
        """
        check_rows(rows)
        reference = reference_of(self.reference, curator.schema)
        reference.require_possible(curator)
        points = reference.gives_points(curator.schema)
        if points and curator.reserved_for("fidelity"):
            raise ValueError("Fidelity can't be measured for points: leave it out, or use the reference `product`.")
        wish = ("moments:2" if points else "marginals:2") if self.queries is None else self.queries
        self._require_memory(fewest_marginals(wish, curator.schema))
        query = query_of(wish, curator.schema, counted=not curator.row_count_is_public)
        every = every_marginal(wish, curator.schema)
        merging = self._merges(reference, query, named=not every)
        if merging and every:  # which of them are too large is seen once rare values are merged
            query = MarginalCounts(curator.domain, every)
        most = functions_in(query) + sum(curator.domain.sizes)
        require_solver(self.fit, functions=most, points=self.support)
        if isinstance(query, MarginalCounts):
            self._require_memory(len(query.cliques) + len(curator.domain.attributes))
        default = MERGED_SHARE if merging else reference.share_of(curator.schema)
        share = default if self.share is None or not default else self.share
        pure = points or curator.budget.delta == 0
        errors = ERROR_BARS if merging and not pure else 0.0
        account = _opened(curator, query, pure=pure, errors=bool(errors))
        account.admit(query)
        progress("estimating the reference", 0.0)
        brought = [
            f"The guarantee also rests on {one.words}, a reference that the maker of this release brought and vouches "
            "for."
            for one in brought_within(reference)
        ]
        divisible = (1 - errors) * account.divisible
        cost = (1 - share) * divisible
        later = [(query.cliques, account.noise(cost))] if isinstance(query, MarginalCounts) else []
        asking = Asking(curator, account, share * divisible, progress, merging, rows, later)
        if not curator.row_count_is_public and not merging:
            require_countable(_total_deviation(reference, asking, query, cost), rows)
        density = reference.estimate(asking)
        if density.merged is not None and isinstance(query, MarginalCounts):
            query = small_enough(query, density.merged.coarsening.domain)
        if isinstance(query, MarginalCounts):
            brought += left_out(every, query.cliques)
        progress("measuring averages", asking.cost / account.divisible)
        answers = _asked(curator, account, query, cost, density, rows)
        if density.columns:  # the sums of what was measured since say more about columns
            density = product_of(density.measured, answers.marginals, density.merged)
        progress("fitting weights", 1.0)
        density = replace(density, warnings=(*brought, *density.warnings))
        parameters = {
            **reference.describe(),
            **({"estimated": density.parameters} if density.parameters else {}),
            "share": share,
            "queries": described(query),
            **({"rare_values": "counted together"} if merging else {}),
            "rows": "independent" if self.independent_rows else "systematic",
        }
        if points:
            return self._points(curator, density, answers, parameters, rows)
        return self._table(asking, density, answers, parameters, errors * account.divisible)

    def _merges(self, reference: Reference, query: AskedQuery, *, named: bool) -> bool:
        """Whether rare values are counted together; `named` says that marginals are named one by one."""
        if isinstance(reference, Product) and isinstance(query, MarginalCounts):
            return not (named if self.keep_rare is None else self.keep_rare)
        if self.keep_rare is None:
            return False
        asked = "marginals" if isinstance(query, MarginalCounts) else "other queries"
        raise ValueError(
            "`keep_rare` is for marginals (`marginals:K`, or cliques) over the reference `product`. Found the "
            f"reference `{reference.name}` and {asked}: leave it out."
        )

    def _require_memory(self, marginals: int) -> None:
        if self.support * marginals > MOST_ENTRIES:
            most = MOST_ENTRIES // marginals
            lower = f"lower `support` to {most:,}, or name" if most else "name"
            raise ValueError(
                f"{self.support:,} records in {marginals:,} marginals are more than the {MOST_ENTRIES:,} entries that "
                f"a fit may have: {lower} fewer marginals."
            )

    def _weights(
        self, support: Support, answers: NoisyAnswers, prior_weight: float | None, start: np.ndarray | None = None
    ) -> Weighting:
        program, names = answers.program(support)
        return weigh(program, names, self.fit, prior_weight, start=start)

    def _fitted(
        self, curator: Curator, density: Density, answers: NoisyAnswers, rng: np.random.Generator
    ) -> tuple[Support, Weighting]:
        """The support of draws from the reference and their weights; refined where that is possible."""
        support = first = support_of_codes(curator.schema, density.draw, self.support, rng)
        fitted = self._weights(support, answers, self.prior_weight)
        if not density.columns or answers.averages or fitted.potentials is None:
            return support, fitted
        family = ColumnFamily(curator.domain, density.columns, answers.cliques(curator.domain), answers.coarsening)
        rounds: list[tuple[np.ndarray, np.ndarray]] = []
        most = MOST_ENTRIES // (self.support * len(family.cliques)) - 1
        for _ in range(min(self.refinements, most)):
            assert fitted.potentials is not None
            begin = support.codes[rng.permutation(systematic(fitted.weights, self.support, rng))]
            rounds.append((family.moved(begin, fitted.potentials, rng), fitted.potentials))
            support = with_draws(first, family, rounds, self.support)
            fitted = self._weights(support, answers, fitted.prior_weight, fitted.potentials)
        return support, fitted

    def _table(
        self, asking: Asking, density: Density, answers: NoisyAnswers, parameters: dict[str, Any], errors: float
    ) -> Synthesis:
        """The release of a table of codes; `errors` is what its error bars may cost."""
        curator = asking.curator
        rng = curator.randomness.generator()
        support, fitted = self._fitted(curator, density, answers, rng)
        total, total_error = answers.total()
        model = WeightedRecords(curator.domain, support.codes, fitted.weights, total, independent=self.independent_rows)
        bounds: dict[Clique, tuple[MarginalBound, ...]] = {}
        if errors:
            asking.progress("measuring error bars", 1.0)
            bounds = noisy_bounds(asking.account, model, answers.cliques(curator.domain), errors)
        elif answers.marginals:
            columns = () if density.merged is None else density.merged.estimator.measurements
            bounds = measured_bounds([columns, answers.of_single_codes()], model, laplace=answers.laplace)
        doubts: tuple[str, ...] = ()
        if density.merged is None:  # else what was measured of columns says it
            public = float(curator.public_row_count()) if curator.row_count_is_public else None
            uniform = parameters["reference"] == Uniform.name
            doubts = column_doubts(curator.schema, answers, model, public, uniform=uniform)
        weak = _weak(curator, density, answers, support, fitted, model, related=_relates(parameters))
        counted, laplace = answers.counted()[0], answers.laplace
        bars = ErrorBars(curator.domain, bounds, total, counted, total_error, laplace=laplace)
        return release(
            curator,
            Fitted(model, bars, warnings=(*density.warnings, *doubts, *fitted.warnings(), *weak)),
            method="reweighting",
            parameters={**parameters, **fitted.diagnostics},
            rows=asking.rows,
        )

    def _points(
        self, curator: Curator, density: Density, answers: NoisyAnswers, parameters: dict[str, Any], rows: int | None
    ) -> PointSynthesis:
        rng, box = curator.randomness.generator(), Box.of(curator.schema)
        points = density.draw(self.support, rng)
        support = support_of_points(curator.schema, box, points, rng)
        fitted = self._weights(support, answers, self.prior_weight)
        take = independent if self.independent_rows else systematic
        return release_points(
            curator,
            box,
            measure=(points, fitted.weights),
            draw=lambda n, generator: points[take(fitted.weights, n, generator)],
            describe=("reweighting", {**parameters, **fitted.diagnostics}),
            total=answers.total()[0],
            rows=rows,
            counted=answers.counted(),
            warnings=[
                *density.warnings,
                *(left_even(curator.schema) if parameters["reference"] == Uniform.name else ()),
                *fitted.warnings(),
                *_weak_moments(answers, support, answers.total()[0], fitted, related=_relates(parameters)),
            ],
        )


def _weak(
    curator: Curator,
    density: Density,
    answers: NoisyAnswers,
    support: Support,
    fitted: Weighting,
    model: WeightedRecords,
    *,
    related: bool,
) -> tuple[str, ...]:
    """A sentence on what noise and the prior leave of relations; `related` where the reference has some of its own."""
    if len(density.columns) < 2:
        return _weak_moments(answers, support, model.total, fitted, related=related)
    total, prior_weight = model.total, fitted.prior_weight
    coarsening = identity(curator.domain) if density.coarsening is None else density.coarsening
    shares = dict(zip(curator.domain.attributes, density.columns, strict=True))
    groups = groups_of(curator.schema, coarsening, shares)
    found = blurred_counts(answers.marginals, total, groups, prior_weight)
    if any(isinstance(averages.family, Moments) for averages in answers.averages):
        return _weak_moments(answers, support, total, fitted, related=False)
    return (*weak_relations(found), *_related_alone(curator.schema, answers))


def _related_alone(schema: Schema, answers: NoisyAnswers) -> tuple[str, ...]:
    """A sentence on the columns that are related by what was bought, over a reference that relates none."""
    together = [one.clique for one in answers.marginals]
    return unrelated_but(schema, [*together, *(group for one in answers.averages for group in one.family.together)])


def _relates(parameters: Mapping[str, Any]) -> bool:
    """Whether the reference may relate columns."""
    return parameters.get("reference") not in {Product.name, Uniform.name}


def _weak_moments(
    answers: NoisyAnswers, support: Support, total: float, fitted: Weighting, *, related: bool
) -> tuple[str, ...]:
    """The same of relations of which second moments were averaged; for others, which columns are related."""
    families = [averages for averages in answers.averages if isinstance(averages.family, Moments)]
    if not families:
        return () if related else _related_alone(support.schema, answers)
    if len(support.schema.synthesized) < 2:
        return ()
    (averages,) = families
    if isinstance(averages.family, Moments) and averages.family.order == 1:
        return () if related else (unrelated(support.schema),)
    found = blurred_moments(averages, support, total, fitted.prior_weight or 0.0)
    return weak_relations(found, related=related)


def _opened(curator: Curator, query: AskedQuery, *, pure: bool, errors: bool) -> FilterAccount:
    """The account: of summed epsilons, or of Gaussian noise, with which the errors of the release may be asked too."""
    if pure:
        return curator.filter(PureFilter(), replacement_factor=ANY_QUESTION)
    if errors:
        return curator.filter(GaussianFilter(), replacement_factor=ANY_QUESTION)
    added, replaced = (query.l2_sensitivity(relation) for relation in _RELATIONS)
    factor = min(max(COUNTS_WITH_GAUSSIAN_NOISE, replaced / added), ANY_QUESTION)
    return curator.filter(GaussianFilter(), replacement_factor=factor)


_RELATIONS = (NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE)


def _total_deviation(reference: Reference, asking: Asking, query: AskedQuery, cost: float) -> float:
    """How far off the number of records will be, by what the reference asks and by `query` at its cost."""
    if (of_reference := reference.total_deviation(asking)) is not None:
        return of_reference
    curator, account, noise = asking.curator, asking.account, asking.account.noise(cost)
    cliques = reference.cliques(curator)
    planned: list[Planned] = [(cliques, account.noise(asking.cost))] if cliques else []
    if isinstance(query, MarginalCounts):
        return total_deviation(account, curator, [*planned, (query.cliques, noise)])
    deviations = [total_deviation(account, curator, planned)] if planned else []
    if query.family.counted:
        deviations.append(account.deviation(query, noise) * float(query.family.slopes[0]))
    return sum(one**-2 for one in deviations) ** -0.5 if deviations else 0.0


def _asked(
    curator: Curator, account: FilterAccount, query: AskedQuery, cost: float, density: Density, rows: int | None
) -> NoisyAnswers:
    """The answers that the weights are fitted to: those of `query`, and the marginals of the reference."""
    laplace, public = isinstance(account.rule, PureFilter), curator.row_count_is_public
    known = (float(curator.public_row_count()), 0.0) if public else (density.total, density.total_error)
    noise = account.noise(cost)
    if isinstance(query, MarginalCounts):
        merged, coarsening = density.merged, density.coarsening
        marginals = measure(account, curator.domain, query.cliques, noise, coarsening=coarsening)
        if merged is not None and not public:  # a merged column has forgotten how many noisy counts it is the sum of
            known = estimate_total([*merged.estimator.measurements, *marginals])
        return NoisyAnswers((*density.measured, *marginals), (), laplace, *known, wanted=rows, coarsening=coarsening)
    averages = NoisyAverages.of(query, account.ask(query, noise))
    return NoisyAnswers(density.measured, (averages,), laplace, *known, wanted=rows)
