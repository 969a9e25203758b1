"""One column: bars of the shares of its categories, or a histogram in its own unit, with error bars where known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, COLORS, INK, SOFT, WIDTH

_LABELS, _VALUES = 136, 46
_ROW = 20
HEIGHT = 150
_GAPS = 45.0
FINEST = 300.0
"""Bins can't be drawn as wide as they are where all together are so many times wider than the narrowest."""
_WHOLE_TICKS = 10.0
"""An axis as long as this has ticks at whole numbers."""


def category_bars(
    labels: Sequence[str], shares: np.ndarray, lower: np.ndarray | None = None, upper: np.ndarray | None = None
) -> Drawing:
    """A bar for each category, the label to its left and its share to its right; lines for intervals.

    Args:
        labels: of the categories, in the order from top to bottom.
        shares: float64 [n], in [0, 1].
        lower, upper: float64 [n], the ends of an interval for each share; NaN where nothing is known.
    """
    records = _records(shares, lower, upper)
    for record, label in zip(records, distinct(labels, 19), strict=True):
        record |= {"label": label, "says": share_text(record["share"]), "end": max(record["share"], record["high"])}
    most = max([record["end"] for record in records], default=0.0) or 1.0
    axis = {"domain": False, "ticks": False, "labelPadding": 4, "minExtent": _LABELS, "maxExtent": _LABELS}
    share = {"field": "share", "type": "quantitative", "axis": None, "scale": {"domain": [0, most], "nice": False}}
    values = {"type": "text", "align": "left", "dx": 5, "color": SOFT, "fontSize": 10}
    layers = [
        {"mark": {"type": "bar", "color": BLUE, "size": 12}, "encoding": {"x": share}},
        *(_category_whiskers() if any(record["known"] for record in records) else []),
        {"mark": values, "encoding": {"x": _plain("end"), "text": {"field": "says", "type": "nominal"}}},
    ]
    y = {"field": "label", "type": "nominal", "sort": None, "title": None, "axis": axis}
    size = {"width": WIDTH - _LABELS - _VALUES - 12, "height": _ROW * max(len(records), 1)}
    return Drawing({"data": {"values": records}, "encoding": {"y": y}, "layer": layers, **size})


def _category_whiskers() -> list[dict[str, Any]]:
    line = {"type": "rule", "color": INK, "strokeWidth": 1.2}
    tick = {"type": "tick", "color": INK, "size": 7, "thickness": 1.2, "orient": "vertical"}
    ends = [{"mark": tick, "encoding": {"x": _plain(end)}} for end in ("low", "high")]
    lines = [{"mark": line, "encoding": {"x": _plain("low"), "x2": {"field": "high"}}}, *ends]
    return [{"transform": [{"filter": "datum.known"}], **layer} for layer in lines]


def _plain(field: str) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "axis": None}


def time_axis(first: float, last: float) -> dict[str, Any]:
    """The axis of an interval of time, in seconds since 1970-01-01. That of times of day, which are those of
    1900-01-01, says no day."""
    clock = first >= _FIRST_OF_CLOCKS and last <= _FIRST_OF_CLOCKS + _DAY
    return flush_axis(0.0) | ({"format": "%H:%M"} if clock else {})


_DAY = 86_400.0
_FIRST_OF_CLOCKS = -25_567 * _DAY


def flush_axis(most: float) -> dict[str, Any]:
    """An axis whose outer labels stay within the picture.

    Args:
        most: its largest number; 0 for times. Labels are thinned out before the last is moved inwards by half its
            width, which must not lead into the one before it.
    """
    moved = 3 * len(f"{most:,.0f}") if most >= 1000 else 0
    return {"grid": False, "tickCount": 5, "labelOverlap": True, "labelFlush": True, "labelSeparation": 6 + moved}


