"""`counterfoil evaluate`: NOT PRIVATE, and says so first and last."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.columns_table import show_columns
from counterfoil.cli.facts_list import show_broken_shares
from counterfoil.cli.options import Json, LedgerFile, ShowValues
from counterfoil.cli.release_rows import rows_of, schema_beside
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.evaluation.comparison import Comparison
    from counterfoil.evaluation.train_on_synthetic import Score, TrainedOnSynthetic

ALARM = "NOT PRIVATE: this compares with the real records. DO NOT SHARE what follows."
ALARM_AGAIN = "NOT PRIVATE: these are exact statistics of the real records. DO NOT SHARE them."


def evaluate(
    real: Annotated[str, typer.Argument(help="The sensitive table.", metavar="REAL")],
    synthetic: Annotated[
        str, typer.Argument(help="The synthetic one, or the folder of its release.", metavar="SYNTHETIC")
    ],
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema", help="The public facts about both; those in the release's folder if left out.", metavar="S.toml"
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Train models to predict this column.", metavar="COLUMN")
    ] = None,
    protected: Annotated[
        str | None,
        typer.Option("--protected", help="Compare how they treat the groups of this one.", metavar="COLUMN"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore", help="A column that models must not see, such as one that tells the target.", metavar="COLUMN"
        ),
    ] = None,
    ledger: LedgerFile = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Compare a synthetic table with the real one. NOT PRIVATE.

    Columns are compared as they stand in the real table, before the schema clamps or moves a value. Errors of marginals
    are L1 distances: 0 for equal, 2 for nothing in common. Distances of numbers are in deviations of the real ones.
    With --target, three models are trained on the synthetic rows and tested on a fifth of the real ones. With --ledger,
    the look is recorded for good.
    """
    from counterfoil.curator.given import schema_given
    from counterfoil.evaluation.comparison import compare
    from counterfoil.ledger.ledger import Ledger

    terminal, facts = Terminal(json=json), schema_beside(synthetic, schema)
    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        given = schema_given(facts, source=real)
        stack.enter_context(showing_values(real, given, show=show_values))
        comparison = compare(
            real,
            rows_of(synthetic),
            given,
            target=target,
            protected=protected,
            ignore=ignore or (),
            ledger=opened,
        )
    terminal.alarm(ALARM)
    show_comparison(terminal, comparison, values=show_values)
    terminal.alarm(ALARM_AGAIN)
    terminal.document(comparison.to_json(values=show_values))


def show_comparison(terminal: Terminal, comparison: Comparison, *, values: bool = False) -> None:
    """The comparison as tables; no record is in them, but with `values` the names of categories."""
    terminal.say(f"{comparison.real_rows:,} real rows, {comparison.synthetic_rows:,} synthetic ones.")
    terminal.show(_marginals(comparison))
    show_broken_shares(terminal, comparison)
    show_columns(terminal, comparison, values=values)
    if comparison.numbers is not None:
        terminal.say(f"\nSliced W_2 of all ordered columns together: {comparison.numbers.sliced:.4f}.")
    if comparison.model is not None:
        terminal.say(f"Models for {comparison.model.target}, tested on {comparison.model.test_rows:,} real rows:")
        terminal.show(_models(comparison.model))


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
