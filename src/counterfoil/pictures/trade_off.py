"""The trade-off curve of a guarantee: how well anyone could tell whether a person was in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from counterfoil.pictures.style import BLUE, GRAY, INK, SOFT, STEPS, WIDTH

if TYPE_CHECKING:
    import altair


def trade_off_curve(
    false_alarms: np.ndarray, misses: np.ndarray, *, marked: tuple[float, float]
) -> altair.TopLevelMixin:
    """A chart of the fewest misses that are possible at each share of false alarms, below the line of pure guessing.

    Args:
        false_alarms: float64 [n], rising from 0 to 1.
        misses: float64 [n], the least share at each.
        marked: one point of the curve, drawn as a dot.
    """
    import altair as alt

    curve = alt.Data(values=[{"a": float(a), "m": float(m)} for a, m in zip(false_alarms, misses, strict=True)])
    chance = alt.Data(values=[{"a": 0, "m": 1}, {"a": 1, "m": 0}])
    dot = alt.Data(values=[{"a": marked[0], "m": marked[1]}])
    shares = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("a:Q", title="false alarms (said yes, wrongly)", scale=shares, axis=_axis())
    y = alt.Y("m:Q", title="misses (said no, wrongly)", scale=shares, axis=_axis())
    out_of_reach = alt.Chart(curve).mark_area(color=STEPS[1], line=False).encode(x=x, y=y)
    line = alt.Chart(curve).mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y)
    guess = alt.Chart(chance).mark_line(color=GRAY, strokeDash=[4, 3], strokeWidth=1.5).encode(x=x, y=y)
    point = alt.Chart(dot).mark_point(color=INK, fill=INK, filled=True, size=50, opacity=1).encode(x=x, y=y)
    words = (
        alt.Chart(alt.Data(values=[{"a": 0.53, "m": 0.53, "says": "guessing blindly"}]))
        .mark_text(align="left", baseline="bottom", color=SOFT)
        .encode(x=x, y=y, text="says:N")
    )
    reach = (
        alt.Chart(alt.Data(values=[{"a": 0.04, "m": 0.05, "says": "out of anyone's reach"}]))
        .mark_text(align="left", baseline="bottom", color=INK)
        .encode(x=x, y=y, text="says:N")
    )
    layers = [out_of_reach, guess, line, point, words]
    if float(np.interp(0.4, false_alarms, misses)) > 0.15:
        layers.append(reach)
    return alt.layer(*layers, width=WIDTH - 70, height=WIDTH - 90)


def _axis() -> altair.Axis:
    import altair as alt

    return alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
