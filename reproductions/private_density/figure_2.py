"""Figure 2: errors are alike with points from a private histogram and with uniform ones.

Expected: alike they are, and the experiment could not have told them apart. (1) The k of the theorem is 12 to 20 rows,
whose own chance is an error of .2: as many rows of the uniform density, drawn without a record, err by less than the
private ones, since the records are uniform too. (2) The noise is the paper's delta / log(F / gamma) whatever n is;
calibrated to n and epsilon the error of the histogram's density falls with its many records, from .23 to 1e-5 at p = 8,
and that of its 20 rows hardly. (3) The guarantee at these parameters is 8 delta = 4 where no error exceeds 1, with
probability at least 1 - 4 gamma = 0. A vertex of the optimal face, which CBC returns as the paper's simplex method did,
errs more than the densest optimum: .30 against .21.
Takes about 2 minutes of one core; seconds with --quick. CBC is run where PuLP is installed.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.pictures.style import GRAY
from reproductions.figure_style import COLORS, drawn, legend_beside
from reproductions.private_density.figure_1 import SOLVERS, parsed
from reproductions.private_density.simulation import NEEDS_PULP, REFERENCES, Setting, has_pulp, run
from reproductions.private_evolution.findings import Finding

ALIKE = 1.25
ERRORS = ("rows", "density", "blind")


@dataclass(frozen=True)
class Errors:
    """Means over runs of the largest error, by what is compared with the records, and their standard errors."""

    setting: Setting
    mean: dict[str, float]
    error: dict[str, float]


def errors(setting: Setting, runs: int) -> Errors:
    """The errors of one setting; the seeds are the same for all."""
    outcomes = [run(setting, seed) for seed in range(runs)]
    by_name = {name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in ERRORS}
    mean = {name: float(values.mean()) for name, values in by_name.items()}
    return Errors(setting, mean, {name: float(values.std()) / runs**0.5 for name, values in by_name.items()})


def findings(found: Sequence[Errors]) -> list[Finding]:
    """What the errors say."""
    ours = [one for one in found if one.setting.solver == "ours"]
    printed = _pairs([one for one in ours if not one.setting.calibrated])
    ratios = [histogram.mean["rows"] / uniform.mean["rows"] for uniform, histogram in printed]
    spread = f"histogram's over uniform's {min(ratios):.2f} to {max(ratios):.2f}"
    blind = [one.mean["blind"] / one.mean["rows"] for pair in printed for one in pair]
    of_rows = f"{min(blind):.2f} to {max(blind):.2f} times the error of the private rows"
    largest = printed[-1][1]
    bounds = [one.setting.sizes.bound for pair in printed for one in pair]
    guarantee = f"{bounds[0].value:g} with probability {1 - min(1.0, bounds[0].failure_probability):g}"
    exact = _pairs([one for one in ours if one.setting.calibrated])[-1][1]
    p = exact.setting.attributes
    fallen = f"p = {p}: density {largest.mean['density']:.3f} to {exact.mean['density']:.2g}"
    stayed = f"rows {largest.mean['rows']:.3f} to {exact.mean['rows']:.3f}"
    return [
        Finding("errors of rows are alike", max(*ratios, *(1 / ratio for ratio in ratios)) < ALIKE, spread),
        Finding("rows drawn without a record are no worse", max(blind) < ALIKE, of_rows),
        Finding("the guarantee says nothing", all(bound.vacuous for bound in bounds), guarantee),
        Finding(
            "with the noise that n and epsilon need, the histogram's records show in the density, not in its k rows",
            exact.mean["density"] < largest.mean["density"] / 2 and exact.mean["rows"] > exact.mean["density"],
            f"{fallen}, {stayed}, k = {exact.setting.sizes.rows}",
        ),
    ]


def _pairs(found: Sequence[Errors]) -> list[tuple[Errors, Errors]]:
    """Uniform and histogram, by increasing p."""
    by_key = {(one.setting.attributes, one.setting.reference): one for one in found}
    return [(by_key[p, "uniform"], by_key[p, "histogram"]) for p in sorted({p for p, _ in by_key})]


def main(arguments: Sequence[str] | None = None) -> list[Finding]:
    """Writes density_figure_2.csv and .png, prints the errors and what they say."""
    chosen = parsed(arguments, "Figure 2 of the paper.")
    solvers = [solver for solver in SOLVERS if solver == "ours" or has_pulp()]
    if len(solvers) < len(SOLVERS):
        print(NEEDS_PULP)
    runs = chosen.runs or (20 if chosen.quick else 200)
    found = [
        errors(Setting(p, reference, solver, calibrated=calibrated, c_1=chosen.c_1, c_2=chosen.c_2), runs)
        for p in chosen.attributes
        for solver in solvers
        for calibrated in ((False, True) if solver == "ours" else (False,))
        for reference in REFERENCES
    ]
    _write_csv(chosen.out / "density_figure_2.csv", found)
    _draw(chosen.out / "density_figure_2.png", found, runs)
    print(f"{'p':>2} {'reference':<10}{'solver':>6}{'noise':>12}{'rows':>8}{'density':>11}{'without a record':>18}")
    for one in found:
        of, figures = one.setting, f"{one.mean['rows']:>8.3f}{one.mean['density']:>11.3g}{one.mean['blind']:>18.3f}"
        print(f"{of.attributes:>2} {of.reference:<10}{of.solver:>6}{_noise(of):>12}{figures}")
    concluded = findings(found)
    for finding in concluded:
        print(finding)
    return concluded


def _noise(setting: Setting) -> str:
    return "calibrated" if setting.calibrated else "as printed"


def _write_csv(path: Path, found: Sequence[Errors]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["p", "reference", "solver", "noise", *ERRORS, *(f"error_of_{name}" for name in ERRORS)])
        for one in found:
            of = one.setting
            figures = [f"{part[name]:.4g}" for part in (one.mean, one.error) for name in ERRORS]
            writer.writerow([of.attributes, of.reference, of.solver, _noise(of), *figures])


def _draw(path: Path, found: Sequence[Errors], runs: int) -> None:
    title = (
        "Figure 2. How far shares are off, by reference density and by noise\n"
        f"epsilon 0.2, delta 0.5, gamma 0.25, means of {runs} runs with standard errors"
    )
    with drawn(path, title, columns=2, panel=(3.9, 3.2), sharey=True) as (figure, panels):
        for axes, calibrated in zip(panels[0], (False, True), strict=True):
            _draw_panel(axes, [one for one in found if one.setting.calibrated == calibrated])
            axes.set(yscale="log", xlabel="p, number of attributes")
            axes.set_xticks(sorted({one.setting.attributes for one in found}))
            axes.set_title("noise 2 F / (n epsilon)" if calibrated else "noise as printed, delta / log(F / gamma)")
        panels[0, 0].set_ylabel("largest error of a share (1 at most)")
        legend_beside(figure, panels)


def _draw_panel(axes: Any, of_noise: Sequence[Errors]) -> None:
    for reference, color in zip(REFERENCES, COLORS, strict=False):
        line = [one for one in of_noise if (one.setting.reference, one.setting.solver) == (reference, "ours")]
        p = [one.setting.attributes for one in line]
        for name, style in (("rows", "-"), ("density", "--")):
            mean, bars = [one.mean[name] for one in line], [one.error[name] for one in line]
            axes.errorbar(p, mean, bars, linestyle=style, marker="o", color=color, label=f"{reference}, {name}")
        if reference == "uniform":
            axes.plot(p, [one.mean["blind"] for one in line], ":", color=GRAY, label="rows without a record")


if __name__ == "__main__":
    main()
