"""Bars with their names above them, so that long ones need no room beside them, and with their figures behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.style import INK, WIDTH

_NAME: dict[str, Any] = {"field": "name", "type": "nominal"}


def named_bars(rows: Sequence[dict[str, Any]], *, end: float, behind: Sequence[dict[str, Any]] = ()) -> Drawing:
    """A chart with a bar for each row.

    Args:
        rows: records of its `name`, distinct; its length `share`; the figure `says`; and its `color`.
        end: of the axis, which begins at 0.
        behind: layers that are drawn before the bars, on the same axis of `share`.
    """
    across = {"field": "share", "type": "quantitative", "axis": None, "scale": {"domain": [0, end], "nice": False}}
    order = [row["name"] for row in rows]
    down = {**_NAME, "sort": order, "axis": None, "scale": {"padding": 0}}
    color = {"field": "color", "type": "nominal", "scale": None}
    words = {"type": "text", "align": "left", "color": INK}
    layers = [
        {"mark": {"type": "bar", "height": 12, "yOffset": 9}, "encoding": {"x": across, "y": down, "color": color}},
        {
            "mark": {**words, "dx": 5, "yOffset": 9},
            "encoding": {"x": across, "y": down, "text": {"field": "says", "type": "nominal"}},
        },
        {"mark": {**words, "yOffset": -7}, "encoding": {"x": {"value": 0}, "y": down, "text": _NAME}},
    ]
    below = [{**layer, "encoding": {"x": across}} for layer in behind]
    size = {"width": WIDTH - 15, "height": {"step": 38}}
    return Drawing({"data": {"values": list(rows)}, "layer": [*below, *layers], **size})
