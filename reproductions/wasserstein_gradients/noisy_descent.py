"""Descent along noisy gradients of made-up records: the package's gradients and noise, without its wall.

A step draws a fifth of each group without replacement, takes the bounded gradient of the batch, and adds Gaussian noise
of deviation sensitivity times noise multiplier. The sensitivity is the paper's (16 M L for the penalty, Theorem 6.1) or
ours (8 M L, `counterfoil.transport.gradient_sensitivity`), both over the sizes of batches; the multiplier is the
package's for batches of a fixed size. NOT PRIVATE: seeds are fixed.
"""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from scipy.optimize import brentq

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.calibration import subsampled_noise_multiplier
from counterfoil.accounting.curve import gaussian_epsilon, largest_mu
from counterfoil.networks.links import link_named
from counterfoil.networks.network import Network
from counterfoil.networks.objectives import OBJECTIVES
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm, penalized_gradient
from counterfoil.theory.subsampling_limits import poisson_sampling_limit, uniform_sampling_limit
from counterfoil.training.descent import Descent, Optimizer
from counterfoil.transport.gradient_sensitivity import gradient_sensitivity, published_sensitivity
from counterfoil.transport.rank_gradient import random_directions, sliced_gradient

SENSITIVITIES = {"paper's noise": published_sensitivity, "our noise": gradient_sensitivity}
PAPERS, OURS = SENSITIVITIES
NONE = "no noise"
BATCH_SHARE = 0.2
RECORDED = 50
"""Points of a loss curve."""


@dataclass(frozen=True, eq=False)
class Problem:
    """(1 - alpha) loss + alpha penalty, over records in groups.

    Args:
        network: makes the network before training.
        inputs: float64 [n, p], group by group.
        targets: int64 [n] or float64 [n, d], as the loss takes them.
        starts: where each group begins, and n.
        loss, transport: the two terms.
        projections: directions of a sliced penalty, drawn anew for each step.
        scorer: makes the network whose outputs the penalty compares, where it is not `network`.
    """

    network: Callable[[], Network]
    inputs: np.ndarray
    targets: np.ndarray
    starts: tuple[int, ...]
    loss: LossTerm
    transport: TransportTerm
    projections: int = 1
    scorer: Callable[[], Network] | None = None

    @cached_property
    def batch_sizes(self) -> tuple[int, ...]:
        """How many records of each group a batch holds."""
        return tuple(round(BATCH_SHARE * size) for size in np.diff(self.starts).tolist())

    @property
    def probability(self) -> float:
        """The largest share of a group that a batch holds."""
        return max(b / n for b, n in zip(self.batch_sizes, np.diff(self.starts).tolist(), strict=True))

    @property
    def delta(self) -> float:
        """0.1 / n."""
        return 0.1 / len(self.inputs)

    def sensitivity(self, alpha: float, noise: str) -> float:
        """The most that one record of a batch changes its gradient in l2 norm (Theorem 6.1, with sizes of batches)."""
        term, of_penalty = self.transport, SENSITIVITIES[noise]
        weights = [
            sum(weight for one, other, weight in term.pairs if group in (one, other))
            for group in range(len(self.batch_sizes))
        ]
        norms = term.bound, term.jacobian_norm, term.jacobian_norm
        penalty = max(w * of_penalty(*norms, b) for w, b in zip(weights, self.batch_sizes, strict=True))
        return (1 - alpha) * 2 * self.loss.clip_norm / sum(self.batch_sizes) + alpha * penalty

    def directions(self, rng: np.random.Generator) -> np.ndarray:
        """Unit vectors [projections, d]."""
        first, last = self.transport.outputs
        return random_directions(rng, self.projections, last - first)


def grouped(group: np.ndarray, *arrays: np.ndarray) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Where each group begins, and n; and the `arrays` in the order of their records' groups."""
    order = np.argsort(group, kind="stable")
    starts = (0, *np.cumsum(np.bincount(group)).tolist())
    return starts, [array[order] for array in arrays]


@dataclass(frozen=True)
class Plan:
    """One descent.

    Args:
        alpha: the weight of the penalty.
        epsilon: of the whole run; infinity for none.
        noise: one of `SENSITIVITIES`, or "no noise".
        steps: T.
        learning_rate: of plain gradient descent, whose last iterate is the result.
        seed: of batches and noise.
    """

    alpha: float
    epsilon: float
    noise: str
    steps: int
    learning_rate: float
    seed: int = 0


def plans(
    alphas: Sequence[float], epsilons: Sequence[float], *, steps: int, learning_rate: float, seed: int = 0
) -> list[Plan]:
    """All combinations, with both kinds of noise where epsilon is finite."""
    rest = {"steps": steps, "learning_rate": learning_rate, "seed": seed}
    return [
        Plan(alpha, epsilon, noise, **rest)  # type: ignore[arg-type]
        for epsilon in epsilons
        for noise in ((NONE,) if math.isinf(epsilon) else SENSITIVITIES)
        for alpha in alphas
    ]


@dataclass(frozen=True, eq=False)
class Trained:
    """What a descent came to.

    Args:
        plan: it.
        deviation: of the noise of each number of a gradient.
        parameters: float64 [P], the last iterate.
        curve: (step, objective on all training records) along the run.
        loss, penalty: its two terms at the end, without their weights.
    """

    plan: Plan
    deviation: float
    parameters: np.ndarray
    curve: list[tuple[int, float]] = field(repr=False)
    loss: float
    penalty: float

    @property
    def objective(self) -> float:
        """(1 - alpha) loss + alpha penalty."""
        return (1 - self.plan.alpha) * self.loss + self.plan.alpha * self.penalty


