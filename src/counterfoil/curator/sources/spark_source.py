"""A table that Spark reads: a DataFrame, or Parquet under a path. Its rows stay in the executors."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.silence import silent
from counterfoil.curator.sources.source import BATCH_ROWS, Batch, unique_names
from counterfoil.curator.sources.spark_files import SparkFile, files_of, is_on_this_machine
from counterfoil.curator.sources.spark_path import require_there
from counterfoil.kept_files import SPARK
from counterfoil.schema.spark_types import arrow_type
from counterfoil.scratch.scratch_folder import scratch_folder
from counterfoil.table_url import require_no_secret

_HERE = "The Spark table"
_ENCRYPTED, _LOCAL = "spark.io.encryption.enabled", "spark.local.dir"

_ADDRESSES = ("spark.driver.host", "spark.driver.bindAddress")

_JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
"""Options that `java` takes before those of its command, which are Spark's settings and win."""

_COMPILE_LATE = (
    "-XX:+IgnoreUnrecognizedVMOptions -XX:Tier4InvocationThreshold=200000 -XX:Tier4MinInvocationThreshold=50000"
    " -XX:Tier4CompileThreshold=400000 -XX:Tier4BackEdgeThreshold=400000"
)
"""Java's best compiler takes what has run 10 to 80 times as often as by default: the loops over rows, and not all that
starts Spark, on which it spends more than a third of a session's start."""

