"""`counterfoil evaluate`: NOT PRIVATE, and says so first and last."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.options import Json, LedgerFile, SchemaFile, ShowValues
from counterfoil.cli.showing_values import showing_values
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.evaluation.comparison import Comparison

ALARM = "NOT PRIVATE: this compares with the real records. DO NOT SHARE what follows."
ALARM_AGAIN = "NOT PRIVATE: these are exact statistics of the real records. DO NOT SHARE them."


def evaluate(
    real: Annotated[str, typer.Argument(help="The sensitive table.", metavar="REAL")],
    synthetic: Annotated[str, typer.Argument(help="The synthetic one.", metavar="SYNTHETIC")],
    schema: SchemaFile,
    target: Annotated[
        str | None, typer.Option("--target", help="Train a model to predict this column.", metavar="COLUMN")
    ] = None,
    ledger: LedgerFile = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Compare a synthetic table with the real one. NOT PRIVATE.

    Errors of marginals are L1 distances: 0 for equal, 2 for nothing in common. With --target, logistic regression is
    trained on the synthetic rows and tested on a fifth of the real ones. With --ledger, the look is recorded for good.
    """
    from counterfoil.curator.ledger import Ledger
    from counterfoil.evaluation.comparison import compare
    from counterfoil.schema import Schema

    terminal = Terminal(json=json)
    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        stack.enter_context(showing_values(real, show=show_values))
        found = compare(real, synthetic, Schema.from_toml(schema), target=target, ledger=opened)
    terminal.alarm(ALARM)
    show_comparison(terminal, found)
    terminal.alarm(ALARM_AGAIN)
    terminal.document(found.to_json())


def show_comparison(terminal: Terminal, found: Comparison) -> None:
    """The comparison as tables; no record is in them."""
    terminal.say(f"{found.real_rows:,} real rows, {found.synthetic_rows:,} synthetic ones.")
    terminal.show(_marginals(found))
    if found.model is not None:
        model = found.model
        terminal.say(f"Logistic regression for {model.target}, tested on {model.test_rows:,} real rows:")
        terminal.show(_models(found))


def _marginals(found: Comparison) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("columns", justify="right")
    for heading in ("marginals", "mean L1 error", "largest"):
        table.add_column(heading, justify="right")
    table.add_column("the worst", overflow="fold")
    for part in found.marginals:
        compared = f"{len(part.errors):,}" + ("" if part.total == len(part.errors) else f" of {part.total:,}")
        table.add_row(str(part.order), compared, f"{part.mean:.4f}", f"{part.largest:.4f}", ", ".join(part.worst))
    return table


def _models(found: Comparison) -> Any:
    from rich.table import Table

    model = found.model
    assert model is not None
    table = Table(box=None, pad_edge=False)
    table.add_column("trained on")
    for heading in ("accuracy", "AUC"):
        table.add_column(heading, justify="right")
    table.add_row("synthetic rows", f"{model.synthetic.accuracy:.3f}", f"{model.synthetic.auc:.3f}")
    table.add_row("the other real rows", f"{model.real.accuracy:.3f}", f"{model.real.auc:.3f}")
    table.add_row("nothing (most frequent value)", f"{model.majority:.3f}", "0.500")
    return table
