"""Gradients of a model on a random batch of records: of a loss, and of a loss with a transport penalty."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.gradient_terms import (
    moderate,
    plain_loss,
    plain_transport,
    require_clipping,
    require_fixed,
    require_ours,
)
from counterfoil.curator.queries.query import Query, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.noise import LARGEST_ANSWER, Norm
from counterfoil.schema.schema import Schema
from counterfoil.transport.gradient_sensitivity import gradient_sensitivity

if TYPE_CHECKING:
    from counterfoil.networks.clipping import Clipping
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import LossTerm, TransportTerm

_FINENESS = 2.0**20
"""Units of the answer in a sensitivity, for each square root of a coordinate."""

_ROUNDING = 2.0**-20
"""What arithmetic in double precision may add to a change, as a share of it, apart from long sums (`_sensitivity`)."""

Protected = Literal["Z", "X", "both"]
"""Which side of a distance SW_2^2(g(X), Z) is made of records."""

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
    raised for arithmetic in double precision (`_sensitivity`). It holds for every value of the parameters and every set
    of directions, both public. It is the same for a record that is added or removed where batches stay as large: b is
    public, and fixed.

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
        return _unit(self.gradient_change, self.size)

    @property
    def loss_unit(self) -> float:
        """What 1 stands for in the reported loss."""
        return self.loss_change / (LOSS_SHARE * self.gradient_change / self.unit)

    def require_fits(self, schema: Schema) -> None:
        if schema != self.features.schema:
            raise ValueError("A model is trained on the records of the schema that its features are made for.")

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record of a batch changes the answer, in its units; see the guarantee above."""
        return _sensitivity(self.gradient_change, self.unit, self.size, sum(self.batch_sizes))

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


