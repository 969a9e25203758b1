"""What all experiments of this folder share: arguments, tables, pictures, and what is claimed of runs."""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from counterfoil import Schema
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.pictures.style import INK
from reproductions.figure_style import COLORS, drawn, legend_below
from reproductions.private_evolution.findings import Finding
from reproductions.wasserstein_gradients.noisy_descent import (
    NONE,
    OURS,
    PAPERS,
    Plan,
    Problem,
    Task,
    Trained,
    all_trained,
    plans,
)

ALPHAS, EPSILONS = (0.0, 0.25, 0.5, 0.75), (math.inf, 8.0, 2.0, 1.0)
IN_MAIN_TEXT = {0.0, 0.75}, {math.inf, 1.0}
GROUP_COLORS = COLORS[:2]
HALVED = 0.5
"""The largest W_2 at the largest alpha, over that without a penalty."""
CURVE_GAP = 0.1
"""The largest distance of a private loss curve from the exact one, over the fall of the exact one."""

Model = TypeVar("Model", bound=Any)

Draw = Callable[[Any, Trained], None]
"""Draws one panel on its axes."""


def how_long(doc: str | None) -> str:
    """The last paragraph of a script's own words, which says how long it takes."""
    return " ".join((doc or "").split("\n\n")[-1].split())


def parsed(arguments: Sequence[str] | None, description: str, doc: str | None = None) -> argparse.Namespace:
    """The options that the scripts of this folder share; `doc` is the script's own words."""
    told = f"{description} NOT PRIVATE: made-up data and fixed seeds."
    parser = argparse.ArgumentParser(description=told, epilog=how_long(doc))
    parser.add_argument("--quick", action="store_true", help="the two alphas and epsilons of the paper's main text")
    parser.add_argument("--alphas", nargs="+", type=float, default=None, help="weights of the penalty")
    parser.add_argument("--epsilons", nargs="+", type=float, default=None, help="budgets; inf for none")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    chosen.alphas = chosen.alphas or ([0.0, 0.75] if chosen.quick else list(ALPHAS))
    chosen.epsilons = chosen.epsilons or ([math.inf, 1.0] if chosen.quick else list(EPSILONS))
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def all_runs(
    problem: Callable[[], Problem], chosen: argparse.Namespace, *, steps: int, learning_rate: float
) -> list[Trained]:
    """A descent for each alpha, epsilon and kind of noise; without a penalty both kinds are the same."""
    wanted = plans(chosen.alphas, chosen.epsilons, steps=steps, learning_rate=learning_rate)
    distinct = {_same(plan): plan for plan in reversed(wanted)}
    made = all_trained([Task(problem, plan) for plan in distinct.values()], chosen.jobs)
    outcomes = dict(zip(distinct, made, strict=True))
    return [replace(outcomes[_same(plan)], plan=plan) for plan in wanted]


def _same(plan: Plan) -> tuple[float, float, str]:
    return plan.alpha, plan.epsilon, plan.noise if plan.alpha else ""


def fitted(model: Model, source: Any, schema: Schema, **named: Any) -> Model:
    """A model of the package, trained on made-up or public records: without a ledger, and without a warning of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoLedgerWarning)
        return model.fit(source, schema, **named)


def said(concluded: list[Finding]) -> list[Finding]:
    """The findings, printed."""
    for finding in concluded:
        print(finding)
    return concluded


def named(one: Trained) -> str:
    """The budget and the noise in words."""
    plan = one.plan
    return "no noise" if plan.noise == NONE else f"epsilon {plan.epsilon:g}, {plan.noise}"


def rows_of(found: Sequence[Trained]) -> list[list[Trained]]:
    """The outcomes with the same budget and noise, in order of alpha."""
    rows: dict[str, list[Trained]] = {}
    for one in found:
        rows.setdefault(named(one), []).append(one)
    return [sorted(row, key=lambda one: one.plan.alpha) for row in rows.values()]


def write_table(path: Path, found: Sequence[Trained], measures: Sequence[dict[str, float]]) -> None:
    """One line for each outcome."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["alpha", "epsilon", "noise", "deviation", "objective", "loss", "penalty", *measures[0]])
        for one, more in zip(found, measures, strict=True):
            plan, figures = one.plan, (one.deviation, one.objective, one.loss, one.penalty, *more.values())
            writer.writerow([plan.alpha, plan.epsilon, plan.noise, *(f"{value:.5g}" for value in figures)])


