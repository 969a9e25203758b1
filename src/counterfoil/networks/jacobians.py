"""Jacobians of single records for any module: explicit, and therefore a few records at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

CHUNK_ENTRIES = 1 << 22
"""Numbers in the Jacobians that are in memory at once (32 MiB). Fewer cost more calls than they save of memory."""


class Differentiable:
    """z = f_theta(x) for rows, with derivatives by the parameters that are trained, record by record.

    Args:
        module: in float64. Row i of its outputs must depend on row i of its inputs alone.
        outputs: d.
        vectorized: whether `torch.func` can differentiate it for many records at once; else one by one.
    """

    def __init__(self, module: nn.Module, outputs: int, *, vectorized: bool = True) -> None:
        self.module = module
        self.outputs = outputs
        self.vectorized = vectorized
        self.version = 0
        self.trained = {name: value for name, value in module.named_parameters() if value.requires_grad}
        self._places = _places(module, self.trained)
        self.size = sum(value.numel() for value in self.trained.values())

    def gram(self, rows: Tensor) -> Tensor:
        """J_i J_i^T [n, d, d], from the Jacobians of a few records at a time."""
        found = [torch.zeros(0, self.outputs, self.outputs).to(rows)]
        for parts in self.jacobians(rows):
            products = [part @ part.transpose(1, 2) for part in parts]
            found.append(sum(products[1:], products[0]))
        return torch.cat(found)

    def jacobians(self, rows: Tensor) -> Iterator[list[Tensor]]:
        """J_i of some records at a time, [c, d, size] of each parameter: `CHUNK_ENTRIES` numbers, or one record."""
        size = max(1, CHUNK_ENTRIES // (self.outputs * self.size))
        for chunk in rows.split(size) if len(rows) else ():
            yield self._vectorized(chunk) if self.vectorized else self._one_by_one(chunk)

    def flat(self, gradients: list[Tensor]) -> Tensor:
        """Gradients of the trained parameters as one vector [P]."""
        return torch.cat([gradient.reshape(-1) for gradient in gradients])

    def _one(self, row: Tensor) -> Callable[[dict[str, Tensor]], Tensor]:
        # With `tie_weights`, PyTorch does not put back the parameters of a module that is there twice.
        return lambda trained: functional_call(
            self.module, {place: trained[name] for place, name in self._places.items()}, (row[None],), tie_weights=False
        )[0]

    def _vectorized(self, rows: Tensor) -> list[Tensor]:
        trained = {name: value.detach() for name, value in self.trained.items()}
        found = vmap(lambda row: jacrev(self._one(row))(trained))(rows)
        return [found[name].reshape(len(rows), self.outputs, -1) for name in trained]

    def _one_by_one(self, rows: Tensor) -> list[Tensor]:
        parameters = list(self.trained.values())
        found = []
        for row in rows:
            with torch.enable_grad():
                outputs = self.module(row[None])[0]
                for k in range(self.outputs):
                    parts = torch.autograd.grad(outputs[k], parameters, retain_graph=True, materialize_grads=True)
                    found.append(self.flat(list(parts)))
        return [torch.stack(found).view(len(rows), self.outputs, self.size)]


def _places(module: nn.Module, trained: dict[str, nn.Parameter]) -> dict[str, str]:
    """Where trained parameters are, one name for each place, and the first name of what is there."""
    first = {id(value): name for name, value in trained.items()}
    found: dict[str, str] = {}
    for prefix, part in module.named_modules():  # each once
        for name, value in part.named_parameters(recurse=False, remove_duplicate=False):
            if id(value) in first:
                found[f"{prefix}.{name}" if prefix else name] = first[id(value)]
    return found
