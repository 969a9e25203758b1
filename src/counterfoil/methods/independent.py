"""The baseline: columns are independent."""

from __future__ import annotations

import math
from dataclasses import dataclass

from counterfoil.curator.curator import Curator
from counterfoil.methods.direct import synthesize_cliques
from counterfoil.methods.method import Method
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit


@dataclass(frozen=True)
class Independent(Method):
    """Measures each column's counts once and draws columns independently.

    Methods that model dependence should be compared with it; with very few records it is the best of all.
    """

    @property
    def takes_time_limit(self) -> bool:
        """Its fit ends when a limit is reached."""
        return True

    def synthesize(
        self,
        curator: Curator,
        *,
        rows: int | None = None,
        progress: Progress = quiet,
        time_limit: TimeLimit | float | None = None,
    ) -> Synthesis:
        """A synthesis within `curator.budget`; pure privacy where its delta is 0."""
        cliques = tuple((name,) for name in curator.domain.attributes)
        pace = Pace(curator, progress, time_limit)
        return synthesize_cliques(
            curator, cliques, method="independent", parameters={}, max_model_size=math.inf, rows=rows, pace=pace
        )
