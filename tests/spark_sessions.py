"""Spark for tests: on the loopback, without its pages, and with its log in a file that tests can read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

QUICK_TO_START = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""For Java that ends after seconds: most of its time it would compile, in threads beside, what it hardly runs again,
and prove of thousands of Spark's own classes, each time anew, that they are well formed."""


@dataclass(frozen=True)
class Spark:
    """A session, and where its driver and local executors log; and how many bytes they had logged before."""

    session: Any
    log: Path
    logged_before: int = 0

    def logged(self) -> str:
        """What was logged since."""
        return self.log.read_bytes()[self.logged_before :].decode()

    def frame(self, table: Any, parts: int = 3) -> Any:
        """A DataFrame of an Arrow table, in so many partitions."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.session.createDataFrame(table).repartition(parts)


def require_spark() -> None:
    """Skips where PySpark or Java is missing."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java on this machine")


@contextmanager
def spark_session(master: str, folder: Path, **settings: str) -> Iterator[Spark]:
    """A session that ends with its Java, so that the next test module may have another master."""
    require_spark()
    kept = {name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP", "PYTHONPATH")}
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    # Functions of test modules are found where pytest finds them.
    tests = Path(__file__).parent
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tests), str(tests.parent), kept["PYTHONPATH"]]))
    log = folder / "log"
    # Spark's temporary files, which rows pass through, are the owner's, so that nothing warns of them.
    (folder / "local").mkdir(mode=0o700)
    with warnings.catch_warnings(), _errors_to(log):
        warnings.simplefilter("ignore")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        chosen = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": QUICK_TO_START,
            "spark.executor.extraJavaOptions": QUICK_TO_START,
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            **settings,
        }
        builder = SparkSession.builder.master(master).appName("tests")
        for name, value in chosen.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    try:
        yield Spark(session, log)
    finally:
        gateway = SparkContext._gateway
        session.stop()
        gateway.shutdown()
        java: subprocess.Popen = gateway.proc
        java.stdin.close()
        java.wait(60)
        SparkContext._gateway = SparkContext._jvm = None
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """What processes that are started meanwhile say on their second stream goes to a file."""
    sys.stderr.flush()
    held = os.dup(2)
    with path.open("ab") as stream:
        os.dup2(stream.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(held, 2)
            os.close(held)
