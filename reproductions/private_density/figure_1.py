"""Figure 1: the program is smaller, and faster to solve, with points from a private histogram than with uniform ones.

Expected, at the sizes of Theorem B.1 and Corollary III.1.1 and with one variable for each point: from p = 4 on the
histogram takes less time, with PuLP's CBC as in the paper and with our solver, by a ratio that grows like the ratio of
the points, 2^p / (2 K); at p = 7 it was 200 with CBC, and at p = 8 47 with ours. Points of {0, 1}^p have only 2^p
values, and equal points are equal columns: merged, as any presolve merges them, both programs have at most 2^p
variables, the ratio with CBC was 1.1 at p = 7, and what is left of it is the time of drawing the points. The price of
the histogram, which the paper does not show: at p = 8 it needs 37 thousand times as many records, and counts them all,
which the times leave out.
Takes about 2 minutes of one core; a second with --quick. CBC is run where PuLP is installed.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reproductions.figure_style import COLORS, drawn, legend_beside
from reproductions.private_density.simulation import C_1, C_2, NEEDS_PULP, REFERENCES, Setting, has_pulp, run
from reproductions.private_evolution.findings import Finding

SOLVERS = {"ours": "ours", "cbc": "PuLP's CBC"}
LARGE = 4
"""From this p on the uniform program is at least seven times as large."""
MOST_BY_CBC = 100_000
"""Points of a program that CBC is given: the 151,552 of p = 8 take it a minute."""


@dataclass(frozen=True)
class Timing:
    """The mean over runs of one setting.

    Args:
        columns: variables of the program.
        seconds, error: CPU seconds, and their standard error.
        optimum: by run, the smallest largest distance.
    """

    setting: Setting
    columns: float
    seconds: float
    error: float
    optimum: tuple[float, ...]


def timings(settings: Sequence[Setting], runs: int) -> list[Timing]:
    """Each setting `runs` times, after one that is not counted."""
    found = []
    for setting in settings:
        run(setting, 0)
        outcomes = [run(setting, seed) for seed in range(runs)]
        seconds = [outcome.seconds for outcome in outcomes]
        columns = float(np.mean([outcome.columns for outcome in outcomes]))
        mean, error = float(np.mean(seconds)), float(np.std(seconds)) / runs**0.5
        found.append(Timing(setting, columns, mean, error, tuple(outcome.optimum for outcome in outcomes)))
    return found


def findings(found: Sequence[Timing]) -> list[Finding]:
    """What the times say."""
    by_key = {_key(timing.setting): timing for timing in found}
    concluded = []
    for solver, name in SOLVERS.items():
        for merged in (False, True):
            pairs = _pairs(by_key, solver, merged)
            if not pairs:
                continue
            alone = _pairs(by_key, solver, False)
            p = max(set(pairs) & set(alone))
            (uniform, histogram), ratio = pairs[p], _ratio(pairs[p])
            figures = f"p = {p}: {uniform.seconds:.3f} s against {histogram.seconds:.3f} s, {ratio:.1f} times"
            if merged:
                hidden = ratio < _ratio(alone[p]) / 2
                concluded.append(Finding(f"{name}, equal points merged: most of the ratio is gone", hidden, figures))
            else:
                faster = all(u.seconds > h.seconds for q, (u, h) in pairs.items() if q >= LARGE)
                statement = f"{name}, one variable for each point: the histogram is faster from p = {LARGE} on"
                concluded.append(Finding(statement, faster, figures))
    return [*concluded, *_price(found), *_agreement(by_key)]


def _ratio(pair: tuple[Timing, Timing]) -> float:
    return pair[0].seconds / pair[1].seconds


def _price(found: Sequence[Timing]) -> list[Finding]:
    """What the smaller program takes."""
    p = max(timing.setting.attributes for timing in found)
    uniform, histogram = (Setting(p, reference).sizes for reference in REFERENCES)
    assert uniform.points is not None
    assert histogram.points is not None
    points, records = uniform.points / histogram.points, histogram.records / uniform.records
    fewer = f"p = {p}: {points:.1f} times, K = {histogram.condition:.3f}"
    more = f"p = {p}: {histogram.records:,} are {records:,.0f} times"
    return [
        Finding("the histogram needs fewer points", points > 1, fewer),
        Finding("for which it needs more records", records > 1, more),
    ]


def _agreement(by_key: dict[tuple, Timing]) -> list[Finding]:
    """Whether both solvers reach the same optimum, run by run."""
    gaps = [
        abs(a - b) / max(a, b)
        for key, timing in by_key.items()
        if key[2] == "cbc"
        for a, b in zip(timing.optimum, by_key[(*key[:2], "ours", key[3])].optimum, strict=True)
    ]
    if not gaps:
        return []
    # Ours stops at .1% above the least, to keep more points; a run's draws are the same for both.
    return [Finding("both solvers reach the same optimum", max(gaps) < 2e-3, f"at most {max(gaps):.1e} apart")]


def _key(setting: Setting) -> tuple[int, str, str, bool]:
    return setting.attributes, setting.reference, setting.solver, setting.merged


def _is_quick(setting: Setting) -> bool:
    return setting.solver == "ours" or setting.merged or (setting.sizes.points or 0) <= MOST_BY_CBC


def _pairs(by_key: dict[tuple, Timing], solver: str, merged: bool) -> dict[int, tuple[Timing, Timing]]:
    """By p, the two references."""
    sizes = {key[0] for key in by_key if key == (key[0], "uniform", solver, merged)}
    return {p: tuple(by_key[p, reference, solver, merged] for reference in REFERENCES) for p in sizes}  # type: ignore[misc]


def main(arguments: Sequence[str] | None = None) -> list[Finding]:
    """Writes density_figure_1.csv and .png, prints the times and what they say."""
    chosen = parsed(arguments, "Figure 1 of the paper.")
    solvers = [solver for solver in SOLVERS if solver == "ours" or has_pulp()]
    if len(solvers) < len(SOLVERS):
        print(NEEDS_PULP)
    runs = chosen.runs or (2 if chosen.quick else 5)
    settings = [
        Setting(p, reference, solver, merged, c_1=chosen.c_1, c_2=chosen.c_2)
        for p in chosen.attributes
        for solver in solvers
        for merged in (False, True)
        for reference in REFERENCES
    ]
    found = timings([one for one in settings if _is_quick(one)], runs)
    _write_csv(chosen.out / "density_figure_1.csv", found)
    _draw(chosen.out / "density_figure_1.png", found, runs)
    print(f"{'p':>2} {'reference':<10}{'n':>12}{'k':>4}{'m':>8}{'solver':>7}{'variables':>10}{'CPU seconds':>13}")
    for timing in found:
        of, sizes = timing.setting, timing.setting.sizes
        figures = f"{sizes.records:>12}{sizes.rows:>4}{sizes.points:>8}{of.solver:>7}{timing.columns:>10.0f}"
        print(f"{of.attributes:>2} {of.reference:<10}{figures}{timing.seconds:>13.4f}")
    concluded = findings(found)
    for finding in concluded:
        print(finding)
    return concluded


def parsed(arguments: Sequence[str] | None, description: str) -> argparse.Namespace:
    """The options that both figures share."""
    parser = argparse.ArgumentParser(description=f"{description} NOT PRIVATE: made-up data and fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="p = 2 to 4 and few runs: a second or two")
    parser.add_argument("--attributes", nargs="+", type=int, default=None, help="p (2 to 8; 2 to 4 with --quick)")
    parser.add_argument("--runs", type=int, default=None, help="how many runs to average")
    parser.add_argument("--c-1", type=float, default=C_1, help="of Corollary III.1.1 (57/16)")
    parser.add_argument("--c-2", type=float, default=C_2, help="of Corollary III.1.1 (57/8)")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    chosen.attributes = sorted(chosen.attributes or range(2, 5 if chosen.quick else 9))
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def _write_csv(path: Path, found: Sequence[Timing]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["p", "reference", "solver", "merged", "n", "k", "m", "variables", "cpu_seconds", "error"])
        for timing in found:
            sizes, seconds = timing.setting.sizes, (f"{timing.seconds:.5g}", f"{timing.error:.2g}")
            writer.writerow([*_key(timing.setting), sizes.records, sizes.rows, sizes.points, timing.columns, *seconds])


def _draw(path: Path, found: Sequence[Timing], runs: int) -> None:
    title = (
        "Figure 1. Points from a private histogram make a smaller program, until equal points are merged\n"
        f"epsilon 0.2, delta 0.5, gamma 0.25, means of {runs} runs"
    )
    with drawn(path, title, columns=2, panel=(3.9, 3.2), sharey=True) as (figure, panels):
        for axes, merged in zip(panels[0], (False, True), strict=True):
            for solver, style in (("ours", "-"), ("cbc", "--")):
                for reference, color in zip(REFERENCES, COLORS, strict=False):
                    line = [t for t in found if _key(t.setting)[1:] == (reference, solver, merged)]
                    if not line:
                        continue
                    p, seconds = [t.setting.attributes for t in line], [t.seconds for t in line]
                    axes.plot(p, seconds, style, marker="o", color=color, label=f"{reference}, {SOLVERS[solver]}")
            axes.set(yscale="log", xlabel="p, number of attributes")
            axes.set_xticks(sorted({one.setting.attributes for one in found}))
            axes.set_title("equal points merged" if merged else "one variable for each point")
        panels[0, 0].set_ylabel("CPU seconds: points, program, solution")
        legend_beside(figure, panels)


if __name__ == "__main__":
    main()
