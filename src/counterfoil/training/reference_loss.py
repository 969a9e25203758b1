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
        largest: what the loss of a record counts as at most, as in the losses of a run.
    """

    loss: float
    of: str
    is_best: bool
    largest: float


def reference_loss(model: PrivateModel) -> ReferenceLoss | None:
    """That of the shares of the classes where the groups of the guarantee say them; else that of even odds.

    Under a relation whose groups have the target among them, the sizes of the groups are public, and the batches' too.
    None for what is no classifier.
    """
    if not isinstance(model, Classifier):
        return None
    features, classes = model.features_, model.features_.target_classes
    parameters = model.receipt.document["charges"][0]["parameters"]
    largest = float(parameters["loss"]["largest"])
    if features.targets[0] not in features.groups:
        return ReferenceLoss(math.log(classes), f"even odds for {classes:,} classes", is_best=False, largest=largest)
    sizes = np.array(parameters["batch_sizes"], dtype=float)
    each = sizes.reshape([features.schema.domain[name] for name in features.groups])
    counts = np.moveaxis(each, features.groups.index(features.targets[0]), 0).reshape(classes, -1).sum(axis=1)
    loss = smallest_of_guesses(counts[counts > 0] / counts.sum(), largest)
    return ReferenceLoss(loss, "the shares of the classes alone", is_best=True, largest=largest)


def smallest_of_guesses(shares: np.ndarray, largest: float) -> float:
    """The smallest mean loss of guesses that are the same for all records, each of which counts as `largest` at most.

    Without a limit that is the entropy of the shares. With one, classes may be given up: each of their records counts
    as `largest`, and the others are guessed by their shares among themselves. To give up a class of share p beside
    others that add up to P saves

        log((P + p) / p) + (P / p) log((P + p) / P) - largest

    for each of its records, which falls as p grows: the rarest are given up first.

    Args:
        shares: float64 [classes], positive, which add up to 1.
        largest: what a record counts as at most.
    """
    falling = -np.sort(-shares)
    kept = np.cumsum(falling)
    losses = np.cumsum(-falling * np.log(falling)) + kept * np.log(kept) + largest * (1 - kept)
    return float(losses.min())
