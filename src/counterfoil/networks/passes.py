"""One batch on its way through a network: outputs, Gram matrices of its Jacobians, and weighted gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil.networks.jacobians import Differentiable

Vector = npt.NDArray[np.float64]


def doubles(values: Tensor | npt.ArrayLike, device: torch.device) -> Tensor:
    """`values` in float64 on `device`, without their graph; those of an array are shared where that is possible."""
    if not isinstance(values, Tensor):
        # PyTorch shares no array that is read-only, and none that runs backward.
        values = torch.from_numpy(np.require(values, np.float64, ["C", "W"]))
    return values.detach().to(device=device, dtype=torch.float64)


class Pass(ABC):
    """What `Network.forward` returns for rows x_i, i < n, with outputs z_i = f_theta(x_i) and J_i = d z_i / d theta.

    A record whose outputs or derivatives are not finite is *silent*: it adds nothing to any gradient. Whether a record
    is silent depends on itself and the public parameters alone, never on the others, and nothing is raised for it, for
    that would show that such a record is in the batch.

    Args:
        function: the network at its parameters of now.
        rows: float64 [n, p]; they must stay as they are while the pass is used.
        outputs: float64 [n, d], detached; not finite where they overflow.
    """

    def __init__(self, function: Differentiable, rows: Tensor, outputs: Tensor) -> None:
        self._function = function
        self._version = function.version
        self.rows = rows
        self.outputs = outputs

    def gram(self) -> Tensor:
        """K_i = J_i J_i^T: float64 [n, d, d], each entry exact up to rounding (a relative 1e-14 of its trace).

        Not finite where derivatives overflow: the factors of `counterfoil.networks.clipping` are zero for such records.

        Raises:
            ValueError: when the parameters were changed since the forward pass.
        """
        self._require_unchanged()
        return self._gram()

    def bounding_gram(self) -> Tensor:
        """K_i plus what rounding may add to a gradient that is pulled back: what clipping must use. [n, d, d].

        A gradient can be far smaller than the products that it is a sum of: W_2 W_1 may cancel to nothing, and what
        rounding leaves of it is relative to |W_2| |W_1|. With S_i the squared Jacobian of a record whose products are
        all taken with absolute values, bounded layer by layer, and k roundings in each of its numbers, what is pulled
        back for c is off by at most k u sqrt(S_i) |c|, u = 2^-53. So 512 u k^2 S_i is added to the diagonal of K_i: a
        factor f that bounds sqrt(c^T (K_i + slack) c) f by L bounds that error by sqrt(u / 512) L = 5e-10 L.

        Networks without layers in closed form have no such bound, and are named as brought by their user.

        Raises:
            ValueError: as `gram`.
        """
        gram = self.gram()
        return gram + torch.diag_embed(self._slack()[:, None].expand(gram.shape[:2]))

    @torch.no_grad()
    def bounding_squares(self, derivatives: Tensor) -> Tensor:
        """g_i^T (K_i + slack) g_i: [n], for `derivatives` g [n, d]; cheaper than `bounding_gram` where d is large.

        Raises:
            ValueError: when the parameters were changed since the forward pass.
        """
        self._require_unchanged()
        return self._squares(derivatives) + self._slack() * (derivatives * derivatives).sum(1)

    def _squares(self, derivatives: Tensor) -> Tensor:
        return ((self._gram() * derivatives[:, None, :]).sum(2) * derivatives).sum(1)

    def _slack(self) -> Tensor:
        """[n]: what is added to squares."""
        return self.outputs.new_zeros(len(self.outputs))

    def pull_back(self, coefficients: Tensor | npt.ArrayLike) -> Vector:
        """sum_i J_i^T c_i: float64 [P], in the order of `Network.parameters_vector`.

        Records with coefficients, outputs or derivatives that are not finite add zero. (The sum can only overflow
        where a finite part J_i^T c_i comes near 1e308, which clipped ones don't.)

        Args:
            coefficients: [n, d], row i for record i.

        Raises:
            ValueError: for another shape, and when the parameters were changed since the forward pass.
        """
        self._require_unchanged()
        given = doubles(coefficients, self.rows.device)
        if given.shape != self.outputs.shape:
            raise ValueError(
                f"`coefficients` must have one row for each record and one column for each output, "
                f"{tuple(self.outputs.shape)}. Found {tuple(given.shape)}: pass d loss / d outputs."
            )
        audible = torch.isfinite(given).all(1) & torch.isfinite(self.outputs).all(1)
        heard = torch.where(audible[:, None], given, 0.0)
        found = self._pull_back(heard)
        if not bool(torch.isfinite(found).all()):
            # Zero times infinity: records that add zero are left out, and the others searched for those to silence.
            chosen = (heard != 0).any(1).nonzero()[:, 0]
            found = self._part(chosen)._audible_sum(heard[chosen])
        return found.cpu().numpy()

    def _audible_sum(self, coefficients: Tensor) -> Tensor:
        """The sum over the records that add something finite by themselves, found by halving the batch."""
        found = self._pull_back(coefficients)
        if bool(torch.isfinite(found).all()):
            return found
        if len(coefficients) == 1:
            return torch.zeros_like(found)
        halves = torch.arange(len(coefficients), device=self.rows.device).chunk(2)
        first, second = (self._part(half)._audible_sum(coefficients[half]) for half in halves)
        return first + second

    @abstractmethod
    def _gram(self) -> Tensor: ...

    @abstractmethod
    def _pull_back(self, coefficients: Tensor) -> Tensor: ...

    @abstractmethod
    def _part(self, chosen: Tensor) -> Pass:
        """The pass of the records with the indices `chosen`."""

    def _require_unchanged(self) -> None:
        if self._function.version != self._version:
            raise ValueError(
                "A pass must be used before the network's parameters change. Found other parameters than it was made "
                "with: call `forward` again."
            )
