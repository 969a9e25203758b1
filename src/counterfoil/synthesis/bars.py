"""Which bars a picture of a column has: its categories, or bins in its own unit, neighbors together where many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.pictures.column_bars import FINEST, is_drawable
from counterfoil.schema.column import Column
from counterfoil.schema.zone import SECONDS_PER_DAY

MOST_CATEGORIES = 20
MOST_BINS = 100
_FEW = 8
"""Whole numbers of which there are so few are shown as categories."""


class Intervals(Protocol):
    """What is known of the real shares of a column's codes."""

    def intervals(self, sets: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """float64 [sets] twice: the ends of an interval for the share of each set of codes; NaN for unknown ones."""
        ...


@dataclass(frozen=True, eq=False)
class Bars:
    """What is drawn of a column.

    Args:
        labels: of the bars.
        shares: float64 [n], of the synthetic rows or of the weighted points.
        lower, upper: float64 [n], error bars by the noisy counts; NaN where there are none.
        ends: float64 [2, n], where each bar begins and ends in the column's unit, seconds for dates and times; None for
            categories.
        temporal: whether the unit is time.
        sets: the codes that each bar stands for.
    """

    labels: tuple[str, ...]
    shares: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    ends: np.ndarray | None = None
    temporal: bool = False
    sets: tuple[np.ndarray, ...] = ()


def bars_of(column: Column, shares: np.ndarray, noisy: Intervals | None = None) -> tuple[Bars, Bars | None]:
    """What is drawn of a column, and the single numbers that are drawn apart.

    Args:
        column: its public facts.
        shares: float64 [codes].
        noisy: what is known of the real shares.
    """
    numeric = column.kind in ("integer", "real", "date", "datetime")
    if numeric and (column.kind != "integer" or column.n_bins > _FEW) and column.n_bins > 2:
        return _histogram(column, shares, noisy)
    return _categories(column, shares, noisy), None


def _categories(column: Column, shares: np.ndarray, noisy: Intervals | None) -> Bars:
    """Categories in their order; of many, the largest, and all others as one."""
    codes = np.arange(column.size)
    rest = codes[:0]
    if column.size > MOST_CATEGORIES + 1:
        order = np.argsort(-shares, kind="stable")
        codes, rest = order[:MOST_CATEGORIES], order[MOST_CATEGORIES:]
    elif not column.is_ordered:
        codes = np.argsort(-shares, kind="stable")
    sets = [np.array([code]) for code in codes]
    labels = [column.labels[code] for code in codes]
    if len(rest):
        sets.append(rest)
        labels.append(f"{len(rest):,} others")
    return _bars(labels, sets, shares, noisy)


def _histogram(column: Column, shares: np.ndarray, noisy: Intervals | None) -> tuple[Bars, Bars | None]:
    """Bins in the order of their numbers, neighbors together where there are many; single numbers among them apart."""
    lows, highs = (ends[: column.n_bins] for ends in column.ranges)
    single = (lows == highs) if column.kind == "real" else np.zeros(len(lows), dtype=bool)
    bins = np.flatnonzero(~single) if not single.all() else np.arange(len(lows))
    bins = bins[np.argsort(lows[bins], kind="stable")]
    together = _together(len(bins), MOST_BINS)
    sets = [bins[start : start + together] for start in range(0, len(bins), together)]
    ends = _ends(column, lows, highs, sets)
    if column.kind in ("date", "datetime") and not is_drawable(*ends):
        # The first and the last day are bins of their own, where clamped ones lie, and so are days that rules name.
        sets = _wide_enough(sets, ends)
        ends = _ends(column, lows, highs, sets)
    if not is_drawable(*ends):
        return _rows(column, shares, noisy), None
    labels = [_label(column, codes) for codes in sets]
    bars = _bars(labels, sets, shares, noisy, ends, temporal=column.kind in ("date", "datetime"))
    points = np.flatnonzero(single) if not single.all() else bins[:0]
    if not len(points):
        return bars, None
    chosen = points[np.argsort(-shares[points], kind="stable")][:MOST_CATEGORIES]
    alone = [np.array([code]) for code in sorted(chosen, key=lambda code: lows[code])]
    return bars, _bars([_label(column, codes) for codes in alone], alone, shares, noisy)


def _wide_enough(sets: Sequence[np.ndarray], ends: np.ndarray) -> list[np.ndarray]:
    """The bins, narrow ones joined to those after them, the last to the one before.

    Narrow is less than half as wide as most, so that noise alone would fill the picture, or too narrow to be seen.
    """
    lefts, rights = ends
    least = max(float((rights - lefts).sum()) / FINEST, float(np.median(rights - lefts)) / 2)
    joined: list[np.ndarray] = []
    left = float(lefts[0])
    waiting: list[np.ndarray] = []
    for codes, right in zip(sets, rights.tolist(), strict=True):
        waiting.append(codes)
        if right - left >= least:
            joined.append(np.concatenate(waiting))
            left, waiting = right, []
    if waiting:
        joined[-1:] = [np.concatenate([*joined[-1:], *waiting])]
    return joined


def _together(count: int, most: int) -> int:
    """How many neighbors make one bar: the fewest, or up to twice as many where no smaller bar is left at the end."""
    least = max(-(-count // most), 1)
    return next((size for size in range(least, 2 * least + 1) if count % size == 0), least)


def _rows(column: Column, shares: np.ndarray, noisy: Intervals | None) -> Bars:
    """Bins that differ too much in width to be drawn to scale, one below the other, from the least to the greatest."""
    bins = np.argsort(column.ranges[0][: column.n_bins], kind="stable")
    together = _together(len(bins), MOST_CATEGORIES + 4)
    sets = [bins[start : start + together] for start in range(0, len(bins), together)]
    if column.missing_code is not None:
        sets.append(np.array([column.missing_code]))
    return _bars([_label(column, codes) for codes in sets], sets, shares, noisy)


def _ends(column: Column, lows: np.ndarray, highs: np.ndarray, sets: Sequence[np.ndarray]) -> np.ndarray:
    """Bins touch: whole numbers reach half a step to each side, days and seconds to the beginning of the next."""
    starts, stops = (np.array([ends[codes[place]] for codes in sets]) for ends, place in ((lows, 0), (highs, -1)))
    if column.kind in ("date", "datetime"):
        seconds = float(SECONDS_PER_DAY) if column.kind == "date" else 1.0
        return np.stack([starts, stops + 1]) * seconds
    gaps = starts[1:] - stops[:-1]
    half = 0.5 * float(gaps.min()) if column.kind == "integer" and len(gaps) else 0.0
    borders = (starts[1:] + stops[:-1]) / 2
    return np.stack([np.append(starts[0] - half, borders), np.append(borders, stops[-1] + half)])


def _label(column: Column, codes: np.ndarray) -> str:
    first, last = column.labels[codes[0]], column.labels[codes[-1]]
    if len(codes) == 1:
        return first
    if column.kind == "real":
        lows, highs = column.ranges
        return f"{lows[codes[0]]:.6g} to {highs[codes[-1]]:.6g}"
    return f"{first.partition('..')[0]}..{last.rpartition('..')[2]}"


def _bars(
    labels: Sequence[str],
    sets: Sequence[np.ndarray],
    shares: np.ndarray,
    noisy: Intervals | None,
    ends: np.ndarray | None = None,
    *,
    temporal: bool = False,
) -> Bars:
    heights = np.array([float(shares[codes].sum()) for codes in sets])
    none = np.full(len(sets), np.nan)
    lower, upper = (none, none) if noisy is None else noisy.intervals(sets)
    return Bars(tuple(labels), heights, lower, upper, ends, temporal, tuple(sets))
