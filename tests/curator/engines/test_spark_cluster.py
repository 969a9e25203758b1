"""On a cluster of two workers on this machine: one of them is killed in the middle, and each row counts once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.curator.engines.spark import SparkEngine
from counterfoil.curator.sources.spark_source import SparkSource
from counterfoil.schema import Integer, Schema
from spark_sessions import QUICK_TO_START, Spark, require_spark, spark_session

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
ROWS = 4000
SCHEMA = Schema((Integer("row", 0, ROWS - 1, bins=10),))
PATIENCE = 120
"""Seconds after which a process that should have come is given up; a quiet machine needs one or two."""


class Cluster:
    """A master and its workers, each with its executors in a group of processes of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        import pyspark

        self._home = Path(pyspark.__file__).parent
        self._folder, self._stack = folder, stack
        said = self._start("Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")[1]
        self.address = waited(lambda: re.search(r"spark://127\.0\.0\.1:\d+", said.read_text()))[0]

    def add_worker(self) -> subprocess.Popen:
        work = self._folder / f"work{time.monotonic_ns()}"
        limits = [
            "--cores",
            "1",
            "--memory",
            "600m",
            "--host",
            "127.0.0.1",
            "--webui-port",
            "0",
            "--work-dir",
            str(work),
        ]
        process, said = self._start("Worker", *limits, self.address)
        waited(lambda: "Successfully registered" in said.read_text())
        return process

    def _start(self, what: str, *arguments: str) -> tuple[subprocess.Popen, Path]:
        said = self._folder / f"{what}{time.monotonic_ns()}.log"
        environment = {**os.environ, "SPARK_HOME": str(self._home), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment |= {"SPARK_DAEMON_MEMORY": "128m", "SPARK_DAEMON_JAVA_OPTS": QUICK_TO_START}
        # a worker that is killed leaves the folder of its executors: here it leaves it in the test's own
        environment |= {"SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_DIRS": str(self._folder / "local")}
        with said.open("wb") as stream:
            process = subprocess.Popen(
                [self._home / "bin" / "spark-class", f"org.apache.spark.deploy.{what.lower()}.{what}", *arguments],
                env=environment,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        self._stack.callback(kill, process)
        return process, said


def kill(process: subprocess.Popen) -> None:
    """A worker with its executors and their Pythons, which are in groups of their own below it."""
    below = [process.pid]
    for pid in below:
        try:
            tasks = Path(f"/proc/{pid}/task").iterdir()
            below += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:
            continue
    for pid in below:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait(PATIENCE)


def waited(found: Callable):
    """What `found` gives once it gives something."""
    until = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < until, "nothing came"
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_spark()
    if not Path("/proc/self/task").exists():
        pytest.skip("processes are found by /proc, which only Linux has")
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


@pytest.fixture(scope="module")
def spark(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spark]:
    limits = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.task.maxFailures": "20"}
    limits |= {"spark.deploy.maxExecutorRetries": "-1"}
    with spark_session(cluster.address, tmp_path_factory.mktemp("spark"), **limits) as made:
        yield made


class Gate:
    """Holds tasks, in whatever process, from the moment that two of them have come until it is opened."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = str(folder)

    def pass_through(self) -> None:
        (Path(self._folder) / f"came{os.getpid()}").touch()
        waited(lambda: (Path(self._folder) / "open").exists())

    def open_after(self, act: Callable[[], object]) -> threading.Thread:
        """Starts to wait for two tasks, does `act`, and opens."""

        def wait() -> None:
            waited(lambda: len(list(Path(self._folder).glob("came*"))) > 1)
            act()
            (Path(self._folder) / "open").touch()

        thread = threading.Thread(target=wait)
        thread.start()
        return thread


def counted(block) -> np.ndarray:
    return np.bincount(block.numbers["row"].astype(np.int64), minlength=ROWS).astype(np.int64)


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_no_count(cluster: Cluster, spark: Spark, tmp_path: Path) -> None:
    """Once while rows are stored and units are bounded, and once while rows are summed."""
    cluster.add_worker()
    doomed = cluster.add_worker()
    rows = pa.table({"row": np.arange(ROWS), "unit": np.arange(ROWS) // 4})
    storing, summing = Gate(tmp_path / "storing"), Gate(tmp_path / "summing")

    def held(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            storing.pass_through()
            yield batch

    frame = spark.frame(rows, 6).mapInArrow(held, "row long, unit long")
    engine = SparkEngine(SparkSource(frame), SCHEMA, privacy_unit="unit", max_rows=2)
    waiting = storing.open_after(lambda: kill(doomed))
    kept = engine.fold(counted, (), ["row"])
    waiting.join()
    assert kept.max() == 1
    assert Counter(kept.reshape(-1, 4).sum(axis=1).tolist()) == {2: ROWS // 4}

    doomed = cluster.add_worker()
    plain = SparkEngine(SparkSource(spark.frame(rows, 6)), Schema(SCHEMA.columns, ignore=("unit",)))

    def sums(block) -> np.ndarray:
        if block.rows:
            summing.pass_through()
        return counted(block)

    waiting = summing.open_after(lambda: kill(doomed))
    np.testing.assert_array_equal(plain.fold(sums, (), ["row"]), np.ones(ROWS))
    waiting.join()
    np.testing.assert_array_equal(engine.fold(counted, (), ["row"]), kept), "the choice is the same in every sum"
