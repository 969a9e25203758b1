"""Students: models of public rows with noisy labels. All of it is public arithmetic on released numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

STUDENTS = ("logistic", "boosting")


class Student(Protocol):
    """A trained classifier of inputs."""

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        """float64 [n, classes], for float64 [n, inputs]."""
        ...


@dataclass(frozen=True, eq=False)
class LinearStudent:
    """Softmax of a linear function for the classes that some label named; the others have probability 0.

    Args:
        classes: how many classes there are.
        present: int64 [p], those that some label named, p >= 1.
        weights: float64 [p, inputs].
        intercepts: float64 [p].

    Raises:
        ValueError: for shapes that do not fit each other.
    """

    classes: int
    present: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray

    def __post_init__(self) -> None:
        named = self.present.shape == self.intercepts.shape == self.weights.shape[:1] and self.weights.ndim == 2
        if not named or not len(self.present) or not np.isin(self.present, np.arange(self.classes)).all():
            raise ValueError("The weights of a student must be given for each class that it names. Found others.")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.intercepts).all()):
            raise ValueError("The weights of a student must be finite. Found one that is not.")

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        scores = inputs @ self.weights.T + self.intercepts
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        found = np.zeros((len(inputs), self.classes))
        found[:, self.present] = odds / odds.sum(axis=1, keepdims=True)
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, from which `from_json` makes the same student to the last bit."""
        arrays = {name: getattr(self, name).tolist() for name in ("present", "weights", "intercepts")}
        return {"classes": self.classes, **arrays}

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> LinearStudent:
        """The student that `to_json` described; raises ValueError for shapes that do not fit each other."""
        return LinearStudent(
            int(document["classes"]),
            np.array(document["present"], dtype=np.int64),
            np.array(document["weights"], dtype=np.float64),
            np.array(document["intercepts"], dtype=np.float64),
        )


@dataclass(frozen=True, eq=False)
class BoostedStudent:
    """Gradient boosting of trees, as scikit-learn has it.

    Args:
        classes: how many classes there are.
        model: trained on codes of two classes at least.
    """

    classes: int
    model: Any

    def probabilities(self, inputs: np.ndarray) -> np.ndarray:
        found = np.zeros((len(inputs), self.classes))
        found[:, self.model.classes_] = self.model.predict_proba(inputs)
        return found


def train_student(name: str, inputs: np.ndarray, labels: np.ndarray, classes: int) -> Student:
    """The student `name` of public rows.

    Args:
        name: one of `STUDENTS`.
        inputs: float64 [m, inputs].
        labels: int64 [m], codes of classes. Where all are the same, the student is sure of that one.
        classes: how many classes there are.
    """
    present = np.unique(labels)
    if len(present) == 1:
        return LinearStudent(classes, present, np.zeros((1, inputs.shape[1])), np.zeros(1))
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(early_stopping=False, random_state=0).fit(inputs, labels)
        return BoostedStudent(classes, model)
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(max_iter=1000).fit(inputs, labels)
    weights, intercepts = fitted.coef_, fitted.intercept_
    if len(present) == 2:  # one logit, of the second class against the first
        weights, intercepts = np.vstack([np.zeros_like(weights), weights]), np.append([0.0], intercepts)
    return LinearStudent(classes, present, weights, intercepts)
