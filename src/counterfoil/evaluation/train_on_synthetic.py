"""Train on synthetic, test on real: what a model learned from the synthetic rows is worth on the real ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.marginals.domain import Domain

MOST_CLASSES = 100
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Score:
    """How well a classifier does on real rows that it was not trained on.

    Args:
        accuracy: the share of right predictions.
        auc: area under the receiver operating characteristic; for several classes the mean of one against the rest
            over the classes that the test rows have; NaN when the test rows are all of one class.
    """

    accuracy: float
    auc: float


@dataclass(frozen=True)
class TrainedOnSynthetic:
    """The same classifier, trained twice, tested on the same real rows.

    Args:
        target: the column that was predicted from all the others.
        synthetic: trained on the synthetic rows.
        real: trained on the real rows that are not in the test.
        majority: accuracy of always predicting the most frequent class of those real rows.
        test_rows: how many real rows were tested.
    """

    target: str
    synthetic: Score
    real: Score
    majority: float
    test_rows: int


def train_on_synthetic(
    real: Mapping[str, np.ndarray],
    synthetic: Mapping[str, np.ndarray],
    domain: Domain,
    *,
    target: str,
    rng: np.random.Generator,
) -> TrainedOnSynthetic:
    """Trains logistic regression (L2 penalty 1) on one-hot codes, and tests it on a fifth of the real rows.

    Args:
        real: integer codes [n] by attribute; n of at least 10.
        synthetic: integer codes [m] by attribute; m > 0.
        domain: the attributes and how many codes each has.
        target: the attribute to predict; its codes are the classes.
        rng: chooses the test rows.

    Raises:
        ValueError: for an unknown target, one with more than 100 codes, or too few rows.
        ModuleNotFoundError: without scikit-learn.
    """
    classes = domain[target]
    if classes > MOST_CLASSES or len(domain.attributes) < 2:
        raise ValueError(
            f"`target` must be a column of at most {MOST_CLASSES} values, beside other columns. "
            f"Column {target!r} has {classes:,}; the table has {len(domain.attributes)} columns."
        )
    if len(real[target]) < 10 or len(synthetic[target]) == 0:
        raise ValueError("At least 10 real rows and a synthetic one are needed to train and test a model.")
    encode = _one_hot(domain, target)
    order = rng.permutation(len(real[target]))
    cut = max(int(TEST_SHARE * len(order)), 1)
    test, train = ({name: real[name][rows] for name in domain.attributes} for rows in (order[:cut], order[cut:]))
    truth, features = test[target], encode(test)
    return TrainedOnSynthetic(
        target=target,
        synthetic=_score(_fit(encode(synthetic), synthetic[target], features, classes), truth),
        real=_score(_fit(encode(train), train[target], features, classes), truth),
        majority=float(np.mean(truth == np.bincount(train[target], minlength=classes).argmax())),
        test_rows=cut,
    )


def _one_hot(domain: Domain, target: str) -> Any:
    try:
        from sklearn.preprocessing import OneHotEncoder
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Training on synthetic rows needs scikit-learn. Install it with: pip install 'counterfoil[evaluation]'.",
            name=error.name,
        ) from None
    names = [name for name in domain.attributes if name != target]
    encoder = OneHotEncoder(categories=[np.arange(domain[name]) for name in names])
    encoder.fit(np.zeros((1, len(names)), dtype=np.int64))
    return lambda codes: encoder.transform(np.column_stack([codes[name].astype(np.int64) for name in names]))


def _fit(features: Any, labels: np.ndarray, test: Any, classes: int) -> np.ndarray:
    """float64 [test rows, classes]: probabilities; classes that the training rows lack have 0."""
    from sklearn.linear_model import LogisticRegression

    found = np.zeros((test.shape[0], classes))
    seen = np.unique(labels)
    if len(seen) == 1:
        found[:, seen[0]] = 1.0
        return found
    found[:, seen] = LogisticRegression(max_iter=1000).fit(features, labels).predict_proba(test)
    return found


def _score(probabilities: np.ndarray, truth: np.ndarray) -> Score:
    from sklearn.metrics import roc_auc_score

    accuracy = float(np.mean(probabilities.argmax(axis=1) == truth))
    present = np.unique(truth)
    if len(present) < 2:
        return Score(accuracy, float("nan"))
    if len(present) == 2:
        present = present[1:]
    areas = [roc_auc_score(truth == label, probabilities[:, label]) for label in present]
    return Score(accuracy, float(np.mean(areas)))
