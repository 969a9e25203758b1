"""The last step of every marginal-based synthesizer: rows, error bars and the receipt from a fitted model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfoil.accounting.row_counts import count_warnings, records_counted
from counterfoil.accounting.sanity import budget_warnings
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.domain.layout import Layout
from counterfoil.graphical_model.error_bars import ErrorBars, MeasuredBound
from counterfoil.graphical_model.outcome import FitOutcome
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.receipt.receipt import Receipt
from counterfoil.schema.date_order import dates_without_rule
from counterfoil.synthesis.even_moments import even_moments
from counterfoil.synthesis.group_noise import noisy_groups
from counterfoil.synthesis.kept import kept_of_model
from counterfoil.synthesis.one_sided_noise import noisy_columns, one_sided_noise
from counterfoil.synthesis.redrawn_rows import TriedRows, redrawn_rows
from counterfoil.synthesis.row_parts import RowParts, draw_parts
from counterfoil.synthesis.row_sampling import Rows
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.shortfall import shortfall
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.unit_rows import unrelated_rows
from counterfoil.synthesis.unordered_dates import unordered_dates


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that rows are drawn from.

    Args:
        model: a model on the schema's domain.
        error_bars: how far it may be from the real table.
        fits: the outcomes of the fits behind the model; empty for a method that solves its problem exactly.
        warnings: public sentences for the receipt.
        columns: float64 [codes] by column, smoothed noisy counts that no relation and no rule has bent.
    """

    model: TableModel
    error_bars: ErrorBars
    fits: tuple[FitOutcome, ...] = ()
    warnings: tuple[str, ...] = ()
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)


_BETA = 0.04
"""The probability that an error bar on the receipt fails: with sampling, intervals of 95% are made of them."""

_MOST_BARS = 2000


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
    sample = draw_parts(model, curator.schema, n, curator.randomness.generator())
    drawn = sample.count
    receipt = Receipt.from_curator(
        curator,
        method=method,
        parameters={**parameters, "fits": [fit.to_json() for fit in fits]} if fits else parameters,
        rows=drawn,
        rows_requested=rows is not None,
        rows_short=drawn < n,
        error_bars=bars_of_unmeasured(model, fitted.error_bars, sample),
        kept=kept_of_model(model, fitted.error_bars),
        warnings=[
            *shortfall(curator.schema, drawn=drawn, requested=n),
            *(_orders_and_rules(curator, fitted) if drawn == n else ()),
            *even_moments(curator.schema),
            *unrelated_rows(curator.neighbors, curator.schema),
            *fitted.warnings,
            *noisy_groups(curator, model),
            *count_warnings(fitted.error_bars.counted, fitted.error_bars.total_error, rows),
            *budget_warnings(curator.budget, records_counted(fitted.error_bars.counted, fitted.error_bars.total_error)),
            *(line for fit in fits for line in fit.warnings()),
        ],
    )
    return Synthesis(curator.schema, sample.ordered(curator.column_names), model, fitted.error_bars, receipt)


def _orders_and_rules(curator: Curator, fitted: Fitted) -> list[str]:
    """What the receipt says of columns that rules moved, and of dates without one."""
    rules, dates = curator.schema.bound_rules, dates_without_rule(curator.schema)
    if not rules and not dates:
        return []
    tried = TriedRows.of(fitted.model, curator.schema)
    moved = [*redrawn_rows(tried), *one_sided_noise(tried, noisy_columns(curator), fitted.columns)] if rules else []
    return [*moved, *unordered_dates(tried)]


def bars_of_unmeasured(model: TableModel, bars: ErrorBars, drawn: Rows | RowParts | SavedRows) -> list[dict[str, Any]]:
    """Bounds on the distance of the rows from the real table, in marginals that were not measured.

    A bound on the model's distance, and the distance of the rows from the model, which is known. Only where a release
    says something about such a marginal: its noisy distance, or that others were chosen before it.
    """
    rows = drawn.count
    measured: dict[str, list[set[str]]] = {}
    for clique, bounds in bars.bounds.items():
        if any(isinstance(one, MeasuredBound) for one in bounds):
            for name in clique:
                measured.setdefault(name, []).append(set(clique))
    cliques = [
        clique
        for clique in bars.bounds
        if clique and not any(set(clique) <= other for other in measured.get(clique[0], ()))
    ]
    if not cliques or len(cliques) > _MOST_BARS or not rows:
        return []
    # A layout asks for names that are texts of Python's own.
    layout = Layout.of(Domain(tuple(map(str, model.domain.attributes)), model.domain.sizes), cliques)
    counts = drawn.counts(layout)
    marginals = model.marginals(cliques)
    entries = []
    for clique, start, stop in zip(cliques, layout.starts[:-1], layout.starts[1:], strict=True):
        counted = counts[start:stop].reshape(model.domain.shape(clique))
        apart = float(np.abs(counted / rows - marginals[clique] / model.total).sum())
        bar = bars.bar(clique, _BETA)
        if (fraction := min(bar.fraction + apart, 2.0)) < 2.0:
            entries.append({"attributes": list(clique), "beta": _BETA, "fraction": fraction, "source": bar.source})
    return entries
