"""How a job of Spark is run, so that rows pass from Java to the executors' Python in batches of a number of rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

LIMIT = "spark.sql.execution.arrow.maxBytesPerBatch"
"""The setting of Spark for the bytes of a batch. Spark adds them up anew for each row of the batch, which is nearly as
much work in Java as all the rest; where the setting is the largest number that it takes, it adds up none."""

_NO_LIMIT = str(2**31 - 1)

_TOO_LARGE = ("OversizedAllocation", "OutOfMemory", "ExecutorLost")
"""In what Spark says where batches did not fit."""


def collected(frame: Any) -> pa.Table:
    """The rows of a frame, whose own job runs without a limit of bytes; with it where a batch is too large that way.

    A limit that the session's user set is kept. Others' jobs of the same session may run without it meanwhile.

    Raises:
        Exception: whatever Spark raises.
    """
    with _without_limit(frame.sparkSession) as lifted:
        try:
            return frame.toArrow()
        except Exception as error:
            if not lifted or not any(word in str(error) for word in _TOO_LARGE):
                raise
    return frame.select("*").toArrow()  # another plan: one that has failed may keep what it was made with


@contextmanager
def _without_limit(session: Any) -> Iterator[bool]:
    """Whether the limit is lifted meanwhile."""
    try:
        lifted = LIMIT not in session.conf.getAll
        if lifted:
            session.conf.set(LIMIT, _NO_LIMIT)
    except Exception:  # a version of Spark, or a server, that refuses it
        lifted = False
    try:
        yield lifted
    finally:
        if lifted:
            session.conf.unset(LIMIT)
