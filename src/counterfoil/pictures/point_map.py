"""Weighted points in a plane: circles by their weight where they are few, squares of summed weight where many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.style import BLUE, STEPS, WIDTH

MOST_CIRCLES = 600
_SQUARES = 48
_SIDE = WIDTH + 90


def point_map(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray, *, titles: tuple[str, str], geographic: bool = False
) -> Drawing:
    """The measure in the plane.

    Args:
        x, y: float64 [m], finite.
        weights: float64 [m], their probabilities.
        titles: of the two axes.
        geographic: whether x and y are longitude and latitude in degrees: a degree of latitude is then drawn longer
            than one of longitude by 1 over the cosine of the middle latitude, as it is on the ground there.
    """
    spans = [max(float(np.ptp(axis)), 1e-9) for axis in (x, y)] if len(x) else [1.0, 1.0]
    height = float(_SIDE)
    if geographic and len(x):
        middle = math.radians(float(np.clip((y.min() + y.max()) / 2, -80, 80)))
        height = min(max(_SIDE * spans[1] / (spans[0] * math.cos(middle)), 140.0), 620.0)
    scale, axis = {"nice": not geographic, "zero": False}, {"labelFlush": True}
    places: dict[str, Any] = {
        name: {"field": name, "type": "quantitative", "title": title, "scale": scale, "axis": axis}
        for name, title in zip("xy", titles, strict=True)
    }
    mark: dict[str, Any]
    if len(x) <= MOST_CIRCLES:
        columns = (x.tolist(), y.tolist(), weights.tolist())
        records = [{"x": a, "y": b, "w": w} for a, b, w in zip(*columns, strict=True) if w > 0]
        mark = {"type": "circle", "color": BLUE, "opacity": 0.55}
        areas = {"range": [0, 260], "zero": True}
        places["size"] = {"field": "w", "type": "quantitative", "legend": None, "scale": areas}
    else:
        records, mark = summed_squares(x, y, weights), {"type": "rect", "stroke": None}
        colors = {"domain": [str(step) for step in range(1, 6)], "range": list(STEPS[1:])}
        places["color"] = {"field": "step", "type": "nominal", "legend": None, "scale": colors}
        places |= {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    size = {"width": _SIDE, "height": round(height)}
    return Drawing({"data": {"values": records}, "mark": mark, "encoding": places, **size})


def summed_squares(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> list[dict[str, Any]]:
    """The weight in each square of a grid, in five steps of 2**1.5, the last with the most."""
    totals, rights, tops = np.histogram2d(x, y, bins=_SQUARES, weights=weights)
    most = totals.max(initial=0.0)
    records = []
    for i, j in np.argwhere(totals > 0).tolist():
        step = 5 - min(int(math.log2(most / totals[i, j]) / 1.5), 4)
        ends = {"x": rights[i], "x2": rights[i + 1], "y": tops[j], "y2": tops[j + 1]}
        records.append({name: float(end) for name, end in ends.items()} | {"step": str(step)})
    return records
