"""The fits of weights on a public support: CPU seconds beside other solvers, and how close the weights are to records.

Run: OMP_NUM_THREADS=1 python -m benchmarks.reweighting_fits [--seeds 10] [--data ../shared/data] [--only programs]

*Programs*: the smallest largest error of 1000 random signs on 500 points, of 2000 on 1000, and of 1000 on 2000, to 1e-4
of the optimum by the dual value: our interior point, and those of PuLP's CBC and of HiGHS (highspy) that are installed.
The fit adds the densest of the optima. CBC runs in a process of its own, whose CPU seconds are counted; it takes two
minutes for the second size.

*Tables*: COMPAS as its papers encode it, replace one, epsilon 1, delta 1e-9, Gaussian noise. A share of mu squared buys
the one-way marginals, the rest all pairs; the support is 20,000 draws from the product of one-way marginals, which join
both answers by inverse variances. Errors are mean L1 distances of normalized pairs between the weights (not rows) and
the records. Exact answers are taken by `reveal_without_privacy`, seeds are fixed: NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import math
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow.csv as arrow_csv
from scipy import sparse

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.reweighting import highs_interior_point, interior_point
from counterfoil.reweighting.likelihood_fit import default_weight, fit_likelihood
from counterfoil.reweighting.minimax_fit import fit_minimax
from counterfoil.reweighting.program import WeightProgram
from counterfoil.schema import Schema
from counterfoil.synthesis.resampling import independent, systematic
from counterfoil.threads import on_one_thread

SCHEMA = Path(__file__).parent / "schemas" / "encoded_compas.schema.toml"
T = TypeVar("T")
BUDGET = Budget(1.0, 1e-9)
SIZES = ((1000, 500), (2000, 1000), (1000, 2000))
REPLACE_ONE = 2.0
"""A record that is replaced moves two cells of each marginal by 1, a distance whose square is 2."""


def cpu() -> float:
    """Of this process and of those that it started."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """Its value, and CPU seconds."""
    started = cpu()
    value = function()
    return value, cpu() - started


def signs(functions: int, points: int, seed: int) -> WeightProgram:
    """Averages of random signs under a random density, with noise."""
    rng = np.random.default_rng(seed)
    values = rng.choice([-1.0, 1.0], (functions, points))
    targets = values @ rng.dirichlet(np.ones(points)) + 0.05 * rng.normal(size=functions)
    return WeightProgram(values, targets, 0.05, np.full(points, 1 / points))


def by_cbc(program: WeightProgram) -> float:
    """The program in the words of PuLP, solved as the papers' code does."""
    import pulp

    table = program.values
    problem = pulp.LpProblem("minimax", pulp.LpMinimize)
    weights = [pulp.LpVariable(f"w{i}", 0) for i in range(program.n_points)]
    error = pulp.LpVariable("t", 0)
    problem += error
    for values, target in zip(table, program.targets, strict=True):
        average = pulp.LpAffineExpression(list(zip(weights, values, strict=True)))
        problem += average - target <= error
        problem += average - target >= -error
    problem += pulp.lpSum(weights) == 1
    problem.solve(pulp.PULP_CBC_CMD(msg=False, threads=1))
    return float(error.value())


def by_highs(program: WeightProgram, solver: str) -> float:
    """HiGHS with its own tolerances; interior points cross over to a vertex."""
    package = highs_interior_point.highs()
    solving = package.Highs()
    for option, value in {"output_flag": False, "threads": 1, "solver": solver}.items():
        solving.setOptionValue(option, value)
    units = np.ones(program.n_functions)
    solving.passModel(highs_interior_point._model(package, program.values, program.targets, units))
    solving.run()
    return float(solving.getObjectiveValue())


