"""The checksums of a folder, in the format that `sha256sum -c` reads, and what differs from them.

Paths are relative to the folder, with `/` between their parts. A name that would need escaping there is refused: a
release has none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from counterfoil.files import sha256_differs, sha256_of, write_text

CHECKSUMS = "checksums.txt"

_LINE = re.compile(r"([0-9a-f]{64})  ([^\r\n\\]+)")
_MOST_BYTES = 1 << 22
"""Of a list that is read: far more than any release has files."""


def files_in(folder: Path) -> list[str]:
    """The paths of all files in a folder and below it, sorted, but for the checksums themselves.

    Raises:
        OSError: for a folder that can't be listed.
    """
    found = []
    for place, folders, names in os.walk(folder, onerror=_refuse):
        # A link to a folder is not walked into, and counts as a file that is not a plain one.
        linked = [name for name in folders if (Path(place) / name).is_symlink()]
        found += [(Path(place) / name).relative_to(folder).as_posix() for name in (*names, *linked)]
    return sorted(name for name in found if name != CHECKSUMS)


def write_checksums(folder: Path) -> None:
    """Writes the SHA-256 of each file in `folder`, whole or not at all.

    Raises:
        OSError: when a file can't be read or written.
    """
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in files_in(folder)]
    write_text(folder / CHECKSUMS, "".join(lines))


def read_checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each path that the list names.

    Raises:
        ValueError: for a list that is not there, that has another format, or names a file elsewhere or twice.
    """
    path = folder / CHECKSUMS
    if not path.is_file() or path.is_symlink() or path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"There is no list of checksums, {CHECKSUMS}: copy the whole folder again.")
    listed: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        matched = _LINE.fullmatch(line)
        if matched is None or not _is_inside(matched[2]) or matched[2] in listed:
            raise ValueError(f"{CHECKSUMS} is not a list that `sha256sum -c` reads, of files in its folder, each once.")
        listed[matched[2]] = matched[1]
    return listed


def checksum_problems(folder: Path) -> Iterator[str]:
    """What differs between a folder and its list: files that were changed, are missing, or are not listed."""
    try:
        listed = read_checksums(folder)
    except ValueError as error:
        yield str(error)
        return
    present = files_in(folder)
    for name in present:
        if name not in listed:
            yield f"{name} is in the folder and not in {CHECKSUMS}: it is no part of the release."
    for name, digest in listed.items():
        path = folder / name
        if name not in present:
            yield f"{name} is in {CHECKSUMS} and not in the folder: copy the whole folder again."
        elif path.is_symlink() or not path.is_file():
            yield f"{name} is not a plain file."
        elif sha256_of(path) != digest:
            yield f"{name} is not the file that {CHECKSUMS} names: {sha256_differs(path, digest)}"


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and path.as_posix() == name


def _refuse(error: OSError) -> None:
    raise error
