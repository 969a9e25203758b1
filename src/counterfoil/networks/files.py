"""Networks in folders: their architecture as JSON, their parameters as safetensors, and nothing that runs when read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as tensors_bytes

from counterfoil.files import replacing, write_text
from counterfoil.json_text import json_file
from counterfoil.networks.architectures import Architecture
from counterfoil.networks.network import Network

FORMAT = "counterfoil.network/1"
DOCUMENT = "network.json"
PARAMETERS = "parameters.safetensors"


def save(network: Network, folder: str | Path) -> None:
    """Writes `network.json` and `parameters.safetensors` to `folder`, which is made if need be.

    Raises:
        ValueError: for a network that no function of `counterfoil.networks.architectures` made.
        OSError: when a file can't be written.
    """
    if network.architecture is None:
        raise ValueError(
            "A network that is saved must come from `linear`, `mlp` or `autoencoder`. Found a module of your own: keep "
            "its code, and save its `parameters_vector()` with numpy."
        )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with replacing(target / PARAMETERS) as file:
        file.write(tensors_bytes({"parameters": network.parameters_vector()}))
    write_text(target / DOCUMENT, json.dumps({"format": FORMAT, "architecture": network.architecture}, indent=2) + "\n")


def load(folder: str | Path, *, device: str = "cpu") -> Network:
    """The network that `save` wrote to `folder`.

    Raises:
        ValueError: for files that `save` didn't write, or that don't belong together.
        OSError: when a file can't be read.
    """
    source = Path(folder)
    try:
        document = json_file(source / DOCUMENT, "the description of a network")
    except ValueError as error:
        raise ValueError(f"{source / DOCUMENT} must be JSON. Found none: save the network again.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"{source / DOCUMENT} must say {FORMAT!r}. Found another format: save the network again.")
    architecture = Architecture.read(document.get("architecture"))
    # Before anything of that size is made.
    parameters = _parameters(source / PARAMETERS, architecture.parameters)
    network = architecture.build(seed=0, device=device)
    network.load_vector(parameters)
    return network


def _parameters(path: Path, size: int) -> np.ndarray:
    try:
        tensors = read_tensors(path.read_bytes())
    except SafetensorError as error:
        raise ValueError(f"{path} must be a file of safetensors. Found another: save the network again.") from error
    found = tensors.get("parameters")
    if len(tensors) != 1 or found is None or found.dtype != np.float64 or found.shape != (size,):
        raise ValueError(
            f"{path} must hold {size} float64 numbers, as its architecture says. Found others: save the network again."
        )
    return found