_TYPE_CONDITIONS = ("PARQUET_TYPE_", "UNSUPPORTED_TIME_TYPE", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
"""How the names begin that Spark gives to its refusals of columns."""

_TYPE_REMEDY = (
    "A column has a type that Spark does not know, such as a time of day, moments in nanoseconds (as pandas writes "
    "them), reals of 16 bits, or decimals of more than 38 digits. Store times of day as texts, moments in microseconds "
    "and numbers in a wider or a narrower type, or give one .parquet file by its path, without Spark."
)

_UNLIKE_FILES = "CANNOT_MERGE_SCHEMAS"

_UNLIKE_REMEDY = (
    "Its files have different types in one column, such as whole numbers of 32 and of 64 bits, decimals with another "
    "number of digits, or moments with and without a zone, which Spark does not join. Write all files with the same "
    "types, or give counterfoil.synthesize a DataFrame that reads them as you state: spark.read.schema(...)."
)


class SparkSource:
    """A Spark DataFrame, of which nothing but the columns' names and types comes to this process.

    A frame has no order of rows, so that no row has a number. Columns are renamed by their places: Spark compares
    names without regard to case, and reads dots in them.

    Args:
        frame: the DataFrame; the same rows whenever it is evaluated.
        name, location: what the steward calls it, and where it is, or "memory".
    """

    typed = True

    def __init__(self, frame: Any, name: str = _HERE, location: str = "memory") -> None:
        self.name, self.location = name, location
        self.column_names = unique_names(frame.columns, name)
        self._given = frame
        self._frame = frame.toDF(*map(_internal, range(len(self.column_names))))

    @property
    def session(self) -> Any:
        """The SparkSession of the frame."""
        return self._frame.sparkSession

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        return {
            name: arrow_type(field.dataType)
            for name, field in zip(self.column_names, self._frame.schema.fields, strict=True)
        }

    def selected(self, columns: Sequence[str]) -> Any:
        """The DataFrame of these columns, in this order."""
        return self._frame.select(*(_internal(self.column_names.index(name)) for name in columns))

    def files(self, columns: Sequence[str]) -> tuple[SparkFile, ...] | None:
        """The files in which executors may read these columns themselves; None where Spark must read the frame."""
        types = self.column_types
        return files_of(self._given, {name: types[name] for name in columns})

    def batches(self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0) -> Iterator[Batch]:
        """Refuses: rows in Spark are summed where they are.

        Raises:
            SourceError: always.
        """
        raise SourceError(
            f"{self.name} is read by Spark's executors, and its rows do not come to this process. What was asked for"
            " needs them here: leave `in_memory` out, or give the table, or a part of it, as a file or a frame."
        )

    def place(self, row: int) -> str:
        return f"a row of {self.name}"


def is_spark_frame(table: Any) -> bool:
    """Whether it is a DataFrame of PySpark, classic or connected; PySpark is not imported."""
    kinds = type(table).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.") for kind in kinds)


def open_spark_parquet(address: str) -> SparkSource:
    """The Parquet files under a path, read by the session that Spark's own settings describe.

    Files with different columns give the union of these, and what a folder's name says is read as text: Spark would
    else take the columns of some file, and numbers for what may be a code such as 01234. A damaged file is refused.

    Args:
        address: `spark+parquet://` before an absolute path or an address that Spark's file systems know, such as
            `spark+parquet:///data/people` or `spark+parquet://hdfs://host/people`.

    Raises:
        SourceError: for another path, an address with a secret in it, where PySpark is missing, where nothing is there,
            or where Spark finds no Parquet there. Spark is not started for a path on this machine that leads nowhere.
    """
    path = address.removeprefix(SPARK).rstrip("/")
    try:
        require_no_secret(path)
    except ValueError as error:
        raise SourceError(str(error)) from None
    if not path.startswith("/") and "://" not in path:
        raise SourceError(
            f"A table for Spark is named by {SPARK} and an absolute path, or an address such as hdfs://host/people."
            f" Found {address!r}."
        )
    name = path.rpartition("/")[2]
    session = _session(path)
    try:
        with silent():
            reader = session.read.options(mergeSchema=True, ignoreCorruptFiles=False, ignoreMissingFiles=False)
            return SparkSource(reader.parquet(path), name, f"{SPARK}{path}")
    except SourceError:
        raise
    except Exception as error:  # Spark's message may quote what the files hold, and the name of its condition can't
        raise SourceError(f"Spark can't read {path} as Parquet. {_remedy(_condition(error))}") from None


def _remedy(condition: str) -> str:
    """What to do: types in the files that Spark refuses are neither a wrong path nor a damaged file."""
    if condition == _UNLIKE_FILES:
        return _UNLIKE_REMEDY
    return _TYPE_REMEDY if condition.startswith(_TYPE_CONDITIONS) else "Check the path, and who may read it."


def _condition(error: Exception) -> str:
    """The name that Spark gives to its refusal, also where PySpark passes on what Java raised; empty where none."""
    for raised in (error, getattr(error, "java_exception", None)):
        with suppress(Exception):  # of another library, which has no such name
            if name := getattr(raised, "getCondition", lambda: None)():
                return str(name)
    return ""


def is_open_on_disk(session: Any) -> bool:
    """Whether others on this machine may read what Spark writes to its temporary files.

    This is known of a session that has no machine but this one. On a cluster, these files are in the hands of those who
    run it.
    """
    try:
        context = session.sparkContext
        settings = context.getConf()
        if not str(context.master).startswith("local") or settings.get(_ENCRYPTED, "false").lower() == "true":
            return False
        places = os.environ.get("SPARK_LOCAL_DIRS") or settings.get(_LOCAL, tempfile.gettempdir())
    except Exception:  # a connected session has no context here
        return False
    return not all(_is_closed(Path(place.strip())) for place in places.split(","))


def _is_closed(folder: Path) -> bool:
    """Whether nobody else passes on the way into a folder."""
    return any(place.exists() and not place.stat().st_mode & 0o011 for place in (folder, *folder.parents))


def _internal(place: int) -> str:
    return f"c{place}"


def _session(path: str) -> Any:
    """A session of its own within the SparkContext that `spark-defaults.conf` and SPARK_* describe.

    Args:
        path: what it is to read.

    Raises:
        SourceError: where PySpark is missing or can't be started, or nothing is at `path`.
    """
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise SourceError(
            "Reading with Spark needs PySpark. Found none: install it with pip install 'counterfoil[spark]'."
        ) from None
    if not _is_running(SparkSession):  # a user's session may place paths elsewhere
        require_there(path)
    # Executors on this machine run this Python, which has the package, unless another one is named.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        with silent():
            session = _started(SparkSession)
            session = session.newSession() if hasattr(session, "newSession") else session
    except Exception:  # whatever py4j, Java or the cluster raise
        raise SourceError(
            "Spark can't be started. It needs Java 17 or newer, and a master that answers: see SPARK_HOME, JAVA_HOME"
            " and spark-defaults.conf."
        ) from None
    session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    session.conf.set("spark.sql.caseSensitive", "true")
    return session


def _started(kind: Any) -> Any:
    """The session that is there, or a new one whose log and whose temporary files are for nobody else.

    Spark leaves the coded rows that it moves in files that everybody may read until the session ends, and for good if
    it is killed. So a new session encrypts them, and keeps them in a folder of its owner's that the next run removes if
    need be, unless its settings say something else.

    Nor is there a page on port 4040, which says to whoever reaches it, without a login, how many rows each step read
    and kept; and where no other machine takes part, none reaches the ports by which Spark hands on tasks and blocks.

    What its Java says on the second stream is dropped: warnings that help nobody here, and failures of executors, which
    may quote records. A `log4j2.properties` of the user's that writes to a file is followed.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    builder = kind.builder.appName("counterfoil")
    if _is_running(kind):
        return builder.getOrCreate()
    if "SPARK_REMOTE" in os.environ:  # the server has these files
        return builder.getOrCreate()
    if SparkContext._gateway is None:
        with _for_java():
            gateway = launch_gateway(popen_kwargs={"stderr": subprocess.DEVNULL})
        SparkContext._ensure_initialized(gateway=gateway)  # Java knows what spark-defaults.conf says
    settings, made = SparkConf(), ExitStack()
    for name, value in _closed_to_others(settings).items():
        builder = builder.config(name, value)
    if not settings.contains(_LOCAL) and "SPARK_LOCAL_DIRS" not in os.environ:
        builder = builder.config(_LOCAL, str(made.enter_context(scratch_folder())))
    try:
        with _same_interrupts():
            session = builder.getOrCreate()
    except BaseException:
        made.close()
        raise
    made.callback(session.stop)  # before the folder goes
    atexit.register(made.close)
    return session


def _closed_to_others(settings: Any) -> dict[str, str]:
    """What a new session is told beside its settings, where these don't say something else."""
    ours = {_ENCRYPTED: "true", "spark.ui.enabled": "false"}
    if is_on_this_machine(settings.get("spark.master", "local")):
        ours["spark.authenticate"] = "true"  # by a secret that Spark draws: others on this machine reach its ports too
        if "SPARK_LOCAL_IP" not in os.environ and not any(map(settings.contains, _ADDRESSES)):
            ours |= dict.fromkeys(_ADDRESSES, "127.0.0.1")
    return {name: value for name, value in ours.items() if not settings.contains(name)}


@contextmanager
def _same_interrupts() -> Iterator[None]:
    """Ctrl-C does afterwards what it did before: a new session has it raise at once, also where an answer is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def _for_java() -> Iterator[None]:
    """What is started meanwhile as `java` compiles late, unless the options of the user say something else."""
    theirs = os.environ.get(_JAVA_OPTIONS)
    os.environ[_JAVA_OPTIONS] = " ".join(filter(None, [_COMPILE_LATE, theirs]))
    try:
        yield
    finally:
        if theirs is None:
            del os.environ[_JAVA_OPTIONS]
        else:
            os.environ[_JAVA_OPTIONS] = theirs


def _is_running(kind: Any) -> bool:
    """Whether this process has a session already, which is its user's or an earlier one of ours."""
    from pyspark import SparkContext

    return kind.getActiveSession() is not None or SparkContext._active_spark_context is not None
