"""The picture of a plan: the error that rehearsals had against epsilon, and how far they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.style import BLUE, GREEN, ORANGE, WIDTH
from counterfoil.pictures.svg import render, require_report

_COLORS = (BLUE, ORANGE, GREEN)
_WIDTHS = (9, 4, 2)
"""Of the rules, in pixels: those of several kinds of records at one epsilon are all seen."""

_HEIGHT = 220
_APART = 1.3
"""The least ratio of two epsilons that both have a label."""


@dataclass(frozen=True)
class Course:
    """The errors of rehearsals on records of one kind.

    Args:
        name: of the records.
        epsilons: rising, at most as many as are rehearsed.
        means: the mean error at each.
        least, most: the smallest and the largest at each.
    """

    name: str
    epsilons: tuple[float, ...]
    means: tuple[float, ...]
    least: tuple[float, ...]
    most: tuple[float, ...]


def outlook_picture(courses: Sequence[Course], *, title: str) -> str:
    """An <svg> of the mean pair error (L1 distance between shares, 0 to 2) against epsilon, both on logarithmic axes.

    An error of 0 is drawn at the lower end of its axis.

    Args:
        courses: up to three, each a line through the means, with a rule from the smallest to the largest error.
        title: what is shown, such as the number of records and the method.

    Raises:
        ModuleNotFoundError: without the extra `report`.
    """
    require_report()
    return render(_chart(courses), title=title, description=described(courses))


def described(courses: Sequence[Course]) -> str:
    """The picture in words, for those who don't see it."""
    parts = [
        f"{course.name}: "
        + ", ".join(
            f"{mean:.3g} at epsilon {epsilon:g} (rehearsals {least:.3g} to {most:.3g})"
            for epsilon, mean, least, most in zip(course.epsilons, course.means, course.least, course.most, strict=True)
        )
        for course in courses
    ]
    return f"Mean pair error in rehearsal. {'; '.join(parts)}."


def _chart(courses: Sequence[Course]) -> Drawing:
    lowest, highest = _ends(courses)
    records = [
        {"records": course.name, "epsilon": epsilon, **{name: max(error, lowest) for name, error in errors.items()}}
        for course in courses
        for epsilon, *found in zip(course.epsilons, course.means, course.least, course.most, strict=True)
        for errors in [dict(zip(("mean", "least", "most"), found, strict=True))]
    ]
    names = [course.name for course in courses]
    color = {
        "field": "records",
        "type": "nominal",
        "title": "rehearsed on",
        "scale": {"domain": names, "range": list(_COLORS[: len(names)])},
        "legend": {"orient": "bottom", "symbolType": "circle", "symbolOpacity": 1, "columnPadding": 24},
    }
    x = {
        "field": "epsilon",
        "type": "quantitative",
        "title": "epsilon",
        "scale": {"type": "log", "nice": False, "padding": 12},
        "axis": {"values": ticks(courses), "format": "~g", "grid": False},
    }
    scale = {"type": "log", "domain": [lowest, highest], "nice": False}
    up = {"type": "quantitative", "title": "mean pair error", "scale": scale}
    mean = {"y": {"field": "mean", **up, "axis": {"format": "~g"}}}
    ends = {"y": {"field": "least", **up}, "y2": {"field": "most"}}
    # Not by an encoding of the width, which the symbols of the legend would follow.
    spreads = [
        {
            "transform": [{"filter": {"field": "records", "equal": course.name}}],
            "mark": {"type": "rule", "opacity": 0.4, "strokeWidth": width},
            "encoding": ends,
        }
        for course, width in zip(courses, _WIDTHS, strict=False)
    ]
    layers = [
        *spreads,
        {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": mean},
        {"mark": {"type": "point", "filled": True, "size": 35, "opacity": 1}, "encoding": mean},
    ]
    layered = {"encoding": {"x": x, "color": color}, "layer": layers}
    return Drawing({"data": {"values": records}, **layered, "width": WIDTH, "height": _HEIGHT})


def ticks(courses: Sequence[Course]) -> list[float]:
    """The epsilons that the axis names: round ones that stand far enough from each other."""
    found: list[float] = []
    for epsilon in sorted({epsilon for course in courses for epsilon in course.epsilons}):
        if len(f"{epsilon:g}") <= 4 and (not found or epsilon >= _APART * found[-1]):
            found.append(epsilon)
    return found


def _ends(courses: Sequence[Course]) -> tuple[float, float]:
    """From a little below the smallest error to a little above the largest; 0 has no place on the axis."""
    found = [error for course in courses for error in (*course.least, *course.most) if error > 0] or [1.0]
    return min(found) / 1.15, max(found) * 1.15