@shipped
@dataclass(frozen=True, eq=False)
class LossGradient(GradientQuery):
    """The mean over a batch of the gradients of a loss, each clipped to the norm C (Abadi et al. 2016).

    Formal guarantee: `gradient_change` is 2 C / b: the mean has one term of norm at most C / b for each record, and
    one of them is another.
    """

    name: ClassVar[str] = "loss_gradient"
    question: ClassVar[str] = "in which direction the parameters of a model should move to lower its loss"

    @property
    def gradient_change(self) -> float:
        return 2 * self.loss.clip_norm / sum(self.batch_sizes)

    def exact_of_batch(self, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
        return _exact(self, batch, parameters, PublicDraws(), alpha=0.0, transport=None)

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        batch, size = _restated_sizes(parameters)
        moderate(clip_norm=parameters["loss"]["clip_norm"])
        change = 2 * float(parameters["loss"]["clip_norm"]) / batch
        return _sensitivity(change, _unit(change, size), size, batch)


@shipped
@dataclass(frozen=True, eq=False)
class TransportGradient(GradientQuery):
    """The gradient of (1 - alpha) loss + alpha sum over pairs (j, k) of w_jk SW_2^2(scores of j, scores of k).

    Formal guarantee: with scores in a ball of radius M (translations change no gradient, so that its center does not
    matter) and Jacobians of spectral norm at most L, a record of group j changes the term of the pair (j, k) by at most
    8 M L / b_j (`transport.gradient_sensitivity` for L1 = L2 = L, along each direction, and a mean over
    directions changes by at most as much), and no term without j. The loss changes by 2 C / b. So `gradient_change` is
    the largest over groups j of (1 - alpha) 2 C / b + alpha (8 M L / b_j) sum over k of w_jk. Theorem 6.1 of Rodriguez-
    Vitores, Lalanne and Loubes 2025 has 16 M L, and n where the batch's sizes must stand.

    Args:
        alpha: the weight of the penalty, in [0, 1].
        transport: the penalty.
        scorer: whose outputs the scores are made of, where it is not `network`; its parameters are the first ones of
            the network's.
    """

    name: ClassVar[str] = "transport_gradient"
    question: ClassVar[str] = (
        "in which direction the parameters of a model should move to lower its loss, and to treat groups alike"
    )

    alpha: float
    transport: TransportTerm
    scorer: Network | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.alpha, (int, float)) and 0 <= self.alpha <= 1):
            raise ValueError(f"`alpha` must lie between 0 and 1. Found {self.alpha!r}.")
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "transport", plain_transport(self.transport))
        if self.scorer is not None:
            require_ours(self.features, self.scorer)
        first, last = self.transport.outputs
        scored = self.network if self.scorer is None else self.scorer
        if not 0 <= first < last <= scored.outputs_count:
            raise ValueError(f"Scores are made of outputs of the network. Found those from {first} to before {last}.")
        groups = {group for group, batch in enumerate(self.batch_sizes) if batch}
        for one, other, _ in self.transport.pairs:
            if type(one) is not int or type(other) is not int or one == other or not {one, other} <= groups:
                raise ValueError(
                    f"A penalty compares two groups that have records. Found the groups {one} and {other} of "
                    f"{len(self.batch_sizes)}."
                )

    def alone(self) -> Self:
        scorer = None if self.scorer is None else self.scorer.copied()
        return replace(self, network=self.network.copied(), scorer=scorer)

    @property
    def gradient_change(self) -> float:
        term = self.transport
        changes = [
            gradient_sensitivity(term.bound, term.jacobian_norm, term.jacobian_norm, batch)
            * math.fsum(weight for one, other, weight in term.pairs if group in (one, other))
            for group, batch in enumerate(self.batch_sizes)
            if batch
        ]
        ordinary = 2 * self.loss.clip_norm / sum(self.batch_sizes)
        return (1 - self.alpha) * ordinary + self.alpha * max(changes)

    def draw_widths(self) -> dict[str, int]:
        first, last = self.transport.outputs
        return {"directions": last - first} if self.alpha > 0 else {}

    def exact_of_batch(self, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
        if self.scorer is not None:
            self.scorer.load_vector(parameters[: len(self.scorer.parameters_vector())])
        terms: dict[str, Any] = {"alpha": self.alpha, "transport": self.transport, "scorer": self.scorer}
        return _exact(self, batch, parameters, draws, **terms)

    def describe(self) -> dict[str, Any]:
        term = asdict(self.transport)
        term |= {"pairs": [list(pair) for pair in self.transport.pairs], "outputs": list(self.transport.outputs)}
        scorer = {} if self.scorer is None else {"scorer": self.scorer.describe()}
        return super().describe() | {"alpha": self.alpha, "transport": term, **scorer}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        batch, size = _restated_sizes(parameters)
        alpha, term = float(parameters["alpha"]), parameters["transport"]
        if not 0 <= alpha <= 1:
            raise ValueError("alpha must lie between 0 and 1.")
        moderate(clip_norm=parameters["loss"]["clip_norm"], bound=term["bound"], jacobian_norm=term["jacobian_norm"])
        largest = 0.0
        present = {group for group, members in enumerate(parameters["batch_sizes"]) if members}
        if not term["pairs"] or any(one == other or not {one, other} <= present for one, other, _ in term["pairs"]):
            raise ValueError("a penalty compares two groups that have records.")
        for _, _, weight in term["pairs"]:
            moderate(weight=weight)
        for group, members in enumerate(parameters["batch_sizes"]):
            weights = math.fsum(float(weight) for one, other, weight in term["pairs"] if group in (one, other))
            if weights:
                largest = max(largest, 8 * float(term["bound"]) * float(term["jacobian_norm"]) / int(members) * weights)
        change = (1 - alpha) * (2 * float(parameters["loss"]["clip_norm"]) / batch) + alpha * largest
        return _sensitivity(change, _unit(change, size), size, batch)


@shipped
@dataclass(frozen=True, eq=False)
class GeneratorGradient(GradientQuery):
    """The gradient of SW_2^2(g(X), Z) by the parameters of the generator g, where X, Z or both are records.

    The points of Z, and those that g makes of X, are projected onto the ball of radius M around 0, and the Jacobian of
    each g(x) is clipped to the spectral norm L. In place of a loss the distance itself is answered. What is not made of
    records is drawn without a look at any (`PublicDraws`).

    Formal guarantee: `transport.gradient_sensitivity` along each direction, with L1 and L2 the bounds on the Jacobians
    of the side that changes and of the other one; a mean over directions changes by at most as much. Points of Z depend
    on no parameter: theirs is 0.

    - Z (the points are records): L1 = 0 and L2 = L give `gradient_change` = 4 M L / b, b records of Z in a batch.
    - X (the generator's inputs are records): L1 = L and L2 = 0 give 8 M L / b, b records of X in a batch. The record
      that is replaced changes its term by up to 8 M L / b alone, where its Jacobian turns around; what it moves of the
      other records' terms is then nothing.
    - both: a neighbor differs in one record, of X or of Z, so that it is the larger of 8 M L / b_X and 4 M L / b_Z.
      (Were a record of each side replaced, the two would add up: nearly 12 M L / b is attained for b_X = b_Z = b.)

    A record that is replaced moves SW_2^2 by at most 4 M^2 / b, on either side: along each direction, send the mass
    1 / b of the old point to where the new one is, which changes the cost of an optimal plan by at most 1 / b times the
    largest squared distance; so neither distance exceeds the other by more. `loss.largest` is 4 M^2. Theorem A.1 of
    Rodriguez-Vitores, Lalanne and Loubes 2025 has 12 M L / b for X, and names the sides as here (appendix C).

    Args:
        bound: M, in the units of inputs, which lie in [-1, 1].
        jacobian_norm: L.
        clipping: "spectral" or "components".
        protects: which side is made of records: "Z", "X" or "both".
        sides: with "both", the groups of X and of Z; no other group has records in a batch.
    """

    name: ClassVar[str] = "generator_gradient"
    question: ClassVar[str] = "in which direction the parameters of a generator should move to make likelier points"

    bound: float
    jacobian_norm: float
    clipping: Clipping = "spectral"
    protects: Protected = "Z"
    sides: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in moderate(bound=self.bound, jacobian_norm=self.jacobian_norm).items():
            object.__setattr__(self, name, value)
        require_clipping(self.clipping)
        if not self.loss.largest >= 4 * self.bound**2:
            raise ValueError("The distance of points in a ball of radius M can be as large as 4 M**2.")
        if self.sides is not None:
            require_fixed(sides=self.sides)
        self._sides_of(self.protects, self.sides, self.batch_sizes)
        count = len(self.features.input_names)
        if self.protects != "X" and self.network.outputs_count != count:
            raise ValueError(
                f"A generator's points need a coordinate for each of the {count} inputs of a record. "
                f"Found {self.network.outputs_count}."
            )
        if self.protects != "Z" and self.network.inputs != count:
            raise ValueError(
                f"A generator that is applied to records takes their {count} inputs. Found {self.network.inputs}."
            )

    @property
    def gradient_change(self) -> float:
        return self._change(self.bound, self.jacobian_norm, self._own_sizes())

    @property
    def loss_change(self) -> float:
        return self.loss.largest / min(size for size in self._own_sizes() if size is not None)

    def draw_widths(self) -> dict[str, int]:
        widths = {"directions": self.network.outputs_count}
        if self.sides is None and self.protects == "X":
            return widths | {"points": self.network.outputs_count}
        return widths if self.sides is not None else widths | {"latent": self.network.inputs}

    def exact_of_batch(self, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
        from counterfoil.networks.penalized_gradient import generator_gradient

        self.network.load_vector(parameters)
        latent, points = draws.latent, draws.points
        if self.sides is not None:
            latent, points = (batch.inputs[batch.group(side)] for side in self.sides)
        elif self.protects == "X":
            latent = batch.inputs
        else:
            points = batch.inputs
        assert latent is not None
        assert points is not None
        assert draws.directions is not None
        limits: dict[str, Any] = {"bound": self.bound, "jacobian_norm": self.jacobian_norm, "clipping": self.clipping}
        found = generator_gradient(self.network, latent, points, draws.directions, **limits)
        return self._rounded(found.gradient, min(found.loss, self.loss.largest))

    def describe(self) -> dict[str, Any]:
        limits = {"bound": self.bound, "jacobian_norm": self.jacobian_norm, "clipping": self.clipping}
        # Nothing is said of Z alone, as in receipts from before there was a choice.
        side = {} if self.protects == "Z" else {"protects": self.protects}
        both = {} if self.sides is None else {"sides": list(self.sides)}
        return super().describe() | limits | side | both

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        batch, size = _restated_sizes(parameters)
        moderate(bound=parameters["bound"], jacobian_norm=parameters["jacobian_norm"])
        sides = parameters.get("sides")
        if sides is not None:
            require_fixed(sides=tuple(sides))
        own = GeneratorGradient._sides_of(parameters.get("protects", "Z"), sides, parameters["batch_sizes"])
        change = GeneratorGradient._change(float(parameters["bound"]), float(parameters["jacobian_norm"]), own)
        if not float(parameters["loss"]["largest"]) >= 4 * float(parameters["bound"]) ** 2:
            raise ValueError("the largest distance must be that of the ball.")
        return _sensitivity(change, _unit(change, size), size, batch)

    def _own_sizes(self) -> tuple[int | None, int | None]:
        return self._sides_of(self.protects, self.sides, self.batch_sizes)

    @staticmethod
    def _change(bound: float, jacobian_norm: float, sizes: tuple[int | None, int | None]) -> float:
        """The larger of what a record of X and one of Z move; None for a side without records."""
        of_x, of_z = sizes
        moved_by_x = 0.0 if of_x is None else gradient_sensitivity(bound, jacobian_norm, 0.0, of_x)
        moved_by_z = 0.0 if of_z is None else gradient_sensitivity(bound, 0.0, jacobian_norm, of_z)
        return max(moved_by_x, moved_by_z)

    @staticmethod
    def _sides_of(
        protects: str, sides: Sequence[int] | None, batch_sizes: Sequence[int]
    ) -> tuple[int | None, int | None]:
        """How many records of X and of Z are in a batch; None for a side that is public.

        Raises:
            ValueError: for a side that is none, or sides that are not the two groups with records.
        """
        whole = sum(batch_sizes)
        if protects in ("X", "Z") and sides is None:
            return (whole, None) if protects == "X" else (None, whole)
        with_records = {group for group, size in enumerate(batch_sizes) if size}
        if protects != "both" or sides is None or len(sides) != 2 or {*sides} != with_records or len(with_records) != 2:
            raise ValueError(
                f'A generator protects "Z", "X" or "both", the last with the two groups that have records as `sides`. '
                f"Found {protects!r} with {sides!r}."
            )
        return batch_sizes[sides[0]], batch_sizes[sides[1]]


def restated_probability(parameters: Mapping[str, Any]) -> float:
    """The largest share of a group in a batch, from what `describe` gave."""
    _restated_sizes(parameters)
    pairs = zip(parameters["batch_sizes"], parameters["group_sizes"], strict=True)
    return max(int(batch) / int(size) for batch, size in pairs if int(size))


def _exact(
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


def _unit(change: float, size: int) -> float:
    """A power of two, so small that rounding `size` + 1 numbers adds about 2**-20 to a sensitivity."""
    return 2.0 ** math.floor(math.log2(change / (_FINENESS * math.sqrt(size + 1))))


def _sensitivity(change: float, unit: float, size: int, batch: int) -> float:
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


def _restated_sizes(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """(b, P), from a receipt."""
    sizes: Sequence[int] = parameters["batch_sizes"]
    require_fixed(batch_sizes=tuple(sizes), group_sizes=tuple(parameters["group_sizes"]))
    batch, count = sum(sizes), int(parameters["parameters"])
    within = all(0 <= size <= members for size, members in zip(sizes, parameters["group_sizes"], strict=True))
    if not within or batch < 1 or count < 1:
        raise ValueError("the parameters are not those of a gradient.")
    return batch, count
