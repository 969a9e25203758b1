"""Private Evolution: points that move towards the records by noisy votes, round after round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from counterfoil.checkpoint import Checkpoint
from counterfoil.curator.curator import Curator
from counterfoil.evolution.leftover_noise import (
    MOST_COLUMNS,
    REPETITIONS,
    affordable,
    leftover_noise,
    many_columns,
    not_simulated,
    simulated_errors,
)
from counterfoil.evolution.noise_schedule import GaussianRounds, PositiveRounds
from counterfoil.evolution.survivors import Multiplicities, Resample, Selection
from counterfoil.evolution.voting_run import VotingRun, open_voting_run
from counterfoil.geometry.space import Space
from counterfoil.geometry.table_space import TableSpace
from counterfoil.measures.cleanup import Cleanup, Projection, Threshold
from counterfoil.methods.method import Method
from counterfoil.schema import Boolean
from counterfoil.schema.number import NumberColumn
from counterfoil.synthesis.point_rows import Placed
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.resampling import systematic
from counterfoil.transport.partial import exact_transport

MOST_CANDIDATES = 200_000


@dataclass(frozen=True)
class PrivateEvolution(Method):
    """Private Evolution with exchangeable steps; `preset` has the algorithms of the paper.

    A round makes variations of the population, asks which of them each record is nearest to, cleans the noisy votes up
    to a probability measure, and chooses the next population from it. The last measure is returned as weighted points,
    and the rows are drawn from it.

    Args:
        space: where records are points; `TableSpace` of the schema where None.
        rounds: which noise the votes get, and how the budget is divided over the rounds.
        cleanup: from noisy votes to a probability measure.
        selection: from a probability measure to the next population.
        iterations: T; 2 log(n epsilon) where None. Must be given where n is private and the noise fixed in advance
            (`PositiveRounds`).
        population: n_s; that of Theorem 4.1 where None.
        lookahead: if positive, records vote for the mean embedding of so many variations of a candidate.

    Source: Gonzalez, Fanti and Ramdas, "Private Evolution Converges"; Lin et al. 2024 for the lookahead. Defaults are
    those of `theory.private_evolution`; the receipt states their values.

    Raises:
        ValueError: for numbers that are not positive.
    """

    gives_points: ClassVar[bool] = True
    presets: ClassVar[tuple[str, ...]] = ("bounded-lipschitz", "practical", "theoretical", "laplace-threshold")

    space: Space | None = None
    rounds: GaussianRounds | PositiveRounds = field(default_factory=GaussianRounds)
    cleanup: Cleanup = field(default_factory=Projection)
    selection: Selection = field(default_factory=Resample)
    iterations: int | None = None
    population: int | None = None
    lookahead: int = 0

    def __post_init__(self) -> None:
        for name in ("iterations", "population"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"`{name}` must be at least 1. Found {value}.")
        if self.lookahead < 0:
            raise ValueError(f"`lookahead` must be at least 0. Found {self.lookahead}.")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> PrivateEvolution:
        """The same as `of_preset`."""
        return cls.of_preset(name, **changes)

    @classmethod
    def of_preset(cls, name: str, **parameters: Any) -> PrivateEvolution:
        """An algorithm of the paper, with `parameters` for its fields.

        - "bounded-lipschitz": Algorithm 2; Gaussian noise and the projection. It has a worst-case utility guarantee.
        - "practical": Algorithm 3; Gaussian noise, negative votes cut off. It needs no projection.
        - "theoretical": Algorithm 1; multiplicities instead of draws, for records that are repeated many times.
        - "laplace-threshold": section 4.2; Laplace noise on positive votes, for records in a few tight clusters.

        Raises:
            ValueError: for another name.
        """
        presets = {
            "bounded-lipschitz": cls(),
            "practical": cls(cleanup=Threshold()),
            "theoretical": cls(cleanup=Threshold(deviations=3.0), selection=Multiplicities()),
            "laplace-threshold": cls(rounds=PositiveRounds(), cleanup=Threshold()),
        }
        if name not in presets:
            raise ValueError(f"`preset` must be one of {', '.join(cls.presets)}. Found {name!r}.")
        return replace(presets[name], **parameters)

    @property
    def can_reserve(self) -> bool:
        """Not where noise on positive votes is planned for all rounds."""
        return isinstance(self.rounds, GaussianRounds)

    def synthesize(
        self,
        curator: Curator,
        *,
        rows: int | None = None,
        progress: Progress = quiet,
        checkpoint: str | Path | None = None,
        initial: np.ndarray | None = None,
    ) -> PointSynthesis:
        """A synthesis within `curator.budget`.

        Args:
            curator: holds the records.
            rows: how many rows to draw; as many as there are records, about, where None.
            progress: called after each iteration.
            checkpoint: a file written before the first iteration and after each; where it exists already, the run
                that wrote it is continued and pays only for the iterations that remain.
            initial: public points to start from, instead of random ones.

        Raises:
            ValueError: for a budget without delta, no `iterations` where they must be given, or a checkpoint of
                another run.
        """
        space = TableSpace(curator.schema) if self.space is None else self.space
        require_space(curator, space)
        if isinstance(self.cleanup, Projection):
            exact_transport()  # refuses before anything is charged where POT is not installed
        path = None if checkpoint is None else Path(checkpoint)
        run = _Run(self, curator, space, _resumed(path, self._settings(curator, space), curator), path, rows)
        points, weights = run.finish(progress, initial)
        return release_points(
            curator,
            space,
            measure=(points, weights),
            draw=lambda n, rng: Placed(systematic(weights, n, rng), points.__getitem__),
            describe=("evolution", run.parameters()),
            total=run.voting.total,
            rows=rows,
            counted=(run.voting.records.counted, run.voting.records.deviation),
            warnings=[*run.warnings, *run.doubts(points, weights)],
        )

    def describe(self) -> dict[str, Any]:
        """The public parameters, without the space."""
        by_theory = isinstance(self.rounds, GaussianRounds) and self.rounds.by_theory
        return {
            "noise": "gaussian" if isinstance(self.rounds, GaussianRounds) else "laplace on positive votes",
            "budget_split": "by theory" if by_theory else "alike",
            **self.cleanup.describe(),
            **self.selection.describe(),
            "lookahead": self.lookahead,
        }

    def _settings(self, curator: Curator, space: Space) -> dict[str, Any]:
        return {
            **self.describe(),
            "iterations": self.iterations,
            "population": self.population,
            "space": space.describe(),
            "epsilon": curator.budget.epsilon,
            "delta": curator.budget.delta,
            "relation": curator.neighbors.describe(),
        }


class EvolutionCheckpoint(Checkpoint):
    """Of rounds of votes: iterations done, the noisy number of records and warnings; the population, and the last
    candidates with their weights."""

    format: ClassVar[str] = "counterfoil.evolution.checkpoint/1"


def _resumed(path: Path | None, settings: dict[str, Any], curator: Curator) -> EvolutionCheckpoint | None:
    if path is None or not path.exists():
        return None
    checkpoint = EvolutionCheckpoint.load(path)
    if not checkpoint.has(settings):
        raise ValueError(f"{path} is the checkpoint of a run with other settings. Use the same, or another file.")
    curator.resume(checkpoint.release)
    return checkpoint


class _Run:
    """One run: its rounds of votes, its population, and the last measure."""

    def __init__(
        self,
        method: PrivateEvolution,
        curator: Curator,
        space: Space,
        stored: EvolutionCheckpoint | None,
        path: Path | None,
        rows: int | None,
    ) -> None:
        self.method, self.curator, self.space, self.path = method, curator, space, path
        self.rng = curator.randomness.generator()
        self.voting: VotingRun = open_voting_run(
            curator,
            space,
            rounds=method.rounds,
            iterations=method.iterations,
            stored=None if stored is None else stored.state,
            rows=rows,
        )
        self.warnings: list[str] = [] if stored is None else stored.state["warnings"]
        self.arrays = {} if stored is None else stored.arrays
        self.size = self._population()

    def _population(self) -> int:
        """The number of points: as requested, else that of the theory or of Algorithm 1, as far as memory allows."""
        one = self.space.random(1, self.rng)
        most = MOST_CANDIDATES // len(self._vary(one, 0.0))
        if self.method.population is not None:
            if self.method.population > most:
                raise ValueError(
                    f"`population` must be at most {most}, which makes {MOST_CANDIDATES} candidates. "
                    f"Found {self.method.population}."
                )
            return self.method.population
        records = isinstance(self.method.selection, Multiplicities)
        return max(1, min(round(self.voting.total) if records else self.voting.population, most))

    def finish(self, progress: Progress, initial: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Runs the remaining iterations, and returns the last candidates and their weights."""
        if not self.arrays:
            first = self.space.random(self.size, self.rng) if initial is None else np.asarray(initial, dtype=float)
            self.arrays["population"] = first
            self._save()
        if self.voting.noise_to_signal > 1 and not self.warnings:
            self.warnings.append(
                f"The noise in one vote, {self.voting.noise_to_signal:.3g} times the number of records, is more than "
                "all votes together: the points hardly depend on the records. Raise epsilon, or ask for fewer "
                "iterations."
            )
        while (step := self.voting.next_step()) is not None:
            self._iterate(step)
            done = self.voting.iterations_done
            self._save()
            progress(f"iteration {done} of {self.voting.iterations}", done / self.voting.iterations)
        return self.arrays["candidates"], self.arrays["weights"]

    def doubts(self, points: np.ndarray, weights: np.ndarray) -> list[str]:
        """Which columns may be far off: all of many; of few, those of numbers that the last round's noise may move.

        Noise on positive votes leaves exact zeros, and so is not spread over the candidates: nothing is said of it.
        """
        schema = self.curator.schema
        if len(schema.synthesized) > MOST_COLUMNS:
            return many_columns(len(schema.synthesized))
        if not isinstance(self.method.rounds, GaussianRounds):
            return []
        rounds = self.voting.iterations
        repetitions = affordable(rounds, len(weights)) if isinstance(self.method.cleanup, Projection) else REPETITIONS
        embedded = self.space.embed(points)
        support = self.space.table(points, schema, self.rng)
        numbers = {
            column.name: column.numbers(support[column.name])
            for column in schema.synthesized
            if isinstance(column, NumberColumn) and not isinstance(column, Boolean)
        }
        if not numbers or not repetitions:
            return not_simulated(rounds) if numbers else []
        noise = self.voting.deviations[-1]

        def clean(shares: np.ndarray) -> np.ndarray | None:
            return self.method.cleanup.weights(shares, noise, embedded, self.space)

        errors = simulated_errors(weights, noise, clean, numbers, self.rng, repetitions=repetitions)
        return leftover_noise(errors)

    def _vary(self, points: np.ndarray, progress: float) -> np.ndarray:
        return self.space.variations(points, resolution=self.voting.resolution, progress=progress, rng=self.rng)

    def _iterate(self, ask: Callable[[np.ndarray], tuple[np.ndarray, float]]) -> None:
        done = self.voting.iterations_done / self.voting.iterations
        varied = self._vary(self.arrays["population"], done)
        candidates = varied.reshape(-1, *varied.shape[2:])
        embedded = self.space.embed(candidates)
        shares, noise = ask(self._seen(candidates, embedded, done))
        weights = self.method.cleanup.weights(shares, noise, embedded, self.space)
        if weights is None:
            self._warn("no vote was left", done)
            weights = np.repeat(np.eye(1, len(varied))[0], varied.shape[1]) / varied.shape[1]
        chosen = self.method.selection.choose(weights, self.size, self.rng)
        if len(chosen) == 0 or len(chosen) * len(varied) > MOST_CANDIDATES:
            self._warn("multiplicities left no point, or too many", done)
            chosen = systematic(weights, min(self.size, max(1, MOST_CANDIDATES // len(varied))), self.rng)
        self.arrays = {"population": candidates[chosen], "candidates": candidates, "weights": weights}

    def _seen(self, candidates: np.ndarray, embedded: np.ndarray, done: float) -> np.ndarray:
        """The points that records vote for: the candidates, or the mean embedding of their next variations."""
        count = self.method.lookahead
        if count == 0:
            return embedded
        ahead = self._vary(candidates, done)[1 : count + 1]
        return np.mean([self.space.embed(points) for points in ahead], axis=0)

    def _warn(self, what: str, done: float) -> None:
        sentence = (
            f"After {done:.0%} of the iterations {what}: the noise in a vote is {self.voting.noise_to_signal:.3g} of "
            f"the number of records, and there are {self.size} points. Raise epsilon, or ask for fewer iterations or "
            "a smaller population."
        )
        if not any(what in warning for warning in self.warnings):
            self.warnings.append(sentence)

    def parameters(self) -> dict[str, Any]:
        """The parameters that the receipt states."""
        return {
            **self.space.describe(),
            **self.method.describe(),
            "population": self.size,
            **self.voting.describe(),
        }

    def _save(self) -> None:
        if self.path is None:
            return
        release = self.curator.release_id
        assert release is not None
        state = {**self.voting.state(), "warnings": self.warnings}
        settings = self.method._settings(self.curator, self.space)
        EvolutionCheckpoint(release, settings, state, self.arrays).save(self.path)