def write_curves(path: Path, found: Sequence[Trained]) -> None:
    """One line for each recorded step of each outcome."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["alpha", "epsilon", "noise", "step", "objective"])
        for one in found:
            key = [one.plan.alpha, one.plan.epsilon, one.plan.noise]
            writer.writerows([*key, step, f"{value:.6g}"] for step, value in one.curve)


def draw_panels(
    path: Path, found: Sequence[Trained], texts: Sequence[str], draw: Draw, *, title: str, labels: tuple[str, str]
) -> None:
    """A panel for each outcome: alphas from left to right, budgets and noises from top to bottom.

    Args:
        texts: what is written above each panel.
        draw: draws one.
        labels: of the x axis and the y axis.
    """
    rows, text_of = rows_of(found), {id(one): text for one, text in zip(found, texts, strict=True)}
    size = {"rows": len(rows), "columns": len(rows[0]), "panel": (3.4, 2.8)}
    with drawn(path, title, **size, sharex=True, sharey=True) as (figure, panels):
        for line, row in zip(panels, rows, strict=True):
            for axes, one in zip(line, row, strict=True):
                draw(axes, one)
                axes.set_title(text_of[id(one)], fontsize=8)
            line[0].set_ylabel(f"{named(row[0])}\n{labels[1]}")
        for axes in panels[-1]:
            axes.set_xlabel(labels[0])
        legend_below(figure, panels, columns=4)


def draw_both_figures(
    out: Path,
    stem: str,
    numbers: tuple[int, int],
    found: Sequence[Trained],
    texts: Sequence[str],
    draw: Draw,
    title: str,
    labels: tuple[str, str],
) -> None:
    """The paper's figure of the main text, two alphas and two budgets, and the one of its appendix, all of them.

    Args:
        numbers: of the two figures.
    """
    alphas, epsilons = IN_MAIN_TEXT
    main = [at for at, one in enumerate(found) if one.plan.alpha in alphas and one.plan.epsilon in epsilons]
    for number, kept in zip(numbers, (main, range(len(found))), strict=True):
        if kept and not (number == numbers[1] and len(main) == len(found)):
            part, of_part = [found[at] for at in kept], [texts[at] for at in kept]
            path = out / f"{stem}_figure_{number}.png"
            draw_panels(path, part, of_part, draw, title=f"Figure {number}. {title}", labels=labels)


def draw_curves(path: Path, found: Sequence[Trained], *, title: str) -> None:
    """The objective on all training records along the run: a panel for each alpha, a row for each kind of noise."""
    alphas = sorted({one.plan.alpha for one in found})
    size = {"rows": 2, "columns": len(alphas), "panel": (3.2, 2.6)}
    with drawn(path, title, **size, sharex=True, sharey="col") as (figure, panels):
        for line, noise in zip(panels, (PAPERS, OURS), strict=True):
            for axes, alpha in zip(line, alphas, strict=True):
                for one in found:
                    if one.plan.alpha == alpha and one.plan.noise in (NONE, noise):
                        exact = one.plan.noise == NONE
                        style = {"color": INK, "linestyle": "--", "zorder": 3} if exact else {}
                        label = "no noise" if exact else f"epsilon {one.plan.epsilon:g}"
                        axes.plot(*zip(*one.curve, strict=True), label=label, **style)
                axes.set_title(f"alpha = {alpha:g}, {noise}")
            line[0].set_ylabel("objective, training records")
        for axes in panels[-1]:
            axes.set_xlabel("step")
        legend_below(figure, panels, columns=6)


def penalty_findings(found: Sequence[Trained]) -> list[Finding]:
    """The penalty falls as its weight grows, whatever the noise, and ends at half the distance or less."""
    falls, ratios = True, []
    for row in rows_of(found):
        distances = [math.sqrt(one.penalty) for one in row]
        falls &= all(after < before for before, after in itertools.pairwise(distances))
        ratios.append(distances[-1] / distances[0])
    between = f"ratios {min(ratios):.2f} to {max(ratios):.2f}"
    return [
        Finding("the distance between groups falls with alpha, whatever the noise", falls, between),
        Finding("at the largest alpha it is at most half of that at alpha 0", max(ratios) <= HALVED, between),
    ]


def curve_findings(found: Sequence[Trained]) -> list[Finding]:
    """Loss curves with noise stay near the exact ones."""
    exact = {one.plan.alpha: one for one in found if one.plan.noise == NONE}
    concluded = []
    for noise in (PAPERS, OURS):
        part = [one for one in found if one.plan.noise == noise]
        if not exact or not part:
            continue
        gaps = [_gap(exact[one.plan.alpha], one) for one in part]
        worst = part[int(np.argmax(gaps))].plan
        concluded.append(
            Finding(
                f"with {noise}, loss curves stay within {CURVE_GAP:.0%} of their fall from the exact ones",
                max(gaps) <= CURVE_GAP,
                f"largest {max(gaps):.1%}, at alpha {worst.alpha:g}, epsilon {worst.epsilon:g}",
            )
        )
    return concluded


def moved_by_least_epsilon(found: Sequence[Trained], values: Sequence[float]) -> tuple[float, float]:
    """The most that the smallest epsilon moves a measure at one alpha, whatever the noise; and that epsilon."""
    exact = {one.plan.alpha: value for one, value in zip(found, values, strict=True) if one.plan.noise == NONE}
    least = min(one.plan.epsilon for one in found)
    moved = [abs(v - exact[one.plan.alpha]) for one, v in zip(found, values, strict=True) if one.plan.epsilon == least]
    return max(moved), least


def _gap(exact: Trained, noisy: Trained) -> float:
    ours, other = (np.array([value for _, value in one.curve]) for one in (exact, noisy))
    return float(np.abs(ours - other).max() / (ours[0] - ours.min()))
