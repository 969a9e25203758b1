"""A clock for tests, which moves only when it is read or told to: nothing waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Ticks:
    """Seconds that pass by themselves.

    Args:
        step: what passes at each reading.
        now: what it showed last.
        readings: how often it was read.
    """

    step: float = 1.0
    now: float = 0.0
    readings: int = 0

    def __call__(self) -> float:
        self.now += self.step
        self.readings += 1
        return self.now


def stopped() -> float:
    """A clock that stands still."""
    return 0.0
