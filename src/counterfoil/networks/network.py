"""A neural network in double precision whose gradients are known record by record."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from counterfoil.networks.catalog import KNOWN, layered
from counterfoil.networks.devices import require_device
from counterfoil.networks.general_pass import GeneralPass
from counterfoil.networks.jacobians import Differentiable
from counterfoil.networks.layered_pass import LayeredPass
from counterfoil.networks.leafwise import rest_of
from counterfoil.networks.passes import Pass, Vector, doubles
from counterfoil.networks.trial import Trial, require_admissible

CHUNK_ROWS = 1 << 14


class Network:
    """z = f_theta(x): rows x [n, p] to outputs z [n, d], with parameters theta [P]. See `Network.wrap`.

    Args:
        function: its module, private and in float64, and how it is differentiated.
        leaves: see `GeneralPass`.
        inputs: p.
        architecture: how a factory made it, JSON-able; None for a module of a user's.
    """

    def __init__(
        self, function: Differentiable, *, inputs: int, leaves: tuple[nn.Module, ...] = (),
        architecture: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._function = function
        self._layers = layered(function.module)
        self._leaves = leaves
        self.inputs = inputs
        self.outputs_count = function.outputs
        self.architecture = architecture

    @classmethod
    def wrap(cls, module: nn.Module, *, inputs: int, device: str = "cpu", architecture: Any = None) -> Network:
        """A network with a private copy of `module`, in float64.

        Bounds on what one record adds hold if row i of the outputs depends on row i of the inputs alone, and if the
        same inputs have the same outputs each time. This is tried on random public rows, and certain for modules of
        PyTorch that are known (`is_known`); whoever brings code of their own (`brought`) vouches for it.

        Args:
            module: takes float64 [n, p] and returns float64 [n, d]. Parameters with `requires_grad` are trained.
            inputs: p.
            device: where its tensors live, such as "cpu" or "cuda".
            architecture: for the factories; leave it out.

        Raises:
            ValueError: for a module that mixes records, draws random numbers, changes buffers, has no parameters to
                train or some that are not real, or whose outputs are not [n, d], float64 and finite on public rows;
                for a device that this machine does not have.
        """
        require_device(device)
        require_admissible(module, inputs)
        private = copy.deepcopy(module).to(device=device, dtype=torch.float64).train()
        for part in private.modules():
            if hasattr(part, "inplace"):
                setattr(part, "inplace", False)  # noqa: B010 - what a layer keeps must stay as it is
        trial = Trial.of(private, inputs)
        function = Differentiable(private, trial.outputs, vectorized=trial.vectorized)
        return cls(function, inputs=inputs, leaves=trial.leaves, architecture=architecture)

    def copied(self) -> Network:
        """Another network of the same module, with the same parameters, which is tried anew."""
        device = str(self.device)
        return Network.wrap(self._function.module, inputs=self.inputs, device=device, architecture=self.architecture)

    @property
    def device(self) -> torch.device:
        """Where its tensors live."""
        return next(iter(self._function.trained.values())).device

    def brought_parts(self) -> list[nn.Module]:
        """The modules that are not PyTorch's own, or not known to treat each record by itself.

        Layers in closed form, one after another, are known. Of anything else, PyTorch's own modules too, it is tried
        and not proved that rows stay apart (a softmax may run over records) and that clipping bounds what is released.
        """
        unknown = [part for part in self._function.module.modules() if not _is_known(part)]
        return unknown or ([] if self._layers is not None else [self._function.module])

    @property
    def brought(self) -> tuple[str, ...]:
        """Names of the classes of `brought_parts`."""
        kinds = {type(part) for part in self.brought_parts()}
        return tuple(sorted(f"{kind.__qualname__} of {kind.__module__}" for kind in kinds))

    @property
    def is_known(self) -> bool:
        """Whether all of its modules are PyTorch's own and known to treat each record by itself."""
        return not self.brought

    @property
    def way(self) -> str:
        """How Gram matrices are computed.

        "layered", in closed form; "leafwise", of layers in closed form that a module combines; "mixed", of such layers
        and of explicit Jacobians by the other parameters; "general", from explicit Jacobians by torch.func; or "one by
        one", from those of single records.
        """
        if self._layers is not None:
            return "layered"
        if self._leaves:
            return "mixed" if rest_of(self._function, self._leaves) else "leafwise"
        return "general" if self._function.vectorized else "one by one"

    def parameters_vector(self) -> Vector:
        """theta: float64 [P], a copy; the trained parameters in the order of `named_parameters`."""
        # A copy, even where there is one parameter on the CPU.
        theta = self._function.flat([value.detach() for value in self._function.trained.values()])
        return theta.cpu().numpy().copy()

    def load_vector(self, vector: npt.ArrayLike) -> None:
        """Sets theta.

        Raises:
            ValueError: for another length than P, or a number that is not finite.
        """
        given = np.asarray(vector, dtype=np.float64)
        if given.shape != (self._function.size,):
            raise ValueError(
                f"`vector` must have one number for each of the {self._function.size} parameters. Found the shape "
                f"{given.shape}: pass one like `parameters_vector()`."
            )
        if not np.isfinite(given).all():
            raise ValueError("`vector` must be finite. Found NaN or infinity: take smaller steps.")
        parts = (
            torch.from_numpy(given.copy()).to(self.device).split([v.numel() for v in self._function.trained.values()])
        )
        with torch.no_grad():
            for value, part in zip(self._function.trained.values(), parts, strict=True):
                value.copy_(part.view_as(value))
        self._function.version += 1

    def forward(self, x: Tensor | npt.ArrayLike) -> Pass:
        """The batch `x` [n, p] on its way through: its outputs, Gram matrices and weighted gradients.

        Raises:
            ValueError: for rows of another length than p.
        """
        rows = self._rows(x)
        if self._layers is not None:
            return LayeredPass.of(self._function, self._layers, rows)
        return GeneralPass(self._function, rows, self._leaves)

    def forward_general(self, x: Tensor | npt.ArrayLike) -> Pass:
        """`forward` by explicit Jacobians of a few records at a time, whatever the module: an oracle for the other."""
        return GeneralPass(self._function, self._rows(x))

    @torch.no_grad()
    def outputs(self, x: Tensor | npt.ArrayLike) -> Tensor:
        """z [n, d] for `x` [n, p], without what gradients need.

        Raises:
            ValueError: for rows of another length than p.
        """
        rows = self._rows(x)
        found = [self._function.module(part) for part in rows.split(CHUNK_ROWS)] if len(rows) else []
        return torch.cat(found) if found else rows.new_zeros(0, self.outputs_count)

    def describe(self) -> dict[str, Any]:
        """Its architecture, JSON-able and public, for receipts: sizes, the way of its bounds, and its modules."""
        modules = dict(self._function.module.named_modules())
        return {
            "inputs": self.inputs,
            "outputs": self.outputs_count,
            "parameters": self._function.size,
            "gram": self.way,
            "layers": [_in_words(part) for part in modules.values() if not list(part.children())],
            "brought": list(self.brought),
        }

    def _rows(self, x: Tensor | npt.ArrayLike) -> Tensor:
        rows = doubles(x, self.device)
        if rows.dim() != 2 or rows.shape[1] != self.inputs:
            raise ValueError(
                f"`x` must be of shape [n, {self.inputs}], a row a record. Found {tuple(rows.shape)}: reshape it."
            )
        return rows


def _is_known(part: nn.Module) -> bool:
    # A method that was set on the object takes the place of its class's.
    return type(part) in KNOWN and not {"forward", "__call__", "_call_impl"} & vars(part).keys()


def _in_words(part: nn.Module) -> str:
    return f"{type(part).__name__}({part.extra_repr()})"
