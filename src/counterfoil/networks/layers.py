"""The layers whose part in a Gram matrix is known in closed form, and how signals pass them.

A parameter that is used once has a gradient that is an outer product, or an element-wise one, of what enters its layer
and of the signals that come back. Inner products of such gradients are products of inner products, so that the
gradients themselves are never formed: for a linear layer

    <a_i (x) delta_ik, a_i (x) delta_il> = |a_i|^2 <delta_ik, delta_il>,

and <delta_ik, delta_il> once more for its bias. (Goodfellow, "Efficient per-example gradient computations", 2015, has
the case of one output.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from counterfoil.networks.signals import Signals

Kept = tuple[Tensor, ...]
"""What a layer keeps of its forward pass; each tensor has a row for each record."""

Elementwise = Callable[[Tensor], Tensor]


class Layer(ABC):
    """One step of a layered network; rows are records."""

    def parameters(self) -> list[Tensor]:
        """Those that are trained."""
        return []

    @abstractmethod
    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        """What leaves the layer [n, v], and what is kept, for `entering` [n, w]; `spare` lets it be overwritten."""

    @property
    def width(self) -> int:
        """Numbers that leave it for each record; 0 where as many enter it."""
        return 0

    @property
    def leaves_spare(self) -> bool:
        """Whether what leaves the layer is not kept, nor known elsewhere."""
        return False

    @abstractmethod
    def below(self, signals: Signals, kept: Kept) -> Signals:
        """The signals at what enters the layer, for those at what leaves it."""

    @abstractmethod
    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        """`below` for one signal a record: [n, w] for [n, v]."""

    @abstractmethod
    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        """[n]: a bound on the norm of a signal at what enters the layer, for `reach` at what leaves it.

        It holds for the absolute values of all that is multiplied and added on the way, so that nothing cancels in it.
        """

    def size(self, reach: Tensor, kept: Kept) -> Tensor:
        """[n]: the same for the squared gradient of its parameters."""
        return torch.zeros_like(reach)

    def gram(self, signals: Signals, kept: Kept) -> Tensor | None:
        """The part of its parameters in the Gram matrices: [n, d, d]; None without trained parameters."""
        return None

    def gradients(self, signal: Tensor, kept: Kept) -> list[Tensor]:
        """Of each of `parameters`, summed over records, for one signal [n, v] a record."""
        return []


@dataclass(frozen=True, eq=False)
class LinearLayer(Layer):
    """h = W a + b."""

    module: nn.Linear

    def parameters(self) -> list[Tensor]:
        return _trained_of(self.module.weight, self.module.bias)

    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        return nn.functional.linear(entering, self.module.weight, self.module.bias), (entering,)

    @property
    def width(self) -> int:
        return self.module.out_features

    @property
    def leaves_spare(self) -> bool:
        return True

    def below(self, signals: Signals, kept: Kept) -> Signals:
        return signals.through(self.module.weight)

    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        return signal @ self.module.weight

    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        return reach * torch.linalg.matrix_norm(self.module.weight)

    def size(self, reach: Tensor, kept: Kept) -> Tensor:
        (entering,) = kept
        return reach * reach * (torch.linalg.vecdot(entering, entering) + 1)

    def gram(self, signals: Signals, kept: Kept) -> Tensor | None:
        if not self.parameters():
            return None
        (entering,) = kept
        weighs = torch.linalg.vecdot(entering, entering) if _trained(self.module.weight) else entering.new_zeros(())
        weighs = (weighs + float(_trained(self.module.bias))).expand(len(entering))
        return weighs[:, None, None] * signals.products()

    def gradients(self, signal: Tensor, kept: Kept) -> list[Tensor]:
        (entering,) = kept
        found = [_product(signal, entering)] if _trained(self.module.weight) else []
        return [*found, signal.sum(0)] if _trained(self.module.bias) else found


@dataclass(frozen=True, eq=False)
class Activation(Layer):
    """h_j = phi(a_j), where phi' is a known function of phi: a is overwritten where nothing else needs it.

    Args:
        function: phi.
        in_place: phi, for a tensor that takes the values.
        slopes: phi' as a function of phi.
    """

    function: Elementwise
    in_place: Elementwise
    slopes: Elementwise

    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        leaving = self.in_place(entering) if spare else self.function(entering)
        return leaving, (leaving,)

    def below(self, signals: Signals, kept: Kept) -> Signals:
        return signals.times(self.slopes(kept[0]))

    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        return self.slopes(kept[0]).mul_(signal)  # into the slopes, which were made for it

    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        return reach * self.slopes(kept[0]).abs().amax(1)


@dataclass(frozen=True, eq=False)
class AnyActivation(Layer):
    """h_j = phi(a_j), of which PyTorch knows the derivative."""

    module: nn.Module

    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        with torch.enable_grad():
            variable = entering.detach().clone().requires_grad_()
            leaving = self.module(variable)
            # The derivative of the sum by a_j is phi'(a_j).
            (slopes,) = torch.autograd.grad(leaving, variable, torch.ones_like(leaving))
        return leaving.detach(), (slopes,)

    def below(self, signals: Signals, kept: Kept) -> Signals:
        return signals.times(kept[0])

    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        return signal * kept[0]

    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        return reach * kept[0].abs().amax(1)


@dataclass(frozen=True, eq=False)
class SoftmaxLayer(Layer):
    """h = softmax(a) over the features of a record: delta -> h * (delta - <delta, h>)."""

    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        leaving = torch.softmax(entering, 1)
        return leaving, (leaving,)

    def below(self, signals: Signals, kept: Kept) -> Signals:
        (leaving,) = kept
        dense = signals.dense()
        return Signals((dense - dense @ leaving[:, :, None]) * leaving[:, None, :])

    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        (leaving,) = kept
        return leaving * (signal - torch.linalg.vecdot(signal, leaving)[:, None])

    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        return 2 * reach  # h * delta and h <delta, h>, with entries of h up to 1


@dataclass(frozen=True, eq=False)
class LayerNormLayer(Layer):
    """h = g * u + b with u = (a - mean(a)) / s, s^2 = var(a) + eps, over the w features of a record.

    The gradients of g and b are delta * u and delta. With e = g * delta, the signal below is
    (e - mean(e) - u mean(e * u)) / s.
    """

    module: nn.LayerNorm

    def parameters(self) -> list[Tensor]:
        return _trained_of(self.module.weight, self.module.bias)

    def forward(self, entering: Tensor, *, spare: bool = False) -> tuple[Tensor, Kept]:
        variance, mean = torch.var_mean(entering, 1, correction=0, keepdim=True)
        deviation = torch.sqrt(variance + self.module.eps)
        standard = (entering - mean) / deviation
        leaving = standard if self.module.weight is None else standard * self.module.weight
        return leaving if self.module.bias is None else leaving + self.module.bias, (standard, deviation)

    def below(self, signals: Signals, kept: Kept) -> Signals:
        standard, deviation = (tensor[:, None, :] for tensor in kept)
        return Signals(self._below(signals.dense(), standard, deviation))

    def pulled(self, signal: Tensor, kept: Kept) -> Tensor:
        return self._below(signal, *kept)

    def _below(self, signal: Tensor, standard: Tensor, deviation: Tensor) -> Tensor:
        if self.module.weight is not None:
            signal = signal * self.module.weight
        along = (signal * standard).mean(-1, keepdim=True)
        return (signal - signal.mean(-1, keepdim=True) - standard * along) / deviation

    def reach(self, reach: Tensor, kept: Kept) -> Tensor:
        gain = 1.0 if self.module.weight is None else self.module.weight.abs().amax()
        return 3 * gain * reach / kept[1][:, 0]  # three terms, as |u|^2 <= w

    def size(self, reach: Tensor, kept: Kept) -> Tensor:
        return reach * reach * (torch.linalg.vecdot(kept[0], kept[0]) + 1)

    def gram(self, signals: Signals, kept: Kept) -> Tensor | None:
        parts = [signals.times(kept[0]).products()] if _trained(self.module.weight) else []
        parts += [signals.products()] if _trained(self.module.bias) else []
        return sum(parts[1:], parts[0]) if parts else None

    def gradients(self, signal: Tensor, kept: Kept) -> list[Tensor]:
        found = [(signal * kept[0]).sum(0)] if _trained(self.module.weight) else []
        return [*found, signal.sum(0)] if _trained(self.module.bias) else found


ACTIVATIONS: dict[type[nn.Module], Activation] = {
    nn.ReLU: Activation(torch.relu, torch.relu_, torch.sign),
    nn.Tanh: Activation(torch.tanh, torch.tanh_, lambda leaving: 1 - leaving * leaving),
    nn.Sigmoid: Activation(torch.sigmoid, torch.sigmoid_, lambda leaving: leaving * (1 - leaving)),
}


def _product(left: Tensor, right: Tensor) -> Tensor:
    """left^T right, the narrower one first: so it takes half the time."""
    return left.T @ right if left.shape[1] <= right.shape[1] else (right.T @ left).T


def _trained_of(*parameters: Tensor | None) -> list[Tensor]:
    return [parameter for parameter in parameters if parameter is not None and parameter.requires_grad]


def _trained(parameter: Tensor | None) -> bool:
    return parameter is not None and parameter.requires_grad
