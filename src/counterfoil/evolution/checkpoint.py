"""The state of a run after an iteration, in one file without pickle: numpy arrays, and JSON in one of them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.files import replacing
from counterfoil.json_text import parsed_json

FORMAT = "counterfoil.evolution.checkpoint/1"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a run. It follows from charged answers and public parameters alone, so that anyone may read it.

    Args:
        release: the number of the release in its ledger.
        settings: the parameters of the run; only a run with the same ones can continue it.
        state: JSON: iterations done, the noisy number of records, warnings.
        arrays: the population, and the last candidates with their weights.
    """

    release: int
    settings: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all; raises OSError where it can't be written."""
        header = {"format": FORMAT, "release": self.release, "settings": self.settings, "state": self.state}
        with replacing(path) as file:
            np.savez(file, allow_pickle=False, header=np.array(json.dumps(header)), **self.arrays)

    @staticmethod
    def load(path: Path) -> Checkpoint:
        """What `save` wrote.

        Raises:
            ValueError: for any other file.
        """
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = parsed_json(str(arrays.pop("header")), finite=False)
            if header["format"] != FORMAT:
                raise ValueError(header["format"])
            return Checkpoint(header["release"], header["settings"], header["state"], arrays)
        except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            raise ValueError(f"{path} is not a checkpoint, or it was cut short. Start again without it.") from None


def same_settings(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the settings of two runs are the same in their stored form."""
    return bool(json.loads(json.dumps(one)) == json.loads(json.dumps(other)))
