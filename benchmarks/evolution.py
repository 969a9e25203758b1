"""How long Private Evolution takes. Run: python -m benchmarks.evolution [--large] [--nearest].

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
from importlib.util import find_spec
from unittest import mock

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.transport import flat_screen
from counterfoil.transport.nearest import Nearest

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


def measure_nearest(dimension: int) -> None:
    """Prints what the search took, with and without faiss, one after the other; the answers are compared."""
    rng = np.random.default_rng(0)
    points, candidates = rng.normal(size=(100_000, dimension)), rng.normal(size=(10_000, dimension))
    seconds, chosen = {}, {}
    for name, fewest in (("with faiss", flat_screen.FEWEST_CANDIDATES), ("without", sys.maxsize)):
        with mock.patch.object(flat_screen, "FEWEST_CANDIDATES", fewest):
            start = time.process_time()
            chosen[name] = Nearest(candidates).of(points)
            seconds[name] = time.process_time() - start
    assert np.array_equal(chosen["with faiss"], chosen["without"])
    shown = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    print(
        f"nearest of 1e4 in {dimension} dimensions: CPU {shown}, ratio {seconds['with faiss'] / seconds['without']:.2f}"
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
    if "--nearest" in sys.argv[1:]:
        if find_spec("faiss") is None:
            print("faiss is not installed: both figures of a line are without it")
        for dimension in (2, 4, 5, 8, 12, 18, 32):
            measure_nearest(dimension)
