"""An autoencoder whose codes are distributed alike in each group.

Source: Rodriguez-Vitores, Lalanne and Loubes 2025, section 7 and appendix B.3.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from counterfoil.curator.queries.gradient import GradientQuery
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema.schema import Schema
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.fair_models import FairModel
from counterfoil.training.penalties import group_columns
from counterfoil.training.private_run import DrawsOf
from counterfoil.training.public_rows import coded_rows

if TYPE_CHECKING:
    from counterfoil.networks.network import Network


@dataclass(kw_only=True)
class FairEncoder(FairModel):
    """Codes of a few numbers, from which a record's inputs can be restored, and its group hardly.

    The loss is the squared distance of the restored inputs from the scaled ones; the penalty compares the codes of
    groups.

    Args:
        code: how many numbers a code has.
        hidden: the widths of the encoder's hidden layers; the decoder has them in reverse order.
    """

    code: int = 2
    hidden: Sequence[int] = (62,)
    bound: float | None = 1.0
    learning_rate: float = 0.01
    jacobian_norm: float = 0.2

    kind: ClassVar[str] = "fair-encoder"

    def fit(
        self,
        source: Any,
        schema: Schema | str | Path,
        *,
        protected: str | Sequence[str],
        ledger: Ledger | str | Path | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress = quiet,
    ) -> Self:
        """Trains on a sensitive table, and spends the whole budget.

        Args:
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
            source, schema, target=None, protected=protected, ledger=ledger, checkpoint=checkpoint, progress=progress
        )

    def transform(self, rows: Any) -> np.ndarray:
        """float64 [n, code]: the codes of rows of the caller's own."""
        codes, numbers = coded_rows(rows, self._fitted_features)
        encoder = self._encoder(self.features_)
        encoder.load_vector(self.network_.parameters_vector()[: len(encoder.parameters_vector())])
        return encoder.outputs(self.features_.inputs(codes, numbers)).cpu().numpy()

    @property
    def transformed_names(self) -> list[str]:
        """What `transform` returns in each of its columns."""
        return [f"code_{number + 1}" for number in range(self.code)]

    def reconstruct(self, rows: Any) -> np.ndarray:
        """float64 [n, inputs]: the inputs, scaled as `features_.inputs` has them, after their way through a code."""
        return self._outputs(rows)

    @property
    def _fitted_features(self) -> TrainingFeatures:
        self._require_fitted()
        return self.features_

    def _features(self, schema: Schema, target: Any, protected: Sequence[str]) -> TrainingFeatures:
        self._require_protected(protected)
        if self.network is not None:
            raise ValueError("An encoder has layers of its own: give `hidden` and `code`, and leave `network` out.")
        if not (isinstance(self.code, int) and self.code >= 1):
            raise ValueError(f"`code` must be a whole number of at least 1. Found {self.code!r}.")
        groups = group_columns(self.penalty, protected, None)
        return TrainingFeatures(schema, (), groups, self._left_out(groups, protected))

    def _network(self, features: TrainingFeatures) -> Network:
        from counterfoil.networks.architectures import autoencoder

        shape: dict[str, Any] = {"hidden": tuple(self.hidden), "code": self.code, "activation": self.activation}
        return autoencoder(len(features.input_names), seed=self.init_seed, device=self.device, **shape)

    def _encoder(self, features: TrainingFeatures) -> Network:
        """The first layers, up to the code: their parameters are the first ones of the network's."""
        from counterfoil.networks.architectures import mlp

        shape: dict[str, Any] = {"hidden": tuple(self.hidden), "activation": self.activation}
        return mlp(len(features.input_names), self.code, seed=self.init_seed, device=self.device, **shape)

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GradientQuery:
        from counterfoil.networks.penalized_gradient import LossTerm

        count = network.outputs_count
        loss = LossTerm("squared", (0, count), self.clip_norm, 4.0 * count)
        facts: dict[str, Any] = {"link": "identity", "center": 0.0, "bound": 1.0, "outputs": (0, self.code)}
        return self._penalized(network, features, sizes, batches, loss=loss, scorer=self._encoder(features), **facts)

    def _draws(self, query: GradientQuery) -> DrawsOf | None:
        return self._drawn(self.code)
