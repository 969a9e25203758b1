"""`counterfoil check`: what a schema does to a table, before anything is made of it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.options import ConfirmDelta, Json, LedgerFile, MaxRows, SchemaFile, ShowValues, Source
from counterfoil.cli.schema_check import show_schema_check, show_schema_warnings
from counterfoil.cli.terminal import Terminal
from counterfoil.table_url import stem_of

if TYPE_CHECKING:
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.schema import Schema


def check(
    source: Source,
    schema: SchemaFile,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="Buy noisy counts, with a receipt that may be shared, for this much."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="With --epsilon: 1e-9 if left out; 0 for pure privacy.")
    ] = None,
    confirm_delta: ConfirmDelta = None,
    relation: Annotated[
        str | None,
        typer.Option("--relation", help="With --epsilon: add_or_remove_one (the default) or replace_one."),
    ] = None,
    privacy_unit: Annotated[
        str | None,
        typer.Option(
            "--privacy-unit",
            help="Protect all rows with one value here (with --epsilon), or say what all of them have in common.",
            metavar="COLUMN",
        ),
    ] = None,
    max_rows: MaxRows = None,
    receipt: Annotated[
        Path | None,
        typer.Option(
            "--receipt", help="With --epsilon: where it goes; INPUT.check.receipt.json if left out.", metavar="R.json"
        ),
    ] = None,
    ledger: LedgerFile = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Say which values of a table the schema clamps, moves, or does not understand.

    Without --epsilon it is NOT PRIVATE: exact counts and line numbers, for your own terminal. Nothing is charged; with
    --ledger, the look is recorded for good. No value is refused: all columns are listed. Exits with status 1 when a
    value is clamped, moved, infinite, not understood, or has no place, and when a record breaks a rule, a list of
    zeros, or the derivation of a column that the table has too; and for a draft, of which what is stated is checked.
    With --privacy-unit it also names columns that are the same in all rows of each person, which no copy of rows keeps,
    and says where words stand for missing identifiers, or one is written in several ways.

    With --epsilon it is private: noisy counts, charged to --ledger, and a receipt.
    """
    terminal = Terminal(json=json)
    if epsilon is not None:
        unit = (privacy_unit, max_rows)
        allowed = _budget(epsilon, delta, confirm_delta)
        _buy(terminal, source, schema, allowed, relation, unit, ledger, receipt)
        return
    bought = {"delta": delta, "relation": relation, "receipt": receipt}
    for option, given in (bought | {"max-rows": max_rows, "confirm-delta": confirm_delta}).items():
        if given is not None:
            raise ValueError(f"`--{option}` goes with `--epsilon`, which buys private counts. Found it alone: add it.")
    if not _look(terminal, source, schema, ledger, show_values=show_values, unit=privacy_unit):
        raise typer.Exit(1)


def _look(
    terminal: Terminal, source: str, schema: Path, ledger: Path | None, *, show_values: bool, unit: str | None
) -> bool:
    """Prints the exact report; returns whether each value is as declared and each fact holds."""
    from counterfoil.evaluation.cell_blocks import said_of_cells
    from counterfoil.evaluation.schema_report import check_without_privacy

    report = check_without_privacy(source, schema, ledger=ledger, values=show_values, privacy_unit=unit)
    terminal.report(said_of_cells(report))
    terminal.document(report.to_json())
    return report.holds


def _budget(epsilon: float, delta: float | None, confirmed: float | None) -> Budget:
    """What the counts may cost.

    Raises:
        ValueError: for a budget that is none, or a delta of .1 or more that was not said twice.
    """
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.sanity import require_moderate_delta
    from counterfoil.methods.method import DEFAULT_DELTA

    budget = Budget(epsilon, DEFAULT_DELTA if delta is None else delta)
    require_moderate_delta(budget.delta, confirmed)
    return budget


def _buy(
    terminal: Terminal,
    source: str,
    schema: Path,
    allowed: Budget,
    relation: str | None,
    unit: tuple[str | None, int | None],
    ledger: Path | None,
    receipt: Path | None,
) -> None:
    """Buys the counts alone, writes their receipt, and prints what they say."""
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.cli.synth_request import relation_named, unit_of
    from counterfoil.curator.given import schema_given

    path = receipt if receipt is not None else default_receipt(source)
    if path.exists():
        raise ValueError(f"{path} is there already. Choose another name with --receipt, or move it away.")
    require_harmless([path], inputs(source, ledger=ledger, schema=schema))
    require_free([path], force=False)
    related = relation_named("add_or_remove_one" if relation is None else relation)
    facts = schema_given(schema, source=source)
    with noted_without_ledger(terminal, ledger):
        made = _bought(source, facts, allowed, related, unit_of(*unit), ledger, path)
    terminal.say(f"Bought for epsilon {allowed.epsilon:g}, delta {allowed.delta:g}, {related}.")
    terminal.say(f"  receipt  {path}")
    show_schema_warnings(terminal, made.document)
    show_schema_check(terminal, made.document)
    for sentence in made.document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    terminal.document(made.to_json())


def _bought(
    source: str,
    schema: Schema,
    budget: Budget,
    relation: str,
    unit: PrivacyUnit | None,
    ledger: Path | None,
    path: Path,
) -> Receipt:
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.curator.curator import Curator
    from counterfoil.fidelity.schema_check import buy_schema_check
    from counterfoil.ledger.ledger import Ledger

    with ExitStack() as stack:
        opened = None if ledger is None else stack.enter_context(Ledger.open(ledger, source=None))
        if opened is not None:  # before the records are read
            opened.require_room(budget, Neighbors(NeighboringRelation(relation), unit).describe())
        curator = stack.enter_context(
            Curator(source, schema, budget=budget, relation=relation, privacy_unit=unit, ledger=opened)
        )
        curator.require_rows()
        made = buy_schema_check(curator)
        made.save(path)
        curator.record_receipt(made.digest)
    return made


def default_receipt(source: str) -> Path:
    """people.csv gives people.check.receipt.json in the current folder."""
    return Path(f"{stem_of(source)}.check.receipt.json")
