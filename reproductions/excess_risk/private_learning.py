"""The other columns of Figure 4: models trained on the records themselves, by DP-SGD and by PATE, at epsilon 1.

As appendix D.2 has it: trained on 80% of a table and tested on the rest; PATE's student learns from 100 further rows of
the training part (20 of Heart) that count as public. What is ours: the noise of DP-SGD is calibrated for the batches
that are drawn, where Algorithm 6 has an asymptotic constant; no parameter is tuned to a table, as that would cost
budget of its own; gradients go to Adam, and the last half of the iterates is averaged. Neighbors replace one record.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterfoil.training import DPSGDClassifier, PATEClassifier
from reproductions.excess_risk.protocol import Encoded, encoded, split

TEACHERS = {
    "adult": (200, 300, 450),
    "churn": (20, 100, 150),
    "compas": (20, 100, 150),
    "dutch": (200, 300, 450),
    "heart": (10, 15, 20),
    "law": (100, 200, 300),
}
"""Numbers of teachers out of those that the paper tried; which it used for which table it does not say."""

PUBLIC_ROWS, PUBLIC_ROWS_OF_HEART = 100, 20


@dataclass(frozen=True)
class Bar:
    """One bar of the figure: the mean accuracy over splits, and its standard error."""

    data: str
    method: str
    accuracy: float
    error: float


def bars(data: str, epsilon: float, splits: int) -> list[Bar]:
    """The bars of one table."""
    table = encoded(data)
    methods: dict[str, Callable[[int], float]] = {"DP-SGD": lambda number: _dp_sgd(table, epsilon, number)}
    for teachers in TEACHERS[data]:
        methods[f"PATE, {teachers} teachers"] = lambda number, teachers=teachers: _pate(
            table, epsilon, number, teachers
        )
    found = []
    for method, accuracy in methods.items():
        scores = np.array([accuracy(number) for number in range(splits)])
        error = float(scores.std(ddof=1) / np.sqrt(splits)) if splits > 1 else float("nan")
        found.append(Bar(data, method, float(scores.mean()), error))
    return found


def _dp_sgd(table: Encoded, epsilon: float, number: int) -> float:
    train, test = split(len(table.codes), number)
    model = DPSGDClassifier(epsilon=epsilon, delta=table.delta, seed=number)
    model.fit(table.table(train), table.binned, target=table.target)
    return _accuracy(model, table, test)


def _pate(table: Encoded, epsilon: float, number: int, teachers: int) -> float:
    train, test = split(len(table.codes), number)
    apart = PUBLIC_ROWS_OF_HEART if table.name == "heart" else PUBLIC_ROWS
    model = PATEClassifier(epsilon=epsilon, delta=table.delta, teachers=teachers, queries=apart, seed=number)
    public = table.table(train[:apart]).drop_columns([table.target])
    private = table.table(train[apart:])
    with warnings.catch_warnings():
        # Of noise that exceeds the votes: the paper's numbers of teachers stay as they are.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(private, table.binned, target=table.target, public=public, relation="replace_one")
    return _accuracy(model, table, test)


def _accuracy(model: DPSGDClassifier | PATEClassifier, table: Encoded, test: np.ndarray) -> float:
    truth = table.codes[test, table.schema.domain.attributes.index(table.target)]
    return float((model.predict_proba(table.table(test)).argmax(axis=1) == truth).mean())
