"""Gram matrices of modules of any shape whose trained parameters all belong to layers in closed form.

A linear layer may stand anywhere in a module, whatever code calls it, as in a residual network. What enters it and what
leaves it is recorded on the way forward. The derivative of sum_i z_ik by what leaves it, h [n, w], has the rows
delta_ik = d z_ik / d h_i, for the outputs of record i depend on record i alone. So d backward passes, in which no
gradient of a parameter is formed, give all signals, and the layers' parts are those of a layered network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.layers import Layer, LayerNormLayer, LinearLayer
from counterfoil.networks.signals import Signals


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a layer.

    Args:
        layer: it.
        entering, leaving: [n, w] and [n, v].
        node: of the graph, what `leaving` came from; a change in place gives it another.
        version: of `entering`, which a change in place raises.
    """

    layer: Layer
    entering: Tensor
    leaving: Tensor
    node: Any
    version: int

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written to what entered and left."""
        return self.leaving.grad_fn is self.node and self.entering._version == self.version


def leaves_of(module: nn.Module) -> list[nn.Module]:
    """The linear layers and layer normalizations of `module`, if all its trained parameters are theirs; else none."""
    leaves = [part for part in module.modules() if type(part) in (nn.Linear, nn.LayerNorm)]
    theirs = {id(value) for leaf in leaves for value in leaf.parameters(recurse=False)}
    trained = [value for value in module.parameters() if value.requires_grad]
    return leaves if all(id(value) in theirs for value in trained) else []


@contextmanager
def recording(leaves: Sequence[nn.Module]) -> Iterator[list[Use]]:
    """The uses of `leaves` while the context lasts, in order."""
    uses: list[Use] = []

    def record(leaf: Any, entering: tuple[Any, ...], leaving: Any) -> None:
        layer = LinearLayer(leaf) if isinstance(leaf, nn.Linear) else LayerNormLayer(leaf)
        if leaving.requires_grad:
            uses.append(Use(layer, entering[0], leaving, leaving.grad_fn, entering[0]._version))

    hooks = [leaf.register_forward_hook(record) for leaf in leaves]
    try:
        yield uses
    finally:
        for hook in hooks:
            hook.remove()


def leafwise_gram(function: Differentiable, outputs: Tensor, uses: Sequence[Use]) -> Tensor | None:
    """J_i J_i^T [n, d, d] for `outputs` [n, d] with their graph; None where the layers' parts may not add up to it.

    They do if each parameter is used once, by a layer that was recorded, on rows that are the records. All but the
    last is read off the graph each time; that rows are not exchanged on their way is tried by `Trial`.
    """
    n, d = outputs.shape
    if not _adds_up(function, outputs, uses):
        return None
    reached = [use for use in uses if use.layer.parameters()]
    if not reached:
        return outputs.new_zeros(n, d, d)
    found = [
        torch.autograd.grad(outputs[:, k].sum(), [use.leaving for use in reached], retain_graph=True, allow_unused=True)
        for k in range(d)
    ]
    total = outputs.new_zeros(n, d, d)
    with torch.no_grad():
        for use, signals in zip(reached, zip(*found, strict=True), strict=True):
            dense = [use.leaving.new_zeros(use.leaving.shape) if signal is None else signal for signal in signals]
            part = use.layer.gram(Signals(torch.stack(dense, dim=1)), use.layer.kept_of(use.entering))
            total += 0.0 if part is None else part
    return total


def _adds_up(function: Differentiable, outputs: Tensor, uses: Sequence[Use]) -> bool:
    """Whether each parameter that has a part in `outputs` has one edge of the graph, and that from its layer."""
    n = len(outputs)
    if any(not use.is_intact or use.entering.dim() != 2 or len(use.entering) != n for use in uses):
        return False
    edges: dict[int, int] = {}
    nodes, waiting = set(), [outputs.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in nodes:
            continue
        nodes.add(node)
        for following, _ in node.next_functions:
            variable = getattr(following, "variable", None)
            if variable is not None:
                edges[id(variable)] = edges.get(id(variable), 0) + 1
            waiting.append(following)
    own = [id(variable) for use in uses if use.node in nodes for variable in _parameters_of(use.node)]
    return all(edges.get(id(value), 0) == own.count(id(value)) <= 1 for value in function.trained.values())


def _parameters_of(node: Any) -> list[Tensor]:
    """The parameters that a layer's node takes: directly, or transposed."""
    following = [each for each, _ in node.next_functions if each is not None]
    transposed = [each for t in following if t.name() == "TBackward0" for each, _ in t.next_functions]
    found = [getattr(each, "variable", None) for each in (*following, *transposed)]
    return [variable for variable in found if variable is not None]
