"""How long work says where it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the budget that is spent."""


def quiet(message: str, fraction: float) -> None:
    """The progress that says nothing."""
