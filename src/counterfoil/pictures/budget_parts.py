"""Where a budget went, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.named_bars import named_bars
from counterfoil.pictures.style import BLUE, GRAY


def budget_bars(parts: Sequence[tuple[str, float]], *, left: float | None) -> Drawing:
    """A chart with a bar for each part of a budget.

    Args:
        parts: what was asked and its share of the budget, in the order to be shown.
        left: the share that was not used, drawn in gray; None where all was, or where it is not known.
    """
    names = distinct([name for name, _ in parts] + ([] if left is None else ["not used"]), 34)
    shares = [share for _, share in parts] + ([] if left is None else [left])
    rows = [
        {"name": name, "share": share, "says": percent(share), "color": BLUE}
        for name, share in zip(names, shares, strict=True)
    ]
    if left is not None:
        rows[-1]["color"] = GRAY
    most = max(shares, default=1.0) or 1.0
    return named_bars(rows, end=1.2 * most)


def percent(share: float) -> str:
    """A share as people read it; small ones are not called nothing."""
    if 0 < share < 0.0005:
        return "below 0.1%"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
