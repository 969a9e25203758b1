"""The section of a report that shows points in the plane: a map where the columns are coordinates."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.pictures.column_bars import share_text
from counterfoil.pictures.labels import short
from counterfoil.pictures.point_map import MOST_CIRCLES, point_map
from counterfoil.pictures.svg import render
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Figure, Section
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.values import numbers_of
from counterfoil.synthesis.point_synthesis import PointSynthesis

_LONGITUDE = re.compile(r"(?i)(?:^|[^a-z])(?:lon|lng|long|longitude)(?:$|[^a-z])|longitude$")
_LATITUDE = re.compile(r"(?i)(?:^|[^a-z])(?:lat|latitude)(?:$|[^a-z])|latitude$")


def points(facts: ReleaseFacts) -> Section | None:
    """The weighted points of a method of points, or the rows of a table with coordinates; None for other tables."""
    axes = _axes(facts)
    if axes is None:
        return None
    (x, y, weights), what = _coordinates(facts, axes)
    if not len(x):
        return None
    geographic = _is_geographic(axes, x, y)
    chart = point_map(x, y, weights, titles=(short(axes[0]), short(axes[1])), geographic=geographic)
    circles = len(x) <= MOST_CIRCLES
    caption = (
        "The larger a circle, the more weight its point has."
        if circles
        else "Squares of stronger color hold more; a step of color stands for at most 2.8 times the one before."
    )
    if geographic:
        caption += " A map: one kilometer is as long to the north as to the east."
    described = (
        f"{len(x):,} {what} by {short(axes[0], 60)} from {x.min():.5g} to {x.max():.5g} and {short(axes[1], 60)} from "
        f"{y.min():.5g} to {y.max():.5g}. Half of the weight lies within {_half(x, weights)} and {_half(y, weights)}."
    )
    title = f"{short(axes[0])} and {short(axes[1])}"
    svg = render(chart, title=title, description=described)
    heaviest = (
        f" The heaviest holds {share_text(float(weights.max()))}." if isinstance(facts.kept, PointSynthesis) else ""
    )
    drawn = not isinstance(facts.rows, pa.Table) and what == "synthetic rows"
    part = f" They are the first of {facts.count:,}." if drawn else ""
    lead = f"{len(x):,} {what}.{part}{heaviest} {_which(facts, axes)}"
    return Section("points", "Points", lead.strip(), (Figure(svg, title, caption, None, wide=True),))


def _which(facts: ReleaseFacts, axes: tuple[str, str]) -> str:
    space = _space_columns(facts)
    return f"Shown are the first two of {len(space)} coordinates." if len(space) > 2 and axes == space[:2] else ""


def _space_columns(facts: ReleaseFacts) -> tuple[str, ...]:
    """The columns that a method of points names as its coordinates."""
    parameters: Any = facts.receipt.document["method"]["parameters"]
    named = parameters.get("coordinates", ())
    texts = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
    return tuple(one for one in texts if one in facts.column_names)


def _axes(facts: ReleaseFacts) -> tuple[str, str] | None:
    """Columns that read as longitude and latitude; else the first two coordinates of a method of points."""
    names = facts.column_names
    longitudes, latitudes = ([name for name in names if form.search(name)] for form in (_LONGITUDE, _LATITUDE))
    if longitudes and latitudes and longitudes[0] != latitudes[0]:
        return longitudes[0], latitudes[0]
    space = _space_columns(facts)
    return (space[0], space[1]) if len(space) > 1 else None


def _coordinates(facts: ReleaseFacts, axes: tuple[str, str]) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], str]:
    """float64 [m] three times: the points and their weights, those without a number left out; and what they are."""
    kept = facts.kept if isinstance(facts.kept, PointSynthesis) else None
    table: pa.Table = facts.some_rows if kept is None else kept.support
    if not set(axes) <= set(table.column_names):
        kept, table = None, facts.some_rows
    x, y = (_numbers(facts, name, table.column(name)) for name in axes)
    weights = np.full(len(x), 1 / max(len(x), 1)) if kept is None else kept.weights
    known = np.isfinite(x) & np.isfinite(y)
    return (x[known], y[known], weights[known]), "synthetic rows" if kept is None else "weighted points"


def _numbers(facts: ReleaseFacts, name: str, values: pa.ChunkedArray) -> np.ndarray:
    """float64 [m]: as the schema reads the column; where there is none, with the decimal sign that reads any."""
    column = None if facts.schema is None else {one.name: one for one in facts.schema.synthesized}.get(name)
    if isinstance(column, NumberColumn):
        return column.parsed(values)
    plain = numbers_of(values)
    return plain if np.isfinite(plain).any() else numbers_of(values, decimal_char=",")  # no separators are written


def _is_geographic(axes: tuple[str, str], x: np.ndarray, y: np.ndarray) -> bool:
    degrees = bool(np.abs(x).max() <= 180 and np.abs(y).max() <= 90)
    return degrees and bool(_LONGITUDE.search(axes[0])) and bool(_LATITUDE.search(axes[1]))


def _half(values: np.ndarray, weights: np.ndarray) -> str:
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    low, high = (values[order][min(int(np.searchsorted(reached, share)), len(values) - 1)] for share in (0.25, 0.75))
    return f"{low:.5g} to {high:.5g}"
