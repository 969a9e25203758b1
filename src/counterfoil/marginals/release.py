"""The last step of every marginal-based synthesizer: rows, error bars and the receipt from a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from counterfoil.curator.curator import Curator
from counterfoil.drawing import draw
from counterfoil.marginals.domain import Clique
from counterfoil.marginals.error_bars import Bound, ErrorBars
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.report.receipt import Receipt
from counterfoil.synthesis import Synthesis

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of the budget that is spent."""


def quiet(message: str, fraction: float) -> None:
    """The progress that says nothing."""


def release(
    curator: Curator,
    model: GraphicalModel,
    *,
    method: str,
    parameters: Mapping[str, Any],
    bounds: Mapping[Clique, tuple[Bound, ...]],
    total_error: float,
    rows: int | None,
    warnings: Sequence[str] = (),
) -> Synthesis:
    """Draws `rows` rows (by default as many as the model has) and puts everything together; ends the release."""
    n = max(round(model.total), 1) if rows is None else rows
    drawn = draw(model, curator.schema, n, curator.randomness.generator())
    receipt = Receipt.from_curator(
        curator, method=method, parameters=parameters, rows=n, rows_requested=rows is not None, warnings=warnings
    )
    curator.close()
    error_bars = ErrorBars(curator.domain, bounds, model.total, total_error)
    return Synthesis(curator.schema, drawn, model, error_bars, receipt)
