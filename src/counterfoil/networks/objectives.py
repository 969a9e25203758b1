"""Losses of one record, and their gradients in a network's outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Objective(NamedTuple):
    """The losses of a batch.

    Args:
        losses: [n].
        gradients: [n, d], of each record's loss in its own outputs.
    """

    losses: Tensor
    gradients: Tensor


def logistic(outputs: Tensor, classes: Tensor) -> Objective:
    """-log sigmoid(z) for class 1 and -log(1 - sigmoid(z)) for class 0; `outputs` [n, 1], `classes` [n]."""
    labels = classes.to(outputs.dtype)
    margins = torch.where(classes > 0, -outputs[:, 0], outputs[:, 0])
    return Objective(functional.softplus(margins), (torch.sigmoid(outputs[:, 0]) - labels)[:, None])


def cross_entropy(outputs: Tensor, classes: Tensor) -> Objective:
    """-log softmax(z)[class]; `outputs` [n, d], `classes` [n] below d."""
    logarithms = torch.log_softmax(outputs, dim=1)
    hot = functional.one_hot(classes, outputs.shape[1]).to(outputs.dtype)
    return Objective(-(logarithms * hot).sum(dim=1), torch.exp(logarithms) - hot)


def squared(outputs: Tensor, targets: Tensor) -> Objective:
    """The squared distance |z - y|^2; `outputs` and `targets` [n, d]."""
    residuals = outputs - targets
    return Objective((residuals * residuals).sum(dim=1), 2 * residuals)


OBJECTIVES: dict[str, Callable[[Tensor, Tensor], Objective]] = {
    "logistic": logistic,
    "cross_entropy": cross_entropy,
    "squared": squared,
}
