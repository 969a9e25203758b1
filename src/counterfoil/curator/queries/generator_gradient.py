"""The gradient of the distance between what a generator makes and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.gradient import (
    GradientQuery,
    PublicDraws,
    restated_sizes,
    rounded_sensitivity,
    unit_of,
)
from counterfoil.curator.queries.gradient_terms import moderate, require_clipping, require_fixed
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.transport.gradient_sensitivity import gradient_sensitivity

if TYPE_CHECKING:
    from counterfoil.networks.clipping import Clipping

Protected = Literal["Z", "X", "both"]
"""Which side of a distance SW_2^2(g(X), Z) is made of records."""


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
        batch, size = restated_sizes(parameters)
        moderate(bound=parameters["bound"], jacobian_norm=parameters["jacobian_norm"])
        sides = parameters.get("sides")
        if sides is not None:
            require_fixed(sides=tuple(sides))
        own = GeneratorGradient._sides_of(parameters.get("protects", "Z"), sides, parameters["batch_sizes"])
        change = GeneratorGradient._change(float(parameters["bound"]), float(parameters["jacobian_norm"]), own)
        if not float(parameters["loss"]["largest"]) >= 4 * float(parameters["bound"]) ** 2:
            raise ValueError("the largest distance must be that of the ball.")
        return rounded_sensitivity(change, unit_of(change, size), size, batch)

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
