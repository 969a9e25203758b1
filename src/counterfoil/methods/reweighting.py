"""Weights on draws from a private density that reproduce noisy averages of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.curator.account import FilterAccount
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Clique
from counterfoil.geometry.euclidean import Box
from counterfoil.graphical_model.error_bars import ErrorBars, MarginalBound, measured_bounds
from counterfoil.marginals.measure import measure
from counterfoil.methods.method import Method
from counterfoil.reweighting.choosing import ReferenceWish, reference_of
from counterfoil.reweighting.fitting import Fit, Weighting, require_solver, weigh
from counterfoil.reweighting.noisy_answers import NoisyAnswers, NoisyAverages
from counterfoil.reweighting.queries import AskedQuery, Wish, described, functions_in, query_of
from counterfoil.reweighting.reference import Asking, Density
from counterfoil.reweighting.rounding import independent
from counterfoil.reweighting.support import Support, support_of_codes, support_of_points
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.release import Fitted, check_rows, release
from counterfoil.synthesis.resampling import systematic
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.weighted_records import WeightedRecords

MOST_SUPPORT = 5_000_000


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
        queries: what is averaged: `marginals:K`, `moments:K`, a TOML file, a `Workload`, a family of functions, or
            functions of your own as (name, function, lower, upper); `marginals:2` for codes and `moments:2` for points
            where None.
        fit: `likelihood` or `minimax`.
        support: how many records are drawn from the reference, equal ones merged.
        share: the share of the budget for the reference; its own default where None.
        prior_weight: nats; how strongly the likelihood's weights are held near the reference; derived where None.
        independent_rows: whether rows are independent draws, as in the paper; else each record is drawn as often as
            its weight says, up to one.

    Source: Boedihardjo, Strohmer and Vershynin 2022; Bojkovic and Loh, Algorithm 1. Theirs is `fit="minimax"` with
    `independent_rows=True`; corrections are in `docs/corrections.md`.

    Raises:
        ValueError: for parameters of another kind.
    """

    reference: ReferenceWish = None
    queries: Wish | None = None
    fit: Fit = Fit.LIKELIHOOD
    support: int = 20_000
    share: float | None = None
    prior_weight: float | None = None
    independent_rows: bool = False

    may_give_points: ClassVar[bool] = True

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "fit", Fit(self.fit))
        except ValueError:
            raise ValueError(f"`fit` must be {' or '.join(Fit)}. Found {self.fit!r}.") from None
        whole = isinstance(self.support, int) and not isinstance(self.support, bool)
        if not whole or not 1 <= self.support <= MOST_SUPPORT:
            raise ValueError(f"`support` must be a whole number from 1 to {MOST_SUPPORT:,}. Found {self.support!r}.")
        if self.share is not None and not 0 < self.share < 1:
            raise ValueError(f"`share` must lie between 0 and 1. Found {self.share!r}.")
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
        if points and curator.reserved:
            raise ValueError("Fidelity can't be measured for points: leave it out, or use the reference `product`.")
        wish = ("moments:2" if points else "marginals:2") if self.queries is None else self.queries
        query = query_of(wish, curator.schema, counted=not curator.row_count_is_public)
        most = functions_in(query) + sum(curator.domain.sizes)
        require_solver(self.fit, functions=most, points=self.support)
        default = reference.share_of(curator.schema)
        share = default if self.share is None or not default else self.share
        account = _opened(curator, query, pure=points or curator.budget.delta == 0)
        progress("estimating the reference", 0.0)
        density = reference.estimate(Asking(curator, account, share * account.divisible, progress))
        progress("measuring averages", share)
        answers = _asked(curator, account, query, (1 - share) * account.divisible, density)
        progress("fitting weights", 1.0)
        parameters = {
            **reference.describe(),
            **({"estimated": density.parameters} if density.parameters else {}),
            "share": share,
            "queries": described(query),
            "rows": "independent" if self.independent_rows else "systematic",
        }
        finish = self._points if points else self._table
        return finish(curator, density, answers, parameters, rows)

    def _weights(self, support: Support, answers: NoisyAnswers) -> Weighting:
        program, names = answers.program(support)
        return weigh(program, names, self.fit, self.prior_weight)

    def _table(
        self, curator: Curator, density: Density, answers: NoisyAnswers, parameters: dict[str, Any], rows: int | None
    ) -> Synthesis:
        rng = curator.randomness.generator()
        support = support_of_codes(curator.schema, density.draw, self.support, rng)
        fitted = self._weights(support, answers)
        total, total_error = answers.total()
        model = WeightedRecords(curator.domain, support.codes, fitted.weights, total, independent=self.independent_rows)
        bounds: dict[Clique, tuple[MarginalBound, ...]] = {}
        if answers.marginals and not answers.laplace:  # the concentration of `MeasuredBound` is the Gaussian's
            bounds = measured_bounds([answers.marginals], model)
        bars = ErrorBars(curator.domain, bounds, total, total, total_error)
        return release(
            curator,
            Fitted(model, bars, warnings=(*density.warnings, *fitted.warnings())),
            method="reweighting",
            parameters={**parameters, **fitted.diagnostics},
            rows=rows,
        )

    def _points(
        self, curator: Curator, density: Density, answers: NoisyAnswers, parameters: dict[str, Any], rows: int | None
    ) -> PointSynthesis:
        rng, box = curator.randomness.generator(), Box.of(curator.schema)
        points = density.draw(self.support, rng)
        fitted = self._weights(support_of_points(curator.schema, box, points, rng), answers)
        take = independent if self.independent_rows else systematic
        return release_points(
            curator,
            box,
            measure=(points, fitted.weights),
            draw=lambda n, generator: points[take(fitted.weights, n, generator)],
            describe=("reweighting", {**parameters, **fitted.diagnostics}),
            total=answers.total()[0],
            rows=rows,
            warnings=[*density.warnings, *fitted.warnings()],
        )


def _opened(curator: Curator, query: AskedQuery, *, pure: bool) -> FilterAccount:
    """The account: of summed epsilons, or of Gaussian noise."""
    if pure:
        return curator.filter(PureFilter(), replacement_factor=ANY_QUESTION)
    added, replaced = (query.l2_sensitivity(relation) for relation in _RELATIONS)
    factor = min(max(COUNTS_WITH_GAUSSIAN_NOISE, replaced / added), ANY_QUESTION)
    return curator.filter(GaussianFilter(), replacement_factor=factor)


_RELATIONS = (NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE)


def _asked(curator: Curator, account: FilterAccount, query: AskedQuery, cost: float, density: Density) -> NoisyAnswers:
    """The answers that the weights are fitted to: those of `query`, and the marginals of the reference."""
    laplace = isinstance(account.rule, PureFilter)
    known = float(curator.public_row_count()) if curator.row_count_is_public else density.total
    noise = account.noise(cost)
    if isinstance(query, MarginalCounts):
        marginals = measure(account, curator.domain, query.cliques, noise)
        return NoisyAnswers((*density.measured, *marginals), (), laplace, known)
    averages = NoisyAverages.of(query, account.ask(query, noise))
    return NoisyAnswers(density.measured, (averages,), laplace, known)
