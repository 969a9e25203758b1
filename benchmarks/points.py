"""Which method for points: the measure tree, Private Evolution, and AIM on a grid, in 3 and 6 dimensions.

Run: python -m benchmarks.points [--rows 1000000] [--dimensions 3 6] [--epsilons 0.3 1 4] [--runs 2]

Two sources in [0, 1]^d, whose coordinates are related in two ways: five clusters with axes of their own, and a curved
surface of two dimensions. The error is the sliced W_1 to the records (32 directions, all points), over the same of
as many fresh draws from the source, which is what noise-free data of that size would have. AIM counts marginals of two
and of three coordinates in 24 cells each. CPU seconds on one thread, of the release with its rows. Seeds are fixed:
NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.methods.aim import AIM
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.methods.method import Method
from counterfoil.transport import sliced

DELTA = 1e-9
GRID = 24
DIRECTIONS = 32


def clusters(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """float64 [n, d]: five normal clusters, the same ones for every call with d."""
    fixed = np.random.default_rng(d)
    centers, shapes = fixed.uniform(0.2, 0.8, (5, d)), fixed.normal(0, 0.08, (5, d, d)) / np.sqrt(d)
    which = rng.choice(5, n, p=[0.35, 0.25, 0.2, 0.15, 0.05])
    return np.clip(centers[which] + np.einsum("nij,nj->ni", shapes[which], rng.normal(size=(n, d))), 0, 1)


def surface(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """float64 [n, d]: waves of two hidden coordinates, and a little noise."""
    hidden = rng.random((n, 2)) ** 1.5
    angles = np.random.default_rng(d).uniform(1, 4, (2, d))
    return np.clip(0.5 + 0.4 * np.sin(hidden @ angles + np.arange(d)) + rng.normal(0, 0.01, (n, d)), 0, 1)


SOURCES: dict[str, Callable[[int, int, np.random.Generator], np.ndarray]] = {"clusters": clusters, "surface": surface}


def methods(d: int) -> dict[str, tuple[Method, int, float]]:
    """By name: the method, the cells of a coordinate, and delta."""
    box = Box.of(point_schema((0.0,) * d, (1.0,) * d))
    found: dict[str, tuple[Method, int, float]] = {
        "measure tree": (MeasureTree(), 256, 0.0),
        "evolution": (PrivateEvolution.preset("practical", space=box), 256, DELTA),
        "AIM, pairs": (AIM(), GRID, DELTA),
        "AIM, triples": (AIM(workload=3), GRID, DELTA),
    }
    return found


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Sliced W_1, in sides of the box."""
    return sliced.distance(one, other, rng=np.random.default_rng(1), n_projections=DIRECTIONS)


def release(points: np.ndarray, epsilon: float, method: Method, bins: int, delta: float, seed: int) -> np.ndarray:
    """float64 [rows, d]: the synthetic points."""
    d = points.shape[1]
    schema = point_schema((0.0,) * d, (1.0,) * d, bins=bins)
    with Curator(points, schema, budget=Budget(epsilon, delta), seed=seed) as curator:
        table = method.synthesize(curator).to_arrow()
    return np.stack([table.column(f"x{i}").to_numpy() for i in range(d)], axis=1)


def main() -> None:
    """Prints a line for each source, epsilon and method: means over runs."""
    parser = argparse.ArgumentParser(description="Methods for points. NOT PRIVATE: seeds are fixed.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[3, 6])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 4.0])
    parser.add_argument("--methods", nargs="+", default=list(methods(2)))
    parser.add_argument("--runs", type=int, default=2)
    asked = parser.parse_args()
    for name, source in SOURCES.items():
        for d in asked.dimensions:
            points = source(asked.rows, d, np.random.default_rng(0))
            fresh = distance(points, source(asked.rows, d, np.random.default_rng(1)))
            print(f"{name}, {d} dimensions, {asked.rows:,} rows; fresh draws are off by {fresh:.5f}", flush=True)
            for epsilon in asked.epsilons:
                for label in asked.methods:
                    method, bins, delta = methods(d)[label]
                    started = time.process_time()
                    made = [release(points, epsilon, method, bins, delta, seed) for seed in range(asked.runs)]
                    seconds = (time.process_time() - started) / asked.runs
                    error = float(np.mean([distance(points, one) for one in made]))
                    print(
                        f"  epsilon {epsilon:<4g} {label:13s} off by {error:.5f} ({error / fresh:6.1f} times fresh "
                        f"draws)  CPU {seconds:.1f} s",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
