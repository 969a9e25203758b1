"""One training run: planned, charged, and then one noisy gradient after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.accounting.calibration import subsampled_noise_multiplier
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.synthesis.progress import Progress
from counterfoil.training.checkpoint import TrainingCheckpoint
from counterfoil.training.descent import Descent, Optimizer

DrawsOf = Callable[[np.random.Generator], PublicDraws]

_SHOWN = 20
"""How many times a run says how far it is."""


@dataclass(frozen=True)
class Schedule:
    """The length of a run, fixed before its first step.

    Args:
        iterations: T, at least 1.
        batch_share: the share of each group that a batch holds, in (0, 1].
        parts: how many charges the run is made of; each ends with a checkpoint. A run that is stopped can go on after
            its last checkpoint, and what was charged beyond it is lost.

    Raises:
        ValueError: for a parameter out of its range.
    """

    iterations: int
    batch_share: float
    parts: int = 1

    def __post_init__(self) -> None:
        for name in ("iterations", "parts"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"`{name}` must be a whole number of at least 1. Found {value!r}.")
        if not (isinstance(self.batch_share, (int, float)) and 0 < self.batch_share <= 1):
            raise ValueError(f"`batch_share` must lie in (0, 1]. Found {self.batch_share!r}.")

    def batch_sizes(self, group_sizes: tuple[int, ...]) -> tuple[int, ...]:
        """How many records of each group a batch holds: the share, rounded, and one at least where there are any."""
        return tuple(max(1, round(self.batch_share * size)) if size else 0 for size in group_sizes)

    def noises(self, query: GradientQuery, curator: Curator) -> list[SubsampledGaussianNoise]:
        """The noise of each part, such that all of them together cost the whole budget."""
        probability, budget = query.sampling_probability, curator.budget
        multiplier = subsampled_noise_multiplier(budget.epsilon, budget.delta, probability, self.iterations)
        ends = np.linspace(0, self.iterations, min(self.parts, self.iterations) + 1).round().astype(int)
        steps = np.diff(ends)
        return [SubsampledGaussianNoise(multiplier, probability, int(count)) for count in steps]


def train(
    curator: Curator,
    query: GradientQuery,
    schedule: Schedule,
    optimizer: Optimizer,
    *,
    draws: DrawsOf | None,
    made_by: dict[str, Any],
    checkpoint: Path | None,
    progress: Progress,
) -> Descent:
    """Spends the whole budget of `curator` on a descent from the present parameters of the query's network.

    Args:
        draws: makes what each step draws without a look at records; None where it draws nothing.
        made_by: the public parameters of whoever asks, as JSON: a run is continued by the same alone.
        checkpoint: where the state is kept after each part; a run that is there already is continued.
        progress: called with the loss so far.

    Raises:
        ValueError: in one sentence, before anything is charged.
    """
    noises = schedule.noises(query, curator)
    settings = {"query": query.describe(), "optimizer": asdict(optimizer), "schedule": asdict(schedule)} | made_by
    descent = Descent.start(optimizer, schedule.iterations, query.network.parameters_vector())
    before = TrainingCheckpoint.load(checkpoint) if checkpoint is not None and checkpoint.exists() else None
    if before is not None:
        before.require_same(settings)
        curator.resume(before.release)
        descent = before.descent(optimizer, schedule.iterations)
    query.network.load_vector(descent.parameters)  # refuses those that are not finite
    account = curator.plan(noises, PrivacyLossPlan())
    if checkpoint is not None and before is None:
        # Before the first charge: a run that is stopped in its first part goes on too, and a path that can't be
        # written is found out while nothing is spent.
        _save(descent, curator, settings, checkpoint)
    # Parts that were charged and not finished are lost: their answers may have been seen.
    descent.taken = sum(noise.steps for noise in noises[: account.charged])
    generator = curator.randomness.generator()
    shown = 0
    for noise in noises[account.charged :]:
        training = account.train(query, noise)

        def step(parameters: np.ndarray) -> tuple[np.ndarray, float]:
            drawn = None if draws is None else draws(generator)
            answer = training.step(parameters, drawn)  # noqa: B023 - called within the same part
            return answer.values, answer.loss

        for _ in range(noise.steps):
            descent.advance(step)
            done = descent.taken / schedule.iterations
            if done * _SHOWN >= shown + 1:
                shown = int(done * _SHOWN)
                progress(f"step {descent.taken} of {schedule.iterations}, loss {descent.recent_loss():.3f}", done)
        if checkpoint is not None:
            _save(descent, curator, settings, checkpoint)
    if not descent.losses:
        raise ValueError("All steps of this run were charged and none was kept. Start again without its checkpoint.")
    return descent


def _save(descent: Descent, curator: Curator, settings: dict[str, Any], path: Path) -> None:
    assert curator.release_id is not None
    TrainingCheckpoint.of(descent, curator.release_id, settings).save(path)
