"""`counterfoil marginal` and `counterfoil error-bar`: counts from a kept model, and how far off they may be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.changed_table_note import note_changed_table
from counterfoil.cli.options import Json
from counterfoil.cli.sample import KeptRelease
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.inert import inert

if TYPE_CHECKING:
    from counterfoil.graphical_model.error_bars import ErrorBar
    from counterfoil.synthesis.marginal_table import MarginalTable
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

SHOWN = 60
"""Cells that are printed; `--out` writes all of them."""

Columns = Annotated[list[str], typer.Argument(help="One or more columns.", metavar="COLUMN...")]
Beta = Annotated[float, typer.Option("--beta", help="The probability that the error bar fails.")]


def marginal(
    release: KeptRelease,
    columns: Columns,
    beta: Beta = 0.05,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write all counts to this .csv or .parquet file.", metavar="F")
    ] = None,
    json: Json = False,
) -> None:
    """Count combinations of values by a release's model, with an error bar. Nothing is charged, no record is read."""
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.saved import load_kept

    terminal, kept = Terminal(json=json), load_kept(release)
    table = kept.marginal(columns)
    if out is not None:
        write_counts(table, out)
    show_counts(terminal, table, out)
    bar = None if isinstance(kept, PointSynthesis) else kept.error_bar(columns, beta)
    if bar is not None:
        show_bar(terminal, bar)
        say_rows_used(terminal, kept)
    else:
        terminal.say("A release of points bounds no counts: see what `evaluate` or its theory say.")
    note_changed_table(terminal, release)
    alarm_if_seeded(terminal, kept)
    cells = [{**row} for row in table.to_arrow().to_pylist()]
    terminal.document({"columns": list(table.attributes), "cells": cells, "error_bar": bar and bar_document(bar)})


def error_bar(release: KeptRelease, columns: Columns, beta: Beta = 0.05, json: Json = False) -> None:
    """Say how far a release's counts of some columns can be from the real ones. Nothing is charged."""
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.saved import load_kept

    terminal, kept = Terminal(json=json), load_kept(release)
    if isinstance(kept, PointSynthesis):
        raise ValueError(f"{release} is a release of points, which bounds no counts. Releases of tables do.")
    bar = kept.error_bar(columns, beta)
    show_bar(terminal, bar)
    say_rows_used(terminal, kept)
    note_changed_table(terminal, release)
    alarm_if_seeded(terminal, kept)
    terminal.document(bar_document(bar))


def show_counts(terminal: Terminal, table: MarginalTable, out: Path | None) -> None:
    """The counts as a table, the largest first where there are many."""
    import numpy as np
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name in table.attributes:
        shown.add_column(name, overflow="fold")
    shown.add_column("count", justify="right")
    shown.add_column("share", justify="right")
    flat = table.counts.ravel()
    many = len(flat) > SHOWN
    places = np.argsort(-flat, kind="stable")[:SHOWN] if many else np.arange(len(flat))
    for place in places:
        cell = np.unravel_index(place, table.shape)
        labels = [names[code] for names, code in zip(table.labels, cell, strict=True)]
        shown.add_row(*labels, f"{flat[place]:,.1f}", f"{flat[place] / max(table.total, 1e-300):.2%}")
    terminal.show(shown)
    if many:
        rest = f"The {SHOWN} largest of {len(flat):,} counts; "
        terminal.say(rest + (f"all are in {out}." if out is not None else "--out writes all of them."))


def write_counts(table: MarginalTable, out: Path) -> None:
    """All counts as a table of labels and counts, in a new file."""
    from counterfoil.cli.outputs import require_free, require_harmless
    from counterfoil.synthesis.table import check_suffix, write_table

    check_suffix(out)
    require_harmless([out], [])
    require_free([out], force=False)
    write_table(table.to_arrow(), out)


def show_bar(terminal: Terminal, bar: ErrorBar) -> None:
    """The error bar in words."""
    from counterfoil.graphical_model.error_bars import NONE_STATED, UNBOUNDED

    names = ", ".join(bar.attributes)
    if bar.source == NONE_STATED:
        text = (
            f"This release states no bounds, of {names} or any other columns, because it bought no counts: a new "
            "release of counts would. Noisy answers have intervals all the same: counterfoil infer."
        )
    elif bar.fraction >= 2 and bar.source == UNBOUNDED:
        text = (
            f"Nothing that was released bounds {names}. A new release that counts them together would: "
            "synth --workload with a file that names them, or --queries."
        )
    elif bar.fraction >= 2:
        text = (
            f"What was released leaves any difference of {names} possible: known is only {bar.source}. A new release "
            "with a larger epsilon says more, and so do counts of these columns together: synth --workload with a file "
            "that names them, or --queries."
        )
    else:
        text = (
            f"With probability {1 - bar.beta:.4g}, the real shares of {names} differ from these by at most "
            f"{bar.fraction:.3g} in all (of a possible 2): at most {bar.fraction / 2:.2%} of the records would have to "
            f"change. Known from {bar.source}."
        )
    terminal.say(filled(text))


def bar_document(bar: ErrorBar) -> dict[str, Any]:
    """The error bar as JSON."""
    return {
        "columns": list(bar.attributes),
        "beta": bar.beta,
        "records": bar.records if math.isfinite(bar.records) else None,
        "fraction": bar.fraction,
        "source": bar.source,
    }


def say_rows_used(terminal: Terminal, kept: Synthesis | PointSynthesis) -> None:
    """On which rows the figures are, where a person may have more than were used."""
    from counterfoil.receipt.rows_used import rows_used

    if used := rows_used(kept.receipt.document):
        terminal.say(filled(inert(used)))


def alarm_if_seeded(terminal: Terminal, kept: Synthesis | PointSynthesis) -> None:
    """What must not be overlooked about a release whose noise can be repeated."""
    if not kept.receipt.private:
        terminal.alarm("NOT PRIVATE: the noise of the release came from a seed. DO NOT SHARE it.")
