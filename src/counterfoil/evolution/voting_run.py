"""The queries of a run of Private Evolution: the number of records where that is private, then rounds of votes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.replacement import COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.evolution.noise_schedule import GaussianRounds, PositiveRounds, typical
from counterfoil.geometry.space import Space
from counterfoil.measures.record_count import RecordCount, count_records
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.theory import private_evolution as theory

Ask = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""Takes embedded candidates [m, k]; returns their noisy shares of the votes [m] and the deviation of the noise."""


@dataclass
class VotingRun:
    """The rounds of votes of one run, with their budget. Made by `open_voting_run`.

    Args:
        account: the account that charges and answers queries.
        space: the space in which records are points.
        records: the number of records, noisy where it is private.
        noises: one for each round that remains.
        iterations: T.
        epsilon: that of the whole budget.
        iterations_done: how many rounds have been answered.
        deviations: by round, the standard deviation of the noise in a vote, over the number of records.
    """

    account: Account
    space: Space
    records: RecordCount
    noises: list[GaussianNoise] | list[ThresholdedLaplaceNoise]
    iterations: int
    epsilon: float
    iterations_done: int = 0
    deviations: list[float] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The number of records to calculate with."""
        return self.records.total

    @property
    def noise_to_signal(self) -> float:
        """sigma of the theory: that of T equal rounds with the same total cost."""
        return typical(self.deviations)

    @property
    def resolution(self) -> float:
        """alpha of Theorem 4.1, at most half of the diameter."""
        diameter = self.space.diameter
        value = theory.resolution(self.noise_to_signal, dimension=self.space.dimension, diameter=diameter).value
        return min(value, diameter / 2)

    @property
    def population(self) -> int:
        """n_s of Theorem 4.1."""
        sigma = min(self.noise_to_signal, 1.0)
        return int(theory.population(sigma, dimension=self.space.dimension, diameter=self.space.diameter).value)

    def next_step(self) -> Ask | None:
        """The query of the next round; None after the last one."""
        if not self.noises:
            return None
        noise = self.noises[0]

        def ask(candidates: np.ndarray) -> tuple[np.ndarray, float]:
            query = NearestNeighborHistogram(self.space, candidates)
            votes = self.account.ask(query, noise).values
            del self.noises[0]
            spread = 0.0 if isinstance(noise, ThresholdedLaplaceNoise) else self.deviations[self.iterations_done]
            self.iterations_done += 1
            return votes / self.total, spread

        return ask

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs to continue."""
        return {
            "total": self.total,
            "counted": [self.records.counted, self.records.deviation],
            "iterations": self.iterations,
            "iterations_done": self.iterations_done,
            "deviations": self.deviations,
        }

    def describe(self) -> dict[str, Any]:
        """The values that the theory gave, as the receipt states them."""
        dimension, diameter = self.space.dimension, self.space.diameter
        gamma = theory.contraction(dimension).value
        return {
            "iterations": self.iterations,
            "records": self.total,
            "noise_by_round": self.deviations,
            "resolution": self.resolution,
            "theory": {
                "dimension": dimension,
                "diameter": diameter,
                "contraction": gamma,
                "iterations": theory.iterations(self.total, self.epsilon).value,
                "population": self.population,
            },
        }


def open_voting_run(
    curator: Curator,
    space: Space,
    *,
    rounds: GaussianRounds | PositiveRounds,
    iterations: int | None,
    stored: dict[str, Any] | None,
    rows: int | None = None,
) -> VotingRun:
    """Starts a run, or continues the one whose `stored` state a checkpoint held; counts the records.

    Args:
        curator: the records, behind the wall.
        space: where records are points.
        rounds: the noise of the votes, and how the budget is divided.
        iterations: T; that of the theory where None.
        stored: the state that a checkpoint held; None to start.
        rows: how many rows the user asks for; None for about as many as there are records.

    Raises:
        ValueError: where the budget is too small for the rounds, or T depends on a number of records that is private
            and noise that is fixed in advance; where the number of records would be noise and `rows` is not given.
    """
    if isinstance(rounds, GaussianRounds):
        return _gaussian(curator, space, rounds, iterations, stored, rows)
    return _positive(curator, space, rounds, iterations, stored, rows)


def _counted_before(stored: dict[str, Any]) -> RecordCount:
    """The count of a checkpoint; those of earlier versions do not say how far off it may be."""
    total = float(stored["total"])
    counted, deviation = stored.get("counted", (total, 0.0))
    return RecordCount(total, float(counted), float(deviation))


def _gaussian(
    curator: Curator,
    space: Space,
    rounds: GaussianRounds,
    iterations: int | None,
    stored: dict[str, Any] | None,
    rows: int | None,
) -> VotingRun:
    account = curator.filter(GaussianFilter(), replacement_factor=COUNTS_WITH_GAUSSIAN_NOISE)
    if stored is None:
        records = count_records(curator, account, space, rounds.count_noise(curator.budget), rows)
    else:
        records = _counted_before(stored)
    epsilon = curator.budget.epsilon
    planned = int(theory.iterations(records.total, epsilon).value) if iterations is None else iterations
    if stored is not None:
        planned = stored["iterations"]
    gamma = theory.contraction(space.dimension).value
    done = 0 if stored is None else stored["iterations_done"]
    # After a stop between a charge and its answer, less is left than was planned for the remaining rounds.
    noises = rounds.noises(account.capacity - account.spent, planned, gamma, done=done)
    run = VotingRun(account, space, records, noises, planned, epsilon, done)
    return _with_deviations(run, stored)


def _positive(
    curator: Curator,
    space: Space,
    rounds: PositiveRounds,
    iterations: int | None,
    stored: dict[str, Any] | None,
    rows: int | None,
) -> VotingRun:
    known, epsilon = curator.row_count_is_public, curator.budget.epsilon
    if iterations is None and not known:
        # Rounds whose number followed a noisy count would be chosen after an answer, which a plan does not allow.
        few, many = (int(theory.iterations(n, epsilon).value) for n in (1e4, 1e6))
        raise ValueError(
            "`iterations` must be given for noise on positive votes where the number of records is private: all rounds "
            f"are planned before anything is asked. Found none. At epsilon {epsilon:g} the theory takes {few} for ten "
            f"thousand records and {many} for a million."
        )
    if iterations is None:
        iterations = int(theory.iterations(float(curator.public_row_count()), epsilon).value)
    noises = rounds.noises(curator.budget, iterations, count=not known)
    count = [] if known else [rounds.count_noise(curator.budget)]
    account = curator.plan([*count, *noises], PrivacyLossPlan())
    if stored is None:
        records = count_records(curator, account, space, rounds.count_noise(curator.budget), rows)
    else:
        records = _counted_before(stored)
    # A round that was charged and not answered is lost: the plan has no noise to replace it.
    left = noises[len(account.events) - len(count) :]
    run = VotingRun(account, space, records, left, iterations, epsilon, iterations - len(left))
    return _with_deviations(run, stored)


def _with_deviations(run: VotingRun, stored: dict[str, Any] | None) -> VotingRun:
    query = NearestNeighborHistogram(run.space, np.zeros((1, 1)))
    earlier = [] if stored is None else stored["deviations"][: run.iterations_done]
    run.deviations = [*earlier, *(run.account.deviation(query, noise) / run.total for noise in run.noises)]
    return run
