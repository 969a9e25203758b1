"""What reaches a layer from each output of a network, for all records of a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Signals:
    """delta_ik = d z_ik / d h_i for every output k of record i, where h_i [w] are the values at one place of a network.

    It is kept as a product delta_ik = base_k * scale_i as long as that is possible: above the last nonlinearity all
    records have the same signals, and an activation multiplies all signals of a record by its slopes. Below the next
    linear layer every record has a matrix of its own.

    Args:
        base: [d, w], the same for all records, or [n, d, w].
        scale: [n, w], or None for ones.
    """

    base: Tensor
    scale: Tensor | None = None

    @classmethod
    def of_outputs(cls, outputs: int, like: Tensor) -> Signals:
        """At the outputs themselves: d z_k / d z_l = 1[k = l]."""
        return cls(torch.eye(outputs, dtype=like.dtype, device=like.device))

    def times(self, slopes: Tensor) -> Signals:
        """Below an element-wise function whose derivatives are `slopes` [n, w]."""
        return Signals(self.base, slopes if self.scale is None else self.scale * slopes)

    def through(self, weight: Tensor) -> Signals:
        """Below a linear layer with `weight` [w, v]."""
        base = self.base if self.scale is None else self.dense()
        return Signals(base @ weight)

    def dense(self) -> Tensor:
        """[n, d, w], or [1, d, w] where all records have the same."""
        base = self.base if self.base.dim() == 3 else self.base[None]
        return base if self.scale is None else base * self.scale[:, None, :]

    def products(self) -> Tensor:
        """<delta_ik, delta_il>: [n, d, d], or [1, d, d] where all records have the same.

        Of a product base_k * scale_i it is sum_j scale_ij^2 base_kj base_lj, for all records one product of matrices
        [n, w] and [w, d (d + 1) / 2].
        """
        if self.scale is None or self.base.dim() == 3:
            dense = self.dense()
            return dense @ dense.transpose(1, 2)
        d = len(self.base)
        first, second = torch.triu_indices(d, d, device=self.base.device)
        place = torch.empty(d, d, dtype=torch.long, device=self.base.device)
        place[first, second] = place[second, first] = torch.arange(len(first), device=self.base.device)
        # In this order the product is faster.
        pairs = ((self.base[first] * self.base[second]) @ (self.scale * self.scale).T).T
        return pairs[:, place.ravel()].view(-1, d, d)
