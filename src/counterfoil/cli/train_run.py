"""The run of `counterfoil train`: from the sensitive table to a folder, and what was charged where it ends early."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.cli.failure import Stopped
from counterfoil.cli.no_ledger_note import PRINTED, noted_without_ledger
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.cli.train_request import TrainingRequest

if TYPE_CHECKING:
    from counterfoil.ledger.ledger import Ledger


NO_CHECKPOINT = (
    "A run that is stopped is spent and leaves no model: with --checkpoint FILE, it can be continued at no further "
    "cost."
)


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
                if request.checkpoint is None and request.kind.takes("checkpoint"):
                    terminal.note(NO_CHECKPOINT)
            fit(request, ledger, terminal, show_values=show_values)
            trained = True
            request.model.save(folder)
        except BaseException as error:
            charges = int(with_none.begun) if ledger is None else _charges(ledger) - before
            if not charges and not request.resume and request.checkpoint is not None:
                request.checkpoint.unlink(missing_ok=True)  # it was not there before; its release is given back
            if trained:
                raise Stopped(what_was_trained(request, _rescued(request, folder, error))) from error
            if charges or isinstance(error, KeyboardInterrupt):
                raise Stopped(what_was_charged(request, charges)) from error
            raise


def fit(request: TrainingRequest, ledger: Ledger | None, terminal: Terminal, *, show_values: bool) -> None:
    """Trains the model with progress on the terminal."""
    # Where other rows are read too, a line at fault may be one of theirs.
    show = show_values and "public" not in request.wishes
    showing = showing_values(request.source, request.schema, show=show)
    with terminal.progress() as progress, showing, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # on the receipt, from which the command takes them
        for said in PRINTED:
            warnings.simplefilter("always", said)
        spends = f", epsilon {request.budget.epsilon:g}"

        def tell(message: str, fraction: float) -> None:
            progress(message + spends, fraction)

        request.model.fit(request.source, request.schema, ledger=ledger, progress=tell, **request.wishes)


def _rescued(request: TrainingRequest, folder: Path, error: BaseException) -> Path | None:
    """Where a model that is paid for was written after all; None where that can't be done.

    Args:
        request: whose model was trained.
        folder: where it was to be.
        error: what came in between: an interrupt is not of the folder.
    """
    if folder.is_dir():  # it has its name once it is whole
        return folder
    if isinstance(error, KeyboardInterrupt):
        with suppress(OSError):
            request.model.save(folder)
            return folder
    for near in (Path.home(), Path(tempfile.gettempdir())):
        with suppress(OSError):
            place = Path(tempfile.mkdtemp(prefix="counterfoil-", dir=near)) / folder.name
            try:
                request.model.save(place)
            except OSError:
                place.parent.rmdir()
                raise
            return place
    return None


def what_was_trained(request: TrainingRequest, place: Path | None) -> str:
    """A sentence for whoever stopped a run after its model was trained, or saw that it could not be written."""
    counted = "" if request.ledger is None else f"{_counted(request)} "
    if place is not None:
        return f"{counted}The model is whole, with its receipt, in {place}."
    if request.checkpoint is None:
        return f"{counted}The model could not be written{_hint(request)}."
    return f"{counted}The model could not be written. {_continue(request)}"


def what_was_charged(request: TrainingRequest, charges: int) -> str:
    """A sentence for whoever stopped a run, or saw it fail."""
    if not charges and not request.resume:
        return "Nothing was charged, and no file was written."
    if request.ledger is None:
        return "What had been computed is discarded, and no file was written: nothing was released."
    if request.checkpoint is None:
        return f"{_counted(request)} No file was written{_hint(request)}."
    return f"{_counted(request)} {_continue(request)}"


def _counted(request: TrainingRequest) -> str:
    budget = f"epsilon {request.budget.epsilon:g} and delta {request.budget.delta:g}"
    return f"The ledger {request.ledger} counts {budget} as spent."


def _hint(request: TrainingRequest) -> str:
    able = request.ledger is not None and request.kind.takes("checkpoint")
    return "; with --checkpoint FILE, a run can be continued" if able else ""


def _continue(request: TrainingRequest) -> str:
    return f"Continue from {request.checkpoint} at no further cost: the same command with --resume."


def _opened(path: Path) -> Ledger:
    from counterfoil.ledger.ledger import Ledger

    return Ledger.open(path, source=None)


def _charges(ledger: Ledger) -> int:
    return sum(len(release.charges) for release in ledger.releases())
