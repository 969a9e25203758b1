"""That a table is another one than its release made, where the model that was kept with it is asked."""

from __future__ import annotations

from pathlib import Path

from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.inert import inert


def note_changed_table(terminal: Terminal, release: Path) -> None:
    """Prints a sentence where the table at `release`, or in that folder, is not the one that its receipt names."""
    from counterfoil.synthesis.saved import changed_table

    table = changed_table(release)
    if table is not None:
        said = (
            f"WARNING: {table} is not the table that its receipt was made for, as its SHA-256 differs: the model that "
            "was kept knows nothing of the change, and what it says is of the table as it was made."
        )
        terminal.alarm(filled(inert(said), subsequent_indent="  "))
