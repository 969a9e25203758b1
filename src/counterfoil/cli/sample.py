"""`counterfoil sample`: more rows from a release whose model was kept, at no cost."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.changed_table_note import note_changed_table
from counterfoil.cli.options import Force, Json, Quiet
from counterfoil.cli.row_count import row_count
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    import pyarrow as pa

    from counterfoil.receipt.receipt import Receipt
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

KeptRelease = Annotated[
    Path,
    typer.Argument(help="The folder of a saved release, or a table that synth --keep-model wrote.", metavar="RELEASE"),
]


def sample(
    release: KeptRelease,
    rows: Annotated[int, typer.Option("--rows", parser=row_count, help="How many rows to draw.", metavar="N")],
    where: Annotated[
        str | None,
        typer.Option("--where", help="What they must meet, as in rules: \"sex == 'F' and age >= 60\".", metavar="EXPR"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A .csv or .parquet file; RELEASE.sample.parquet here if left out.", metavar="F"),
    ] = None,
    force: Force = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable; the release is as private as before.")] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw more rows from a release, also under a condition. Nothing is charged and no record is read.

    The rows get a receipt of their own beside them, which is the release's, with the new file and the condition.
    """
    from counterfoil.cli.outputs import Outputs, table_of
    from counterfoil.synthesis.release import check_rows
    from counterfoil.synthesis.saved import load_kept

    check_rows(rows)
    terminal = Terminal(quiet=quiet, json=json)
    outputs = Outputs(out if out is not None else Path(f"{release.stem}.sample.parquet"))
    outputs.require_harmless([])
    outputs.require_possible(force=force)
    kept = load_kept(release)
    outputs.require_harmless(table_of(kept.receipt, outputs.table))
    outputs.write(Drawn(kept, receipt_of_rows(kept.receipt, rows, where), rows, where, seed))
    terminal.say(f"Drew {rows:,} rows{f' where {where}' if where else ''}. Nothing was charged.")
    terminal.say(f"  table    {outputs.table}")
    terminal.say(f"  receipt  {outputs.receipt}")
    note_changed_table(terminal, release)
    if not kept.receipt.private:
        terminal.alarm("NOT PRIVATE: the noise of the release came from a seed. DO NOT SHARE these rows.")
    terminal.document(
        {
            "table": str(outputs.table),
            "receipt": str(outputs.receipt),
            "rows": rows,
            "where": where,
            "private": kept.receipt.private,
        }
    )


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a release with their receipt, in the form that outputs are written from: drawn when they are asked for.

    Args:
        release: whose model they are drawn from.
        receipt: of the rows.
        rows: how many.
        where: what they meet.
        seed: makes the draw repeatable; None for another one each time.
    """

    release: Synthesis | PointSynthesis
    receipt: Receipt
    rows: int
    where: str | None
    seed: int | None

    def to_arrow(self) -> pa.Table:
        """The rows."""
        return self.release.sample(self.rows, self.where, seed=self.seed)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the rows to a .csv or .parquet file, whole or not at all."""
        from counterfoil.synthesis.synthesis import Synthesis
        from counterfoil.synthesis.table import write_table

        if isinstance(self.release, Synthesis):  # many rows are written as they are drawn
            self.release.write_sample(path, self.rows, self.where, seed=self.seed, receipt=self.receipt)
        else:
            write_table(self.to_arrow(), os.fspath(path), self.release.schema, self.receipt.document)


def receipt_of_rows(receipt: Receipt, rows: int, where: str | None) -> Receipt:
    """The release's receipt, for rows that were drawn later: what it cost is the same, what lies in the file is not."""
    from counterfoil.receipt.wording import DRAWN_LATER

    document = receipt.to_json()
    document.pop("signature", None)
    document["outputs"] = []
    document["rows"] = {"drawn": rows, "how": "asked for by the user"}
    condition = f" where {where}" if where else ""
    document["warnings"] = [*document["warnings"], f"{DRAWN_LATER}{condition}."]
    # What was measured or certified is about the rows of the release, not about these.
    for section in ("fidelity", "certificates"):
        document.pop(section, None)
    return type(receipt)(document)
