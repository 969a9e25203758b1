"""All pairs of columns as a triangle of cells, numbered at its sides, so that fifty columns can be read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import SOFT, STEPS


def pair_matrix(
    names: Sequence[str], values: np.ndarray, limits: Sequence[float], marked: np.ndarray | None = None
) -> Drawing:
    """A cell for each pair, stronger in color where its value is larger; a cross where it is NaN.

    Rows are numbered and named, columns have the same numbers: no name stands on its side. What the colors say is not
    in it, but stands beside it, where it breaks into lines while the picture scrolls: `step_words` has the words.

    Args:
        names: of the n columns.
        values: float64 [n, n], of which the part below the diagonal is shown.
        limits: five rising numbers that part the six steps of color.
        marked: bool [n, n], pairs that get a dot; None for none.
    """
    count = len(names)
    cell = 22 if count <= 16 else 16 if count <= 30 else 13
    labels = distinct([f"{number} {name}" for number, name in enumerate(names, 1)], 24)
    records = matrix_records(values, limits, marked)
    for record in records:
        record |= {"row": labels[record["i"]], "column": str(record["j"] + 1)}
    kinds = {(record["known"], record["marked"], record["dark"]) for record in records}
    layers = [_cells(step_words(limits))]
    if any(not known for known, _, _ in kinds):
        cross = {"type": "point", "shape": "cross", "size": cell * 1.2, "color": SOFT, "filled": True}
        layers.append({"transform": [{"filter": "!datum.known"}], "mark": cross})
    for dark, color in ((False, STEPS[5]), (True, STEPS[0])):
        if any(is_marked and is_dark == dark for _, is_marked, is_dark in kinds):
            chosen = f"datum.marked && {'' if dark else '!'}datum.dark"
            dot = {"type": "point", "shape": "circle", "filled": True, "opacity": 1, "size": cell * 1.4, "color": color}
            layers.append({"transform": [{"filter": chosen}], "mark": dot})
    size = {"width": cell * count, "height": cell * count, "padding": {"left": 4, "top": 4, "bottom": 4, "right": 24}}
    return Drawing({"data": {"values": records}, "encoding": _places(labels, cell), "layer": layers, **size})


def _cells(words: Sequence[str]) -> dict[str, Any]:
    """The cells of known pairs in the colors of their steps."""
    scale = {"domain": list(words), "range": list(STEPS)}
    color = {"field": "words", "type": "nominal", "scale": scale, "legend": None}
    mark = {"type": "rect", "stroke": None}
    return {"transform": [{"filter": "datum.known"}], "mark": mark, "encoding": {"color": color}}


def _places(labels: Sequence[str], cell: int) -> dict[str, Any]:
    """Named rows and numbered columns."""
    bare = {"domain": False, "ticks": False, "labelOverlap": False}
    # Readers may have a wider font than the one that is measured here: labels get room for it.
    extent = 7 * max(map(len, labels), default=0) + 6
    rows = {**bare, "labelPadding": 4, "minExtent": extent, "labelFontSize": 11 if cell > 13 else 10}
    numbers = [str(number) for number in range(1, len(labels) + 1)]
    # Where cells are narrower than their numbers, only some are written.
    each = 1 if cell > 13 else 2 if len(labels) < 100 else 5
    said = f"(+datum.value - 1) % {each} ? '' : datum.label"
    columns = {**bare, "labelAngle": 0, "labelFontSize": 10 if cell > 13 else 9, "labelExpr": said}
    plain = {"type": "nominal", "sort": None, "title": None}
    return {
        "x": {"field": "column", **plain, "axis": columns, "scale": {"domain": numbers, "padding": 0}},
        "y": {"field": "row", **plain, "axis": rows, "scale": {"domain": list(labels), "padding": 0}},
    }


def matrix_records(values: np.ndarray, limits: Sequence[float], marked: np.ndarray | None) -> list[dict[str, Any]]:
    """A record for each pair below the diagonal: its place, the step of its value, and whether it is marked."""
    words = step_words(limits)
    records = []
    for i in range(len(values)):
        for j in range(i):
            known = bool(np.isfinite(values[i, j]))
            step = int(np.searchsorted(limits, values[i, j], side="right")) if known else 0
            is_marked = marked is not None and bool(marked[i, j])
            records.append(
                {"i": i, "j": j, "known": known, "words": words[step], "marked": is_marked, "dark": step >= 3}
            )
    return records


def step_words(limits: Sequence[float]) -> list[str]:
    """What each of the six colors stands for."""
    texts = [f"{limit:g}" for limit in limits]
    between = [f"{low} to {high}" for low, high in itertools.pairwise(texts)]
    return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]
