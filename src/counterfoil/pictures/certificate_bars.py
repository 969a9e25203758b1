"""Certificates as bars against what holds for any two tables, which says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.named_bars import named_bars
from counterfoil.pictures.style import BLUE, GRAY, SOFT


def bounds_against_nothing(bounds: Sequence[tuple[str, float, float]]) -> Drawing:
    """A chart with a bar for each bound, as a share of the one that says nothing; short bars say much.

    Args:
        bounds: what each is from, its value, and the value that holds for any two tables.
    """
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
    line = {"type": "rule", "color": SOFT, "strokeDash": [4, 3]}
    return named_bars(rows, end=1.32, behind=[{"data": {"values": [{"share": 1.0}]}, "mark": line}])
