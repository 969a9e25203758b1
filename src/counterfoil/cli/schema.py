"""`counterfoil schema INPUT`: a draft of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Force, Quiet
from counterfoil.cli.terminal import Terminal
from counterfoil.inert import inert_toml


def schema(
    source: Annotated[str, typer.Argument(help="A CSV or Parquet file, or FILE.db::TABLE.", metavar="INPUT")],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write it; printed if left out.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Draft a schema from the names and types of columns alone.

    No record is read. Each fact is for you to state from public knowledge; synth refuses the draft until you have.
    """
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.curator.source_facts import columns_of
    from counterfoil.files import write_text
    from counterfoil.schema import draft

    if out is not None:
        require_harmless([out], inputs(source))
        if out.suffix.lower() != ".toml":
            raise ValueError(f"A schema is written to a .toml file. Found {out.name!r}.")
        require_free([out], force=force)
    columns = columns_of(source)
    name = Path(source.rpartition("::")[2] or source).name.split(".")[0]
    text = draft(columns.types, name=name, typed=columns.typed)
    terminal = Terminal(quiet=quiet)
    if out is None:
        print(inert_toml(text), end="")
        return
    write_text(out, text)
    terminal.say(f"Drafted {len(columns.types)} columns in {out}: confirm every fact before `counterfoil synth`.")
