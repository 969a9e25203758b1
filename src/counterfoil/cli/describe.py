"""`counterfoil describe`: a kept release column by column."""

from __future__ import annotations

from typing import Any

from counterfoil.cli.changed_table_note import note_changed_table
from counterfoil.cli.marginal import alarm_if_seeded, say_rows_used
from counterfoil.cli.options import Json
from counterfoil.cli.sample import KeptRelease
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.inert import inert


def describe(release: KeptRelease, json: Json = False) -> None:
    """Describe a release column by column, from its rows and its error bars. No record is read."""
    from counterfoil.receipt.schema_check import warnings_by_column
    from counterfoil.synthesis.description import described
    from counterfoil.synthesis.saved import load_kept

    terminal, kept = Terminal(json=json), load_kept(release)
    document, found = kept.receipt.document, described(kept)
    budget = document["budget"]
    terminal.say(
        f"{kept.rows:,} synthetic rows of {document['source']} by {document['method']['name']}, epsilon "
        f"{budget['epsilon']:g}, delta {budget['delta']:g}."
    )
    terminal.show(_table(found))
    if any(one.missing for one in found):
        terminal.say("Shares, means and quantiles are of the values that are not missing, of which")
        terminal.say("there are fewer than rows; `infer` and the report count shares of all records.")
    terminal.say("Off by: the share of records that may be in other codes of the column")
    terminal.say("than these, at most, with probability 95%. It bounds no mean: a few records in")
    terminal.say("a far tail can move that by more. See `infer` for means with intervals.")
    say_rows_used(terminal, kept)
    changed = [sentence for sentences in warnings_by_column(document).values() for sentence in sentences]
    for sentence in changed:
        terminal.alarm(filled(inert(f"WARNING: {sentence}"), subsequent_indent="  "))
    note_changed_table(terminal, release)
    alarm_if_seeded(terminal, kept)
    terminal.document(
        {
            "rows": kept.rows,
            "source": document["source"],
            "method": document["method"]["name"],
            "private": kept.receipt.private,
            "columns": [one.to_json() for one in found],
            "warnings": changed,
        }
    )


def _table(found: list[Any]) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("values", overflow="fold", ratio=1)
    table.add_column("missing", justify="right")
    table.add_column("off by", justify="right")
    for one in found:
        bar = "not known" if one.off_by is None else f"to {one.off_by:.1%}"
        bar = "derived" if one.derived else bar
        table.add_row(one.name, one.kind, one.values, f"{one.missing:.1%}" if one.missing else "", bar)
    return table
