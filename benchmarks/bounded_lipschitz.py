"""What the D_BL projection costs, beside the linear program and beside the simplex over all moves, in one run.

Run: OMP_NUM_THREADS=1 python benchmarks/bounded_lipschitz.py [--quick]

Two kinds of signed measures on a disk: *noisy* is a clustered histogram with Gaussian noise, as Private Evolution
makes them; *far* adds a heavy point on one side and a deficit on the other, so that mass must cross the disk. The
targets are CPU seconds and peak memory of this process; each size runs in its own process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from counterfoil.transport import bounded_lipschitz, partial


def signed_measure(kind: str, m: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m)
    points = rng.normal(size=(m, dimension))
    points /= np.maximum(1, np.linalg.norm(points, axis=1))[:, None]
    noise = rng.normal(size=m) * 2 / m
    if kind == "noisy":
        return points, rng.dirichlet(np.full(m, 0.1)) + noise
    signed = noise - noise.mean() + points[:, 0] / m
    signed[np.argmin(points[:, 0])] += 1
    return points, signed


def linear_program(points: np.ndarray, signed: np.ndarray) -> float:
    """The program of m^2 variables (Algorithm 2 of He, Vershynin, Zhu 2023): flows between all points."""
    m = len(signed)
    costs = cdist(points, points)
    diameter = costs.max()
    # Moving flow_ij, removing r_i, creating c_i: signed - mu = out - in + r - c.
    i, j = np.divmod(np.arange(m * m), m)
    arcs = np.arange(m * m)
    moves = sparse.coo_matrix(
        (np.r_[np.ones(m * m), -np.ones(m * m)], (np.r_[i, j], np.r_[arcs, arcs])), shape=(m, m * m)
    )
    unit = sparse.eye(m)
    balance = sparse.hstack([moves, unit, -unit, unit]).tocsr()  # ..., the last m variables are mu
    total = sparse.hstack([sparse.csr_matrix((1, m * m + 2 * m)), np.ones((1, m))]).tocsr()
    objective = np.r_[costs.ravel(), np.full(2 * m, diameter), np.zeros(m)]
    found = linprog(objective, A_eq=sparse.vstack([balance, total]), b_eq=np.r_[signed, 1.0], method="highs")
    return float(found.fun)


def measure(kind: str, m: int, dimension: int, oracle: str) -> dict[str, object]:
    points, signed = signed_measure(kind, m, dimension)
    partial.exact_transport()  # importing POT takes longer than small problems do
    bounded_lipschitz.project(points[:50], signed[:50])
    repeats = 20 if m <= 500 else 1
    started = time.process_time()
    for _ in range(repeats):
        found = bounded_lipschitz.project(points, signed)
    seconds = (time.process_time() - started) / repeats
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    result: dict[str, object] = {"kind": kind, "m": m, "d": dimension, "cpu_s": round(seconds, 4)}
    result |= {"peak_GiB": round(memory, 2), "distance": found.distance, "relative_gap": found.gap / found.distance}
    started = time.process_time()
    if oracle == "program":
        other = linear_program(points, signed)
    elif oracle == "simplex":
        partial.ALL_MOVES = sys.maxsize
        other = bounded_lipschitz.project(points, signed).distance
    else:
        return result
    other_seconds = time.process_time() - started
    agreement = abs(other - found.distance) / found.distance
    return result | {"oracle": oracle, "times_faster": round(other_seconds / seconds, 1), "disagreement": agreement}


CASES = [
    ("noisy", 300, 2, "program"),
    ("far", 300, 2, "program"),
    ("noisy", 6000, 2, "simplex"),
    ("far", 6000, 2, "simplex"),
    ("noisy", 6000, 10, "none"),
    ("noisy", 20000, 2, "none"),
    ("far", 20000, 2, "none"),
    ("noisy", 20000, 5, "none"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only up to 300 points")
    parser.add_argument("--case", nargs=4)
    arguments = parser.parse_args()
    if arguments.case:
        kind, m, dimension, oracle = arguments.case
        print(json.dumps(measure(kind, int(m), int(dimension), oracle)))
        return
    for case in CASES:
        if case[1] <= 300 or not arguments.quick:
            subprocess.run([sys.executable, __file__, "--case", *map(str, case)], check=True)


if __name__ == "__main__":
    main()
