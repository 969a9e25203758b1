"""`counterfoil ledger create|show|move|give-back|close`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Json
from counterfoil.cli.terminal import Terminal

ledger = typer.Typer(help="Keep a total budget for one sensitive source.", no_args_is_help=True)

LedgerPath = Annotated[Path, typer.Argument(help="The ledger, such as people.ledger.", metavar="L")]


@ledger.command()
def create(
    path: LedgerPath,
    source: Annotated[str, typer.Option("--source", help="The sensitive table: a file, or FILE.db::TABLE.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that all releases together may cost.")],
    delta: Annotated[float, typer.Option("--delta", help="The same for delta, far below 1 / rows.")],
    confirm_delta: Annotated[
        float | None, typer.Option("--confirm-delta", help="A delta of .1 or more again, to say that it is meant.")
    ] = None,
    json: Json = False,
) -> None:
    """Create a ledger: a budget for one sensitive table, of which nothing is spent."""
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.sanity import budget_warnings
    from counterfoil.curator.source_facts import identity_of
    from counterfoil.kept_files import kept_source, ledger_outputs, require_apart
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.ledger.page import ledger_document

    require_apart(ledger_outputs(path), kept_source(source))  # before the source is opened
    terminal, total = Terminal(json=json), Budget(epsilon, delta)
    identity = identity_of(source)
    with Ledger.create(path, source=identity, total=total, confirm_delta=confirm_delta) as made:
        terminal.say(f"Created {path} for {made.source.name}: {made.total}.")
        for warning in budget_warnings(total, None):
            terminal.note(f"Warning: {warning}")
        terminal.document(ledger_document(made))


@ledger.command()
def show(path: LedgerPath, json: Json = False) -> None:
    """Print what was spent, on what, and what is left."""
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.ledger.page import ledger_document, ledger_page

    terminal = Terminal(json=json)
    with Ledger.open(path, source=None) as opened:
        counted, looks, refusals = ledger_page(opened)
        terminal.say(counted)
        if looks:
            terminal.alarm(looks)
        if refusals:
            terminal.say(refusals)
        terminal.document(ledger_document(opened))


@ledger.command()
def move(
    path: LedgerPath,
    source: Annotated[str, typer.Option("--source", help="Where the same table is now: a file, or FILE.db::TABLE.")],
    json: Json = False,
) -> None:
    """Write down that the ledger's table was moved or renamed; what was spent stays spent."""
    from counterfoil.curator.source_facts import identity_of
    from counterfoil.kept_files import kept_source, ledger_outputs, require_apart
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.ledger.page import ledger_document

    require_apart(ledger_outputs(path), kept_source(source))  # before the source is opened
    terminal, identity = Terminal(json=json), identity_of(source)
    with Ledger.open(path, source=None) as opened:
        before = opened.source
        opened.move(identity)
        terminal.say(f"{path} is for {identity.name} at {identity.location} now, and before for {before}.")
        terminal.document(ledger_document(opened))


@ledger.command("give-back")
def give_back(
    path: LedgerPath,
    release: Annotated[int, typer.Option("--release", help="Its number, as `ledger show` lists it.", metavar="N")],
    json: Json = False,
) -> None:
    """Give back what a release reserved whose run was killed before anything was charged to it.

    What was charged stays spent, with all that its release reserved. A run that still goes on is refused its first
    charge, before it gets an answer.
    """
    from counterfoil.ledger.ledger import Amount, Ledger
    from counterfoil.ledger.page import ledger_document

    terminal = Terminal(json=json)
    with Ledger.open(path, source=None) as opened:
        reservation = opened.resume(release)
        reservation.abandon()
        within = opened.releases()[release - 1].within
        amount = Amount(reservation.budget.epsilon, reservation.budget.delta)
        given = f"{amount}" if within is None else f"the rest of release {within}, for another release to spend"
        terminal.say(f"Release {release} gave back {given}: nothing was charged to it. Left: {opened.left()}.")
        terminal.document(ledger_document(opened))


@ledger.command("close")
def close(
    path: LedgerPath,
    release: Annotated[int, typer.Option("--release", help="Its number, as `ledger show` lists it.", metavar="N")],
    receipt: Annotated[
        Path, typer.Option("--receipt", help="The receipt that the release has written.", metavar="R.json")
    ],
    json: Json = False,
) -> None:
    """End a release that has written its receipt and stays open: its run was killed, or the ledger was busy.

    Nothing is given back. Where it bought a schema with a share of a budget, synth --rest can then spend the rest.
    """
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.ledger.page import ledger_document
    from counterfoil.receipt.ledger_check import close_by_receipt
    from counterfoil.receipt.receipt import Receipt

    terminal, found = Terminal(json=json), Receipt.load(receipt)
    if problems := found.verify(receipt.parent).problems:
        raise ValueError(f"A release is ended by a receipt that holds. Found that {receipt} does not: {problems[0]}")
    with Ledger.open(path, source=None) as opened:
        close_by_receipt(opened, release, found.document)
        terminal.say(f"Closed release {release}: its receipt is {receipt}. Left: {opened.left()}.")
        terminal.document(ledger_document(opened))
