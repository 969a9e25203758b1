"""Factors that bound gradients and Jacobians of single records, from Gram matrices.

With K_i = J_i J_i^T [d, d] no gradient of a record is ever formed: a vector c pulled back through J_i [d, P] has the
length |J_i^T c| = sqrt(c^T K_i c), and the largest singular value of J_i is sqrt(lambda_max(K_i)).

All factors are in [0, 1]; multiplying the coefficients of record i by factor i multiplies what it adds. None lets a
norm exceed its bound by rounding:

- Computed squares of norms are off by at most a few units in the last place of |D|^2 tr(K), D being what K was
  multiplied with: of that, `ALLOWANCE` is added to the square. What rounding does to the pulled-back sum is relative to
  products of absolute weights, which may be far larger than K: `Pass.bounding_gram` adds what that needs.
- The norm is multiplied by 1 + 1e-12 before it divides the bound.

A norm of zero has the factor one. Where a norm is not finite, the factor is zero: the record is silent.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

ALLOWANCE = 512 * 2.0**-53
_MARGIN = 1 + 1e-12


def factors(squares: Tensor, bound: float) -> Tensor:
    """min(1, bound / sqrt(squares)), with the margin; zero where `squares` is not finite.

    Args:
        squares: squared norms, of any shape; what rounding made negative counts as zero.
        bound: positive.

    Raises:
        ValueError: when `bound` is not positive and finite.
    """
    if not 0 < bound < math.inf:
        raise ValueError(f"`bound` must be positive and finite. Found {bound}: give one, such as 1.")
    norms = torch.sqrt(squares.clamp(min=0)) * _MARGIN
    found = bound / norms.clamp(min=bound)
    return torch.where(torch.isfinite(squares), found, 0.0)


def spectral_factors(gram: Tensor, bound: float, *, allowance: Tensor | None = None) -> Tensor:
    """Factors [n] that clip the largest singular value of J_i to `bound`, exactly.

    Args:
        gram: [n, d, d].
        bound: L, in units of a score per unit of a parameter.
        allowance: [n], added to the squares in place of `ALLOWANCE` times the trace; `Scores` passes its own.

    Formal guarantee: |f_i J_i^T v| <= L |v| for every v, the assumption on Jacobians of Theorem A.1 of
    Rodriguez-Vitores, Lalanne and Loubes, "Learning with differentially private (sliced) Wasserstein gradients": the
    sensitivity that follows is proven where such gradients are summed. Proof: |J^T v|^2 = v^T K v <= lambda_max(K)
    |v|^2, with equality for an eigenvector. So no larger factor will do.

    Raises:
        ValueError: for a shape that is not [n, d, d], or a bound that is not positive and finite.
    """
    require_square(gram)
    slack = ALLOWANCE * trace(gram) if allowance is None else allowance
    squares = torch.where(torch.isfinite(gram).all(2).all(1), trace(gram), math.inf)
    # No eigenvalue of such a matrix exceeds its trace: of most records that are not clipped nothing else is needed.
    long = (squares + slack > 0.999 * bound**2).nonzero()[:, 0]
    squares[long] = largest_eigenvalues(gram[long])
    return factors(squares + slack, bound)


def component_factors(gram: Tensor, bound: float, *, allowance: Tensor | None = None) -> Tensor:
    """Factors [n, d] that clip each row of J_i to the length bound / sqrt(d), as the authors' experiments do.

    Args:
        gram: [n, d, d].
        bound: L, in units of a score per unit of a parameter.
        allowance: [n], added to the squares in place of `ALLOWANCE` times the trace.

    Formal guarantee: with F_i the diagonal matrix of the factors, |(F_i J_i)^T v| <= L |v|. Proof: row k of J_i has
    the square K_kk, hence row k of F_i J_i has length at most L / sqrt(d), and |sum_k v_k row_k| <= sum_k |v_k| L /
    sqrt(d) <= L |v| by Cauchy and Schwarz (their remark A.2). It is at most sqrt(d) times too strict where one
    row is the longest, and turns the directions of gradients, which `spectral_factors` doesn't.

    Raises:
        ValueError: for a shape that is not [n, d, d], or a bound that is not positive and finite.
    """
    require_square(gram)
    d = gram.shape[1]
    slack = ALLOWANCE * trace(gram) if allowance is None else allowance
    found = factors(torch.diagonal(gram, dim1=1, dim2=2) + slack[:, None], bound / math.sqrt(d))
    # A record with one row that overflows is silent altogether.
    return torch.where((found > 0).all(1)[:, None], found, 0.0)


def largest_eigenvalues(gram: Tensor) -> Tensor:
    """lambda_max of symmetric matrices [n, d, d]: [n]; infinite where an entry is not finite.

    For d = 2 it is (a + c) / 2 + sqrt(((a - c) / 2)^2 + b^2), where nothing cancels for a, c >= 0.
    """
    d = gram.shape[1]
    if d == 1:
        found = gram[:, 0, 0]
    elif d == 2:
        a, b, c = gram[:, 0, 0], gram[:, 0, 1], gram[:, 1, 1]
        found = (a + c) / 2 + torch.hypot((a - c) / 2, b)
    else:
        # Eigenvalue routines raise for entries that are not finite; tr(K) bounds all entries of such a matrix.
        finite = torch.isfinite(gram).all(2).all(1) & torch.isfinite(trace(gram))
        found = torch.linalg.eigvalsh(torch.where(finite[:, None, None], gram, 0.0))[:, -1]
        return torch.where(finite, found, math.inf)
    return torch.where(torch.isfinite(found), found, math.inf)


def trace(gram: Tensor) -> Tensor:
    """[n] for matrices [n, d, d]."""
    return torch.diagonal(gram, dim1=1, dim2=2).sum(1)


def require_square(gram: Tensor) -> None:
    """Refuses what is not [n, d, d].

    Raises:
        ValueError: for another shape.
    """
    if gram.dim() != 3 or gram.shape[1] != gram.shape[2]:
        raise ValueError(
            f"`gram` must be of shape [n, d, d]. Found {tuple(gram.shape)}: pass what `Pass.gram` returns."
        )
