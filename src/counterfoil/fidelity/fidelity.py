"""Private fidelity: a share of the budget measures the distance of the synthetic rows from the real ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.fidelity_fairness import GroupPredictions, require_groups
from counterfoil.curator.queries.fidelity_marginals import LargestMarginalDistance, TotalMarginalDistance
from counterfoil.curator.queries.fidelity_model import CorrectPredictions, TotalLoss
from counterfoil.curator.queries.fidelity_moments import LargestMomentGap
from counterfoil.curator.queries.fidelity_transport import ColumnWasserstein
from counterfoil.curator.queries.query import CountQuery
from counterfoil.curator.queries.selection import MarginalDistances
from counterfoil.domain.domain import Clique
from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.features.linear_model import LOSS_UNIT
from counterfoil.features.one_against_rest import OneAgainstRest, OneAgainstRestModel, linear_model_of, target_of
from counterfoil.features.public_predictor import LinearPredictor
from counterfoil.fidelity.certificate import certificates
from counterfoil.fidelity.synthetic_counts import compared_cliques, compares_all_pairs, count, numbers_of
from counterfoil.geometry.grid import SnapGrid
from counterfoil.noise.answer import Answer
from counterfoil.receipt.noisy_groups import NoisyGroups, noisy_groups
from counterfoil.receipt.noisy_measure import NoisyMeasure
from counterfoil.synthesis.synthesis import Synthesis

DEFAULT_SHARE = 0.05
_PURPOSE = "fidelity"


@dataclass(frozen=True)
class Fidelity:
    """What to measure about the synthetic rows, and with which share of the budget.

    Args:
        share: the share of the budget, from 0 to below 1; at 0, nothing is measured, and certificates come from error
            bars alone.
        target: a column of 2 to 64 values, for certificates about linear models that predict it, each value against the
            rest where there are several; no certificates when None.
        protected: a column whose groups the linear model for the target is compared between, by noisy counts of its
            predictions on the real rows.

    Raises:
        ValueError: for another share, no share and no target, or a protected column without both.
    """

    share: float = DEFAULT_SHARE
    target: str | None = None
    protected: str | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.share, (int, float)) and 0 <= self.share < 1):
            raise ValueError(f"The share for fidelity must be at least 0 and below 1. Found {self.share!r}.")
        if not self.share and self.target is None:
            raise ValueError("Fidelity needs a share of the budget, a target, or both. Found neither.")
        if self.protected is not None and (not self.share or self.target is None):
            raise ValueError(
                "`protected` compares the predictions of a target between groups, for a share of the budget. Found "
                f"{self.protected!r} without {'a target' if self.share else 'a share'}: name both, or leave it out."
            )

    def prepare(self, curator: Curator) -> None:
        """Sets the share aside before anything is asked.

        Raises:
            ValueError: for a target that has no linear models, or a protected column that is none beside a target of
                two values; nothing is charged.
        """
        if self.target is not None:
            features = target_of(curator.schema, self.target)
            if self.protected is not None and isinstance(features, OneAgainstRest):
                raise ValueError(
                    "`protected` compares predictions of a target of two values. Found "
                    f"{self.target!r}, which has {features.values}: leave it out, or name another target."
                )
            if self.protected is not None:
                require_groups(curator.schema, (self.protected,), self.target)
        if self.share:
            curator.reserve(self.share, _PURPOSE)

    def measure(self, curator: Curator, synthesis: Synthesis) -> Synthesis:
        """Measures what the share pays for, and adds the noisy measures and the certificates to the receipt."""
        measures: list[NoisyMeasure | NoisyGroups] = []
        receipt = synthesis.receipt
        if self.share:
            account = curator.account
            assert isinstance(account, FilterAccount), "a reserve is kept by filters only"
            measures = Measuring(curator, account, synthesis, self.target, self.protected).run()
            receipt = receipt.with_costs(curator)
        gaps = [one for one in measures if isinstance(one, NoisyMeasure)]
        entries = certificates(synthesis, gaps, self.target) if self.target is not None else []
        return replace(synthesis, receipt=receipt.with_fidelity([one.to_json() for one in measures], entries))


@dataclass(frozen=True)
class Question:
    """A measure, what it is about, and the query for it.

    `unit` is the answer that stands for 1 in each record, and `rounding` how far the answer may be off because the
    synthetic side was rounded to integers.
    """

    measure: str
    about: str
    query: CountQuery
    unit: float
    rounding: float = 0.0


@dataclass(frozen=True)
class Measuring:
    """The queries about one synthesis.

    Synthetic counts are scaled to the number of records, so that synthetic tables of any length can be compared.
    """

    curator: Curator
    account: FilterAccount
    synthesis: Synthesis
    target: str | None
    protected: str | None = None

    def run(self) -> list[NoisyMeasure | NoisyGroups]:
        """Asks every query that fidelity has about the synthesis (see `ask`)."""
        return self.ask(list(self._questions()), _PURPOSE)

    def ask(self, questions: Sequence[Question], purpose: str) -> list[NoisyMeasure | NoisyGroups]:
        """Asks every query with the same share of one reserve: noise is fixed before the first answer.

        Args:
            questions: at least one.
            purpose: of the reserve.
        """
        noise = self.account.noise(self.account.open_reserve(purpose) / len(questions))
        return [self._measured(question, self.account.ask(question.query, noise)) for question in questions]

    def total(self, cliques: tuple[Clique, ...], measure: str, about: str) -> Question:
        """The mean L1 error of these marginals."""
        errors, off = self._errors(cliques)
        return Question(measure, about, TotalMarginalDistance(errors), float(len(cliques)), sum(off))

    def transport(self, grid: SnapGrid) -> Question:
        """W_1 of the column that `grid` is of."""
        cumulative = np.cumsum(np.bincount(grid.snap(self._numbers[grid.column]), minlength=grid.points))[:-1]
        expected, off = self._scaled(cumulative)
        unit = float(grid.points - 1)
        return Question("wasserstein", grid.column, ColumnWasserstein(grid, expected), unit, float(off.sum()))

    def correct(self, target: str) -> Question:
        """The accuracy of the linear model for `target` that the synthetic rows train."""
        model = linear_model_of(target_of(self.curator.schema, target), self.synthesis.codes, self._numbers)
        return Question("accuracy", target, CorrectPredictions(model), 1.0)

    def _measured(self, question: Question, answer: Answer) -> NoisyMeasure | NoisyGroups:
        if isinstance(question.query, GroupPredictions):
            return noisy_groups(question.query, answer, model="linear model trained on these rows")
        return NoisyMeasure(
            question.measure,
            question.about,
            int(answer.values[0]),
            answer.scale,
            answer.noise.kind,
            question.unit,
            question.rounding,
            self._counted,
            self.synthesis.error_bars.total_error,
        )

    def _questions(self) -> Iterator[Question]:
        yield from self._marginal_questions()
        for column in self.curator.schema.synthesized:
            grid = SnapGrid.of(column)
            if grid is not None:
                yield self.transport(grid)
        if self.target is not None:
            yield from self._model_questions(target_of(self.curator.schema, self.target))

    def _marginal_questions(self) -> Iterator[Question]:
        for order in (1, 2):
            cliques = compared_cliques(self.curator.schema, order)
            if not cliques or len(cliques[0]) != order:
                continue
            about = columns_in_words(order)
            yield self.total(cliques, "mean_marginal_error", about)
            for measure, part in self._parts(cliques).items():
                errors, off = self._errors(part)
                yield Question(measure, about, LargestMarginalDistance(errors), 1.0, max(off))

    def _parts(self, cliques: tuple[Clique, ...]) -> dict[str, tuple[Clique, ...]]:
        """By measure, the marginals of which it is the largest distance. Those with the target have a measure of their
        own, because risks depend more on them; but where some pairs are not compared, certificates can't rest on them,
        and there is one measure of all."""
        labeled = tuple(clique for clique in cliques if self.target in clique)
        others = tuple(clique for clique in cliques if self.target not in clique)
        certifying = self.target is not None and len(cliques[0]) == 2 and compares_all_pairs(self.curator.schema)
        if not others or not certifying:
            return {"largest_marginal_error": cliques}
        return {"label_marginal_error": labeled, "feature_marginal_error": others}

    def _model_questions(self, features: FeatureMap | OneAgainstRest) -> Iterator[Question]:
        codes, numbers = self.synthesis.codes, self._numbers
        for order, measure in ((1, "label_moment_gap"), (2, "feature_moment_gap")):
            expected, off = self._scaled(features.moments(codes, numbers, order))
            query = LargestMomentGap(features, order, expected)
            yield Question(measure, features.target, query, float(UNIT**order), float(off.max()))
        model = linear_model_of(features, codes, numbers)
        yield Question("accuracy", features.target, CorrectPredictions(model), 1.0)
        if isinstance(model, OneAgainstRestModel):
            return
        yield Question("log_loss", features.target, TotalLoss(model), float(LOSS_UNIT))
        if self.protected is not None:
            predictions = GroupPredictions(LinearPredictor(model), (self.protected,))
            yield Question(predictions.name, features.target, predictions, 1.0)

    def _errors(self, cliques: tuple[Clique, ...]) -> tuple[MarginalDistances, list[float]]:
        """The query for the distances of these marginals, and how far rounding may put each distance off."""
        domain, codes = self.curator.domain, self.synthesis.codes
        parts = [self._scaled(count(codes, domain.shape(clique), clique)) for clique in cliques]
        return MarginalDistances(cliques, tuple(part[0] for part in parts)), [float(part[1].sum()) for part in parts]

    @property
    def _counted(self) -> float:
        """The number of records that the release was made with, whatever later answers imply."""
        return max(self.synthesis.error_bars.counted, 1.0)

    @cached_property
    def _numbers(self) -> dict[str, np.ndarray]:
        """The synthetic rows' numbers, by ordered column."""
        return numbers_of(self.curator.schema, self.synthesis.to_arrow())

    def _scaled(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums over the synthetic rows, scaled to the number of records: rounded, and what rounding changed."""
        scaled = sums * (self._counted / max(self.synthesis.rows, 1))
        rounded = np.rint(scaled)
        return rounded.astype(np.int64), np.abs(rounded - scaled)


def columns_in_words(order: int) -> str:
    return "1 column" if order == 1 else f"{order} columns"
