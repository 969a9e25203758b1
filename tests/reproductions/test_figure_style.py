"""Every figure of the reproductions has one style, and hides no curve."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from reproductions.figure_style import COLORS, SETTINGS, drawn, legend_below, legend_beside, legend_under
from reproductions.private_evolution.findings import Curve, _styles, _write_png

FOLDER = Path(__file__).parents[2] / "reproductions"
SCRIPTS = [path for path in sorted(FOLDER.rglob("*.py")) if path.name != "figure_style.py"]
PLACES = {"beside": legend_beside, "below": lambda figure, panels: legend_below(figure, panels, columns=3)}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_figures_are_begun_in_one_place(path: Path):
    """A figure that a script made by itself would have another style."""
    imported = {node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)}
    assert not any(name and name.startswith("matplotlib") for name in imported)


@pytest.mark.parametrize("place", PLACES)
def test_a_legend_hides_no_curve(tmp_path: Path, place: str):
    path = tmp_path / "figure.png"
    with drawn(path, "A title that is a good deal longer than its panels\nand a setting", columns=2) as (
        figure,
        panels,
    ):
        for axes in panels.flat:
            for number in range(5):
                axes.plot([0, 1], [number, number + 1], label=f"curve {number}")
        PLACES[place](figure, panels)
        (legend,) = figure.legends
    assert path.read_bytes().startswith(b"\x89PNG")
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == [f"curve {number}" for number in range(5)]  # each once, of both panels
    around = legend.get_window_extent()
    assert not any(around.overlaps(axes.get_window_extent()) for axes in panels.flat)
    for text in figure.texts:
        assert 0 <= text.get_window_extent().x0 < text.get_window_extent().x1 <= figure.bbox.width


def test_a_legend_under_a_panel_is_outside_of_it(tmp_path: Path):
    with drawn(tmp_path / "figure.png", "title", columns=2) as (_, panels):
        panels[0, 1].plot([0, 1], [0, 1], label="curve")
        panels[0, 1].set_xlabel("x")
        legend_under(panels[0, 1], columns=2)
    around = panels[0, 1].get_legend().get_window_extent()
    assert not any(around.overlaps(axes.get_window_extent()) for axes in panels.flat)


def test_the_style_ends_with_the_figure(tmp_path: Path):
    from matplotlib import rcParams

    before = {name: rcParams[name] for name in SETTINGS}
    with drawn(tmp_path / "figure.png", "title") as (_, panels):
        panels[0, 0].plot([0, 1])
    assert panels[0, 0].lines[0].get_color() == COLORS[0]
    assert {name: rcParams[name] for name in SETTINGS} == before


def test_curves_of_one_start_share_a_color():
    styles = _styles(["beta 0.0, cut", "beta 0.1, cut", "beta 0.0, projection", "beta 0.1, projection"])
    assert [style["color"] for style in styles] == [COLORS[0], COLORS[1], COLORS[0], COLORS[1]]
    assert [style["linestyle"] for style in styles] == ["-", "-", "--", "--"]


def test_axes_have_names_and_start_at_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A distance of 0 is in the picture, which it is not on a log scale."""
    from matplotlib.figure import Figure

    made: list[Figure] = []
    begun = Figure.__init__
    monkeypatch.setattr(Figure, "__init__", lambda self, *a, **k: (begun(self, *a, **k), made.append(self))[0])
    curves = [Curve("left", "a", (0, 1, 2), (0.0, 0.2, 0.6), (0.1, 0.1, 0.1))]
    curves += [Curve("right", "b", (1, 1000), (0.9, 0.2), (0.1, 0.1), 10, "population, points")]
    _write_png(tmp_path / "figure.png", curves, "title")
    left, right = made[0].axes
    assert (left.get_xlabel(), right.get_xlabel()) == ("T, steps", "population, points")
    assert "W1" in left.get_ylabel()
    assert left.get_ylim()[0] == 0
    assert left.get_ylim()[1] >= 0.9 + 2 * 0.1  # both panels share the axis
    assert np.isclose(left.lines[0].get_ydata()[0], 0.0)
    assert (left.get_xscale(), right.get_xscale()) == ("linear", "log")
