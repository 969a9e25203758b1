"""The measure tree on the coordinates of 20,640 Californian districts, beside the published mechanism.

Run: python -m benchmarks.measure_tree [SEEDS]. The box of the schema is mapped to the unit square; W_1 is told sliced
(128 directions, all points) and exact between histograms of 128 x 128 cells. Seeds are fixed: NOT PRIVATE.

The published mechanism is that of He, Vershynin and Zhu 2023, Algorithm 3. Its proof asks for costs of all depths that
add up to epsilon. The program that its authors published (github.com/kasanhyy/PMM, pmm.py) leaves the constant out that
makes them do so, and spends what is printed. (It spends more: noise of scale s is cut to integers towards zero, 0 is
then 2 exp(1 / s) times as likely as 1, and a count may cost another log 2.) It is run as it is, and told so little that
it spends epsilon but for the rounding.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow_csv

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid, Halving
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.schema import Schema
from counterfoil.synthesis.resampling import systematic
from counterfoil.transport import sliced, wasserstein

DATA = Path(__file__).parents[2] / "shared" / "data" / "california_housing.csv.gz"
SCHEMA = Path(__file__).parent / "schemas" / "california_coordinates.schema.toml"
SQUARE = Box(("x", "y"), (0.0, 0.0), (1.0, 1.0))
CELLS = Grid(SQUARE, (128, 128))


def main(seeds: int) -> None:
    """Prints a line for each epsilon and method: means over seeds."""
    schema = Schema.from_toml(SCHEMA)
    box = Box.of(schema)
    table = arrow_csv.read_csv(DATA)
    points = unit(np.stack([table.column(name).to_numpy() for name in box.numbers], axis=1), box)
    rng = np.random.default_rng(0)
    report("bootstrap", 0.0, [points[rng.integers(0, len(points), len(points))] for _ in range(2)], points)
    for epsilon in (0.5, 1.0, 2.0):
        made, seconds = [], time.process_time()
        for seed in range(seeds):
            with Curator(table.select(box.numbers), schema, budget=Budget(epsilon), seed=seed) as curator:
                found = MeasureTree().synthesize(curator).to_arrow()
            made.append(unit(np.stack([found.column(name).to_numpy() for name in box.numbers], axis=1), box))
        report("measure tree", epsilon, made, points, (time.process_time() - seconds) / seeds)
        report("published mechanism", epsilon, [published(points, epsilon, seed) for seed in range(2)], points)
        for name, given in (("its program", epsilon), ("its program, less epsilon", affordable(len(points), epsilon))):
            made = [program(points, given, seed) for seed in range(seeds)]
            spent = spent_by_program(len(points), given)
            report(f"{name} (spends {spent:.2f})", epsilon, made, points)


def unit(points: np.ndarray, box: Box) -> np.ndarray:
    """Points [n, 2] with the box mapped to the unit square."""
    return (points - box.lower) / np.subtract(box.upper, box.lower)


def report(name: str, epsilon: float, made: list[np.ndarray], points: np.ndarray, seconds: float | None = None) -> None:
    """Prints both distances."""
    errors = []
    for synthetic in made:
        shares = [np.bincount(CELLS.assign(x), minlength=CELLS.size) / len(x) for x in (points, synthetic)]
        gained, lost = np.maximum(shares[0] - shares[1], 0), np.maximum(shares[1] - shares[0], 0)
        moved = gained.sum()
        centers = CELLS.centers(np.arange(CELLS.size))
        exact = moved * wasserstein.distance(
            centers[gained > 0], centers[lost > 0], weights_a=gained[gained > 0], weights_b=lost[lost > 0]
        )
        errors.append((sliced.distance(points, synthetic, rng=np.random.default_rng(1), n_projections=128), exact))
    slices, exact = np.mean(errors, axis=0)
    cost = f"  CPU {seconds:.2f} s" if seconds is not None else ""
    print(f"epsilon {epsilon:<4g} {name:42s} sliced {slices:.5f}  exact {exact:.5f}{cost}", flush=True)


def depth_of(n: int, epsilon: float) -> int:
    """r: about n epsilon leaves."""
    return int(np.ceil(np.log2(n * epsilon)))


def published(points: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    """Noisy counts at every depth j, of cost in proportion to 2**(j / 4); both halves share alike in what is over."""
    rng, depth = np.random.default_rng(seed), depth_of(len(points), epsilon)
    shape = 2.0 ** (np.arange(depth + 1) / 4)
    scales = shape.sum() / shape / epsilon
    order = Halving(SQUARE, depth)
    codes = order.codes(points)
    kept = np.maximum(len(points) + rng.laplace(0, scales[0], 1), 0)
    for level in range(1, depth + 1):
        counts = np.bincount(codes >> (depth - level), minlength=2**level)
        noisy = np.maximum(counts + rng.laplace(0, scales[level], 2**level), 0).reshape(-1, 2)
        noisy += (kept - noisy.sum(axis=1))[:, None] / 2
        first = np.clip(noisy[:, 0], 0, kept)
        kept = np.stack([first, kept - first], axis=1).ravel()
    chosen = systematic(kept, len(points), rng)
    return order.draw(chosen, np.full(len(chosen), depth), rng)


def program_scales(n: int, epsilon: float) -> np.ndarray:
    """Of the noise at depths 0 to r."""
    depth = depth_of(n, epsilon)
    scales: np.ndarray = 2.0 ** ((depth - np.arange(depth + 1)) / 4) / epsilon
    return scales


def spent_by_program(n: int, epsilon: float) -> float:
    """By a record that is added or removed: the costs of one cell at each depth."""
    return float((1 / program_scales(n, epsilon)).sum())


def affordable(n: int, epsilon: float) -> float:
    """What the program must be told to spend `epsilon`."""
    given = epsilon
    for _ in range(20):
        given *= epsilon / spent_by_program(n, given)
    return given


def program(points: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    """Whole numbers at every depth; halves share a cell's in proportion to their noisy counts, rounded down."""
    rng, scales = np.random.default_rng(seed), program_scales(len(points), epsilon)
    depth = len(scales) - 1
    order = Halving(SQUARE, depth)
    codes = order.codes(points)
    for level, scale in enumerate(scales):
        counts = np.bincount(codes >> (depth - level), minlength=2**level)
        noisy = np.maximum(counts + np.trunc(rng.laplace(0, scale, 2**level)), 0)
        if level == 0:
            kept = noisy
            continue
        pairs = noisy.reshape(-1, 2)
        sums = pairs.sum(axis=1)
        first = np.floor(kept * np.where(sums > 0, pairs[:, 0] / np.maximum(sums, 1), 0.5))
        kept = np.stack([first, kept - first], axis=1).ravel()
    chosen = np.repeat(np.arange(2**depth), kept.astype(int))
    return order.draw(chosen, np.full(len(chosen), depth), rng)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
