"""Folders for libraries that need names of files, removed when a block ends, or by the next run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "counterfoil-"
HIDDEN = ".counterfoil-"
"""Begins the names of folders beside outputs, where these are made."""

BEFORE = "before"
"""Within a folder: what a run moved aside from a place, which is somebody's. A folder that holds it stays."""

_LOCK = "in-use"


@contextmanager
def scratch_folder(parent: Path | None = None, *, prefix: str = PREFIX) -> Iterator[Path]:
    """A folder that its owner alone may read, removed at the end of the block; for libraries that need file names.

    A process that is killed leaves its folder behind. The next one that needs a folder removes it: the lock on a file
    within is held as long as a process lives, so that a folder whose lock is free is nobody's. Where the system has no
    such locks (Windows), what was left behind stays.

    Args:
        parent: where to make it, where that is not where temporary files go.
        prefix: with which its name begins.
    """
    with suppress(OSError):  # of a folder that can't be listed
        _remove_abandoned(parent or Path(tempfile.gettempdir()), prefix)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as made:
        folder = Path(made)
        draft = folder / f"{_LOCK}.new"
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            # The file gets its name once it is locked: by then nobody can take the folder for an abandoned one.
            _lock(handle)
            os.rename(draft, folder / _LOCK)
            yield folder
        finally:
            os.close(handle)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Removes this user's scratch folders in `parent` whose process has ended; what can't be removed stays."""
    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != _user() or (folder / BEFORE).exists():
                continue
            handle = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            try:
                if _lock(handle):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def _lock(handle: int) -> bool:
    """Whether the lock was free, and now is held until `handle` is closed or the process ends."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else -1
