"""Predictors: the same answer for a record in any company, and that of the model which they stand for."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.linear_model import LinearModel
from counterfoil.features.public_predictor import DenseLayer, LayeredPredictor, LinearPredictor
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.schema import Boolean, Categorical, Real, Schema

SCHEMA = Schema((Categorical("job", ("cook", "nurse", "smith")), Real("pay", 0.0, 10.0, bins=4), Boolean("rich")))
FEATURES = TrainingFeatures(SCHEMA, ("rich",))


def layers_of(widths: tuple[int, ...], activation: str, rng: np.random.Generator) -> tuple[DenseLayer, ...]:
    last = len(widths) - 2
    return tuple(
        DenseLayer(rng.normal(size=(v, w)), rng.normal(size=v), "identity" if place == last else activation)
        for place, (w, v) in enumerate(itertools.pairwise(widths))
    )


def predictor(widths: tuple[int, ...] = (4, 7, 5, 1), activation: str = "tanh", seed: int = 0) -> LayeredPredictor:
    return LayeredPredictor(FEATURES, layers_of(widths, activation, np.random.default_rng(seed)))


def records(n: int, seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    codes = {"job": rng.integers(0, 3, n).astype(np.uint8), "rich": rng.integers(0, 2, n).astype(np.uint8)}
    return codes, {"pay": rng.uniform(0, 10, n), "rich": codes["rich"].astype(float)}


def one_record_in_python(model: LayeredPredictor, row: list[float]) -> list[float]:
    """The formula with Python's own numbers, one after the other."""
    functions: dict[str, Any] = {
        "identity": lambda x: x,
        "relu": lambda x: max(x, 0.0),
        "tanh": math.tanh,
        "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    }
    for layer in model.layers:
        following = []
        for bias, weights in zip(layer.bias.tolist(), layer.weights.tolist(), strict=True):
            total = bias
            for value, weight in zip(row, weights, strict=True):
                total += value * weight
            following.append(functions[layer.activation](total))
        row = following
    return row


@pytest.mark.parametrize("activation", ["identity", "relu", "tanh", "sigmoid"])
def test_outputs_are_those_of_single_numbers_to_the_last_bit(activation: str) -> None:
    """Python rounds each product and each sum by itself: any other order or a fused operation would show."""
    model = predictor((4, 37, 29, 1), activation)
    inputs = np.random.default_rng(1).uniform(-1, 1, (1100, 4))
    found = model.outputs(inputs)
    assert found[:, 0].tolist() == [one_record_in_python(model, row)[0] for row in inputs.tolist()]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 1200), st.sampled_from(["relu", "tanh", "sigmoid"]))
def test_a_record_has_the_same_outputs_in_any_company(seed: int, n: int, activation: str) -> None:
    rng = np.random.default_rng(seed)
    model = predictor((4, 33, 1), activation, seed % 7)
    inputs = rng.uniform(-1, 1, (n, 4))
    whole = model.outputs(inputs)
    order = rng.permutation(n)[: rng.integers(1, n + 1)]
    strided = np.asfortranarray(np.repeat(inputs[order], 2, axis=0))[::2]
    assert np.array_equal(model.outputs(strided), whole[order])
    one = rng.integers(n)
    assert np.array_equal(model.outputs(inputs[one : one + 1]), whole[one : one + 1])


def test_outputs_are_those_of_the_network() -> None:
    torch = pytest.importorskip("torch")
    model = predictor((4, 8, 3, 1), "relu")
    modules: list = []
    for layer in model.layers:
        dense = torch.nn.Linear(*reversed(layer.weights.shape), dtype=torch.float64)
        with torch.no_grad():
            dense.weight.copy_(torch.from_numpy(layer.weights))
            dense.bias.copy_(torch.from_numpy(layer.bias))
        modules += [dense, torch.nn.ReLU()]
    network = torch.nn.Sequential(*modules[:-1])
    inputs = np.random.default_rng(2).uniform(-1, 1, (600, 4))
    expected = network(torch.from_numpy(inputs)).detach().numpy()
    assert np.allclose(model.outputs(inputs), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("positive", [0, 1])
def test_one_output_predicts_the_second_class_where_it_is_positive(positive: int) -> None:
    layers = (DenseLayer(np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros(1)),)
    model = LayeredPredictor(FEATURES, layers, positive)
    numbers = {"pay": np.array([0.0, 5.0, 10.0]), "rich": np.zeros(3)}
    codes = {"job": np.zeros(3, dtype=np.uint8), "rich": np.zeros(3, dtype=np.uint8)}
    # The middle scores exactly 0, which is the first class.
    assert model.predicted(codes, numbers).tolist() == ([False, False, True] if positive else [True, True, False])


def test_several_outputs_predict_the_class_of_the_largest() -> None:
    features = TrainingFeatures(SCHEMA, ("job",))
    rng = np.random.default_rng(4)
    codes, numbers = records(200)
    layers = layers_of((len(features.input_names), 5, 3), "relu", rng)
    models = [LayeredPredictor(features, layers, code) for code in range(3)]
    chosen = np.stack([model.predicted(codes, numbers) for model in models])
    assert (chosen.sum(axis=0) == 1).all()
    outputs = models[0].outputs(features.inputs(codes, numbers))
    assert np.array_equal(np.argmax(chosen, axis=0), np.argmax(outputs, axis=1))
    assert len(np.unique(np.argmax(chosen, axis=0))) > 1


def test_numbers_that_overflow_are_predicted_in_silence() -> None:
    huge = DenseLayer(np.full((2, 4), 1e308), np.zeros(2))
    model = LayeredPredictor(FEATURES, (huge, DenseLayer(np.array([[1e308, -1e308]]), np.zeros(1), "sigmoid")))
    assert model.outputs(np.ones((3, 4))).shape == (3, 1)  # a warning would be an error here


def test_a_linear_model_predicts_what_its_score_says() -> None:
    features = FeatureMap.binary(SCHEMA, "rich")
    rng = np.random.default_rng(5)
    model = LinearModel(features, rng.integers(-(2**18), 2**18, len(features.names)))
    codes, numbers = records(500)
    expected = features.features(codes, numbers).astype(np.int64) @ model.weights > 0
    assert np.array_equal(LinearPredictor(model).predicted(codes, numbers), expected)
    assert 0 < expected.mean() < 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: predictor((5, 1)), "must read 4 numbers"),
        (lambda: predictor((4, 2)), "Two classes have one output"),
        (lambda: LayeredPredictor(FEATURES, predictor().layers, 2), "must be a code of 'rich', 0 to 1"),
        (lambda: LayeredPredictor(TrainingFeatures(SCHEMA), ()), "A classifier has one target"),
        (lambda: DenseLayer(np.ones((2, 3)), np.ones(3)), r"must be float64 \[v, w\]"),
        (lambda: DenseLayer(np.ones((2, 3), dtype=np.float32), np.ones(2)), r"must be float64 \[v, w\]"),
        (lambda: DenseLayer(np.full((2, 3), np.nan), np.ones(2)), "must be finite"),
        (lambda: DenseLayer(np.ones((2, 3)), np.ones(2), "gelu"), "must be one of identity, relu"),
    ],
)
def test_what_is_no_predictor_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_weights_that_changed_are_refused_once_more() -> None:
    model = predictor()
    model.layers[0].weights[0, 0] = np.inf
    with pytest.raises(ValueError, match="must be finite"):
        model.__post_init__()
