"""One evaluation of a fit: small steps in compiled loops over one vector, beside all steps as products of arrays.

Run: OMP_NUM_THREADS=1 python -m benchmarks.propagation [--repeats 15]

Each model is a program of products with random potentials, evaluated by both in turns; `ratio` is the median of the
ratios of their processor seconds, `first` how long it takes to prepare the loops and to run them once. The models:
trees, as MST fits them; and columns of 2 to 22 values with more and more pairs between them, as AIM adds them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.elimination import Program, compile_program
from counterfoil.graphical_model.junction_tree import build, megabytes
from counterfoil.graphical_model.propagation import Propagation
from counterfoil.graphical_model.repeated_propagation import RepeatedPropagation

LARGEST_MB = 80.0


def program_of(domain: Domain, cliques: Sequence[Clique]) -> Program:
    """The program that a fit of marginals on these cliques runs."""
    order = domain.axes(build(domain, cliques).elimination_order)
    return compile_program(domain.sizes, [domain.axes(clique) for clique in cliques], order)


def tree(columns: int, size: int, rng: np.random.Generator) -> tuple[Domain, list[Clique]]:
    """Each column with an earlier one."""
    names = tuple(f"c{i}" for i in range(columns))
    return Domain(names, (size,) * columns), [(names[rng.integers(0, i)], names[i]) for i in range(1, columns)]


def pairs(sizes: Sequence[int], more: int, rng: np.random.Generator) -> tuple[Domain, list[Clique]]:
    """A tree, and `more` pairs at most, as long as the model stays within its size."""
    names = tuple(f"c{i}" for i in range(len(sizes)))
    domain = Domain(names, tuple(sizes))
    cliques = [(names[rng.integers(0, i)], names[i]) for i in range(1, len(sizes))]
    for _ in range(more):
        one, other = sorted(rng.choice(len(sizes), 2, replace=False).tolist())
        pair = (names[one], names[other])
        if pair not in cliques and megabytes(domain, [*cliques, pair]) <= LARGEST_MB:
            cliques.append(pair)
    return domain, cliques


def models(rng: np.random.Generator) -> Iterator[tuple[str, Domain, list[Clique]]]:
    """Each with its name."""
    yield "tree of 20 columns", *tree(20, 4, rng)
    yield "tree of 200 columns", *tree(200, 4, rng)
    mixed = [2, 2, 3, 3, 5, 6, 6, 7, 7, 9, 11, 13, 14, 18, 18, 21, 22, 3, 4, 5, 2, 2, 6]
    for more in (10, 25, 50):
        yield f"23 columns of 2 to 22, +{more} pairs", *pairs(mixed, more, rng)
    for more in (10, 25, 50):
        yield f"20 columns of 2 or 3, +{more} pairs", *pairs([2 + i % 2 for i in range(20)], more, rng)


def seconds(evaluate: Callable[[], object]) -> float:
    """Processor seconds."""
    started = time.process_time()
    evaluate()
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(0)
    warm = program_of(*tree(3, 2, rng))
    RepeatedPropagation(warm).marginals([np.zeros([2, 2])] * 2)
    print(f"{'model':34} {'steps':>6} {'arrays ms':>10} {'loops ms':>9} {'ratio':>6} {'first ms':>9}")
    for name, domain, cliques in models(rng):
        program = program_of(domain, cliques)
        inputs = [rng.normal(0.0, 0.3, domain.shape(clique)) for clique in cliques]
        arrays = Propagation(program)
        arrays.marginals(inputs)
        started = time.process_time()
        loops = RepeatedPropagation(program)
        loops.marginals(inputs)
        first = time.process_time() - started
        times = [
            (seconds(lambda: arrays.marginals(inputs)), seconds(lambda: loops.marginals(inputs)))  # noqa: B023
            for _ in range(repeats)
        ]
        mine, other = (1e3 * statistics.median(pair[i] for pair in times) for i in (1, 0))
        ratio = statistics.median(pair[1] / pair[0] for pair in times)
        print(f"{name:34} {len(program.steps):6} {other:10.2f} {mine:9.2f} {ratio:6.2f} {1e3 * first:9.2f}")


if __name__ == "__main__":
    main()
