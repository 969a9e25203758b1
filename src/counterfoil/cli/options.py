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
