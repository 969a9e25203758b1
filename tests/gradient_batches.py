"""Gradient queries and batches for tests: small networks, records with many ties, groups of unequal sizes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.generator_gradient import GeneratorGradient
from counterfoil.curator.queries.gradient import GradientQuery, PublicDraws
from counterfoil.curator.queries.loss_gradient import LossGradient
from counterfoil.curator.queries.transport_gradient import TransportGradient
from counterfoil.curator.silence import silent
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.networks.architectures import autoencoder, linear, mlp
from counterfoil.networks.network import Network
from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.transport.rank_gradient import random_directions

INPUTS = 3


def features_of(groups: int, classes: int = 2, inputs: int = INPUTS, *, targets: bool = True) -> TrainingFeatures:
    """Some numbers as inputs, a class (with `targets`), and a group that is no input."""
    columns = [Integer(f"x{place}", 0, 8) for place in range(inputs)]
    schema = Schema((*columns, Integer("g", 0, max(groups, 2) - 1), Integer("y", 0, classes - 1)))
    target = ("y",) if targets else ()
    return TrainingFeatures(schema, target, ("g",) if groups > 1 else (), ("g",) if targets else ("g", "y"))


def starts_of(sizes: Sequence[int]) -> tuple[int, ...]:
    return (0, *np.cumsum(sizes).tolist())


def batch_of(inputs: Any, classes: Any, sizes: Sequence[int]) -> Batch:
    """Records that are listed group by group."""
    rows = np.array(inputs, dtype=np.float64)
    return Batch(rows, np.array(classes, dtype=np.int64), np.empty((len(rows), 0)), starts_of(sizes))


def random_batch(rng: np.random.Generator, sizes: Sequence[int], classes: int, inputs: int = INPUTS) -> Batch:
    """Records at the ends and in the middle, so that many are tied."""
    count = sum(sizes)
    rows = rng.choice([-1.0, 0.0, 0.5, 1.0], size=(count, inputs))
    rows[rng.random(count) < 0.3] = rows[0]
    return batch_of(rows, rng.integers(0, classes, count), sizes)


def replaced(batch: Batch, at: int, inputs: Any, its_class: int) -> Batch:
    """The batch with another record in the place `at`, which keeps its group."""
    rows, classes = batch.inputs.copy(), batch.classes.copy()
    rows[at], classes[at] = inputs, its_class
    return Batch(rows, classes, batch.numbers, batch.starts)


def answer(query: GradientQuery, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
    """The exact answer, as the curator computes it: without a word on the side."""
    with silent():
        return query.exact_of_batch(batch, parameters, draws)


def moved(query: GradientQuery, one: Batch, other: Batch, parameters: np.ndarray, draws: PublicDraws) -> float:
    """How far apart the answers on two batches are, in l2 norm."""
    first, second = (answer(query, batch, parameters, draws) for batch in (one, other))
    return float(np.linalg.norm((first - second).astype(np.float64)))


@dataclass(frozen=True)
class Made:
    """A query with a batch that it fits, public parameters and public draws."""

    query: GradientQuery
    batch: Batch
    parameters: np.ndarray
    draws: PublicDraws
    classes: int

    def neighbor(self, rng: np.random.Generator) -> Batch:
        """The batch with one record exchanged for an extreme one."""
        row = rng.choice([-1.0, 1.0, 0.0, 0.3], size=self.batch.inputs.shape[1])
        return replaced(self.batch, int(rng.integers(len(self.batch.inputs))), row, int(rng.integers(self.classes)))


def loss_of(outputs: int, clip: float) -> LossTerm:
    return LossTerm("logistic" if outputs == 1 else "cross_entropy", (0, outputs), clip, 2.0)


def network_of(kind: str, outputs: int, seed: int, inputs: int = INPUTS) -> Network:
    if kind == "linear":
        return linear(inputs, outputs, seed=seed)
    return mlp(inputs, outputs, hidden=(4,), activation="tanh" if kind == "tanh" else "relu", seed=seed)


def parameters_of(network: Network, rng: np.random.Generator, scale: float) -> np.ndarray:
    """Numbers of very different sizes, some of them zero."""
    size = len(network.parameters_vector())
    return rng.normal(size=size) * scale * rng.choice([0.0, 0.1, 1.0], size=size, p=[0.1, 0.3, 0.6])


def sizes_of(rng: np.random.Generator, groups: int) -> tuple[int, ...]:
    return tuple(int(size) for size in rng.integers(1, 6, groups))


def table_of(sizes: Sequence[int]) -> tuple[int, ...]:
    """A table that is larger than its batches: its sizes are in no claim."""
    return tuple(3 * size for size in sizes)


def loss_query(rng: np.random.Generator, *, kind: str, outputs: int, scale: float, clip: float) -> Made:
    classes, sizes = max(outputs, 2), sizes_of(rng, 2)
    network = network_of(kind, outputs, int(rng.integers(100)))
    query = LossGradient(network, features_of(2, classes), table_of(sizes), sizes, loss_of(outputs, clip))
    parameters = parameters_of(network, rng, scale)
    return Made(query, random_batch(rng, sizes, classes), parameters, PublicDraws(), classes)


def transport_query(
    rng: np.random.Generator,
    *,
    kind: str,
    outputs: int,
    groups: int,
    link: str,
    clipping: Any,
    alpha: float,
    scale: float,
    bound: float = 0.7,
    norm: float = 0.8,
) -> Made:
    classes, sizes = max(outputs, 2), sizes_of(rng, groups)
    network = network_of(kind, outputs, int(rng.integers(100)))
    pairs = tuple((one, other, float(rng.uniform(0.1, 2))) for one, other in itertools.combinations(range(groups), 2))
    term = TransportTerm(pairs, (0, outputs), link, 0.2, bound, norm, clipping)
    query = TransportGradient(
        network, features_of(groups, classes), table_of(sizes), sizes, loss_of(outputs, 0.5), alpha, term
    )
    draws = PublicDraws(random_directions(rng, 3, outputs))
    return Made(query, random_batch(rng, sizes, classes), parameters_of(network, rng, scale), draws, classes)


def encoder_query(rng: np.random.Generator, *, clipping: Any, scale: float) -> Made:
    """An autoencoder whose codes are compared."""
    sizes, code = sizes_of(rng, 2), 2
    network = autoencoder(INPUTS, hidden=(4,), code=code, seed=1)
    scorer = mlp(INPUTS, code, hidden=(4,), seed=1)
    loss = LossTerm("squared", (0, INPUTS), 0.6, 4.0 * INPUTS)
    term = TransportTerm(((0, 1, 1.0),), (0, code), "identity", 0.0, 0.9, 1.1, clipping)
    query = TransportGradient(network, features_of(2, targets=False), table_of(sizes), sizes, loss, 0.5, term, scorer)
    draws = PublicDraws(random_directions(rng, 4, code))
    return Made(query, random_batch(rng, sizes, 2), parameters_of(network, rng, scale), draws, 2)


def generator_query(
    rng: np.random.Generator, *, clipping: Any, scale: float, points: int, bound: float = 1.2, protects: Any = "Z"
) -> Made:
    """Records are moved to, or are, `points` others, which are public; or both are records, of two groups."""
    sizes = sizes_of(rng, 2 if protects == "both" else 1)
    entering, leaving = {"Z": (2, INPUTS), "X": (INPUTS, 2), "both": (INPUTS, INPUTS)}[protects]
    network = mlp(entering, leaving, hidden=(4,), seed=2)
    loss = LossTerm("sliced_wasserstein", (0, leaving), 1.0, 4 * bound**2)
    sides = (0, 1) if rng.random() < 0.5 else (1, 0)
    query = GeneratorGradient(
        network, features_of(len(sizes), targets=False), table_of(sizes), sizes, loss, bound, 0.7, clipping, protects,
        sides if protects == "both" else None,
    )  # fmt: skip
    others = rng.normal(size=(points, 2))
    public = {"Z": {"latent": others}, "X": {"points": others}, "both": {}}[protects]
    draws = PublicDraws(random_directions(rng, 3, leaving), **public)
    return Made(query, random_batch(rng, sizes, 2), parameters_of(network, rng, scale), draws, 2)
