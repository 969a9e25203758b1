"""The measure tree on the coordinates of 20,640 Californian districts, beside the published mechanism.

Run: python -m benchmarks.measure_tree [SEEDS]. The box of the schema is mapped to the unit square; W_1 is told sliced
(128 directions, all points) and exact between histograms of 128 x 128 cells. Seeds are fixed: NOT PRIVATE.

The published mechanism (He, Vershynin and Zhu 2023, Algorithm 3) is run twice. Once with scales 1 / epsilon_j whose
epsilon_j add up to epsilon, as its proof of privacy asks; once with the scales 2**((r - j) / 4) / epsilon, which have
the right shape but not the constant that makes the costs add up: they spend the multiple of epsilon that is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow_csv

from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.evolution.euclidean import Box
from counterfoil.evolution.measure_tree import MeasureTree
from counterfoil.evolution.partition import Grid, Halving
from counterfoil.evolution.resampling import systematic
from counterfoil.schema import Schema
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
    report("bootstrap", 0.0, [points[rng.integers(0, len(points), len(points))] for _ in range(2)], points, 0.0)
    for epsilon in (0.5, 1.0, 2.0):
        made, seconds = [], time.process_time()
        for seed in range(seeds):
            with Curator(table.select(box.numbers), schema, budget=Budget(epsilon), seed=seed) as curator:
                found = MeasureTree().synthesize(curator).to_arrow()
            made.append(unit(np.stack([found.column(name).to_numpy() for name in box.numbers], axis=1), box))
        report("measure tree", epsilon, made, points, (time.process_time() - seconds) / seeds)
        for name, costs in (("published", normalized), ("published, constant left out", shape_only)):
            seconds = time.process_time()
            made = [published(points, epsilon, costs, seed) for seed in range(2)]
            total = sum(costs(epsilon, depth_of(points, epsilon))) / epsilon
            report(f"{name} (spends {total:.2f} epsilon)", epsilon, made, points, (time.process_time() - seconds) / 2)


def unit(points: np.ndarray, box: Box) -> np.ndarray:
    """Points [n, 2] with the box mapped to the unit square."""
    return (points - box.lower) / np.subtract(box.upper, box.lower)


def report(name: str, epsilon: float, made: list[np.ndarray], points: np.ndarray, seconds: float) -> None:
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
    print(f"epsilon {epsilon:<4g} {name:48s} sliced {slices:.5f}  exact {exact:.5f}  CPU {seconds:.2f} s", flush=True)


Costs = Callable[[float, int], list[float]]


def depth_of(points: np.ndarray, epsilon: float) -> int:
    """r: about n epsilon leaves."""
    return int(np.ceil(np.log2(len(points) * epsilon)))


def normalized(epsilon: float, depth: int) -> list[float]:
    """epsilon_j in proportion to 2**(j / 4), adding up to epsilon."""
    shape = 2.0 ** (np.arange(depth + 1) / 4)
    return list(epsilon * shape / shape.sum())


def shape_only(epsilon: float, depth: int) -> list[float]:
    """1 / sigma_j for sigma_j = 2**((r - j) / 4) / epsilon."""
    return list(epsilon * 2.0 ** ((np.arange(depth + 1) - depth) / 4))


def published(points: np.ndarray, epsilon: float, costs: Costs, seed: int) -> np.ndarray:
    """Noisy counts at every depth, made consistent from the top: both halves share alike in what is over."""
    rng, depth = np.random.default_rng(seed), depth_of(points, epsilon)
    order = Halving(SQUARE, depth)
    codes = order.codes(points)
    kept = np.maximum(len(points) + rng.laplace(0, 1 / costs(epsilon, depth)[0], 1), 0)
    for level in range(1, depth + 1):
        counts = np.bincount(codes >> (depth - level), minlength=2**level)
        noisy = np.maximum(counts + rng.laplace(0, 1 / costs(epsilon, depth)[level], 2**level), 0).reshape(-1, 2)
        noisy += (kept - noisy.sum(axis=1))[:, None] / 2
        first = np.clip(noisy[:, 0], 0, kept)
        kept = np.stack([first, kept - first], axis=1).ravel()
    chosen = systematic(kept, len(points), rng)
    return order.draw(chosen, np.full(len(chosen), depth), rng)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
