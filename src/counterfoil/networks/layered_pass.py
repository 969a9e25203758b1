"""A batch on its way through a layered network: Gram matrices in closed form, by one backward pass for all outputs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.networks.factors import ALLOWANCE
from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.layers import Kept, Layer
from counterfoil.networks.passes import Pass
from counterfoil.networks.signals import Signals

BLOCK_ENTRIES = 1 << 17
"""Numbers in the widest layer of a block of records (1 MiB). Larger arrays leave the cache, and are paged in anew."""

SIGNAL_ENTRIES = 1 << 20
"""Numbers in the signals of one layer that are in memory at once (8 MiB)."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some records of a batch: their outputs [c, d], and what each layer kept of them."""

    outputs: Tensor
    kept: list[Kept]

    def part(self, rows: slice | Tensor) -> Block:
        """Some of its records."""
        return Block(self.outputs[rows], [tuple(tensor[rows] for tensor in kept) for kept in self.kept])


class LayeredPass(Pass):
    """J_i J_i^T is the sum of the parts of the layers, for each parameter belongs to one layer.

    Nothing of size n P is formed. The signals [c, d, w] of c records at a time are.
    """

    def __init__(self, function: Differentiable, layers: list[Layer], rows: Tensor, blocks: list[Block]) -> None:
        super().__init__(function, rows, torch.cat([block.outputs for block in blocks]))
        self._layers = layers
        self._blocks = blocks
        # Below the lowest layer with parameters no signal is needed.
        self._lowest = min(place for place, layer in enumerate(layers) if layer.parameters())

    @classmethod
    @torch.no_grad()
    def of(cls, function: Differentiable, layers: list[Layer], rows: Tensor) -> LayeredPass:
        """The batch `rows` [n, p] on its way."""
        size = max(1, BLOCK_ENTRIES // max(rows.shape[1], *(layer.width for layer in layers)))
        return cls(function, layers, rows, [_forward(layers, part) for part in rows.split(size)])

    @torch.no_grad()
    def _gram(self) -> Tensor:
        return torch.cat([self._gram_of(part) for block in self._blocks for part in self._small(block)])

    @torch.no_grad()
    def _slack(self) -> Tensor:
        widths = [size for value in self._function.trained.values() for size in value.shape]
        roundings = sum(widths) + 16 * len(self._layers)
        sizes = torch.cat([self._size_of(block) for block in self._blocks])
        return ALLOWANCE * roundings**2 * sizes

    def _size_of(self, block: Block) -> Tensor:
        """[c]: a bound on squared Jacobians, had all weights, signals and inputs their absolute values."""
        reach = block.outputs.new_ones(len(block.outputs))
        total = torch.zeros_like(reach)
        for place in range(len(self._layers) - 1, self._lowest - 1, -1):
            total += self._layers[place].size(reach, block.kept[place])
            if place > self._lowest:
                reach = self._layers[place].reach(reach, block.kept[place])
        return total

    def _small(self, block: Block) -> list[Block]:
        """Parts of a block whose signals are small enough."""
        widest = max([1, *(tensor.shape[1] for kept in block.kept for tensor in kept)])
        size, count = max(1, SIGNAL_ENTRIES // (widest * block.outputs.shape[1])), len(block.outputs)
        if count <= size:
            return [block]
        return [block.part(slice(start, start + size)) for start in range(0, count, size)]

    @torch.no_grad()
    def _squares(self, derivatives: Tensor) -> Tensor:
        parts = [part for block in self._blocks for part in self._small(block)]
        along = derivatives.split([len(part.outputs) for part in parts])
        # One signal a record, in place of one for each output.
        found = [self._gram_of(part, Signals(given[:, None, :])) for part, given in zip(parts, along, strict=True)]
        return torch.cat(found)[:, 0, 0]

    def _gram_of(self, block: Block, signals: Signals | None = None) -> Tensor:
        n, d = block.outputs.shape
        if signals is None:
            signals = Signals.of_outputs(d, block.outputs)
        count = signals.base.shape[-2]
        total = block.outputs.new_zeros(n, count, count)
        for place in range(len(self._layers) - 1, self._lowest - 1, -1):
            layer = self._layers[place]
            part = layer.gram(signals, block.kept[place])
            if part is not None:
                total += part
            if place > self._lowest:
                signals = layer.below(signals, block.kept[place])
        return total

    @torch.no_grad()
    def _pull_back(self, coefficients: Tensor) -> Tensor:
        sizes = [len(block.outputs) for block in self._blocks]
        total: dict[int, Tensor] = {}
        for block, signal in zip(self._blocks, coefficients.split(sizes), strict=True):
            for place in range(len(self._layers) - 1, self._lowest - 1, -1):
                layer, kept = self._layers[place], block.kept[place]
                for parameter, gradient in zip(layer.parameters(), layer.gradients(signal, kept), strict=True):
                    before = total.get(id(parameter))
                    total[id(parameter)] = gradient if before is None else before + gradient
                if place > self._lowest:
                    signal = layer.pulled(signal, kept)
        return self._function.flat([total[id(parameter)] for parameter in self._function.trained.values()])

    def _part(self, chosen: Tensor) -> Pass:
        block = self._blocks[0] if len(self._blocks) == 1 else self._joined()
        return LayeredPass(self._function, self._layers, self.rows[chosen], [block.part(chosen)])

    def _joined(self) -> Block:
        kept = [
            tuple(torch.cat(tensors) for tensors in zip(*parts, strict=True))
            for parts in zip(*(block.kept for block in self._blocks), strict=True)
        ]
        return Block(self.outputs, kept)


def _forward(layers: list[Layer], rows: Tensor) -> Block:
    values, all_kept, spare = rows, list[Kept](), False
    for layer in layers:
        values, kept = layer.forward(values, spare=spare)
        spare = layer.leaves_spare
        all_kept.append(kept)
    return Block(values, all_kept)