def programs() -> None:
    """Prints a line for each solver that is installed."""
    solve = on_one_thread(interior_point.solve)
    others: dict[str, Callable[[WeightProgram], float]] = {}
    if importlib.util.find_spec("highspy"):
        others |= {"HiGHS ipm": lambda p: by_highs(p, "ipm"), "HiGHS simplex": lambda p: by_highs(p, "simplex")}
    if importlib.util.find_spec("pulp"):
        others |= {"CBC (PuLP)": by_cbc}
    for functions, points in SIZES:
        program, ones = signs(functions, points, 0), np.ones(functions)
        found, seconds = timed(lambda p=program, c=ones: solve(p.values, p.targets, c, p.prior))
        fit, with_densest = timed(lambda p=program: fit_minimax(p))
        size = f"{functions} x {points}"
        gap = (found.distance - found.bound) / found.distance
        print(f"{size}  ours           t {found.distance:.6f}  CPU {seconds:6.2f} s  proved to {gap:.1e}")
        gap = fit.outcome.relative_gap
        print(f"{size}  ours, densest  t {fit.distance:.6f}  CPU {with_densest:6.2f} s  proved to {gap:.1e}")
        for name, other in others.items():
            optimum, seconds = timed(lambda p=program, solver=other: solver(p))
            print(f"{size}  {name:14s} t {optimum:.6f}  CPU {seconds:6.2f} s", flush=True)


@dataclass(frozen=True)
class Table:
    """Codes [rows, columns], the sizes of columns, and the exact shares of all pairs, one after the other."""

    codes: np.ndarray
    sizes: tuple[int, ...]

    @property
    def cliques(self) -> list[tuple[int, ...]]:
        """Pairs first, then columns."""
        columns = range(len(self.sizes))
        return [*itertools.combinations(columns, 2), *((column,) for column in columns)]

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """[points, cliques]: the cell of each point in each clique, of all cells one after the other."""
        parts, offset = [], 0
        for clique in self.cliques:
            sizes = [self.sizes[column] for column in clique]
            parts.append(offset + np.ravel_multi_index([codes[:, column] for column in clique], sizes))
            offset += math.prod(sizes)
        return np.stack(parts, axis=1)

    @property
    def n_cells(self) -> int:
        """Of all cliques."""
        return sum(math.prod(self.sizes[column] for column in clique) for clique in self.cliques)

    def shares(self, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """[n_cells]."""
        cells = self.cells(codes)
        return np.bincount(cells.ravel(), np.repeat(weights, cells.shape[1]), minlength=self.n_cells)


def read(data: Path) -> Table:
    """COMPAS, as its papers encode it."""
    schema = Schema.from_toml(SCHEMA)
    with Curator(arrow_csv.read_csv(data / "paper_encoded" / "compas.csv"), schema, budget=BUDGET, seed=1) as curator:
        coded = curator.reveal_without_privacy("A benchmark of fits.")
        names, sizes = curator.domain.attributes, curator.domain.sizes
    return Table(np.stack([coded.column(name).to_numpy() for name in names], axis=1), tuple(sizes))


def noisy_program(table: Table, share: float, draws: int, seed: int) -> tuple[WeightProgram, np.ndarray]:
    """The noisy answers on a support of `draws` from their product, and the codes of the support."""
    rng = np.random.default_rng(seed)
    rows, columns = table.codes.shape
    pairs, capacity = columns * (columns - 1) // 2, GaussianFilter().capacity(BUDGET)
    of_pairs, of_columns = (
        math.sqrt(REPLACE_ONE * count / (part * capacity)) / rows
        for count, part in ((pairs, 1 - share), (columns, share))
    )
    n_columns_cells = sum(table.sizes)
    scales = np.repeat([of_pairs, of_columns], [table.n_cells - n_columns_cells, n_columns_cells])
    targets = table.shares(table.codes, np.full(rows, 1 / rows)) + scales * rng.normal(size=table.n_cells)
    product = joined_columns(table, targets, scales)
    drawn = np.stack([rng.choice(len(shares), draws, p=shares) for shares in product], axis=1)
    support, counts = np.unique(drawn, axis=0, return_counts=True)
    cells = table.cells(support)
    starts = np.arange(0, cells.size + 1, cells.shape[1])
    values = sparse.csc_array((np.ones(cells.size), cells.ravel(), starts), shape=(table.n_cells, len(support)))
    return WeightProgram(values, targets, scales, counts / draws), support


def joined_columns(table: Table, targets: np.ndarray, scales: np.ndarray) -> list[np.ndarray]:
    """Densities of the columns: their own answers and the sums of their pairs, by inverse variances, projected."""
    weighted, precision = ([np.zeros(size) for size in table.sizes] for _ in range(2))
    start = 0
    for clique in table.cliques:
        sizes = [table.sizes[column] for column in clique]
        part = slice(start, start := start + math.prod(sizes))
        answers, variances = targets[part].reshape(sizes), scales[part].reshape(sizes) ** 2
        for axis, column in enumerate(clique):
            others = tuple(other for other in range(len(sizes)) if other != axis)
            weight = 1 / variances.sum(axis=others)
            weighted[column] += weight * answers.sum(axis=others)
            precision[column] += weight
    return [projected(sums / weights) for sums, weights in zip(weighted, precision, strict=True)]


def projected(shares: np.ndarray) -> np.ndarray:
    """The nearest density in Euclidean distance."""
    ordered = np.sort(shares)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(shares) + 1)
    density = np.maximum(shares - shifts[ordered > shifts][-1], 0)
    return density / density.sum()


