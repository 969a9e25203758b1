"""The bounds of bought numbers and days, and how many cells may lie beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterfoil.schema.bought_facts import Facts
from counterfoil.schema.discovered import DiscoveredColumn, percent


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
    below, above = (_tail(share) for share in column.tails)
    return {
        "lower": (low, f"bought, rounded outwards: {below} below and count as it"),
        "upper": (high, f"bought, rounded outwards: {above} above and count as it"),
    }


def _tail(share: float) -> str:
    """How many lie beyond a bound, in words: nobody knows of those that the noise hides."""
    return f"about {percent(min(share, 1.0))} lie" if share > 0 else "fewer than the noise hides lie"


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
