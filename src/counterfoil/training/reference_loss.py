"""What a classifier's loss is held against: the loss of one that has learned nothing of the inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.training.classification import Classifier
from counterfoil.training.model import PrivateModel


@dataclass(frozen=True)
class ReferenceLoss:
    """A mean cross entropy, in natural logarithms, that is known without a further look at any record.

    Args:
        loss: what it is.
        of: whose it is, in words.
        is_best: whether nobody who learns nothing of the inputs has a smaller one.
    """

    loss: float
    of: str
    is_best: bool


def reference_loss(model: PrivateModel) -> ReferenceLoss | None:
    """That of the shares of the classes where the groups of the guarantee say them; else that of even odds.

    Under a relation whose groups have the target among them, the sizes of the groups are public, and the batches' too.
    None for what is no classifier.
    """
    if not isinstance(model, Classifier):
        return None
    features, classes = model.features_, model.features_.target_classes
    if features.targets[0] not in features.groups:
        return ReferenceLoss(math.log(classes), f"even odds for {classes:,} classes", is_best=False)
    sizes = np.array(model.receipt.document["charges"][0]["parameters"]["batch_sizes"], dtype=float)
    each = sizes.reshape([features.schema.domain[name] for name in features.groups])
    counts = np.moveaxis(each, features.groups.index(features.targets[0]), 0).reshape(classes, -1).sum(axis=1)
    shares = counts[counts > 0] / counts.sum()
    return ReferenceLoss(float(-(shares * np.log(shares)).sum()), "the shares of the classes alone", is_best=True)
