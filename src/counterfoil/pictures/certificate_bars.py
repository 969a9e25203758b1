"""Certificates as bars against what holds for any two tables, which says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, GRAY, INK, SOFT, WIDTH

if TYPE_CHECKING:
    import altair


def bounds_against_nothing(bounds: Sequence[tuple[str, float, float]]) -> altair.TopLevelMixin:
    """A chart with a bar for each bound, as a share of the one that says nothing; short bars say much.

    Args:
        bounds: what each is from, its value, and the value that holds for any two tables.
    """
    import altair as alt

    names = distinct([name for name, _, _ in bounds], 40)
    rows = [
        {
            "name": name,
            "share": min(value / trivial, 1.0),
            "says": f"{value:.3g}" if value < trivial else "says nothing",
            "color": BLUE if value < trivial else GRAY,
        }
        for name, (_, value, trivial) in zip(names, bounds, strict=True)
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(y=alt.Y("name:N", sort=names, axis=None, scale=alt.Scale(padding=0)))
    x = alt.X("share:Q", axis=None, scale=alt.Scale(domain=[0, 1.32], nice=False))
    bars = base.mark_bar(height=12, yOffset=9).encode(x=x, color=alt.Color("color:N", scale=None))
    figures = base.mark_text(align="left", dx=5, yOffset=9, color=INK).encode(x=x, text="says:N")
    labels = base.mark_text(align="left", yOffset=-7, color=INK).encode(x=alt.value(0), text="name:N")
    nothing = alt.Chart(alt.Data(values=[{"share": 1.0}])).mark_rule(color=SOFT, strokeDash=[4, 3]).encode(x=x)
    return alt.layer(nothing, bars, figures, labels, width=WIDTH - 15, height=alt.Step(38))
