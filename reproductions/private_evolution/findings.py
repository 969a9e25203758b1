"""What every figure's script shares: its arguments, its files, and what it concludes."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


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
    """One line of a plot: a mean over runs, with its standard error."""

    panel: str
    label: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    error: tuple[float, ...]
    marked: float | None = None


Experiment = Callable[[int, bool], tuple[list[Curve], list[Finding]]]
"""Takes the number of runs and whether to be quick."""


def main(name: str, experiment: Experiment, arguments: Sequence[str] | None = None) -> list[Finding]:
    """Runs a figure, writes NAME.csv and NAME.png, prints what was found."""
    parser = argparse.ArgumentParser(description=f"{name} of the paper, NOT PRIVATE: made-up data and fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="fewer runs and sizes: under a minute")
    parser.add_argument("--runs", type=int, default=None, help="how many runs to average (100; 12 with --quick)")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    runs = chosen.runs or (12 if chosen.quick else 100)
    curves, findings = experiment(runs, chosen.quick)
    chosen.out.mkdir(parents=True, exist_ok=True)
    _write_csv(chosen.out / f"{name}.csv", curves)
    _write_png(chosen.out / f"{name}.png", curves, f"{name}, {runs} runs")
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
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = list(dict.fromkeys(curve.panel for curve in curves))
    figure = Figure(figsize=(5 * len(panels), 4), layout="constrained")
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for curve in (curve for curve in curves if curve.panel == panel):
            (line,) = axes.plot(curve.x, curve.mean, marker=".", label=curve.label)
            low, high = ([m + s * e for m, e in zip(curve.mean, curve.error, strict=True)] for s in (-2, 2))
            axes.fill_between(curve.x, low, high, alpha=0.2, color=line.get_color())
            if curve.marked is not None:
                axes.axvline(curve.marked, linestyle=":", color=line.get_color())
        axes.set_title(panel)
        axes.set_ylabel("W1")
        axes.legend()
    figure.suptitle(title)
    FigureCanvasAgg(figure).print_png(str(path))