def histogram(
    lefts: np.ndarray,
    rights: np.ndarray,
    shares: np.ndarray,
    lower: np.ndarray | None = None,
    upper: np.ndarray | None = None,
    *,
    unit: str = "",
    temporal: bool = False,
) -> Drawing:
    """A bar for each bin, as wide as the bin; where widths differ, its area is its share.

    Args:
        lefts, rights: float64 [n], the ends of each bin, in order; seconds since 1970-01-01 where `temporal`.
        shares: float64 [n], in [0, 1].
        lower, upper: float64 [n], the ends of an interval for each share; NaN where nothing is known.
        unit: the title of the axis.
        temporal: whether the axis is one of dates.
    """
    widths = rights - lefts
    even = is_even(lefts, rights)
    heights = np.ones(len(widths)) if even else widths.mean() / widths
    records = _records(shares, lower, upper, heights)
    factor = 1000.0 if temporal else 1.0
    for record, left, right in zip(records, (lefts * factor).tolist(), (rights * factor).tolist(), strict=True):
        record |= {"left": left, "right": right, "middle": (left + right) / 2, "zero": 0}
    kind = "temporal" if temporal else "quantitative"
    first, last = (float(lefts[0]), float(rights[-1])) if len(rights) else (0.0, 0.0)
    axis = time_axis(first, last) if temporal else flush_axis(last)
    if not temporal and len(rights) and are_of_four_digits(first, last):
        axis |= {"format": "d"}
    across = {
        "axis": axis,
        "scale": {"type": "utc", "nice": False} if temporal else {"nice": False, "zero": False},
        "title": unit or None,
    }
    ticks = {"format": _percent(records)} if even else {"labels": False, "ticks": False}
    upwards = {"axis": {**ticks, "tickCount": 4}, "scale": {"nice": True}, "title": None if even else "area = share"}
    # Narrow bars stand side by side without a gap, which would be as wide as they are.
    wide = len(widths) > 0 and bool(widths.sum() <= _GAPS * widths.min())
    edge = {"stroke": COLORS["ground"].light, "strokeWidth": 0.5} if wide else {}
    bars = {
        "x": {"field": "left", "type": kind, **across},
        "x2": {"field": "right"},
        "y": {"field": "share", "type": "quantitative", **upwards},
        "y2": {"field": "zero"},
    }
    layers: list[dict[str, Any]] = [{"mark": {"type": "rect", "color": BLUE, **edge}, "encoding": bars}]
    if any(record["known"] for record in records):
        line = {
            "x": {"field": "middle", "type": kind},
            "y": {"field": "low", "type": "quantitative"},
            "y2": {"field": "high"},
        }
        mark = {"type": "rule", "color": INK, "strokeWidth": 1}
        layers.append({"transform": [{"filter": "datum.known"}], "mark": mark, "encoding": line})
    return Drawing({"data": {"values": records}, "layer": layers, "width": WIDTH - 52, "height": HEIGHT})


def are_of_four_digits(lower: float, upper: float) -> bool:
    """Whether numbers from one to the other may be years, which nobody writes as 1,984; some are whole."""
    return bool(lower >= 1000 and upper < 10_000 and upper - lower >= _WHOLE_TICKS)


def is_even(lefts: np.ndarray, rights: np.ndarray) -> bool:
    """Whether all bins are as wide as each other, to a tenth: months and years count as even."""
    widths = rights - lefts
    return not len(widths) or bool(widths.max() <= widths.min() * 1.15)


def is_drawable(lefts: np.ndarray, rights: np.ndarray) -> bool:
    """Whether all bins can be seen, about a pixel wide at least, when they are drawn as wide as they are."""
    widths = rights - lefts
    return not len(widths) or bool(widths.sum() <= FINEST * widths.min())


def share_text(share: float) -> str:
    """A share as a percentage that says no more than can be seen."""
    if 0 < share < 0.0005:
        return "<0.05%"
    return f"{share:.1%}" if share < 0.9995 else "100%"


def _records(
    shares: np.ndarray, lower: np.ndarray | None, upper: np.ndarray | None, heights: np.ndarray | None = None
) -> list[dict[str, Any]]:
    times = np.ones(len(shares)) if heights is None else heights
    none = np.full(len(shares), np.nan)
    low, high = (none if ends is None else ends for ends in (lower, upper))
    known = np.isfinite(low) & np.isfinite(high)
    low, high = (np.where(known, np.clip(ends, 0, 1), 0.0) for ends in (low, high))
    columns = (shares * times, low * times, high * times, known)
    return [
        {"share": float(share), "low": float(left), "high": float(right), "known": bool(is_known)}
        for share, left, right, is_known in zip(*columns, strict=True)
    ]


def _percent(records: list[dict[str, Any]]) -> str:
    most = max([max(record["share"], record["high"]) for record in records], default=1.0)
    return ".0%" if most >= 0.04 else ".1%" if most >= 0.004 else ".2%"
