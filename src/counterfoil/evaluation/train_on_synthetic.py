"""Train on synthetic, test on real: how well models that are trained on synthetic rows predict real ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from counterfoil.domain.domain import Domain
from counterfoil.evaluation.fairness import FairnessGaps, fairness_gaps, parity_gap

MOST_CLASSES = 100
TEST_SHARE = 0.2
_SMALLEST_LEAF = 20
_ROUNDS, _MOST_TREES = 100, 2000
"""Rounds of boosting, each of which grows a tree for each class, and how many trees there may be of many classes."""

MODELS = ("logistic regression", "gradient boosting", "decision tree")

Codes = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Score:
    """How well a classifier does on real rows that it was not trained on.

    Args:
        accuracy: the share of right predictions.
        auc: area under the receiver operating characteristic; for several classes the mean of one against the rest
            over the classes that the test rows have; NaN when the test rows are all of one class.
        fairness: how its predictions differ between the groups of a protected column, where one was named.
    """

    accuracy: float
    auc: float
    fairness: FairnessGaps | None


@dataclass(frozen=True)
class ModelScores:
    """The same model, trained twice, tested on the same real rows: on synthetic rows, and on the other real ones."""

    synthetic: Score
    real: Score


@dataclass(frozen=True)
class TrainedOnSynthetic:
    """Several models that predict one column from all the others.

    Args:
        target: that column.
        protected: the column whose groups are compared, or None.
        models: by name, one of `MODELS`.
        majority: accuracy of always predicting the most frequent class of the real training rows.
        test_rows: how many real rows were tested.
        synthetic_parity, real_parity: the gap between groups of the target's own classes in either table.
    """

    target: str
    protected: str | None
    models: Mapping[str, ModelScores]
    majority: float
    test_rows: int
    synthetic_parity: float
    real_parity: float


def train_on_synthetic(
    real: Codes,
    synthetic: Codes,
    domain: Domain,
    *,
    target: str,
    protected: str | None = None,
    rng: np.random.Generator,
) -> TrainedOnSynthetic:
    """Trains logistic regression (L2 penalty 1, one-hot codes), gradient boosting and a tree; tests on real rows.

    Args:
        real: integer codes [n] by attribute; n of at least 10. A fifth is for the test.
        synthetic: integer codes [m] by attribute; m > 0.
        domain: the attributes and how many codes each has.
        target: the attribute to predict; its codes are the classes.
        protected: the attribute whose codes are the groups that should be treated alike; it stays a predictor.
        rng: chooses the test rows, and seeds the models that draw.

    Raises:
        ValueError: for an unknown target or protected attribute, a target with more than 100 codes, too few rows, or
            one and the same column for both.
        ModuleNotFoundError: without scikit-learn.
    """
    _check(real, synthetic, domain, target, protected)
    order = rng.permutation(len(real[target]))
    cut = max(int(TEST_SHARE * len(order)), 1)
    test, train = ({name: real[name][rows] for name in domain.attributes} for rows in (order[:cut], order[cut:]))
    groups = None if protected is None else test[protected]
    encoders, seed, classes = _encoders(domain, target), int(rng.integers(2**31)), domain[target]
    models = {}
    with threadpool_limits(1):  # beside other work, threads that wait for each other cost eight times as much
        for name in MODELS:
            encode = encoders[name]
            features = encode(test)
            by_source = [
                _score(_predict(name, encode(rows), rows[target], features, classes, seed), test[target], groups)
                for rows in (synthetic, train)
            ]
            models[name] = ModelScores(*by_source)
    parities = [
        float("nan") if protected is None else parity_gap(rows[target], rows[protected]) for rows in (synthetic, real)
    ]
    return TrainedOnSynthetic(
        target=target,
        protected=protected,
        models=models,
        majority=float(np.mean(test[target] == np.bincount(train[target], minlength=classes).argmax())),
        test_rows=cut,
        synthetic_parity=parities[0],
        real_parity=parities[1],
    )


def score_models(
    training: Codes, test: Codes, domain: Domain, *, target: str, models: Sequence[str] = MODELS, seed: int = 0
) -> dict[str, Score]:
    """The scores of models that are trained on one table and tested on another.

    Args:
        training: integer codes [n] by attribute; n > 0.
        test: integer codes [m] by attribute; m > 0.
        domain: the attributes and how many codes each has.
        target: the attribute to predict; its codes are the classes.
        models: which of `MODELS`.
        seed: of the models that draw.

    Raises:
        ModuleNotFoundError: without scikit-learn.
    """
    encoders, classes = _encoders(domain, target), domain[target]
    scores = {}
    with threadpool_limits(1):
        for name in models:
            encode = encoders[name]
            probabilities = _predict(name, encode(training), training[target], encode(test), classes, seed)
            scores[name] = _score(probabilities, test[target], None)
    return scores


def _check(real: Codes, synthetic: Codes, domain: Domain, target: str, protected: str | None) -> None:
    classes = domain[target]
    if classes > MOST_CLASSES or len(domain.attributes) < 2:
        raise ValueError(
            f"`target` must be a column of at most {MOST_CLASSES} values, beside other columns. "
            f"Column {target!r} has {classes:,}; the table has {len(domain.attributes)} columns."
        )
    if protected is not None:
        domain.axes((protected,))
        if protected == target:
            raise ValueError(f"`protected` must be another column than `target`. Found {target!r} for both.")
    if len(real[target]) < 10 or len(synthetic[target]) == 0:
        raise ValueError("At least 10 real rows and a synthetic one are needed to train and test a model.")


def require_scikit_learn() -> None:
    """Call it before anything that takes long.

    Raises:
        ModuleNotFoundError: without scikit-learn.
    """
    try:
        import sklearn.preprocessing  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Training on synthetic rows needs scikit-learn. Install it with: pip install 'counterfoil[evaluation]'.",
            name=error.name,
        ) from None


def _encoders(domain: Domain, target: str) -> dict[str, Callable[[Codes], Any]]:
    """What each model sees: an indicator for each code, or, where models cut the line, the codes themselves."""
    require_scikit_learn()
    from sklearn.preprocessing import OneHotEncoder

    names = [name for name in domain.attributes if name != target]

    def stacked(codes: Codes) -> np.ndarray:
        return np.column_stack([codes[name].astype(np.int64) for name in names])

    encoder = OneHotEncoder(categories=[np.arange(domain[name]) for name in names])
    encoder.fit(np.zeros((1, len(names)), dtype=np.int64))
    return dict.fromkeys(MODELS, stacked) | {MODELS[0]: lambda codes: encoder.transform(stacked(codes))}


def _made(name: str, seed: int, classes: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if name == "logistic regression":
        return LogisticRegression(max_iter=1000)
    if name == "gradient boosting":
        rounds = min(_ROUNDS, _MOST_TREES // classes)
        return HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False, random_state=seed)
    return DecisionTreeClassifier(min_samples_leaf=_SMALLEST_LEAF, random_state=seed)


def _predict(name: str, features: Any, labels: np.ndarray, test: Any, classes: int, seed: int) -> np.ndarray:
    """float64 [test rows, classes]: probabilities; classes that the training rows lack have 0."""
    probabilities = np.zeros((test.shape[0], classes))
    seen = np.unique(labels)
    if len(seen) == 1:
        probabilities[:, seen[0]] = 1.0
        return probabilities
    probabilities[:, seen] = _made(name, seed, classes).fit(features, labels).predict_proba(test)
    return probabilities


def _score(probabilities: np.ndarray, truth: np.ndarray, groups: np.ndarray | None) -> Score:
    from sklearn.metrics import roc_auc_score

    predicted = probabilities.argmax(axis=1)
    fairness = None if groups is None else fairness_gaps(predicted, truth, groups)
    accuracy = float(np.mean(predicted == truth))
    present = np.unique(truth)
    if len(present) < 2:
        return Score(accuracy, float("nan"), fairness)
    if len(present) == 2:
        present = present[1:]
    areas = [roc_auc_score(truth == label, probabilities[:, label]) for label in present]
    return Score(accuracy, float(np.mean(areas)), fairness)
