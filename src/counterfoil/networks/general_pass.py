"""A batch on its way through any module: PyTorch differentiates."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.leafwise import leafwise_gram, recording
from counterfoil.networks.passes import Pass

SIGNAL_ENTRIES = 1 << 22
"""Numbers in the signals of all layers that are in memory at once (32 MiB)."""


class GeneralPass(Pass):
    """Gram matrices layer by layer where that is possible, else from explicit Jacobians of a few records at a time.

    Args:
        function, rows: as for `Pass`.
        leaves: the layers in closed form that have all trained parameters; none for explicit Jacobians.
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
        numbers = self.outputs.shape[1] * sum(use.leaving[0].numel() for use in self._uses)
        size = max(1, SIGNAL_ENTRIES // max(1, numbers))
        if len(self.rows) > size:
            parts = self.rows.split(size)
            return torch.cat([GeneralPass(self._function, part, self._leaves)._gram() for part in parts])
        found = leafwise_gram(self._function, self._graph, self._uses)
        return self._function.gram(self.rows) if found is None else found

    def _pull_back(self, coefficients: Tensor) -> Tensor:
        if not len(coefficients):
            return coefficients.new_zeros(self._function.size)
        parameters = list(self._function.trained.values())
        # The graph is kept, so that several gradients can be pulled back.
        found = torch.autograd.grad(self._graph, parameters, coefficients, retain_graph=True, materialize_grads=True)
        return self._function.flat(list(found))

    def _part(self, chosen: Tensor) -> Pass:
        return GeneralPass(self._function, self.rows[chosen], self._leaves)
