"""How long Private Evolution takes. Run: python -m benchmarks.evolution [--large].

CPU seconds on one thread: 1e5 records and 2000 candidates in the plane for 5 iterations; with --large, 1e6 records,
population 1000 and T = 2 log n. The memory is by how much the peak of the process grew from the open table to the
release, over the size of the data (16 bytes a record): the curator's own copy of the coordinates is in it, and so are
the rows that are drawn, which are as large as the data where there are as many. Seeds are fixed: NOT PRIVATE.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

import numpy as np

from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.evolution.euclidean import Box, point_schema
from counterfoil.evolution.private_evolution import PrivateEvolution

SCHEMA = point_schema((0, 0), (1, 1))


def measure(name: str, n: int, preset: str, population: int, iterations: int | None, rows: int | None) -> None:
    """Prints what one run took, from the open table on, and the memory that was added to it."""
    points = np.random.default_rng(0).random((n, 2))
    curator = Curator(points, SCHEMA, budget=Budget(1.0, 1e-6), relation="replace_one", seed=0)
    method = PrivateEvolution.preset(preset, space=Box.of(SCHEMA), iterations=iterations, population=population)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = time.process_time()
    synthesis = method.synthesize(curator, rows=rows)
    seconds = time.process_time() - seconds
    drawn = synthesis.to_arrow().nbytes / points.nbytes
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / points.nbytes
    parameters = synthesis.receipt.document["method"]["parameters"]
    print(
        f"{name}: CPU {seconds:.2f} s, {len(synthesis.weights)} candidates, {parameters['iterations']} iterations, "
        f"peak memory grew by {memory:.1f} times the data, of which {drawn:.1f} are the rows that were drawn",
        flush=True,
    )


Run = tuple[str, int, str, int, int | None, int | None]
RUNS: list[Run] = [
    ("n = 1e5, practical", 100_000, "practical", 130, 5, None),
    ("n = 1e5, bounded-lipschitz", 100_000, "bounded-lipschitz", 130, 5, None),
]
LARGE: list[Run] = [
    ("n = 1e6, practical, 1000 rows drawn", 1_000_000, "practical", 1000, None, 1000),
    ("n = 1e6, practical", 1_000_000, "practical", 1000, None, None),
]

if __name__ == "__main__":
    for run in RUNS + (LARGE if "--large" in sys.argv[1:] else []):
        # A process of its own for each: the peak of an earlier run would hide that of a later one.
        process = multiprocessing.get_context("spawn").Process(target=measure, args=run)
        process.start()
        process.join()
