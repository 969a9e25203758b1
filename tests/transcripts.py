"""All answers of one release: what they say of two neighbors, or the same answers over again for another table.

A release is post-processing of its answers (`tests/test_replay.py` shows that), so that whoever heard all of them,
choices included, knows all that it tells of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from counterfoil.curator.account import Account
from counterfoil.curator.noisy_answers import NoisyAnswers
from counterfoil.curator.records import ExactRecords
from counterfoil.noise.answer import Answer, Choice
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import Randomness
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise


def no_record_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on an answer that is not had again is an error."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a record was asked")

    monkeypatch.setattr(NoisyAnswers, "numbers", refuse)
    monkeypatch.setattr(NoisyAnswers, "choice", refuse)


@dataclass
class ScaleSpy:
    """Notes the scale at which noise was really drawn. The innermost of all that wraps a source of randomness."""

    randomness: Randomness
    scale: float = np.nan

    @property
    def private(self) -> bool:
        return self.randomness.private

    @property
    def source(self) -> str:
        return self.randomness.source

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        self.scale = scale
        return self.randomness.discrete_gaussian(scale, size)

    def discrete_laplace(self, scale: float, size: int) -> np.ndarray:
        self.scale = scale
        return self.randomness.discrete_laplace(scale, size)

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        self.scale = scale
        return self.randomness.noisy_max(scores, scale)

    def make_ready(self) -> None:
        self.randomness.make_ready()

    def generator(self) -> np.random.Generator:
        return self.randomness.generator()


@dataclass
class Evidence:
    """What the answers of one run say of two neighbors.

    Args:
        ratio: log of their probability on the second neighbor over that on the first, with the noise as it was drawn:
            by Neyman and Pearson, no other number tells the two apart better.
        dearest: the most that an answer could tell apart over what was charged for it; above 1, it was undercharged.
        mu_squared: by query, what its answers are worth to somebody who tells the two apart, Gaussian ones alone.
    """

    ratio: float = 0.0
    dearest: float = 0.0
    mu_squared: dict[str, float] = field(default_factory=dict)

    def add_answer(self, query: Any, noise: Any, answer: np.ndarray, exact: Sequence[np.ndarray], scale: float) -> None:
        one, other = (answer - side for side in exact)
        moved = exact[1] - exact[0]
        if isinstance(noise, GaussianNoise):
            self.ratio += float((one**2 - other**2).sum()) / (2 * scale**2)
            mu_squared = float(moved @ moved) / scale**2
            self.dearest = max(self.dearest, mu_squared**0.5 / noise.event().mu)
            self.mu_squared[query.name] = self.mu_squared.get(query.name, 0.0) + mu_squared
            return
        assert isinstance(noise, LaplaceNoise)
        self.ratio += float((np.abs(one) - np.abs(other)).sum()) / scale
        self.dearest = max(self.dearest, float(np.abs(moved).sum()) / scale / noise.epsilon)

    def add_choice(self, noise: ExponentialSelection, index: int, scores: Sequence[np.ndarray], scale: float) -> None:
        """The range of the loss is that of the scores' differences: what all choices have in common cancels."""
        one, other = (log_softmax(side / scale) for side in scores)
        self.ratio += float(other[index] - one[index])
        self.dearest = max(self.dearest, float(np.ptp(other - one)) / noise.epsilon)


class Listener:
    """Hears every answer of every account while `patch` holds; `evidence` is of the run since `start`."""

    def __init__(self, patch: Any) -> None:
        self.evidence = Evidence()
        self._sides: Sequence[ExactRecords] = ()
        self._spy: ScaleSpy | None = None
        ask, choose = Account.ask, Account.choose

        def heard_ask(account: Account, query: Any, noise: Any) -> Answer:
            answer = ask(account, query, noise)
            self.evidence.add_answer(query, noise, answer.values, self._exact(query), self._scale)
            return answer

        def heard_choose(account: Account, query: Any, noise: Any) -> Choice:
            choice = choose(account, query, noise)
            self.evidence.add_choice(noise, choice.index, self._exact(query), self._scale)
            return choice

        patch.setattr(Account, "ask", heard_ask)
        patch.setattr(Account, "choose", heard_choose)

    def start(self, sides: Sequence[ExactRecords], spy: ScaleSpy) -> None:
        self.evidence, self._sides, self._spy = Evidence(), sides, spy

    def _exact(self, query: Any) -> list[np.ndarray]:
        return [query.exact(side) for side in self._sides]

    @property
    def _scale(self) -> float:
        assert self._spy is not None
        return self._spy.scale


_ANSWERED = {
    (NoisyAnswers, "numbers"): 3,
    (NoisyAnswers, "texts"): 3,
    (NoisyAnswers, "choice"): 3,
    (SubsampledGaussianNoise, "add"): 0,
}
"""Where the exact answer to a query that is paid for gets its noise, and which argument says what was asked."""


@dataclass
class Recording:
    """Every question of a run with its answer, and what was told of the progress."""

    asked: list[tuple[dict[str, Any], Any]] = field(default_factory=list)
    told: list[tuple[str, float]] = field(default_factory=list)

    def progress(self, message: str, fraction: float) -> None:
        self.told.append((message, fraction))


def recorded(patch: Any, run: Callable[[Recording], Any]) -> tuple[Any, Recording]:
    """What `run` returns, and its recording."""
    recording = Recording()

    def keep(question: dict[str, Any], answer: Any) -> Any:
        recording.asked.append((question, deepcopy(answer)))
        return answer

    return _heard(patch, keep, lambda: run(recording)), recording


def replayed(patch: Any, recording: Recording, run: Callable[[Recording], Any]) -> tuple[Any, Recording]:
    """What `run` returns where every answer is the recorded one.

    Its records are read for an answer of their own, which is thrown away: what reading them says, warns of or raises
    is a part of what is compared.

    Raises:
        AssertionError: where another question is asked.
    """
    again = Recording()

    def replace(question: dict[str, Any], _: Any) -> Any:
        assert len(again.asked) < len(recording.asked), f"one question more: {question}"
        asked, answer = recording.asked[len(again.asked)]
        assert question == asked
        again.asked.append((asked, answer))
        return deepcopy(answer)

    made = _heard(patch, replace, lambda: run(again))
    assert len(again.asked) == len(recording.asked), made
    return made, again


def _heard(patch: Any, hear: Callable[[dict[str, Any], Any], Any], run: Callable[[], Any]) -> Any:
    def hearing(original: Callable, place: int) -> Callable:
        def answer(*given: Any) -> Any:
            return hear(_question(given[place]), original(*given))

        return answer

    with patch.context() as inner:
        for (owner, name), place in _ANSWERED.items():
            inner.setattr(owner, name, hearing(getattr(owner, name), place))
        return run()


def _question(asked: Any) -> dict[str, Any]:
    return asked.to_json() if isinstance(asked, SubsampledGaussianNoise) else dict(asked.record)
