"""The bounds of bought numbers and days, and how many cells may lie beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterfoil.discovery.bought_facts import Facts
from counterfoil.schema.discovered import DiscoveredColumn, percent
from counterfoil.schema.integer import EXACT

_FAR = "bought: numbers farther from 0 are not distinguished, and count as it. Where there are some, list them as texts"


def kept_bounds(given: Mapping[str, Any], low: Any, high: Any, *, least: Any) -> tuple[Any, Any]:
    """Bounds of which a stated one stays, and the other gives way where they would be out of order."""
    if "lower" in given:
        low = given["lower"]
        high = max(high, low + least)
    elif "upper" in given:
        high = given["upper"]
        low = min(low, high - least)
    return low, high


def bounds_facts(column: DiscoveredColumn, low: Any, high: Any) -> Facts:
    """Both bounds, each with how many rows may lie beyond."""
    if column.beyond is not None:
        most = max(min(column.beyond, column.records), 1)
        why = f"bought, rounded outwards: up to {most:,.0f} rows may lie beyond the two bounds and count as them"
        return {"lower": (low, why), "upper": (high, why)}
    outside = column.outside or (None, None)
    below, above = (_tail(*side, max(column.records, 1)) for side in zip(column.tails, outside, strict=True))
    sides = {"lower": (low, f"{below} below"), "upper": (high, f"{above} above")}
    return {key: (bound, _why(bound, lie)) for key, (bound, lie) in sides.items()}


def _why(bound: Any, lie: str) -> str:
    if isinstance(bound, int | float) and abs(bound) >= EXACT:
        return _FAR
    return f"bought, rounded outwards: {lie} and count as it"


def _tail(share: float, most: float | None, records: int) -> str:
    """How many lie beyond a bound, in words: noise may hide each part of a long tail, and not all of it."""
    if share > 0:
        return f"about {percent(min(share, 1.0))} lie"
    if most is None:
        return "few or none surely lie"
    most = max(min(most, records), 1)
    return f"up to {most:,.0f} rows ({percent(most / records)}) may lie"


NEGATIVES = "negative ones"

_FEW = 0.001
"""A share of the cells: where noise hides fewer negative numbers nothing is said of them."""


def about_negatives(column: DiscoveredColumn) -> str:
    """How many negative numbers, such as refunds among amounts, nobody would have seen."""
    if column.negatives is None or column.negatives <= _FEW * column.records:
        return ""
    most = min(column.negatives, max(column.records, 1))
    share = percent(most / max(column.records, 1))
    return f"; up to {most:,.0f} {NEGATIVES} ({share}) would not have shown"