def tables(data: Path, seeds: int) -> None:
    """Prints a line for each fit: means over seeds."""
    table = read(data)
    rows, pairs = len(table.codes), len(table.sizes) * (len(table.sizes) - 1) // 2
    of_pairs = table.n_cells - sum(table.sizes)
    exact = table.shares(table.codes, np.full(rows, 1 / rows))
    figures: dict[str, list[tuple[float, float, float]]] = {}

    def note(name: str, program: WeightProgram, weights: np.ndarray, seconds: float) -> None:
        error = np.abs(program.averages(weights) - exact)[:of_pairs].sum() / pairs
        figures.setdefault(name, []).append((error, seconds, 1 / np.square(weights).sum()))

    for seed in range(seeds):
        for draws in (20_000, 50_000):
            program, _ = noisy_program(table, 0.2, draws, seed)
            rule = default_weight(program)
            for factor in (0.25, 0.5, 1.0, 2.0, 4.0) if draws == 20_000 else (1.0,):
                fit, seconds = timed(lambda p=program, w=factor * rule: fit_likelihood(p, weight=w))
                note(f"likelihood, {draws:,} draws, {factor:g} times the rule", program, fit.weights, seconds)
                if factor == 1 and draws == 20_000:
                    for name, rounded in roundings(fit.weights, rows, seed).items():
                        note(f"  {rows} rows, {name}", program, rounded, 0.0)
        program, _ = noisy_program(table, 0.2, 20_000, seed)
        note("prior alone", program, program.prior, 0.0)
        fit, seconds = timed(lambda p=program: fit_minimax(p))
        note("minimax, densest", program, fit.weights, seconds)
        if importlib.util.find_spec("highspy"):
            reached = program.restricted(program.reached())
            found, seconds = timed(
                lambda p=reached: highs_interior_point.solve_with_highs(
                    p.values, p.targets, np.ones(p.n_functions), p.prior
                )
            )
            note("minimax, interior point of HiGHS", program, found.weights, seconds)
    print(f"COMPAS, {rows} records, {of_pairs} cells of {pairs} pairs; means of {seeds} seeds")
    for name, runs in figures.items():
        error, seconds, effective = np.mean(runs, axis=0)
        spread = np.std([run[0] for run in runs], ddof=1) / math.sqrt(len(runs)) if len(runs) > 1 else math.nan
        print(f"{name:52s} error {error:.4f} +- {spread:.4f}  CPU {seconds:5.2f} s  effective points {effective:7.0f}")


def roundings(weights: np.ndarray, rows: int, seed: int) -> dict[str, np.ndarray]:
    """Weights of rows that were drawn from weights, in three ways."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(weights))
    drawn = {
        "systematic, random order": order[systematic(weights[order], rows, rng)],
        "systematic, sorted codes": systematic(weights, rows, rng),
        "independent": independent(weights, rows, rng),
    }
    return {name: np.bincount(chosen, minlength=len(weights)) / rows for name, chosen in drawn.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", choices=["programs", "tables"], default=["programs", "tables"])
    arguments = parser.parse_args()
    if "tables" in arguments.only:
        tables(arguments.data, arguments.seeds)
    if "programs" in arguments.only:
        programs()


if __name__ == "__main__":
    main()
