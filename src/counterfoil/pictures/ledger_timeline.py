"""A ledger as a picture: what its releases have reserved over time, what is left, and when records were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from counterfoil.pictures.style import BLUE, INK, ORANGE, RED, SOFT, STEPS, WIDTH

if TYPE_CHECKING:
    import altair

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
) -> altair.TopLevelMixin:
    """A chart of the epsilon that is spent, as steps below the line of the total.

    Args:
        times: when releases were opened, ISO 8601, in order.
        spent: the sum of epsilons after each.
        total: the line that the steps never pass.
        looks: when records were looked at without privacy, ISO 8601: vertical lines in a color of their own.
        highlighted: the number of one release, from 0, which gets a ring.
    """
    import altair as alt

    kept = sorted({round(i * (len(times) - 1) / (MOST_STEPS - 1)) for i in range(MOST_STEPS)} if times else ())
    marked = [{"t": _milliseconds(times[i]), "e": spent[i]} for i in kept]
    seen = [{"t": _milliseconds(look)} for look in looks]
    ends = _ends([dot["t"] for dot in (*marked, *seen)])
    steps = [{"t": ends[0], "e": 0.0}, *marked, {"t": ends[1], "e": spent[-1] if spent else 0.0}]
    axis = alt.Axis(tickCount=4, labelOverlap=True, grid=False)
    x = alt.X("t:T", title=None, axis=axis, scale=alt.Scale(type="utc", domain=ends, nice=False))
    scale = alt.Scale(domain=[0, 1.12 * total], nice=False)
    # Sums of releases of the same second are no parts of a larger one.
    y = alt.Y("e:Q", title="epsilon", scale=scale, axis=alt.Axis(tickCount=5), stack=None)
    line, dots = alt.Chart(alt.Data(values=steps)), alt.Chart(alt.Data(values=marked))
    layers = [
        line.mark_area(interpolate="step-after", color=STEPS[1], line=False).encode(x=x, y=y),
        line.mark_line(interpolate="step-after", color=BLUE, strokeWidth=2).encode(x=x, y=y),
        dots.mark_point(color=BLUE, fill=BLUE, filled=True, size=36, opacity=1).encode(x=x, y=y),
        *_limit(total, y),
    ]
    if seen:
        rules = alt.Chart(alt.Data(values=seen)).mark_rule(color=RED, strokeWidth=1.5, strokeDash=[3, 3])
        layers.append(rules.encode(x=x))
    if highlighted is not None:
        here = alt.Chart(alt.Data(values=[{"t": _milliseconds(times[highlighted]), "e": spent[highlighted]}]))
        layers.append(here.mark_point(color=ORANGE, size=130, strokeWidth=2.5, opacity=1).encode(x=x, y=y))
    return alt.layer(*layers, width=WIDTH - 60, height=_HEIGHT)


def _limit(total: float, y: altair.Y) -> list[altair.Chart]:
    import altair as alt

    data = alt.Chart(alt.Data(values=[{"e": total, "says": f"total {total:g}"}]))
    words = data.mark_text(align="left", baseline="bottom", dx=2, dy=-3, color=SOFT)
    return [
        data.mark_rule(color=INK, strokeWidth=1.5).encode(y=y),
        words.encode(x=alt.value(0), y=y, text="says:N"),
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
