"""Networks with initial parameters drawn from a public seed: linear ones, perceptrons and autoencoders."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
from torch import nn

from counterfoil.networks.network import Network

ActivationName = Literal["relu", "tanh"]
_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}
_MOST_PARAMETERS = 10**9


@dataclass(frozen=True)
class Architecture:
    """Linear layers between `widths`, each but the last and number `bare` followed by `activation`.

    Args:
        kind: the function that made it.
        widths: numbers of features, of the hidden layers, and of outputs.
        activation: "relu" or "tanh".
        bare: the layer that ends in a code; None where there is no code.
    """

    kind: str
    widths: tuple[int, ...]
    activation: str = "relu"
    bare: int | None = None

    def __post_init__(self) -> None:
        if len(self.widths) < 2 or any(type(width) is not int or width < 1 for width in self.widths):
            raise ValueError(
                f"Widths of layers must be whole numbers of at least 1. Found {list(self.widths)}: choose others."
            )
        if self.activation not in _ACTIVATIONS:
            raise ValueError(
                f'`activation` must be one of {", ".join(_ACTIVATIONS)}. Found {self.activation!r}: choose "relu".'
            )
        if self.parameters > _MOST_PARAMETERS:
            raise ValueError(
                f"A network must have at most {_MOST_PARAMETERS:,} parameters. Found {self.parameters:,}: choose "
                "smaller widths."
            )

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum((entering + 1) * leaving for entering, leaving in itertools.pairwise(self.widths))

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "widths": list(self.widths)}

    @classmethod
    def read(cls, document: Any) -> Architecture:
        """The architecture of a `document`.

        Raises:
            ValueError: for anything else.
        """
        names = {"kind", "widths", "activation", "bare"}
        if (
            not isinstance(document, dict)
            or document.keys() != names
            or not isinstance(document["widths"], list)
            or document["kind"] not in ("linear", "mlp", "autoencoder")
            or not isinstance(document["activation"], str)
            or not (document["bare"] is None or type(document["bare"]) is int)
        ):
            raise ValueError(
                f"An architecture must have {', '.join(sorted(names))}, as `save` writes them. Found another document: "
                "save the network again."
            )
        return cls(document["kind"], tuple(document["widths"]), document["activation"], document["bare"])

    def build(self, *, seed: int, device: str = "cpu") -> Network:
        """The network. Weights and biases of a layer with w inputs are uniform on [-1 / sqrt(w), 1 / sqrt(w)]."""
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"A seed must be from -2**63 to 2**64 - 1, as PyTorch's are. Found {seed}.")
        generator = torch.Generator().manual_seed(seed)
        layers: list[nn.Module] = []
        for place, (entering, leaving) in enumerate(itertools.pairwise(self.widths)):
            # Without the initial values of PyTorch, which would be drawn from its global generator.
            layer = nn.utils.skip_init(nn.Linear, entering, leaving, dtype=torch.float64)
            with torch.no_grad():
                for value in layer.parameters():
                    value.uniform_(-1 / math.sqrt(entering), 1 / math.sqrt(entering), generator=generator)
            layers.append(layer)
            if place not in (self.bare, len(self.widths) - 2):
                layers.append(_ACTIVATIONS[self.activation]())
        return Network.wrap(nn.Sequential(*layers), inputs=self.widths[0], device=device, architecture=self.document())


def linear(p: int, d: int, *, seed: int, device: str = "cpu") -> Network:
    """z = W x + b, from p features to d outputs.

    Raises:
        ValueError: as `mlp`.
    """
    return Architecture("linear", (p, d)).build(seed=seed, device=device)


def mlp(
    p: int, d: int, *, hidden: tuple[int, ...] = (64,), activation: ActivationName = "relu", seed: int,
    device: str = "cpu",
) -> Network:  # fmt: skip
    """A perceptron: linear layers of the widths p, *hidden, d with `activation` between them.

    Args:
        p: features of a record.
        d: outputs.
        hidden: widths of the hidden layers.
        activation: "relu" or "tanh".
        seed: of the initial parameters, which are public. Those of a layer with w inputs are uniform on
            [-1 / sqrt(w), 1 / sqrt(w)], as PyTorch's own.
        device: such as "cpu" or "cuda".

    Raises:
        ValueError: when a width is below 1, or `activation` is another.
    """
    return Architecture("mlp", (p, *hidden, d), activation).build(seed=seed, device=device)


def autoencoder(
    p: int, *, hidden: tuple[int, ...] = (64,), code: int, activation: ActivationName = "relu", seed: int,
    device: str = "cpu",
) -> Network:  # fmt: skip
    """A perceptron from p features to `code` numbers by the hidden layers, and back to p by them in reverse order.

    Args:
        p, hidden, activation, seed, device: as for `mlp`.
        code: width of the narrowest layer, which has no activation.

    Raises:
        ValueError: as `mlp`.
    """
    widths = (p, *hidden, code, *reversed(hidden), p)
    return Architecture("autoencoder", widths, activation, len(hidden)).build(seed=seed, device=device)
