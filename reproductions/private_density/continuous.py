"""The continuous case, which the paper could not show: points of [0, 1]^p from a smooth density, p = 1, 2, 3.

Records are drawn from a mixture of two products of Beta densities. The averages of all products of cosines
cos(pi a_1 x_1) ... cos(pi a_p x_p) with 1 <= a_1 + ... + a_p <= 8, 4 or 3 (8, 14 or 19 functions from -1 to 1) are
bought, and points of four references are weighted to meet them: uniform, a perturbed histogram, the Bernstein density
of Theorem IV.1 and the measure tree. The uniform reference costs nothing; the others take 80% of the budget by default,
which is meant for the distance of distributions, and 20% here, where the averages are all that counts.

Expected: the largest error of the weighted points over the family is about the largest noise in the averages, for every
reference and both fits: it is the noise that decides. The uniform reference, for which the paper has no theorem here,
errs least: the errors of the others are 1.2 to 1.3 times as large on average, which is the fifth of the budget that
they spend (1 / 0.8 = 1.25). What a reference buys is everything else: at 10,000 records and epsilon 2 the tree's points
are nearer to the records in W1 of the first column, by factors 2 to 5. The minimax fit, which is the paper's, errs no
less for its fewer points: a hundred or so at p = 3 and strong noise, where the likelihood fit keeps thousands. Rows of
the uniform and the Bernstein reference err more than their points where noise is small.
Takes about 5 minutes of one core; seconds with --quick, whose two releases of a setting are too few for comparisons.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import wasserstein_distance

from counterfoil import PointSynthesis, Reweighting, synthesize
from counterfoil.ledger.no_ledger import NoLedgerWarning
from counterfoil.pictures.style import GRAY
from counterfoil.reweighting import Fit
from counterfoil.schema import Real, Schema
from counterfoil.theory.reweighting_lemmas import mean_largest_absolute_laplace
from reproductions.figure_style import COLORS, drawn, legend_below
from reproductions.private_evolution.findings import Finding

REFERENCES = ("uniform", "histogram", "bernstein", "tree")
FITS = ("minimax", "likelihood")
DEGREES = {1: 8, 2: 4, 3: 3}
SHARE = 0.2
SUPPORT = 10_000
CLOSE = 2.0
"""Times the mean largest noise, which an error is called close to."""
ALIKE = 1.5

Own = tuple[str, Callable[[Mapping[str, np.ndarray]], np.ndarray], float, float]


@dataclass(frozen=True)
class Case:
    """One way to reweight: p columns, n records, epsilon, and the names of a reference and a fit."""

    dimension: int
    records: int
    epsilon: float
    reference: str
    fit: str = "minimax"

    @property
    def schema(self) -> Schema:
        """p real numbers from 0 to 1."""
        return Schema(tuple(Real(name, 0.0, 1.0, bins=16) for name in _names(self.dimension)))

    @property
    def share(self) -> float:
        """Of the budget, for the reference."""
        return 0.0 if self.reference == "uniform" else SHARE

    @property
    def noise(self) -> float:
        """The mean of the largest noise in the averages: F Laplace variables of scale 2 F / (n epsilon_2)."""
        functions = len(frequencies(self.dimension))
        scale = 2 * functions / (self.records * self.epsilon * (1 - self.share))
        return mean_largest_absolute_laplace(functions, scale)


@dataclass(frozen=True)
class Result:
    """Means over releases, and the standard error of `points`.

    Args:
        points: the largest error of the weighted points over the family, of 2 at most.
        rows: that of the rows.
        effective: how many points the weights are worth, 1 / sum w^2.
        distance: W1 between the first column's values of records and of points.
        seconds: CPU seconds of a release.
    """

    case: Case
    points: float
    error: float
    rows: float
    effective: float
    distance: float
    seconds: float


def records(n: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """n points [n, p]: three in five from Beta(2, 6)^p, the others from Beta(7, 3)^p."""
    first = rng.random((n, 1)) < 0.6
    return np.where(first, rng.beta(2, 6, (n, dimension)), rng.beta(7, 3, (n, dimension)))


def frequencies(dimension: int) -> list[tuple[int, ...]]:
    """The a of each product of cosines."""
    degree = DEGREES[dimension]
    return [a for a in itertools.product(range(degree + 1), repeat=dimension) if 1 <= sum(a) <= degree]


def cosines(points: np.ndarray) -> np.ndarray:
    """float64 [F, n]: the family at points [n, p]."""
    return np.stack([np.cos(np.pi * points * np.array(a)).prod(axis=1) for a in frequencies(points.shape[1])])


def family(dimension: int) -> list[Own]:
    """The family as `Reweighting` takes functions of a user's own."""
    return [(f"cos {a}", _product(a), -1.0, 1.0) for a in frequencies(dimension)]


