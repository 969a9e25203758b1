"""A file that grows by whole frames, each synced before it counts; one process at a time holds it.

A frame begins at a multiple of 512 bytes, so that its head lies in one sector: a mark, the length of its body, and the
SHA-256 of the previous frame's hash followed by the body. The body is written and synced first, and the head after it:
where a run is killed in between, there is no head, and the file ends before that frame. Frames can therefore be told
that are complete, that are not there, and that were changed afterwards. The hashes find accidents, and edits by hand;
whoever computes them anew is not found.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sys
from pathlib import Path

_MARK = b"CFanswer"
_SECTOR = 512
_HEAD = len(_MARK) + 8 + 32
_BEGUN = 2**16
"""Bytes that a file has at most whose first frame was not complete."""


class NothingKept(ValueError):
    """A run was killed after it had made the file, and before its first frame was complete, which precedes a charge."""


class AnswerFile:
    """The frames of one file, which stays locked until `close`. Made by `create` and `reopen`.

    Attributes:
        path: where it is.
        bodies: of the frames that it holds, in order.
    """

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._handle = handle
        self._end = 0
        self._last = b""
        self.bodies: list[bytes] = []

    @classmethod
    def create(cls, path: Path) -> AnswerFile:
        """A new file, which its owner alone may read, held by this process.

        Raises:
            OSError: when one is there, or the folder can't be written.
        """
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = cls(path, os.open(path, flags, 0o600))
        file._lock()
        _sync_folder(path.parent)
        return file

    @classmethod
    def reopen(cls, path: Path) -> AnswerFile:
        """The file at `path` with the frames that it holds.

        Raises:
            NothingKept: when a run was killed as it made it.
            ValueError: when it is no such file, was changed or damaged, or another process holds it.
            OSError: when it can't be read and written.
        """
        file = cls(path, os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)))
        try:
            file._lock()
            file._read()
        except BaseException:
            file.close()
            raise
        return file

    def reserve(self, size: int) -> None:
        """Makes room for bodies of `size` bytes in all, in up to four frames.

        Raises:
            OSError: when the disk has no room; what the file holds is left as it was.
        """
        needed = size + 4 * (_HEAD + _SECTOR)
        try:
            if not _allocated(self._handle, self._end, needed):
                _write(self._handle, bytes(needed), self._end)
            os.fsync(self._handle)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def append(self, body: bytes) -> None:
        """Adds a frame; once this has returned it survives a kill and a power failure.

        Raises:
            OSError: when it can't be written.
        """
        digest = _digest(self._last, body)
        try:
            _write(self._handle, body, self._end + _HEAD)
            os.fsync(self._handle)
            _write(self._handle, _MARK + len(body).to_bytes(8, "little") + digest, self._end)
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, self._end)
            raise
        self._took(body, digest)

    def close(self) -> None:
        """Lets go of the file."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            os.close(handle)

    def remove(self) -> None:
        """Deletes the file.

        Raises:
            OSError: when it can't be deleted.
        """
        if os.name == "nt":
            self.close()  # Windows deletes no open file
        self.path.unlink(missing_ok=True)
        self.close()

    def _took(self, body: bytes, digest: bytes) -> None:
        self.bodies.append(body)
        self._last = digest
        self._end += -(-(_HEAD + len(body)) // _SECTOR) * _SECTOR

    def _read(self) -> None:
        size = os.fstat(self._handle).st_size
        while any(head := _read(self._handle, _HEAD, self._end)):
            length = int.from_bytes(head[len(_MARK) : len(_MARK) + 8], "little")
            if not head.startswith(_MARK) or len(head) < _HEAD or length > size:
                self._refuse()
            body = _read(self._handle, length, self._end + _HEAD)
            if _digest(self._last, body) != head[-32:]:
                self._refuse()
            self._took(body, head[-32:])
        if not self.bodies and self._is_begun(size):
            raise NothingKept(
                f"{self.path} was begun by a run that ended before it asked anything: nothing was paid for, and "
                "nothing is lost. Delete it, by hand or with --discard-answers, and begin again."
            )
        if not self.bodies:
            self._refuse()
        os.ftruncate(self._handle, self._end)  # what a killed run wrote of a body must not be met as a head later

    def _is_begun(self, size: int) -> bool:
        """Whether no frame was ever complete in it: a first one that was damaged may have others behind it."""
        return size <= _BEGUN and _MARK not in _read(self._handle, size, 0)

    def _refuse(self) -> None:
        raise ValueError(
            f"{self.path} must be a file of answers as a run left it. Found another kind of file, or one that was "
            "changed or damaged: take it from a backup, or start a new release without it."
        )

    def _lock(self) -> None:
        """Has no other process hold the file, for as long as this one does, whatever ends it."""
        try:
            if sys.platform == "win32":
                import msvcrt

                os.lseek(self._handle, 2**62, os.SEEK_SET)  # beyond all frames, which stay readable
                msvcrt.locking(self._handle, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise
            raise ValueError(
                f"One run at a time may use {self.path}. Found another one at work with it: wait until it ends."
            ) from None


def _digest(last: bytes, body: bytes) -> bytes:
    return hashlib.sha256(last + body).digest()


def _read(handle: int, size: int, offset: int) -> bytes:
    os.lseek(handle, offset, os.SEEK_SET)
    parts: list[bytes] = []
    while size and (part := os.read(handle, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _write(handle: int, data: bytes, offset: int) -> None:
    os.lseek(handle, offset, os.SEEK_SET)
    written = 0
    while written < len(data):
        written += os.write(handle, memoryview(data)[written:])


def _allocated(handle: int, offset: int, size: int) -> bool:
    """Whether the system set room aside; some can't, and some folders have none of it."""
    if not hasattr(os, "posix_fallocate"):
        return False
    try:
        os.posix_fallocate(handle, offset, size)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            return False
        raise
    return True


def _sync_folder(folder: Path) -> None:
    """So that a new file's name survives a power failure; not every system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network folders sync by themselves
    finally:
        os.close(handle)
