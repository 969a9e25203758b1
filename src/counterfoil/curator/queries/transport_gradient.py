"""The gradient of a loss with a penalty on how far groups are apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.gradient import (
    GradientQuery,
    PublicDraws,
    exact_gradient,
    restated_sizes,
    rounded_sensitivity,
    unit_of,
)
from counterfoil.curator.queries.gradient_terms import moderate, plain_transport, require_ours
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.transport.gradient_sensitivity import gradient_sensitivity

if TYPE_CHECKING:
    from counterfoil.networks.network import Network
    from counterfoil.networks.penalized_gradient import TransportTerm


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
        return exact_gradient(self, batch, parameters, draws, **terms)

    def describe(self) -> dict[str, Any]:
        term = asdict(self.transport)
        term |= {"pairs": [list(pair) for pair in self.transport.pairs], "outputs": list(self.transport.outputs)}
        scorer = {} if self.scorer is None else {"scorer": self.scorer.describe()}
        return super().describe() | {"alpha": self.alpha, "transport": term, **scorer}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        batch, size = restated_sizes(parameters)
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
        return rounded_sensitivity(change, unit_of(change, size), size, batch)
