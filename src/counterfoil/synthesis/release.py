"""The last step of every marginal-based synthesizer: rows, error bars and the receipt from a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.curator.curator import Curator
from counterfoil.graphical_model.error_bars import ErrorBars
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.outcome import FitOutcome
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis.row_sampling import draw
from counterfoil.synthesis.shortfall import shortfall
from counterfoil.synthesis.synthesis import Synthesis


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that rows are drawn from.

    Args:
        model: a model on the schema's domain.
        error_bars: how far it may be from the real table.
        fits: the outcomes of the fits behind the model; empty for a method that solves its problem exactly.
    """

    model: GraphicalModel
    error_bars: ErrorBars
    fits: tuple[FitOutcome, ...] = ()


def check_rows(rows: int | None) -> None:
    """Raises ValueError for a number of rows that can't be drawn; to be called before anything is asked."""
    if rows is not None and (not isinstance(rows, int) or rows < 1):
        raise ValueError(f"`rows` must be a whole number of at least 1. Found {rows!r}.")


def release(
    curator: Curator,
    fitted: Fitted,
    *,
    method: str,
    parameters: Mapping[str, Any],
    rows: int | None,
) -> Synthesis:
    """Draws `rows` rows (by default as many as the model has) and puts everything together.

    Raises:
        ValueError: when no row that is drawn meets the schema's rules.
    """
    model, fits = fitted.model, fitted.fits
    n = max(round(model.total), 1) if rows is None else rows
    sample = draw(model, curator.schema, n, curator.randomness.generator())
    drawn = sample.table.num_rows
    receipt = Receipt.from_curator(
        curator,
        method=method,
        parameters={**parameters, "fits": [fit.to_json() for fit in fits]} if fits else parameters,
        rows=drawn,
        rows_requested=rows is not None,
        rows_short=drawn < n,
        warnings=[
            *shortfall(curator.schema, drawn=drawn, requested=n),
            *(line for fit in fits for line in fit.warnings()),
        ],
    )
    return Synthesis(curator.schema, sample, model, fitted.error_bars, receipt)
