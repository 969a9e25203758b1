"""Notes on a release that is about to be charged: what no ledger counts, that its number of rows will be rough."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.accounting.row_counts import RowCountWarning
from counterfoil.cli.terminal import Terminal
from counterfoil.curator.unnoted import UnnotedWarning
from counterfoil.curator.view_warning import ViewWarning
from counterfoil.ledger.no_ledger import (
    NO_LEDGER,
    NoLedgerWarning,
    RestWithoutLedgerWarning,
    UncountedPurchaseWarning,
    warn_without_ledger,
)
from counterfoil.training.changed_rows import ChangedRowsWarning
from counterfoil.training.noise_warnings import NoisyGradientsWarning, NoisyVotesWarning

PRINTED = (
    NoLedgerWarning,
    RowCountWarning,
    RestWithoutLedgerWarning,
    UncountedPurchaseWarning,
    ChangedRowsWarning,
    NoisyGradientsWarning,
    NoisyVotesWarning,
    ViewWarning,
    UnnotedWarning,
)
"""What commands print as a note when it is warned of, and not at the end."""


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

    The curator warns of it when all that could be refused before was accepted. What is refused needs no note. That the
    number of rows will be rough, that public rows have values beyond bounds, or that noise drowns gradients or votes,
    is printed with or without a ledger.

    Args:
        terminal: where it is printed.
        ledger: the file that is charged, or None.
    """
    state, said = WithoutLedger(terminal, ledger), set[str]()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def shown(message: Any, category: type[Warning], *place: Any, **further: Any) -> None:
            if category is NoLedgerWarning:
                state.note()
            elif issubclass(category, PRINTED):
                # Once for all attempts of a release, whose number is not shown.
                if str(message) not in said:
                    said.add(str(message))
                    terminal.note(str(message))
            else:
                others(message, category, *place, **further)

        warnings.showwarning = shown
        for kind in PRINTED:
            warnings.simplefilter("always", kind)
        warn_without_ledger.cache_clear()  # once for each command, of which a process may run several
        yield state
