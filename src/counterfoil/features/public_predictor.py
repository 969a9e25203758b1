"""Public classifiers whose prediction of a record depends on that record alone, to the last bit.

What a record is predicted as decides in which count it falls. A library's product of matrices may round a row
differently with the number of rows beside it, and one record that comes or goes would then turn the predictions of
others whose scores lie at the threshold: counts of predictions would have no bounded sensitivity. Predictors are
evaluated here by operations on single numbers instead, in an order that is the same for every record.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.features.linear_model import LinearModel
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.schema.schema import Schema

ROWS = 512
"""Records that are evaluated at once; what they are predicted as does not depend on it."""

_STEEPEST = 700.0
"""Beyond it a sigmoid is 0 or 1 in double precision."""


class PublicPredictor(ABC):
    """A public model that predicts whether a column has one certain code.

    Formal guarantee: `predicted` gives a record the same answer in whatever company, at whatever place of an array and
    however often it is asked. Each subclass says why.
    """

    kind: str

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The schema whose codes and numbers it reads."""

    @property
    @abstractmethod
    def target(self) -> str:
        """The column that it predicts."""

    @property
    @abstractmethod
    def positive(self) -> int:
        """The code of the target that counts as 1."""

    @property
    @abstractmethod
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes it reads."""

    @property
    @abstractmethod
    def numbers(self) -> tuple[str, ...]:
        """The columns whose numbers it reads."""

    @abstractmethod
    def predicted(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """bool [n]: whether each record is predicted to be positive."""


@dataclass(frozen=True, eq=False)
class LinearPredictor(PublicPredictor):
    """A `LinearModel`, which predicts 1 where its score is above 0.

    Formal guarantee: its scores are sums of products of integers that stay below 2**53, hence exact in whatever order
    they are added (`LinearModel.margins`).
    """

    model: LinearModel

    kind = "linear"

    @property
    def schema(self) -> Schema:
        return self.model.features.schema

    @property
    def target(self) -> str:
        return self.model.features.target

    @property
    def positive(self) -> int:
        return self.model.features.positive

    @property
    def codes(self) -> tuple[str, ...]:
        return self.model.features.codes

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.model.features.numbers

    def predicted(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        # A margin is label times score, and the square of a label is 1.
        return self.model.features.labels(codes) * self.model.margins(codes, numbers) > 0


@dataclass(frozen=True, eq=False)
class DenseLayer:
    """h = phi(W a + b).

    Args:
        weights: W, float64 [v, w].
        bias: b, float64 [v].
        activation: phi, a key of `ACTIVATIONS`.

    Raises:
        ValueError: for other shapes or types, numbers that are not finite, or another activation.
    """

    weights: np.ndarray
    bias: np.ndarray
    activation: str = "identity"

    def __post_init__(self) -> None:
        shapes = self.weights.ndim == 2 and self.bias.shape == self.weights.shape[:1] and self.weights.size > 0
        if not shapes or {self.weights.dtype, self.bias.dtype} != {np.dtype(np.float64)}:
            raise ValueError(
                "`weights` must be float64 [v, w] with a float64 `bias` [v]. Found "
                f"{self.weights.dtype} {self.weights.shape} and {self.bias.dtype} {self.bias.shape}: convert them."
            )
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise ValueError("`weights` and `bias` must be finite. Found NaN or infinity: train the model again.")
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {', '.join(ACTIVATIONS)}. Found {self.activation!r}: train with one."
            )

    def forward(self, entering: np.ndarray) -> np.ndarray:
        """float64 [n, v] for float64 [n, w]: w products and w sums for each number, one after the other."""
        total = np.repeat(self.bias[None, :], len(entering), axis=0)
        for values, weights in zip(entering.T, self.weights.T, strict=True):
            # Two operations with a rounding each: what fuses them would round once, and not for all elements alike.
            product = values[:, None] * weights
            total += product
        return ACTIVATIONS[self.activation](total)


@dataclass(frozen=True, eq=False)
class LayeredPredictor(PublicPredictor):
    """A trained network of dense layers; one output predicts 1 where it is above 0, several by the largest.

    Formal guarantee: number k of a layer is computed from the numbers of the same record below it by products, sums in
    the order of the inputs, maxima with 0, and `math.tanh` and `math.exp` of single numbers. Products and sums are
    separate operations on arrays, element by element; IEEE 754 defines the result of each by its two operands alone,
    so that it does not matter in which place of an array, in which register, or beside which records it is computed.
    The functions of `math` are called for one number at a time, and are functions of it. By induction over the layers
    the outputs, and what is predicted, are functions of the record and of the public weights. A network that is
    evaluated by products of matrices may round its outputs otherwise: what it predicts can differ for records whose
    outputs lie within rounding of the threshold, and for no others.

    Args:
        features: how a record becomes inputs; its one target is predicted.
        layers: from the inputs to one output (of two classes) or to one for each class.
        positive_class: the code of the target that counts as 1.

    Raises:
        ValueError: for layers that do not fit each other, the inputs or the classes, or a code that the target lacks.
    """

    features: TrainingFeatures
    layers: tuple[DenseLayer, ...]
    positive_class: int = 1

    kind = "layered"

    def __post_init__(self) -> None:
        if len(self.features.targets) != 1:
            raise ValueError(f"A classifier has one target. Found {len(self.features.targets)}: predict one column.")
        classes, width = self.features.target_classes, len(self.features.input_names)
        for layer in self.layers:
            layer.__post_init__()  # arrays may have changed since
            if layer.weights.shape[1] != width:
                raise ValueError(f"A layer must read {width} numbers. Found one for {layer.weights.shape[1]}.")
            width = len(layer.bias)
        if width != (1 if classes == 2 else classes):
            raise ValueError(f"Two classes have one output, and more have one each. Found {width} for {classes}.")
        if not 0 <= self.positive_class < classes:
            raise ValueError(
                f"`positive_class` must be a code of {self.target!r}, 0 to {classes - 1}. Found {self.positive_class}."
            )

    @property
    def schema(self) -> Schema:
        return self.features.schema

    @property
    def target(self) -> str:
        return self.features.targets[0]

    @property
    def positive(self) -> int:
        return self.positive_class

    @property
    def codes(self) -> tuple[str, ...]:
        return self.features.codes

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.features.numbers

    def outputs(self, inputs: np.ndarray) -> np.ndarray:
        """float64 [n, d] for float64 [n, inputs]; not finite where they overflow."""
        found = [np.empty((0, len(self.layers[-1].bias)))]
        for start in range(0, len(inputs), ROWS):
            values = inputs[start : start + ROWS]
            with np.errstate(all="ignore"):  # a warning would show that such a record is there
                for layer in self.layers:
                    values = layer.forward(values)
            found.append(values)
        return np.concatenate(found)

    def predicted(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        outputs = self.outputs(self.features.inputs(codes, numbers))
        if outputs.shape[1] == 1:
            return (outputs[:, 0] > 0) == bool(self.positive_class)
        return np.argmax(outputs, axis=1) == self.positive_class


def _one_by_one(function: Callable[[float], float]) -> Callable[[np.ndarray], np.ndarray]:
    """`function` of each number by itself: numpy's own functions may round otherwise at the end of an array."""

    def apply(values: np.ndarray) -> np.ndarray:
        found = np.fromiter(map(function, values.ravel().tolist()), np.float64, count=values.size)
        return found.reshape(values.shape)

    return apply


def _sigmoid(value: float) -> float:
    return value if math.isnan(value) else 1 / (1 + math.exp(-min(max(value, -_STEEPEST), _STEEPEST)))


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda values: values,
    "relu": lambda values: np.maximum(values, 0.0),
    "tanh": _one_by_one(math.tanh),
    "sigmoid": _one_by_one(_sigmoid),
}
"""Activations whose value is a function of one number, to the last bit."""
