"""Small files of a release: written whole or not at all, and told apart by their SHA-256."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Writes `text` to a temporary file beside `path`, syncs it, and renames it to `path`.

    Raises:
        OSError: when it can't be written; what was at `path` is left as it was.
    """
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files that only their owner reads; this one gets the mode of any new file.
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
