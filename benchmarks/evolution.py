"""How long Private Evolution takes. Run: python -m benchmarks.evolution [--large].

CPU seconds on one thread: 1e5 records and 2000 candidates in the plane for 5 iterations; with --large, 1e6 records,
population 1000 and T = 2 log n, with the memory that it took beside the data (1000 rows are drawn). Seeds are fixed:
NOT PRIVATE.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.evolution.euclidean import Box, point_schema
from counterfoil.evolution.private_evolution import PrivateEvolution

SCHEMA = point_schema((0, 0), (1, 1))


def measure(
    name: str, n: int, preset: str, *, population: int | None, iterations: int | None, rows: int | None = None
) -> None:
    """Prints what one run took, from the open table on, and the memory that was added to it."""
    points = np.random.default_rng(0).random((n, 2))
    curator = Curator(points, SCHEMA, budget=Budget(1.0, 1e-6), relation="replace_one", seed=0)
    method = PrivateEvolution.preset(preset, space=Box.of(SCHEMA), iterations=iterations, population=population)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = time.process_time()
    synthesis = method.synthesize(curator, rows=rows)
    seconds = time.process_time() - seconds
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / points.nbytes
    parameters = synthesis.receipt.document["method"]["parameters"]
    print(
        f"{name}: CPU {seconds:.2f} s, {len(synthesis.weights)} candidates, {parameters['iterations']} iterations, "
        f"peak memory grew by {memory:.1f} times the data",
        flush=True,
    )


if __name__ == "__main__":
    for preset in ("practical", "bounded-lipschitz"):
        measure(f"n = 1e5, {preset}", 100_000, preset, population=130, iterations=5)
    if "--large" in sys.argv[1:]:
        measure("n = 1e6, practical", 1_000_000, "practical", population=1000, iterations=None, rows=1000)
