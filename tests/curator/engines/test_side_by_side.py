"""Scans of two threads on one engine keep each block once, and all later queries count each row once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import BATCH_ROWS
from counterfoil.schema import Integer, Schema
from counterfoil.scratch.kept_arrays import ArrayKeeper
from counterfoil.scratch.scratch_file import ScratchFile


def side_by_side(act: Callable[[], None]) -> None:
    threads = [threading.Thread(target=act) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def counted(block) -> np.ndarray:
    return np.bincount(block.codes["v"], minlength=4).astype(np.int64)


@pytest.mark.parametrize("cache_bytes", [1, 1 << 20])
def test_two_scans_at_once_keep_each_block_once(cache_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = 4
    table = pa.table({"v": np.arange(blocks * BATCH_ROWS) // BATCH_ROWS})
    engine = DuckDBEngine(open_source(table), Schema((Integer("v", 0, 3),)), cache_bytes=cache_bytes)
    keep, together = ArrayKeeper.keep, threading.Barrier(2)

    def slow(self, *given):
        time.sleep(0.02)  # long enough for the other thread to come to the same block
        return keep(self, *given)

    monkeypatch.setattr(ArrayKeeper, "keep", slow)
    found = []

    def scan() -> None:
        together.wait(30)
        found.append(engine.fold(counted, ["v"]))

    side_by_side(scan)
    monkeypatch.undo()
    for counts in [*found, engine.fold(counted, ["v"])]:
        np.testing.assert_array_equal(counts, np.full(blocks, BATCH_ROWS))


def test_two_threads_write_to_different_places() -> None:
    scratch, together = ScratchFile(), threading.Barrier(2)
    file = scratch._file

    class Slow:
        def write(self, octets: memoryview) -> int:
            time.sleep(0.05)  # long enough for the other thread to have looked where the file ends
            return file.write(octets)

        def __getattr__(self, name: str):
            return getattr(file, name)

    scratch._file = Slow()
    numbers, starts = iter([1, 2]), {}

    def write() -> None:
        number = next(numbers)
        together.wait(30)
        starts[number] = scratch.append(np.full(1000, number))

    side_by_side(write)
    for number, start in starts.items():
        np.testing.assert_array_equal(scratch.read(start, np.empty(1000, dtype=np.int64)), np.full(1000, number))
