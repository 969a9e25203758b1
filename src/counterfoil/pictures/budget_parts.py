"""Where a budget went, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, GRAY, INK, WIDTH

if TYPE_CHECKING:
    import altair


def budget_bars(parts: Sequence[tuple[str, float]], *, left: float | None) -> altair.TopLevelMixin:
    """A chart with a bar for each part of a budget.

    Args:
        parts: what was asked and its share of the budget, in the order to be shown.
        left: the share that was not used, drawn in gray; None where all was, or where it is not known.
    """
    import altair as alt

    names = distinct([name for name, _ in parts] + ([] if left is None else ["not used"]), 34)
    shares = [share for _, share in parts] + ([] if left is None else [left])
    rows = [
        {"part": name, "share": share, "says": percent(share), "color": BLUE}
        for name, share in zip(names, shares, strict=True)
    ]
    if left is not None:
        rows[-1]["color"] = GRAY
    most = max(shares, default=1.0) or 1.0
    # Names stand above their bars, so that long ones need no room beside them.
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("part:N", sort=names, axis=None, scale=alt.Scale(padding=0)))
    x = alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1.2 * most], nice=False))
    bars = base.mark_bar(height=12, yOffset=9, color=BLUE).encode(x=x, color=alt.Color("color:N", scale=None))
    figures = base.mark_text(align="left", dx=5, yOffset=9, color=INK).encode(x=x, text="says:N")
    labels = base.mark_text(align="left", yOffset=-7, color=INK).encode(x=alt.value(0), text="part:N")
    return alt.layer(bars, figures, labels, width=WIDTH - 15, height=alt.Step(38))


def percent(share: float) -> str:
    """A share as people read it; small ones are not called nothing."""
    if 0 < share < 0.0005:
        return "below 0.1%"
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
