"""The same models, trained on real and on synthetic rows, side by side. NOT PRIVATE: the scores are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil.pictures.drawing import Drawing, layer
from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, COLORS, GRAY, INK, ORANGE, WIDTH

SIDES = ("on real rows", "on synthetic rows")


def scores_side_by_side(models: Sequence[tuple[str, float, float]], *, guess: float, measure: str) -> Drawing:
    """A chart with two dots a model: trained on real rows, and on synthetic ones; they are joined by a line.

    Args:
        models: the name of each, its score after real rows, and after synthetic ones, both in [0, 1].
        guess: the score of guessing without a model, a dashed line.
        measure: what the score is, such as "accuracy".
    """
    names = distinct([name for name, _, _ in models], 34)
    dots = [
        {"model": name, "score": score, "trained": trained}
        for name, (_, real, synthetic) in zip(names, models, strict=True)
        for trained, score in zip(SIDES, (real, synthetic), strict=True)
    ]
    lines = [{"model": name, "from": a, "to": b} for name, (_, a, b) in zip(names, models, strict=True)]
    least = min(guess, *(min(scores) for _, *scores in models))
    most = max(guess, *(max(scores) for _, *scores in models))
    scale = {"domain": [max(0.0, least - 0.05), min(1.0, most + 0.05)], "nice": True, "zero": False}
    y = {"field": "model", "type": "nominal", "sort": names, "axis": None, "scale": {"padding": 0}}
    x = {"type": "quantitative", "title": measure, "scale": scale}
    score = {**x, "field": "score"}
    looks = {"color": [ORANGE, BLUE], "shape": ["diamond", "circle"]}
    sides = {
        channel: {"field": "trained", "type": "nominal", "title": None, "scale": {"domain": [*SIDES], "range": of}}
        for channel, of in looks.items()
    }
    dot = {"type": "point", "filled": True, "size": 70, "opacity": 1, "yOffset": 8}
    # A name may lie on the dashed line: behind it, the same in the color of the ground, wider.
    behind: dict[str, Any] = {"stroke": COLORS["ground"].light, "strokeWidth": 4}
    words = {"type": "text", "align": "left", "yOffset": -8, "color": INK}
    named = {"y": y, "x": {"value": 0}, "text": {"field": "model", "type": "nominal"}}
    layers = [
        layer({"type": "rule", "color": GRAY, "strokeDash": [4, 3]}, [{"score": guess}], {"x": score}),
        layer(
            {"type": "rule", "color": INK, "strokeWidth": 1, "yOffset": 8},
            lines,
            {"y": y, "x": {**x, "field": "from"}, "x2": {"field": "to"}},
        ),
        layer(dot, dots, {"y": y, "x": score, **sides}),
        *(layer({**words, **look}, lines, named) for look in (behind, {})),
    ]
    return Drawing({"layer": layers, "width": WIDTH - 25, "height": {"step": 38}})
