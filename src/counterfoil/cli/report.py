"""`counterfoil report`: a release as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Force, Json, Quiet, ReceiptFile, ReleasePath, ShowValues
from counterfoil.cli.terminal import Terminal

SUFFIXES = (".html", ".htm")


def report(
    release: ReleasePath,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="An .html file; RELEASE.report.html here if left out.", metavar="F.html"),
    ] = None,
    receipt: ReceiptFile = None,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Show its releases; with --compare, record the look in it.", metavar="L"),
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", help="NOT PRIVATE: beside this real table, for whoever keeps it.", metavar="REAL"),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            help="With --compare: the public facts; those in the release's folder if left out.",
            metavar="S.toml",
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="With --compare: train models for it.", metavar="COLUMN")
    ] = None,
    protected: Annotated[
        str | None,
        typer.Option("--protected", help="With --target: how models treat its groups.", metavar="COLUMN"),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="With --target: not shown to models.", metavar="COLUMN")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Write a release as one page of pictures and words, which needs nothing else and asks nothing of any server.

    It is made from the release alone, and may be shared as the release may: no record is read, nothing is charged.
    Needs the packages of the extra `report`.

    With --compare it shows the real records' exact numbers beside the synthetic ones, which is NOT PRIVATE, and says so
    on every page; its name must have `inside` in it, such as --out inside.html.
    """
    terminal = Terminal(quiet=quiet, json=json)
    _require_together(compare, {"schema": schema, "target": target, "protected": protected, "ignore": ignore})
    if compare is not None:
        from counterfoil.cli.report_inside import write_inside

        if receipt is not None:
            raise ValueError("`--compare` reads no receipt. Found `--receipt` with it: leave it out.")
        if out is None:
            raise ValueError("`--compare` asks where its page goes. Found no `--out`: give, for example, inside.html.")
        write_inside(
            terminal,
            release,
            compare,
            schema,
            out,
            target=target,
            protected=protected,
            ignore=ignore or (),
            ledger=ledger,
            force=force,
            show_values=show_values,
        )
        return
    place = out if out is not None else Path(f"{release.stem}.report.html")
    _write(terminal, release, place, receipt, ledger, force=force)


def _write(
    terminal: Terminal, release: Path, out: Path, receipt: Path | None, ledger: Path | None, *, force: bool
) -> None:
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.kept_files import KeptFile
    from counterfoil.pictures.svg import require_report

    require_report()
    if out.suffix.lower() not in SUFFIXES:
        raise ValueError(f"A report is written to an .html file. Found {out.name!r}: choose another name with --out.")
    given = [KeptFile(release, "the release"), *inputs(None, ledger=ledger)]
    given += [] if receipt is None else [KeptFile(receipt, "the receipt")]
    require_harmless([out], given)
    require_free([out], force=force)
    from counterfoil.report import write_report

    private = write_report(release, out, receipt=receipt, ledger=ledger)
    terminal.say(f"Wrote {out}: open it in any browser.\nNothing was charged, and no record was read.")
    if not private:
        terminal.alarm("NOT PRIVATE: the noise of the release came from a seed. DO NOT SHARE this report.")
    terminal.document({"report": str(out), "release": str(release), "private": private})


def _require_together(compare: str | None, given: dict[str, object]) -> None:
    """Refuses options of the comparison without it: nothing of what they ask for would be shown."""
    alone = [name for name, value in given.items() if value] if compare is None else []
    if alone:
        raise ValueError(f"`--{alone[0]}` goes with `--compare REAL`. Found it alone: add that, or leave it out.")
