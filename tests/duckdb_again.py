"""DuckDB as tests open it: what one reading has closed is taken by the next, without what it had attached or stored.

To open one takes 22 ms of the CPU, longer than all else that is done with a small table, and a release opens several.
Where opening is what is tested, `duckdb_taken_again` of `conftest.py` is overridden.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import pytest

from counterfoil.curator.engines import tally, units
from counterfoil.curator.sources import file_source


class Again:
    """Stands for `file_source.connection`."""

    def __init__(self) -> None:
        self._fresh = file_source.connection
        self._idle: list[tuple[AbstractContextManager, Any]] = []
        self._process = os.getpid()

    @contextmanager
    def connection(self, temp_directory: str = "") -> Iterator[Any]:
        if os.getpid() != self._process:  # threads of DuckDB do not survive a fork
            with self._fresh(temp_directory) as opened:
                yield opened
            return
        if self._idle:
            held, opened = self._idle.pop()
        else:
            held = self._fresh()
            opened = held.__enter__()
            opened.execute("SET enable_external_file_cache = false")  # tests write files where others were
        with ExitStack() as failed:  # of what ended in an error nobody knows what it left
            failed.push(held)
            opened.execute(f"SET temp_directory = {file_source.literal(temp_directory)}")
            yield opened
            for (table,) in opened.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall():
                opened.execute(f"DROP TABLE IF EXISTS memory.{file_source.identifier(table)}")
            opened.execute("DETACH DATABASE IF EXISTS sensitive; RESET arrow_large_buffer_size")
            opened.execute("SET temp_directory = ''")
            failed.pop_all()
            self._idle.append((held, opened))

    def close(self) -> None:
        for held, _ in self._idle:
            held.__exit__(None, None, None)


@contextmanager
def taken_again() -> Iterator[None]:
    again = Again()
    with pytest.MonkeyPatch.context() as patch:
        for module in (file_source, tally, units):
            patch.setattr(module, "connection", again.connection)
        yield
    again.close()
