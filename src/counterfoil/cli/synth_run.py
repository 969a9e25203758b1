"""The run of `counterfoil synth`: from the sensitive table to files, and what was charged where it ends early."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from counterfoil.cli.failure import Stopped
from counterfoil.cli.outputs import Outputs
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.synth_request import Request
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.curator.curator import Curator
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.methods.method import Synthesizer, SyntheticRelease


def run(
    request: Request, synthesizer: Synthesizer, outputs: Outputs, terminal: Terminal, *, show_values: bool
) -> SyntheticRelease:
    """Queries the table, fits a model, draws rows and writes them.

    Raises:
        Stopped: with the cause, when anything ended it after something was charged, or its user did.
    """
    from counterfoil.api import release_from
    from counterfoil.ledger.ledger import Ledger

    curator: Curator | None = None
    synthesis: SyntheticRelease | None = None
    with ExitStack() as stack:
        try:
            opened = None if request.ledger is None else stack.enter_context(Ledger.open(request.ledger, source=None))
            with showing_values(request.source, show=show_values):
                curator = stack.enter_context(curator_of(request, opened))
            with terminal.progress() as progress:
                synthesis = release_from(
                    curator, synthesizer, rows=request.rows, fidelity=request.fidelity, progress=progress
                )
            outputs.write(synthesis)
            close(curator, terminal)
        except BaseException as error:
            if synthesis is not None:
                charges = len(synthesis.receipt.document["charges"])
            else:
                charges = 0 if curator is None else curator.charged
            if charges or isinstance(error, KeyboardInterrupt):
                raise Stopped(what_was_charged(charges, request)) from error
            raise
        return synthesis


def close(curator: Curator, terminal: Terminal) -> None:
    """Ends a release whose files are in place: where the ledger can't note that, they are good all the same."""
    from counterfoil.ledger.errors import LedgerError

    try:
        curator.close()
    except LedgerError as error:
        terminal.note(f"The release is counted, and stays open in its ledger: {error}")


def curator_of(request: Request, ledger: Ledger | None) -> Curator:
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.curator.curator import Curator

    if ledger is not None:
        neighbors = Neighbors(NeighboringRelation(request.relation), request.unit)
        ledger.require_room(request.budget, neighbors.describe())
    curator = Curator(
        request.source,
        request.schema,
        budget=request.budget,
        relation=request.relation,
        privacy_unit=request.unit,
        ledger=ledger,
        seed=request.seed,
    )
    curator.require_rows()
    return curator


def what_was_charged(charges: int, request: Request) -> str:
    """A sentence for whoever stopped a release, or saw it fail."""
    if not charges:
        return "Nothing was charged, and no file was written."
    budget = f"epsilon {request.budget.epsilon:g} and delta {request.budget.delta:g}"
    if request.ledger is None:
        return (
            f"{charges} answers had been computed; they are discarded, and no file was written: nothing was released."
        )
    return f"{charges} charges were made: the ledger {request.ledger} counts {budget} as spent. No file was written."
