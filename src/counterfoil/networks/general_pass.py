"""A batch on its way through any module: PyTorch differentiates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.leafwise import leafwise_parts, recording, rest_of, sound_uses
from counterfoil.networks.passes import Pass

SIGNAL_ENTRIES = 1 << 22
"""Numbers in the signals of all layers that are in memory at once (32 MiB)."""


class GeneralPass(Pass):
    """Gram matrices layer by layer where that is possible, and from explicit Jacobians of a few records at a time.

    Args:
        function, rows: as for `Pass`.
        leaves: the layers whose parts are computed in closed form; none for explicit Jacobians of all parameters.
    """

    def __init__(self, function: Differentiable, rows: Tensor, leaves: Sequence[nn.Module] = ()) -> None:
        self._leaves = leaves
        with torch.enable_grad(), recording(leaves) as self._uses:
            # Some modules refuse an empty batch.
            self._graph = function.module(rows) if len(rows) else rows.new_zeros(0, function.outputs)
        super().__init__(function, rows, self._graph.detach())

    def _gram(self) -> Tensor:
        if not self._leaves or not len(self.rows):
            return self._function.gram(self.rows)
        size = max(1, SIGNAL_ENTRIES // max(1, self.outputs.shape[1] * sum(use.entries for use in self._uses)))
        if len(self.rows) > size:
            parts = self.rows.split(size)
            return torch.cat([GeneralPass(self._function, part, self._leaves)._gram() for part in parts])
        sound = sound_uses(self._graph, self._leaves, self._uses)
        if len(sound) < len(self._leaves):
            return self._function.gram(self.rows)
        rest = rest_of(self._function, self._leaves)
        total = self._function.gram(self.rows, rest) if rest else self.outputs.new_zeros(*self.outputs.shape, 1)
        for part in leafwise_parts(self._graph, [use for use in sound.values() if use is not None]):
            total = total + part
        return total.expand(*self.outputs.shape, self.outputs.shape[1])

    def _pull_back(self, coefficients: Tensor) -> Tensor:
        if not len(coefficients):
            return coefficients.new_zeros(self._function.size)
        parameters = list(self._function.trained.values())
        # The graph is kept, so that several gradients can be pulled back.
        found = torch.autograd.grad(self._graph, parameters, coefficients, retain_graph=True, materialize_grads=True)
        return self._function.flat(list(found))

    def _part(self, chosen: Tensor) -> Pass:
        return GeneralPass(self._function, self.rows[chosen], self._leaves)
