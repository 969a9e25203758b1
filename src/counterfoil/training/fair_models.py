"""Classifiers and regressors that treat groups alike, trained with private (sliced) Wasserstein gradients.

Source: Rodriguez-Vitores, Lalanne and Loubes 2025, "Learning with differentially private (sliced) Wasserstein
gradients", equations (5) and (6) and section 5.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws
from counterfoil.curator.queries.transport_gradient import TransportGradient
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.schema import Schema
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.classification import Classifier, classification_loss, require_classes
from counterfoil.training.model import PrivateModel
from counterfoil.training.penalties import group_columns, pairs_to_compare
from counterfoil.training.private_run import DrawsOf
from counterfoil.transport.rank_gradient import random_directions, require_projections

if TYPE_CHECKING:
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import LossTerm


@dataclass(kw_only=True)
class FairModel(PrivateModel):
    """A model with the penalty alpha SW_2^2(scores of one group, scores of another).

    Args:
        penalty: "statistical_parity" compares groups of the protected columns; "equality_of_odds" compares them within
            each class of the target.
        alpha: the weight of the penalty, in [0, 1]; the loss has 1 - alpha. The squared distance of probabilities is
            seldom above .1, against losses near .5, and clipped Jacobians make it milder still: below .5 it hardly
            acts; .8 is mild, .9 to .93 reaches a disparate impact near .8 on Adult, .96 is strong.
        bound: M: scores count as at most this far from their center; None takes the smallest that holds all scores.
        jacobian_norm: L, the largest norm of a record's Jacobian. The noise is in proportion to it, and a small one
            turns the penalty's gradient into one of ranks.
        clipping: "spectral" clips Jacobians by their spectral norm, "components" row by row, as the paper did.
        projections: directions of the sliced distance, drawn anew for each step, where there are several scores.
        use_protected: whether the protected columns are inputs of the model too.
        order: of the Wasserstein distance: 2. For others no bound of order 1/n on what a record moves is known, and for
            W_p itself there is none (appendix D of the paper).
    """

    penalty: str = "statistical_parity"
    alpha: float = 0.9
    bound: float | None = None
    jacobian_norm: float = 0.1
    clipping: Literal["spectral", "components"] = "spectral"
    projections: int = 50
    use_protected: bool = False
    order: int = 2

    def _penalized(
        self,
        network: Network,
        features: TrainingFeatures,
        sizes: tuple[int, ...],
        batches: tuple[int, ...],
        *,
        loss: LossTerm,
        link: str,
        center: float,
        bound: float,
        outputs: tuple[int, int],
        scorer: Network | None = None,
    ) -> GradientQuery:
        from counterfoil.networks.penalized_gradient import TransportTerm

        if self.order != 2:
            raise ValueError(
                f"`order` must be 2: a record moves the gradient of the squared W_2 by no more than a multiple of 1/n, "
                f"which no other order is known to have. Found {self.order!r}."
            )
        strata = features.target_classes if self.penalty == "equality_of_odds" else 1
        term = TransportTerm(
            pairs=pairs_to_compare(features, batches, within=strata),
            outputs=outputs,
            link=link,
            center=center,
            bound=bound if self.bound is None else self.bound,
            jacobian_norm=self.jacobian_norm,
            clipping=self.clipping,
        )
        return TransportGradient(network, features, sizes, batches, loss, self.alpha, term, scorer)

    def _left_out(self, groups: Sequence[str], protected: Sequence[str]) -> tuple[str, ...]:
        return () if self.use_protected else tuple(protected)

    def _drawn(self, scores: int) -> DrawsOf:
        count = require_projections(self.projections) if scores > 1 else 1
        return lambda rng: PublicDraws(random_directions(rng, count, scores))

    def _require_protected(self, protected: Sequence[str]) -> None:
        if not protected:
            raise ValueError("`protected` must name the column whose groups are treated alike. Found none.")


@dataclass(kw_only=True)
class FairClassifier(FairModel, Classifier):
    """A classifier whose scores are distributed alike in each group of a protected column.

    The loss is the (binary or multi-class) cross entropy; the scores are the predicted probabilities: of the second
    class of two, or of all classes.

        model = FairClassifier(penalty="statistical_parity", alpha=0.75, epsilon=1, delta=1e-6)
        model.fit("adult.csv", "adult.schema.toml", target="income", protected="sex")
    """

    kind: ClassVar[str] = "fair-classifier"

    def _features(self, schema: Schema, target: str, protected: Sequence[str]) -> TrainingFeatures:
        self._require_protected(protected)
        if target in protected:
            raise ValueError(f"The target can't be protected too. Found {target!r} as both.")
        groups = group_columns(self.penalty, protected, target)
        return require_classes(TrainingFeatures(schema, (target,), groups, self._left_out(groups, protected)))

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        count = network.outputs_count
        # Probabilities lie within this distance of their center: 1/2 on an interval, and in a simplex of d corners
        # sqrt(1 - 1/d) from its middle to a corner.
        facts: dict[str, Any] = {"link": "sigmoid", "center": 0.5, "bound": 0.5}
        if count > 1:
            facts = {"link": "softmax", "center": 1 / count, "bound": math.sqrt(1 - 1 / count)}
        loss = classification_loss(count, self.clip_norm)
        return self._penalized(network, features, sizes, batches, loss=loss, outputs=(0, count), **facts)

    def _draws(self, query: GradientQuery) -> DrawsOf | None:
        return self._drawn(query.network.outputs_count)


@dataclass(kw_only=True)
class FairRegressor(FairModel):
    """A regressor of one or several numbers whose predictions are distributed alike in each group.

    The loss is the squared distance in scaled units, in which each target's declared bounds are -1 and 1.
    """

    kind: ClassVar[str] = "fair-regressor"

    learning_rate: float = 0.01
    jacobian_norm: float = 0.3

    def fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        target: str | Sequence[str],
        protected: str | Sequence[str],
        ledger: Ledger | str | Path | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Trains on a sensitive table, and spends the whole budget.

        Args:
            target: the ordered column to predict, or several.
            source: a path or a frame, as `Curator` takes it.
            schema: the public facts about it, or the path of the TOML file that states them.
            protected: the column, or columns, whose combinations of values are the groups.
            ledger: where the cost is recorded.
            checkpoint: a file for the state of the run, which then goes on after it was stopped.
            progress: called with the loss so far.

        Raises:
            ValueError: in one sentence, before anything is charged.
            ImportError: without PyTorch.
        """
        return self._fit(
            source, schema, target=target, protected=protected, ledger=ledger, checkpoint=checkpoint, progress=progress
        )

    def predict(self, rows: Any) -> np.ndarray:
        """float64 [n], or [n, targets] where there are several: predictions in the columns' own units, in bounds."""
        scaled = np.clip(self._outputs(rows), -1, 1)
        lower, upper = np.array([_bounds(self.features_, name) for name in self.features_.targets]).T
        predicted = lower + (scaled + 1) / 2 * (upper - lower)
        return predicted[:, 0] if predicted.shape[1] == 1 else predicted

    def _features(self, schema: Schema, target: Any, protected: Sequence[str]) -> TrainingFeatures:
        self._require_protected(protected)
        targets = (target,) if isinstance(target, str) else tuple(target)
        groups = group_columns(self.penalty, protected, None)
        features = TrainingFeatures(schema, targets, groups, self._left_out(groups, protected))
        for name in targets:
            if name in protected or not isinstance(schema[name], NumberColumn):
                raise ValueError(
                    f"A regressor's targets are ordered columns that are not protected, and numbers. Found {name!r}."
                )
        return features

    def _network(self, features: TrainingFeatures) -> Network:
        return self._module(features, len(features.targets))

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        from counterfoil.networks.penalized_gradient import LossTerm

        count = network.outputs_count
        loss = LossTerm("squared", (0, count), self.clip_norm, 4.0 * count)
        facts: dict[str, Any] = {"link": "identity", "center": 0.0, "bound": math.sqrt(count)}
        return self._penalized(network, features, sizes, batches, loss=loss, outputs=(0, count), **facts)

    def _draws(self, query: GradientQuery) -> DrawsOf | None:
        return self._drawn(query.network.outputs_count)


def _bounds(features: TrainingFeatures, name: str) -> tuple[float, float]:
    lows, highs = features.schema[name].ranges
    return float(np.nanmin(lows)), float(np.nanmax(highs))
