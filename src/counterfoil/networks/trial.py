"""Whether a module treats each record by itself, tried on random public rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import torch
from torch import Tensor, nn

from counterfoil.networks.catalog import DROPPING, MIXING, layered
from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.leafwise import leafwise_parts, leaves_of, recording, sound_uses

ROWS = 24
_FEW = 5
TOLERANCE = 1e-9
"""Relative to the largest output. Blocks of matrix products round differently for other numbers of rows."""


def require_admissible(module: nn.Module, inputs: int) -> None:
    """Refuses what can be told from the modules without running them.

    Raises:
        ValueError: see `Network.wrap`.
    """
    if not isinstance(module, nn.Module):
        _refuse("`module` must be a torch.nn.Module", type(module).__name__, "wrap the function in a module")
    if inputs < 1:
        _refuse("`inputs` must be at least 1", str(inputs), "give the number of features of a record")
    for part in module.modules():
        name = type(part).__name__
        if isinstance(part, MIXING) and not _by_record(part):
            _refuse(
                "`module` must treat each record by itself", f"{name}, which mixes a batch", "use LayerNorm instead"
            )
        if isinstance(part, DROPPING) and part.p > 0:
            _refuse("`module` must not draw random numbers", f"{name} with p={part.p:g}", "set p=0 or remove it")
    parameters = dict(module.named_parameters())
    for name, value in parameters.items():
        if isinstance(value, nn.parameter.UninitializedParameter):
            _refuse("`module` must have all its parameters", f"{name} without a shape", "run it once before")
        if not value.dtype.is_floating_point:
            _refuse("Parameters of `module` must be real numbers", f"{name} of {value.dtype}", "use float64")
    hooked = [type(part).__name__ for part in module.modules() if any(vars(part).get(hooks) for hooks in _HOOKS)]
    if hooked:
        _refuse("`module` must have no hooks", f"a hook of {hooked[0]}", "remove it")
    if not any(value.requires_grad and value.numel() for value in parameters.values()):
        _refuse("`module` must have parameters to train", "none", "set requires_grad, or add a layer")


@dataclass(frozen=True)
class Trial:
    """What a trial of a module found.

    outputs: d.
    vectorized: whether torch.func differentiates it for many records at once.
    leaves: the layers whose parts in its Gram matrices are known in closed form; explicit Jacobians have the others.
    """

    outputs: int
    vectorized: bool
    leaves: tuple[nn.Module, ...]

    @classmethod
    def of(cls, module: nn.Module, inputs: int) -> Trial:
        """Runs `module`, in float64, on random public rows, at its own parameters and at random ones.

        At its own parameters alone a gate of zero could hide that records are mixed.

        Raises:
            ValueError: see `Network.wrap`.
        """
        generator = torch.Generator().manual_seed(20_240_607)
        device = next(module.parameters()).device
        rows = torch.randn(ROWS, inputs, dtype=torch.float64, generator=generator).to(device)
        buffers = {name: value.clone() for name, value in module.named_buffers()}
        with torch.enable_grad():
            outputs = _outputs(module, rows)
        if not outputs.requires_grad:
            _refuse("Outputs of `module` must depend on parameters to train", "none that do", "use one in `forward`")
        if not bool(torch.isfinite(outputs).all()):
            _refuse("`module` must have finite outputs on public rows", "NaN or infinity", "choose other parameters")
        own = {name: value.detach().clone() for name, value in module.named_parameters()}
        with torch.no_grad():
            for repeat in range(3):
                _require_by_record(module, rows, generator)
                for value in module.parameters() if repeat < 2 else ():
                    value.add_(torch.randn(value.shape, dtype=value.dtype, generator=generator).to(device), alpha=0.5)
            for name, value in module.named_parameters():
                value.copy_(own[name])
        if any(not torch.equal(value, buffers[name]) for name, value in module.named_buffers()):
            _refuse("`module` must keep nothing of what it has seen", "a buffer that changed", "remove its statistics")
        if layered(module) is not None:
            return cls(outputs.shape[1], True, ())
        one_by_one = Differentiable(module, outputs.shape[1], vectorized=False)
        few = rows[:_FEW]
        return cls(
            outputs.shape[1],
            _is_vectorized(Differentiable(module, outputs.shape[1]), few, one_by_one.gram(few)),
            _tried_leaves(one_by_one, few),
        )


def _require_by_record(module: nn.Module, rows: Tensor, generator: torch.Generator) -> None:
    """Compares outputs of rows with what they are in other company."""
    whole = _outputs(module, rows)
    _require_alike(_outputs(module, rows), whole, "must not draw random numbers", "remove what draws them")
    for count in (len(rows), len(rows), len(rows) // 2, 3, 1):
        chosen = torch.randperm(len(rows), generator=generator)[:count].to(rows.device)
        found = _outputs(module, rows[chosen])
        _require_alike(found, whole[chosen], *_BY_ITSELF)
    company = rows.clone()
    company[1:] *= -100.0
    _require_alike(_outputs(module, company)[:1], whole[:1], *_BY_ITSELF)


def _require_alike(found: Tensor, expected: Tensor, must: str, remedy: str) -> None:
    size = float(torch.nan_to_num(expected.detach(), posinf=0.0, neginf=0.0).abs().max()) if expected.numel() else 0.0
    if not torch.allclose(found, expected, rtol=0.0, atol=TOLERANCE * max(size, 1e-300), equal_nan=True):
        _refuse(f"`module` {must}", "other outputs for the same record", remedy)


def _outputs(module: nn.Module, rows: Tensor) -> Tensor:
    given = rows.clone()
    try:
        found = module(given)
    except Exception as error:  # of any kind, of PyTorch or of a user's code
        raise ValueError(
            f"`module` must take any number of float64 rows of length {rows.shape[1]}. Found {type(error).__name__} "
            f"for {len(rows)} rows: check `inputs` and its layers."
        ) from error
    if not torch.equal(given, rows):
        _refuse("`module` must leave its inputs as they are", "that they changed", "remove what writes in place")
    if not isinstance(found, Tensor) or found.dim() != 2 or len(found) != len(rows) or found.shape[1] < 1:
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        _refuse(f"`module` must turn [n, {rows.shape[1]}] into [n, d]", f"{shape} for n = {len(rows)}", "reshape it")
    if found.dtype != torch.float64:
        _refuse("`module` must compute in float64", f"outputs of {found.dtype}", "remove what casts its numbers")
    return found


def _is_vectorized(function: Differentiable, rows: Tensor, expected: Tensor) -> bool:
    """Whether torch.func agrees with ordinary differentiation of single records."""
    try:
        found = function.gram(rows)
    except Exception:  # of PyTorch's many kinds; what can't be vectorized is done one by one
        return False
    return _close(found, expected)


def _tried_leaves(function: Differentiable, rows: Tensor) -> tuple[nn.Module, ...]:
    """The layers whose closed form is right; rows that are exchanged on their way would show."""
    leaves = leaves_of(function.module)
    if not leaves:
        return ()
    with torch.enable_grad(), recording(leaves) as uses:
        outputs = function.module(rows)
    sound = sound_uses(outputs, leaves, uses)
    used = [use for use in sound.values() if use is not None]
    for use, part in zip(used, leafwise_parts(outputs, used), strict=True):
        theirs = {id(value) for value in use.leaf.parameters(recurse=False)}
        names = [name for name, value in function.trained.items() if id(value) in theirs]
        if not _close(part, function.gram(rows, names)):
            del sound[use.leaf]
    return tuple(sound) if any(use is not None for use in sound.values()) else ()


def _close(found: Tensor, expected: Tensor) -> bool:
    return bool(torch.allclose(found, expected, rtol=0.0, atol=TOLERANCE * float(expected.abs().max()), equal_nan=True))


def _by_record(part: nn.Module) -> bool:
    """Whether a normalization has no statistics but those of one record: InstanceNorm may be so."""
    return isinstance(part, nn.modules.instancenorm._InstanceNorm) and not part.track_running_stats


def _refuse(must: str, found: str, remedy: str) -> NoReturn:
    raise ValueError(f"{must}. Found {found}: {remedy}.")


_BY_ITSELF = ("must treat each record by itself", "remove what mixes the records of a batch")
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
