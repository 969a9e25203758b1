"""Progress messages of long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with a description of the current step and the share of the budget that is spent."""


def quiet(message: str, fraction: float) -> None:
    """Ignores all progress messages."""
