"""The gradient of (1 - alpha) loss + alpha penalty on one batch, with what each record adds to it bounded.

Source: Rodriguez-Vitores, Lalanne and Loubes 2025, equations (3), (5) and (6), and section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from counterfoil.networks.clipping import Clipping, bounded_jacobians, clipped_loss_gradients
from counterfoil.networks.factors import factors
from counterfoil.networks.network import Network
from counterfoil.networks.objectives import OBJECTIVES
from counterfoil.networks.passes import Pass
from counterfoil.transport.rank_gradient import sliced_gradient

_FEW = 4
"""Outputs up to which Gram matrices cost no more than the squares of single gradients."""


@dataclass(frozen=True)
class LossTerm:
    """A loss whose gradient is clipped record by record.

    Args:
        name: one of `OBJECTIVES`.
        outputs: which outputs of the network it reads, from the first to before the last.
        clip_norm: the largest norm C of a record's gradient.
        largest: the loss of a record counts as at most this where its mean is reported.
    """

    name: str
    outputs: tuple[int, int]
    clip_norm: float
    largest: float


@dataclass(frozen=True)
class TransportTerm:
    """The sliced W_2^2 between the scores of pairs of groups.

    Args:
        pairs: (group, group, weight) for each pair that is compared.
        outputs: which outputs of the network the scores are made of.
        link: "identity", "sigmoid" or "softmax", from outputs to scores.
        center, bound: scores are projected onto the ball of radius `bound` (M) around `center`, in each coordinate.
        jacobian_norm: the largest norm L of a record's Jacobian.
        clipping: "spectral" or "components".
    """

    pairs: tuple[tuple[int, int, float], ...]
    outputs: tuple[int, int]
    link: str
    center: float
    bound: float
    jacobian_norm: float
    clipping: Clipping


@dataclass(frozen=True, eq=False)
class BoundedGradient:
    """What a batch answers before noise.

    Args:
        gradient: float64 [P].
        loss: the mean of the losses, each counted as at most the term's largest.
    """

    gradient: np.ndarray
    loss: float


def penalized_gradient(
    network: Network,
    inputs: np.ndarray,
    targets: np.ndarray,
    starts: Sequence[int],
    *,
    alpha: float,
    loss: LossTerm,
    transport: TransportTerm | None,
    directions: np.ndarray | None,
    scorer: Network | None = None,
) -> BoundedGradient:
    """The gradient at the network's present parameters.

    Args:
        inputs: float64 [b, p], group by group.
        targets: int64 [b] classes or float64 [b, d] numbers, as the loss takes them.
        starts: where each group begins, and b.
        alpha: the weight of the penalty.
        directions: float64 [k, d] on the unit sphere of scores, where a penalty is taken.
        scorer: whose outputs the scores are made of, where it is not `network`: its parameters are the first ones of
            the network's, as an encoder's are of an autoencoder's.

    A record whose outputs or gradients are not finite adds zero: nothing else may show that there is one.
    """
    passed = network.forward(inputs)
    outputs, rows = passed.outputs, len(passed.outputs)
    coefficients = torch.zeros_like(outputs)
    first, last = loss.outputs
    known = torch.as_tensor(targets, device=outputs.device)
    objective = OBJECTIVES[loss.name](outputs[:, first:last], known)
    of_outputs = torch.zeros_like(outputs)
    of_outputs[:, first:last] = objective.gradients
    penalized = transport is not None and alpha > 0
    # All of it is needed for scores of the same outputs; for a loss alone, squares of single gradients may cost less.
    gram = passed.bounding_gram() if (penalized and scorer is None) or outputs.shape[1] <= _FEW else None
    coefficients += (1 - alpha) / rows * _clipped(passed, gram, of_outputs, loss.clip_norm)
    apart = np.zeros(0)
    if transport is not None and alpha > 0:
        assert directions is not None
        first, last = transport.outputs
        scored = passed if scorer is None else scorer.forward(inputs)
        of_gram = gram if scorer is None else scored.bounding_gram()
        assert of_gram is not None
        of_scores, of_gram = scored.outputs[:, first:last], of_gram[:, first:last, first:last]
        found = alpha * _of_transport(of_scores, of_gram, starts, transport, directions)
        if scorer is None:
            coefficients[:, first:last] += found
        else:
            apart = scored.pull_back(found)
    gradient = passed.pull_back(coefficients)
    gradient[: len(apart)] += apart
    counted = torch.nan_to_num(objective.losses, nan=loss.largest, posinf=loss.largest).clamp(0, loss.largest)
    return BoundedGradient(gradient, float(counted.mean()))


def _clipped(passed: Pass, gram: Tensor | None, derivatives: Tensor, bound: float) -> Tensor:
    """`clipped_loss_gradients`, by squares of single gradients where there are no Gram matrices."""
    if gram is not None:
        return clipped_loss_gradients(gram, derivatives, bound)
    found = factors(passed.bounding_squares(derivatives), bound)[:, None]
    return torch.where(found > 0, derivatives * found, 0.0)


def generator_gradient(
    network: Network,
    latent: np.ndarray,
    points: np.ndarray,
    directions: np.ndarray,
    *,
    bound: float,
    jacobian_norm: float,
    clipping: Clipping,
) -> BoundedGradient:
    """The gradient of SW_2^2(network(latent), points) by the network's parameters, and SW_2^2 as its loss.

    Args:
        latent: float64 [m, inputs].
        points: float64 [b, d].
        directions: float64 [k, d], on the unit sphere.
        bound: M; both samples are projected onto the ball of this radius.
        jacobian_norm, clipping: as `bounded_jacobians` has them.
    """
    passed = network.forward(latent)
    bounded = bounded_jacobians(passed.outputs, passed.bounding_gram(), bound=jacobian_norm, clipping=clipping)
    made = _in_ball(bounded.scores.cpu().numpy(), bound)
    found = sliced_gradient(made, _in_ball(points, bound), directions)
    coefficients = bounded.pulled(torch.as_tensor(found.of_u, device=passed.outputs.device))
    return BoundedGradient(passed.pull_back(coefficients), found.value)


def _in_ball(points: np.ndarray, bound: float) -> np.ndarray:
    """Each point [n, d] moved to the nearest one within `bound` of 0; those that are not finite, to 0."""
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    finite = np.isfinite(norms)
    shrunk = np.minimum(1.0, bound / np.maximum(norms * (1 + 1e-12), bound / 2))
    return np.where(finite, np.where(finite, points, 0.0) * np.where(finite, shrunk, 0.0), 0.0)


def _of_transport(
    outputs: Tensor, gram: Tensor, starts: Sequence[int], term: TransportTerm, directions: np.ndarray
) -> Tensor:
    """The penalty's coefficients of the outputs, [b, d], Jacobians clipped."""
    bounded = bounded_jacobians(outputs, gram, link=term.link, bound=term.jacobian_norm, clipping=term.clipping)
    # Records that overflow are put at the center, also where a link makes finite scores of infinite outputs: whether a
    # sum overflows to infinity or to no number depends on the processor.
    finite = torch.isfinite(outputs).all(1, keepdim=True)
    scores = _in_ball(torch.where(finite, bounded.scores - term.center, 0.0).cpu().numpy(), term.bound)
    of_scores = np.zeros_like(scores)
    for one, other, weight in term.pairs:
        here, there = slice(starts[one], starts[one + 1]), slice(starts[other], starts[other + 1])
        found: Any = sliced_gradient(scores[here], scores[there], directions)
        of_scores[here] += weight * found.of_u
        of_scores[there] += weight * found.of_v
    return bounded.pulled(torch.as_tensor(of_scores, device=outputs.device))
