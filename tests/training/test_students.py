"""Students: the softmax is scikit-learn's, absent classes have no chance, and JSON keeps every bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from counterfoil.training.students import LinearStudent, train_student

RNG = np.random.default_rng(3)
INPUTS = RNG.uniform(-1, 1, (80, 3))


def labels_of(classes: list[int]) -> np.ndarray:
    return np.array(classes)[np.digitize(INPUTS @ [1.0, -2.0, 0.5], np.linspace(-1, 1, len(classes) - 1))]


@pytest.mark.parametrize("present", [[0, 1], [0, 2], [1, 3], [0, 1, 2], [0, 2, 3]])
def test_probabilities_are_those_of_scikit_learn(present):
    labels = labels_of(present)
    assert sorted(set(labels.tolist())) == present
    student = train_student("logistic", INPUTS, labels, 4)
    expected = LogisticRegression(max_iter=1000).fit(INPUTS, labels).predict_proba(INPUTS)
    found = student.probabilities(INPUTS)
    assert np.allclose(found[:, present], expected, rtol=0, atol=1e-12)
    assert found.sum(axis=1) == pytest.approx(1)
    assert not np.delete(found, present, axis=1).any()


@pytest.mark.parametrize("name", ["logistic", "boosting"])
def test_one_label_alone_is_certain(name):
    found = train_student(name, INPUTS, np.full(80, 2), 3).probabilities(INPUTS[:5])
    assert np.array_equal(found, np.tile([0.0, 0.0, 1.0], (5, 1)))


def test_boosting_gives_absent_classes_no_chance():
    labels = labels_of([1, 3])
    found = train_student("boosting", INPUTS, labels, 4).probabilities(INPUTS)
    assert found[:, [0, 2]].max() == 0
    assert np.mean(found.argmax(axis=1) == labels) > 0.95


def test_json_keeps_every_bit():
    student = train_student("logistic", INPUTS, labels_of([0, 1, 2]), 3)
    assert isinstance(student, LinearStudent)
    again = LinearStudent.from_json(json.loads(json.dumps(student.to_json())))
    assert np.array_equal(again.probabilities(INPUTS), student.probabilities(INPUTS))


def test_far_scores_do_not_overflow():
    student = LinearStudent(2, np.array([0, 1]), np.array([[0.0], [1e4]]), np.zeros(2))
    assert np.array_equal(student.probabilities(np.array([[1.0], [-1.0]])), [[0.0, 1.0], [1.0, 0.0]])


def test_weights_that_do_not_fit_are_refused():
    weights, intercepts = np.zeros((2, 3)), np.zeros(2)
    for present in ([0], [0, 1, 2], [0, 5]):
        with pytest.raises(ValueError, match="for each class that it names"):
            LinearStudent(3, np.array(present), weights, intercepts)
    with pytest.raises(ValueError, match="must be finite"):
        LinearStudent(3, np.array([0, 1]), weights + np.nan, intercepts)
