"""Files that are written whole or not at all, and what identifies them or arrays: the SHA-256."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from counterfoil.kept_files import require_replaceable

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK = 1 << 20


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes the name `path` once it is complete and synced.

    Raises:
        OSError: when it can't be written; what was at `path` is left as it was.
        ValueError: when it is a sensitive table that this process released from, or its ledger.
    """
    target = Path(path)
    require_replaceable(target)
    if not target.parent.is_dir():  # else the name of the draft would be said to be missing
        raise FileNotFoundError(errno.ENOENT, "There is no such folder", str(target.parent))
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner reads; this one gets the mode of any new file.
        os.chmod(draft, 0o666 & ~_umask())
        moved(Path(draft), target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def moved(draft: Path, target: Path) -> None:
    """Gives a whole file its name, in place of what had it before.

    Raises:
        OSError: when it can't be moved.
        ValueError: when `target` is a sensitive table that this process released from, or its ledger.
    """
    require_replaceable(target)
    os.replace(draft, target)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes `text` as UTF-8, whole or not at all; see `replacing`."""
    with replacing(path) as file:
        file.write(text.encode())


def give_time(root: Path, moment: float) -> None:
    """Gives a file, or a folder with all that is in it, a time of change, in seconds since 1970.

    Raises:
        OSError: when one can't be changed.
    """
    for path in (*(root.rglob("*") if root.is_dir() else ()), root):
        os.utime(path, (moment, moment))


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_differs(path: Path, *expected: str) -> str:
    """A sentence on a file whose SHA-256 is none of `expected`, which says where line ends alone were changed."""
    written = hashlib.sha256()
    with path.open("rb") as file:
        kept = b""
        while block := file.read(_BLOCK):
            # The two bytes of a line end may lie in two blocks.
            text = kept + block
            kept = b"\r" if text.endswith(b"\r") else b""
            written.update(text.removesuffix(kept).replace(b"\r\n", b"\n"))
        written.update(kept)
    if written.hexdigest() not in expected:
        return "its SHA-256 differs."
    return (
        "its SHA-256 differs, by line ends alone, which git, mail or an editor turns into those of Windows: copy it "
        "again as a binary file (in git, `* -text` in .gitattributes)."
    )


def sha256_of_values(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """The SHA-256, in hexadecimal, of what facts and arrays say, whatever file they are kept in.

    Args:
        facts: as JSON has them.
        arrays: of numbers, by name.
    """
    shapes = {name: [array.dtype.kind, array.itemsize, *array.shape] for name, array in arrays.items()}
    text = json.dumps({"facts": dict(facts), "arrays": shapes}, sort_keys=True, allow_nan=False)
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
