"""The trade-off curve of a guarantee: how well anyone could tell whether a person was in."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil.pictures.drawing import Drawing, layer
from counterfoil.pictures.style import BLUE, GRAY, INK, SOFT, STEPS, WIDTH


def trade_off_curve(false_alarms: np.ndarray, misses: np.ndarray, *, marked: tuple[float, float]) -> Drawing:
    """A chart of the fewest misses that are possible at each share of false alarms, below the line of pure guessing.

    Args:
        false_alarms: float64 [n], rising from 0 to 1.
        misses: float64 [n], the least share at each.
        marked: one point of the curve, drawn as a dot.
    """
    curve = [(float(a), float(m)) for a, m in zip(false_alarms, misses, strict=True)]
    dot = {"type": "point", "color": INK, "fill": INK, "filled": True, "size": 50, "opacity": 1}
    layers = [
        _layer({"type": "area", "color": STEPS[1], "line": False}, curve),
        _layer({"type": "line", "color": GRAY, "strokeDash": [4, 3], "strokeWidth": 1.5}, [(0, 1), (1, 0)]),
        _layer({"type": "line", "color": BLUE, "strokeWidth": 2}, curve),
        _layer(dot, [marked]),
        _words("guessing blindly", (0.53, 0.53), SOFT),
    ]
    if float(np.interp(0.4, false_alarms, misses)) > 0.15:
        layers.append(_words("out of anyone's reach", (0.04, 0.05), INK))
    axis = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    share = {"type": "quantitative", "axis": axis, "scale": {"domain": [0, 1], "nice": False}}
    encoding = {
        "x": {"field": "a", "title": "false alarms (said yes, wrongly)", **share},
        "y": {"field": "m", "title": "misses (said no, wrongly)", **share},
    }
    return Drawing({"encoding": encoding, "layer": layers, "width": WIDTH - 70, "height": WIDTH - 90})


def _layer(mark: dict[str, Any], points: list[tuple[float, float]], **encoding: Any) -> dict[str, Any]:
    return layer(mark, [{"a": a, "m": m} for a, m in points], encoding)


def _words(says: str, place: tuple[float, float], color: str) -> dict[str, Any]:
    mark = {"type": "text", "align": "left", "baseline": "bottom", "color": color}
    return _layer(mark, [place], text={"value": says})
