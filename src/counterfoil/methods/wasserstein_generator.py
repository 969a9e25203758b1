"""Points made by a neural network that was trained with private sliced Wasserstein gradients."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.callers import outside_the_package
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.generator_gradient import GeneratorGradient
from counterfoil.curator.queries.gradient import PublicDraws
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.geometry.euclidean import Box
from counterfoil.methods.method import Method
from counterfoil.networks import require_torch
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.training.descent import Optimizer
from counterfoil.training.gradient_noise import points_noise_warnings
from counterfoil.training.noise_warnings import NoisyGradientsWarning
from counterfoil.training.private_run import Schedule, train
from counterfoil.transport.rank_gradient import random_directions, require_projections

if TYPE_CHECKING:
    from counterfoil.networks.network import Network

_SUPPORT = 20_000
"""Points that stand for the generator's measure in a release."""


@dataclass(frozen=True)
class WassersteinGenerator(Method):
    """A generator g of public draws, moved so that SW_2^2(g(draws), records) falls (appendix C of the paper).

    Each step compares a batch of records with as many points of the generator along random directions, and asks for a
    noisy gradient. Columns must be numbers that are never missing; they are scaled to [-1, 1] by their declared bounds.
    Neighboring tables have the same number of rows, which is public.

    Source: Rodriguez-Vitores, Lalanne and Loubes 2025, "Learning with differentially private (sliced) Wasserstein
    gradients", appendix C. Its Z is the records, which are protected; its X, which the generator is applied to, is
    standard normal numbers, drawn anew for each step, and nobody's. Where X is records too, or alone,
    `counterfoil.training.SlicedWassersteinGenerator` protects it.

    Args:
        hidden: the widths of the generator's hidden layers.
        latent: how many standard normal numbers it makes a point of; as many as there are columns where None.
        iterations: how many gradients are asked for.
        batch_share: the share of the records that a batch holds.
        learning_rate: of Adam.
        gradient_clip: the largest norm of a noisy gradient; noisy gradients are clipped again, as the paper does.
        averaged: the share of the last iterates whose mean is the generator.
        projections: directions of each step.
        bound: M: points count as at most this far from the middle; None takes the corner of the box.
        jacobian_norm: L, the largest spectral norm of the Jacobian of a generated point.
        init_seed: of the initial parameters, which are public.
        device: "cpu" or "cuda".
    """

    gives_points: ClassVar[bool] = True
    default_delta: ClassVar[float] = 1e-6
    default_relation: ClassVar[NeighboringRelation] = NeighboringRelation.REPLACE_ONE

    hidden: tuple[int, ...] = (64, 64)
    latent: int | None = None
    iterations: int = 200
    batch_share: float = 0.1
    learning_rate: float = 0.01
    gradient_clip: float | None = 1.0
    averaged: float = 0.2
    projections: int = 50
    bound: float | None = None
    jacobian_norm: float = 2.0
    init_seed: int = 0
    device: str = "cpu"

    @property
    def can_reserve(self) -> bool:
        """All gradients are planned before the first answer."""
        return False

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> PointSynthesis:
        """A synthesis within `curator.budget`.

        Warns:
            NoisyGradientsWarning: before anything is charged, where noise will drown the gradients.

        Raises:
            ValueError: for a table with columns that are not numbers or may be missing, or neighbors of other sizes.
            ImportError: without PyTorch.
        """
        require_torch()
        box = Box.of(curator.schema)
        require_space(curator, box)
        if not curator.row_count_is_public:
            raise ValueError(
                "A generator is trained on batches of fixed size, which hide who is in the table and not how many "
                f"are. Found {curator.neighbors.describe()}: use replace_one, with one row a person."
            )
        features = TrainingFeatures(curator.schema)
        schedule = Schedule(self.iterations, self.batch_share)
        network, dimension = self._network(box.dimension), box.dimension
        optimizer = Optimizer("adam", self.learning_rate, 0.0, self.gradient_clip, self.averaged)
        projections = require_projections(self.projections) if dimension > 1 else 1
        self._query(network, features, (1,), (1,))  # refuses what is wrong for any size: reading it is noted for good
        sizes = curator.group_sizes(features)
        query = self._query(network, features, sizes, schedule.batch_sizes(sizes))
        batch = sum(query.batch_sizes)

        def draws(rng: np.random.Generator) -> PublicDraws:
            directions = random_directions(rng, projections, dimension)
            return PublicDraws(directions, rng.standard_normal((batch, network.inputs)))

        (first, *_) = schedule.noises(query, curator)
        loud = points_noise_warnings(query, first.noise_multiplier, self.iterations)
        for words in loud:  # before the charge: where warnings are errors, nothing is spent
            warnings.warn(words, NoisyGradientsWarning, stacklevel=outside_the_package())
        descent = train(
            curator, query, schedule, optimizer, draws=draws, made_by={}, checkpoint=None, progress=progress
        )
        network.load_vector(descent.result)
        rng = curator.randomness.generator()
        support = self._made(network, _SUPPORT, rng, box)
        parameters = {
            **box.describe(),
            "hidden": list(self.hidden),
            "latent": network.inputs,
            "iterations": self.iterations,
            "last_distance": descent.recent_loss(),
        }
        return release_points(
            curator,
            box,
            measure=(support, np.full(len(support), 1 / len(support))),
            draw=lambda n, generator: self._made(network, n, generator, box),
            describe=("wasserstein-generator", parameters),
            total=float(sum(sizes)),
            rows=rows,
            warnings=loud,
        )

    def _network(self, dimension: int) -> Network:
        from counterfoil.networks.architectures import mlp

        inputs = dimension if self.latent is None else self.latent
        return mlp(inputs, dimension, hidden=self.hidden, seed=self.init_seed, device=self.device)

    def _query(
        self, network: Network, features: TrainingFeatures, sizes: tuple[int, ...], batches: tuple[int, ...]
    ) -> GeneratorGradient:
        from counterfoil.networks.penalized_gradient import LossTerm

        dimension = network.outputs_count
        bound = math.sqrt(dimension) if self.bound is None else self.bound
        loss = LossTerm("sliced_wasserstein", (0, dimension), self.jacobian_norm, 4 * bound**2)
        limits: dict[str, Any] = {"bound": bound, "jacobian_norm": self.jacobian_norm}
        return GeneratorGradient(network, features, sizes, batches, loss, **limits)

    def _made(self, network: Network, n: int, rng: np.random.Generator, box: Box) -> np.ndarray:
        """float64 [n, d]: points of the generator, in the box's own units."""
        made = network.outputs(rng.standard_normal((n, network.inputs))).cpu().numpy()
        lower, upper = np.array(box.lower), np.array(box.upper)
        return lower + (np.clip(made, -1, 1) + 1) / 2 * (upper - lower)
