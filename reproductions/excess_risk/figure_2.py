"""Figure 2: the L1 error of AIM's copies falls with epsilon.

Expected: for each table, the mean normalized L1 error over marginals falls as epsilon grows, and so does the bound on
the largest that a release itself tells (error bars, 95%), which stays above it. The paper shows one curve for each
table without numbers, the mean over the marginals that AIM selected, of up to 4 columns; these are over all marginals
of up to 3, of the binned columns, copied whole. Takes about 5 minutes of one core; seconds with --quick.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterfoil.evaluation.marginals import compare_marginals
from counterfoil.synthesis.table import encode
from reproductions.excess_risk.protocol import copy_of, encoded
from reproductions.excess_risk.table_2 import parsed
from reproductions.figure_style import drawn, legend_beside

ORDERS = (1, 2, 3)


@dataclass(frozen=True)
class Errors:
    """Means over syntheses.

    Args:
        mean: by order, the mean L1 error of marginals of so many columns.
        largest: the largest L1 error of a pair.
        bar: the largest error bar of a pair, at 95%.
    """

    data: str
    epsilon: float
    mean: tuple[float, ...]
    largest: float
    bar: float


def errors(data: str, epsilon: float, *, relation: str, syntheses: int) -> Errors:
    """The errors of copies of a whole table."""
    table = encoded(data)
    every = np.arange(len(table.codes))
    real = encode(table.binned, table.table(every))
    found = []
    for seed in range(syntheses):
        made = copy_of(table, every, epsilon=epsilon, relation=relation, seed=seed)
        compared = [compare_marginals(real, made.codes, table.binned.domain, order=order) for order in ORDERS]
        bar = max(made.error_bar(pair, 0.05).fraction for pair in compared[1].errors)
        found.append([*(part.mean for part in compared), compared[1].largest, bar])
    *means, largest, bar = np.mean(found, axis=0).tolist()
    return Errors(data, epsilon, tuple(means), largest, bar)


def main(arguments: Sequence[str] | None = None) -> list[Errors]:
    """Writes figure_2_RELATION.csv and .png, prints the errors and whether they fall."""
    chosen = parsed(arguments, "Figure 2 of the paper.")
    found = []
    print(f"{'':<8}{'epsilon':>8}{'1 column':>10}{'2':>8}{'3':>8}{'largest 2':>11}{'its bar':>9}")
    for data in chosen.datasets:
        for epsilon in chosen.epsilons:
            one = errors(data, epsilon, relation=chosen.relation, syntheses=chosen.syntheses)
            found.append(one)
            means = f"{one.mean[0]:>10.4f}{one.mean[1]:>8.4f}{one.mean[2]:>8.4f}"
            print(f"{data:<8}{epsilon:>8g}{means}{one.largest:>11.4f}{one.bar:>9.4f}")
    path = chosen.out / f"figure_2_{chosen.relation}"
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "epsilon", "mean_1", "mean_2", "mean_3", "largest_2", "bar_2"])
        writer.writerows([one.data, one.epsilon, *one.mean, one.largest, one.bar] for one in found)
    for data in chosen.datasets:
        line = [one.mean[1] for one in found if one.data == data]
        print(f"{data}: the mean error of pairs {'falls' if line[-1] < line[0] else 'DOES NOT FALL'} with epsilon")
    _draw(path.with_suffix(".png"), found)
    return found


def _draw(path: Path, found: Sequence[Errors]) -> None:
    title = "Figure 2. Copies by AIM keep pairs of columns better as epsilon grows"
    with drawn(path, title, panel=(5.6, 3.6)) as (figure, panels):
        axes = panels[0, 0]
        for data in dict.fromkeys(one.data for one in found):
            line = [one for one in found if one.data == data]
            axes.plot([one.epsilon for one in line], [one.mean[1] for one in line], marker="o", label=data)
        axes.set(xlabel="epsilon", ylabel="mean L1 error of pairs (shares of rows, 2 at most)", yscale="log")
        legend_beside(figure, panels)


if __name__ == "__main__":
    main()
