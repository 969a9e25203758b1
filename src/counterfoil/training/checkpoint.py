"""The state of a training run after a part of it, in one file without pickle."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterfoil.files import replacing
from counterfoil.json_text import parsed_json
from counterfoil.training.descent import Descent, Optimizer

FORMAT = "counterfoil.training.checkpoint/1"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """It follows from released gradients and public parameters alone, so that anyone may read it.

    Args:
        release: the number of the release in its ledger.
        settings: the public parameters of the run; only a run with the same ones can continue it.
        state: JSON: steps taken, iterates summed, noisy losses; the receipt, once the run is finished.
        arrays: the parameters, their sum, and the state of the optimizer.
    """

    release: int
    settings: dict[str, Any]
    state: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @staticmethod
    def of(descent: Descent, release: int, settings: dict[str, Any]) -> Checkpoint:
        """The state of `descent`."""
        state = {"taken": descent.taken, "summed": descent.summed, "losses": descent.losses}
        arrays = {f"optimizer_{name}": np.asarray(value) for name, value in descent.state.items()}
        arrays |= {"parameters": descent.parameters, "total": descent.total}
        return Checkpoint(release, settings, state, arrays)

    def descent(self, optimizer: Optimizer, steps: int) -> Descent:
        """The descent that was saved."""
        kept = {name.removeprefix("optimizer_"): value for name, value in self.arrays.items() if "optimizer_" in name}
        state = self.state
        return Descent(
            optimizer, steps, self.arrays["parameters"], self.arrays["total"], state["taken"], state["summed"],
            list(state["losses"]), kept,
        )  # fmt: skip

    def require_same(self, settings: dict[str, Any]) -> None:
        """Refuses to continue another run.

        Raises:
            ValueError: for other settings.
        """
        if json.loads(json.dumps(settings)) != self.settings:
            raise ValueError(
                "The checkpoint is of a run with other parameters or another model. Continue it with the same, or "
                "start again without it."
            )

    def finished(self, receipt: dict[str, Any]) -> Checkpoint:
        """The same with the receipt of the whole run: a model that was not saved can still be had from it."""
        return Checkpoint(self.release, self.settings, self.state | {"receipt": receipt}, self.arrays)

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
