"""One style for all figures: colors, letters, axes, and legends that hide no curve."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.pictures.style import BLUE, GRAY, GREEN, GRID, INK, ORANGE, PURPLE, RED, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = (BLUE, ORANGE, GREEN, PURPLE, RED, "#8a6d00", "#0e7c86", "#a0527f")
"""Of the curves, in their order; the first six as in the reports of the package."""

SETTINGS = {
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "errorbar.capsize": 2,
    "savefig.dpi": 150,
}


@contextmanager
def drawn(
    path: Path, title: str, *, rows: int = 1, columns: int = 1, panel: tuple[float, float] = (3.6, 2.9), **shared: Any
) -> Iterator[tuple[Figure, np.ndarray]]:
    """A figure in the style, with its empty panels [rows, columns]; it is written as PNG when its drawing ends.

    Args:
        path: of the PNG file.
        title: what is seen, on the first line; the lines below it say of what setting.
        rows: of panels.
        columns: of panels.
        panel: its width and height in inches, with its labels.
        shared: what `Figure.subplots` takes, such as `sharex`.
    """
    from cycler import cycler
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    seen, _, setting = title.partition("\n")
    with rc_context(SETTINGS | {"axes.prop_cycle": cycler(color=COLORS)}):
        lines = 1 + bool(setting) + setting.count("\n")
        widest = max(0.1 * len(seen), 0.075 * max(map(len, setting.split("\n"))))
        size = (max(panel[0] * columns, widest) + 0.3, panel[1] * rows + 0.22 * lines + 0.2)
        figure = Figure(figsize=size, layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, **shared)
        top = size[1] - 0.08
        figure.get_layout_engine().set(rect=(0, 0, 1, 1 - (0.22 * lines + 0.1) / size[1]), w_pad=0.06, h_pad=0.06)
        at: dict[str, Any] = {"x": 0.08 / size[0], "ha": "left", "va": "top"}
        figure.text(y=top / size[1], s=seen, fontsize=11, fontweight="bold", **at)
        if setting:
            figure.text(y=(top - 0.23) / size[1], s=setting, fontsize=9, color=SOFT, **at)
        FigureCanvasAgg(figure).print_figure(str(path))


def legend_beside(figure: Figure, panels: np.ndarray) -> None:
    """One legend for all panels, to their right: each label once."""
    figure.legend(*_entries(panels), loc="outside right center")


def legend_below(figure: Figure, panels: np.ndarray, *, columns: int) -> None:
    """One legend for all panels, below them: each label once, and points large enough to be told apart."""
    legend = figure.legend(*_entries(panels), loc="outside lower center", ncols=columns)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([28.0])


def legend_under(axes: Axes, *, columns: int) -> None:
    """A legend of one panel, under its own axis."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=columns)


def reference_line(axes: Axes, *, x: float | None = None, y: float | None = None, label: str | None = None) -> None:
    """What curves are compared with: a thin dotted line, upright at `x` or level at `y`."""
    style: dict[str, Any] = {"color": GRAY, "linestyle": ":", "linewidth": 1.0, "label": label}
    if x is not None:
        axes.axvline(x, **style)
    if y is not None:
        axes.axhline(y, **style)


def _entries(panels: np.ndarray) -> tuple[list[Any], list[str]]:
    entries: dict[str, Any] = {}
    for axes in panels.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return list(entries.values()), list(entries)
