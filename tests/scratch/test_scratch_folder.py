"""A folder for a library's own files: private, gone at the end, and gone at the next start after a kill."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterfoil.scratch.scratch_folder import BEFORE, HIDDEN, scratch_folder

# Whoever started the tests in the background may have had SIGINT ignored.
HELD = (
    "import signal, sys\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from counterfoil.scratch.scratch_folder import scratch_folder\n"
    "with scratch_folder() as folder:\n"
    "    (folder / 'records').write_text('1')\n"
    "    print(folder, flush=True)\n"
    "    sys.stdin.read()\n"
)


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def other(parent: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD],
        env={**os.environ, "TMPDIR": str(parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with process:
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_it_is_its_owners_alone_and_is_removed(parent: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]
        (folder / "spilled").mkdir()
        (folder / "spilled" / "more").write_text("1")
    assert list(parent.iterdir()) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_it_is_removed_where_something_fails(parent: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with scratch_folder() as folder:
            (folder / "spilled").write_text("1")
            raise error

    with pytest.raises(error):
        fail()
    assert list(parent.iterdir()) == []


def test_what_a_killed_process_left_is_removed_at_the_next_start(
    parent: Path, other: tuple[subprocess.Popen[str], Path]
) -> None:
    process, left = other
    with scratch_folder():
        assert (left / "records").is_file(), "its process still lives"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (left / "records").is_file()
    with scratch_folder() as folder:
        assert [folder] == list(parent.iterdir())


def test_what_was_moved_aside_is_never_removed(parent: Path) -> None:
    for name in ("draft", BEFORE):
        left = parent / f"{HIDDEN}{name}"
        left.mkdir()
        (left / "in-use").touch()
        (left / name).write_text("1")
    with scratch_folder(parent):
        assert len(list(parent.iterdir())) == 3, "folders of the other name are not looked at"
    with scratch_folder(parent, prefix=HIDDEN) as folder:
        assert {folder, parent / f"{HIDDEN}{BEFORE}"} == {*parent.iterdir()}


def test_an_interrupted_process_removes_its_folder(parent: Path, other: tuple[subprocess.Popen[str], Path]) -> None:
    process, _ = other
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert list(parent.iterdir()) == []


def test_folders_of_others_are_left_alone(parent: Path) -> None:
    """Without our lock, links to somewhere else, and the folder of another thread of this process."""
    for name in ("counterfoil-mine", "elsewhere"):
        (parent / name).mkdir()
        (parent / name / "kept").write_text("1")
    (parent / "elsewhere" / "in-use").touch()
    (parent / "counterfoil-link").symlink_to(parent / "elsewhere")
    with scratch_folder() as outer, scratch_folder() as inner:
        assert outer != inner
        assert (outer / "in-use").is_file()
    assert sorted(path.name for path in parent.rglob("*")) == sorted(
        ["counterfoil-mine", "kept", "elsewhere", "kept", "in-use", "counterfoil-link"]
    )
