"""Checkpoints: the state of a run goes through a file, and other files are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from counterfoil.training.checkpoint import TrainingCheckpoint
from counterfoil.training.descent import Descent, Optimizer

SETTINGS = {"schedule": {"iterations": 9}, "query": {"batch_sizes": [3, 4], "sizes": (3, 4)}}


def descent_of(optimizer: Optimizer, steps: int = 6) -> Descent:
    rng = np.random.default_rng(2)
    descent = Descent.start(optimizer, 9, rng.normal(size=4))
    for _ in range(steps):
        gradient = rng.normal(size=4)
        descent.advance(lambda parameters, gradient=gradient: (gradient, float(gradient[0])))
    return descent


OPTIMIZERS = [Optimizer(), Optimizer("sgd", 0.1), Optimizer("sgd", 0.1, 0.9, averaged=0.0)]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("steps", [0, 3, 6])
def test_a_descent_goes_on_from_a_file_as_if_it_had_not_stopped(tmp_path, optimizer, steps):
    path = tmp_path / "state"
    stopped, whole = descent_of(optimizer, steps), descent_of(optimizer, steps)
    TrainingCheckpoint.of(stopped, 7, SETTINGS).save(path)
    kept = TrainingCheckpoint.load(path)
    assert kept.release == 7
    kept.require_same(SETTINGS)
    again = kept.descent(optimizer, 9)
    for gradient in np.random.default_rng(3).normal(size=(3, 4)):
        for each in (again, whole):
            each.advance(lambda parameters, gradient=gradient: (gradient, 1.0))
    assert np.array_equal(again.result, whole.result)
    assert again.losses == whole.losses
    assert (again.taken, again.summed) == (whole.taken, whole.summed)


def test_other_settings_are_refused():
    kept = TrainingCheckpoint.of(descent_of(OPTIMIZERS[0]), 7, json.loads(json.dumps(SETTINGS)))
    kept.require_same(SETTINGS)  # tuples are lists in JSON
    with pytest.raises(ValueError, match="other parameters or another model"):
        kept.require_same(SETTINGS | {"schedule": {"iterations": 10}})


def saved(tmp_path) -> bytes:
    TrainingCheckpoint.of(descent_of(OPTIMIZERS[0]), 7, SETTINGS).save(tmp_path / "state")
    return (tmp_path / "state").read_bytes()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_short_is_refused(tmp_path, share):
    whole = saved(tmp_path)
    (tmp_path / "cut").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="is not a checkpoint, or it was cut short"):
        TrainingCheckpoint.load(tmp_path / "cut")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other"
    for text in (b"a,b\n1,2\n", b"{}", b"\x80\x04N."):  # the last is a pickle of None
        path.write_bytes(text)
        with pytest.raises(ValueError, match="is not a checkpoint"):
            TrainingCheckpoint.load(path)
    for header in ({"format": "other/1"}, {"format": TrainingCheckpoint.format}, []):
        with path.open("wb") as file:
            np.savez(file, header=np.array(json.dumps(header)))
        with pytest.raises(ValueError, match="is not a checkpoint"):
            TrainingCheckpoint.load(path)
    with path.open("wb") as file:
        np.savez(
            file,
            header=np.array(json.dumps({"format": TrainingCheckpoint.format})),
            odd=np.array([object()], dtype=object),
        )
    with pytest.raises(ValueError, match="is not a checkpoint"):
        TrainingCheckpoint.load(path)


def test_it_holds_numbers_that_were_released_alone(tmp_path):
    saved(tmp_path)
    with np.load(tmp_path / "state", allow_pickle=False) as stored:
        header = json.loads(str(stored["header"]))
        shapes = {name: stored[name].shape for name in stored.files if name != "header"}
    assert header.keys() == {"format", "release", "settings", "state"}
    assert set(shapes.values()) <= {(4,), ()}, "as many numbers as there are parameters"
