"""Where a user's own code calls this package: the line that a warning should show."""

from __future__ import annotations

import sys


def outside_the_package() -> int:
    """The `stacklevel` with which a warning of the caller shows the nearest line outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("counterfoil."):
        level, frame = level + 1, frame.f_back
    return level
