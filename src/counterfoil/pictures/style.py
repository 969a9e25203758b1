"""One look for all pictures: colors that keep their contrast on light, dark and paper, and the settings of Vega-Lite.

A chart is drawn in the colors for a light ground. Each is known by a name, under which `svg.render` gives marks a
class, so that the style sheet of a page can paint them anew for a dark ground or for paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Color:
    """A color by its two readings, each in lower case as `#rrggbb`.

    Args:
        light: on a light ground, and on paper.
        dark: on a dark ground.
    """

    light: str
    dark: str


COLORS: Mapping[str, Color] = {
    "ground": Color("#fefefe", "#15191e"),
    "ink": Color("#1d232a", "#e9edf1"),
    "soft": Color("#57606a", "#a9b4bf"),
    "grid": Color("#d9dee3", "#39424c"),
    "blue": Color("#2a6fb0", "#63aeee"),
    "orange": Color("#b4560a", "#f5a356"),
    "green": Color("#14795a", "#53cda2"),
    "purple": Color("#84459b", "#cf9fe6"),
    "red": Color("#b3231b", "#ff8b80"),
    "gray": Color("#737c86", "#8d98a3"),
    "step0": Color("#eef2f6", "#20272f"),
    "step1": Color("#cfdeec", "#2b4257"),
    "step2": Color("#9fc1de", "#3a6387"),
    "step3": Color("#5f97c6", "#5187b6"),
    "step4": Color("#2c6aa4", "#7db5e4"),
    "step5": Color("#0e3c6b", "#cbe5fb"),
}
"""Text is `ink` and `soft`; `blue` is what was released, `orange` what it is compared with; `step0` to `step5` say how
much there is of something. Blue and orange differ for every kind of color vision."""

INK, SOFT, GRID = (COLORS[name].light for name in ("ink", "soft", "grid"))
BLUE, ORANGE, GREEN, PURPLE, RED, GRAY = (
    COLORS[name].light for name in ("blue", "orange", "green", "purple", "red", "gray")
)
STEPS = tuple(COLORS[f"step{step}"].light for step in range(6))

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

WIDTH = 330
"""Pixels that a picture in a column of a page takes, so that a telephone shows it without shrinking."""

_TITLES = {"titleFontSize": 11, "titleFontWeight": "normal"}
_AXIS = {
    "labelColor": SOFT,
    "titleColor": SOFT,
    "domainColor": GRID,
    "gridColor": GRID,
    "tickColor": GRID,
    "labelFontSize": 11,
    "tickCount": 5,
    "labelLimit": 200,
    **_TITLES,
}

CONFIG: Mapping[str, Any] = {
    "background": None,
    "font": "sans-serif",  # for measuring: texts are shown in the reader's own font
    "padding": 4,
    "view": {"stroke": None},
    "axis": _AXIS,
    "legend": {"labelColor": SOFT, "titleColor": SOFT, "labelFontSize": 11, "orient": "bottom"} | _TITLES,
    "title": {"color": INK, "fontSize": 13, "anchor": "start"},
    "text": {"color": INK, "fontSize": 11},
    "bar": {"color": BLUE},
    "line": {"color": BLUE},
    "rule": {"color": INK},
    "point": {"color": BLUE},
    "range": {"category": [BLUE, ORANGE, GREEN, PURPLE, RED, GRAY], "ordinal": list(STEPS)},
}
"""Vega-Lite's settings for every chart; what a chart states itself has precedence."""


def style_sheet() -> str:
    """CSS that gives each color its name as a custom property, and paints the marks of rendered pictures with it.

    Light is the rule; a reader who prefers dark gets that; print is light again.
    """
    light, dark = (
        "".join(f"--{name}:{getattr(color, ground)};" for name, color in COLORS.items()) for ground in ("light", "dark")
    )
    marks = "".join(f".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}" for name in COLORS)
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f"@media print{{:root{{color-scheme:light;{light}}}}}"
        f"{marks}"
    )
