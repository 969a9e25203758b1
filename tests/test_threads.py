"""Blocks on several threads look from outside like blocks one after another."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.threads import in_order, thread_count


def made(items: list[int], seen: list[str], failing: int | None) -> Iterator[int]:
    for item in items:
        seen.append(threading.current_thread().name)
        if item == failing:
            raise OSError(f"item {item}")
        yield item


def outcome(items: list[int], failing_item: int | None, failing_results: set[int], threads: int) -> list[object]:
    """The results, and the failure that ended them."""

    def square(item: int) -> int:
        if item in failing_results:
            raise ValueError(f"result {item}")
        time.sleep(0.0003 * (item % 3))
        return item * item

    results: list[object] = []
    seen: list[str] = []
    try:
        for result in in_order(square, made(items, seen, failing_item), threads=threads):
            results.append(result)
    except (OSError, ValueError) as error:
        results.append(str(error))
    assert set(seen) <= {threading.current_thread().name}, "a source may be read by one thread alone"
    return results


@settings(max_examples=60, deadline=None)
@given(
    count=st.integers(0, 12),
    failing_item=st.none() | st.integers(0, 12),
    failing_results=st.sets(st.integers(0, 12), max_size=3),
    threads=st.integers(2, 5),
)
def test_results_and_the_first_failure_are_those_of_one_thread(
    count: int, failing_item: int | None, failing_results: set[int], threads: int
) -> None:
    items = list(range(count))
    serial = outcome(items, failing_item, failing_results, threads=1)
    assert outcome(items, failing_item, failing_results, threads) == serial
    wrong = [item for item in items if item == failing_item or item in failing_results]
    expected: list[object] = [item * item for item in items[: wrong[0] if wrong else count]]
    if wrong:
        expected.append(f"item {wrong[0]}" if wrong[0] == failing_item else f"result {wrong[0]}")
    assert serial == expected


def test_few_items_are_made_ahead() -> None:
    made_so_far: list[int] = []

    def items() -> Iterator[int]:
        for item in range(100):
            made_so_far.append(item)
            yield item

    for position, result in enumerate(in_order(lambda item: item, items(), threads=3)):
        assert result == position
        assert len(made_so_far) <= position + 1 + 3


def test_several_threads_are_used_at_once() -> None:
    met = threading.Barrier(2, timeout=30)
    assert list(in_order(lambda _: met.wait() >= 0, range(2), threads=2)) == [True, True]


def test_a_caller_that_stops_leaves_nothing_running() -> None:
    begun: list[int] = []

    def slow(item: int) -> int:
        begun.append(item)
        time.sleep(0.01)
        return item

    results = in_order(slow, range(1000), threads=2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    after = len(begun)
    time.sleep(0.05)
    assert len(begun) == after <= 4
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("counterfoil")]


def test_warnings_stay_silent_on_every_thread() -> None:
    with np.errstate(all="ignore"):
        settings_of = list(in_order(lambda _: np.geterr()["over"], range(6), threads=2))
    assert settings_of == ["ignore"] * 6


@pytest.mark.parametrize(("asked", "most"), [("1", 1), ("2", 2), ("0", 8), ("many", 8), ("", 8), ("1,2", 1)])
def test_the_number_of_threads_is_bounded(asked: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", asked)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert thread_count() == most


def test_libraries_that_scipy_loads_later_are_limited_too():
    """In a process of its own, as this one has loaded all: a first product before SciPy, then a limit."""
    program = """
from counterfoil.threads import on_one_thread
from threadpoolctl import threadpool_info

on_one_thread(lambda: None)()
import scipy.linalg
print(*on_one_thread(lambda: [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"])())
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"1"}
