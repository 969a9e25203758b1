"""Figures 9 and 10: two numbers at once, predicted alike in both groups, at several alphas and epsilons.

A network with 64 hidden units and a sigmoid at its end predicts a point of the unit square: 1000 steps of plain
gradient descent at rate 0.05, C = 10, M = 1 / sqrt 2 around the center of the square, L = sqrt 2 with each of the two
rows of a Jacobian clipped to 1 (Remark A.2), 50 directions drawn anew for each step, as in appendix B.2. Each budget is
shown with the paper's noise and with ours, whose penalty has half the sensitivity. The share of a group over the
diagonal, OD, is measured on 30000 other records.

Expected, with either noise and at every epsilon down to 1: the sliced distance between groups falls with alpha, to half
or less at alpha 0.75, and the gap between OD_0 and OD_1 to half or less too; epsilon 1 moves the share of points on the
right side by less than 0.02; loss curves stay within 10% of their fall. The same gap of the package's `FairRegressor`,
which does better than a constant. Found: at alpha 0.75 two of these do not hold, on the right side and on curves. After
1000 small steps the exact run still falls, and noise moves its state by more: to a lower loss, as it happens.

Takes about 10 minutes of one core, half with --jobs 2; 2 minutes with --quick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn

from counterfoil import Schema
from counterfoil.networks.network import Network
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm
from counterfoil.pictures.style import GRAY
from counterfoil.schema import Integer, Real
from counterfoil.training import FairRegressor
from reproductions.private_evolution.findings import Finding
from reproductions.wasserstein_gradients import findings
from reproductions.wasserstein_gradients.noisy_descent import Problem, Trained, accounting_text, grouped
from reproductions.wasserstein_gradients.simulation import (
    INPUTS,
    RECORDS,
    Sample,
    bounded_columns,
    input_columns,
    train_and_test,
)

STEPS, LEARNING_RATE, PROJECTIONS = 1000, 0.05, 50
HIDDEN = 64
SETTINGS: dict[str, Any] = {
    "hidden": (HIDDEN,),
    "iterations": 300,
    "batch_share": 0.05,
    "learning_rate": 0.01,
    "jacobian_norm": 0.3,
    "projections": 20,
}
"""Of the package's model. With Jacobians up to 1 and rate 0.05 noise drowns 1218 parameters at epsilon 1:
these were chosen after that was seen."""
HALVED, ACCURACY_GAP = 0.5, 0.02
SHOWN = 1500
"""Records that are drawn."""


def two_layers(outputs: int, seed: int = 0) -> Network:
    """The paper's network; its initial parameters are uniform within 1 / sqrt(inputs of the layer)."""
    # Without the initial values of PyTorch, which would be drawn from its global generator.
    layers = [
        nn.utils.skip_init(nn.Linear, entering, leaving, dtype=torch.float64)
        for entering, leaving in ((INPUTS, HIDDEN), (HIDDEN, outputs))
    ]
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for layer in layers:
            for value in layer.parameters():
                value.uniform_(-(layer.in_features**-0.5), layer.in_features**-0.5, generator=generator)
    module = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.Sigmoid())
    return Network.wrap(module, inputs=INPUTS)


@cache
def problem(n: int) -> Problem:
    """Equation (22); the square is [0, 1]^2 here, and its center is the center of the clipping."""
    records, _ = train_and_test(n)
    starts, (inputs, response) = grouped(records.group, records.inputs, records.response)
    transport = TransportTerm(((0, 1, 1.0),), (0, 2), "identity", 0.5, 0.5**0.5, 2**0.5, "components")
    loss = LossTerm("squared", (0, 2), 10.0, 2.0)
    return Problem(partial(two_layers, 2), inputs, response, starts, loss, transport, PROJECTIONS)


@dataclass(frozen=True)
class Measured:
    """What predictions do on the test records.

    Args:
        accuracy: the share on the right side of the diagonal.
        over_0, over_1: OD_0 and OD_1, the shares of the groups whose predictions are over the diagonal.
        error: the mean squared distance from the response.
    """

    accuracy: float
    over_0: float
    over_1: float
    error: float

    @property
    def gap(self) -> float:
        return abs(self.over_1 - self.over_0)


def measured(predicted: np.ndarray, test: Sample) -> Measured:
    """The measures of predictions [n, 2] for the test records."""
    over = predicted.sum(axis=1) > 1
    shares = [float(over[test.group == group].mean()) for group in (0, 1)]
    error = float(((predicted - test.response) ** 2).sum(axis=1).mean())
    return Measured(float((over == test.label).mean()), *shares, error)


def predictions(made: Problem, one: Trained, inputs: np.ndarray) -> np.ndarray:
    """float64 [n, 2]."""
    network = made.network()
    network.load_vector(one.parameters)
    return network.outputs(inputs).numpy()


