"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SchemaFile = Annotated[
    Path, typer.Option("--schema", help="The TOML file that states the public facts.", metavar="S.toml")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Show a value at fault, on your own terminal; it is a record's.")
]
LedgerFile = Annotated[Path | None, typer.Option("--ledger", help="The ledger to charge.", metavar="L")]
Source = Annotated[
    str,
    typer.Argument(help="A CSV or Parquet file, FILE.db::TABLE, or postgresql://HOST/DB::TABLE.", metavar="INPUT"),
]
MaxRows = Annotated[
    int | None, typer.Option("--max-rows", help="With it: how many rows of each are used.", metavar="K")
]
ConfirmDelta = Annotated[
    float | None, typer.Option("--confirm-delta", help="A delta of .1 or more, said twice.", metavar="DELTA")
]
ReleasePath = Annotated[
    Path, typer.Argument(help="A table that synth wrote, or a folder of a saved release.", metavar="RELEASE")
]
ReceiptFile = Annotated[
    Path | None,
    typer.Option("--receipt", help="The table's receipt; the one beside it if left out.", metavar="R.json"),
]
