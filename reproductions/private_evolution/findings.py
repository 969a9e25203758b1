"""What every figure's script shares: its arguments, its files, and what it concludes."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproductions.figure_style import COLORS, drawn, legend_under

WIDE = 100
"""Abscissas beyond are drawn on a log scale."""


@dataclass(frozen=True)
class Finding:
    """A statement of the paper, whether it held here, and the figures that say so."""

    statement: str
    holds: bool
    figures: str

    def __str__(self) -> str:
        return f"[{'holds' if self.holds else 'DOES NOT HOLD'}] {self.statement} ({self.figures})"


@dataclass(frozen=True)
class Curve:
    """One line of a plot: a mean over runs, with its standard error.

    Args:
        panel, label: where it is drawn, and what it is called there.
        x: the abscissas.
        mean: of the distance W1.
        error: its standard errors.
        marked: the abscissa that the theory chooses.
        unit: what the abscissas are.
    """

    panel: str
    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    error: tuple[float, ...]
    marked: float | None = None
    unit: str = "T, steps"


Experiment = Callable[[int, bool], tuple[list[Curve], list[Finding]]]
"""Takes the number of runs and whether to be quick."""


def main(
    name: str, experiment: Experiment, arguments: Sequence[str] | None = None, *, title: str = ""
) -> list[Finding]:
    """Runs a figure, writes NAME.csv and NAME.png, prints what was found; `title` says what is seen."""
    parser = argparse.ArgumentParser(description=f"{name} of the paper, NOT PRIVATE: made-up data and fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="fewer runs and sizes: under a minute")
    parser.add_argument("--runs", type=int, default=None, help="how many runs to average (100; 12 with --quick)")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    runs = chosen.runs or (12 if chosen.quick else 100)
    curves, findings = experiment(runs, chosen.quick)
    chosen.out.mkdir(parents=True, exist_ok=True)
    _write_csv(chosen.out / f"{name}.csv", curves)
    _write_png(
        chosen.out / f"{name}.png", curves, f"{title or name}\nmeans of {runs} runs, bands of two standard errors"
    )
    for finding in findings:
        print(finding)
    return findings


def _write_csv(path: Path, curves: Sequence[Curve]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["panel", "curve", "x", "mean_w1", "standard_error"])
        for curve in curves:
            for x, mean, error in zip(curve.x, curve.mean, curve.error, strict=True):
                writer.writerow([curve.panel, curve.label, x, f"{mean:.6g}", f"{error:.3g}"])


def _write_png(path: Path, curves: Sequence[Curve], title: str) -> None:
    names = list(dict.fromkeys(curve.panel for curve in curves))
    most = max(sum(curve.panel == name for curve in curves) for name in names)
    with drawn(path, title, columns=len(names), panel=(3.9, 3.1 + 0.11 * most), sharey=True) as (_, panels):
        for axes, name in zip(panels[0], names, strict=True):
            of_panel = [curve for curve in curves if curve.panel == name]
            for curve, style in zip(of_panel, _styles([curve.label for curve in of_panel]), strict=True):
                _draw_curve(axes, curve, style)
            axes.set(title=name, xlabel=of_panel[0].unit)
            if max(max(curve.x) for curve in of_panel) > WIDE:
                axes.set_xscale("log")
            legend_under(axes, columns=2)
        panels[0, 0].set_ylim(bottom=0)  # of all panels, once all curves are there
        panels[0, 0].set_ylabel("W1 from the records (disk of diameter 2)")


def _styles(labels: Sequence[str]) -> list[dict[str, str]]:
    """A color for what stands before a label's comma, a kind of line for what stands after it."""
    parts = [label.partition(", ")[::2] for label in labels]
    firsts, seconds = (list(dict.fromkeys(part[at] for part in parts)) for at in (0, 1))
    return [
        {"color": COLORS[firsts.index(first)], "linestyle": ("-", "--")[seconds.index(second) % 2]}
        for first, second in parts
    ]


def _draw_curve(axes: Any, curve: Curve, style: dict[str, str]) -> None:
    """The mean with two standard errors, and where the theory's choice is."""
    (line,) = axes.plot(curve.x, curve.mean, marker="o", markersize=3.5, label=curve.label, **style)
    low, high = ([m + s * e for m, e in zip(curve.mean, curve.error, strict=True)] for s in (-2, 2))
    axes.fill_between(curve.x, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
    if curve.marked is not None:
        axes.axvline(curve.marked, linestyle=":", color=line.get_color())
