"""`counterfoil ledger create|show`."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.options import Json
from counterfoil.cli.terminal import WIDTH, Terminal

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Amount, Ledger, ReleaseRecord

ledger = typer.Typer(help="Keep a total budget for one sensitive source.", no_args_is_help=True)

LedgerPath = Annotated[Path, typer.Argument(help="The ledger, such as people.ledger.", metavar="L")]


@ledger.command()
def create(
    path: LedgerPath,
    source: Annotated[str, typer.Option("--source", help="The sensitive table: a file, or FILE.db::TABLE.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that all releases together may cost.")],
    delta: Annotated[float, typer.Option("--delta", help="The same for delta, far below 1 / rows.")],
    json: Json = False,
) -> None:
    """Create a ledger: a budget for one sensitive table, of which nothing is spent."""
    from counterfoil.accounting.budget import Budget
    from counterfoil.curator.source_facts import identity_of
    from counterfoil.kept_files import kept_source, ledger_outputs, require_apart
    from counterfoil.ledger.ledger import Ledger

    require_apart(ledger_outputs(path), kept_source(source))  # before the source is opened
    terminal, total = Terminal(json=json), Budget(epsilon, delta)
    with Ledger.create(path, source=identity_of(source), total=total) as made:
        terminal.say(f"Created {path} for {made.source.name}: {made.total}.")
        terminal.document(_summary(made))


@ledger.command()
def show(path: LedgerPath, json: Json = False) -> None:
    """Print what was spent, on what, and what is left."""
    from counterfoil.ledger.ledger import Ledger

    terminal = Terminal(json=json)
    with Ledger.open(path, source=None) as opened:
        _print(terminal, opened)
        terminal.document(_summary(opened))


def _print(terminal: Terminal, opened: Ledger) -> None:
    from rich.table import Table

    terminal.say(f"Ledger of {opened.source.name}\n  at {opened.source.location}")
    sums = Table(box=None, pad_edge=False)
    for heading in ("", "epsilon", "delta"):
        sums.add_column(heading, justify="right" if heading else "left")
    for name, amount in (("total", opened.total), ("spent", opened.reserved()), ("left", opened.left())):
        sums.add_row(name, f"{amount.epsilon:.6g}", f"{amount.delta:.3g}")
    terminal.show(sums)
    releases = opened.releases()
    if releases:
        terminal.say("")
        terminal.show(_table(releases))
        # The ledger holds releases of one kind of neighbors alone: their budgets would not add up otherwise.
        terminal.say(f"neighbors: {', '.join({record.relation: None for record in releases})}")
    else:
        terminal.say("No release yet.")
    _print_outside(terminal, opened)


def _print_outside(terminal: Terminal, opened: Ledger) -> None:
    """Prints the reveals and the refusals, which revealed something of the records and are in none of the sums."""
    reveals, refusals = _reveals(opened), opened.refusals()
    if not (reveals or refusals):
        return
    terminal.say("\nOutside the budget, and in none of the sums above:")
    for reason in reveals:
        look = "looked at without privacy, at infinite epsilon"
        terminal.alarm(_item(f"NOT PRIVATE: the records were {look}: {' '.join(reason.split())}"))
    if refusals:
        requests, cause = _requests(len(refusals)), "because of what the records hold"
        terminal.say(
            _item(
                f"{requests} refused {cause} (last on {refusals[-1][:10]}). A refusal reveals an exact fact about the "
                "records to whoever sees it."
            )
        )


def _requests(count: int) -> str:
    return "1 request was" if count == 1 else f"{count:,} requests were"


def _item(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _table(releases: list[ReleaseRecord]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("release", "epsilon", "delta"):
        table.add_column(heading, justify="right")
    for heading in ("opened", "status", "asked"):
        table.add_column(heading, overflow="fold")
    for record in releases:
        asked = Counter(str(event.get("query", "question")) for event in record.charges)
        table.add_row(
            str(record.id),
            f"{record.budget.epsilon:g}",
            f"{record.budget.delta:g}",
            record.opened[:10],
            record.status,
            ",\n".join(f"{count} {query}" for query, count in asked.items()) or "nothing",
        )
    return table


def _summary(opened: Ledger) -> dict[str, Any]:
    return {
        "source": opened.source.name,
        "location": opened.source.location,
        "total": _plain(opened.total),
        "reserved": _plain(opened.reserved()),
        "spent": _plain(opened.spent()),
        "left": _plain(opened.left()),
        "releases": [
            {
                "release": record.id,
                "opened": record.opened,
                "status": record.status,
                "epsilon": record.budget.epsilon,
                "delta": record.budget.delta,
                "neighbors": record.relation,
                "composition": record.composition,
                "charges": record.charges,
            }
            for record in opened.releases()
        ],
        "revealed": _reveals(opened),
        "refused": len(opened.refusals()),
    }


def _plain(amount: Amount) -> dict[str, float | None]:
    """JSON has no infinity: null stands for it."""
    return {"epsilon": amount.epsilon if math.isfinite(amount.epsilon) else None, "delta": amount.delta}


def _reveals(opened: Ledger) -> list[str]:
    return [entry.details["reason"] for entry in opened.entries() if entry.kind == "revealed"]
