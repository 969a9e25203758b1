"""`counterfoil receipt show|verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Json
from counterfoil.cli.terminal import Terminal

receipt = typer.Typer(help="Read a receipt, or check it.", no_args_is_help=True)

ReceiptFile = Annotated[
    Path, typer.Argument(help="The receipt, or the folder of a model or a saved release.", metavar="R.json")
]


@receipt.command()
def show(path: ReceiptFile, json: Json = False) -> None:
    """Print the receipt as a page for a privacy officer."""
    from counterfoil.receipt.receipt import Receipt

    terminal, loaded = Terminal(json=json), Receipt.load(_within(path))
    terminal.say(loaded.text().rstrip("\n"))
    terminal.document(loaded.to_json())


@receipt.command()
def verify(path: ReceiptFile, json: Json = False) -> None:
    """Recompute every cost from the recorded events alone, and compare their sum with the budget.

    The release's files are compared with their SHA-256 too, where they lie beside the receipt. Exits with status 1 when
    the receipt does not hold.
    """
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.terms import declares

    path = _within(path)
    terminal, loaded = Terminal(json=json), Receipt.load(path)
    checked = loaded.verify(path.parent)
    for problem in checked.problems:
        terminal.say(f"DOES NOT HOLD: {problem}")
    if checked.holds:
        budget = loaded.document["budget"]
        terminal.say(
            f"The receipt holds: its charges ({len(loaded.document['charges'])}) stay within the budget,\n"
            f"epsilon {budget['epsilon']:g} at delta {budget['delta']:g}, which is the guarantee."
        )
    if not declares(loaded.document):
        terminal.say(
            "An older receipt: its `other_relation` holds for the questions of this run alone.\n"
            "What holds for every run is on the page that `counterfoil receipt show` prints."
        )
    for output in loaded.document["outputs"]:
        if not (path.parent / Path(output["file"]).name).is_file():
            terminal.say(f"Not beside the receipt, and not compared: {output['file']}")
    if not loaded.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    terminal.document(
        {
            "holds": checked.holds,
            "recomputed_epsilon": _finite(checked.recomputed_epsilon),
            "stated_epsilon": checked.stated_epsilon,
            "private": loaded.private,
            "problems": list(checked.problems),
        }
    )
    if not checked.holds:
        raise typer.Exit(1)


def _within(path: Path) -> Path:
    """The receipt at `path`, or in the folder that is there."""
    return path / "receipt.json" if path.is_dir() else path


def _finite(epsilon: float) -> float | None:
    return epsilon if epsilon < float("inf") else None
