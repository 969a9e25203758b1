"""Which bars of a picture also hold what lies beyond the bounds of a number or a date."""

from __future__ import annotations

import re

import numpy as np

from counterfoil.pictures.labels import short
from counterfoil.schema.clamping import clamping_of
from counterfoil.schema.column import Column
from counterfoil.synthesis.bars import Bars


def beyond_bounds(column: Column, bars: Bars) -> str:
    """The sentence that says so; empty for a column without bounds, and where no bar holds one.

    Args:
        column: the public facts.
        bars: some of its bars, or all of them.
    """
    clamping = clamping_of(column)
    if clamping is None:
        return ""
    low, high = (_bar_of(bars, code) for code in clamping.codes)
    lower, upper = _as_on_axes(clamping.lower, clamping.upper)
    if low and low == high:
        return f"The {low} also holds values below {lower} and above {upper}."
    if low and high:
        return f"The {low} also holds values below {lower}, and the {high} those above {upper}."
    if low or high:
        beyond = f"below {lower}" if low else f"above {upper}"
        return f"The {low or high} also holds values {beyond}."
    return ""


def _as_on_axes(*bounds: str) -> list[str]:
    """Bounds as the axes of pictures spell numbers: thousands apart by commas, but for years."""
    if all(re.fullmatch(r"[1-9]\d{3}", bound) for bound in bounds):
        return [*bounds]
    return [re.sub(r"^-?\d{4,}(?=$|\.)", lambda found: f"{int(found[0]):,}", bound) for bound in bounds]


def _bar_of(bars: Bars, code: int) -> str:
    """What the bar of a code is called; empty where there is none."""
    place = next((place for place, codes in enumerate(bars.sets) if np.isin(code, codes)), None)
    if place is None:
        return ""
    ends = {len(bars.sets) - 1: "last bar", 0: "first bar"} if len(bars.sets) > 1 else {0: "bar"}
    return ends.get(place) or f"bar {short(bars.labels[place], 40)}"
