"""`counterfoil evaluate`: NOT PRIVATE, and says so first and last."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Json, LedgerFile, ShowValues
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.publishing.release_rows import rows_of, said_of_used, schema_beside, table_in


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
    from counterfoil.evaluation.comparison_blocks import said_of_comparison
    from counterfoil.ledger.ledger import Ledger

    if table_in(Path(real)) is not None:
        raise ValueError(
            f"`evaluate` takes the real table first, then the synthetic one. Found a release first, {real}."
        )
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
    comparison = replace(comparison, used=said_of_used(synthetic))
    terminal.report(said_of_comparison(comparison, values=show_values))
    terminal.document(comparison.to_json(values=show_values))
