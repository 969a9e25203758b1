"""Jacobians of single records for any module: explicit, and therefore a few records at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

CHUNK_ENTRIES = 1 << 22
"""Numbers in the Jacobians that are in memory at once (32 MiB). Fewer cost more calls than they save of memory."""

CHUNK_ROWS = 1 << 13
"""Records at once where few parameters are asked for: what is between the layers is in memory too."""


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

    def gram(self, rows: Tensor, names: Sequence[str] | None = None) -> Tensor:
        """J_i J_i^T [n, d, d], from the Jacobians of a few records at a time.

        Args:
            rows: [n, p].
            names: of the parameters whose part is asked for; None for all.
        """
        found = [torch.zeros(0, self.outputs, self.outputs).to(rows)]
        for parts in self.jacobians(rows, names):
            products = [part @ part.transpose(1, 2) for part in parts]
            found.append(sum(products[1:], products[0]))
        return torch.cat(found)

    def jacobians(self, rows: Tensor, names: Sequence[str] | None = None) -> Iterator[list[Tensor]]:
        """J_i of some records at a time, [c, d, size] of each parameter: `CHUNK_ENTRIES` numbers, or one record."""
        named = tuple(self.trained) if names is None else tuple(names)
        numbers = sum(self.trained[name].numel() for name in named)
        size = min(CHUNK_ROWS, max(1, CHUNK_ENTRIES // (self.outputs * numbers)))
        for chunk in rows.split(size) if len(rows) else ():
            yield self._vectorized(chunk, named) if self.vectorized else self._one_by_one(chunk, named)

    def flat(self, gradients: list[Tensor]) -> Tensor:
        """Gradients of the trained parameters as one vector [P]."""
        return torch.cat([gradient.reshape(-1) for gradient in gradients])

    def _one(self, row: Tensor, fixed: dict[str, Tensor]) -> Callable[[dict[str, Tensor]], Tensor]:
        def outputs(varied: dict[str, Tensor]) -> Tensor:
            values = fixed | varied
            placed = {place: values[name] for place, name in self._places.items()}
            # With `tie_weights`, PyTorch does not put back the parameters of a module that is there twice.
            return functional_call(self.module, placed, (row[None],), tie_weights=False)[0]

        return outputs

    def _vectorized(self, rows: Tensor, names: Sequence[str]) -> list[Tensor]:
        values = {name: value.detach() for name, value in self.trained.items()}
        varied = {name: values.pop(name) for name in names}
        found = vmap(lambda row: jacrev(self._one(row, values))(varied))(rows)
        return [found[name].reshape(len(rows), self.outputs, -1) for name in names]

    def _one_by_one(self, rows: Tensor, names: Sequence[str]) -> list[Tensor]:
        parameters = [self.trained[name] for name in names]
        found: list[list[Tensor]] = [[] for _ in names]
        for row in rows:
            with torch.enable_grad():
                outputs = self.module(row[None])[0]
                for k in range(self.outputs):
                    parts = torch.autograd.grad(outputs[k], parameters, retain_graph=True, materialize_grads=True)
                    for place, part in zip(found, parts, strict=True):
                        place.append(part.reshape(-1))
        return [torch.stack(parts).view(len(rows), self.outputs, -1) for parts in found]


def _places(module: nn.Module, trained: dict[str, nn.Parameter]) -> dict[str, str]:
    """Where trained parameters are, one name for each place, and the first name of what is there."""
    first = {id(value): name for name, value in trained.items()}
    found: dict[str, str] = {}
    for prefix, part in module.named_modules():  # each once
        for name, value in part.named_parameters(recurse=False, remove_duplicate=False):
            if id(value) in first:
                found[f"{prefix}.{name}" if prefix else name] = first[id(value)]
    return found
