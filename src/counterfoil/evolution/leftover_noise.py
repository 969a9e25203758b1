"""How far the means and deviations of columns may be off in weighted points that were chosen by noisy votes.

Public: it follows from released weights and from the noise of the votes. No record is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from counterfoil.marginals.unreliable import first_few

MOST_COLUMNS = 4
"""Where rows have more columns, votes for whole rows say little of each, and a simulation misses half of what it costs:
decisions.md."""
MOST_ERROR = 0.15
"""A column whose simulated error is larger is named."""
REPETITIONS = 8
"""Simulations where a step from votes to weights takes no time."""
_FEW = 1000
"""Candidates for which no step takes a tenth of a second."""
_PART = 4
"""A step that takes most of a round is simulated once for so many rounds, which adds a quarter to the run."""

Clean = Callable[[np.ndarray], np.ndarray | None]
"""From noisy shares of votes [m] to weights [m]; None where no vote is left."""


def affordable(rounds: int, candidates: int) -> int:
    """How many simulations a run affords, where each takes about as long as a round unless candidates are few."""
    return REPETITIONS if candidates <= _FEW else min(rounds // _PART, REPETITIONS)


def simulated_errors(
    weights: np.ndarray,
    noise: float,
    clean: Clean,
    numbers: Mapping[str, np.ndarray],
    rng: np.random.Generator,
    *,
    repetitions: int = REPETITIONS,
) -> dict[str, float]:
    """By column, how far noise moves its mean or its deviation, the larger of both, over its released deviation.

    The released weights hold noise already, spread over candidates near and far, and the same noise once more would
    hardly move them. So the votes are simulated on the weights that are larger than the noise alone, as on a sparse
    table in the same places. What the noise adds to it is about what it added to the release.

    Args:
        weights: float64 [m], as released; probabilities.
        noise: the standard deviation of the noise in a share of the votes.
        clean: the method's step from noisy shares to weights.
        numbers: by column, float64 [m], the numbers of the candidates; NaN where missing.
        rng: public randomness.
        repetitions: how many simulations, at least one.

    Returns:
        The root mean square over simulations; infinite where no weight is larger than the noise.
    """
    sure = np.where(weights > noise, weights, 0.0)
    if not sure.any():
        return dict.fromkeys(numbers, np.inf)
    sure /= sure.sum()
    drawn = [clean(sure + noise * rng.standard_normal(len(sure))) for _ in range(repetitions)]
    return {name: _error(weights, sure, drawn, column) for name, column in numbers.items()}


def leftover_noise(errors: Mapping[str, float]) -> list[str]:
    """What the receipt says of columns with large errors; nothing where there are none."""
    named = [name for name, error in errors.items() if error > MOST_ERROR]
    if not named:
        return []
    its = "Its mean, deviation" if len(named) == 1 else "Their means, deviations"
    return [
        f"Noise that is left in the votes says much of where the points of {first_few(named)} lie. {its} and outer "
        "quantiles may be far off. Closer bounds, where the public knows them, or more epsilon leave less of it; "
        "methods that count columns (mst, aim) know more of each."
    ]


def not_simulated(rounds: int) -> list[str]:
    """What the receipt says where the run was too short for a simulation that takes as long as one of its rounds."""
    return [
        "How far noise that is left in the votes moves means and deviations was not simulated: with "
        f"{rounds} iterations that would take more than a quarter of the run. From {_PART} iterations on it is; "
        "methods that count columns (mst, aim) know more of each."
    ]


def many_columns(n_columns: int) -> list[str]:
    """What the receipt says of rows of many columns; nothing of few."""
    if n_columns <= MOST_COLUMNS:
        return []
    return [
        f"Records voted for whole rows of {n_columns} columns, and no column was counted: means, deviations, quantiles "
        "and shares of single columns may be far off. A share for fidelity buys how far; methods that count columns "
        "(mst, aim) know more of each."
    ]


def _error(weights: np.ndarray, sure: np.ndarray, drawn: list[np.ndarray | None], numbers: np.ndarray) -> float:
    scale = _moments(weights, numbers)[1]
    before = _moments(sure, numbers)
    if scale == 0:
        return 0.0
    moved = [np.inf if after is None else np.abs(_moments(after, numbers) - before) / scale for after in drawn]
    return float(np.sqrt(np.mean(np.square(np.stack(np.broadcast_arrays(*moved))), axis=0)).max())


def _moments(weights: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The mean and the standard deviation of the numbers that are there; 0 and 0 where none is."""
    present = np.where(np.isnan(numbers), 0.0, weights)
    total = present.sum()
    if total <= 0:
        return np.zeros(2)
    there = np.nan_to_num(numbers)
    mean = present @ there / total
    return np.array([mean, np.sqrt(present @ (there - mean) ** 2 / total)])
