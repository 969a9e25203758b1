"""The folder where executors keep coded rows: for its owner alone, and removed when the engine goes."""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from counterfoil.scratch.scratch_folder import scratch_folder

SETTING = "spark.counterfoil.scratch"
"""The setting of Spark that names the folder in which scratch folders are made."""

_TOKEN = "token"


class Scratch:
    """A new folder, with a file that tells executors whether they see the same one.

    On a path of this machine, or one that is mounted alike on all, the folder is its owner's alone, and what a killed
    process left is removed when the next one is made (`scratch_folder`). At an address, such as hdfs://host/scratch,
    the rights of its file system hold, and what a killed process left must be removed by hand.

    Args:
        parent: where to make it: a path, or an address that pyarrow knows; where temporary files go where None.

    Raises:
        OSError, pyarrow.ArrowException, ValueError: where none can be made.
    """

    def __init__(self, parent: str | None = None) -> None:
        self.token = secrets.token_hex(16)
        made = ExitStack()
        if parent is not None and "://" in parent:
            self.folder = f"{parent.rstrip('/')}/counterfoil-{secrets.token_hex(16)}"
            system, path = _file_system(self.folder)
            system.create_dir(path, recursive=True)
            made.callback(partial(system.delete_dir, path))
        else:
            self.folder = str(made.enter_context(scratch_folder(Path(parent) if parent else None)))
        weakref.finalize(self, made.close)
        with written(self.folder, _TOKEN) as stream:
            stream.write(self.token.encode())


def is_shared(folder: str, token: str) -> bool:
    """Whether this process sees the scratch folder that another one made."""
    try:
        with reading(folder, _TOKEN) as stream:
            return bool(stream.read() == token.encode())
    except (OSError, pa.ArrowException):
        return False


@contextmanager
def written(folder: str, name: str) -> Iterator[IO[bytes] | pa.NativeFile]:
    """A new file of the folder, for its owner alone.

    Raises:
        OSError: where it can't be written, or is there already.
    """
    if "://" in folder:
        system, path = _file_system(folder)
        with system.open_output_stream(f"{path}/{name}") as stream:
            yield stream
        return
    descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file


def reading(folder: str, name: str) -> pa.NativeFile:
    """A file of the folder.

    Raises:
        OSError: where it can't be read.
    """
    if "://" in folder:
        system, path = _file_system(folder)
        return system.open_input_file(f"{path}/{name}")
    return pa.memory_map(os.path.join(folder, name))


def _file_system(address: str) -> tuple[Any, str]:
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(address)
    return system, path
