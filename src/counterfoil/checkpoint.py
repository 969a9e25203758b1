"""The state of a run after a part of it, in one file without pickle: numpy arrays, and JSON in one of them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from counterfoil.files import replacing
from counterfoil.json_text import parsed_json


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a run. It follows from charged answers and public parameters alone, so that anyone may read it.

    Args:
        release: the number of the release in its ledger.
        settings: the public parameters of the run; only a run with the same ones can continue it.
        state: JSON.
        arrays: by name; none is called `header`.

    Attributes:
        format: what files of a kind of run begin with.
    """

    format: ClassVar[str]

    release: int
    settings: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def has(self, settings: dict[str, Any]) -> bool:
        """Whether it is of a run with these settings, which are compared in their stored form."""
        return bool(json.loads(json.dumps(settings)) == json.loads(json.dumps(self.settings)))

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all; raises OSError where it can't be written."""
        header = {"format": self.format, "release": self.release, "settings": self.settings, "state": self.state}
        with replacing(path) as file:
            np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **self.arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """What `save` wrote.

        Raises:
            ValueError: for any other file.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = parsed_json(str(arrays.pop("header")), finite=False)
            if header["format"] != cls.format:
                raise ValueError(header["format"])
            return cls(header["release"], header["settings"], header["state"], arrays)
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            raise ValueError(f"{path} is not a checkpoint, or it was cut short. Start again without it.") from None
