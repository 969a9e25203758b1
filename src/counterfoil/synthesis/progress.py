"""Progress messages of long work."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with a description of the current step and the share of the work that is done, as far as it is foreseen.

The share rises, within fits too. Both follow from noisy answers and public facts alone.
"""


def quiet(message: str, fraction: float) -> None:
    """Ignores all progress messages."""
