"""Links: scores g(z) of the outputs z of a network, and their derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from counterfoil.networks.factors import ALLOWANCE, trace


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores u_i = g(z_i) with D_i = d u_i / d z_i.

    Args:
        values: [n, e], u.
        slopes: what D_i is made of; None where it is the identity.
    """

    values: Tensor
    slopes: Tensor | None

    def gram(self, gram: Tensor) -> tuple[Tensor, Tensor]:
        """The Gram matrices [n, e, e] of d u_i / d theta = D_i J_i, for the K_i [n, d, d], and an allowance [n].

        They are D_i J_i (D_i J_i)^T = D_i K_i D_i^T. The allowance exceeds what rounding does to their eigenvalues.
        """
        return gram, ALLOWANCE * trace(gram)

    def pulled(self, of_scores: Tensor) -> Tensor:
        """D_i^T c_i: derivatives by the outputs [n, d], for derivatives c by the scores [n, e]."""
        return of_scores


class DiagonalScores(Scores):
    """D_i = diag(slopes_i), with slopes [n, d]."""

    def gram(self, gram: Tensor) -> tuple[Tensor, Tensor]:
        assert self.slopes is not None
        found = gram * (self.slopes[:, :, None] * self.slopes[:, None, :])
        # Products are rounded one by one: the error is relative to the entries.
        return found, ALLOWANCE * trace(found)

    def pulled(self, of_scores: Tensor) -> Tensor:
        assert self.slopes is not None
        return of_scores * self.slopes


class SoftmaxScores(Scores):
    """D_i = diag(u_i) - u_i u_i^T, which is symmetric."""

    def gram(self, gram: Tensor) -> tuple[Tensor, Tensor]:
        derivative = torch.diag_embed(self.values) - self.values[:, :, None] * self.values[:, None, :]
        # What all outputs have in common cancels: the error is relative to what cancelled.
        size = (derivative * derivative).sum((1, 2))
        return derivative @ gram @ derivative, ALLOWANCE * size * trace(gram)

    def pulled(self, of_scores: Tensor) -> Tensor:
        along = torch.linalg.vecdot(of_scores, self.values)
        return self.values * (of_scores - along[:, None])


class Link(ABC):
    """A function g of the outputs of one record."""

    @abstractmethod
    def scores(self, outputs: Tensor) -> Scores:
        """g(z_i) and its derivatives, for `outputs` [n, d]."""


@dataclass(frozen=True)
class IdentityLink(Link):
    """u = z."""

    def scores(self, outputs: Tensor) -> Scores:
        return Scores(outputs, None)


@dataclass(frozen=True)
class SigmoidLink(Link):
    """u_k = 1 / (1 + exp(-z_k)), with u_k' = u_k (1 - u_k)."""

    def scores(self, outputs: Tensor) -> Scores:
        values = torch.sigmoid(outputs)
        return DiagonalScores(values, values * torch.sigmoid(-outputs))


@dataclass(frozen=True)
class ClampLink(Link):
    """u_k = z_k within [lower, upper], whose ends count, and the nearer end without.

    Args:
        lower, upper: the ends, in units of the outputs.
    """

    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(
                f"`lower` must be below `upper`. Found {self.lower} and {self.upper}: exchange them, or choose others."
            )

    def scores(self, outputs: Tensor) -> Scores:
        within = (outputs >= self.lower) & (outputs <= self.upper)
        return DiagonalScores(outputs.clamp(self.lower, self.upper), within.to(outputs.dtype))


@dataclass(frozen=True)
class SoftmaxLink(Link):
    """u_k = exp(z_k) / sum_l exp(z_l)."""

    def scores(self, outputs: Tensor) -> Scores:
        return SoftmaxScores(torch.softmax(outputs, 1), None)


LINKS: dict[str, Link] = {
    "identity": IdentityLink(),
    "sigmoid": SigmoidLink(),
    "softmax": SoftmaxLink(),
    "clamp": ClampLink(),
}
"""By name; "clamp" to [0, 1]."""


def link_named(link: str | Link) -> Link:
    """The link of a name, or the link itself.

    Raises:
        ValueError: for another name.
    """
    if isinstance(link, Link):
        return link
    if link not in LINKS:
        raise ValueError(f'`link` must be one of {", ".join(LINKS)}. Found {link!r}: choose one, such as "identity".')
    return LINKS[link]
