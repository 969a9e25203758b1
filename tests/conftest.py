"""What holds for all tests, and what several of them use."""

import gc
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import duckdb_again
import postgres_server
from command_line import Office, make_office
from counterfoil import kept_files

# Tests never depend on the clock: an example may take longer on a busy machine, or where it compiles something.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Garbage is not looked for among thousands of tests and modules, which stay to the end: that took a 20th of all
    time, and a 6th of that of finding them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.set_threshold(10_000, 20, 10)


@pytest.fixture(autouse=True)
def nothing_released_before() -> Iterator[None]:
    """What a test releases from is not kept from the outputs of later ones: each file that is written is compared with
    all that a process has released from, which thousands of tests would make thousands."""
    known = dict(kept_files._released)
    yield
    kept_files._released.clear()
    kept_files._released.update(known)


@pytest.fixture(scope="module", autouse=True)
def duckdb_taken_again() -> Iterator[None]:
    """See `duckdb_again`."""
    with duckdb_again.taken_again():
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C raises, also where a shell started the tests in the background, which then ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is not None:  # a library may have set it in C
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    """The command line in a folder of its own, with a small table; some tests have their own, with more in it."""
    return make_office(tmp_path, capsys, monkeypatch)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Torch computes on one thread: sums are added in one order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def master(made, tmp_path_factory) -> Path:
    """Where `made`, a fixture of the module that asks, was saved once."""
    path = tmp_path_factory.mktemp("saved") / "release"
    made.save(path)
    return path


@pytest.fixture
def saved(master, tmp_path) -> Path:
    """A copy to tamper with."""
    return Path(shutil.copytree(master, tmp_path / "release"))


@pytest.fixture(scope="session")
def running_postgres() -> Iterator[postgres_server.Server]:
    """A server that the tests of one process share; tables of tests have names of their own."""
    pytest.importorskip("adbc_driver_postgresql")
    if postgres_server.binaries() is None:
        pytest.skip("there is no PostgreSQL on this machine (/usr/lib/postgresql/*/bin)")
    with postgres_server.temporary_folder() as folder, postgres_server.running(folder) as server:
        yield server


@pytest.fixture
def postgres(running_postgres, monkeypatch) -> postgres_server.Server:
    """The server, with its password where the driver looks for it, and nothing else in the environment about it."""
    for name in ("PGHOST", "PGPORT", "PGUSER", "PGSERVICE", "PGPASSFILE", "PGOPTIONS", "PGHOSTADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSWORD", running_postgres.password)
    return running_postgres
