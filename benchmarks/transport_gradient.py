"""W_2^2 on the line and its gradient beside POT's with automatic differentiation, and beside plain numpy.

Run: python -m benchmarks.transport_gradient [--quick]. Medians of CPU seconds on one thread, taken in turns: two
samples of n normal numbers each, as drawn and clipped to [-1, 1], which ties a third of them; then the step of a
training run, 50 projections of 3000 points in the plane on either side. The numpy column is the formula for equal sizes
after two stable sorts, without ties. Needs POT and torch: pip install "counterfoil[transport,torch]".
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np

from counterfoil.transport.rank_gradient import random_directions, sliced_gradient, squared_wasserstein_gradient

try:
    import ot
    import torch
except ImportError as error:
    raise SystemExit(f'{error}. Run: pip install "counterfoil[transport,torch]"') from error

SIZES = [1_000, 3_000, 10_000, 100_000, 1_000_000]
QUICK_SIZES = [1_000, 10_000]
LEAST_SECONDS = 0.02


def by_numpy(u: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    n = len(u)
    order_u, order_v = np.argsort(u, kind="stable"), np.argsort(v, kind="stable")
    gaps = u[order_u] - v[order_v]
    of_u, of_v = np.empty(n), np.empty(n)
    of_u[order_u], of_v[order_v] = 2 / n * gaps, -2 / n * gaps
    return float(gaps @ gaps) / n, of_u, of_v


def by_pot(u: np.ndarray, v: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    leaves = [torch.tensor(x, requires_grad=True) for x in (u, v)]
    value = ot.wasserstein_1d(*leaves, p=2)
    value.backward()
    return value.item(), leaves[0].grad.numpy(), leaves[1].grad.numpy()


def sliced_by_pot(u: np.ndarray, v: np.ndarray, directions: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    leaves, turned = [torch.tensor(x, requires_grad=True) for x in (u, v)], torch.tensor(directions.T)
    value = ot.wasserstein_1d(leaves[0] @ turned, leaves[1] @ turned, p=2).mean()
    value.backward()
    return value.item(), leaves[0].grad.numpy(), leaves[1].grad.numpy()


def seconds(calls: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The median CPU seconds of each call, in turns, each repeated within a turn until the clock can measure it."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(repeats + 1):
        for call, found in zip(calls, times, strict=True):
            start, runs, taken = time.process_time(), 0, 0.0
            while taken < LEAST_SECONDS:
                call()
                runs, taken = runs + 1, time.process_time() - start
            if turn:  # the first one compiles and loads
                found.append(taken / runs)
    return [median(found) for found in times]


def measure(n: int, clipped: bool, repeats: int) -> None:
    rng = np.random.default_rng(n)
    u, v = rng.standard_normal(n), rng.standard_normal(n) + 0.1
    if clipped:
        u, v = np.clip(u, -1, 1), np.clip(v, -1, 1)
    found, other = squared_wasserstein_gradient(u, v), by_pot(u, v)
    assert np.isclose(found.value, other[0], rtol=1e-9)
    if not clipped:
        assert np.allclose(found.of_u, other[1], atol=1e-9 / n)
    ours, pot, plain = seconds(
        [lambda: squared_wasserstein_gradient(u, v), lambda: by_pot(u, v), lambda: by_numpy(u, v)], repeats
    )
    show(f"n = {n:>9,}, {'clipped' if clipped else 'normal'}", ours, pot, f"numpy {1e3 * plain:9.3f} ms")


def measure_step(repeats: int) -> None:
    rng = np.random.default_rng(0)
    u, v, directions = rng.standard_normal((3000, 2)), rng.standard_normal((3000, 2)), random_directions(rng, 50, 2)
    found, other = sliced_gradient(u, v, directions), sliced_by_pot(u, v, directions)
    assert np.isclose(found.value, other[0], rtol=1e-9)
    assert np.allclose(found.of_u, other[1], atol=1e-9 / 3000)
    ours, pot = seconds([lambda: sliced_gradient(u, v, directions), lambda: sliced_by_pot(u, v, directions)], repeats)
    show("50 directions, n = 3,000", ours, pot, "")


def show(name: str, ours: float, pot: float, more: str) -> None:
    print(f"{name:28} ours {1e3 * ours:9.3f} ms  POT {1e3 * pot:9.3f} ms ({pot / ours:5.1f} times)  {more}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only up to 10,000 points, three turns")
    quick = parser.parse_args().quick
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="The use of `x.T`", category=UserWarning)  # POT on tensors
    for n in QUICK_SIZES if quick else SIZES:
        for clipped in (False, True):
            measure(n, clipped, 3 if quick else 7)
    measure_step(3 if quick else 7)


if __name__ == "__main__":
    main()
