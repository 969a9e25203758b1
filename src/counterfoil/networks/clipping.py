"""Gradients of losses and Jacobians of scores, clipped record by record without being formed.

The source of what is clipped is Rodriguez-Vitores, Lalanne and Loubes, section 5.1 and remarks 5.2 and A.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from counterfoil.networks.factors import ALLOWANCE, component_factors, factors, require_square, spectral_factors, trace
from counterfoil.networks.links import Link, Scores, link_named

Clipping = Literal["spectral", "components"]


def clipped_loss_gradients(gram: Tensor, derivatives: Tensor, bound: float) -> Tensor:
    """Coefficients [n, d] whose pull-back is the sum of the gradients of losses l_i(z_i), each clipped to `bound`.

    The gradient by the parameters is J_i^T g_i with g_i = d l_i / d z_i, by the chain rule, and its squared length is
    g_i^T K_i g_i. The coefficients are g_i min(1, C / |J_i^T g_i|), as Abadi et al., "Deep learning with differential
    privacy", 2016, clip.

    Args:
        gram: [n, d, d], `Pass.gram()`.
        derivatives: [n, d], g_i.
        bound: C, in units of the loss per unit of a parameter.

    Formal guarantee: the pull-back of these coefficients moves by at most C in length when a record is added or
    removed, and by at most 2 C when one is replaced. Proof: it is a sum over records of vectors that depend on nothing
    but their own record and public parameters, each of length at most C. Silent records, whose derivatives or Gram
    matrices are not finite, add zero.

    Raises:
        ValueError: for shapes that don't match, or a bound that is not positive and finite.
    """
    found = gradient_factors(gram, derivatives, bound)[:, None]
    # Selected, for zero times infinity would be no number.
    return torch.where(found > 0, derivatives * found, 0.0)


def gradient_factors(gram: Tensor, derivatives: Tensor, bound: float) -> Tensor:
    """The factors [n] of `clipped_loss_gradients`: min(1, C / |J_i^T g_i|).

    Raises:
        ValueError: for shapes that don't match, or a bound that is not positive and finite.
    """
    require_square(gram)
    if derivatives.shape != gram.shape[:2]:
        raise ValueError(
            f"`derivatives` must be of shape {tuple(gram.shape[:2])}, as `gram` has it. Found "
            f"{tuple(derivatives.shape)}: pass d loss / d outputs."
        )
    squares = ((gram * derivatives[:, None, :]).sum(2) * derivatives).sum(1)
    return factors(squares + ALLOWANCE * (derivatives * derivatives).sum(1) * trace(gram), bound)


@dataclass(frozen=True, eq=False)
class BoundedJacobians:
    """Scores u_i with clipped Jacobians: F_i d u_i / d theta, F_i diagonal with entries in [0, 1].

    Args:
        scores: [n, e], u; as they come, not finite where they overflow.
        factors: [n, e], the diagonals of the F_i; zero for silent records.
        link: what the scores are of the outputs.
    """

    scores: Tensor
    factors: Tensor
    link: Scores

    def pulled(self, of_scores: Tensor) -> Tensor:
        """Coefficients [n, d] for `Pass.pull_back`, which sums (F_i d u_i / d theta)^T c_i.

        Args:
            of_scores: c [n, e], derivatives by the scores.
        """
        audible = (self.factors > 0).any(1, keepdim=True)
        # Selected, for zero times infinity would be no number.
        return torch.where(audible, self.link.pulled(of_scores * self.factors), 0.0)


def bounded_jacobians(
    outputs: Tensor, gram: Tensor, *, link: str | Link = "identity", bound: float, clipping: Clipping = "spectral"
) -> BoundedJacobians:
    """Scores u_i = g(z_i) whose Jacobians by the parameters have singular values of at most `bound`.

    Args:
        outputs: [n, d], z.
        gram: [n, d, d], `Pass.gram()`.
        link: g, or its name.
        bound: L, in units of a score per unit of a parameter.
        clipping: "spectral" multiplies the Jacobian of a record by the largest factor that is allowed; "components"
            clips each of its rows to L / sqrt(e), as the paper's experiments do.

    Formal guarantee: |(F_i d u_i / d theta)^T v| <= L |v| for all v, so that the assumption on Jacobians of the
    paper's Theorem A.1 holds for each record. Proof: d u_i / d theta = D_i J_i has the Gram matrix D_i K_i D_i^T, of
    which `spectral_factors` and `component_factors` prove it.

    Raises:
        ValueError: for shapes that don't match, another link or clipping, or a bound that is not positive and finite.
    """
    require_square(gram)
    if outputs.shape != gram.shape[:2]:
        raise ValueError(
            f"`outputs` must be of shape {tuple(gram.shape[:2])}, as `gram` has it. Found {tuple(outputs.shape)}: pass "
            "both of one pass."
        )
    if clipping not in ("spectral", "components"):
        raise ValueError(f'`clipping` must be "spectral" or "components". Found {clipping!r}: choose "spectral".')
    scores = link_named(link).scores(outputs)
    of_scores, slack = scores.gram(gram)
    if clipping == "spectral":
        found = spectral_factors(of_scores, bound, allowance=slack)[:, None].expand_as(scores.values)
    else:
        found = component_factors(of_scores, bound, allowance=slack)
    audible = torch.isfinite(scores.values).all(1, keepdim=True)
    return BoundedJacobians(scores.values, torch.where(audible, found, 0.0), scores)
