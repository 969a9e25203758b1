"""What the parameters of one layer add to Gram matrices, wherever in a module it stands.

Of a record, a_t is what enters a layer at place t (a step of a sequence, a pixel) and delta_kt = d z_k / d h_t the
signal at what leaves it there. The gradient of z_k by a weight is sum_t delta_kt a_t^T, and by a bias sum_t delta_kt.
With one place the inner products of these outer products are products of inner products (`layers`). With several the
sums over places are formed, [v, w] numbers for each record and output: taking |sum_t delta_t a_t^T|^2 for the sum of
(a_s . a_t)(delta_s . delta_t) would be off by rounding relative to what cancels in it, and a norm that is bounded must
not come out too small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from counterfoil.networks.layers import LinearLayer
from counterfoil.networks.signals import Signals

Part = Callable[[Any, Tensor, Tensor], Tensor]
"""[n, d, d] from the layer, what entered it [n, ...], and the signals [n, d, ...] at what left it."""


def part_of(leaf: nn.Module) -> Part | None:
    """How the part of `leaf` is computed; None where no closed form is known."""
    if type(leaf) in (nn.Conv1d, nn.Conv2d) and not _pads_with_zeros(leaf):
        return None
    return _PARTS.get(type(leaf))


def takes(leaf: nn.Module, entering: Tensor, leaving: Tensor) -> bool:
    """Whether the first dimension of both can be that of the records, as far as shapes tell."""
    if entering.dim() != leaving.dim() or entering.shape[0] != leaving.shape[0]:
        return False
    match leaf:
        case nn.Conv1d() | nn.Conv2d():
            return entering.dim() == leaf.weight.dim()
        case nn.LayerNorm():
            return entering.dim() > len(leaf.normalized_shape)
        case _:
            return entering.dim() > 1


def entries_of(leaf: nn.Module, leaving: Tensor) -> int:
    """Numbers, for each record and output, in the largest array that a part is made from."""
    weight = getattr(leaf, "weight", None)
    return leaving[0].numel() + (weight.numel() if weight is not None and leaving.dim() > 2 else 0)


def _of_linear(leaf: nn.Linear, entering: Tensor, signals: Tensor) -> Tensor:
    if entering.dim() == 2:
        found = LinearLayer(leaf).gram(Signals(signals), (entering,))
        return signals.new_zeros(()) if found is None else found
    along = signals.flatten(2, -2)
    return _of_places(leaf, entering.flatten(1, -2).transpose(1, 2)[:, None], along.transpose(2, 3)[:, :, None])


def _of_convolution(leaf: nn.Conv1d | nn.Conv2d, entering: Tensor, signals: Tensor) -> Tensor:
    sizes: list[Any] = [leaf.kernel_size, leaf.dilation, leaf.padding, leaf.stride]
    if isinstance(leaf, nn.Conv1d):
        entering = entering[:, :, None]
        sizes = [(start, *size) for start, size in zip((1, 1, 0, 1), sizes, strict=True)]
    patches = nn.functional.unfold(entering, *sizes).unflatten(1, (leaf.groups, -1))
    return _of_places(leaf, patches, signals.flatten(3).unflatten(2, (leaf.groups, -1)))


def _of_places(leaf: nn.Module, entering: Tensor, signals: Tensor) -> Tensor:
    """For `entering` [n, g, w, t] and `signals` [n, d, g, v, t], g groups of channels apart."""
    total = signals.new_zeros(())
    weight, bias = leaf.weight, leaf.bias
    if isinstance(weight, Tensor) and weight.requires_grad:
        total = total + _products(signals @ entering.transpose(2, 3)[:, None])
    if isinstance(bias, Tensor) and bias.requires_grad:
        total = total + _products(signals.sum(-1))
    return total


def _of_normalization(leaf: nn.LayerNorm, entering: Tensor, signals: Tensor) -> Tensor:
    own = tuple(range(-len(leaf.normalized_shape), 0))
    places = tuple(range(2, signals.dim() - len(own)))
    total = signals.new_zeros(())
    if leaf.weight is not None and leaf.weight.requires_grad:
        variance, mean = torch.var_mean(entering, own, correction=0, keepdim=True)
        standard = (entering - mean) / torch.sqrt(variance + leaf.eps)
        total = total + _products(_over(signals * standard[:, None], places))
    if leaf.bias is not None and leaf.bias.requires_grad:
        total = total + _products(_over(signals, places))
    return total


def _over(values: Tensor, places: tuple[int, ...]) -> Tensor:
    """The sum over `places`; PyTorch takes none for all."""
    return values.sum(places) if places else values


def _products(gradients: Tensor) -> Tensor:
    """Inner products [n, d, d] of gradients [n, d, ...]."""
    flat = gradients.flatten(2)
    return flat @ flat.transpose(1, 2)


def _pads_with_zeros(leaf: Any) -> bool:
    return leaf.padding_mode == "zeros" and not isinstance(leaf.padding, str)


_PARTS: dict[type[nn.Module], Part] = {
    nn.Linear: _of_linear,
    nn.Conv1d: _of_convolution,
    nn.Conv2d: _of_convolution,
    nn.LayerNorm: _of_normalization,
}
