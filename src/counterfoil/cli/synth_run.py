"""The run of `counterfoil synth`: from the sensitive table to files, and what was charged where it ends early."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from counterfoil.cli.failure import Stopped
from counterfoil.cli.folder_outputs import FolderOutputs
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.outputs import Outputs, is_in_place
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.synth_keeping import Keeping
from counterfoil.cli.synth_request import Request
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from counterfoil.accounting.budget import Budget
    from counterfoil.curator.answer_log import AnswerLog
    from counterfoil.curator.curator import Curator
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.methods.method import Synthesizer, SyntheticRelease
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.signature import SigningKey


def run(
    request: Request,
    synthesizer: Synthesizer,
    outputs: Outputs | FolderOutputs,
    terminal: Terminal,
    *,
    show_values: bool,
    keeping: Keeping | None = None,
    key: SigningKey | None = None,
) -> SyntheticRelease:
    """Queries the table, fits a model, draws rows and writes them.

    Args:
        request: what is to be made.
        synthesizer: how.
        outputs: where it goes.
        terminal: where progress is shown.
        show_values: whether a value at fault may be shown.
        keeping: where answers are kept until the files are in place; nowhere where None.
        key: signs the receipt; nobody signs it where None.

    Raises:
        Stopped: with the cause, when anything ended it after something was charged, or its user did.
    """
    from counterfoil.api import release_from
    from counterfoil.interrupts import interrupted_afterwards
    from counterfoil.ledger.ledger import Ledger

    curator: Curator | None = None
    synthesis: SyntheticRelease | None = None
    log: AnswerLog | None = None
    with ExitStack() as stack:
        stack.enter_context(noted_without_ledger(terminal, request.ledger))
        try:
            log = None if keeping is None else keeping.reopened()
            opened = None if request.ledger is None else stack.enter_context(Ledger.open(request.ledger, source=None))
            with showing_values(request.source, request.schema, show=show_values):
                curator = stack.enter_context(curator_of(request, opened, log))
            if keeping is not None:
                with interrupted_afterwards():  # a file that is made must be known here, so that it is deleted
                    log = keeping.created() if log is None else log
                curator.keep_answers(log)
            if request.rest:
                curator.spend_rest()
                if log is None or not log.resumed:
                    require_rest_unspent(request, curator, outputs)
            with terminal.progress() as progress:
                synthesis = release_from(
                    curator,
                    synthesizer,
                    rows=request.rows,
                    fidelity=request.fidelity,
                    check_schema=request.check_schema,
                    unit_sizes=request.unit_sizes,
                    progress=progress,
                    time_limit=request.time_limit,
                )
            receipt = outputs.write(synthesis, key)
            close(curator, receipt, terminal)
            remove(log, terminal)
        except BaseException as error:
            charges = charges_of(curator, synthesis, log)
            kept = leave(log, charged=bool(charges))
            if charges or isinstance(error, KeyboardInterrupt):
                said = what_was_charged(
                    charges,
                    request.budget,
                    request.ledger,
                    keeping if kept else None,
                    finishable=can_be_finished(error),
                    rest=request.rest,
                )
                if synthesis is not None and is_in_place(outputs.receipt, synthesis.receipt):
                    said = f"The release was made, and its files are whole: its receipt is {outputs.receipt}."
                raise Stopped(said) from error
            raise
        return synthesis


def require_rest_unspent(request: Request, curator: Curator, outputs: Outputs | FolderOutputs) -> None:
    """Refuses the rest of a budget that another release has, by its receipt beside the schema or the outputs.

    A ledger that counted the purchase knows whom it lent the rest, but nothing of a release without it. One that did
    not count the purchase reserves a budget for both, which adds to that of the earlier release.

    Raises:
        ValueError: naming that receipt.
    """
    from counterfoil.receipt.earlier_rest import earlier_rest

    rest, bought = curator.rest, request.schema.bought
    if rest is None or bought is None or (request.ledger is not None and rest.within is None):
        return
    folders = [outputs.receipt.parent, *([outputs.folder.parent] if isinstance(outputs, FolderOutputs) else [])]
    folders += [] if request.schema_file is None else [request.schema_file.parent]
    if (receipt := earlier_rest(bought.receipt, folders)) is not None:
        raise ValueError(
            f"The rest of epsilon {request.budget.epsilon:g} is for one release. Found the receipt of one that has it "
            f"already, {receipt}: leave --rest out, and give this release a budget of its own, such as --epsilon 1."
        )


def close(curator: Curator, receipt: Receipt, terminal: Terminal) -> None:
    """Ends a release whose files are in place: where the ledger can't note that, they are good all the same."""
    from counterfoil.ledger.errors import LedgerError

    try:
        curator.record_receipt(receipt.digest)
        curator.close()
    except LedgerError as error:
        terminal.note(
            f"The release is counted, and stays open in its ledger: {error} Once it can be written, "
            "`counterfoil ledger close L --release N --receipt R.json` ends it; `ledger show` says which it is."
        )


