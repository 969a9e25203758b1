"""One column of the real and of the synthetic table in one picture. NOT PRIVATE: the real shares are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.pictures.column_bars import is_even
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, ORANGE, STEPS, WIDTH

if TYPE_CHECKING:
    import altair

SIDES = ("real", "synthetic")
_LABELS = 136


def overlaid_categories(labels: Sequence[str], real: np.ndarray, synthetic: np.ndarray) -> altair.Chart:
    """A chart with two bars for each category.

    Args:
        labels: of the categories, in the order to be shown.
        real: float64 [n], their shares in the real table.
        synthetic: the same in the synthetic one.
    """
    import altair as alt

    names = distinct(labels, 19)
    rows = [
        {"label": name, "side": side, "share": float(share)}
        for name, *shares in zip(names, real, synthetic, strict=True)
        for side, share in zip(SIDES, shares, strict=True)
    ]
    # A tick each 40 pixels at most, and room for readers who have a wider font than the one that is measured here.
    shares = alt.Axis(format="~%", tickCount=3, labelOverlap=True, labelSeparation=8)
    axis = alt.Axis(labelLimit=_LABELS, minExtent=_LABELS, maxExtent=_LABELS, ticks=False, domain=False)
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(height={"band": 0.9})
        .encode(
            y=alt.Y("label:N", sort=None, title=None, axis=axis, scale=alt.Scale(paddingInner=0.3)),
            yOffset=alt.YOffset("side:N", sort=[*SIDES]),
            x=alt.X("share:Q", title="share of rows", axis=shares),
            color=_color(),
        )
        .properties(width=WIDTH - _LABELS - 24, height={"step": 10, "for": "offset"})
    )


def overlaid_histograms(
    lefts: np.ndarray,
    rights: np.ndarray,
    real: np.ndarray,
    synthetic: np.ndarray,
    *,
    unit: str = "",
    temporal: bool = False,
) -> altair.TopLevelMixin:
    """A chart of two histograms in outline: the area over a bin is its share, whatever its width.

    Args:
        lefts, rights: float64 [n], the ends of adjacent bins, in order; seconds since 1970-01-01 where `temporal`.
        real, synthetic: float64 [n], the share of rows in each bin.
        unit: the title of the axis.
        temporal: whether the axis is one of dates.
    """
    import altair as alt

    # Where bins are as wide as each other heights are shares; else areas are, and heights have no unit.
    widths, even = rights - lefts, is_even(lefts, rights)
    heights = np.stack([real, synthetic]) * (1.0 if even else widths.mean() / widths)
    factor = 1000.0 if temporal else 1.0
    rows = [
        {"x": float(edge) * factor, "h": float(height), "side": side}
        for side, line in zip(SIDES, heights, strict=True)
        for edge, height in zip([*lefts, rights[-1]], [*line, line[-1]], strict=True)
    ]
    kind, scale = ("T" if temporal else "Q"), alt.Scale(nice=False, zero=False, domain=[lefts[0], rights[-1]])
    if temporal:
        scale = alt.Scale(type="utc", nice=False)
    axis = alt.Axis(grid=False, tickCount=5, labelOverlap=True, labelFlush=True)
    x = alt.X(f"x:{kind}", title=unit or None, scale=scale, axis=axis)
    y_axis = alt.Axis(format="~%", tickCount=4) if even else alt.Axis(labels=False, ticks=False, tickCount=4)
    y = alt.Y("h:Q", title=None if even else "area = share", axis=y_axis)
    data = alt.Chart(alt.Data(values=rows))
    real_only = data.transform_filter(alt.FieldEqualPredicate(field="side", equal=SIDES[0]))
    area = real_only.mark_area(interpolate="step-after", color=STEPS[1], line=False).encode(x=x, y=y)
    lines = data.mark_line(interpolate="step-after", strokeWidth=1.8).encode(
        x=x, y=y, color=_color(), strokeDash=_dash()
    )
    return alt.layer(area, lines, width=WIDTH - 52, height=140)


def _color() -> altair.Color:
    import altair as alt

    return alt.Color("side:N", scale=alt.Scale(domain=[*SIDES], range=[ORANGE, BLUE]), title=None)


def _dash() -> altair.StrokeDash:
    """A second sign of which line is which, for those who can't tell the colors apart."""
    import altair as alt

    return alt.StrokeDash("side:N", scale=alt.Scale(domain=[*SIDES], range=[[1, 0], [5, 2]]), title=None)
