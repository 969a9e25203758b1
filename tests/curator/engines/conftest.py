"""One Spark for the test modules that follow each other and want the same: starting one takes as long as many tests.

It ends before the first test of another module, so that no Java waits beside the rest, and the next may have another
master.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from spark_sessions import Spark, spark_session


class LocalSpark:
    """A session on this machine, from when it is first asked for until it is closed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._made: Spark | None = None

    def opened(self, folders: pytest.TempPathFactory) -> Spark:
        """The session, with what it logs from now on."""
        if self._made is None:
            self._made = self._stack.enter_context(spark_session("local[2,4]", folders.mktemp("spark")))
        return replace(self._made, logged_before=self._made.log.stat().st_size)

    def close(self) -> None:
        self._made = None
        self._stack.close()


LOCAL = LocalSpark()


@pytest.fixture(scope="module")
def local_spark(tmp_path_factory: pytest.TempPathFactory) -> Spark:
    return LOCAL.opened(tmp_path_factory)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if not getattr(getattr(nextitem, "module", None), "SHARES_SPARK", False):
            LOCAL.close()