def remove(log: AnswerLog | None, terminal: Terminal) -> None:
    """Deletes the answers of a release whose files are in place: they are on its receipt, or were used up."""
    if log is None:
        return
    try:
        log.remove()
    except OSError:
        terminal.note(f"The release is whole. {log.path} could not be deleted, and is not needed any more.")


def leave(log: AnswerLog | None, *, charged: bool) -> bool:
    """Leaves the answers for a later run, unless nothing was paid for; whether they are there."""
    if log is None:
        return False
    if charged or log.resumed:
        log.close()
        return True
    log.remove()
    return False


def can_be_finished(error: BaseException) -> bool:
    """Whether a run that ended so may be finished: not where its budget refused a question, or its release is closed.

    A method that is given its answers once more asks the same question again, and is refused again.
    """
    from counterfoil.ledger.errors import BudgetExceeded, ReleaseClosed

    return not isinstance(error, (BudgetExceeded, ReleaseClosed))


def charges_of(curator: Curator | None, synthesis: SyntheticRelease | None, log: AnswerLog | None) -> int:
    """How many charges were made, by this run or one that it goes on with."""
    if synthesis is not None:
        return len(synthesis.receipt.document["charges"])
    return max(0 if curator is None else curator.charged, 0 if log is None else len(log.charges))


def curator_of(request: Request, ledger: Ledger | None, log: AnswerLog | None = None) -> Curator:
    """The curator of the request's table; of a release that is resumed, the budget is reserved already."""
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.curator.curator import Curator

    if ledger is not None and not request.rest and (log is None or log.release is None):
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


def what_was_charged(
    charges: int,
    budget: Budget,
    ledger: Path | None,
    kept: Keeping | None = None,
    *,
    finishable: bool = True,
    rest: bool = False,
) -> str:
    """A sentence for whoever stopped a release, or saw it fail.

    Args:
        charges: how many were made.
        budget: of the release.
        ledger: that was charged.
        kept: where their answers are kept; None where they are not.
        finishable: whether a later run can finish the release with them.
        rest: whether the release spends the rest of a budget, which no other release gets from its ledger.
    """
    if not charges:
        return "Nothing was charged, and no file was written."
    finish = ""
    if kept is not None and not finishable and rest and ledger is not None:
        finish = f" No run can finish the release with their answers, which are kept in {kept.path}: the rest is spent."
    elif kept is not None and not finishable:
        finish = (
            f" Their answers are kept in {kept.path}, and no run can finish the release with them: --discard-answers, "
            "in place of --resume, deletes them and begins another release, which is charged anew."
        )
    elif kept is not None:
        finish = (
            f" Their answers are kept in {kept.path}; finish the release without paying for them again: {kept.command}"
        )
    cost = f"epsilon {budget.epsilon:g} and delta {budget.delta:g}"
    if ledger is None and kept is None:
        computed = (
            "1 answer had been computed; it is" if charges == 1 else f"{charges} answers had been computed; they are"
        )
        return f"{computed} discarded, and no file was written: nothing was released."
    counted = "" if ledger is None else f": the ledger {ledger} counts {cost} as spent"
    made = "1 charge was" if charges == 1 else f"{charges} charges were"
    return f"{made} made{counted}. No file was written.{finish}"
