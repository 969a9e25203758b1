"""True against nominal coverage of intervals from releases of COMPAS and Adult, ours and naive.

The paper (section V) argues that intervals of synthetic rows hold once the accuracy of a release widens them, and shows
none. Here records are drawn from the table itself, so that its shares are the truth, released by AIM, MST and
reweighting with all pairs (replace one, delta 1e-9), and asked for ten shares of single columns, ten of pairs and tests
of independence; regressions are asked of releases that bought the moments of their columns. Ours go through
`counterfoil.inference`; the naive ones take the synthetic rows for a sample.

Expected, at nominal 95%: ours hold in 93% to 98% of the cases for whatever was measured, the naive ones in far fewer,
the fewer the smaller epsilon is: they know nothing of the noise. Tests of independence at 5% reject what is independent
in at most 6% of the cases, Pearson's of synthetic rows in any number. For pairs that were never measured ours say what
an error bar allows, which holds at least as often as stated, or refuse; naive intervals there rest on the method's
assumption. Pairs that a method chose by looking at the records (AIM, MST) are not a random sample: noise was drawn
after the choice, sampling was not.

Needs compas.csv and adult.csv.gz in ../shared/data. Takes about 4 hours of one core (500 releases of each of 24
settings), half with --jobs 2; 10 minutes with --quick (20 releases).
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.pictures.style import GRAY
from reproductions.figure_style import COLORS, drawn, legend_below
from reproductions.private_density.coverage_releases import (
    LEVEL,
    LEVELS,
    METHODS,
    MOMENTS,
    QUANTITIES,
    SIGNIFICANCE,
    Task,
    Verdict,
    verdicts,
)
from reproductions.private_density.coverage_tables import FILES, population
from reproductions.private_evolution.findings import Finding

EPSILONS = (0.5, 1.0, 2.0)
SIDES = ("ours", "naive")
LEAST, MOST, LARGEST_LEVEL = 0.93, 0.98, 0.06
FEWEST = 20
"""Answers below which a rate is not judged."""


@dataclass(frozen=True)
class Rate:
    """How often intervals of one kind held the truth, or tests rejected, over releases of one setting.

    Args:
        quantity, side, level: as in `Verdict`.
        rate: of the answers.
        error: its standard error; answers of one release are not independent.
        answers, refused: how many.
        width: the mean width of intervals.
    """

    data: str
    epsilon: float
    method: str
    quantity: str
    side: str
    level: float
    rate: float
    error: float
    answers: int
    refused: int
    width: float


def rates(setting: tuple[str, float, str], releases: Iterable[Sequence[Verdict]]) -> list[Rate]:
    """All rates of a setting, from the verdicts of each of its releases."""
    grouped: dict[tuple[str, str, float], list[list[Verdict]]] = {}
    for release in releases:
        of_release: dict[tuple[str, str, float], list[Verdict]] = {}
        for one in release:
            of_release.setdefault((one.quantity, one.side, one.level), []).append(one)
        for key, found in of_release.items():
            grouped.setdefault(key, []).append(found)
    return [_rate(setting, key, groups) for key, groups in sorted(grouped.items())]


def _rate(setting: tuple[str, float, str], key: tuple[str, str, float], groups: list[list[Verdict]]) -> Rate:
    answered = [[one for one in group if one.hit is not None] for group in groups]
    sizes = np.array([len(group) for group in answered])
    hits = np.array([sum(bool(one.hit) for one in group) for group in answered])
    answers = int(sizes.sum())
    rate = hits.sum() / answers if answers else np.nan
    error = np.sqrt(np.square(hits - rate * sizes).sum()) / answers if answers else np.nan
    # Few releases may agree by chance: at least the error of independent answers, with one more hit and one more miss.
    smoothed = (hits.sum() + 1) / (answers + 2)
    error = max(error, np.sqrt(smoothed * (1 - smoothed) / answers)) if answers else error
    widths = [one.width for group in answered for one in group]
    refused = sum(map(len, groups)) - answers
    width = float(np.mean(widths)) if widths else float("nan")
    return Rate(*setting, *key, float(rate), float(error), answers, refused, width)


def findings(found: Sequence[Rate]) -> list[Finding]:
    """What is claimed of the intervals, each within two standard errors."""
    judged = [one for one in found if one.answers >= FEWEST]
    concluded = []
    for quantity in ("columns", "pairs", "ols"):
        ours, naive = (_at(judged, quantity, side, LEVEL) for side in SIDES)
        if ours:
            wrong = [one for one in ours if one.rate + 2 * one.error < LEAST or one.rate - 2 * one.error > MOST]
            figures = f"{_range(ours)}; naive {_range(naive)}{_named(wrong)}"
            statement = f"{quantity}: ours at nominal {LEVEL:g} hold in {LEAST:g} to {MOST:g} of the cases"
            concluded.append(Finding(statement, not wrong, figures))
    tests, naive = (_at(judged, "chi2", side, SIGNIFICANCE) for side in SIDES)
    if tests:
        wrong = [one for one in tests if one.rate - 2 * one.error > LARGEST_LEVEL]
        figures = f"{_range(tests)}; naive {_range(naive)}{_named(wrong)}"
        statement = f"chi2: independence is rejected in at most {LARGEST_LEVEL:g} at nominal {SIGNIFICANCE:g}"
        concluded.append(Finding(statement, not wrong, figures))
    bars, naive = (_at(judged, "unmeasured", side, LEVEL) for side in SIDES)
    if bars:
        wrong = [one for one in bars if one.rate + 2 * one.error < LEVEL]
        figures = f"{_range(bars)}; naive {_range(naive)}{_named(wrong)}"
        concluded.append(Finding("unmeasured: intervals from error bars hold at least as stated", not wrong, figures))
    return concluded


def _at(found: Sequence[Rate], quantity: str, side: str, level: float) -> list[Rate]:
    return [one for one in found if (one.quantity, one.side, one.level) == (quantity, side, level)]


def _range(found: Sequence[Rate]) -> str:
    return f"{min(one.rate for one in found):.3f} to {max(one.rate for one in found):.3f}" if found else "none"


def _named(wrong: Sequence[Rate]) -> str:
    named = ", ".join(f"{one.data} {one.method} {one.epsilon:g}: {one.rate:.3f} +- {one.error:.3f}" for one in wrong)
    return f"; not {named}" if wrong else ""


def table_text(found: Sequence[Rate]) -> str:
    """Ours and naive by setting at the nominal levels of the table, with the share that is refused."""
    head = f"{'':<7}{'epsilon':>8} {'method':<12}{'about':<11}{'ours':>7}{'+-':>7}{'naive':>8}{'width':>9}{'naive':>9}"
    lines = [f"{head}{'answers':>9}{'refused':>9}"]
    by_key = {(one.data, one.epsilon, one.method, one.quantity, one.side, one.level): one for one in found}
    for key, ours in by_key.items():
        if key[4] != "ours" or key[5] not in (LEVEL, SIGNIFICANCE):
            continue
        naive = by_key[(*key[:4], "naive", key[5])]
        figures = f"{ours.rate:>7.3f}{ours.error:>7.3f}{naive.rate:>8.3f}{ours.width:>9.4f}{naive.width:>9.4f}"
        share = ours.refused / (ours.refused + ours.answers)
        lines.append(f"{key[0]:<7}{key[1]:>8g} {key[2]:<12}{key[3]:<11}{figures}{ours.answers:>9}{share:>9.1%}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> list[Rate]:
    """Writes density_coverage.csv, setting by setting, and .png, prints the table and what it says."""
    chosen = _parsed(arguments)
    for data in chosen.datasets:
        try:
            population(data)
        except FileNotFoundError as error:
            sys.exit(str(error))
    found = list[Rate]()
    with ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn")) as pool:
        each: Callable = pool.map if chosen.jobs > 1 else map
        for data in chosen.datasets:
            for epsilon in chosen.epsilons:
                for method in chosen.methods:
                    tasks = [Task(data, epsilon, method, seed) for seed in range(chosen.releases)]
                    found += rates((data, epsilon, method), each(verdicts, tasks))
                    _write_csv(chosen.out / "density_coverage.csv", found)
    _draw(chosen.out / "density_coverage.png", found, chosen.releases)
    print(table_text(found))
    for finding in findings(found):
        print(finding)
    return found


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Coverage of intervals. NOT PRIVATE: public tables and fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="20 releases of each setting: minutes")
    parser.add_argument("--releases", type=int, default=None, help="of each setting (500; 20 with --quick)")
    parser.add_argument("--datasets", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--methods", nargs="+", choices=(*METHODS, MOMENTS), default=[*METHODS, MOMENTS])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    chosen.releases = chosen.releases or (20 if chosen.quick else 500)
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def _write_csv(path: Path, found: Sequence[Rate]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["data", "epsilon", "method", "about", "side", "nominal", "true", "error", "answers", "refused", "width"]
        )
        for one in found:
            key = [one.data, one.epsilon, one.method, one.quantity, one.side, one.level]
            writer.writerow([*key, f"{one.rate:.5f}", f"{one.error:.5f}", one.answers, one.refused, f"{one.width:.5g}"])


def _draw(path: Path, found: Sequence[Rate], releases: int) -> None:
    datasets = list(dict.fromkeys(one.data for one in found))
    asked = [name for name in QUANTITIES if name != "chi2" and any(one.quantity == name for one in found)]
    title = (
        "Intervals that count the noise hold as often as they say; naive ones do not\n"
        f"{releases} releases of each kind; replace one, delta 1e-9"
    )
    size = {"rows": len(datasets), "columns": len(asked)}
    with drawn(path, title, **size, panel=(3.2, 3.2), sharex=True, sharey=True) as (figure, panels):
        for row, data in zip(panels, datasets, strict=True):
            for axes, quantity in zip(row, asked, strict=True):
                part = [one for one in found if (one.data, one.quantity) == (data, quantity) and one.answers >= FEWEST]
                _draw_panel(axes, part)
                axes.set_title(f"{data}, {quantity}")
            row[0].set_ylabel("share of intervals that hold the truth")
        for axes in panels[-1]:
            axes.set_xlabel("nominal coverage")
        legend_below(figure, panels, columns=4)


def _draw_panel(axes: Any, part: Sequence[Rate]) -> None:
    """Ours and naive by method and epsilon, with the diagonal."""
    axes.plot((LEVELS[0], 1), (LEVELS[0], 1), color=GRAY, linewidth=0.8)
    colors = dict(zip((*METHODS, MOMENTS), COLORS, strict=False))
    marks = dict(zip(sorted({one.epsilon for one in part}), "osd^v", strict=False))
    for method, epsilon, side in dict.fromkeys((one.method, one.epsilon, one.side) for one in part):
        line = [one for one in part if (one.method, one.epsilon, one.side) == (method, epsilon, side)]
        style = {"color": colors[method], "marker": marks[epsilon], "linestyle": "-" if side == "ours" else ":"}
        label = f"{side}, {method}, epsilon {epsilon:g}"
        axes.plot([one.level for one in line], [one.rate for one in line], markersize=4, label=label, **style)


if __name__ == "__main__":
    main()
