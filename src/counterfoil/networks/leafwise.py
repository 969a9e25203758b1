"""Gram matrices of modules of any shape, layer by layer.

A linear layer, a convolution or a layer normalization may stand anywhere in a module, whatever code calls it, as in a
residual network. What enters it and what leaves it is recorded on the way forward. The derivative of sum_i z_ik by what
leaves it, h [n, ...], has the parts delta_ik = d z_ik / d h_i, for the outputs of record i depend on record i alone. So
d backward passes, in which no gradient of a parameter is formed, give all signals, and the layers' parts are known in
closed form (`leaf_parts`). Parameters have no inner products with each other: those of layers without a closed form
have explicit Jacobians of their own (`Differentiable`), and the parts add up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.leaf_parts import entries_of, part_of, takes


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a layer.

    Args:
        leaf: it.
        entering, leaving: [n, ...] both.
        node: of the graph, what `leaving` came from; a change in place gives it another.
        version: of `entering`, which a change in place raises.
    """

    leaf: nn.Module
    entering: Tensor
    leaving: Tensor
    node: Any
    version: int

    @property
    def is_intact(self) -> bool:
        """Whether nothing was written to what entered and left."""
        return self.leaving.grad_fn is self.node and self.entering._version == self.version

    @property
    def entries(self) -> int:
        """Numbers, for each record and output, that its part needs."""
        return entries_of(self.leaf, self.leaving)

    def edges(self) -> Counter[int]:
        """How often the graph of this use alone takes each parameter."""
        return _graph(self.node, self.entering.grad_fn)[1]

    def part(self, signals: Tensor) -> Tensor:
        """Its part in the Gram matrices, [n, d, d], for `signals` [n, d, ...] at what left it."""
        part = part_of(self.leaf)
        assert part is not None
        return part(self.leaf, self.entering, signals)


def leaves_of(module: nn.Module) -> list[nn.Module]:
    """The layers of `module` that have trained parameters and a closed form."""
    return [part for part in module.modules() if part_of(part) is not None and _trained_of(part)]


def rest_of(function: Differentiable, leaves: Sequence[nn.Module]) -> tuple[str, ...]:
    """The names of the trained parameters that are not those of `leaves`."""
    theirs = {id(value) for leaf in leaves for value in _trained_of(leaf)}
    return tuple(name for name, value in function.trained.items() if id(value) not in theirs)


@contextmanager
def recording(leaves: Sequence[nn.Module]) -> Iterator[list[Use]]:
    """The uses of `leaves` while the context lasts, in order."""
    uses: list[Use] = []

    def record(leaf: nn.Module, entering: tuple[Any, ...], leaving: Any) -> None:
        # What is called by names in place of places has nothing recorded, and no closed form.
        if leaving.requires_grad and entering:
            uses.append(Use(leaf, entering[0], leaving, leaving.grad_fn, entering[0]._version))

    hooks = [leaf.register_forward_hook(record) for leaf in leaves]
    try:
        yield uses
    finally:
        for hook in hooks:
            hook.remove()


def sound_uses(outputs: Tensor, leaves: Sequence[nn.Module], uses: Sequence[Use]) -> dict[nn.Module, Use | None]:
    """The `leaves` whose closed form holds for `outputs` [n, d] with their graph, each with its one use.

    None stands for a layer that no output depends on. The form holds if the layer is used once, its parameters nowhere
    else, on rows that are the records. All but the last is read off the graph each time; that rows are not exchanged on
    their way is tried by `Trial`.
    """
    nodes, edges = _graph(outputs.grad_fn)
    found: dict[nn.Module, Use | None] = {}
    for leaf in leaves:
        own = [use for use in uses if use.leaf is leaf and use.node in nodes]
        inside = own[0].edges() if len(own) == 1 else Counter[int]()
        fits = all(use.is_intact and takes(leaf, use.entering, use.leaving) for use in own)
        alone = all(edges[id(value)] == inside[id(value)] <= 1 for value in _trained_of(leaf))
        if len(own) <= 1 and fits and alone and all(len(use.leaving) == len(outputs) for use in own):
            found[leaf] = own[0] if own else None
    return found


def leafwise_parts(outputs: Tensor, uses: Sequence[Use]) -> Iterator[Tensor]:
    """The part of each of the sound `uses` in the Gram matrices [n, d, d] of `outputs` with their graph."""
    d, leaving = outputs.shape[1], [use.leaving for use in uses]
    if not uses:
        return
    found = [
        torch.autograd.grad(outputs[:, k].sum(), leaving, retain_graph=True, materialize_grads=True) for k in range(d)
    ]
    with torch.no_grad():
        for use, signals in zip(uses, zip(*found, strict=True), strict=True):
            yield use.part(torch.stack(signals, dim=1)).expand(len(outputs), d, d)


def _graph(start: Any, end: Any = None) -> tuple[set[Any], Counter[int]]:
    """The nodes from `start` down, not beyond `end`, and how many of their edges lead to each parameter."""
    nodes, waiting, edges = set[Any](), [start], Counter[int]()
    while waiting:
        node = waiting.pop()
        if node is None or node is end or node in nodes:
            continue
        nodes.add(node)
        for following, _ in node.next_functions:
            variable = getattr(following, "variable", None)
            if variable is not None:
                edges[id(variable)] += 1
            waiting.append(following)
    return nodes, edges


def _trained_of(leaf: nn.Module) -> list[Tensor]:
    return [value for value in leaf.parameters(recurse=False) if value.requires_grad]
