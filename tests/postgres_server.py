"""A PostgreSQL server for tests alone: a cluster of its own in a temporary folder, which ends with the tests."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

ADMINISTRATOR = "steward"
READER = "reader"  # may log in, and has no right to any table of its own
# So small that a scan of a table of some hundred kilobytes joins others in the middle, where nobody forbids it.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "1MB", "max_connections": "40"}


def binaries() -> Path | None:
    """The folder of `initdb` and `postgres`, of the newest version that is installed; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    found = [folder for folder in found if (folder / "initdb").exists() and (folder / "postgres").exists()]
    if found:
        return found[-1]
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path and shutil.which("postgres") else None


@dataclass(frozen=True)
class Server:
    """Where it is, and a password that both roles have; it trusts nobody."""

    port: int
    password: str
    _kept: dict[str, object] = field(default_factory=dict)

    def _connection(self, database: str):
        if database not in self._kept:
            self._kept[database] = self.connected(database)
            with self._kept[database].cursor() as cursor:
                cursor.execute("SET lock_timeout = '30s'")  # a source that is still open fails a test, and hangs none
        return self._kept[database]

    def close(self) -> None:
        """Ends the connections that are kept."""
        for connection in self._kept.values():
            connection.close()

    def url(self, table: str, *, database: str = "postgres", role: str = ADMINISTRATOR) -> str:
        """The address of a table, as a steward names it."""
        return f"postgresql://{role}@127.0.0.1:{self.port}/{database}::{table}"

    def connected(self, database: str = "postgres"):
        """A connection of the administrator's, by its driver."""
        from adbc_driver_postgresql import dbapi

        address = f"postgresql://{ADMINISTRATOR}:{self.password}@127.0.0.1:{self.port}/{database}"
        return dbapi.connect(address, autocommit=True)

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Executes statements one by one, on the connection that is kept for a database."""
        with self._connection(database).cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple]:
        with self._connection("postgres").cursor() as cursor:
            cursor.execute(query)
            return [tuple(row) for row in cursor.fetchall()]

    def store(self, name: str, table: pa.Table, types: dict[str, str] | None = None) -> None:
        """A table with these rows, in their order; `types` replaces those that the driver gives to columns."""
        with self._connection("postgres").cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
            for column, kind in (types or {}).items():
                cursor.execute(f'ALTER TABLE "{name}" ALTER "{column}" TYPE {kind} USING "{column}"::{kind}')


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """Starts a server, as somebody who is not root, and stops it at the end, or when this process ends."""
    bin_folder = binaries()
    assert bin_folder is not None
    as_other: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
        as_other = ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
    ended_with_us = ["setpriv", *as_other, "--pdeathsig=INT"] if shutil.which("setpriv") else []
    server = Server(_free_port(), secrets.token_hex(16))
    secret = folder / "secret"
    secret.write_text(server.password)
    secret.chmod(0o644)
    data = folder / "data"
    arguments = [f"--pgdata={data}", f"--username={ADMINISTRATOR}", f"--pwfile={secret}", "--auth=scram-sha-256"]
    arguments += ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {
        "HOME": str(folder)
    }
    subprocess.run(
        [*ended_with_us, bin_folder / "initdb", *arguments], check=True, capture_output=True, env=environment, cwd="/"
    )
    settings = SETTINGS | {"listen_addresses": "127.0.0.1", "port": server.port, "unix_socket_directories": folder}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*ended_with_us, bin_folder / "postgres", "-D", data, *options],
            stdout=log,
            stderr=log,
            env=environment,
            cwd="/",
        )
    try:
        _await(server, process, folder / "log")
        server.run(f"CREATE ROLE {READER} LOGIN PASSWORD '{server.password}'")
        yield server
        server.close()
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        process.kill()
        process.wait()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder under /tmp, for the folders of pytest are closed to the user of the server."""
    folder = Path(tempfile.mkdtemp(prefix="counterfoil-postgres-", dir="/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _await(server: Server, process: subprocess.Popen, log: Path) -> None:
    """Waits for the server to answer; up to two minutes on a busy machine."""
    from adbc_driver_manager import Error

    for _ in range(1200):
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
        try:
            server.connected().close()
            return
        except Error:
            time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace"))
