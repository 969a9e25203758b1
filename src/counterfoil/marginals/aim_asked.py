"""What a run of AIM in rounds is asked for, and how it divides its budget."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.curator.curator import Curator
from counterfoil.domain.workload import Workload
from counterfoil.marginals.marginal_selection import MarginalSelection
from counterfoil.synthesis.pace import Pace


@dataclass(frozen=True)
class Shares:
    """How the budget (mu squared) is divided; the rest, up to 1, measures the chosen marginals.

    Args:
        columns: the share for all columns, in the first query.
        focus: the share for the pairs of the focus with every other column, in the second query; 0 without a focus.
        choosing: the share for choosing marginals, divided equally over the rounds.
        error_bars: the share for the errors of the final model.
    """

    columns: float = 0.4
    choosing: float = 0.05
    error_bars: float = 0.02
    focus: float = 0.0

    def __post_init__(self) -> None:
        parts = (self.columns, self.choosing, self.error_bars)
        if not (all(part > 0 for part in parts) and self.focus >= 0 and self.marginals > 0):
            raise ValueError(f"Shares of the budget must be positive and leave something of 1. Found {self}.")

    @property
    def marginals(self) -> float:
        """The share that measures the chosen marginals."""
        return 1 - self.columns - self.focus - self.choosing - self.error_bars


@dataclass(frozen=True, eq=False)
class Asked:
    """What a run is asked for.

    Args:
        curator: answers.
        workload: the marginals to keep; or an order, for all marginals of that order that are small enough once rare
            values are merged.
        max_model_size: of the model, in megabytes.
        entropy_weight: of every fit; None for one that follows from the noise.
        choice: how a round's marginals are chosen.
        rounds: the most rounds; there are fewer when a round improves the model little, because later rounds then get
            more of the budget. None for as many as the noise allows.
        pace: learns how far the run is, and ends its rounds where a time limit is near: what is left of the budget is
            then spent on marginals of one last round, as many as the rounds that are left out would have had, but no
            more than join all columns.
        focus: a column whose pairs with all others are measured before any rounds, or None.
        rows: how many rows the user asks for; None for about as many as there are records.
        classes: how many hidden classes of records may explain how the columns of a wide table go together; 0 or 1 for
            none.
    """

    curator: Curator
    workload: Workload | int
    max_model_size: float
    entropy_weight: float | None
    choice: MarginalSelection
    rounds: int | None
    pace: Pace
    focus: str | None = None
    rows: int | None = None
    classes: int = 16

    @property
    def shares(self) -> Shares:
        """How the budget is divided."""
        return Shares() if self.focus is None else Shares(columns=0.25, focus=0.4)
