"""Whether a path that Spark is to read is there: asked before Spark is started, which takes seconds."""

from __future__ import annotations

import os
import re
from pathlib import Path

from counterfoil.curator.errors import SourceError
from counterfoil.kept_files import SPARK

_GLOB = re.compile(r"[{}\[\]*?\\]")
"""What makes a path a pattern of paths for Spark."""

_ELSEWHERE = ("defaultFS", "properties-file", "remote")
"""What in the arguments of `spark-submit` may say that a path without a scheme is not on this machine."""


def require_there(path: str) -> None:
    """Refuses a path on this machine that leads nowhere; what Spark's settings may place elsewhere is left to Spark.

    Args:
        path: absolute, or an address; `file:` is this machine, and so is no scheme, as far as is known without Spark.

    Raises:
        SourceError: where neither a file nor a folder is there.
    """
    local = re.sub(r"^file:(//(localhost)?)?(?=/)", "", path, flags=re.IGNORECASE)
    if not local.startswith("/") or os.name != "posix" or _GLOB.search(local):
        return
    if _is_remote() or (local == path and _has_another_default()):
        return
    try:
        os.stat(local)
    except (FileNotFoundError, NotADirectoryError):
        raise SourceError(
            f"There is no file or folder {local} for Spark to read. Correct the path, or give the address of another "
            f"file system, such as {SPARK}hdfs://host/people."
        ) from None
    except OSError:  # whether it is there is not known
        return


def _is_remote() -> bool:
    """Whether Spark runs on a server, whose files are meant."""
    return "SPARK_REMOTE" in os.environ or "remote" in os.environ.get("PYSPARK_SUBMIT_ARGS", "")


def _has_another_default() -> bool:
    """Whether settings may say that a path without a scheme is in HDFS or the like."""
    if any(name in os.environ for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "PYSPARK_GATEWAY_PORT")):
        return True
    if any(word in os.environ.get("PYSPARK_SUBMIT_ARGS", "") for word in _ELSEWHERE):
        return True
    folder = _settings()
    if (folder / "spark-env.sh").exists() or any(folder.glob("*-site.xml")):
        return True
    defaults = folder / "spark-defaults.conf"
    return defaults.is_file() and "defaultFS" in defaults.read_text(errors="replace")


def _settings() -> Path:
    """The folder of spark-defaults.conf."""
    if folder := os.environ.get("SPARK_CONF_DIR"):
        return Path(folder)
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home()) / "conf"
