"""Gradients of a model on a random batch of records: what all such queries have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.gradient_terms import (
    plain_loss,
    require_fixed,
    require_ours,
)
from counterfoil.curator.queries.query import Query, Records
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.noise import LARGEST_ANSWER
from counterfoil.schema.schema import Schema

if TYPE_CHECKING:
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm

_FINENESS = 2.0**20
"""Units of the answer in a sensitivity, for each square root of a coordinate."""

_ROUNDING = 2.0**-20
"""What arithmetic in double precision may add to a change, as a share of it, apart from long sums."""

_TRIED = 2
"""Records of each group in a made-up batch."""

LOSS_SHARE = 1 / 8
"""The sensitivity of the reported loss, over that of the gradient: noise grows by less than one percent for it."""


@dataclass(frozen=True, eq=False)
class PublicDraws:
    """What a step draws without a look at any record.

    Args:
        directions: float64 [k, d], on the unit sphere, of a sliced distance.
        latent: float64 [m, inputs], what a generator makes points of, where that is public.
        points: float64 [m, d], what a generator's points are compared with, where that is public.
    """

    directions: np.ndarray | None = None
    latent: np.ndarray | None = None
    points: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class GradientQuery(Query):
    """What a step of training asks: a vector of fixed-point numbers from a batch, int64 [P + 1].

    The first P numbers are the gradient in units of `unit`, rounded; the last is the batch's mean loss, each record's
    counted as at most `loss.largest`, in units of `loss_unit`.

    **Batch.** Group j has n_j records, which is public, and a batch b_j of them, drawn afresh without replacement.
    Neighbors differ in one record, of the same group in both. They are compared place by place: a batch is a list, of
    which every order is equally likely whatever order the table has (`batches`), so that two draws can be coupled with
    all other records in the same places. A matrix product may round equal records differently in two places, which
    parts their tie, but the outputs of a record follow from itself and its place alone.

    Formal guarantee: replacing one record of a *batch*, in group j, moves the exact gradient by at most D in l2 norm
    (`gradient_change`, with proofs there), and the reported loss by at most `loss_change`: largest / b for the mean of
    b = sum of b_j losses. In the units of the answer these are D / unit and, by the choice of `loss_unit`, at most
    D / unit / 8. Each of the P + 1 numbers is rounded to a whole one, which moves it by at most 1/2 in either batch, so
    that the whole vector moves by at most sqrt(1 + 1/64) D / unit + sqrt(P + 1), the l2 sensitivity; the first term is
    raised for arithmetic in double precision (`rounded_sensitivity`). It holds for every value of the parameters and
    every set of directions, both public. It is the same for a record that is added or removed where batches stay as
    large: b is public, and fixed.

    Args:
        network: the model; public.
        features: how a record becomes numbers.
        group_sizes: n_j, public under the relation that these queries need.
        batch_sizes: b_j, at most n_j; 0 where n_j is 0.
        loss: the loss that is minimized.

    Raises:
        ValueError: for sizes that do not fit each other, bounds out of range, a loss that some record's class does not
            fit, or a network or features of a class of a user's own.
    """

    network: Network = field(repr=False)
    features: TrainingFeatures = field(repr=False)
    group_sizes: tuple[int, ...]
    batch_sizes: tuple[int, ...]
    loss: LossTerm

    def __post_init__(self) -> None:
        require_ours(self.features, self.network)
        object.__setattr__(self, "loss", plain_loss(self.loss))
        require_fixed(group_sizes=self.group_sizes, batch_sizes=self.batch_sizes)
        if len(self.group_sizes) != self.features.group_count or len(self.batch_sizes) != len(self.group_sizes):
            raise ValueError(
                f"Sizes of groups and of batches must be given for each of {self.features.group_count} groups. "
                f"Found {len(self.group_sizes)} and {len(self.batch_sizes)}."
            )
        if any(not 0 <= batch <= size for batch, size in zip(self.batch_sizes, self.group_sizes, strict=True)):
            raise ValueError("A batch holds at most all records of each group. Found a larger one.")
        if not sum(self.batch_sizes):
            raise ValueError("A batch must hold a record. Found none: the table is too small for this share.")
        first, last = self.loss.outputs
        if not 0 <= first < last <= self.network.outputs_count:
            raise ValueError(f"A loss reads outputs of the network. Found those from {first} to before {last}.")
        # Whether a class without an output is met would show in a failure.
        if self.loss.name == "cross_entropy" and last - first < self.features.target_classes:
            raise ValueError(
                f"A cross entropy needs an output for each of {self.features.target_classes} classes. "
                f"Found {last - first}."
            )

    def alone(self) -> Self:
        """The same question of a network that nobody else holds, so that no thread changes it during a step."""
        return replace(self, network=self.network.copied())

    @property
    def sampling_probability(self) -> float:
        """The largest share of a group that a batch holds, rounded up."""
        shares = [batch / size for batch, size in zip(self.batch_sizes, self.group_sizes, strict=True) if size]
        return min(1.0, max(shares) * (1 + 2.0**-50))

    @cached_property
    def size(self) -> int:
        """P, the number of trained parameters."""
        return len(self.network.parameters_vector())

    @property
    @abstractmethod
    def gradient_change(self) -> float:
        """D: the most that one record of a batch changes the exact gradient in l2 norm."""

    @property
    def loss_change(self) -> float:
        """The most that one record of a batch changes the reported loss."""
        return self.loss.largest / sum(self.batch_sizes)

    @property
    def unit(self) -> float:
        """What 1 stands for in the gradient: a power of two."""
        return unit_of(self.gradient_change, self.size)

    @property
    def loss_unit(self) -> float:
        """What 1 stands for in the reported loss."""
        return self.loss_change / (LOSS_SHARE * self.gradient_change / self.unit)

    def require_fits(self, schema: Schema) -> None:
        if schema != self.features.schema:
            raise ValueError("A model is trained on the records of the schema that its features are made for.")

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record of a batch changes the answer, in its units; see the guarantee above."""
        return rounded_sensitivity(self.gradient_change, self.unit, self.size, sum(self.batch_sizes))

    def exact(self, records: Records) -> np.ndarray:
        raise TypeError("A gradient is asked of batches, by `Account.train`, and never of all records.")

    def draw_widths(self) -> dict[str, int]:
        """What a step needs of `PublicDraws`: the fields, and how many columns each has."""
        return {}

    def require_draws(self, draws: PublicDraws) -> None:
        """Refuses draws that the step could not be made with, before a batch is read.

        Raises:
            ValueError: which names the field and its shape.
        """
        for name, width in self.draw_widths().items():
            drawn = getattr(draws, name)
            shape = np.shape(drawn)
            if drawn is None or len(shape) != 2 or not shape[0] or shape[1] != width or not np.isfinite(drawn).all():
                found = "none" if drawn is None else f"{list(shape)}, or numbers that are not finite"
                raise ValueError(f"Each step of this gradient needs `{name}`, float64 [n, {width}]. Found {found}.")

    def require_answerable(self) -> None:
        """Tries the question on a made-up batch of zeros, so that nothing is charged for one that would fail.

        Raises:
            ValueError: which says how the trial failed.
        """
        batch = Batch.of_zeros(self.features, tuple(min(size, _TRIED) for size in self.batch_sizes))
        draws = PublicDraws(**{name: np.eye(1, width) for name, width in self.draw_widths().items()})
        try:
            self.exact_of_batch(batch, self.network.parameters_vector(), draws)
        except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ValueError(
                f"A gradient must be computable of any batch. Found that one of made-up records fails "
                f"({type(error).__name__}: {error}): check the outputs of the loss, the penalty and the network."
            ) from error

    @abstractmethod
    def exact_of_batch(self, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
        """int64 [P + 1], at the public float64 [P] `parameters`. Never leaves the curator."""

    def describe(self) -> dict[str, Any]:
        loss = asdict(self.loss) | {"outputs": list(self.loss.outputs)}
        return {
            "architecture": self.network.describe(),
            "parameters": self.size,
            "inputs": len(self.features.input_names),
            "targets": list(self.features.targets),
            "groups": list(self.features.groups),
            "group_sizes": list(self.group_sizes),
            "batch_sizes": list(self.batch_sizes),
            "loss": loss,
        }

    def _rounded(self, gradient: np.ndarray, loss: float) -> np.ndarray:
        answer = np.append(gradient / self.unit, loss / self.loss_unit)
        # No two answers move apart by it; without it numbers beyond int64 would change their sign.
        return np.rint(np.clip(np.nan_to_num(answer, nan=0.0), -LARGEST_ANSWER, LARGEST_ANSWER)).astype(np.int64)


def restated_probability(parameters: Mapping[str, Any]) -> float:
    """The largest share of a group in a batch, from what `describe` gave."""
    restated_sizes(parameters)
    pairs = zip(parameters["batch_sizes"], parameters["group_sizes"], strict=True)
    return max(int(batch) / int(size) for batch, size in pairs if int(size))


def exact_gradient(
    query: GradientQuery,
    batch: Batch,
    parameters: np.ndarray,
    draws: PublicDraws,
    *,
    alpha: float,
    transport: TransportTerm | None,
    scorer: Network | None = None,
) -> np.ndarray:
    from counterfoil.networks.penalized_gradient import penalized_gradient

    query.network.load_vector(parameters)
    targets: Any = batch.classes
    if query.loss.name == "squared":
        targets = batch.numbers if query.features.targets else batch.inputs
    found = penalized_gradient(
        query.network,
        batch.inputs,
        targets,
        batch.starts,
        alpha=alpha,
        loss=query.loss,
        transport=transport,
        directions=draws.directions,
        scorer=scorer,
    )
    return query._rounded(found.gradient, found.loss)


def unit_of(change: float, size: int) -> float:
    """A power of two, so small that rounding `size` + 1 numbers adds about 2**-20 to a sensitivity."""
    return 2.0 ** math.floor(math.log2(change / (_FINENESS * math.sqrt(size + 1))))


def rounded_sensitivity(change: float, unit: float, size: int, batch: int) -> float:
    """The l2 sensitivity of the rounded answer.

    A sum of `batch` terms of norm at most T in double precision is off by at most batch**2 2**-53 T in whatever order
    it is added up, for each of two neighbors. `change` is at least T (that of a mean loss) or 2 T (all others): at most
    batch**2 2**-52 of it. What each record adds is itself off by at most 2**-29 of the norm that its factor would allow
    (`networks.factors`, four roundings of 5e-10). For a loss these errors do not depend on the other records, and
    cancel. For a penalty with weights w_jk they add up to at most 8 M L 2**-29 sum w for each neighbor, while `change`
    is at least 8 M L / b_j sum_k w_jk for each j, hence at least 16 M L sum w / `batch`: together `batch` 2**-29 of it,
    for which twice as much is added. Norms of single records are off by far less than 2**-20 of it.
    """
    raised = 1 + _ROUNDING + batch * 2.0**-28 + batch**2 * 2.0**-52
    return math.sqrt(1 + LOSS_SHARE**2) * raised * change / unit + math.sqrt(size + 1)


def restated_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """(b, P), from a receipt."""
    sizes: Sequence[int] = parameters["batch_sizes"]
    require_fixed(batch_sizes=tuple(sizes), group_sizes=tuple(parameters["group_sizes"]))
    batch, count = sum(sizes), int(parameters["parameters"])
    within = all(0 <= size <= members for size, members in zip(sizes, parameters["group_sizes"], strict=True))
    if not within or batch < 1 or count < 1:
        raise ValueError("the parameters are not those of a gradient.")
    return batch, count
