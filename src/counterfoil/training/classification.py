"""Classifiers in general, and the one that is trained with noisy gradients of its loss alone."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.curator.queries.loss_gradient import LossGradient
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema.schema import Schema
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.class_values import values_of
from counterfoil.training.model import PrivateModel

if TYPE_CHECKING:
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import LossTerm


@dataclass(kw_only=True)
class Classifier(PrivateModel):
    """A model of the classes of one column: a logit for two, a logit for each of more."""

    def fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        target: str,
        protected: str | Sequence[str] | None = None,
        ledger: Ledger | str | Path | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Trains on a sensitive table, and spends the whole budget.

        Args:
            source: a path or a frame, as `Curator` takes it.
            schema: the public facts about it, or the path of the TOML file that states them.
            target: the column to predict; its codes are the classes.
            protected: the column, or columns, whose combinations of values are the groups; ordered ones by their bins.
                A model without a penalty leaves them out of its inputs, and nothing more.
            ledger: where the cost is recorded; it must be kept for these neighbors, which know the sizes of groups.
            checkpoint: a file for the state of the run, which then goes on after it was stopped, without paying twice.
            progress: called with the loss so far.

        Raises:
            ValueError: in one sentence, before anything is charged.
            ImportError: without PyTorch.
        """
        return self._fit(
            source, schema, target=target, protected=protected, ledger=ledger, checkpoint=checkpoint, progress=progress
        )

    @property
    def classes_(self) -> np.ndarray:
        """The classes in the order of `predict_proba`: numbers or booleans where codes stand for such, else labels."""
        self._require_fitted()
        return values_of(self.features_.schema[self.features_.targets[0]])

    def predict_proba(self, rows: Any) -> np.ndarray:
        """float64 [n, classes]: the probabilities of the classes for rows of the caller's own.

        Args:
            rows: a frame or a path; the target and the protected column may be missing.
        """
        outputs = self._outputs(rows)
        if outputs.shape[1] == 1:
            second = 1 / (1 + np.exp(-np.clip(outputs[:, 0], -700, 700)))
            return np.stack([1 - second, second], axis=1)
        shifted = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)

    def predict(self, rows: Any) -> np.ndarray:
        """[n]: the likeliest class of each row."""
        return self.classes_[np.argmax(self.predict_proba(rows), axis=1)]

    def _network(self, features: TrainingFeatures) -> Network:
        return self._module(features, 1 if features.target_classes == 2 else features.target_classes)


@dataclass(kw_only=True)
class DPSGDClassifier(Classifier):
    """A classifier trained with noisy gradients of its loss alone, logistic or with hidden layers.

    Each gradient is clipped record by record (Abadi et al. 2016). Batches have a fixed size and are drawn without
    replacement, and the noise is calibrated by the accountant for that sampling, where Algorithm 6 of the excess-risk
    paper has an asymptotic constant.
    """

    kind: ClassVar[str] = "dp-sgd"

    def _features(self, schema: Schema, target: str, protected: Sequence[str]) -> TrainingFeatures:
        return require_classes(TrainingFeatures(schema, (target,), (), tuple(protected)))

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        return LossGradient(
            network, features, sizes, batches, classification_loss(network.outputs_count, self.clip_norm)
        )


def require_classes(features: TrainingFeatures) -> TrainingFeatures:
    """`features`, if there are classes to tell apart.

    Raises:
        ValueError: for a target with one class by its schema.
    """
    if features.target_classes < 2:
        raise ValueError(f"A classifier needs two classes. Column {features.targets[0]!r} has one by its schema.")
    return features


def classification_loss(outputs: int, clip_norm: float) -> LossTerm:
    """The cross entropy of one logit or of several; a record's loss is reported as at most four times a coin's."""
    from counterfoil.networks.penalized_gradient import LossTerm

    name, classes = ("logistic", 2) if outputs == 1 else ("cross_entropy", outputs)
    return LossTerm(name, (0, outputs), clip_norm, 4 * math.log(classes))
