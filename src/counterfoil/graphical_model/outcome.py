"""How a fit ended, for whoever reads the receipt."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any


class Status(enum.Enum):
    """Why a fit ended."""

    CONVERGED = "The duality gap is within the bound that was asked for."
    EVALUATIONS = (
        "The limit of evaluations was reached before the duality gap closed. Increase `entropy_weight`, give columns "
        "fewer bins, or ask for fewer marginals, each of which makes the fit easier; `estimate` also takes a larger "
        "`max_evaluations`."
    )
    PRECISION = (
        "Floating-point precision ended the fit before the duality gap closed. Increase `entropy_weight` or give "
        "columns fewer bins; `estimate` also takes a larger `relative_gap`."
    )
    TIME = (
        "The time limit ended the fit before the duality gap closed. A longer limit, fewer marginals or fewer bins "
        "bring the model closer."
    )


@dataclass(frozen=True)
class FitOutcome:
    """What is certified of a fit. Public: it follows from noisy marginals alone.

    Args:
        status: why it ended.
        gap: nats; a bound on how far the model is from the best objective.
        relative_gap: the same, divided by the objective.
        goal: the relative gap that was asked for.
        evaluations: how often the objective was computed.
    """

    status: Status
    gap: float
    relative_gap: float
    goal: float
    evaluations: int

    def to_json(self) -> dict[str, Any]:
        """What stands on a receipt, which holds finite numbers alone."""
        numbers = {"gap": self.gap, "relative_gap": self.relative_gap, "goal": self.goal}
        finite = {name: value for name, value in numbers.items() if math.isfinite(value)}
        return {"status": self.status.name.lower(), **finite, "evaluations": self.evaluations}

    def warnings(self) -> list[str]:
        """Nothing where the goal was reached. Each cell's misfit counts in deviations of its noise."""
        if self.status is Status.CONVERGED:
            return []
        return [
            f"The model is not as close to the noisy marginals as it could be: its relative duality gap is "
            f"{self.relative_gap:.2g}, the goal was {self.goal:.2g}, and its marginals are up to "
            f"{math.sqrt(2 * self.gap):.3g} deviations of the noise, all cells taken together, from those of the best "
            f"fit. {self.status.value} What is private stays so: fitting reads no record."
        ]
