"""The note that a release has no ledger: printed once it is accepted, right before its first charge."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.cli.terminal import Terminal
from counterfoil.ledger.no_ledger import NO_LEDGER, NoLedgerWarning, warn_without_ledger


@dataclass
class WithoutLedger:
    """Whether a release has a ledger, and whether it was begun without one.

    Args:
        terminal: where the note is printed.
        ledger: the file that is charged, or None.
        begun: whether a release without a ledger was begun.
    """

    terminal: Terminal
    ledger: Path | None
    begun: bool = False

    def note(self) -> None:
        """Prints the note where there is no ledger and it was not printed yet."""
        if self.ledger is None and not self.begun:
            self.begun = True
            self.terminal.note(NO_LEDGER)


@contextmanager
def noted_without_ledger(terminal: Terminal, ledger: Path | None) -> Iterator[WithoutLedger]:
    """Prints the note, once, when what runs inside is about to charge; nothing where there is a ledger.

    The curator warns of it when all that could be refused before was accepted. What is refused needs no note.

    Args:
        terminal: where it is printed.
        ledger: the file that is charged, or None.
    """
    state = WithoutLedger(terminal, ledger)
    with warnings.catch_warnings():
        others = warnings.showwarning

        def shown(message: Any, category: type[Warning], *place: Any, **further: Any) -> None:
            if issubclass(category, NoLedgerWarning):
                state.note()
            else:
                others(message, category, *place, **further)

        warnings.showwarning = shown
        warnings.simplefilter("always", NoLedgerWarning)
        warn_without_ledger.cache_clear()  # once for each command, of which a process may run several
        yield state