def noise_multiplier(problem: Problem, plan: Plan) -> float:
    """The deviation of the noise over the sensitivity, as the package's accountant has it; 0 without noise."""
    if plan.noise == NONE:
        return 0.0
    return subsampled_noise_multiplier(plan.epsilon, problem.delta, problem.probability, plan.steps)


def trained(problem: Problem, plan: Plan) -> Trained:
    """Runs one descent."""
    rng, network = np.random.default_rng([7, plan.seed]), problem.network()
    scorer = None if problem.scorer is None else problem.scorer()
    multiplier = noise_multiplier(problem, plan)
    deviation = multiplier * problem.sensitivity(plan.alpha, plan.noise) if multiplier else 0.0
    batch_starts = (0, *np.cumsum(problem.batch_sizes).tolist())
    descent = Descent.start(Optimizer("sgd", plan.learning_rate, averaged=0.0), plan.steps, network.parameters_vector())

    def step(parameters: np.ndarray) -> tuple[np.ndarray, float]:
        _load(network, scorer, parameters)
        rows = _batch(problem, rng)
        found = penalized_gradient(
            network, problem.inputs[rows], problem.targets[rows], batch_starts,
            alpha=plan.alpha, loss=problem.loss, transport=problem.transport, directions=problem.directions(rng),
            scorer=scorer,
        )  # fmt: skip
        return found.gradient + deviation * rng.standard_normal(len(parameters)), found.loss

    curve = []
    for taken in range(plan.steps + 1):
        if taken % max(1, plan.steps // RECORDED) == 0 or taken == plan.steps:
            _load(network, scorer, descent.parameters)
            loss, penalty = objective_terms(problem, network, scorer)
            curve.append((taken, (1 - plan.alpha) * loss + plan.alpha * penalty))
        if taken < plan.steps:
            descent.advance(step)
    return Trained(plan, deviation, descent.result, curve, loss, penalty)


def objective_terms(problem: Problem, network: Network, scorer: Network | None = None) -> tuple[float, float]:
    """The mean loss and the penalty on all records, nothing clipped; directions are the same in every call."""
    outputs = network.outputs(problem.inputs)
    first, last = problem.loss.outputs
    loss = OBJECTIVES[problem.loss.name](outputs[:, first:last], torch.as_tensor(problem.targets)).losses.mean()
    first, last = problem.transport.outputs
    of_scorer = outputs if scorer is None else scorer.outputs(problem.inputs)
    scores = link_named(problem.transport.link).scores(of_scorer[:, first:last]).values.numpy()
    directions, starts = problem.directions(np.random.default_rng(0)), problem.starts
    penalty = sum(
        weight * sliced_gradient(scores[starts[i] : starts[i + 1]], scores[starts[j] : starts[j + 1]], directions).value
        for i, j, weight in problem.transport.pairs
    )
    return float(loss), float(penalty)


def _load(network: Network, scorer: Network | None, parameters: np.ndarray) -> None:
    network.load_vector(parameters)
    if scorer is not None:
        scorer.load_vector(parameters[: len(scorer.parameters_vector())])


def _batch(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    sizes = np.diff(problem.starts).tolist()
    parts = [
        start + rng.choice(size, batch, replace=False)
        for start, size, batch in zip(problem.starts, sizes, problem.batch_sizes, strict=False)
    ]
    return np.concatenate(parts)


@dataclass(frozen=True)
class Task:
    """A descent for another process: the problem is made there, once."""

    problem: Callable[[], Problem]
    plan: Plan

    def __call__(self) -> Trained:
        torch.set_num_threads(1)
        return trained(self.problem(), self.plan)


def all_trained(tasks: Sequence[Task], jobs: int) -> Iterator[Trained]:
    """The outcomes, in order."""
    if jobs == 1:
        yield from (task() for task in tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(Task.__call__, tasks)


def accounting_text(problem: Problem, epsilons: Sequence[float], steps: int) -> str:
    """The noise multipliers, and what central limits say of them: approximations, which may be below the truth."""
    lines = []
    for epsilon in epsilons:
        if math.isinf(epsilon):
            continue
        q, delta = problem.probability, problem.delta
        ours = subsampled_noise_multiplier(epsilon, delta, q, steps)
        limit = gaussian_epsilon(uniform_sampling_limit(ours, q, steps), delta)
        lines.append(
            f"epsilon {epsilon:g}, delta {delta:.3g}, q {q:.4f}, {steps} steps: noise multiplier {ours:.3f}; "
            f"central limits, which are no bounds: epsilon {limit:.3f} at this noise, and the paper's accountant "
            f"(Poisson limit) would add {_by_limit(epsilon, delta, q, steps):.3f}"
        )
    return "\n".join(lines)


def _by_limit(epsilon: float, delta: float, q: float, steps: int) -> float:
    """The noise multiplier with which the Poisson limit says (epsilon, delta)."""
    mu = largest_mu(Budget(epsilon, delta))
    return float(brentq(lambda noise: poisson_sampling_limit(noise, q, steps) - mu, 0.3, 1e4))
