"""The same models, trained on real and on synthetic rows, side by side. NOT PRIVATE: the scores are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from counterfoil.pictures.labels import distinct
from counterfoil.pictures.style import BLUE, COLORS, GRAY, INK, ORANGE, WIDTH

if TYPE_CHECKING:
    import altair


def scores_side_by_side(
    models: Sequence[tuple[str, float, float]], *, guess: float, measure: str
) -> altair.TopLevelMixin:
    """A chart with two dots a model: trained on real rows, and on synthetic ones; they are joined by a line.

    Args:
        models: the name of each, its score after real rows, and after synthetic ones, both in [0, 1].
        guess: the score of guessing without a model, a dashed line.
        measure: what the score is, such as "accuracy".
    """
    import altair as alt

    names = distinct([name for name, _, _ in models], 34)
    dots = [
        {"model": name, "score": score, "trained": trained}
        for name, (_, real, synthetic) in zip(names, models, strict=True)
        for trained, score in (("on real rows", real), ("on synthetic rows", synthetic))
    ]
    lines = [{"model": name, "from": a, "to": b} for name, (_, a, b) in zip(names, models, strict=True)]
    least = min(guess, *(min(scores) for _, *scores in models))
    most = max(guess, *(max(scores) for _, *scores in models))
    scale = alt.Scale(domain=[max(0.0, least - 0.05), min(1.0, most + 0.05)], nice=True, zero=False)
    y = alt.Y("model:N", sort=names, axis=None, scale=alt.Scale(padding=0))
    x = alt.X("score:Q", title=measure, scale=scale)
    colors = alt.Scale(domain=["on real rows", "on synthetic rows"], range=[ORANGE, BLUE])
    shapes = alt.Scale(domain=["on real rows", "on synthetic rows"], range=["diamond", "circle"])
    marks = (
        alt.Chart(alt.Data(values=dots))
        .mark_point(filled=True, size=70, opacity=1, yOffset=8)
        .encode(
            y=y,
            x=x,
            color=alt.Color("trained:N", scale=colors, title=None),
            shape=alt.Shape("trained:N", scale=shapes, title=None),
        )
    )
    bars = (
        alt.Chart(alt.Data(values=lines))
        .mark_rule(color=INK, strokeWidth=1, yOffset=8)
        .encode(y=y, x=alt.X("from:Q"), x2="to:Q")
    )
    # A name may lie on the dashed line: behind it, the same in the color of the ground, wider.
    behind: dict[str, Any] = {"stroke": COLORS["ground"].light, "strokeWidth": 4}
    named = alt.Chart(alt.Data(values=lines)).encode(y=y, x=alt.value(0), text="model:N")
    labels = [named.mark_text(align="left", yOffset=-8, color=INK, **look) for look in (behind, {})]
    rule = alt.Chart(alt.Data(values=[{"score": guess}])).mark_rule(color=GRAY, strokeDash=[4, 3]).encode(x="score:Q")
    return alt.layer(rule, bars, marks, *labels, width=WIDTH - 25, height=alt.Step(38))
