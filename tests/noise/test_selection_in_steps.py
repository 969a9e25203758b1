"""A choice among very many candidates in two steps has the odds of the choice in one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.noise import selection
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.selection import ExponentialSelection

scores_of_blocks = st.lists(st.integers(-(2 * 10**9), 2 * 10**9), min_size=2, max_size=40)


class Asked:
    """Randomness that chooses what it is told, and remembers among which scores."""

    def __init__(self, answers: list[int]) -> None:
        self.answers, self.scores, self.scales = answers, [], []

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        self.scores.append(np.array(scores))
        self.scales.append(scale)
        return self.answers[len(self.scores) - 1]


def log_odds(scores: np.ndarray, scale: float) -> np.ndarray:
    """Of noisy max, in extended precision."""
    scaled = scores.astype(np.longdouble) / np.longdouble(scale)
    scaled -= scaled.max()
    return scaled - np.log(np.exp(scaled).sum())


@given(scores_of_blocks, st.floats(1e-5, 5.0))
@settings(max_examples=150, deadline=None)
def test_the_odds_of_two_steps_multiply_to_those_of_one(scores, epsilon):
    """To a rounding that three millionths more noise cover, for both tables together: 2.4e-6 epsilon."""
    values = np.array(scores, dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_IN_STEPS_FROM", 2)
        patch.setattr(selection, "_BLOCK", 3)
        for index in range(len(values)):
            asked = Asked([index // 3, index % 3])
            chosen = ExponentialSelection(epsilon).choose(values, 1.0, asked)  # type: ignore[arg-type]
            assert chosen == index
            blocks, within = asked.scores
            assert np.array_equal(within, values[index // 3 * 3 : index // 3 * 3 + 3])
            (scale,) = set(asked.scales)
            found = log_odds(blocks, scale)[index // 3] + log_odds(within, scale)[index % 3]
            assert abs(found - log_odds(values, scale)[index]) <= 1.2e-6 * epsilon


def test_two_steps_have_more_noise_than_is_charged_for():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_IN_STEPS_FROM", 2)
        asked, noise = Asked([0, 0]), ExponentialSelection(0.1)
        noise.choose(np.zeros(5), 1.0, asked)  # type: ignore[arg-type]
    assert asked.scales == [noise.scale(1.0) * (1 + 3e-6)] * 2


@pytest.mark.parametrize(("count", "epsilon", "steps"), [(49_999, 0.1, 1), (50_000, 0.1, 2), (50_000, 1e-6, 1)])
def test_few_candidates_and_tiny_budgets_are_chosen_from_in_one_step(count, epsilon, steps):
    asked = Asked([0] * steps)
    assert ExponentialSelection(epsilon).choose(np.zeros(count), 1.0, asked) == 0  # type: ignore[arg-type]
    assert len(asked.scores) == steps


def test_frequencies_are_those_of_the_exponential_mechanism():
    """20,000 draws of 7 candidates in blocks of 3: chi squared with 6 degrees is above 40 once in 2 million."""
    values, draws = np.array([0.0, 3.0, 1.0, 2.0, 5.0, 4.0, 3.0]), 20_000
    noise, randomness = ExponentialSelection(1.0), SeededRandomness(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection, "_IN_STEPS_FROM", 2)
        patch.setattr(selection, "_BLOCK", 3)
        drawn = np.bincount([noise.choose(values, 1.0, randomness) for _ in range(draws)], minlength=7)
    expected = draws * np.exp(log_odds(values, noise.scale(1.0))).astype(float)
    assert ((drawn - expected) ** 2 / expected).sum() < 40