def release(case: Case, seed: int, *, support: int = SUPPORT) -> tuple[float, ...]:
    """The fields of `Result` for one release, in their order."""
    real = records(case.records, case.dimension, np.random.default_rng([case.records, case.dimension, seed]))
    table = pa.table(dict(zip(_names(case.dimension), real.T, strict=True)))
    method = Reweighting(
        case.reference, family(case.dimension), Fit(case.fit), support=support, share=case.share or None
    )
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoLedgerWarning)  # the records are made up
        made = synthesize(
            table, case.schema, epsilon=case.epsilon, delta=0.0, relation="replace_one", method=method, seed=seed
        )
    assert isinstance(made, PointSynthesis)
    seconds = time.process_time() - started
    wished = cosines(real).mean(axis=1)
    of_points = np.abs(cosines(made.points) @ made.weights - wished).max()
    of_rows = np.abs(cosines(made.to_numpy()).mean(axis=1) - wished).max()
    distance = wasserstein_distance(real[:, 0], made.points[:, 0], v_weights=made.weights)
    return float(of_points), float(of_rows), float(1 / np.square(made.weights).sum()), distance, seconds


def results(cases: Sequence[Case], runs: int, *, support: int = SUPPORT) -> list[Result]:
    """Each case `runs` times."""
    found = []
    for place, case in enumerate(cases):
        # Each reference has noise of its own in each setting; both fits have the same.
        seeds = [1000 * (place // len(FITS)) + seed for seed in range(runs)]
        each = np.array([release(case, seed, support=support) for seed in seeds])
        points, *others = each.mean(axis=0).tolist()
        found.append(Result(case, points, float(each[:, 0].std()) / runs**0.5, *others))
    return found


def findings(found: Sequence[Result]) -> list[Finding]:
    """What the releases say."""
    by_key = {(_setting(one.case), one.case.reference, one.case.fit): one for one in found}
    settings = list(dict.fromkeys(_setting(one.case) for one in found))
    minimax = [one for one in found if one.case.fit == "minimax"]
    times = [one.points / one.case.noise for one in minimax]
    worst = minimax[int(np.argmax(times))].case
    ratios = {name: _over_uniform(by_key, settings, name) for name in REFERENCES[1:]}
    pairs = [[by_key[key, name, fit] for fit in FITS] for key in settings for name in REFERENCES]
    held = [likely.points / least.points for least, likely in pairs]
    kept = [likely.effective / least.effective for least, likely in pairs]
    spread = f"{min(times):.2f} to {max(times):.2f} times it; most for {worst.reference}, p = {worst.dimension}"
    few = min(minimax, key=lambda one: one.effective)
    fewest = f"{few.effective:,.0f} with {few.case.reference} at p = {few.case.dimension}"
    more = f"{min(kept):.2f} to {max(kept):.1f} times as many; the fewest of the minimax fit are {fewest}"
    return [
        Finding(f"errors of the minimax fit are below {CLOSE:g} times the largest noise", max(times) < CLOSE, spread),
        Finding(
            f"the errors of other references are within a factor {ALIKE:g} of uniform's",
            all(1 / ALIKE < ratio < ALIKE for ratio in ratios.values()),
            "on geometric average " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
        ),
        Finding(
            "the likelihood fit errs about as little", max(held) < CLOSE, f"{min(held):.2f} to {max(held):.2f} times"
        ),
        Finding("and keeps as many points or more", min(kept) > 0.95, more),
        _distances(by_key, settings),
    ]


def _over_uniform(by_key: Mapping[tuple, Result], settings: Sequence[tuple[int, int, float]], name: str) -> float:
    """The geometric mean over settings of a reference's error over that of the uniform one."""
    logs = [np.log(by_key[s, name, "minimax"].points / by_key[s, "uniform", "minimax"].points) for s in settings]
    return float(np.exp(np.mean(logs)))


def _setting(case: Case) -> tuple[int, int, float]:
    return case.dimension, case.records, case.epsilon


def _distances(by_key: Mapping[tuple, Result], settings: Sequence[tuple[int, int, float]]) -> Finding:
    """W1 in the first column, where there are the most records and the largest epsilon."""
    most = max(n * epsilon for _, n, epsilon in settings)
    largest = [setting for setting in settings if setting[1] * setting[2] == most]
    ratios = [by_key[s, "uniform", "minimax"].distance / by_key[s, "tree", "minimax"].distance for s in largest]
    figures = ", ".join(f"p = {s[0]}: {ratio:.1f}" for s, ratio in zip(largest, ratios, strict=True))
    statement = f"at n epsilon = {most:g} the tree's points are nearer in W1 than uniform ones"
    return Finding(statement, min(ratios) > 1, f"by factors {figures}")


def main(arguments: Sequence[str] | None = None) -> list[Result]:
    """Writes density_continuous.csv and .png, prints the errors and what they say."""
    parser = argparse.ArgumentParser(description="The continuous case. NOT PRIVATE: made-up data and fixed seeds.")
    parser.add_argument("--quick", action="store_true", help="p = 1 and 2, one n, one epsilon, two runs: seconds")
    parser.add_argument("--runs", type=int, default=None, help="releases to average (10; 2 with --quick)")
    parser.add_argument("--out", type=Path, default=Path("reproductions-out"), help="a folder for the files")
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    runs = chosen.runs or (2 if chosen.quick else 10)
    dimensions, sizes, epsilons = ((1, 2), (2000,), (1.0,)) if chosen.quick else ((1, 2, 3), (1000, 10_000), (0.5, 2.0))
    cases = [Case(*one) for one in itertools.product(dimensions, sizes, epsilons, REFERENCES, FITS)]
    found = results(cases, runs, support=2000 if chosen.quick else SUPPORT)
    _write_csv(chosen.out / "density_continuous.csv", found)
    _draw(chosen.out / "density_continuous.png", found, runs)
    head = f"{'points':>9}{'rows':>9}{'noise':>9}{'effective':>11}{'W1':>9}{'seconds':>9}"
    print(f"{'p':>2}{'n':>7}{'epsilon':>9} {'reference':<10}{'fit':<10}{head}")
    for one in found:
        figures = f"{one.points:>9.4f}{one.rows:>9.4f}{one.case.noise:>9.4f}{one.effective:>11.0f}{one.distance:>9.4f}"
        case, names = one.case, f"{one.case.reference:<10}{one.case.fit:<10}"
        print(f"{case.dimension:>2}{case.records:>7}{case.epsilon:>9g} {names}{figures}{one.seconds:>9.2f}")
    for finding in findings(found):
        print(finding)
    return found


def _names(dimension: int) -> tuple[str, ...]:
    return tuple("xyz"[:dimension])


def _product(a: tuple[int, ...]) -> Callable[[Mapping[str, np.ndarray]], np.ndarray]:
    def value(columns: Mapping[str, np.ndarray]) -> np.ndarray:
        parts = [np.cos(np.pi * power * columns[name]) for name, power in zip(_names(len(a)), a, strict=True)]
        return np.prod(parts, axis=0)

    return value


def _write_csv(path: Path, found: Sequence[Result]) -> None:
    names = ("largest_error_of_points", "its_standard_error", "of_rows", "mean_largest_noise")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["p", "n", "epsilon", "reference", "fit", *names, "effective_points", "w1", "cpu_seconds"])
        for one in found:
            case = one.case
            figures = (one.points, one.error, one.rows, case.noise, one.effective, one.distance, one.seconds)
            key = [case.dimension, case.records, case.epsilon, case.reference, case.fit]
            writer.writerow([*key, *(f"{figure:.4g}" for figure in figures)])


def _draw(path: Path, found: Sequence[Result], runs: int) -> None:
    dimensions = list(dict.fromkeys(one.case.dimension for one in found))
    title = (
        "Weighted points meet averages of [0, 1]^p up to the noise, whatever the reference\n"
        f"means of {runs} releases, bars of two standard errors; dashes: the mean largest noise"
    )
    with drawn(path, title, columns=len(dimensions), panel=(4.2, 3.8), sharey=True) as (figure, panels):
        for axes, dimension in zip(panels[0], dimensions, strict=True):
            _draw_dimension(axes, [one for one in found if one.case.dimension == dimension])
            axes.set_title(f"p = {dimension}, {len(frequencies(dimension))} products of cosines")
        panels[0, 0].set_ylabel("largest error over the family (2 at most)")
        panels[0, 0].plot([], [], "_", color=GRAY, label="mean largest noise")
        legend_below(figure, panels, columns=5)


def _draw_dimension(axes: Any, found: Sequence[Result]) -> None:
    """Errors by reference and fit, a place on the axis for each number of records and epsilon."""
    labels = list(dict.fromkeys(f"n = {o.case.records:,}\nepsilon {o.case.epsilon:g}" for o in found))
    for place, reference in enumerate(REFERENCES):
        for fit, mark in zip(FITS, ("o", "x"), strict=True):
            line = [one for one in found if (one.case.reference, one.case.fit) == (reference, fit)]
            x, bars = np.arange(len(line)) + 0.12 * (place - 1.5), [2 * one.error for one in line]
            label = f"{reference}, {fit}"
            axes.errorbar(x, [one.points for one in line], bars, fmt=mark, color=COLORS[place], label=label)
        axes.plot(x, [one.case.noise for one in line], "_", color=COLORS[place], markersize=12)
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yscale("log")


if __name__ == "__main__":
    main()
