"""`counterfoil certify`: a bound on what any linear model trained on the synthetic rows can lose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.options import Json
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt


def certify(
    synthetic: Annotated[
        Path, typer.Argument(help="The synthetic table, or the folder of its release.", metavar="SYNTHETIC")
    ],
    target: Annotated[str, typer.Option("--target", help="The column to predict.", metavar="COLUMN")],
    receipt: Annotated[
        Path | None,
        typer.Option("--receipt", help="Its receipt; the one beside it if left out.", metavar="R.json"),
    ] = None,
    norm: Annotated[float, typer.Option("--norm", help="How large the models' weights may be, in norm1.")] = 1.0,
    json: Json = False,
) -> None:
    """Say what a linear model trained on a synthetic table can lose, and why.

    It needs the synthetic table and its receipt alone. The release must have been made with --target, and says more
    with --fidelity.
    """
    from counterfoil.fidelity.certificate import certify as certificates_for
    from counterfoil.receipt.receipt import Receipt

    terminal, kept = Terminal(json=json), kept_receipt(synthetic)
    if kept is not None and receipt is None:
        loaded = kept
    else:
        table, beside = places(synthetic)
        receipt = beside if receipt is None else receipt
        loaded = Receipt.load(receipt)
        require_named(loaded.document["outputs"], table, receipt)
    certificates = certificates_for(loaded.document, target, norm)
    best = certificates[0]
    terminal.say(filled(best["sentence"]))
    if not best["vacuous"]:
        terminal.say("\nIt holds if:")
        for assumption in best["assumptions"]:
            terminal.say(filled(f"- {assumption}", subsequent_indent="  "))
        terminal.say("\nWhat it is made of:")
        for name, value in best["terms"].items():
            terminal.say(f"  {value:8.4f}  {name}")
        terminal.say(f"  {best['excess_risk']:8.4f}  in all ({best['polynomial']}; {best['source']})")
    for other in certificates[1:]:
        worth = "nothing" if other["vacuous"] else f"{other['excess_risk']:.3f}"
        terminal.say(f"From {other['basis']}: {worth}.")
    if not loaded.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    terminal.document({"synthetic": str(synthetic), "private": loaded.private, "certificates": certificates})


def kept_receipt(folder: Path) -> Receipt | None:
    """The receipt of a folder that keeps the rows of its release beside the model, with no table in it; else None.

    Raises:
        ValueError: for such a folder that is incomplete, damaged, or whose receipt is of another release.
        OSError: when it can't be read.
    """
    from counterfoil.publishing.release_rows import table_in
    from counterfoil.synthesis.folder import INDEX
    from counterfoil.synthesis.saved import load_folder

    if not (folder / INDEX).is_file() or table_in(folder) is not None:
        return None
    return load_folder(folder).receipt


def places(synthetic: Path) -> tuple[Path, Path]:
    """The table of a release, given by itself or by its folder, and the receipt beside it."""
    from counterfoil.publishing.release_rows import table_in
    from counterfoil.synthesis.saved import receipt_beside

    table = synthetic if (found := table_in(synthetic)) is None else found
    return table, receipt_beside(table)


def require_named(outputs: list[dict[str, str]], synthetic: Path, receipt: Path) -> None:
    """Refuses a table that is not the one that the receipt was made for, whatever it is called.

    Raises:
        ValueError: when no file of the receipt has its SHA-256.
        OSError: when it can't be read.
    """
    from counterfoil.files import sha256_differs, sha256_of

    known = {output["sha256"] for output in outputs}
    if sha256_of(synthetic) not in known:
        raise ValueError(
            f"{synthetic} is not the table that {receipt} was made for: {sha256_differs(synthetic, *known)} A "
            "certificate speaks of the rows as they were released; give those."
        )
