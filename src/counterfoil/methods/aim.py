"""AIM: an adaptive choice of the marginals that the model gets most wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from numbers import Real
from typing import Any

from counterfoil.curator.curator import Curator
from counterfoil.domain.workload import Workload, require_workload
from counterfoil.graphical_model.classed_model import ClassedModel
from counterfoil.marginals.aim_asked import Asked
from counterfoil.marginals.aim_batched import BatchedAIM
from counterfoil.marginals.aim_published import PublishedAIM
from counterfoil.marginals.marginal_selection import ExponentialChoice, GaussianChoice
from counterfoil.methods.method import Method
from counterfoil.schema.errors import did_you_mean
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.release import check_rows, release
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit


class AIMVariant(StrEnum):
    """How AIM selects marginals and composes their costs.

    `BATCHED`: several choices by the exponential mechanism a round, in one Gaussian filter; the default, because its
    errors were the smallest in benchmarks. `GAUSSIAN`: rounds of several marginals too, but one query measures the
    errors of all candidates with Gaussian noise. `PUBLISHED`: one choice a round, in zCDP, as in McKenna et al. 2022.
    """

    BATCHED = "batched"
    GAUSSIAN = "gaussian"
    PUBLISHED = "published"


@dataclass(frozen=True)
class AIM(Method):
    """Measures columns, then round after round the marginals with the largest weighted error; Private-PGM joins them.

    Args:
        workload: the marginals to keep, or 1, 2 or 3 for all of that order with at most 10,000 cells.
        max_model_size: the most megabytes that the model may take.
        variant: how marginals are selected, see `AIMVariant`.
        rounds: the most rounds of the batched and Gaussian variants, with that of the spanning tree; None for 8 to 48,
            the more the smaller the noise that the budget buys; beyond 24, rounds get larger in place of more.
        batch: the most marginals in a round; more where the noise allows more rounds than 24.
        entropy_weight: how strongly the fit is drawn to independence, in records; None for what suits the noise.
        focus: a column that models will predict. Its pairs with all other columns are measured before rounds, with a
            large part of the budget; not in the published variant.
        classes: how many hidden classes of records may explain how the columns of a table of 20 and more go together,
            where they explain more than single pairs do; below 2 for none. Not in the published variant.

    Source: McKenna, Mullins, Sheldon and Miklau 2022, "AIM: an adaptive and iterative mechanism for differentially
    private synthetic data" (arXiv 2201.12677).
    """

    workload: Workload | int = 2
    max_model_size: float = 80.0
    variant: AIMVariant = AIMVariant.BATCHED
    rounds: int | None = None
    batch: int = 4
    entropy_weight: float | None = None
    focus: str | None = None
    classes: int = 16

    def __post_init__(self) -> None:
        variants = [variant.value for variant in AIMVariant]
        if self.variant not in variants:
            hint = did_you_mean(str(self.variant), variants)
            raise ValueError(f"`variant` must be one of {', '.join(variants)}. Found {self.variant!r}.{hint}")
        object.__setattr__(self, "variant", AIMVariant(self.variant))
        require_workload(self.workload)
        if not isinstance(self.focus, str | None):
            raise ValueError(f"`focus` must be the name of a column. Found {self.focus!r}.")
        if self.focus is not None and self.variant is AIMVariant.PUBLISHED:
            raise ValueError("The published variant has no `focus`: leave it out, or use the batched one.")
        for name, number in (("rounds", self.rounds), ("batch", self.batch), ("classes", self.classes)):
            whole = isinstance(number, int) and not isinstance(number, bool)
            if not whole and (name, number) != ("rounds", None):
                raise ValueError(f"`{name}` must be a whole number. Found {number!r}.")
        if (self.rounds is not None and self.rounds < 1) or self.batch < 1:
            raise ValueError(f"`rounds` and `batch` must be at least 1. Found {self.rounds} and {self.batch}.")
        if self.classes < 0:
            raise ValueError(f"`classes` must not be negative. Found {self.classes}.")
        limits: dict[str, Any] = {"max_model_size": self.max_model_size, "entropy_weight": self.entropy_weight}
        for name, value in limits.items():
            if value is not None and not (isinstance(value, Real) and 0 < float(value) < math.inf):
                raise ValueError(f"`{name}` must be positive and finite. Found {value!r}.")

    @classmethod
    def focus_for(cls, target: str | None, **parameters: Any) -> str | None:
        """The target, whose pairs with other columns models learn from; the published variant has no focus."""
        return None if parameters.get("variant") == AIMVariant.PUBLISHED else target

    @property
    def takes_time_limit(self) -> bool:
        """Rounds and fits end when a limit is near."""
        return True

    def synthesize(
        self,
        curator: Curator,
        *,
        rows: int | None = None,
        progress: Progress = quiet,
        time_limit: TimeLimit | float | None = None,
    ) -> Synthesis:
        """A synthesis within `curator.budget`, whose delta must be positive.

        Args:
            curator: the table, its budget and its neighbors.
            rows: how many rows to draw; by default as many as the table has, by a noisy count where that is private.
            progress: called with what is being done and the share of the work that is done.
            time_limit: seconds of processor time for all fits together, in two halves: when rounds have used the first,
                what is left of the budget is spent on one more, and the last fit has the second. None for as long as
                they take.

        Raises:
            ValueError: before anything is charged, for a workload or focus that names unknown columns, a delta of 0, or
                a time limit that is not positive.
        """
        check_rows(rows)
        known = curator.domain.attributes
        if self.focus is not None and self.focus not in known:
            hint = did_you_mean(self.focus, known)
            raise ValueError(f"`focus` must be a synthesized column. Found {self.focus!r}.{hint}")
        pace = Pace(curator, progress, time_limit)
        fitted = self._run(curator, pace, rows).run()
        # `classes` is what was allowed, of any variant; a receipt also says what the model has.
        taken = {"classes_taken": self.classes if isinstance(fitted.model, ClassedModel) else 0}
        parameters = {**self._describe(), **taken, **pace.facts()}
        return release(curator, fitted, method="aim", parameters=parameters, rows=rows)

    def _run(self, curator: Curator, pace: Pace, rows: int | None = None) -> BatchedAIM | PublishedAIM:
        common = (curator, self.workload, self.max_model_size, self.entropy_weight)
        if self.variant is AIMVariant.PUBLISHED:
            return PublishedAIM(*common, pace, rows)
        choice_type = GaussianChoice if self.variant is AIMVariant.GAUSSIAN else ExponentialChoice
        asked = Asked(*common, choice_type(self.batch), self.rounds, pace, self.focus, rows, self.classes)
        return BatchedAIM(asked)

    def _describe(self) -> dict[str, object]:
        workload = self.workload
        described = workload if isinstance(workload, int) else [list(clique) for clique in workload.weights]
        return {
            "variant": self.variant.value,
            "workload": described,
            "max_model_size": self.max_model_size,
            "rounds": self.rounds,
            "batch": self.batch,
            "entropy_weight": self.entropy_weight,
            "focus": self.focus,
            "classes": self.classes,
        }
