"""The answers of a training run: one noisy gradient after another, each from a fresh batch, all charged at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from counterfoil.curator.batches import GroupedRecords
from counterfoil.curator.foreign_errors import without_foreign_words
from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws
from counterfoil.curator.right import Right
from counterfoil.curator.silence import silent
from counterfoil.ledger.refusals import RefusalLog, noting_refusals
from counterfoil.networks import few_threads
from counterfoil.noise.exact_answers import require_whole
from counterfoil.noise.randomness import Randomness
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise


@dataclass(frozen=True, eq=False)
class NoisyGradient:
    """What one step released. All of it is public.

    Args:
        values: float64 [P], the gradient plus noise.
        deviation: of the noise of each value, in the same units.
        loss: the batch's mean loss plus noise.
        loss_deviation: of its noise.
    """

    values: np.ndarray
    deviation: float
    loss: float
    loss_deviation: float


class Training:
    """The steps of one charge. Made by `Account.train`, which charges all of them before the first.

    Batches are drawn afresh for each step and never leave the curator; nobody learns who is in one.
    """

    def __init__(
        self,
        records: GroupedRecords,
        query: GradientQuery,
        noise: SubsampledGaussianNoise,
        *,
        sensitivity: float,
        randomness: Randomness,
        refusals: RefusalLog,
        vouched_for: Sequence[str] = (),
    ) -> None:
        self._records = records
        self._query = query
        self._noise = noise
        self._sensitivity = sensitivity
        self._randomness = randomness
        self._refusals = refusals
        self._vouched_for = vouched_for
        self._batch_sizes = query.batch_sizes
        # Two threads would share the network.
        self._alone = Lock()
        self._right = Right(
            noise.steps, f"All {noise.steps} steps that were charged are taken. Charge further ones first."
        )

    @property
    def steps_left(self) -> int:
        """How many steps that were charged are not taken."""
        return self._right.left

    def step(self, parameters: np.ndarray, draws: PublicDraws | None = None) -> NoisyGradient:
        """The noisy gradient at `parameters`, from a new batch.

        Args:
            parameters: float64 [P]; public, as they follow from earlier answers.
            draws: what the query takes that is drawn without a look at records.

        Raises:
            ValueError: when all steps that were charged are taken, in a process that was forked since, for parameters
                that are not float64 [P], or without draws that the query takes; no step is taken then. Also when a
                network of a user's own fails on the batch: the step is taken then, and the ledger notes it.
        """
        with self._alone, few_threads(query_size=self._query.size * sum(self._batch_sizes)):
            return self._step(parameters, draws or PublicDraws())

    def _step(self, parameters: np.ndarray, draws: PublicDraws) -> NoisyGradient:
        query = self._query
        query.require_draws(draws)
        query.network.load_vector(parameters)  # refuses others before a batch is read
        self._right.take()
        with noting_refusals(self._refusals):
            with without_foreign_words(query.name, self._vouched_for), silent():
                batch = self._records.draw(self._batch_sizes, self._randomness)
                exact = query.exact_of_batch(batch, parameters, draws)
            exact = require_whole(query.name, exact, cells=query.size + 1)
        values = self._noise.add(exact, self._sensitivity, self._randomness)
        scale = self._noise.scale(self._sensitivity)
        return NoisyGradient(
            values[:-1] * query.unit, scale * query.unit, float(values[-1] * query.loss_unit), scale * query.loss_unit
        )
