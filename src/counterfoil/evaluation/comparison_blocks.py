"""What a comparison with the real table says, as paragraphs and tables: NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from counterfoil.blocks import Alarm, Block, wrapped
from counterfoil.evaluation.column_blocks import columns_of
from counterfoil.evaluation.fact_blocks import broken_shares

if TYPE_CHECKING:
    from counterfoil.evaluation.comparison import Comparison
    from counterfoil.evaluation.train_on_synthetic import Score, TrainedOnSynthetic

ALARM = "NOT PRIVATE: this compares with the real records. DO NOT SHARE what follows."
ALARM_AGAIN = "NOT PRIVATE: these are exact statistics of the real records. DO NOT SHARE them."


def said_of_comparison(comparison: Comparison, *, values: bool = False) -> Iterator[Block]:
    """The comparison as tables; no record is in them, but with `values` the names of categories."""
    yield Alarm(ALARM)
    yield f"{comparison.real_rows:,} real rows, {comparison.synthetic_rows:,} synthetic ones."
    if comparison.used:
        yield wrapped(comparison.used)
    yield _marginals(comparison)
    yield from broken_shares(comparison)
    yield from columns_of(comparison, values=values)
    if comparison.numbers is not None:
        yield f"\nSliced W_2 of all ordered columns together: {comparison.numbers.sliced:.4f}."
    if comparison.model is not None:
        yield f"Models for {comparison.model.target}, tested on {comparison.model.test_rows:,} real rows:"
        yield _models(comparison.model)
    yield Alarm(ALARM_AGAIN)


def _marginals(comparison: Comparison) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("columns", justify="right")
    for heading in ("marginals", "mean L1 error", "largest"):
        table.add_column(heading, justify="right")
    table.add_column("the worst", overflow="fold")
    for part in comparison.marginals:
        compared = f"{len(part.errors):,}" + ("" if part.total == len(part.errors) else f" of {part.total:,}")
        table.add_row(str(part.order), compared, f"{part.mean:.4f}", f"{part.largest:.4f}", ", ".join(part.worst))
    return table


def _models(model: TrainedOnSynthetic) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("model")
    table.add_column("trained on")
    headings = ("accuracy", "AUC") + (("parity gap", "odds gap") if model.protected else ())
    for heading in headings:
        table.add_column(heading, justify="right")
    for name, scores in model.models.items():
        table.add_row(name, "synthetic rows", *_figures(scores.synthetic))
        table.add_row("", "the other real rows", *_figures(scores.real))
    table.add_row("most frequent value", "", f"{model.majority:.3f}", "0.500")
    if model.protected:
        table.add_row(f"{model.target} itself", "synthetic rows", "", "", f"{model.synthetic_parity:.3f}")
        table.add_row("", "real rows", "", "", f"{model.real_parity:.3f}")
    return table


def _figures(score: Score) -> list[str]:
    fairness = [] if score.fairness is None else [score.fairness.parity, score.fairness.odds]
    return [f"{figure:.3f}" for figure in (score.accuracy, score.auc, *fairness)]
