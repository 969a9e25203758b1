"""A linear classifier in integers: trained on synthetic rows, and so public; scored on real ones behind the wall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.threads import on_one_thread

WEIGHT_UNIT = 2**16
LOSS_UNIT = 1024
"""The integer that stands for a loss of 1."""

LARGEST_LOSS = 4.0
"""The log loss of a row counts as at most this, so that a single row can't outweigh all others."""

_STEPS = 64
_WIDEST = 16.0
_LARGEST_WEIGHT = 2**20
_PENALTY = 1.0
_GRADIENT = 1e-3


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Predicts 1 where the sum of weight times feature is positive.

    Args:
        features: the public map from records to features.
        weights: int64 [features], in units of 1 / WEIGHT_UNIT, each at most 16 in absolute value.

    Raises:
        ValueError: for weights of another shape or type, or larger ones.
    """

    features: FeatureMap
    weights: np.ndarray

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.features.names),) or self.weights.dtype != np.int64:
            raise ValueError(f"`weights` must be int64, one for each of {len(self.features.names)} features.")
        if np.abs(self.weights, dtype=np.float64).max() > _LARGEST_WEIGHT:
            raise ValueError(f"`weights` must be at most {_LARGEST_WEIGHT} in absolute value: scores are exact then.")

    @staticmethod
    @on_one_thread
    def fit(features: FeatureMap, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> LinearModel:
        """Logistic regression with an L2 penalty of 1/2 on the weights, by Newton's method, rounded to integers.

        Args:
            codes, numbers: the synthetic rows, n > 0.
        """
        from scipy.optimize import minimize
        from scipy.special import expit

        points, labels = features.features(codes, numbers) / UNIT, features.labels(codes)

        def risk(weights: np.ndarray) -> tuple[float, np.ndarray]:
            margins = labels * (points @ weights)
            value = float(np.logaddexp(0, -margins).sum()) + _PENALTY / 2 * float(weights @ weights)
            return value, points.T @ (-labels * expit(-margins)) + _PENALTY * weights

        def curvature(weights: np.ndarray) -> np.ndarray:
            chances = expit(points @ weights)
            return points.T @ (points * (chances * (1 - chances))[:, None]) + _PENALTY * np.eye(len(weights))

        # Where the solver stops early, what is measured is how good that model is: nothing on a receipt supposes that
        # its weights are the best ones.
        # The scales of features differ so much that methods of first order take hundreds of steps.
        start = np.zeros(points.shape[1])
        optimum = minimize(risk, start, jac=True, hess=curvature, method="trust-exact", options={"gtol": _GRADIENT})
        weights = np.clip(np.rint(optimum.x * WEIGHT_UNIT), -_LARGEST_WEIGHT, _LARGEST_WEIGHT)
        return LinearModel(features, weights.astype(np.int64))

    @on_one_thread
    def margins(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n]: label times score, integers in units of 1 / (UNIT WEIGHT_UNIT).

        Exact, hence the same for a record whatever others are beside it: with at most 1500 features no partial sum
        reaches 2**11 * 2**12 * 2**20 = 2**43, far below 2**53.
        """
        scores = self.features.features(codes, numbers) @ self.weights.astype(np.float64)
        return self.features.labels(codes) * scores

    def right(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """bool [n]: whether each record is predicted rightly.

        A score of 0 predicts -1: that is right where the label times the score is 0 and the label is -1.
        """
        margins = self.margins(codes, numbers)
        return (margins > 0) | ((margins == 0) & (self.features.labels(codes) < 0))

    def losses(self, margins: np.ndarray) -> np.ndarray:
        """int64 [n]: the log loss log(1 + exp(-margin)) of each row, at most LARGEST_LOSS, times LOSS_UNIT, rounded.

        Margins are rounded to 64ths and looked up: a library's exponential may round differently with a row's
        place in the array, and one record would then move the losses of others.
        """
        places = np.rint(margins * (_STEPS / (UNIT * WEIGHT_UNIT))) + _STEPS * _WIDEST
        table = _loss_table()
        return table[np.clip(places, 0, len(table) - 1).astype(np.int64)]


def _loss_table() -> np.ndarray:
    margins = [step / _STEPS - _WIDEST for step in range(int(2 * _STEPS * _WIDEST) + 1)]
    losses = [min(math.log1p(math.exp(-margin)), LARGEST_LOSS) for margin in margins]
    return np.array([round(loss * LOSS_UNIT) for loss in losses], dtype=np.int64)