def regression_findings(found: Sequence[Trained], told: Sequence[Measured]) -> list[Finding]:
    """What the paper says of its figures, in numbers that were chosen before any run."""
    of = {id(one): each for one, each in zip(found, told, strict=True)}
    ratios = [of[id(row[-1])].gap / of[id(row[0])].gap for row in findings.rows_of(found)]
    moved, least = findings.moved_by_least_epsilon(found, [each.accuracy for each in told])
    return [
        *findings.penalty_findings(found),
        Finding(
            "the gap between OD_0 and OD_1 falls to half or less",
            max(ratios) <= HALVED,
            f"ratios {min(ratios):.2f} to {max(ratios):.2f}",
        ),
        Finding(
            f"epsilon {least:g} moves the share on the right side by less than {ACCURACY_GAP:g}",
            moved < ACCURACY_GAP,
            f"{moved:.4f}",
        ),
        *findings.curve_findings(found),
    ]


def package_findings(n: int, *, epsilon: float = 1.0) -> list[Finding]:
    """The package's regressor, trained through its wall at alpha 0 and 0.75 with `SETTINGS`."""
    train, test = train_and_test(n)
    targets = [Real(name, lower=0.0, upper=1.0, bins=8) for name in ("first", "second")]
    schema = Schema((*input_columns(), *targets, Integer("group", lower=0, upper=1)), name="appendix_b")
    responses = dict(zip(("first", "second"), train.response.T, strict=True))
    table, rows = pa.table(bounded_columns(train) | responses | {"group": train.group}), pa.table(bounded_columns(test))
    told = []
    for alpha in (0.0, 0.75):
        model = FairRegressor(alpha=alpha, epsilon=epsilon, delta=0.1 / n, seed=1, **SETTINGS)
        findings.fitted(model, table, schema, target=("first", "second"), protected="group")
        told.append(measured(model.predict(rows), test))
    plain, fair = told
    return [
        Finding(
            f"FairRegressor at epsilon {epsilon:g}: the gap between OD_0 and OD_1 falls to half or less",
            fair.gap <= HALVED * plain.gap,
            f"{plain.gap:.3f} to {fair.gap:.3f}",
        ),
        Finding(
            "and the mean squared distance stays below that of the square's center",
            fair.error < 1 / 6,
            f"{plain.error:.3f} to {fair.error:.3f}",
        ),
    ]


def main(arguments: Sequence[str] | None = None, *, n: int = RECORDS, steps: int = STEPS) -> list[Finding]:
    """Writes table, curves and pictures, and prints what they say."""
    chosen = findings.parsed(arguments, "Figures 9 and 10 of the paper.", __doc__)
    made, stem = problem(n), "wasserstein_regression"
    found = findings.all_runs(partial(problem, n), chosen, steps=steps, learning_rate=LEARNING_RATE)
    train, test = train_and_test(n)
    told = [measured(predictions(made, one, test.inputs), test) for one in found]
    findings.write_table(chosen.out / f"{stem}.csv", found, [vars(each) for each in told])
    findings.write_curves(chosen.out / f"{stem}_curves.csv", found)
    findings.draw_panels(
        chosen.out / f"{stem}_figure_9.png",
        found,
        [_text(one, each) for one, each in zip(found, told, strict=True)],
        partial(_draw, made, train),
        title=f"Figure 9. The penalty moves predictions of both groups\n{SHOWN} records, delta {made.delta:.2g}",
        labels=("first number", "second number"),
    )
    findings.draw_curves(
        chosen.out / f"{stem}_figure_10.png",
        found,
        title="Figure 10. With noise, the objective falls nearly as it does without\nTwo-dimensional regression",
    )
    print(accounting_text(made, chosen.epsilons, steps))
    return findings.said(regression_findings(found, told) + package_findings(n))


def _text(one: Trained, each: Measured) -> str:
    return (
        f"alpha {one.plan.alpha:g}, noise {one.deviation:.3g}\n"
        f"objective {one.objective:.4f}, RL {one.loss:.4f}, SW2^2 {one.penalty:.4f}\n"
        f"accuracy {each.accuracy:.3f}, OD0 {each.over_0:.3f}, OD1 {each.over_1:.3f}"
    )


def _draw(made: Problem, train: Sample, axes: Any, one: Trained) -> None:
    points, group = predictions(made, one, train.inputs[:SHOWN]), train.group[:SHOWN]
    for value, color in enumerate(findings.GROUP_COLORS):
        part = points[group == value]
        axes.scatter(*part.T, s=3, alpha=0.35, color=color, linewidths=0, label=f"A = {value}")
    axes.plot((0, 1), (1, 0), color=GRAY, linewidth=0.8)
    axes.set_aspect("equal")


if __name__ == "__main__":
    main()
