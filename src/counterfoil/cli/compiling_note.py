"""A note that loops are compiled first: for half a minute nothing else would be seen to happen."""

from __future__ import annotations

import sys

from counterfoil.cli.terminal import Terminal


def note_compiling(terminal: Terminal) -> None:
    """Says so on a terminal, where a first release or rehearsal has to; elsewhere nobody waits in front of it."""
    if terminal.quiet or not sys.stderr.isatty():
        return
    from counterfoil.compiled import Kept
    from counterfoil.graphical_model.compiled_loops import forward  # of all methods that fit a model

    if forward.kept is Kept.ONCE:
        terminal.note("Loops are compiled first, once after an installation: this takes up to half a minute more.")
    elif forward.kept is Kept.NOWHERE:
        terminal.note(
            "Loops are compiled first, for up to half a minute, and can't be kept for later commands. Set "
            "NUMBA_CACHE_DIR to a folder that can be written, and it is done once."
        )
