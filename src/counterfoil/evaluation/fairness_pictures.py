"""Pictures of how a classifier treats groups: its scores by group, and accuracy against disparate impact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.evaluation.fairness import group_fairness

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BINS = 40
_MARKS = "osD^vP"
_PLATE = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
"""What text stands on, so that it can be read where a line is behind it."""
FOUR_FIFTHS = 0.8
"""The disparate impact below which selection counts as evidence of discrimination in the United States (Uniform
Guidelines on Employee Selection Procedures 1978, 29 CFR 1607.4)."""


@dataclass(frozen=True)
class ModelPoint:
    """A model in the overview.

    Args:
        name: as the legend has it; models of one name are joined by a line, in their order.
        accuracy: the share of right predictions.
        disparate_impact: the smallest share predicted as 1 over the largest.
        label: written beside the point, such as "alpha 0.5"; empty for none.
        error: the standard error of the disparate impact; None where it is exact.
    """

    name: str
    accuracy: float
    disparate_impact: float
    label: str = ""
    error: float | None = None


def score_histograms(
    models: Mapping[str, np.ndarray],
    groups: np.ndarray,
    names: Sequence[str],
    *,
    truth: np.ndarray | None = None,
    threshold: float = 0.5,
    title: str = "",
) -> Figure:
    """Histograms of the scores of each group, a panel for each model, on the same axes; each has area 1.

    Args:
        models: by name, scores [n] in [0, 1].
        groups: integer codes [n] of the protected column.
        names: of the codes.
        truth: classes [n], 0 or 1; with them the panels say how fair the predictions are, and there is a row of panels
            for each class.
        threshold: rows with a larger score are predicted as 1; a dashed line.
        title: of the whole figure.

    Raises:
        ValueError: where there is no model.
        ModuleNotFoundError: without matplotlib.
    """
    if not models:
        raise ValueError("`models` must hold the scores of a model. Found none.")
    strata: list[tuple[str, np.ndarray]] = [("", np.ones(len(groups), dtype=bool))]
    if truth is not None:
        strata += [(f"class {label}", truth == label) for label in (0, 1)]
    figure = _figure(3.4 * len(models) + 0.4, 2.5 * len(strata) + 0.9)
    panels = figure.subplots(len(strata), len(models), squeeze=False, sharex=True, sharey="row")
    edges = np.linspace(0, 1, BINS + 1)
    for row, (stratum, rows) in zip(panels, strata, strict=True):
        for axes, (model, scores) in zip(row, models.items(), strict=True):
            for code, name in enumerate(names):
                _draw_histogram(axes, scores[rows & (groups == code)], edges, f"C{code}", name)
            axes.axvline(threshold, color="0.3", linestyle="--", linewidth=0.9, label="threshold")
            lines = [] if stratum else [model]
            if truth is not None:
                lines.append(_measures(scores, truth, groups, threshold, stratum))
            axes.set_title("\n".join(lines), fontsize=10)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel(f"density{', ' + stratum if stratum else ''}")
    for axes in panels[-1]:
        axes.set_xlabel("predicted probability of class 1")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 2 + len(models)), frameon=False)
    if title:
        figure.suptitle(title)
    return figure


def accuracy_against_impact(models: Sequence[ModelPoint], *, title: str = "") -> Figure:
    """Accuracy against disparate impact of several models: to the upper right is better.

    Args:
        models: the points; those with a disparate impact that is NaN are left out.
        title: of the figure.

    Raises:
        ValueError: where no point is left.
        ModuleNotFoundError: without matplotlib.
    """
    shown = [one for one in models if not math.isnan(one.disparate_impact)]
    if not shown:
        raise ValueError("`models` must hold a model whose disparate impact is known. Found none.")
    figure = _figure(6.4, 4.4)
    axes = figure.subplots()
    axes.axvspan(FOUR_FIFTHS, 1, color="0.93", zorder=0, label="at least four fifths")
    for place, name in enumerate(dict.fromkeys(one.name for one in shown)):
        part = [one for one in shown if one.name == name]
        x, y = [one.disparate_impact for one in part], [one.accuracy for one in part]
        style: dict[str, Any] = {"color": f"C{place}", "marker": _MARKS[place % len(_MARKS)]}
        axes.errorbar(x, y, xerr=[one.error or 0.0 for one in part], label=name, markersize=6, linewidth=1.2, **style)
        for number, one in enumerate(part):  # above and below in turn, so that neighbors keep apart
            spot, side = (one.disparate_impact, one.accuracy), -14 if number % 2 else 7
            text: dict[str, Any] = {"fontsize": 8, "color": f"C{place}", "ha": "center", "bbox": _PLATE}
            axes.annotate(one.label, spot, xytext=(0, side), textcoords="offset points", **text)
    axes.set_xlim(0, 1.02)
    axes.margins(y=0.15)
    axes.set_xlabel("disparate impact (1: all groups alike)")
    axes.set_ylabel("accuracy")
    axes.grid(color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="0.8", fontsize=9)
    axes.set_title(title)
    return figure


def save_png(figure: Figure, path: str | Path, *, dpi: int = 150) -> None:
    """Writes a figure as PNG, without a window system.

    Raises:
        OSError: where the file can't be written.
    """
    figure.set_dpi(dpi)
    canvas: Any = figure.canvas  # Agg's
    canvas.print_png(str(path))


def _figure(width: float, height: float) -> Figure:
    """An empty figure on an Agg canvas, in inches."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Pictures need matplotlib. Install it with: pip install 'counterfoil[evaluation]'.", name=error.name
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _draw_histogram(axes: Any, scores: np.ndarray, edges: np.ndarray, color: str, name: str) -> None:
    from matplotlib.colors import to_rgba

    density, _ = np.histogram(scores, edges, density=len(scores) > 0)
    axes.stairs(density, edges, facecolor=to_rgba(color, 0.3), edgecolor=color, fill=True, linewidth=1.2, label=name)


def _measures(scores: np.ndarray, truth: np.ndarray, groups: np.ndarray, threshold: float, stratum: str) -> str:
    """What a panel says of the predictions."""
    found = group_fairness(scores, truth, groups, threshold=threshold)
    if not stratum:
        accuracy = float(np.mean((scores > threshold) == truth))
        return f"accuracy {accuracy:.3f}, DI {found.disparate_impact:.2f}, $W_2$ {found.score_distance:.2f}"
    if stratum.endswith("0"):
        return f"EO$_0$ {found.false_positive_ratio:.2f}, $W_2$ {found.score_distance_0:.2f}"
    return f"EO$_1$ {found.true_positive_ratio:.2f}, $W_2$ {found.score_distance_1:.2f}"
