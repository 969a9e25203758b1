"""A ledger as a picture: what its releases have reserved over time, what is left, and when records were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from counterfoil.pictures.drawing import Drawing, layer
from counterfoil.pictures.style import BLUE, INK, ORANGE, RED, SOFT, STEPS, WIDTH

MOST_STEPS = 400
"""More steps than this can't be told apart; of more, some are left out, the first and the last excepted."""

_HEIGHT = 190
_DAY = 86_400_000.0


def spent_over_time(
    times: Sequence[str],
    spent: Sequence[float],
    *,
    total: float,
    looks: Sequence[str] = (),
    highlighted: int | None = None,
) -> Drawing:
    """A chart of the epsilon that is spent, as steps below the line of the total.

    Args:
        times: when releases were opened, ISO 8601, in order; where a clock went back, a release stands at the latest
            moment before it, so that the sum never falls.
        spent: the sum of epsilons after each.
        total: the line that the steps never pass.
        looks: when records were looked at without privacy, ISO 8601: vertical lines in a color of their own.
        highlighted: the number of one release, from 0, which gets a ring.
    """
    opened = [*accumulate(map(_milliseconds, times), max)]
    kept = sorted({round(i * (len(times) - 1) / (MOST_STEPS - 1)) for i in range(MOST_STEPS)} if times else ())
    marked = [{"t": opened[i], "e": spent[i]} for i in kept]
    seen = [{"t": _milliseconds(look)} for look in looks]
    ends = _ends([dot["t"] for dot in (*marked, *seen)])
    steps = [{"t": ends[0], "e": 0.0}, *marked, {"t": ends[1], "e": spent[-1] if spent else 0.0}]
    axis = {"tickCount": 4, "labelOverlap": True, "grid": False}
    time = {"type": "utc", "domain": ends, "nice": False}
    x = {"field": "t", "type": "temporal", "title": None, "axis": axis, "scale": time}
    height = {"domain": [0, 1.12 * total], "nice": False}
    # Sums of releases of the same second are no parts of a larger one.
    y = {"field": "e", "type": "quantitative", "title": "epsilon", "scale": height, "axis": {"tickCount": 5}}
    unstacked = {**y, "stack": None}
    both = {"x": x, "y": unstacked}
    stepped = {"interpolate": "step-after"}
    dot = {"type": "point", "color": BLUE, "fill": BLUE, "filled": True, "size": 36, "opacity": 1}
    layers = [
        layer({"type": "area", **stepped, "color": STEPS[1], "line": False}, steps, both),
        layer({"type": "line", **stepped, "color": BLUE, "strokeWidth": 2}, steps, both),
        layer(dot, marked, both),
        *_limit(total, unstacked),
    ]
    if seen:
        rule = {"type": "rule", "color": RED, "strokeWidth": 1.5, "strokeDash": [3, 3]}
        layers.append(layer(rule, seen, {"x": x}))
    if highlighted is not None:
        ring = {"type": "point", "color": ORANGE, "size": 130, "strokeWidth": 2.5, "opacity": 1}
        here = {"t": opened[highlighted], "e": spent[highlighted]}
        layers.append(layer(ring, [here], both))
    return Drawing({"layer": layers, "width": WIDTH - 60, "height": _HEIGHT})


def _limit(total: float, y: dict[str, Any]) -> list[dict[str, Any]]:
    records = [{"e": total, "says": f"total {total:g}"}]
    words = {"type": "text", "align": "left", "baseline": "bottom", "dx": 2, "dy": -3, "color": SOFT}
    says = {"x": {"value": 0}, "y": y, "text": {"field": "says", "type": "nominal"}}
    return [
        layer({"type": "rule", "color": INK, "strokeWidth": 1.5}, records, {"y": y}),
        layer(words, records, says),
    ]


def _ends(moments: Sequence[float]) -> list[float]:
    """Of the axis of time, which ends where the last thing happened, but for the room of its mark.

    It has at least some days, so that a single release does not stand on an axis of seconds: they are those before.
    """
    first, last = min(moments, default=0.0), max(moments, default=0.0)
    span = max(last - first, 2 * _DAY)
    return [min(first, last - span) - 0.06 * span, last + 0.03 * span]


def _milliseconds(moment: str) -> float:
    """Since 1970 in UTC, which is what a moment without a zone is in."""
    parsed = datetime.fromisoformat(moment)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000
