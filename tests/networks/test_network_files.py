"""Networks that are saved and read again."""

import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch")
pytest.importorskip("safetensors", reason="networks need safetensors")
from torch import nn

from counterfoil.networks.architectures import Architecture, autoencoder, linear, mlp
from counterfoil.networks.files import DOCUMENT, PARAMETERS, load, save
from counterfoil.networks.network import Network

MADE = {
    "linear": lambda: linear(3, 2, seed=1),
    "mlp": lambda: mlp(3, 2, hidden=(4, 5), activation="tanh", seed=1),
    "autoencoder": lambda: autoencoder(3, hidden=(4,), code=2, seed=1),
}


@pytest.mark.parametrize("kind", MADE)
def test_what_is_loaded_is_what_was_saved(kind, tmp_path):
    network = MADE[kind]()
    network.load_vector(network.parameters_vector() * np.pi)
    save(network, tmp_path / "new" / "folder")
    found = load(tmp_path / "new" / "folder")
    assert np.array_equal(found.parameters_vector(), network.parameters_vector())
    assert found.describe() == network.describe()
    rows = np.random.default_rng(0).normal(size=(5, 3))
    assert np.array_equal(found.outputs(rows), network.outputs(rows))
    save(mlp(2, 1, seed=3), tmp_path / "new" / "folder")
    assert load(tmp_path / "new" / "folder").inputs == 2


def test_a_module_of_a_user_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="Found a module of your own: keep its code"):
        save(Network.wrap(nn.Linear(3, 2), inputs=3), tmp_path)


@pytest.fixture
def folder(tmp_path):
    save(mlp(3, 2, hidden=(4,), seed=1), tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "another"}, "must say 'counterfoil.network/1'"),
        ({"architecture": None}, "An architecture must have activation, bare, kind, widths"),
        ({"architecture": {"kind": "mlp"}}, "An architecture must have activation, bare, kind, widths"),
        ({"widths": [3, 5, 2]}, "must hold 32 float64 numbers"),
        ({"widths": [3]}, "must be whole numbers of at least 1"),
        ({"widths": [3, True, 2]}, "must be whole numbers of at least 1"),
        ({"widths": [3, -4, 2]}, "must be whole numbers of at least 1"),
        ({"widths": [3, 10**6, 10**6]}, "at most 1,000,000,000 parameters"),
        ({"widths": "342"}, "An architecture must have"),
        ({"kind": "transformer"}, "An architecture must have"),
        ({"activation": "sine"}, "`activation` must be one of relu, tanh"),
        ({"bare": "1"}, "An architecture must have"),
    ],
)
def test_documents_that_were_changed_are_refused(folder, change, sentence):
    document = json.loads((folder / DOCUMENT).read_text())
    inside = change.keys() <= {"widths", "kind", "activation", "bare"}
    (document["architecture"] if inside else document).update(change)
    (folder / DOCUMENT).write_text(json.dumps(document))
    with pytest.raises(ValueError, match=sentence):
        load(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "\ud800".encode("utf-16", "surrogatepass")])
def test_texts_that_are_no_documents_are_refused(folder, text):
    (folder / DOCUMENT).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=r"must be JSON|must say"):
        load(folder)


def test_parameters_that_were_changed_are_refused(folder):
    from safetensors.numpy import save as tensors_bytes

    for content, sentence in (
        (b"not tensors", "must be a file of safetensors"),
        (tensors_bytes({"other": np.zeros(26)}), "must hold 26 float64 numbers"),
        (tensors_bytes({"parameters": np.zeros(26, dtype=np.float32)}), "must hold 26 float64 numbers"),
        (tensors_bytes({"parameters": np.zeros(25)}), "must hold 26 float64 numbers"),
        (tensors_bytes({"parameters": np.full(26, np.nan)}), "must be finite"),
    ):
        (folder / PARAMETERS).write_bytes(content)
        with pytest.raises(ValueError, match=sentence):
            load(folder)


def test_widths_are_checked_when_a_network_is_made():
    with pytest.raises(ValueError, match=r"at least 1. Found \[3, 0, 2\]"):
        mlp(3, 2, hidden=(0,), seed=1)
    with pytest.raises(ValueError, match=r"`activation` must be one of relu, tanh. Found 'gelu'"):
        mlp(3, 2, activation="gelu", seed=1)
    assert Architecture("mlp", (3, 4, 2)).parameters == len(mlp(3, 2, hidden=(4,), seed=1).parameters_vector())
