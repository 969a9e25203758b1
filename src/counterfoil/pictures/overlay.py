"""One column of the real and of the synthetic table in one picture. NOT PRIVATE: the real shares are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil.pictures.column_bars import flush_axis, is_even, time_axis
from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, ORANGE, STEPS, WIDTH

SIDES = ("real", "synthetic")
_LABELS = 136


def overlaid_categories(labels: Sequence[str], real: np.ndarray, synthetic: np.ndarray) -> Drawing:
    """A chart with two bars for each category.

    Args:
        labels: of the categories, in the order to be shown.
        real: float64 [n], their shares in the real table.
        synthetic: the same in the synthetic one.
    """
    names = distinct(labels, 19)
    rows = [
        {"label": name, "side": side, "share": float(share)}
        for name, *shares in zip(names, real, synthetic, strict=True)
        for side, share in zip(SIDES, shares, strict=True)
    ]
    # A tick each 40 pixels at most, and room for readers who have a wider font than the one that is measured here.
    shares = {"format": "~%", "tickCount": 3, "labelOverlap": True, "labelSeparation": 8}
    extent = {"labelLimit": _LABELS, "minExtent": _LABELS, "maxExtent": _LABELS}
    axis = {**extent, "ticks": False, "domain": False}
    label = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}
    encoding = {
        "y": {**label, "scale": {"paddingInner": 0.3}},
        "yOffset": {"field": "side", "type": "nominal", "sort": [*SIDES]},
        "x": {"field": "share", "type": "quantitative", "title": "share of rows", "axis": shares},
        "color": _side([ORANGE, BLUE]),
    }
    size = {"width": WIDTH - _LABELS - 24, "height": {"step": 10, "for": "offset"}}
    mark = {"type": "bar", "height": {"band": 0.9}}
    return Drawing({"data": {"values": rows}, "mark": mark, "encoding": encoding, **size})


def overlaid_histograms(
    lefts: np.ndarray,
    rights: np.ndarray,
    real: np.ndarray,
    synthetic: np.ndarray,
    *,
    unit: str = "",
    temporal: bool = False,
) -> Drawing:
    """A chart of two histograms in outline: the area over a bin is its share, whatever its width.

    Args:
        lefts, rights: float64 [n], the ends of adjacent bins, in order; seconds since 1970-01-01 where `temporal`.
        real, synthetic: float64 [n], the share of rows in each bin.
        unit: the title of the axis.
        temporal: whether the axis is one of dates.
    """
    # Where bins are as wide as each other heights are shares; else areas are, and heights have no unit.
    widths, even = rights - lefts, is_even(lefts, rights)
    heights = np.stack([real, synthetic]) * (1.0 if even else widths.mean() / widths)
    factor = 1000.0 if temporal else 1.0
    rows = [
        {"x": float(edge) * factor, "h": float(height), "side": side}
        for side, line in zip(SIDES, heights, strict=True)
        for edge, height in zip([*lefts, rights[-1]], [*line, line[-1]], strict=True)
    ]
    scale = {"nice": False, "zero": False, "domain": [float(lefts[0]), float(rights[-1])]}
    x = {
        "field": "x",
        "type": "temporal" if temporal else "quantitative",
        "title": unit or None,
        "scale": {"type": "utc", "nice": False} if temporal else scale,
        "axis": time_axis(float(lefts[0]), float(rights[-1])) if temporal else flush_axis(float(rights[-1])),
    }
    y_axis = {"format": "~%", "tickCount": 4} if even else {"labels": False, "ticks": False, "tickCount": 4}
    y = {"field": "h", "type": "quantitative", "title": None if even else "area = share", "axis": y_axis}
    steps = {"interpolate": "step-after"}
    # A second sign of which line is which, for those who can't tell the colors apart.
    looks = {"color": _side([ORANGE, BLUE]), "strokeDash": _side([[1, 0], [5, 2]])}
    layers = [
        {
            "transform": [{"filter": {"field": "side", "equal": SIDES[0]}}],
            "mark": {"type": "area", **steps, "color": STEPS[1], "line": False},
            "encoding": {"x": x, "y": y},
        },
        {"mark": {"type": "line", **steps, "strokeWidth": 1.8}, "encoding": {"x": x, "y": y, **looks}},
    ]
    return Drawing({"data": {"values": rows}, "layer": layers, "width": WIDTH - 52, "height": 140})


def _side(looks: Sequence[Any]) -> dict[str, Any]:
    """What says which of the two tables a mark is of."""
    return {"field": "side", "type": "nominal", "title": None, "scale": {"domain": [*SIDES], "range": [*looks]}}
