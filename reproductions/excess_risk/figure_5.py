"""Figure 5: one copy serves several targets, none of which it was made for.

Expected: at epsilon 1, accuracy of models trained on AIM's copy within a hundredth of that on real rows, for three
targets of each of three tables. (The text says two targets and, in one place, Churn for Dutch; the legend has three
targets of Dutch, Adult and Law.) Takes about 5 minutes of one core; seconds with --quick.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from counterfoil.pictures.style import GRAY
from reproductions.excess_risk.protocol import copy_of, drawn_codes, encoded, split
from reproductions.excess_risk.table_2 import parsed
from reproductions.figure_style import drawn, legend_below

EPSILON = 1.0

TARGETS = {
    "dutch": ("occupation", "prev_residence_place", "sex"),
    "adult": ("income>50K", "sex", "relationship"),
    "law": ("pass_bar", "race", "fulltime"),
}


@dataclass(frozen=True)
class Pair:
    """Mean accuracy for one target, trained on copies and on real rows."""

    data: str
    target: str
    copied: float
    real: float


def pairs(data: str, *, relation: str, syntheses: int, splits: int) -> list[Pair]:
    """All targets of a table, from the same copies of the whole of it."""
    table = encoded(data)
    every = np.arange(len(table.codes))
    copies = [
        drawn_codes(copy_of(table, every, epsilon=EPSILON, relation=relation, seed=seed)) for seed in range(syntheses)
    ]
    found = []
    for target, number in itertools.product(TARGETS[data], range(splits)):
        train, test = split(len(every), number)
        truth = table.codes[test]
        parts = [copy[split(len(copy), number, copy=seed)[0]] for seed, copy in enumerate(copies)]
        copied = np.mean([table.score(part, truth, target).accuracy for part in parts])
        found.append((target, float(copied), table.score(table.codes[train], truth, target).accuracy))
    return [
        Pair(data, target, *np.mean([part[1:] for part in found if part[0] == target], axis=0).tolist())
        for target in TARGETS[data]
    ]


def main(arguments: Sequence[str] | None = None) -> list[Pair]:
    """Writes figure_5_RELATION.csv and .png, prints the accuracies."""
    chosen = parsed(arguments, "Figure 5 of the paper.")
    names = [name for name in TARGETS if name in chosen.datasets] or (["law"] if chosen.quick else list(TARGETS))
    runs = {"relation": chosen.relation, "syntheses": chosen.syntheses, "splits": chosen.splits}
    found = [pair for data in names for pair in pairs(data, **runs)]
    path = chosen.out / f"figure_5_{chosen.relation}"
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["relation", "data", "target", "copied", "real"])
        writer.writerows([chosen.relation, one.data, one.target, one.copied, one.real] for one in found)
    print(f"{'':<8}{'target':<22}{'AIM':>8}{'real':>8}")
    for one in found:
        print(f"{one.data:<8}{one.target:<22}{one.copied:>8.3f}{one.real:>8.3f}")
    _draw(path.with_suffix(".png"), found)
    return found


def _draw(path: Path, found: Sequence[Pair]) -> None:
    places = np.arange(len(found))
    title = "Figure 5. One copy serves several targets"
    with drawn(path, title, panel=(6.4, 1.2 + 0.42 * len(found))) as (figure, panels):
        axes = panels[0, 0]
        axes.barh(places - 0.2, [one.real for one in found], height=0.38, label="real rows", color=GRAY)
        axes.barh(places + 0.2, [one.copied for one in found], height=0.38, label=f"AIM, epsilon {EPSILON:g}")
        axes.set_yticks(places, [f"{one.data}: {one.target}" for one in found])
        axes.invert_yaxis()
        axes.set(xlim=(0.5, 1.0), xlabel="accuracy of logistic regression on real rows (axis from .5)")
        axes.grid(visible=False, axis="y")
        legend_below(figure, panels, columns=2)


if __name__ == "__main__":
    main()
