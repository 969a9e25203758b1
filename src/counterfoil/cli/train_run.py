"""The run of `counterfoil train`: from the sensitive table to a folder, and what was charged where it ends early."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.failure import Stopped
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.cli.train_request import TrainingRequest
from counterfoil.ledger.no_ledger import NoLedgerWarning

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger


def run(request: TrainingRequest, folder: Path, terminal: Terminal, *, show_values: bool) -> None:
    """Trains the request's model, and writes it to the new `folder`.

    Raises:
        Stopped: with the cause, when anything ended it after something was charged, or its user did.
    """
    with ExitStack() as stack:
        ledger: Ledger | None = None
        before, trained = 0, False
        with_none = stack.enter_context(noted_without_ledger(terminal, request.ledger))
        try:
            if request.ledger is not None:
                ledger = stack.enter_context(_opened(request.ledger))
                before = _charges(ledger)
                request.require_room(ledger)
            fit(request, ledger, terminal, show_values=show_values)
            trained = True
            request.model.save(folder)
        except BaseException as error:
            charges = int(with_none.begun) if ledger is None else _charges(ledger) - before
            if not charges and not request.resume and request.checkpoint is not None:
                request.checkpoint.unlink(missing_ok=True)  # it was not there before; its release is given back
            if charges or isinstance(error, KeyboardInterrupt):
                raise Stopped(what_was_charged(request, charges, trained=trained)) from error
            raise


def fit(request: TrainingRequest, ledger: Ledger | None, terminal: Terminal, *, show_values: bool) -> None:
    """Trains the model with progress on the terminal."""
    # Where other rows are read too, a line at fault may be one of theirs.
    show = show_values and "public" not in request.wishes
    with terminal.progress() as progress, showing_values(request.source, show=show), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they are on the receipt, from which the command takes them
        warnings.simplefilter("always", NoLedgerWarning)  # printed as a note
        spends = f", epsilon {request.budget.epsilon:g}"

        def tell(message: str, fraction: float) -> None:
            progress(message + spends, fraction)

        request.model.fit(request.source, request.schema, ledger=ledger, progress=tell, **request.wishes)


def what_was_charged(request: TrainingRequest, charges: int, *, trained: bool) -> str:
    """A sentence for whoever stopped a run, or saw it fail."""
    if not charges and not request.resume:
        return "Nothing was charged, and no file was written."
    if request.ledger is None:
        return "What had been computed is discarded, and no file was written: nothing was released."
    budget = f"epsilon {request.budget.epsilon:g} and delta {request.budget.delta:g}"
    counted = f"The ledger {request.ledger} counts {budget} as spent."
    if trained:
        return f"{counted} The model could not be written."
    if request.checkpoint is None:
        hint = "; with --checkpoint FILE, a run can be continued" if request.kind.takes("checkpoint") else ""
        return f"{counted} No file was written{hint}."
    return f"{counted} Continue from {request.checkpoint} at no further cost: the same command with --resume."


def _opened(path: Path) -> Ledger:
    from counterfoil.ledger.ledger import Ledger

    return Ledger.open(path, source=None)


def _charges(ledger: Ledger) -> int:
    return sum(len(release.charges) for release in ledger.releases())
